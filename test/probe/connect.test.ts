import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { inspect } from 'node:util'
import { ProbeResult } from '../../lib/probe/connect/result.ts'
import { ProbeRuns } from '../../lib/probe/connect/runs.ts'
import { connect, declaration } from '../../lib/probe/index.ts'
import { lives } from '../servers/processes.ts'
import { sse } from '../servers/sse-faults.ts'
import { type Stage, stage } from '../servers/stage.ts'
import { well } from '../servers/well.ts'
import { temporaryFolder } from '../temporary.ts'

const folder = temporaryFolder('connect')
let server: Stage
before(async () => {
  server = await stage(well, { plain: true })
})
after(async () => {
  await server.close()
})

describe('a bad call throws, a hostile address is a result', () => {
  for (const text of ['', 'example.com/mcp', 'localhost:3000/mcp', '//example.com', 'mcp']) {
    it(`no scheme: ${JSON.stringify(text)} throws`, () =>
      assert.throws(() => connect(text), { code: 'argument_invalid' }))
  }
  for (const text of [
    'http://example.com/',
    'https://10.0.0.1/',
    ' https://example.com/',
    'https:example.com',
    '{base}/mcp',
    'file:///etc/passwd',
    'https://example.com:99999/',
  ]) {
    it(`${JSON.stringify(text)} is refused`, async () => {
      const found = await connect(text)
      assert.deepEqual([found.outcome, found.attempted, found.sent], ['refused', 0, []])
    })
  }
  it('an unknown transport throws', () => {
    assert.throws(() => connect('https://example.com/', { transport: 'websocket' as 'sse' }), {
      code: 'transport_unknown',
    })
  })
  it('no URL and no command throws', () => {
    assert.throws(() => connect(undefined as unknown as string), { code: 'argument_invalid' })
    assert.throws(() => connect({ command: '' }), { code: 'argument_invalid' })
    assert.throws(() => connect('https://example.com/').repeat(0), { code: 'argument_invalid' })
    assert.throws(() => connect('ftp://127.0.0.1/', { local: true }), { code: 'argument_invalid' })
  })
})

describe('a test runs when it is awaited', () => {
  it('not before, and once however often it is awaited', async () => {
    const count = () => server.arrived.filter((each) => each === 'POST initialize').length
    const begun = count()
    const connection = connect(server.url, { local: true })
    assert.match(inspect(connection), /not awaited yet/)
    assert.equal(count(), begun)
    assert.equal(await connection, await connection)
    assert.equal(count(), begun + 1)
  })

  it('repeated, it runs anew each time, and tells the spread of its latencies and whether they agree', async () => {
    const runs = await connect(server.url, { local: true }).repeat(4)
    assert.equal(runs.results.length, 4)
    assert.equal(new Set(runs.results).size, 4)
    assert.deepEqual(runs.outcomes, { answered: 4 })
    assert.equal(runs.stable, true)
    const { latency } = runs
    const told = runs.results.filter(({ latencyMs }) => latencyMs !== null)
    assert.equal(latency?.n ?? 0, told.length)
    assert.deepEqual(
      latency?.valuesMs,
      [...(latency?.valuesMs ?? [])].sort((a, b) => a - b),
    )
    assert.match(inspect(runs), /the same each time: answered/)
    assert.equal(JSON.parse(JSON.stringify(runs)).results.length, 4)
  })

  it('a server that changes its mind is told apart from one that does not', async () => {
    let n = 0
    const moody = await stage(
      (x) => (x.rpc === 'initialize' && n++ % 2 === 1 ? x.res.writeHead(503).end() : well(x)),
      {
        plain: true,
      },
    )
    const runs = await connect(moody.url, { local: true }).repeat(3)
    await moody.close()
    assert.deepEqual([runs.outcomes, runs.stable], [{ answered: 2, error: 1 }, false])
    assert.match(inspect(runs), /not the same each time/)
  })

  it('a latency that is not told holds no curve down, and one below a millisecond is not 0', async () => {
    const one = (await connect(server.url, { local: true })).toJSON()
    const results = [0.42, 3.26, null].map(
      (latencyMs) =>
        new ProbeResult('http://own/mcp', 'streamable-http', null, {
          ...one,
          latencyMs,
          latencyNote: latencyMs === null ? 'loop_blocked' : null,
        }),
    )
    const runs = new ProbeRuns(results)
    assert.deepEqual(runs.chart().rows[0]?.outcomes, { answered: 2 })
    assert.match(
      runs.text(),
      /of 2 answered handshakes: 0\.42 ms to 3\.3 ms, median 1\.8 ms; 1 more not told, this process stood still/,
    )
  })

  it('a server that closes each connection at some time behind its answer is answered each time', async () => {
    // 0 to 3 ms behind an answer, when the next request may be on its way.
    let n = 0
    const closing = await stage(
      (x) => {
        const { socket } = x.req
        x.res.on('finish', () => setTimeout(() => socket?.destroy(), (n++ % 7) / 2))
        return well(x)
      },
      { plain: true },
    )
    const runs = await connect(closing.url, { local: true }).repeat(100)
    await closing.close()
    assert.deepEqual([runs.outcomes, runs.stable], [{ answered: 100 }, true])
    assert.ok(runs.results.every(({ passed }) => passed === 2))
  })

  it('no answered handshake means no latency, not one of zero', async () => {
    const runs = await connect('https://localhost/').repeat(2)
    assert.equal(runs.latency, null)
    assert.match(inspect(runs), /no latency is known/)
  })
})

describe('servers of your own', () => {
  it('run the same tasks at any address, and the result says that it is not the published test', async () => {
    const found = await connect(server.url, { local: true })
    assert.deepEqual([found.outcome, found.passed, found.set], ['answered', 2, null])
    assert.match(inspect(found), /not the published test/)
    assert.throws(() => found.statement(), { code: 'set_unpublished' })
  })

  const script = (name: string, body: string) => {
    const path = join(folder, name)
    writeFileSync(path, body)
    return { command: process.execPath, args: [path] }
  }
  const loop = (reply: string) =>
    `require('readline').createInterface({input:process.stdin}).on('line',l=>{const m=JSON.parse(l);const say=v=>process.stdout.write(JSON.stringify({jsonrpc:'2.0',id:m.id,...v})+'\\n');${reply}})`

  it('over stdio, with logging between the answers', async () => {
    const found = await connect(
      script(
        'good.cjs',
        loop(
          `console.log('log line');if(m.id)say({result:m.method==='initialize'?{}:{tools:[{name:'a'}]}})`,
        ),
      ),
    )
    assert.deepEqual(
      [found.outcome, found.tools?.named, found.set, found.transport],
      ['answered', 1, null, 'stdio'],
    )
    assert.deepEqual(found.sent, ['initialize', 'notifications/initialized', 'tools/list'])
  })
  it('a command that is not there: no_answer, command_failed', async () => {
    const found = await connect({ command: join(folder, 'nothing') })
    assert.deepEqual([found.outcome, found.detail], ['no_answer', 'command_failed'])
  })
  it('a command that ends: no_answer, connection_dropped', async () => {
    const found = await connect(script('ends.cjs', ''))
    assert.deepEqual([found.outcome, found.detail], ['no_answer', 'connection_dropped'])
  })
  it('a command that answers with an error, or pours out one endless line', async () => {
    const failing = await connect(
      script('fails.cjs', loop(`say({error:{code:-32000,message:'API key required'}})`)),
    )
    assert.deepEqual([failing.outcome, failing.detail], ['needs_credentials', 'auth_error'])
    const pouring = await connect(
      script(
        'pours.cjs',
        `process.stdout.on('error',()=>process.exit());setInterval(()=>process.stdout.write('x'.repeat(1e5)),1)`,
      ),
    )
    assert.deepEqual([pouring.outcome, pouring.detail], ['error', 'answer_too_large'])
  })
})

describe('the owner of a server is told why it failed', () => {
  const node = (body: string, more: object = {}) => ({
    command: process.execPath,
    args: ['-e', body],
    ...more,
  })
  const says = (value: string) => `JSON.stringify({jsonrpc:'2.0',id:m.id,result:${value}},null,2)`

  it('a command that is nowhere: what was looked for, and where', async () => {
    const found = await connect({ command: 'no-such-command', env: { PATH: '/nowhere:/else' } })
    assert.equal(
      found.own?.process?.notStarted,
      'no-such-command is in none of the folders of PATH (ENOENT): /nowhere:/else',
    )
    const path = join(folder, 'nothing')
    const named = await connect({ command: path })
    assert.equal(named.own?.process?.notStarted, `${path} is not there (ENOENT)`)
    const away = await connect(node('', { cwd: join(folder, 'gone') }))
    assert.match(away.own?.process?.notStarted ?? '', /the folder .*gone is not there/)
    assert.match(named.text(), /not started: /)
  })

  it('a server that ends: its exit code and the end of its standard error', async () => {
    const found = await connect(node(`console.error('BRAVE_API_KEY is required');process.exit(7)`))
    assert.deepEqual([found.outcome, found.detail], ['no_answer', 'connection_dropped'])
    assert.deepEqual(
      [found.own?.process?.exitCode, found.own?.process?.stderr],
      [7, ['BRAVE_API_KEY is required']],
    )
    assert.match(found.text(), /BRAVE_API_KEY is required\n.* small environment\..*--env NAME/s)
    assert.match(found.text(), /exit code 7[\s\S]*BRAVE_API_KEY is required/)
    const killed = await connect(node(`process.kill(process.pid,'SIGTERM')`))
    assert.equal(killed.own?.process?.signal, 'SIGTERM')
  })

  it('messages in another framing: which one, and the lines', async () => {
    const short = { timeoutMs: 1_500 }
    const pretty = await connect(node(`${reads()}console.log(${says('{}')})})`), short)
    assert.equal(pretty.own?.process?.framing, 'pretty_printed')
    const framed = node(
      `${reads()}const t=${says('{}')};process.stdout.write('Content-Length: '+t.length+'\\r\\n\\r\\n'+t)})`,
    )
    const lengths = await connect(framed, short)
    assert.equal(lengths.own?.process?.framing, 'content_length')
    const glued = node(
      `${reads()}process.stdout.write('ready '+JSON.stringify({jsonrpc:'2.0',id:m.id,result:{}})+'\\n')})`,
    )
    const text = await connect(glued, short)
    assert.equal(text.own?.process?.framing, 'text_before_message')
    assert.match(text.own?.process?.stray[0] ?? '', /^ready /)
  })

  it('its error text, how it names itself, and its tools with their schemas', async () => {
    const failing = await connect(
      node(
        `${reads()}console.log(JSON.stringify({jsonrpc:'2.0',id:m.id,error:{code:-5,message:'the database is locked'}}))})`,
      ),
    )
    assert.deepEqual(failing.own?.errors, [
      { task: 'handshake', code: -5, message: 'the database is locked' },
    ])
    assert.match(failing.text(), /its error: the database is locked \(code -5\)/)
    const found = await connect(server.url, { local: true, schemas: true })
    assert.deepEqual(
      [found.greeting?.name, found.greeting?.version, found.greeting?.capabilities],
      ['well', '1.0.0', ['tools']],
    )
    assert.deepEqual(found.tools?.list[0]?.inputSchema, { type: 'object' })
    const without = await connect(server.url, { local: true })
    assert.equal(without.tools?.list[0]?.inputSchema, undefined)
  })

  it('where a redirect points, and the way that would have worked', async () => {
    const moved = await stage(
      (x) => (x.req.url === '/mcp' ? x.res.writeHead(307, { location: '/mcp/' }).end() : well(x)),
      { plain: true },
    )
    const found = await connect(moved.url, { local: true })
    await moved.close()
    assert.deepEqual([found.detail, found.own?.location], ['redirect', '/mcp/'])
    assert.equal(found.own?.worksOver?.url, `${moved.url}/`)
    const events = sse()
    const streams = await stage(
      (x) => (x.method === 'POST' && x.req.url === '/mcp' ? x.res.writeHead(405).end() : events(x)),
      { plain: true },
    )
    const wrong = await connect(streams.url, { local: true })
    await streams.close()
    assert.equal(wrong.own?.worksOver?.transport, 'sse')
    assert.match(wrong.text(), /it does answer with --transport sse/)
  })

  it('nothing of this is told of a stranger', async () => {
    const found = await connect('https://10.0.0.1/')
    assert.deepEqual([found.own, found.greeting], [null, null])
  })
})

describe('a command is ended with everything it started', () => {
  it('a server behind a shell that ignores its input and SIGTERM is gone afterwards', async () => {
    const pid = join(folder, 'pid')
    const child = `require('fs').writeFileSync(process.argv[1],String(process.pid));process.on('SIGTERM',()=>{});setInterval(()=>{},1000);process.stdin.resume()`
    const behind = {
      command: 'sh',
      args: ['-c', `"$0" -e "$1" "$2" & wait`, process.execPath, child, pid],
    }
    const found = await connect(behind, { timeoutMs: 1_500 })
    assert.equal(found.outcome, 'no_answer')
    assert.match(found.text(), /small environment.*--env NAME/s)
    assert.equal(lives(Number(readFileSync(pid, 'utf8'))), false)
  })

  it('what no program can be handed is refused before it is started', () => {
    for (const target of [
      { command: 'a\0b' },
      { command: 'sh', args: ['a\0b'] },
      { command: 'sh', cwd: 'a\0b' },
      { command: 'sh', env: { A: 'a\0b' } },
    ])
      assert.throws(() => connect(target), {
        code: 'argument_invalid',
        message: /got a NUL character in it \(target\)$/,
      })
  })

  it('it is given a small environment and what is named: the proxy only without a password', async () => {
    const tell = `${reads()}if(m.id)console.log(JSON.stringify({jsonrpc:'2.0',id:m.id,result:{tools:Object.keys(process.env).map(name=>({name}))}}))})`
    const passed = {
      NODE_EXTRA_CA_CERTS: '/ca.pem',
      npm_config_cafile: '/ca.pem',
      HTTP_PROXY: 'http://proxy.example:3128',
      no_proxy: 'localhost',
    }
    const held = {
      TOUCHSTONE_TEST_SECRET: 'x',
      HTTPS_PROXY: 'http://me:word@proxy.example:3128',
      ALL_PROXY: 'me@proxy.example:3128',
    }
    const before = { ...process.env }
    Object.assign(process.env, passed, held)
    const found = await connect({
      command: process.execPath,
      args: ['-e', tell],
      env: { OWN: '1' },
    })
    for (const name of Object.keys({ ...passed, ...held }))
      if (before[name] === undefined) delete process.env[name]
      else process.env[name] = before[name]
    const names = new Set(found.tools?.list.map(({ name }) => name))
    assert.deepEqual(
      ['OWN', 'PATH', ...Object.keys(passed)].filter((name) => !names.has(name)),
      [],
    )
    assert.deepEqual(
      Object.keys(held).filter((name) => names.has(name)),
      [],
    )
  })
})

function reads(): string {
  return `require('readline').createInterface({input:process.stdin}).on('line',l=>{const m=JSON.parse(l);`
}

describe('a declaration', () => {
  const remote = { type: 'streamable-http', url: 'https://localhost/mcp' }
  it('gives its remotes, with the headers it requires', () => {
    const made = declaration({
      name: 'io.example/mcp',
      version: '1.2.0',
      remotes: [
        remote,
        {
          transport_type: 'sse',
          url: 'https://{t}.example.com/',
          headers: [{ name: 'X-Key', isRequired: true }, { name: 'X-Other' }],
        },
      ],
    })
    assert.deepEqual(made.remotes, [
      {
        url: 'https://localhost/mcp',
        transport: 'streamable-http',
        requiredHeaders: [],
        template: null,
      },
      {
        url: 'https://{t}.example.com/',
        transport: 'sse',
        requiredHeaders: ['X-Key'],
        template: null,
      },
    ])
  })
  it('one remote that cannot be read is told, and keeps no other from being tested', () => {
    const made = declaration({
      name: 'a',
      remotes: [{ type: 'websocket', url: 'wss://x' }, remote, { type: 'sse' }, null],
    })
    assert.deepEqual(
      made.remotes.map(({ url }) => url),
      [remote.url],
    )
    assert.deepEqual(made.problems, [
      { where: 'remotes[0].type', reason: 'transport_unknown', got: '"websocket"' },
      { where: 'remotes[2].url', reason: 'no_url', got: 'nothing' },
      { where: 'remotes[3]', reason: 'not_an_entry', got: 'null' },
    ])
  })
  it('fills in the defaults of a URL, and says what stood there', () => {
    const variables = { host: { default: 'mcp.example.com' }, tenant: { description: 'yours' } }
    const made = declaration({
      name: 'a',
      remotes: [
        { type: 'http', url: 'https://{host}/mcp', variables },
        { type: 'sse', url: 'https://{host}/{tenant}', variables },
      ],
    })
    assert.deepEqual(
      made.remotes.map(({ url, template }) => [url, template]),
      [
        ['https://mcp.example.com/mcp', 'https://{host}/mcp'],
        ['https://mcp.example.com/{tenant}', 'https://{host}/{tenant}'],
      ],
    )
  })
  it('of the schema 2025-07-09 is read whole', () => {
    // The shape of the registry's own examples of that schema.
    const made = declaration({
      name: 'io.example/old',
      status: 'active',
      version_detail: { version: '1.0.2', is_latest: true },
      remotes: [
        {
          transport_type: 'streamable-http',
          url: 'https://localhost/http',
          headers: [{ name: 'X-Key', is_required: true }],
        },
      ],
    })
    assert.deepEqual([made.version, made.latest, made.status], ['1.0.2', true, 'active'])
    assert.deepEqual(made.remotes[0]?.requiredHeaders, ['X-Key'])
  })
  it('is read from a file too, in the wrapping of a registry', async () => {
    const path = join(folder, 'server.json')
    writeFileSync(path, JSON.stringify({ server: { name: 'a', remotes: [remote] } }))
    const results = await declaration(path).connect()
    assert.deepEqual(
      results.map(({ outcome, reason }) => [outcome, reason]),
      [['refused', 'localhost']],
    )
  })
  it('without remotes has nothing to test', () =>
    assert.deepEqual(declaration({ name: 'a', packages: [] }).remotes, []))

  const bad: [string, unknown, RegExp][] = [
    ['no object', 5, /the declaration/],
    ['no name', {}, /name/],
    ['remotes that are no list', { name: 'a', remotes: {} }, /remotes/],
    ['a page of servers', { servers: [] }, /a page of servers, which sweep takes/],
  ]
  for (const [id, value, where] of bad) {
    it(`${id}: throws, naming the field`, () =>
      assert.throws(() => declaration(value), { code: 'declaration_invalid', message: where }))
  }
  it('an unreadable file throws', () => {
    assert.throws(() => declaration(join(folder, 'none.json')), { code: 'file_unreadable' })
    writeFileSync(join(folder, 'bad.json'), '{')
    assert.throws(() => declaration(join(folder, 'bad.json')), { code: 'json_syntax' })
  })
})

it('importing the probe loads neither an HTTP client nor a pattern engine', () => {
  const code = `
    const { registerHooks } = await import('node:module')
    const seen = []
    registerHooks({ resolve(name, context, next) { seen.push(name); return next(name, context) } })
    await import('./lib/probe/index.ts')
    console.log(seen.filter((name) => /^(undici|re2js|@modelcontextprotocol)/.test(name)).join())`
  const root = fileURLToPath(new URL('../..', import.meta.url))
  const out = execFileSync(process.execPath, ['--input-type=module', '-e', code], { cwd: root })
  assert.equal(out.toString().trim(), '')
})
