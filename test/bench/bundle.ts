/**
 * What `receipt.verifyBundle` costs: a bundle of 1,000 events against its budget, and one of 100 MB in a process of its own.
 *
 * Times are processor time, the best of several rounds. Peak memory is that of the whole process.
 */
import { execFile } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { gzipSync } from 'node:zlib'
import * as receipt from '../../lib/receipt/index.ts'
import {
  decision,
  END,
  entry,
  event,
  linesOf,
  manifestOf,
  observation,
  V0,
} from '../receipt/bundle/made.ts'
import { temporaryFolder } from '../temporary.ts'

type Row = { label: string; value: number; unit: string; budget?: number; ok?: boolean }

const ROUNDS = 7

/** A denial among other events, so many in all, with so many characters each beside their frame. */
function bundleOf(count: number, characters: number): Buffer {
  const text = 'é'.repeat(characters / 2)
  const events = Array.from({ length: count }, (_, seq) => {
    const data = [decision(), observation()][seq] ?? { schema: 'gateway.other.v0', seq, text }
    return event(data, seq)
  })
  const lines = Buffer.from(linesOf(events))
  const manifest = JSON.stringify(manifestOf(events, lines))
  const files = [
    { name: 'manifest.json', body: manifest },
    { name: 'events.ndjson', body: lines },
  ]
  return gzipSync(Buffer.concat([...files.map(entry), END]), { level: 1 })
}

async function verified(bundle: string | Uint8Array): Promise<number> {
  const start = process.cpuUsage()
  const report = await receipt.verifyBundle(bundle, { profile: V0 })
  const { user, system } = process.cpuUsage(start)
  if (report.verdict !== 'valid') throw new Error(`expected a valid bundle, got ${report.text()}`)
  return (user + system) / 1000
}

/** Measure `receipt.verifyBundle`. Budgets: 1,000 events in 50 ms; 100 MB within 400 MB of memory. */
export async function bench(): Promise<{ name: string; rows: Row[] }> {
  const rows: Row[] = []
  const within = (label: string, value: number, unit: string, budget: number) =>
    rows.push({ label, value: Math.round(value * 10) / 10, unit, budget, ok: value <= budget })

  const small = bundleOf(1000, 200)
  let least = Number.POSITIVE_INFINITY
  for (let round = 0; round < ROUNDS; round++) least = Math.min(least, await verified(small))
  within('verify a bundle of 1,000 events', least, 'ms', 50)

  const folder = temporaryFolder('bench')
  const path = join(folder, 'large.tar.gz')
  writeFileSync(path, bundleOf(10_000, 10_000))
  const tsx = fileURLToPath(import.meta.resolve('tsx'))
  const args = ['--import', tsx, fileURLToPath(import.meta.url), 'verify', path]
  const { stdout } = await promisify(execFile)(process.execPath, args)
  const { ms, peakMB } = JSON.parse(stdout) as { ms: number; peakMB: number }
  rows.push({ label: 'verify a bundle of 100 MB, 10,000 events', value: ms, unit: 'ms' })
  within('peak memory of that, whole process', peakMB, 'MB', 400)
  return { name: 'bundles', rows }
}

const [, , side, path = ''] = process.argv
if (side === 'verify') {
  const ms = Math.round(await verified(path))
  console.log(JSON.stringify({ ms, peakMB: Math.round(process.resourceUsage().maxRSS / 1024) }))
}
