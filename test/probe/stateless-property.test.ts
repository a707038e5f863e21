/** mcp-connection-stateless 1.0: what holds for any server, and the answers that a table of single faults leaves out. */
import assert from 'node:assert/strict'
import { before, describe, it } from 'node:test'
import { runTest } from '../../lib/probe/connect/tasks.ts'
import { connectionSet } from '../../lib/probe/judge/set.ts'
import fc from '../property.ts'
import { HOSTILE } from '../servers/hostile-answers.ts'
import { as, DISCOVERED, LISTED, modern, modernBut, refuses } from '../servers/modern.ts'
import { type Behaviour, seams, stage, trust } from '../servers/stage.ts'
import { events, json, result, rpcError, TOOLS, well, wellBut } from '../servers/well.ts'

const NAME = 'mcp-connection-stateless@1.0'
const DISCOVER = 'POST server/discover'
const LIST = 'POST tools/list'

before(async () => {
  trust()
  await import('undici')
})

async function tested(behave: Behaviour, limits = {}) {
  const server = await stage(behave)
  const target = { url: server.url, transport: 'streamable-http', local: false, set: NAME } as const
  const found = await runTest(target, seams(limits))
  await server.close()
  return { found, server }
}

const status =
  (code: number, headers: Record<string, string> = {}): Behaviour =>
  ({ res }) =>
    res.writeHead(code, headers).end()

describe('any server', () => {
  const answers: [string, Behaviour][] = [
    ['right', modern],
    ['right in the earlier era', well],
    ['an empty body', status(200)],
    ['202', status(202)],
    ['302', status(302, { location: 'https://127.0.0.1/' })],
    ['401', status(401, { 'www-authenticate': 'Bearer' })],
    ['405', status(405, { allow: 'GET' })],
    ['503', status(503, { 'retry-after': '1' })],
    ['no JSON', ({ res }) => json(res, '<html>')],
    ['an array', ({ res, id }) => json(res, `[${result(id, LISTED)}]`)],
    ['an error', ({ res, id }) => json(res, rpcError(id, -32603, 'x'))],
    ['-32022', refuses(400, -32022, { supported: ['2026-07-28', 5, null, {}] })],
    ['a result of nothing', ({ res, id }) => json(res, result(id, null))],
    ['a result of wrong members', as({}, { supportedVersions: 5, tools: {}, nextCursor: [] })],
    ['pages without end', as(LISTED, { supportedVersions: ['2026-07-28'], nextCursor: '' })],
    ['a session', ({ res, id }) => json(res, result(id, LISTED), { 'mcp-session-id': 'x' })],
    [
      'requests to us',
      ({ res }) => events(res, ['data: {"jsonrpc":"2.0","id":1,"method":"x"}\n\n']),
    ],
    ['silence', () => {}],
    ['a reset', ({ res }) => res.destroy()],
    ['half a body', ({ res }) => void res.writeHead(200, { 'content-length': '9' }).write('{')],
  ]
  const each = fc.constantFrom(...answers)

  it('is sent nothing but POSTs of the two methods, comes to one of the five outcomes, and leaves a detail per task', async () => {
    const { set } = connectionSet(NAME)
    await fc.assert(
      fc.asyncProperty(fc.tuple(each, each, each, each), async (drawn) => {
        const { found, server } = await tested((x) => (drawn[x.n % 4]?.[1] ?? modern)(x), {
          timeoutMs: 300,
        })
        const [first, ...rest] = server.arrived
        assert.ok(first === undefined || first === DISCOVER)
        assert.ok(rest.every((one) => one === LIST) && rest.length <= 3, rest.join())
        assert.ok(server.headers.every((headers) => headers['mcp-session-id'] === undefined))
        assert.ok(set.outcomes.some(({ key }) => key === found.outcome))
        if (found.tasks.some(({ passed }) => passed)) assert.equal(found.outcome, 'answered')
        for (const { passed, detail } of found.tasks) assert.equal(passed, detail === null)
      }),
      { numRuns: 40 },
    )
  })
})

describe('mcp-connection-stateless 1.0', () => {
  it('302 and 307 are errors, and where they point is never asked', async () => {
    for (const code of [302, 307]) {
      const { found, server } = await tested(status(code, { location: '/elsewhere' }))
      assert.deepEqual([found.outcome, found.detail], ['error', 'redirect'])
      assert.deepEqual(server.arrived, [DISCOVER, LIST])
    }
  })

  it('401 with protected-resource metadata asks for credentials, and the metadata is not fetched', async () => {
    const metadata = 'https://mcp.example.test/.well-known/oauth-protected-resource'
    const headers = { 'www-authenticate': `Bearer resource_metadata="${metadata}"` }
    const { found, server } = await tested(status(401, headers))
    assert.deepEqual([found.outcome, found.detail], ['needs_credentials', 'http_401'])
    assert.deepEqual(server.arrived, [DISCOVER, LIST])
  })

  it('an empty text is a cursor, and a fourth page is told of and not asked for', async () => {
    const cursors: unknown[] = []
    const { found, server } = await tested(
      modernBut(null, (x) => {
        cursors.push(x.params?.['cursor'])
        return as(LISTED, { nextCursor: '' })(x)
      }),
    )
    assert.deepEqual(cursors, [undefined, '', ''])
    assert.deepEqual([found.tools?.more, server.connections], [true, 4])
  })

  it('a server that answers otherwise on each connection is read as it answered', async () => {
    const { found } = await tested((x) =>
      x.n === 0 ? modern(x) : as(LISTED, { tools: [{ name: `of_connection_${x.n}` }] })(x),
    )
    assert.deepEqual(
      found.tools?.list.map(({ name }) => name),
      ['of_connection_1'],
    )
  })

  it('header names of answers count in any case', async () => {
    const loud: Behaviour = ({ res, rpc, id }) => {
      const text = result(id, rpc === 'server/discover' ? DISCOVERED : LISTED)
      res.writeHead(200, { 'CONTENT-TYPE': 'Application/JSON', 'MCP-SESSION-ID': 'x' }).end(text)
    }
    const { found } = await tested(loud)
    assert.equal(found.outcome, 'answered')
    assert.ok(found.stateless?.findings.some(({ id }) => id === 'session_minted'))
  })
})

describe('k hostile servers among n honest ones', () => {
  const large = Array.from({ length: 120 }, (_, i) => ({
    name: `large_${i}`,
    description: `Reads record ${i} and gives its fields. `.repeat(8),
  }))
  const honest: [string, Behaviour][] = [
    ['small', well],
    ['large', wellBut({ 'tools/list': ({ res, id }) => json(res, result(id, { tools: large })) })],
    ['key', wellBut({ initialize: status(401) })],
    ['gone', status(404)],
    [
      'streams',
      wellBut({
        'tools/list': ({ res, id }) => events(res, [`data: ${result(id, { tools: TOOLS })}\n\n`]),
      }),
    ],
  ]
  const told = async (url: string, limits = {}) => {
    const target = { url, transport: 'streamable-http', local: false } as const
    const { outcome, detail, tasks, tools, sent, protocolVersion, supportedVersions } =
      await runTest(target, seams(limits))
    return { outcome, detail, tasks, tools, sent, protocolVersion, supportedVersions }
  }

  it('the results of the honest ones are those without them', async () => {
    const servers = await Promise.all(honest.map(([, behave]) => stage(behave)))
    const alone = await Promise.all(servers.map(({ url }) => told(url)))
    const shapes = fc.shuffledSubarray(Object.keys(HOSTILE), { minLength: 1, maxLength: 3 })
    await fc.assert(
      fc.asyncProperty(shapes, async (names) => {
        const hostile = await Promise.all(names.map((name) => stage(HOSTILE[name]?.() ?? well)))
        const [, ...among] = await Promise.all([
          Promise.all(hostile.map(({ url }) => told(url, { timeoutMs: 1_000 }))),
          ...servers.map(({ url }) => told(url)),
        ])
        await Promise.all(hostile.map((server) => server.close()))
        assert.deepEqual(among, alone)
      }),
      { numRuns: 4 },
    )
    await Promise.all(servers.map((server) => server.close()))
  })
})
