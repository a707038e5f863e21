/**
 * Bad days, measured: a run that is killed again and again, a disk that is full, a folder that is read-only, a clock that jumps,
 * two writers, a storm of 429s, a server that dies every tenth call, and the memory of a long run.
 */
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  cpSync,
  existsSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { performance } from 'node:perf_hooks'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { setFlagsFromString } from 'node:v8'
import { Limiters } from '../../lib/harness/model/limiter.ts'
import { execute } from '../../lib/harness/run/execute.ts'
import { cases, harness, receipt } from '../../lib/index.ts'
import { rng } from '../../lib/stats/random.ts'
import type { Ended } from '../servers/disturbed-run.ts'
import { jumpingClock, solves, startGroq } from '../servers/groq.ts'
import { atOnce, inShell, isFailed, mounted, withoutMounts } from '../servers/in-shell.ts'
import { temporaryFolder } from '../temporary.ts'

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

const LOGS = ['trials', 'decisions', 'transcripts', 'audit'] as const

/** The whole lines of a log; none while it is not there. */
function linesOf(dir: string, log: (typeof LOGS)[number]): string[] {
  const path = join(dir, `${log}.ndjson`)
  return existsSync(path) ? readFileSync(path, 'utf8').split('\n').slice(0, -1) : []
}

/** The lines of a log in an order of their own. Byte by byte the same in each run of a plan, but for a trial’s times. */
function bytesOf(dir: string, log: (typeof LOGS)[number]): string[] {
  const timeless = (line: string) =>
    line.replace(/"started_at":"[^"]*","duration_ms":[0-9.e-]+/, '"times"')
  return linesOf(dir, log)
    .map(log === 'trials' ? timeless : String)
    .sort()
}

function startChild(dir: string, trials: number) {
  const words = ['--import', 'tsx', fileURLToPath(import.meta.url), '--child', dir, `${trials}`]
  return spawn(process.execPath, words, { stdio: ['ignore', 'ignore', 'inherit'] })
}

/** Wait for a moment: a time of a process’s life, or so many transcripts and a moment into the next trial. */
async function momentOf(
  child: { exitCode: number | null },
  { dir, goal, ms, random }: { dir: string; goal: number | null; ms: number; random: () => number },
): Promise<void> {
  const start = performance.now()
  if (goal === null) return sleep(ms)
  // Records are written together once a second; the evidence of a trial is there when it ends.
  while (child.exitCode === null && linesOf(dir, 'transcripts').length < goal) {
    if (performance.now() - start > 60_000) return
    await sleep(2)
  }
  const spin = performance.now() + random() * 5
  while (performance.now() < spin);
}

/** What a run that was gone on with lacks or has twice against an uninterrupted one, byte by byte; its receipt too. */
async function against(dir: string, whole: string): Promise<string[]> {
  const problems = LOGS.filter(
    (log) => JSON.stringify(bytesOf(dir, log)) !== JSON.stringify(bytesOf(whole, log)),
  ).map((log) => `${log}.ndjson differs from an uninterrupted run's`)
  const run = await harness.open(dir)
  problems.push(...run.problems.map(({ code, where }) => `${code} (${where})`))
  const { privateKey, publicKey } = receipt.keys.generate()
  const issued = await run.receipt({ key: privateKey })
  issued.save(dir)
  const { verdict } = await receipt.verify(dir, { key: publicKey })
  if (verdict !== 'verified') problems.push(`the receipt is ${verdict}`)
  return problems
}

/**
 * Kill runs with SIGKILL, each time at a random moment: of the process's life, its start and the check of what is there
 * included, or of its work, in the middle of a trial. Each run is gone on with to its end, and the next one begun until there
 * were so many kills.
 *
 * @returns what was lost, what was there twice, what differs from an uninterrupted run: nothing, when all is well; and what of
 *   unfinished trials was cut and kept beside the logs
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
  const told = { kills: 0, runs: 0, cuts: 0, cutBytes: 0 }
  const whole = join(dir, 'whole')
  const begun = performance.now()
  await once(startChild(whole, trials), 'exit')
  const lifeMs = performance.now() - begun
  while (told.kills < most) {
    const one = join(dir, `${told.runs++}`)
    // A run takes about as many kills as the next is worth: then it is left to its end.
    const last = told.kills + 20
    for (let ended = false; !ended; ) {
      const before = linesOf(one, 'trials')
      const where = `run ${told.runs}, kill ${told.kills}`
      const child = startChild(one, trials)
      const gone = once(child, 'exit')
      const share = (trials - before.length) / 10
      const goal =
        random() < 0.5 ? null : Math.min(trials, before.length + Math.ceil(random() * share))
      if (told.kills < Math.min(most, last)) {
        await momentOf(child, { dir: one, goal, ms: random() * lifeMs, random })
        child.kill('SIGKILL')
      }
      const [code, signal] = await gone
      if (signal === 'SIGKILL') told.kills++
      else ended = true
      const now = linesOf(one, 'trials')
      if (before.some((line, i) => now[i] !== line)) problems.push(`${where}: a line changed`)
      if (ended && code !== 0) problems.push(`${where}: exit ${code}`)
      // Killed before it had begun.
      const opened = existsSync(join(one, 'manifest.json')) ? await harness.open(one) : null
      if (opened && opened.trials.length !== now.length)
        problems.push(`${where}: ${now.length} lines, ${opened.trials.length} trials`)
    }
    problems.push(...(await against(one, whole)).map((text) => `run ${told.runs}: ${text}`))
    const cut = readdirSync(one).filter((name) => name.endsWith('.cut'))
    told.cuts += cut.length
    for (const name of cut) told.cutBytes += statSync(join(one, name)).size
    rmSync(one, { recursive: true })
  }
  return { problems, ...told }
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
  const failing = [
    'fdatasyncSync=EIO:3',
    'writeSync=EIO:9',
    'fsyncSync=EIO',
    'renameSync=EIO',
    'mkdirSync=EIO',
  ]
  for (const hook of failing) {
    const dir = join(made, hook)
    const first = run(dir, hook)
    add(`a device that fails (${hook})`, [...(first && isFailed(first) ? [first] : []), run(dir)])
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
  options: { kills?: number; trials?: number; memoryTrials?: number; seed?: number } = {},
): Promise<{ name: string; rows: Row[] }> {
  const { kills = 100, trials = 300, memoryTrials = 100_000, seed = 1 } = options
  const rows: Row[] = []
  const made = temporaryFolder('soak')
  const start = performance.now()
  const killed = await killedAndResumed({ kills, trials, dir: join(made, 'killed'), seed })
  const row = (label: string, value: number, unit: string) => rows.push({ label, value, unit })
  row(`kills of runs of ${trials} trials, seed ${seed}`, killed.kills, 'kills')
  row('runs that they were spread over', killed.runs, 'runs')
  row('stretches of unfinished trials cut and kept beside the logs', killed.cuts, 'files')
  row('what they hold', killed.cutBytes, 'bytes')
  rows.push({
    label: 'bytes of the logs that differ from an uninterrupted run’s, and receipts not verified',
    value: killed.problems.length,
    unit: 'problems',
    budget: 0,
    ok: killed.problems.length === 0,
  })
  row('time of it', (performance.now() - start) / 1000, 's')
  for (const problem of killed.problems) process.stderr.write(`${problem}\n`)
  rows.push(...(await disturbed(trials, made)))
  rows.push(...(await storm(200)))
  rows.push(...(await dying(60, made)))
  rows.push(...(await memory(memoryTrials)))
  return { name: 'runs that survive', rows }
}

if (process.argv[2] === '--child') await child(process.argv[3] as string, Number(process.argv[4]))
if (process.argv[2] === '--memory') await measured(Number(process.argv[3]))
