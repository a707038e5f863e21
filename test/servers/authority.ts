/** A throw-away certificate authority, made with openssl when a test starts, and certificates for names under it. */
import { execFileSync } from 'node:child_process'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { temporaryFolder } from '../temporary.ts'

export type Certificate = { key: string; cert: string }

export type Authority = {
  /** PEM of the authority's own certificate. */
  ca: string
  /** Its path, for NODE_EXTRA_CA_CERTS. */
  caPath: string
  /** A certificate for these names; `expired` makes one that ended yesterday. */
  issue(names: string[], options?: { expired?: boolean; selfSigned?: boolean }): Certificate
  remove(): void
}

export function authority(): Authority {
  const folder = temporaryFolder('ca')
  const at = (name: string) => join(folder, name)
  const openssl = (...args: string[]) =>
    execFileSync('openssl', args, { cwd: folder, stdio: 'pipe' })
  const key = (name: string) =>
    openssl('genpkey', '-algorithm', 'EC', '-pkeyopt', 'ec_paramgen_curve:P-256', '-out', at(name))
  key('ca.key')
  openssl(
    ...[
      'req',
      '-x509',
      '-new',
      '-key',
      at('ca.key'),
      '-days',
      '2',
      '-subj',
      '/CN=Throw-away test authority',
    ],
    ...[
      '-addext',
      'basicConstraints=critical,CA:TRUE',
      '-addext',
      'keyUsage=critical,keyCertSign,cRLSign',
    ],
    ...['-out', at('ca.pem')],
  )
  let serial = 0
  return {
    ca: readFileSync(at('ca.pem'), 'utf8'),
    caPath: at('ca.pem'),
    issue(names, { expired = false, selfSigned = false } = {}) {
      const id = `leaf${++serial}`
      key(`${id}.key`)
      writeFileSync(
        at(`${id}.ext`),
        `subjectAltName=${names.map((name) => `DNS:${name}`).join(',')}\n`,
      )
      openssl('req', '-new', '-key', at(`${id}.key`), '-subj', '/CN=leaf', '-out', at(`${id}.csr`))
      const signer = selfSigned
        ? ['-signkey', at(`${id}.key`)]
        : ['-CA', at('ca.pem'), '-CAkey', at('ca.key'), '-set_serial', String(serial)]
      // A negative number of days ends the certificate before it begins; older openssl has no -not_after here.
      openssl(
        ...['x509', '-req', '-in', at(`${id}.csr`), ...signer, '-days', expired ? '-1' : '2'],
        ...['-extfile', at(`${id}.ext`), '-out', at(`${id}.pem`)],
      )
      return {
        key: readFileSync(at(`${id}.key`), 'utf8'),
        cert: readFileSync(at(`${id}.pem`), 'utf8'),
      }
    },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  }
}
