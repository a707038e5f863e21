/**
 * What `receipt.verify` costs: beside strict-parsing and digesting the same bytes, over growing input, and in memory.
 *
 * Times are processor time, and the two sides of a ratio take turns in one process, the best of several rounds each: other work on
 * the machine can only make a round slower. Peak memory is that of a process of its own, runtime and compiler included.
 */
import { execFile } from 'node:child_process'
import { createReadStream, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { canonical, digest, digestOf } from '../../lib/canonical.ts'
import { parse } from '../../lib/json.ts'
import * as receipt from '../../lib/receipt/index.ts'
import { temporaryFolder } from '../temporary.ts'

type Row = { label: string; value: number; unit: string; budget?: number; ok?: boolean }

const ROUNDS = 5

/** n writes over n / 20 runs and repositories, and the n records that bind to them, as NDJSON. */
function material(n: number): { decisions: string; records: string } {
  const decisions: string[] = []
  const records: string[] = []
  for (let i = 0; i < n; i++) {
    const place = { owner: 'org', repo: `repo-${i % Math.ceil(n / 20)}` }
    const made = receipt.observe({
      server: 'github',
      tool: 'add_deploy_key',
      arguments: { ...place, title: `key-${i}`, read_only: true },
      status: 'success',
      runId: `run-${i % Math.ceil(n / 20)}`,
      seq: i,
    })
    decisions.push(JSON.stringify(made))
    const key_title_hash = receipt.targetHash('github_key_title', `key-${i}`)
    const subject = {
      action_class: 'github_deploy_key',
      verb: 'create',
      target: { ...place, key_title_hash },
    }
    records.push(
      JSON.stringify(receipt.record({ provider: 'github', record_id: `e${i}`, subject })),
    )
  }
  return { decisions: decisions.join('\n'), records: records.reverse().join('\n') }
}

function timed(work: () => unknown): number {
  const start = process.cpuUsage()
  work()
  const { user, system } = process.cpuUsage(start)
  return (user + system) / 1000
}

function best(...works: (() => unknown)[]): number[] {
  const least = works.map(() => Number.POSITIVE_INFINITY)
  for (let round = 0; round < ROUNDS; round++)
    for (const [i, work] of works.entries()) least[i] = Math.min(least[i] as number, timed(work))
  return least
}

/** The floor: every line strictly parsed, and its canonical text digested. */
function parseAndDigest(...files: string[]): void {
  for (const file of files) for (const line of file.split('\n')) digestOf(parse(line))
}

function verifyTexts(files: { decisions: string; records: string }): receipt.Report {
  const decisions = files.decisions.split('\n').map((line) => parse(line))
  const audit = files.records.split('\n').map((line) => parse(line))
  return receipt.verify(decisions, { audit: audit as never })
}

/** Measure `receipt.verify`. Budgets: 2x the floor; 13x the time for 10x the input; 100,000 x 100,000 in bounded memory. */
export async function bench(): Promise<{ name: string; rows: Row[] }> {
  const rows: Row[] = []
  const within = (label: string, value: number, unit: string, budget: number) =>
    rows.push({ label, value: Math.round(value * 100) / 100, unit, budget, ok: value <= budget })

  const small = material(2000)
  const large = material(20_000)
  const verified = verifyTexts(small).counts.levels.verified
  if (verified !== 2000) throw new Error(`expected 2000 verified calls, got ${verified}`)
  const [floor = 0, whole = 0] = best(
    () => parseAndDigest(large.decisions, large.records),
    () => verifyTexts(large),
  )
  rows.push({
    label: 'strict parse and digest, 20,000 + 20,000 lines',
    value: Math.round(floor),
    unit: 'ms',
  })
  rows.push({ label: 'verify the same bytes', value: Math.round(whole), unit: 'ms' })
  within('verify / (strict parse and digest)', whole / floor, 'x', 2)

  const [two = 0, twenty = 0] = best(
    () => verifyTexts(small),
    () => verifyTexts(large),
  )
  within('20,000 x 20,000 over 2,000 x 2,000', twenty / two, 'x', 13)

  const folder = temporaryFolder('bench')
  const huge = material(100_000)
  const files = [join(folder, 'decisions.ndjson'), join(folder, 'records.ndjson')] as const
  writeFileSync(files[0], huge.decisions)
  writeFileSync(files[1], huge.records)
  const bare = await child('floor', ...files)
  const made = await child('verify', ...files)
  if (made.verified !== 100_000)
    throw new Error(`expected 100000 verified calls, got ${made.verified}`)
  rows.push({
    label: 'strict parse and digest of two files of 100,000 lines',
    value: bare.ms,
    unit: 'ms',
  })
  rows.push({ label: 'verifyStream over the same files', value: made.ms, unit: 'ms' })
  within('verifyStream / (strict parse and digest)', made.ms / bare.ms, 'x', 2)
  rows.push({
    label: 'peak memory of reading alone, whole process',
    value: bare.peakMB,
    unit: 'MB',
  })
  within('peak memory of 100,000 x 100,000, whole process', made.peakMB, 'MB', 700)
  return { name: 'receipts', rows }
}

type Measured = { ms: number; peakMB: number; verified: number }

/** Run one side of the comparison in a process of its own. */
async function child(side: 'floor' | 'verify', ...files: readonly string[]): Promise<Measured> {
  const tsx = fileURLToPath(import.meta.resolve('tsx'))
  const args = ['--import', tsx, fileURLToPath(import.meta.url), side, ...files]
  const { stdout } = await promisify(execFile)(process.execPath, args)
  return JSON.parse(stdout)
}

async function measured(side: string, decisions: string, audit: string): Promise<Measured> {
  const start = process.cpuUsage()
  let verified = 0
  if (side === 'verify')
    verified = (await receipt.verifyStream(decisions, { audit })).counts.levels.verified
  else {
    for (const path of [decisions, audit])
      for await (const line of createInterface({ input: createReadStream(path) }))
        digest(canonical(parse(line)))
  }
  const { user, system } = process.cpuUsage(start)
  return {
    ms: Math.round((user + system) / 1000),
    peakMB: Math.round(process.resourceUsage().maxRSS / 1024),
    verified,
  }
}

const [, , side, ...files] = process.argv
if (side === 'floor' || side === 'verify')
  console.log(JSON.stringify(await measured(side, files[0] ?? '', files[1] ?? '')))
