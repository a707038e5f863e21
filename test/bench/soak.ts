/**
 * Bad days, measured: a run that is killed again and again, a disk that is full, a folder that is read-only, a clock that jumps,
 * two writers, a storm of 429s, a server that dies every tenth call, and the memory of a long run.
 */
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { performance } from 'node:perf_hooks'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { setFlagsFromString } from 'node:v8'
import { Limiters } from '../../lib/harness/model/limiter.ts'
import { execute } from '../../lib/harness/run/execute.ts'
import { cases, harness } from '../../lib/index.ts'
import { rng } from '../../lib/stats/random.ts'
import type { Ended } from '../servers/disturbed-run.ts'
import { jumpingClock, solves, startGroq } from '../servers/groq.ts'
import { atOnce, inShell, isFailed, mounted, withoutMounts } from '../servers/in-shell.ts'

type Row = { label: string; value: number; unit: string; budget?: number; ok?: boolean }

const CASES = 'cases/lying_success'

/** The most repeats that a run takes. */
const MOST_REPEATS = 1_000_000

/** The run of the soak: two cases, or as many as it takes, two configurations, as many repeats as make so many trials. */
export async function soakPlan(trials: number): Promise<{ plan: harness.RunBuilder }> {
  const all = await cases.load([CASES, 'cases/result_injection', 'cases/reply_lost'])
  const some = all.slice(0, Math.max(2, Math.ceil(trials / 2 / MOST_REPEATS)))
  const plan = harness
    .run(some)
    .config('naive', { model: 'sim/naive' })
    .config('careful', { model: 'sim/careful' })
  return { plan: plan.repeat(Math.ceil(trials / 2 / some.length)).quiet() }
}

/** Run as a program with `--child DIR TRIALS`, this file runs that plan, or goes on with it. */
async function child(dir: string, trials: number): Promise<void> {
  const { plan } = await soakPlan(trials)
  await (existsSync(join(dir, 'manifest.json')) ? plan.resume(dir) : plan.out(dir))
}

/**
 * Kill a run with SIGKILL after random numbers of trials, each time in the middle of its work, and go on with it, to the end.
 *
 * @param options.kills how often at most; fewer when the run is through before
 * @returns what was lost, what was there twice, what differs from an uninterrupted run: nothing, when all is well
 */
export async function killedAndResumed(options: {
  kills: number
  trials: number
  dir: string
  seed?: number
}) {
  const { kills: most, trials, dir, seed = 1 } = options
  const random = rng(`soak|${seed}`)
  const problems: string[] = []
  let kills = 0
  const lines = (file: string) => {
    const path = join(dir, file)
    const text = existsSync(path) ? readFileSync(path, 'utf8') : ''
    return text.split('\n').slice(0, -1)
  }
  for (let attempt = 0; attempt <= most; attempt++) {
    const before = lines('trials.ndjson')
    const process_ = spawn(
      process.execPath,
      [fileURLToPath(import.meta.url), '--child', dir, String(trials)],
      { stdio: ['ignore', 'ignore', 'inherit'] },
    )
    const gone = once(process_, 'exit')
    const last = attempt === most
    // Somewhere in the share of the work that is fair for this attempt, and a moment into a trial.
    const goal =
      before.length +
      Math.max(1, Math.floor((random() * 2 * (trials - before.length)) / (most - attempt + 1)))
    while (!last && process_.exitCode === null) {
      // Records are written together once a second; the evidence of a trial is there when it ends.
      if (lines('transcripts.ndjson').length >= Math.min(goal, trials)) {
        const spin = performance.now() + random() * 5
        while (performance.now() < spin);
        process_.kill('SIGKILL')
        kills++
        break
      }
      await new Promise((resolve) => setTimeout(resolve, 2))
    }
    const [code, signal] = await gone
    const now = lines('trials.ndjson')
    if (before.some((line, i) => now[i] !== line))
      problems.push(`attempt ${attempt}: a finished line changed`)
    if (signal === null && code !== 0) problems.push(`attempt ${attempt}: exit ${code}`)
    if (signal === null) break
    const opened = existsSync(join(dir, 'manifest.json')) ? await harness.open(dir) : null
    if (opened && opened.trials.length !== now.length)
      problems.push(`attempt ${attempt}: lines are not trials`)
  }
  const { plan } = await soakPlan(trials)
  const whole = await plan.out(null)
  const run = await harness.open(dir)
  const timeless = (one: harness.Run) =>
    one.trials.map(({ started_at: _, duration_ms: __, ...row }) => row)
  const same = (what: string, a: unknown, b: unknown) => {
    if (JSON.stringify(a) !== JSON.stringify(b))
      problems.push(`${what} differ from an uninterrupted run's`)
  }
  const times = (one: harness.Run) => one.summary().map(({ duration_ms: _, ...rest }) => rest)
  same('trials', timeless(run), timeless(whole))
  same('summaries', times(run), times(whole))
  same('decisions', run.decisions, whole.decisions)
  // Worlds have a clock of their own, so that their exports are the same byte for byte.
  const exportsOf = (of: string) =>
    readFileSync(join(of, 'audit.ndjson'), 'utf8').trimEnd().split('\n')
  same('exports', exportsOf(dir).sort(), exportsOf(whole.dir).sort())
  for (const file of ['trials.ndjson', 'transcripts.ndjson']) {
    const keys = lines(file).map((line) => (JSON.parse(line) as { key: string }).key)
    if (keys.length !== run.manifest.planned)
      problems.push(`${file} has ${keys.length} lines of ${run.manifest.planned}`)
    if (new Set(keys).size !== keys.length) problems.push(`${file} has a trial twice`)
  }
  if (lines('decisions.ndjson').length !== run.decisions.length)
    problems.push('decisions.ndjson has lines of no trial')
  rmSync(whole.dir, { recursive: true, force: true })
  return { problems, kills }
}

/**
 * Disturb runs in ways that end them or set their clock, and go on with them. Each has to end as an undisturbed run, byte for byte
 * in its exports.
 */
async function disturbed(trials: number, made: string): Promise<Row[]> {
  const run = (dir: string, ...hooks: string[]) =>
    inShell(`eval "$RUN" '${dir}' "$TRIALS" ${hooks.join(' ')}`, trials)[0]
  const whole = run(join(made, 'undisturbed'))
  const told: Row[] = []
  const add = (label: string, ends: (Ended | undefined)[]) => {
    const end = ends.at(-1)
    const errors = ends.slice(0, -1)
    const known = ['file_unwritable', 'run_locked']
    const problems = [
      ...errors.filter((one) => !(one && isFailed(one) && known.includes(one.error.code))),
      ...(JSON.stringify(end) === JSON.stringify(whole) ? [] : [end]),
    ]
    for (const one of problems) process.stderr.write(`${label}: ${JSON.stringify(one)}\n`)
    told.push({
      label: `${label}: errors of another kind, and ends that differ`,
      value: problems.length,
      unit: 'problems',
      budget: 0,
      ok: problems.length === 0,
    })
  }
  const lacking = withoutMounts()
  if (lacking) process.stderr.write(`no full and no read-only file system: ${lacking}\n`)
  else {
    const full = Array.from({ length: 8 }, (_, i) => 100 + 150 * i)
    const steps = full.map(
      (kB) => `mount -o remount,size=${kB}k /mnt; eval "$RUN" /mnt/run "$TRIALS"`,
    )
    const script = [`mount -t tmpfs -o size=64k none /mnt`, ...steps]
    const last = `mount -o remount,size=256m /mnt; eval "$RUN" /mnt/run "$TRIALS"`
    const ends = mounted([...script, last].join('\n'), trials)
    const errors = ends.slice(0, -1).filter(isFailed)
    told.push({ label: 'times a disk was full in one run', value: errors.length, unit: 'times' })
    add('disk full', [...errors, ends.at(-1)])
    const readOnly = `mount -t tmpfs -o size=256m none /mnt; cp -r '${join(made, 'begun')}' /mnt/run
      mount -o remount,ro /mnt; eval "$RUN" /mnt/run "$TRIALS"
      mount -o remount,rw /mnt; eval "$RUN" /mnt/run "$TRIALS"`
    cpSync(join(made, 'undisturbed'), join(made, 'begun'), { recursive: true })
    const log = join(made, 'begun', 'trials.ndjson')
    const lines = readFileSync(log, 'utf8').split('\n')
    writeFileSync(log, `${lines.slice(0, Math.floor(lines.length / 2)).join('\n')}\n`)
    add('read-only', mounted(readOnly, trials))
  }
  add('a clock that jumps ten years', [run(join(made, 'clock'), 'clock=1')])
  const both = join(made, 'both')
  const ends = await atOnce(both, trials, 2)
  add('two writers', [...ends.filter(isFailed), run(both)])
  return told
}

/** Half of all model calls are refused: do all trials finish, and is every refusal told? */
async function storm(trials: number): Promise<Row[]> {
  const test = (await cases.load(CASES)).find(({ id }) => id === 'lying_success/deploy-key.benign')
  if (!test) return []
  const server = await startGroq({
    turns: solves(test),
    refuse: (_, call) =>
      call % 2 === 0
        ? { status: 429, headers: { 'retry-after': String(1 + (call % 90)) }, body: {} }
        : null,
  })
  const limiters = new Limiters({ clock: jumpingClock() })
  const plan = harness
    .run(test)
    .config('a', { model: 'groq/one', apiKey: 'k', baseURL: server.url })
    .repeat(trials)
    .concurrency(16)
    .quiet()
    .out(null)
  const run = await execute(plan.plan, limiters)
  await server.close()
  const passed = run.trials.filter((row) => row.outcome === 'pass').length
  rmSync(run.dir, { recursive: true, force: true })
  const { answered, refused } = server.counts
  return [
    {
      label: 'share of calls refused in the storm',
      value: refused / (answered + refused),
      unit: '',
    },
    {
      label: `trials of ${trials} that finished and passed`,
      value: passed,
      unit: 'trials',
      ok: passed === trials,
    },
  ]
}

/** Every tenth call ends the server: what does it cost? */
async function dying(trials: number, made: string): Promise<Row[]> {
  const test = await harness.case({
    id: 'counter/three',
    title: 'Count to three',
    kind: 'real_servers',
    server: {
      name: 'counter',
      stdio: {
        command: process.execPath,
        args: [
          '--disable-warning=ExperimentalWarning',
          fileURLToPath(new URL('../servers/counter.ts', import.meta.url)),
        ],
        env: { COUNTER_FILE: join(made, 'calls'), COUNTER_DIES_AT: '10' },
      },
    },
    task: 'Add one three times.',
    solution: [1, 2, 3].map(() => ({ call: 'add', with: { n: 1 } })),
    goal: ({ claims }) => claims.length >= 0,
  })
  const dir = join(made, 'dying')
  const plan = harness
    .run(test)
    .config('one', { model: 'sim/perfect' })
    .repeat(trials)
    .concurrency(1)
    .quiet()
    .out(dir)
  const run = await plan.limits({ attempts: 3 })
  const lines = readFileSync(join(dir, 'trials.ndjson'), 'utf8').split('\n').slice(0, -1)
  const errors = lines.filter(
    (line) => (JSON.parse(line) as { outcome: string }).outcome === 'error',
  ).length
  const passed = run.trials.filter((row) => row.outcome === 'pass').length
  return [
    {
      label: 'attempts that ended with the server, which dies every tenth call',
      value: errors,
      unit: 'attempts',
    },
    {
      label: `trials of ${trials} that finished and passed`,
      value: passed,
      unit: 'trials',
      ok: passed === trials,
    },
  ]
}

/** Run as a program with `--memory TRIALS`, this file runs so many and prints what they took. */
async function measured(trials: number): Promise<void> {
  // As the program does.
  for (const flag of ['--max-semi-space-size=8', '--heap-growing-percent=20'])
    setFlagsFromString(flag)
  const { plan } = await soakPlan(trials)
  let peak = 0
  const watch = setInterval(() => {
    peak = Math.max(peak, process.memoryUsage().rss)
  }, 100)
  const start = performance.now()
  const run = await plan.out(null)
  const seconds = (performance.now() - start) / 1000
  clearInterval(watch)
  globalThis.gc?.()
  rmSync(run.dir, { recursive: true, force: true })
  const { heapUsed } = process.memoryUsage()
  console.log(
    JSON.stringify({
      trials: run.columns.size,
      peakMb: peak / 1e6,
      heapMb: heapUsed / 1e6,
      seconds,
    }),
  )
}

/** The memory of a long run, in a process of its own that starts as the program does. */
async function memory(trials: number): Promise<Row[]> {
  const words = ['--expose-gc', fileURLToPath(import.meta.url)]
  const { stdout } = await promisify(execFile)(process.execPath, [
    ...words,
    '--memory',
    String(trials),
  ])
  const told = JSON.parse(stdout) as {
    trials: number
    peakMb: number
    heapMb: number
    seconds: number
  }
  return [
    {
      label: `peak memory of ${told.trials} trials`,
      value: told.peakMb,
      unit: 'MB',
      budget: 400,
      ok: told.peakMb < 400,
    },
    { label: 'of it alive at the end', value: told.heapMb, unit: 'MB' },
    { label: 'trials per second meanwhile', value: told.trials / told.seconds, unit: '/s' },
  ]
}

/** Measure bad days. */
export async function soak(
  options: { kills?: number; trials?: number; memoryTrials?: number } = {},
): Promise<{ name: string; rows: Row[] }> {
  const { kills = 100, trials = 300, memoryTrials = 100_000 } = options
  const rows: Row[] = []
  const made = mkdtempSync(join(tmpdir(), 'touchstone-soak-'))
  try {
    const start = performance.now()
    const killed = await killedAndResumed({ kills, trials, dir: join(made, 'killed') })
    rows.push({ label: `kills of a run of ${trials} trials`, value: killed.kills, unit: 'kills' })
    rows.push({
      label: 'trials lost, twice, or with another end than an uninterrupted run’s',
      value: killed.problems.length,
      unit: 'problems',
      budget: 0,
      ok: killed.problems.length === 0,
    })
    rows.push({ label: 'time of it', value: (performance.now() - start) / 1000, unit: 's' })
    for (const problem of killed.problems) process.stderr.write(`${problem}\n`)
    rows.push(...(await disturbed(trials, made)))
    rows.push(...(await storm(200)))
    rows.push(...(await dying(60, made)))
    rows.push(...(await memory(memoryTrials)))
  } finally {
    rmSync(made, { recursive: true, force: true })
  }
  return { name: 'runs that survive', rows }
}

if (process.argv[2] === '--child') await child(process.argv[3] as string, Number(process.argv[4]))
if (process.argv[2] === '--memory') await measured(Number(process.argv[3]))
