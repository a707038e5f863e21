/**
 * Opening, summarising and verifying runs of 10^4 and 10^5 trials; of 10^6 too with `--million`.
 *
 * The material is a real offline run of the shipped cases whose trials are written many times under
 * other numbers: keys, seeds and digests are made anew, so that every check has its whole work. Each
 * measurement is a process of its own; time is processor time and memory its peak, the runtime and
 * the compiler included.
 */
import { execFile } from 'node:child_process'
import { cpSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { digest } from '../../lib/canonical.ts'
import { cases, harness, receipt, scenarios } from '../../lib/index.ts'
import { LineWriter } from '../../lib/lines.ts'
import { digestOfLines, FILES, type Manifest, type TrialRecord } from '../../lib/log/index.ts'
import { temporaryFolder } from '../temporary.ts'

type Row = { label: string; value: number; unit: string; budget?: number; ok?: boolean }

/** Repeats of the real run. More than 10 would make one key the beginning of another. */
const REAL_REPEATS = 2

/** Processor seconds and MB at about 10^5 and 10^6 trials, DESIGN: Speed budgets. */
const BUDGETS: { [what: string]: [seconds: number, peakMB: number] } = {
  'open 5': [5, 400],
  'open 6': [15, 500],
  'verify 5': [30, 500],
}

/** Peak of a run of 10^6 simulated trials, in MB. */
const MOST_RUNNING_MB = 400

/** The lines of a trial in each file, cut where its key stands. */
type Template = {
  key: string
  record: TrialRecord
  lines: { [file in 'decisions' | 'transcripts' | 'audit']: string[][] }
}

function templatesOf(dir: string): Template[] {
  const linesOf = (name: keyof typeof FILES) =>
    readFileSync(join(dir, FILES[name]), 'utf8').trimEnd().split('\n')
  const grouped = (name: keyof typeof FILES) =>
    Map.groupBy(linesOf(name), (line) => (JSON.parse(line) as { key: string }).key)
  const [decisions, transcripts, audit] = [
    grouped('decisions'),
    grouped('transcripts'),
    grouped('audit'),
  ]
  return linesOf('trials').map((line) => {
    const record = JSON.parse(line) as TrialRecord
    const { key } = record
    const cut = (lines: string[] = []) => lines.map((one) => one.split(key))
    return {
      key,
      record,
      lines: {
        decisions: cut(decisions.get(key)),
        transcripts: cut(transcripts.get(key)),
        audit: cut(audit.get(key)),
      },
    }
  })
}

/** Write a run of so many repeats, from the trials of a real one. @returns how many trials it has */
function multiply(from: string, to: string, repeats: number): number {
  const templates = Map.groupBy(templatesOf(from), ({ record }) => record.case)
  const manifest = JSON.parse(readFileSync(join(from, FILES.manifest), 'utf8')) as Manifest
  const { cases: tested, configurations } = manifest
  const planned = tested.length * configurations.length * repeats
  cpSync(from, to, {
    recursive: true,
    filter: (path) => path === from || path.endsWith(FILES.manifest),
  })
  writeFileSync(join(to, FILES.manifest), JSON.stringify({ ...manifest, repeats, planned }))
  const names = ['audit', 'transcripts', 'decisions', 'trials'] as const
  const writers = names.map((name) => new LineWriter(join(to, FILES[name])))
  const waiting = names.map((): string[] => [])
  const flush = () => {
    for (const [i, lines] of waiting.entries()) writers[i]?.append(lines.splice(0))
  }
  for (const mine of templates.values())
    for (let round = 0; round * REAL_REPEATS < repeats; round++) {
      for (const { record, lines } of mine) {
        const trial = round * REAL_REPEATS + record.trial
        if (trial >= repeats) continue
        const key = `${record.case}|${record.configuration}|${trial}`
        const under = (cut: string[][]) => cut.map((parts) => parts.join(key))
        const decisions = under(lines.decisions)
        const [transcript = ''] = under(lines.transcripts)
        const digests = {
          ...record.digests,
          decisions: digestOfLines(decisions),
          transcript: digest(transcript),
        }
        const seed = `${manifest.seed}|${key}`
        waiting[0]?.push(...under(lines.audit))
        waiting[1]?.push(transcript)
        waiting[2]?.push(...decisions)
        waiting[3]?.push(JSON.stringify({ ...record, key, trial, seed, digests }))
      }
      if (waiting[3] && waiting[3].length >= 1000) flush()
    }
  flush()
  for (const writer of writers) writer.close()
  return planned
}

/** What the program sets, `repl.ts`. */
const HEAP = ['--max-semi-space-size=8', '--heap-growing-percent=20']

/** What running takes. With two sizes also where a line through them is at 10^6 trials. */
async function running(million: boolean): Promise<Row[]> {
  const sizes = million ? [10_000, 100_000] : [10_000]
  const rows: Row[] = []
  const seen: { trials: number; peakMB: number }[] = []
  for (const size of sizes) {
    const repeats = Math.round(size / 2 / (await simulated()).length)
    const { seconds, peakMB, trials = 0 } = await child(HEAP, 'run', String(repeats))
    seen.push({ trials, peakMB })
    const label = `run, ${trials.toLocaleString('en-US')} simulated trials`
    rows.push({ label, value: seconds, unit: 'CPU s' })
    rows.push({ label: '  peak memory', value: peakMB, unit: 'MB' })
  }
  const [a, b] = seen
  if (!a || !b) return rows
  const slope = (b.peakMB - a.peakMB) / (b.trials - a.trials)
  const value = Math.round(b.peakMB + slope * (1e6 - b.trials))
  const label = '  at 1,000,000 trials, on the line through both'
  return [
    ...rows,
    { label, value, unit: 'MB', budget: MOST_RUNNING_MB, ok: value <= MOST_RUNNING_MB },
  ]
}

async function simulated() {
  return (await cases.load()).filter(({ servers }) => servers.every(({ world }) => world))
}

/** Measure. With `--million` among the arguments of the process, 10^6 trials too. */
export async function bench(): Promise<{ name: string; rows: Row[] }> {
  const million = process.argv.includes('--million')
  const rows = await running(million)
  const folder = temporaryFolder('scale')
  const sets = join(folder, 'sets')
  const tested = await cases.load()
  scenarios.publish(tested, { id: 'scale', version: '1.0', root: sets })
  const real = join(folder, 'real')
  await harness
    .run(tested)
    .config('naive', { model: 'sim/naive' })
    .config('careful', { model: 'sim/careful' })
    .repeat(REAL_REPEATS)
    .out(real)
    .quiet()
  const before = new Map<string, number>()
  for (const power of million ? [4, 5, 6] : [4, 5]) {
    const dir = join(folder, `run-${power}`)
    const repeats = Math.round(10 ** power / (2 * tested.length))
    const trials = multiply(real, dir, repeats)
    for (const what of ['open', 'summary', 'issue', 'verify'] as const) {
      const { seconds, peakMB } = await child([], what, dir, sets)
      const [most, mostMB] = BUDGETS[`${what} ${power}`] ?? []
      const label = `${what}, ${trials.toLocaleString('en-US')} trials`
      rows.push({
        label,
        value: seconds,
        unit: 'CPU s',
        ...(most && { budget: most, ok: seconds <= most }),
      })
      rows.push({
        label: '  peak memory',
        value: peakMB,
        unit: 'MB',
        ...(mostMB && { budget: mostMB, ok: peakMB <= mostMB }),
      })
      const last = before.get(what)
      if (last)
        rows.push({ label: '  growth for 10x the trials', value: seconds / last, unit: 'x' })
      before.set(what, seconds)
      if (what === 'issue')
        rows.push({
          label: '  size of the receipt',
          value: statSync(join(dir, 'receipt.json')).size / 1000,
          unit: 'kB',
        })
    }
    rmSync(dir, { recursive: true })
  }
  return { name: 'scale', rows }
}

type Measured = { seconds: number; peakMB: number; trials?: number }

async function child(flags: string[], ...args: string[]): Promise<Measured> {
  const tsx = fileURLToPath(import.meta.resolve('tsx'))
  const all = [...flags, '--import', tsx, fileURLToPath(import.meta.url), ...args]
  const { stdout } = await promisify(execFile)(process.execPath, all)
  // The whole takes long, and what was measured is not to be lost with it.
  process.stderr.write(`${args[0]}: ${stdout}\n`)
  return JSON.parse(stdout)
}

const WORK: { [what: string]: (dir: string, root: string) => Promise<unknown> } = {
  run: async (repeats) => {
    const run = await harness
      .run(await simulated())
      .config('naive', { model: 'sim/naive' })
      .config('careful', { model: 'sim/careful' })
      .repeat(Number(repeats))
      .out(null)
      .quiet()
    return { trials: run.manifest.planned }
  },
  open: (dir) => harness.open(dir),
  summary: async (dir) => (await harness.open(dir)).summary(),
  issue: async (dir, root) => (await receipt.issueRun(dir, { root })).save(dir),
  verify: async (dir, root) => {
    const { steps } = await receipt.verify(dir, { key: null, root })
    const wrong = steps.find(({ step, verdict }) => verdict !== 'verified' && step !== 'signature')
    if (wrong) throw new Error(`${wrong.step}: ${wrong.code} ${wrong.detail}`)
  },
}

const [, , what = '', dir = '', root = ''] = process.argv
if (import.meta.filename === process.argv[1] && WORK[what]) {
  const start = process.cpuUsage()
  const made = await WORK[what](dir, root)
  const { user, system } = process.cpuUsage(start)
  const seconds = (user + system) / 1e6
  const peakMB = Math.round(process.resourceUsage().maxRSS / 1024)
  process.stdout.write(JSON.stringify({ seconds, peakMB, ...(what === 'run' && (made as object)) }))
}
