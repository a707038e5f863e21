import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { conformance } from '../../lib/probe/index.ts'
import { modern, refuses } from '../servers/modern.ts'
import { sdk1, sdk2 } from '../servers/sdk.ts'
import { type Behaviour, stage } from '../servers/stage.ts'

const told = async (url: string) => {
  const found = await conformance(url)
  return { found, failed: found.checks.filter(({ passed }) => !passed).map(({ id }) => id) }
}

/** Refuses all that the set sends, as the specification demands, but for what `but` answers. */
const strict =
  (but: (x: Parameters<Behaviour>[0]) => Behaviour | null = () => null): Behaviour =>
  (x) => {
    const other = but(x)
    if (other) return other(x)
    const meta = x.params?.['_meta'] as Record<string, unknown> | undefined
    const version = meta?.['io.modelcontextprotocol/protocolVersion']
    const { headers } = x.req
    if (x.method !== 'POST') return x.res.writeHead(405).end()
    if (!meta?.['io.modelcontextprotocol/clientCapabilities']) return refuses(400, -32602)(x)
    if (headers['mcp-method'] !== x.rpc || headers['mcp-protocol-version'] !== version)
      return refuses(400, -32020)(x)
    if (version !== '2026-07-28') return refuses(400, -32022, { supported: ['2026-07-28'] })(x)
    return modern(x)
  }

describe('mcp-stateless-conformance 1.0', () => {
  it('a server that refuses as demanded passes every check', async () => {
    const server = await stage(strict(), { plain: true })
    const { found, failed } = await told(server.url)
    await server.close()
    assert.deepEqual([failed, found.passed, server.connections], [[], 9, 9])
    assert.equal(found.set.id, 'mcp-stateless-conformance')
    assert.match(found.text(), /9 of 9 checks passed/)
  })

  it('each thing done wrong fails its own check', async () => {
    const wrong: [string, (x: Parameters<Behaviour>[0]) => Behaviour | null][] = [
      [
        'version_unknown',
        (x) =>
          x.req.headers['mcp-protocol-version'] === '1900-01-01' ? refuses(400, -32022) : null,
      ],
      [
        'method_header_missing',
        (x) => (x.method === 'POST' && !x.req.headers['mcp-method'] ? modern : null),
      ],
      ['method_unknown', (x) => (x.rpc === 'touchstone/none' ? refuses(200, -32601) : null)],
      ['get', (x) => (x.method === 'GET' ? ({ res }) => res.writeHead(200).write(':') : null)],
      ['delete', (x) => (x.method === 'DELETE' ? ({ res }) => res.writeHead(400).end() : null)],
    ]
    for (const [id, but] of wrong) {
      const server = await stage(strict(but), { plain: true })
      const { failed } = await told(server.url)
      await server.close()
      assert.deepEqual(failed, [id])
    }
  })

  it('SDK 2 that speaks only 2026-07-28 passes; SDK 1, which does not know it, fails', async () => {
    const [two, one] = [await sdk2('modern'), await sdk1(true)]
    assert.deepEqual((await told(two.url)).failed, [])
    const legacy = await told(one.url)
    await Promise.all([two.close(), one.close()])
    assert.ok(legacy.failed.includes('version_unknown'))
    assert.ok(legacy.found.checks.every(({ httpStatus, detail }) => httpStatus !== null || detail))
  })

  it('takes no other address than http or https, and a server that is away is told', async () => {
    await assert.rejects(conformance('file:///etc/passwd'), { code: 'argument_invalid' })
    const server = await stage(modern, { plain: true })
    await server.close()
    const { found } = await told(server.url)
    assert.ok(found.checks.every(({ detail }) => detail === 'connection_refused'))
  })
})
