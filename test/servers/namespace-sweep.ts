/**
 * Runs inside a network namespace, as namespace.ts does: 52 hosts with ten endpoints each, of ten behaviours, and a third of the
 * hosts of revision 2026-07-28. Sweeps run in processes of their own; one of them is killed twelve times. Writes what it saw as JSON.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:https'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { type SweepLine, sweep } from '../../lib/probe/index.ts'
import { HOSTILE } from './hostile-answers.ts'
import { as, LISTED, modern, refuses } from './modern.ts'
import { nameServer } from './name-server.ts'
import type { Behaviour } from './stage.ts'
import { well } from './well.ts'

const HOSTS = 52
const [role = '', ...words] = process.argv.slice(2)

/** Answers in the way of 2026-07-28 where it is asked so, and by `other` else. */
const modernOr =
  (other: Behaviour, own: Behaviour = modern): Behaviour =>
  (x) =>
    x.req.headers['mcp-method'] === undefined ? other(x) : own(x)
const status =
  (code: number, headers: Record<string, string> = {}): Behaviour =>
  ({ res }) =>
    res.writeHead(code, headers).end()
const legacy = modernOr(well, refuses(400, -32000))
const both = modernOr(well)
const many = HOSTILE['one name with ten thousands of descriptions']?.() ?? well

const KINDS: Record<string, Behaviour> = {
  legacy,
  both,
  modern: modernOr(refuses(400, -32022, { supported: ['2026-07-28'] })),
  key: status(401),
  gone: status(404),
  broken: status(500),
  moved: status(307, { location: 'https://127.0.0.1/mcp' }),
  reset: ({ res }) => res.destroy(),
  failing: refuses(200, -32603),
  silent: () => {},
  hostile: modernOr(many, (x) =>
    x.rpc === 'tools/list' ? as(LISTED, { tools: [{ name: 'a' }] })(x) : modern(x),
  ),
}

/** The ten endpoints of a host. */
function kindsOf(host: number): string[] {
  const speaks = ['modern', 'both', 'legacy'][host % 3] ?? ''
  const rest = ['key', 'gone', 'broken', 'moved', 'reset', 'failing', 'silent']
  return [speaks, host % 13 === 0 ? 'hostile' : 'both', ...rest, 'private']
}

function urlOf(host: number, at: number, kind: string): string {
  const name = kind === 'private' ? `private${host}` : `host${host}`
  return `https://${name}.example.com/${kind}/${at}`
}

/** Sweeps once, or again into another log: what has been tested must not be held. */
async function sweeping([list = '', log = '', set = '', again = '']: string[]): Promise<void> {
  const urls = JSON.parse(readFileSync(list, 'utf8')) as string[]
  const peaks: number[] = []
  const held: number[] = []
  for (const path of again === '' ? [log] : [log, again]) {
    let peak = 0
    await sweep(urls, {
      log: path,
      set,
      concurrency: 64,
      onResult: () => {
        peak = Math.max(peak, process.memoryUsage.rss())
      },
    })
    peaks.push(peak)
    globalThis.gc?.()
    held.push(process.memoryUsage().heapUsed)
  }
  process.stdout.write(JSON.stringify({ peaks, held }))
}

function started(...sweep: string[]): ChildProcess {
  const own = fileURLToPath(import.meta.url)
  return spawn(process.execPath, ['--expose-gc', own, 'sweep', ...sweep], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
}

/** A sweep to its end. */
async function whole(...sweep: string[]): Promise<{ peaks: number[]; held: number[] }> {
  const child = started(...sweep)
  const chunks: Buffer[] = []
  child.stdout?.on('data', (chunk: Buffer) => chunks.push(chunk))
  const [code] = await once(child, 'close')
  if (code !== 0) throw new Error(`the sweep ended with ${code}`)
  return JSON.parse(Buffer.concat(chunks).toString())
}

const sizeOf = (path: string) => (existsSync(path) ? statSync(path).size : 0)

/** A sweep that is killed when its log has grown. */
async function killed(list: string, log: string, set: string): Promise<void> {
  const before = sizeOf(log)
  const child = started(list, log, set)
  const gone = once(child, 'close')
  while (child.exitCode === null && sizeOf(log) < before + 20_000) await pause(10)
  child.kill('SIGKILL')
  await gone
}

function tallied(log: string) {
  const lines = readFileSync(log, 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as SweepLine)
  const found: { [kindAndOutcome: string]: number } = {}
  for (const { subject, outcome, detail } of lines) {
    const key = `${new URL(subject).pathname.split('/')[1]}: ${outcome} ${detail}`
    found[key] = (found[key] ?? 0) + 1
  }
  return { lines: lines.length, distinct: new Set(lines.map(({ subject }) => subject)).size, found }
}

async function world([folder = '', server = '', dns = '']: string[]): Promise<void> {
  const pem = (name: string) => readFileSync(`${folder}/${name}`, 'utf8')
  const https = createServer({ key: pem('good.key'), cert: pem('good.pem') }, (req, res) => {
    const chunks: Buffer[] = []
    req.on('error', () => {})
    res.on('error', () => {})
    req.on('data', (chunk) => chunks.push(chunk))
    req.on('end', () => {
      const {
        method: rpc = null,
        id,
        params,
      } = chunks.length > 0 ? JSON.parse(Buffer.concat(chunks).toString()) : {}
      const kind = req.url?.split('/')[1] ?? ''
      KINDS[kind]?.({ req, res, method: req.method ?? '', rpc, id, params, n: 0 })
    })
  })
  https.on('connection', (socket) => socket.on('error', () => {}))
  https.on('tlsClientError', () => {})
  await new Promise<void>((resolve) => https.listen(443, server, resolve))
  await nameServer(dns, 53, (name) => ({
    addresses: [name.startsWith('private') ? '10.0.0.1' : server],
  }))

  const hosts = Array.from({ length: HOSTS }, (_, host) => host)
  const urls = hosts.flatMap((host) => kindsOf(host).map((kind, at) => urlOf(host, at, kind)))
  const list = `${folder}/list.json`
  writeFileSync(list, JSON.stringify(urls))
  const [first, second] = ['mcp-connection@1.0', 'mcp-connection-stateless@1.0'] as const
  const told: { [name: string]: unknown } = { urls: urls.length }
  for (const set of [first, second]) {
    const log = `${folder}/${set}.ndjson`
    told[set] = { ...(await whole(list, log, set, `${log}-again`)), ...tallied(log) }
  }
  const log = `${folder}/killed.ndjson`
  for (let i = 0; i < 12; i++) await killed(list, log, first)
  const before = readFileSync(log, 'utf8').split('\n').length - 1
  await whole(list, log, first)
  told['killed'] = { before, ...tallied(log) }
  process.stdout.write(JSON.stringify(told))
  process.exit(0)
}

await (role === 'sweep' ? sweeping(words) : world(words))
