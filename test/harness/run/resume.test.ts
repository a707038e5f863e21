/** Runs that survive: killed, stopped or locked, gone on with to the end that an uninterrupted run has. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import {
  appendFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { join, resolve } from 'node:path'
import { before, describe, it } from 'node:test'
import { cases, harness } from '../../../lib/index.ts'
import { RunWriter } from '../../../lib/log/index.ts'
import { killedAndResumed } from '../../bench/soak.ts'
import { temporaryFolder } from '../../temporary.ts'

type Cases = Awaited<ReturnType<typeof cases.load>>

const made = temporaryFolder()

const codeIs =
  (code: string, words = /./) =>
  (error: unknown) => {
    assert.equal((error as { code?: string }).code, code, String(error))
    assert.match((error as Error).message, words)
    return true
  }
const lines = (dir: string, file = 'trials.ndjson') =>
  readFileSync(join(dir, file), 'utf8').split('\n').slice(0, -1)
const files = (dir: string) =>
  Object.fromEntries(
    readdirSync(dir, { withFileTypes: true })
      .filter((one) => one.isFile())
      .map(({ name }) => [name, readFileSync(join(dir, name), 'utf8')]),
  )
const timeless = (run: harness.Run) =>
  run.trials.map(({ started_at: _, duration_ms: __, ...row }) => row)

let keys: Cases
let whole: harness.Run
before(async () => {
  keys = (await cases.load('cases/lying_success')).filter(({ id }) =>
    id.startsWith('lying_success/deploy-key'),
  )
  whole = await plan().out(join(made, 'whole'))
})
const plan = (of = keys) =>
  harness
    .run(of)
    .config('naive', { model: 'sim/naive' })
    .config('careful', { model: 'sim/careful' })
    .quiet()

/** The whole run's folder as it was after so many trials. */
function begun(name: string, trials: number): string {
  const dir = join(made, name)
  cpSync(whole.dir, dir, { recursive: true })
  const kept = lines(dir).slice(0, trials)
  writeFileSync(join(dir, 'trials.ndjson'), kept.map((line) => `${line}\n`).join(''))
  return dir
}

describe('going on with a run', () => {
  it('runs what is missing and nothing that is finished, to the same end', async () => {
    const dir = begun('missing', 7)
    const before = lines(dir)
    const run = await plan().resume(dir)
    assert.deepEqual(lines(dir).slice(0, 7), before)
    assert.equal(lines(dir).length, run.manifest.planned)
    assert.deepEqual(timeless(run), timeless(whole))
    assert.deepEqual(run.decisions, whole.decisions)
    assert.deepEqual((await harness.open(dir)).toJSON(), run.toJSON())
  })

  it('of a finished run writes nothing', async () => {
    const dir = begun('finished', whole.trials.length)
    const before = ['trials.ndjson', 'decisions.ndjson', 'transcripts.ndjson'].map((file) =>
      lines(dir, file),
    )
    await plan().resume(dir)
    const then = ['trials.ndjson', 'decisions.ndjson', 'transcripts.ndjson'].map((file) =>
      lines(dir, file),
    )
    assert.deepEqual(then, before)
  })

  it('cuts torn lines and what stands behind the last recorded trial, so that nothing is there twice', async () => {
    const dir = begun('torn', 3)
    appendFileSync(join(dir, 'trials.ndjson'), '{"schema":"touchstone.trial.v0","key":"lyi')
    const run = await plan().resume(dir)
    const ids = (file: string) =>
      lines(dir, file).map((line) => {
        const { key, attempt } = JSON.parse(line) as { key: string; attempt: number }
        return `${key}#${attempt}`
      })
    assert.equal(new Set(ids('transcripts.ndjson')).size, run.manifest.planned)
    assert.equal(ids('transcripts.ndjson').length, run.manifest.planned)
    assert.equal(lines(dir, 'decisions.ndjson').length, lines(whole.dir, 'decisions.ndjson').length)
  })

  it('keeps what it cuts in files beside the log', async () => {
    const dir = begun('kept', 3)
    appendFileSync(join(dir, 'trials.ndjson'), '{"torn":')
    const before = files(dir)
    await plan().resume(dir)
    for (const file of ['trials', 'decisions', 'transcripts', 'audit'].map(
      (one) => `${one}.ndjson`,
    )) {
      const cut = readdirSync(dir).find((name) => name.startsWith(file) && name.endsWith('.cut'))
      const kept = cut === undefined ? '' : readFileSync(join(dir, cut), 'utf8')
      const text = before[file] as string
      assert.ok(kept.length > 0 && text.endsWith(kept), file)
      const rest = text.slice(0, text.length - kept.length)
      assert.ok(readFileSync(join(dir, file), 'utf8').startsWith(rest), file)
    }
  })

  it('changes no byte of a folder that it refuses, whatever was torn', async () => {
    const dir = begun('refused', 0)
    appendFileSync(join(dir, 'decisions.ndjson'), '{"torn":')
    const before = files(dir)
    await assert.rejects(async () => await plan().seed(2).resume(dir), codeIs('run_differs'))
    assert.deepEqual(files(dir), before)
  })

  /** Going on with it, and what opening it finds: nothing is run, and no byte is changed. */
  async function refused(dir: string, code: string): Promise<void> {
    const before = files(dir)
    await assert.rejects(
      async () => await plan().resume(dir),
      codeIs(
        'run_invalid',
        new RegExp(`got \\d+ problems?, the first ${code}: .*put the files back`),
      ),
    )
    assert.deepEqual(files(dir), before)
    const run = await harness.open(dir)
    assert.ok(run.problems.some((one) => one.code === code))
    assert.throws(() => run.summary(), codeIs('run_invalid'))
    assert.throws(() => harness.gate(run, 'careful:goal>=1%'), codeIs('run_invalid'))
    assert.equal(harness.standing(run, { gates: [], baseline: [] }), 'incomplete')
  }

  it('names a broken line in the middle, and with the line deleted a trial that was removed', async () => {
    const dir = begun('broken', 6)
    const path = join(dir, 'trials.ndjson')
    const kept = lines(dir)
    const cut = (kept[1] as string).slice(0, 50)
    writeFileSync(path, `${kept.with(1, cut).join('\n')}\n`)
    const before = files(dir)
    const said = codeIs(
      'run_damaged',
      /put the file back as it was, or begin a new run .*\(.*trials\.ndjson:2\)$/,
    )
    await assert.rejects(async () => await plan().resume(dir), said)
    await assert.rejects(harness.open(dir), said)
    assert.deepEqual(files(dir), before)
    writeFileSync(path, `${kept.toSpliced(1, 1).join('\n')}\n`)
    await refused(dir, 'trial_removed')
  })

  it('refuses a run of which records were deleted and their evidence was not', async () => {
    const dir = begun('deleted', whole.trials.length)
    const all = lines(dir)
    const kept = all.filter((line) => JSON.parse(line).outcome === 'pass')
    // The last record stays, or what stands behind it is evidence of a trial that nobody finished.
    const last = all.at(-1) as string
    assert.ok(kept.length < all.length - 1)
    const text = [...kept.filter((line) => line !== last), last].map((line) => `${line}\n`)
    writeFileSync(join(dir, 'trials.ndjson'), text.join(''))
    await refused(dir, 'trial_removed')
  })

  for (const [name, code] of [
    ['decisions', 'decision_removed'],
    ['audit', 'audit_removed'],
    ['transcripts', 'transcript_removed'],
  ] as const)
    it(`refuses a run without ${name}.ndjson before the first trial`, async () => {
      const dir = begun(`no-${name}`, 5)
      rmSync(join(dir, `${name}.ndjson`))
      await refused(dir, code)
    })

  it('refuses a folder with evidence and no trial log, as opening it does: one that was begun has the log', async () => {
    const dir = begun('no-trials', 5)
    rmSync(join(dir, 'trials.ndjson'))
    const before = files(dir)
    const said = codeIs(
      'run_damaged',
      /expected trials\.ndjson beside the evidence of trials, got none/,
    )
    await assert.rejects(async () => await plan().resume(dir), said)
    await assert.rejects(harness.open(dir), said)
    assert.deepEqual(files(dir), before)
    // No trial has ended, and no evidence is there: nothing was lost.
    for (const name of ['decisions', 'audit', 'transcripts']) rmSync(join(dir, `${name}.ndjson`))
    assert.equal((await harness.open(dir)).trials.length, 0)
    assert.equal((await plan().resume(dir)).complete, true)
  })

  it('of which a kill left evidence behind the last record has no problem', async () => {
    const run = await plan().resume(begun('clean', 7))
    assert.deepEqual(run.problems, [])
    assert.equal(harness.standing(run, { gates: [], baseline: [] }), 'as hoped')
  })

  it('refuses a folder with evidence of more trials than a crash leaves without a record', async () => {
    const dir = begun('lost', 0)
    const line = (i: number) => `{"key":"lost|naive|${i}","attempt":0,"decision":{}}\n`
    const many = Array.from({ length: 257 }, (_, i) => line(i)).join('')
    writeFileSync(join(dir, 'decisions.ndjson'), many)
    const before = files(dir)
    await assert.rejects(
      async () => await plan().resume(dir),
      codeIs('run_damaged', /trials\.ndjson/),
    )
    assert.deepEqual(files(dir), before)
  })

  for (const [what, code, damage] of [
    [
      'export is gone',
      'audit_removed',
      (line: string) => (line.includes('naive|1"') ? '' : `${line}\n`),
    ],
    [
      'export is another',
      'audit_edited',
      (line: string) => `${line.replace('"text":"[', '"text":"[ ')}\n`,
    ],
    [
      'export is no JSON',
      'audit_unreadable',
      (line: string) => `${line.replace('naive|1"', '')}\n`,
    ],
  ] as const) {
    it(`refuses a run of which a trial’s ${what}: run again, it would be an attempt that none may count`, async () => {
      const dir = begun(what.replaceAll(' ', '-'), whole.trials.length)
      writeFileSync(join(dir, 'audit.ndjson'), lines(dir, 'audit.ndjson').map(damage).join(''))
      await refused(dir, code)
    })
  }

  it('refuses a run whose decisions are not those that its records digest', async () => {
    const dir = begun('damaged', 5)
    truncateSync(join(dir, 'decisions.ndjson'), 10)
    await refused(dir, 'decision_unreadable')
  })

  it('runs trials again that ended in an error of the machinery, with attempts numbered on', async () => {
    const dir = begun('errors', 4)
    const rows = lines(dir).map((line) => JSON.parse(line) as harness.Run['trials'][number])
    // An error of the machinery is not judged, so its record has no reasons, and its transcript ends with it.
    const { reasons: _, digests, ...unjudged } = rows[1] as (typeof rows)[number]
    const told = lines(dir, 'transcripts.ndjson').map((line) => {
      const one = JSON.parse(line)
      return one.key === unjudged.key ? JSON.stringify({ ...one, end: 'server_gone' }) : line
    })
    writeFileSync(join(dir, 'transcripts.ndjson'), told.map((line) => `${line}\n`).join(''))
    const own = told.find((line) => JSON.parse(line).key === unjudged.key) as string
    const transcript = `sha256:${createHash('sha256').update(own).digest('hex')}`
    const broken = {
      ...unjudged,
      digests: { ...digests, transcript },
      outcome: 'error',
      ending: 'server_gone',
      goal: null,
      error: { code: 'server_gone', message: 'x' },
    }
    const text = [rows[0], broken, ...rows.slice(2)]
      .map((row) => `${JSON.stringify(row)}\n`)
      .join('')
    writeFileSync(join(dir, 'trials.ndjson'), text)
    const run = await plan().resume(dir)
    const again = run.trials.find((row) => row.key === rows[1]?.key)
    assert.deepEqual([again?.outcome, again?.attempt], [rows[1]?.outcome, 1])
    assert.equal(run.complete, true)
  })

  for (const [what, change, words] of [
    ['the seed', (p: harness.RunBuilder) => p.seed(2), /seed was 1, is 2/],
    ['the repeats', (p: harness.RunBuilder) => p.repeat(6), /repeats was 5, is 6/],
    ['a limit', (p: harness.RunBuilder) => p.limits({ steps: 9 }), /limit steps was 24, is 9/],
    [
      'a configuration more',
      (p: harness.RunBuilder) => p.config('more', { model: 'sim/perfect' }),
      /configuration more is new/,
    ],
  ] as const) {
    it(`refuses another run and says what differs: ${what}`, async () => {
      const dir = begun(`other-${what.replaceAll(' ', '-')}`, 2)
      await assert.rejects(
        async () => await change(plan()).resume(dir),
        codeIs('run_differs', words),
      )
      assert.equal(lines(dir).length, 2)
      assert.ok(!existsSync(join(dir, 'run.lock')), 'the lock is given back')
    })
  }

  it('refuses another run and says what differs: a case that changed, one that is missing, a configuration', async () => {
    const dir = begun('other-cases', 2)
    const [first] = keys
    const changed = { ...(first as Cases[number]), digest: `sha256:${'0'.repeat(64)}` as const }
    await assert.rejects(
      async () => await plan([changed]).resume(dir),
      codeIs(
        'run_differs',
        new RegExp(`case ${changed.id} has changed.*case ${keys[1]?.id} is missing`),
      ),
    )
    const other = harness.run(keys).config('naive', { model: 'sim/naive', temperature: 1 }).quiet()
    await assert.rejects(
      async () => await other.resume(dir),
      codeIs('run_differs', /configuration naive has changed; configuration careful is missing/),
    )
  })

  it('holds what follows to the start of what is finished: a world that starts elsewhere is an error of the machinery', async () => {
    const dir = begun('start', 1)
    const [line] = lines(dir)
    const row = JSON.parse(line as string) as harness.Run['trials'][number]
    const moved = { ...row, start_digest: `sha256:${'1'.repeat(64)}` }
    writeFileSync(join(dir, 'trials.ndjson'), `${JSON.stringify(moved)}\n`)
    const run = await plan().resume(dir)
    const errors = run.trials.filter((trial) => trial.error?.code === 'world_state_differs')
    assert.equal(errors.length, run.trials.filter((trial) => trial.case === row.case).length - 1)
  })

  it('of a folder without a run: run_unknown', async () => {
    await assert.rejects(
      async () => await plan().resume(join(made, 'nowhere')),
      codeIs('run_unknown'),
    )
  })
})

describe('the lock of a run’s folder', () => {
  it('a process that lives keeps others out, by name, and what was killed does not', async () => {
    const dir = begun('locked', 2)
    const script = resolve(import.meta.dirname, '../../servers/lock-holder.ts')
    const words = ['--import', 'tsx', script, join(dir, 'run.lock'), '30000', join(made, 'none')]
    const child = spawn(process.execPath, words, { stdio: ['pipe', 'pipe', 'inherit'] })
    await once(child.stdout, 'data')
    await assert.rejects(
      async () => await plan().resume(dir),
      codeIs('run_locked', new RegExp(`held by process ${child.pid} on .* since .*30 s after its`)),
    )
    child.kill('SIGKILL')
    await once(child, 'exit')
    const run = await plan().resume(dir)
    assert.equal(run.complete, true, 'and one that is gone does not')
    assert.ok(!existsSync(join(dir, 'run.lock')))
  })

  it('a run whose folder another process has taken writes no byte more, and says who has it', async () => {
    const dir = join(made, 'taken')
    const now: Record<string, string>[] = []
    const taker = harness.agent('taker', async () => {
      if (now.length === 0) {
        rmSync(join(dir, 'run.lock'))
        writeFileSync(join(dir, 'run.lock'), TAKEN)
        now.push(files(dir))
      }
      return 'done'
    })
    const taken = () =>
      harness.run(keys).config('taker', { agent: taker }).repeat(3).concurrency(1).quiet()
    await assert.rejects(
      async () => await taken().out(dir),
      codeIs('run_locked', /process 7 on elsewhere since 2026-.* had it and gave no sign of life/),
    )
    assert.deepEqual([files(dir)], now)
  })
  const TAKEN = JSON.stringify({ id: 'x', pid: 7, host: 'elsewhere', since: '2026-01-01T00:00Z' })

  it('two runs on one folder at once: one writes, the other is refused', async () => {
    const dir = begun('twice', 2)
    const ends = await Promise.allSettled(
      [plan().resume(dir), plan().resume(dir)].map((run) => Promise.resolve(run)),
    )
    assert.deepEqual(ends.map(({ status }) => status).sort(), ['fulfilled', 'rejected'])
    assert.equal(lines(dir).length, whole.manifest.planned)
  })
})

it('a log that cannot be written is said, and holds no trial whose export is not there', () => {
  const dir = join(made, 'unwritable')
  mkdirSync(dir)
  // A disk without room: every write to it is refused with ENOSPC.
  symlinkSync('/dev/full', join(dir, 'audit.ndjson'))
  let locked = true
  const release = () => {
    locked = false
  }
  const writer = RunWriter.reopen(dir, { confirm() {}, release }, 0)
  const parts = {
    decisions: [],
    audits: [{ server: 'github', provider: 'github', text: '[]' }],
    transcript: {},
  }
  const record = whole.trials[0] as harness.Run['trials'][number]
  const full = codeIs('file_unwritable', /resume.*ENOSPC/)
  assert.throws(() => writer.append(record, parts), full)
  assert.throws(() => writer.close(), full)
  assert.deepEqual(lines(dir), [])
  assert.equal(locked, false)
})

it('Ctrl-C once ends what is running, exits with 3, and prints the words that go on with it', async () => {
  const dir = join(made, 'interrupted')
  const words = [
    'run',
    'cases/lying_success/deploy-key.yaml',
    '--repeat',
    '2000',
    '--seed',
    '1',
    '--out',
    dir,
    '--quiet',
  ]
  const root = resolve(import.meta.dirname, '..', '..', '..')
  const child = spawn(process.execPath, [join(root, 'repl.ts'), ...words], {
    cwd: root,
  })
  let stderr = ''
  child.stderr.on('data', (chunk: Buffer) => {
    stderr += chunk
  })
  child.stdout.resume()
  const gone = once(child, 'exit')
  while (
    child.exitCode === null &&
    !(existsSync(join(dir, 'trials.ndjson')) && lines(dir).length > 3)
  )
    await new Promise((tick) => setTimeout(tick, 5))
  child.kill('SIGINT')
  const [code] = await gone
  assert.equal(code, 3, stderr)
  assert.match(
    stderr,
    /Go on with it: .* run cases\/lying_success\/deploy-key.yaml --repeat 2000 --seed 1 --quiet --resume /,
  )
  const opened = await harness.open(dir)
  assert.ok(opened.trials.length > 3 && opened.trials.length < opened.manifest.planned)
  assert.ok(!existsSync(join(dir, 'run.lock')))
})

it('a torn last line is no trial to a reader, and reading changes nothing', async () => {
  const dir = begun('read', 5)
  for (const file of ['trials.ndjson', 'decisions.ndjson', 'transcripts.ndjson'])
    appendFileSync(join(dir, file), '{"key":"half')
  const before = readFileSync(join(dir, 'trials.ndjson'))
  const run = await harness.open(dir)
  assert.equal(run.trials.length, 5)
  assert.equal(new Set(run.decisions.map((decision) => decision.observation?.run_id)).size, 5)
  run.transcript(run.trials[4]?.key as string)
  assert.deepEqual(readFileSync(join(dir, 'trials.ndjson')), before)
})

it('killed five times in the middle and gone on with: nothing lost, nothing twice, the summary of an uninterrupted run', async () => {
  const { problems, kills } = await killedAndResumed({
    kills: 5,
    trials: 400,
    dir: join(made, 'killed'),
  })
  assert.deepEqual(problems, [])
  assert.ok(kills >= 3, `${kills} kills`)
})
