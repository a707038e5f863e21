/** `touchstone probe` and `touchstone sweep` as a shell sees them: streams, files and exit codes. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { startCommands } from '../servers/commands.ts'
import { type Stage, stage } from '../servers/stage.ts'
import { well, wellBut } from '../servers/well.ts'
import { temporaryFolder } from '../temporary.ts'

const root = resolve(import.meta.dirname, '..', '..')
const folder = temporaryFolder('cli-probe')
let server: Stage
const hanging = Promise.withResolvers<void>()

const own = { NAMED: 'from outside', SECRET_KEY: 'not passed on' }
const commands = startCommands({ cwd: root, env: own })
after(async () => assert.equal(await commands.close(), ''))

/** In a process of its own where it is given input or signals. */
function touchstone(
  args: string[],
  options?: {
    input?: string
    stop?: (child: { kill(signal: 'SIGINT'): void }) => void
    hear?: (text: string, child: { kill(signal: 'SIGINT'): void }) => void
  },
): Promise<{ status: number | null; stdout: string; stderr: string }> {
  if (options === undefined) return commands.run(...args)
  const child = spawn(process.execPath, [join(root, 'repl.ts'), ...args], {
    cwd: root,
    env: { ...process.env, ...own },
  })
  child.stdin.end(options.input ?? '')
  options.stop?.(child as unknown as { kill(signal: 'SIGINT'): void })
  const texts = { stdout: '', stderr: '' }
  for (const name of ['stdout', 'stderr'] as const)
    child[name].on('data', (chunk) => {
      texts[name] += chunk
      if (name === 'stdout')
        options.hear?.(String(chunk), child as unknown as { kill(signal: 'SIGINT'): void })
    })
  return new Promise((done) => child.on('close', (status) => done({ status, ...texts })))
}

let slipped = 0

before(async () => {
  const headed = wellBut({
    initialize: (x) => (x.req.headers['x-key'] === 'open' ? well(x) : x.res.writeHead(401).end()),
  })
  server = await stage(
    (x) => {
      if (x.req.url === '/slip') slipped++
      if (x.req.url === '/key') return headed(x)
      if (x.req.url === '/hang') return hanging.resolve()
      if (x.req.url === '/no-list')
        return wellBut({ 'tools/list': ({ res }) => res.writeHead(500).end() })(x)
      return x.req.url === '/gone' ? x.res.writeHead(404).end() : well(x)
    },
    { plain: true, path: '' },
  )
})
after(async () => {
  await server.close()
})

describe('touchstone probe', { concurrency: 2 }, () => {
  it('--set mcp-stateless-conformance@1.0 is for servers of one’s own, and a MUST that is not met exits with 1', async () => {
    const set = ['--set', 'mcp-stateless-conformance@1.0']
    const url = `${server.url}/`
    const [fell, stranger, stray, gone] = await Promise.all([
      touchstone(['probe', '--local', ...set, '--json', url]),
      touchstone(['probe', ...set, url]),
      touchstone(['probe', '--local', ...set, '--repeat', '2', url]),
      touchstone(['probe', '--local', ...set, 'http://127.0.0.1:1/']),
    ])
    assert.deepEqual(
      [fell, stranger, stray, gone].map(({ status }) => status),
      [1, 2, 2, 3],
    )
    const { schema, checks } = JSON.parse(fell.stdout)
    assert.deepEqual([schema, checks.length], ['touchstone.conformance.v0', 9])
    assert.match(stray.stderr, /expected no --repeat/)
  })

  it('exits with 0 when every task passed, 1 when one did not, 3 when it could not be tested', async () => {
    const own = (path: string, ...more: string[]) =>
      touchstone(['probe', '--local', `${server.url}${path}`, ...more])
    const [good, list, gone, key] = await Promise.all([
      own('/'),
      own('/no-list'),
      own('/gone'),
      own('/key'),
    ])
    assert.deepEqual([good.status, list.status, gone.status, key.status], [0, 1, 1, 3])
    assert.match(good.stdout, /server: well 1\.0\.0; protocol version: 2025-06-18/)
    assert.match(list.stdout, /✗ Tool list: it answered with an HTTP error \(HTTP 500\)/)
    assert.match(key.stderr, /^needs_credentials: /)
    const opened = await own('/key', '--header', 'X-Key: open')
    assert.equal(opened.status, 0)
  })

  it('--json of several servers is one line each, and a slip in one of them runs none', async () => {
    const urls = [`${server.url}/1`, `${server.url}/gone`]
    const { status, stdout } = await touchstone(['probe', '--local', '--json', ...urls])
    const lines = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
    assert.deepEqual([status, lines.map(({ outcome }) => outcome)], [1, ['answered', 'error']])
    // Requests of the first command may still arrive, so that they are told apart by their path.
    const slip = await touchstone(['probe', '--local', `${server.url}/slip`, 'no-url'])
    assert.deepEqual([slip.status, slip.stdout, slipped], [2, '', 0])
    await touchstone(['probe', '--local', `${server.url}/slip`])
    assert.ok(slipped > 0)
  })

  it('--config takes servers of an mcp.json, with their variables, and a command gets only what is named', async () => {
    const script = join(folder, 'server.cjs')
    const body = `require('readline').createInterface({input:process.stdin}).on('line',l=>{const m=JSON.parse(l);
      const tools=Object.keys(process.env).filter(n=>/NAMED|SECRET|OWN/.test(n)).map(n=>({name:n+'='+process.env[n]}));
      if(m.id)process.stdout.write(JSON.stringify({jsonrpc:'2.0',id:m.id,result:m.method==='initialize'?{}:{tools}})+'\\n')})`
    writeFileSync(script, body)
    const config = join(folder, 'mcp.json')
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the configuration's own variables
    const entry = { command: process.execPath, args: [script], env: { OWN: '${NAMED} twice' } }
    writeFileSync(config, JSON.stringify({ mcpServers: { one: entry, two: { url: server.url } } }))
    const { status, stdout } = await touchstone([
      'probe',
      '--config',
      config,
      'one',
      '--env',
      'NAMED',
      '--json',
    ])
    const { tools } = JSON.parse(stdout)
    const names = tools.list.map(({ name }: { name: string }) => name).sort()
    assert.deepEqual([status, names], [0, ['NAMED=from outside', 'OWN=from outside twice']])
    const both = await touchstone(['probe', '--config', config, '--json'])
    assert.equal(both.stdout.trim().split('\n').length, 2)
  })

  it('options of your own server, a receipt of one, and several ways at once are bad usage', async () => {
    const slips = [
      ['probe', 'https://example.com/', '--header', 'a: b'],
      ['probe', server.url, '--local', '--receipt', join(folder, 'r.json')],
      ['probe', server.url, '--local', '--stdio'],
      ['probe', server.url, '--local', '--set', 'mcp-connection@1.0'],
    ]
    const ended = await Promise.all(slips.map((slip) => touchstone(slip)))
    for (const { status, stdout } of ended) assert.deepEqual([status, stdout], [2, ''])
  })

  it('--watch tests again after a change, and says which tools changed', async () => {
    const sources = temporaryFolder('sources')
    const script = join(sources, 'server.cjs')
    const serving = (name: string) =>
      writeFileSync(
        script,
        `require('readline').createInterface({input:process.stdin}).on('line',l=>{const m=JSON.parse(l);
        if(m.id)console.log(JSON.stringify({jsonrpc:'2.0',id:m.id,result:{tools:[{name:'${name}'}]}}))})`,
      )
    serving('before')
    let told = ''
    let ended = false
    const args = ['probe', '--watch', sources, '--stdio', '--', process.execPath, script]
    const { status, stdout } = await touchstone(args, {
      hear: (text, child) => {
        told += text
        if (/before[\s\S]*\n\n$/.test(told) && !/after/.test(told)) serving('after')
        // Once: a second Ctrl-C ends a process that is ending.
        if (/changed: /.test(told) && !ended) child.kill('SIGINT')
        ended ||= /changed: /.test(told)
      },
    })
    assert.equal(status, 130)
    assert.match(stdout, /changed: \+ after, - before/)
  })

  it('Ctrl-C ends it with 130 and no stack', async () => {
    const { status, stdout, stderr } = await touchstone(
      ['probe', '--local', `${server.url}/hang`],
      {
        stop: async (child) => {
          await hanging.promise
          child.kill('SIGINT')
        },
      },
    )
    assert.deepEqual([status, stdout], [130, ''])
    assert.doesNotMatch(stderr, /\bat\b.*:\d+/)
  })
})

describe('touchstone sweep', () => {
  it('reads a list from standard input, and goes on from its file', async () => {
    const [out, csv] = [join(folder, 'swept.ndjson'), join(folder, 'swept.csv')]
    const list = JSON.stringify([
      'https://localhost/mcp',
      { name: '=1+1', remotes: [{ type: 'sse', url: 'https://10.0.0.1/sse' }] },
      null,
    ])
    const first = await touchstone(['sweep', '-', '--out', out, '--csv', csv], { input: list })
    assert.equal(first.status, 0)
    assert.match(first.stdout, /2 servers \(mcp-connection 1\.0\), 2 tested now/)
    assert.match(first.stdout, /not tested: 1 not_an_entry/)
    const rows = readFileSync(csv, 'utf8').trim().split('\r\n')
    assert.equal(rows.length, 3)
    assert.ok(
      rows.some((row) =>
        row.startsWith("'=1+1,https://10.0.0.1/sse,sse,mcp-connection@1.0,refused"),
      ),
    )
    const lines = `# comment\nhttps://localhost/mcp\nhttps://192.168.0.1/\n`
    const second = await touchstone(['sweep', '-', '--out', out, '--json'], { input: lines })
    const data = JSON.parse(second.stdout)
    assert.deepEqual([data.tested, data.skips, data.outcomes], [1, { in_log: 1 }, { refused: 3 }])
    assert.deepEqual(
      readdirSync(folder).filter((name) => /lock|draft/.test(name)),
      [],
    )
  })
})
