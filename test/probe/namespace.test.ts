import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { before, describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { authority } from '../servers/authority.ts'
import { temporaryFolder } from '../temporary.ts'

/** Why the real check cannot be run here; null when it can. */
function unable(): string | null {
  if (process.platform !== 'linux') return 'needs Linux'
  if (process.getuid?.() !== 0) return 'needs root'
  const tried = spawnSync('unshare', ['--net', '--mount', 'ip', 'link', 'set', 'lo', 'up'], {
    encoding: 'utf8',
  })
  if (tried.error) return `unshare: ${tried.error.message}`
  return tried.status === 0 ? null : `no network namespace: ${tried.stderr.trim()}`
}

const reason = unable()
if (reason) console.log(`# the end-to-end address test is skipped: ${reason}`)

type Found = {
  outcome: string
  detail: string
  reason: string | null
  sent: string[]
  set: string
  durationMs: number
}
type Seen = {
  results: Record<string, Found>
  trapped: string[]
  arrived: string[]
  questions: string[]
}

describe('end to end, nothing injected: real names, real TLS, real sockets, in a namespace of its own', {
  skip: reason ?? false,
}, () => {
  const folder = temporaryFolder('namespace')
  const root = fileURLToPath(new URL('../..', import.meta.url))
  let seen: Seen

  before(() => {
    const made = authority()
    mkdirSync(folder, { recursive: true })
    const names = ['example.com', '*.example.com']
    for (const [name, leaf] of [
      ['good', made.issue(names)],
      ['alone', made.issue(names, { selfSigned: true })],
    ] as const) {
      writeFileSync(join(folder, `${name}.key`), leaf.key)
      writeFileSync(join(folder, `${name}.pem`), leaf.cert)
    }
    const [server, stranger, dns] = ['93.184.216.34', '93.184.216.35', '93.184.216.53']
    writeFileSync(
      join(folder, 'resolv.conf'),
      `nameserver ${dns}\nsearch example.com\noptions ndots:5\n`,
    )
    writeFileSync(join(folder, 'hosts'), '127.0.0.1 localhost hosts.example.com\n')
    const script = [
      'set -e',
      'ip link set lo up',
      ...[server, stranger, dns, '93.184.216.99'].map(
        (address) => `ip addr add ${address}/32 dev lo`,
      ),
      'ip -6 addr add 2606:2800:220:1::34/128 dev lo 2>/dev/null || true',
      `mount --bind ${folder}/resolv.conf /etc/resolv.conf`,
      `mount --bind ${folder}/hosts /etc/hosts`,
      `exec "$0" test/servers/namespace.ts ${folder} ${server} ${stranger} ${dns}`,
    ].join('\n')
    const out = execFileSync(
      'unshare',
      ['--net', '--mount', 'sh', '-c', script, process.execPath],
      {
        cwd: root,
        env: {
          ...process.env,
          NODE_EXTRA_CA_CERTS: made.caPath,
          HTTPS_PROXY: 'http://127.0.0.1:1',
          NODE_USE_ENV_PROXY: '1',
        },
        maxBuffer: 1e7,
        timeout: 60_000,
      },
    )
    made.remove()
    seen = JSON.parse(out.toString())
  })

  const expected: [string, string, string, string | null][] = [
    ['public', 'answered', 'handshake_complete', null],
    ['with the dot of a full name', 'answered', 'handshake_complete', null],
    ['sse', 'answered', 'handshake_complete', null],
    ['rebind, first', 'answered', 'handshake_complete', null],
    ['rebind, second', 'refused', 'address_refused', 'loopback'],
    ['mixed', 'refused', 'address_refused', 'loopback'],
    ['private', 'refused', 'address_refused', 'private'],
    ['mapped', 'refused', 'address_refused', 'loopback'],
    ['nat64', 'refused', 'address_refused', 'nat64'],
    ['metadata', 'refused', 'address_refused', 'link_local'],
    ['alias', 'refused', 'address_refused', 'loopback'],
    ['hosts file', 'no_answer', 'name_not_found', null],
    ['stranger', 'error', 'certificate', null],
    ['missing', 'no_answer', 'name_not_found', null],
    ['empty', 'no_answer', 'name_not_found', null],
    ['broken', 'no_answer', 'name_failed', null],
    ['closed', 'no_answer', 'connection_refused', null],
    ['redirect', 'error', 'redirect', null],
    ['endpoint', 'refused', 'endpoint_refused', 'ip_literal'],
    ['literal', 'refused', 'url_refused', 'ip_literal'],
  ]
  for (const [id, outcome, detail, why] of expected) {
    it(`${id}: ${outcome}, ${detail}`, () => {
      const found = seen.results[id]
      assert.deepEqual(
        [found?.outcome, found?.detail, found?.reason, found?.set],
        [outcome, detail, why, 'mcp-connection'],
      )
    })
  }

  it('loopback was never connected to', () => assert.deepEqual(seen.trapped, []))

  it('only the messages of the set arrived, under the name without its last dot', () => {
    const test = (host: string) =>
      ['POST initialize', 'POST notifications/initialized', 'POST tools/list', 'DELETE'].map(
        (each) => `${host} ${each}`,
      )
    const stream = [
      'GET',
      ...test('')
        .slice(0, 3)
        .map((each) => each.trim()),
    ].map((each) => `mcp.example.com ${each}`)
    assert.deepEqual(seen.arrived, [
      ...test('mcp.example.com'),
      ...test('mcp.example.com'),
      ...stream,
      ...test('rebind.example.com'),
      'mcp.example.com POST initialize',
      'mcp.example.com GET',
    ])
  })

  it('names were asked for as they stand, with no search domain behind them', () => {
    assert.ok(seen.questions.includes('A missing.example.com'))
    assert.ok(seen.questions.every((question) => !/example\.com\.example\.com/.test(question)))
  })
})
