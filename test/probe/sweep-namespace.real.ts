/** A sweep of 520 endpoints as they are out there: real names, TLS and sockets, in a namespace of its own, under both sets. */
import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { before, describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { authority } from '../servers/authority.ts'
import { temporaryFolder } from '../temporary.ts'

type Told = {
  lines: number
  distinct: number
  found: { [kindAndOutcome: string]: number }
  /** Of a sweep, and of the same sweep again in the same process: the most memory, and what is held behind it, bytes. */
  peaks: [number, number]
  held: [number, number]
}

const able = spawnSync('unshare', ['--net', '--mount', 'true']).status === 0

/** 52 hosts: 18 speak only 2026-07-28, 17 both and 17 only earlier revisions; every 13th has a hostile endpoint. */
const SAME = {
  'key: needs_credentials http_401': 52,
  'broken: error http_status': 52,
  'moved: error redirect': 52,
  'reset: no_answer connection_dropped': 52,
  'failing: error rpc_error': 52,
  'silent: no_answer timed_out': 52,
  'private: refused address_refused': 52,
}
const LEGACY = {
  ...SAME,
  'legacy: answered handshake_complete': 17,
  'both: answered handshake_complete': 17 + 48,
  'hostile: answered handshake_complete': 4,
  'modern: error modern_only': 18,
  'gone: error http_status': 52,
}
const STATELESS = {
  ...SAME,
  'legacy: error legacy_only': 17,
  'both: answered request_answered': 17 + 48,
  'hostile: answered request_answered': 4,
  'modern: answered request_answered': 18,
  'gone: error legacy_only': 52,
}

describe('a sweep of 520 endpoints with real names, TLS and sockets', {
  skip: able ? false : 'needs root and network namespaces',
}, () => {
  const folder = temporaryFolder('sweep')
  const root = fileURLToPath(new URL('../..', import.meta.url))
  let told: { [name: string]: Told }

  before(() => {
    const made = authority()
    const leaf = made.issue(['*.example.com'])
    writeFileSync(join(folder, 'good.key'), leaf.key)
    writeFileSync(join(folder, 'good.pem'), leaf.cert)
    const [server, dns] = ['93.184.216.34', '93.184.216.53']
    writeFileSync(join(folder, 'resolv.conf'), `nameserver ${dns}\n`)
    const script = [
      'set -e',
      'ip link set lo up',
      `ip addr add ${server}/32 dev lo`,
      `ip addr add ${dns}/32 dev lo`,
      `mount --bind ${folder}/resolv.conf /etc/resolv.conf`,
      `exec "$0" test/servers/namespace-sweep.ts world ${folder} ${server} ${dns}`,
    ].join('\n')
    const args = ['--net', '--mount', 'sh', '-c', script, process.execPath]
    const env = { ...process.env, NODE_EXTRA_CA_CERTS: made.caPath }
    const out = execFileSync('unshare', args, { cwd: root, env, maxBuffer: 1e7 })
    made.remove()
    told = JSON.parse(out.toString())
  })

  for (const [set, counts] of [
    ['mcp-connection@1.0', LEGACY],
    ['mcp-connection-stateless@1.0', STATELESS],
  ] as const) {
    it(`${set}: every endpoint has the outcome and the detail that it was built for`, () => {
      assert.deepEqual(told[set]?.found, counts)
      assert.deepEqual([told[set]?.lines, told[set]?.distinct], [520, 520])
    })

    it(`${set}: nothing of a sweep is held behind it`, () => {
      const { peaks, held } = told[set] as Told
      const megabytes = (bytes: number) => `${Math.round(bytes / 1e6)} MB`
      console.log(
        `# ${set}: peaks ${peaks.map(megabytes).join(', ')}; held ${held.map(megabytes).join(', ')}`,
      )
      assert.ok(held[1] - held[0] < 5e6, `${held}`)
    })
  }

  it('killed twelve times, it tests every endpoint once and counts the same', () => {
    const { found, lines, distinct } = told['killed'] as Told
    assert.deepEqual([lines, distinct], [520, 520])
    assert.deepEqual(found, LEGACY)
  })
})
