/** How an account is called on a server that others read. */
import { scrypt } from 'node:crypto'
import { digest } from '../../canonical.ts'
import type { Account } from '../model/limiter.ts'

/**
 * A name for what shares a quota. The same on every machine that has the same key.
 *
 * What could be a secret, the key and the query of the address, goes in as two bytes of a slow
 * digest. They tell keys of one model apart, and are no proof of a guess: one in 65,536 fits by
 * chance, and each costs a tenth of a second. Two keys that fit alike share a pace, which is slower
 * and never wrong.
 */
export async function accountName({ baseURL, key, model }: Account): Promise<string> {
  const at = baseURL.indexOf('?')
  const place = at < 0 ? baseURL : baseURL.slice(0, at)
  const open = digest(`${place}\n${model}`)
    .replace(/^sha256:/, '')
    .slice(0, 24)
  const secret = `${key}\n${at < 0 ? '' : baseURL.slice(at)}`
  const two = await new Promise<Buffer>((resolve, reject) =>
    scrypt(secret, `touchstone ${open}`, 2, { N: 2 ** 15, maxmem: 2 ** 26 }, (cause, bytes) =>
      cause ? reject(cause) : resolve(bytes),
    ),
  )
  return `${open}-${two.toString('hex')}`
}
