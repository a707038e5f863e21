/** The probe beside the SDK's own client on the same loopback server, and a sweep with its memory. */
import { type ChildProcess, fork } from 'node:child_process'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { fileURLToPath } from 'node:url'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { connect, sweep } from '../../lib/probe/index.ts'
import { sdk1 } from '../servers/sdk.ts'

type Row = { label: string; value: number; unit: string; budget?: string; ok?: boolean }

const ROUNDS = 150
const SERVERS = 2_000

export async function bench(): Promise<{ name: string; rows: Row[] }> {
  return {
    name: 'probe: the connection test',
    rows: [...(await besideTheSdk()), ...(await sweeping())],
  }
}

/** Alternating, so that a machine that gets busier gets busier for both; medians, so that one pause does not decide. */
async function besideTheSdk(): Promise<Row[]> {
  const server = await inAnotherProcess('sdk')
  const ours: number[] = []
  const theirs: number[] = []
  for (let i = 0; i < ROUNDS + 10; i++) {
    const [a, b] = i % 2 === 0 ? [probing, client] : [client, probing]
    for (const which of [a, b]) {
      const tookMs = await timed(() => which(server.urls[0] ?? ''))
      if (i >= 10) (which === probing ? ours : theirs).push(tookMs)
    }
  }
  server.stop()
  const ratio = median(ours) / median(theirs)
  return [
    {
      label: `probe.connect with its DELETE, median of ${ROUNDS}`,
      value: median(ours),
      unit: 'ms',
    },
    {
      label: `SDK client connect + listTools + close, median of ${ROUNDS}`,
      value: median(theirs),
      unit: 'ms',
    },
    { label: 'ratio', value: ratio, unit: 'x', budget: '<= 1.0', ok: ratio <= 1 },
  ]
}

async function probing(url: string): Promise<void> {
  const { outcome, passed } = await connect(url, { local: true })
  if (outcome !== 'answered' || passed !== 2) throw new Error(`the probe got ${outcome}`)
}

async function client(url: string): Promise<void> {
  const client = new Client({ name: 'bench', version: '1.0.0' })
  const transport = new StreamableHTTPClientTransport(new URL(url))
  await client.connect(transport as Parameters<Client['connect']>[0])
  const { tools } = await client.listTools()
  if (tools.length !== 3) throw new Error(`the client got ${tools.length} tools`)
  await client.close()
}

async function sweeping(): Promise<Row[]> {
  const server = await inAnotherProcess('many')
  const peak = { bytes: 0 }
  const watch = () => {
    peak.bytes = Math.max(peak.bytes, process.memoryUsage.rss())
  }
  globalThis.gc?.()
  const before = process.memoryUsage.rss()
  let half = 0
  let n = 0
  const tookMs = await timed(async () => {
    const swept = await sweep(server.urls, {
      local: true,
      concurrency: 32,
      onResult: () => {
        watch()
        if (++n === SERVERS / 2) half = peak.bytes
      },
    })
    if (swept.outcomes.answered !== SERVERS)
      throw new Error(`the sweep got ${JSON.stringify(swept.outcomes)}`)
  })
  server.stop()
  const mb = (bytes: number) => bytes / 1e6
  return [
    { label: `sweep of ${SERVERS} servers on loopback`, value: tookMs / 1000, unit: 's' },
    { label: 'servers per second', value: SERVERS / (tookMs / 1000), unit: '/s' },
    { label: 'memory before the sweep', value: mb(before), unit: 'MB' },
    { label: 'peak memory', value: mb(peak.bytes), unit: 'MB' },
    {
      label: 'growth in its second half',
      value: mb(peak.bytes - half),
      unit: 'MB',
      budget: '<= 40',
      ok: mb(peak.bytes - half) <= 40,
    },
  ]
}

/** The servers run in a process of their own, so that neither time nor memory of theirs is counted here. */
function inAnotherProcess(kind: 'sdk' | 'many'): Promise<{ urls: string[]; stop(): void }> {
  const child: ChildProcess = fork(fileURLToPath(import.meta.url), [`--serve=${kind}`])
  return new Promise((resolve, reject) => {
    child.once('message', (urls: string[]) => resolve({ urls, stop: () => void child.kill() }))
    child.once('exit', (code) => reject(new Error(`the servers ended with ${code}`)))
  })
}

async function serve(kind: string): Promise<void> {
  if (kind === 'sdk') return void process.send?.([(await sdk1(true)).url])
  const tools = Array.from({ length: 10 }, (_, i) => ({
    name: `tool_${i}`,
    description: `Does thing ${i}.`,
  }))
  const urls: string[] = []
  for (let i = 0; i < SERVERS; i++) {
    const server = createServer((req, res) => {
      const chunks: Buffer[] = []
      req.on('data', (chunk) => chunks.push(chunk))
      req.on('end', () => {
        const { id, method } = chunks.length > 0 ? JSON.parse(Buffer.concat(chunks).toString()) : {}
        if (id === undefined) return res.writeHead(202).end()
        const result =
          method === 'initialize' ? { protocolVersion: '2025-06-18', capabilities: {} } : { tools }
        return res
          .writeHead(200, { 'content-type': 'application/json' })
          .end(JSON.stringify({ jsonrpc: '2.0', id, result }))
      })
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    urls.push(`http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`)
  }
  process.send?.(urls)
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const begun = performance.now()
  await work()
  return performance.now() - begun
}

function median(values: number[]): number {
  return [...values].sort((a, b) => a - b)[values.length >> 1] ?? Number.NaN
}

const role = process.argv.find((word) => word.startsWith('--serve='))
if (role) await serve(role.slice('--serve='.length))
