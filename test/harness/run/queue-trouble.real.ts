/** A run over a queue whose coordinator has no room or stands still, whose worker has another AI SDK, and whose agents speak in prose. Takes about two minutes. */
import assert from 'node:assert/strict'
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join, resolve } from 'node:path'
import { after, afterEach, before, describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { cases, harness } from '../../../lib/index.ts'
import type { TrialRecord } from '../../../lib/log/index.ts'
import { checkFolder } from '../../../lib/receipt/attest/check-folder.ts'
import { inContainer, noContainers, signalContainer } from '../../servers/containers.ts'
import { startGroq } from '../../servers/groq.ts'
import { missing, type QueueServer, startQueueServer } from '../../servers/queue-server.ts'
import { type StartedWorker, startWorker } from '../../servers/workers.ts'
import { temporaryFolder } from '../../temporary.ts'
import { comparable, linesOf } from './queue-chaos.ts'

const root = resolve(import.meta.dirname, '../../..')
const made = temporaryFolder('trouble')

const recordsIn = (dir: string) => linesOf<TrialRecord>(join(dir, 'trials.ndjson'))

async function requireWhole(dir: string, trials: number): Promise<void> {
  const { verdict, steps } = await checkFolder(dir)
  assert.equal(verdict, 'verified', JSON.stringify(steps))
  const run = await harness.open(dir)
  assert.deepEqual([run.complete, run.trials.length], [true, trials])
  const ids = recordsIn(dir).map(({ key, attempt }) => `${key}#${attempt}`)
  assert.equal(new Set(ids).size, ids.length)
}

describe('a run over a queue in trouble', { skip: missing('redis') }, () => {
  let server: QueueServer
  const workers: StartedWorker[] = []
  const children: ChildProcess[] = []
  const worker = (options?: Parameters<typeof startWorker>[1]) => {
    const one = startWorker(server.url, options)
    workers.push(one)
    return one
  }
  before(async () => {
    server = await startQueueServer('redis')
  })
  afterEach(async () => {
    for (const one of children.splice(0)) one.kill('SIGKILL')
    const all = workers.splice(0)
    for (const one of all) one.kill()
    await Promise.all(all.map((one) => one.ended))
  })
  after(() => server?.close())

  const words = (repeats: number, ...more: string[]) => [
    process.execPath,
    join(root, 'repl.ts'),
    ...['run', 'cases/lying_success/deploy-key.yaml', '--repeat', `${repeats}`, '--json'],
    ...['--queue', server.url, '--quiet', ...more],
  ]

  it('a disk that is full at the coordinator ends the run with what is there, and workers wait for the next', {
    skip: spawnSync('unshare', ['-m', 'true']).status === 0 ? false : 'nothing can be mounted here',
  }, async () => {
    const dir = join(made, 'full')
    const one = worker()
    const quoted = (list: string[]) => list.map((word) => `'${word}'`).join(' ')
    const script = `
      mount -t tmpfs -o size=400k none /mnt
      ${quoted(words(60, '--out', '/mnt/run'))} >/dev/null; echo "first $?"
      wc -l < /mnt/run/trials.ndjson
      mount -o remount,size=64m /mnt
      ${quoted(words(60, '--resume', '/mnt/run'))} >/dev/null; echo "second $?"
      cp -r /mnt/run '${dir}'`
    const child = spawn('unshare', ['-m', 'sh', '-c', script], { cwd: root })
    children.push(child)
    const [out, errors] = await Promise.all([textOf(child.stdout), textOf(child.stderr)])
    const [first, had, second] = out.trim().split('\n')
    assert.deepEqual([first, second], ['first 2', 'second 0'], `${out}${errors}`)
    assert.match(errors, /file_unwritable.*resume goes on from it.*ENOSPC/)
    assert.ok(Number(had) < 240, had)
    await requireWhole(dir, 240)
    assert.match(one.said(), /takes part in run/)
    assert.equal(one.process.exitCode, null, 'it waits for runs')
  })

  it('a coordinator that stands still for longer than its lease leaves folder and queue to the one that took over', {
    skip: noContainers,
  }, async () => {
    const dir = join(made, 'stopped')
    const started = (...more: string[]) => {
      const inside = inContainer('box', words(200, ...more), { network: true })
      const [program = '', ...args] = inside
      const child = spawn(program, args, { cwd: root, stdio: ['ignore', 'ignore', 'pipe'] })
      children.push(child)
      const said = textOf(child.stderr)
      const ended = new Promise<number | null>((done) => child.once('exit', done))
      return { child, said, ended }
    }
    worker({ concurrency: 2 })
    const first = started('--out', dir)
    while (recordsIn(dir).length < 5) await sleep(50)
    signalContainer(first.child, 'SIGSTOP')
    const had = recordsIn(dir).length
    const second = started('--resume', dir)
    while (recordsIn(dir).length === had) await sleep(50)
    signalContainer(first.child, 'SIGCONT')
    assert.equal(await first.ended, 2)
    assert.match(await first.said, /run_locked.*process 1 had it and gave no sign of life for 30 s/)
    assert.equal(await second.ended, 0, await second.said)
    await requireWhole(dir, 800)
  })

  it('a worker with another version of the AI SDK is refused by its name', async () => {
    const copy = join(made, 'other-ai')
    mkdirSync(join(copy, 'node_modules'), { recursive: true })
    for (const part of ['lib', 'cases', 'scenarios', 'fixtures', 'repl.ts', 'tsconfig.json'])
      cpSync(join(root, part), join(copy, part), { recursive: true })
    for (const file of ['package.json', 'package-lock.json'])
      cpSync(join(root, file), join(copy, file))
    const modules = join(root, 'node_modules')
    for (const name of readdirSync(modules))
      if (name !== 'ai') symlinkSync(join(modules, name), join(copy, 'node_modules', name))
    const ai = join(copy, 'node_modules/ai')
    cpSync(join(modules, 'ai'), ai, { recursive: true })
    const own = JSON.parse(readFileSync(join(ai, 'package.json'), 'utf8'))
    writeFileSync(join(ai, 'package.json'), JSON.stringify({ ...own, version: '7.0.0' }))
    const dir = join(made, 'other-ai-run')
    const stop = new AbortController()
    const running = harness
      .run(await cases.load('cases/lying_success/deploy-key.yaml'))
      .config('naive', { model: 'sim/naive' })
      .repeat(1)
      .quiet()
      .out(dir)
      .queue(server.url)
      .signal(stop.signal)
      .then((run) => run)
    const other = worker({ program: join(copy, 'repl.ts'), cwd: copy })
    await other.says(
      new RegExp(`takes no part in run .*version of ai is 7\\.0\\.0, the run has ${own.version}`),
    )
    stop.abort()
    assert.equal((await running).trials.length, 0)
  })

  it('workers ask the judge of prose, and the log is that of one process; another judge is refused by its digest', async () => {
    const endpoint = await startGroq({
      turns: ({ messages }) => ({
        text: JSON.stringify(messages).includes('\\"\\"\\"')
          ? JSON.stringify({ claims: [] })
          : 'I looked at it and did nothing.',
      }),
    })
    process.env['TOUCHSTONE_BASE_URL'] = endpoint.url
    try {
      const judge = await harness.agreement({ model: 'local/judge' }, { concurrency: 8 })
      const tested = await cases.load('cases/lying_success/deploy-key.yaml')
      const plan = () =>
        harness
          .run(tested)
          .config('a', { model: 'local/m' })
          .repeat(2)
          .judge(JSON.parse(JSON.stringify(judge)))
          .quiet()
      const here = await plan().out(join(made, 'judge-here'))
      worker({ env: { TOUCHSTONE_BASE_URL: endpoint.url } })
      const there = await plan().out(join(made, 'judge-there')).queue(server.url)
      assert.ok(here.trials.every(({ claims_from }) => claims_from === 'judge'))
      assert.deepEqual(there.manifest.judge, here.manifest.judge)
      const [a, b] = [here, there].map(({ dir }) => recordsIn(dir).map(withoutProvider).sort())
      assert.deepEqual(b, a)
      await requireWhole(there.dir, 4)
      const keyed = await harness.agreement(
        { model: 'local/judge', apiKey: 'a-key-of-the-judge' },
        { concurrency: 8 },
      )
      const stop = new AbortController()
      const running = plan()
        .judge(keyed)
        .out(join(made, 'judge-keyed'))
        .queue(server.url)
        .signal(stop.signal)
        .then((run) => run)
      await workers[0]?.says(/takes no part in run .*a judge that is data without keys and headers/)
      stop.abort()
      await running
    } finally {
      delete process.env['TOUCHSTONE_BASE_URL']
      await endpoint.close()
    }
  })

  it('a cassette is refused with the way out, before anything is written', async () => {
    for (const what of ['record', 'replay'] as const) {
      const dir = join(made, `cassette-${what}`)
      const tested = await cases.load('cases/lying_success/deploy-key.yaml')
      const plan = harness.run(tested).config('a', { model: 'groq/m', apiKey: '$NO_KEY' }).quiet()
      process.env['NO_KEY'] = 'not-a-key-at-all'
      mkdirSync(join(made, `tape-${what}`))
      if (what === 'replay') writeFileSync(join(made, 'tape-replay/cassette.ndjson'), '')
      await assert.rejects(
        async () =>
          plan[what](join(made, `tape-${what}`))
            .out(dir)
            .queue(server.url),
        {
          code: 'argument_invalid',
          message: /without a queue for a cassette, since one process writes and reads its folder/,
        },
      )
      assert.ok(!existsSync(dir))
    }
  })
})

/** What the provider says of each answer has a number of its own. */
function withoutProvider(record: TrialRecord): string {
  return comparable({ ...record, digests: { ...record.digests, transcript: null } })
}

async function textOf(stream: NodeJS.ReadableStream): Promise<string> {
  let text = ''
  for await (const chunk of stream.setEncoding('utf8')) text += chunk
  return text
}
