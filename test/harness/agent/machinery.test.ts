/**
 * What our own machinery lacks in a trial (a folder, room on a disk, a descriptor) says nothing about the agent: the trial ends in
 * an error and is in no rate. The child processes have limits and rights of their own, and real folders that refuse them.
 */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { describe, it } from 'node:test'
import { Recorder, ServerGone } from '../../../lib/harness/agent/recorder.ts'
import type { RunningServer } from '../../../lib/harness/server/running.ts'
import { cases, harness } from '../../../lib/index.ts'
import { withoutMounts } from '../../servers/in-shell.ts'
import { temporaryFolder } from '../../temporary.ts'

const root = resolve(import.meta.dirname, '../../..')
const made = temporaryFolder('machinery')
/** Says that it is done at once. */
const program = harness.agent.command({ command: 'true', name: 'mine' })

type Row = { outcome: string; code: string | null; message: string }

/** What a child's code prints as its last line. `run`, `of` and `rows` are there for it. */
function inChild<T>(code: string, shell: string, words: string[] = ['sh']): T {
  const all = `
    import { cases, harness } from './lib/index.ts'
    const [, of] = await cases.load('cases/lying_success/deploy-key.yaml')
    const program = harness.agent.command({ command: 'true', name: 'mine' })
    const run = (agent) =>
      harness.run(of).config('mine', { agent }).repeat(1).out(null).quiet()
    const rows = ({ trials }) => trials.map(({ outcome, error }) =>
      ({ outcome, code: error?.code ?? null, message: error?.message ?? '' }))
    // What is loaded at first use is loaded, and no address is there yet.
    await harness.run(of).config('mine', { model: 'sim/perfect' }).repeat(1).out(null).quiet()
    ${code}`
  const [command = '', ...rest] = [
    ...words,
    '-ec',
    `${shell}\nexec "$0" --import tsx --input-type=module -e "$1"`,
    process.execPath,
    all,
  ]
  const { stdout, stderr } = spawnSync(command, rest, { cwd: root, encoding: 'utf8' })
  const line = stdout.trim().split('\n').at(-1) ?? ''
  assert.ok(line.startsWith('{') || line.startsWith('['), stderr)
  return JSON.parse(line) as T
}

async function withTemporary<T>(folder: string, work: () => Promise<T>): Promise<T> {
  const before = process.env['TMPDIR']
  process.env['TMPDIR'] = folder
  try {
    return await work()
  } finally {
    if (before === undefined) delete process.env['TMPDIR']
    else process.env['TMPDIR'] = before
  }
}

describe('temporary files that cannot be written', () => {
  it('are told of before the first trial of an agent that is a program, and nothing is written', async () => {
    const out = join(made, 'none')
    const [test] = await cases.load('cases/lying_success/deploy-key.yaml')
    const plan = harness
      .run(test as harness.Case)
      .config('mine', { agent: program })
      .quiet()
    await withTemporary('/dev/null/none', async () => {
      const told = {
        code: 'file_unwritable',
        message: /temporary files.*TMPDIR.*\/dev\/null\/none/,
      }
      await assert.rejects(async () => plan.out(out), told)
      await assert.rejects(async () => plan.forecast(), told)
    })
    assert.equal(existsSync(out), false)
  })

  it('and of a server that gets files, and keep no run from its trials that needs none', async () => {
    const files = await harness.case({
      id: 'files/one',
      title: 'Look',
      kind: 'real_servers',
      server: {
        name: 'files',
        stdio: { command: 'true', args: [] },
        files: { 'a.txt': 'one' },
      },
      task: 'Look at the files.',
      solution: [{ call: 'look', with: {} }],
      goal: () => true,
    })
    const [shipped] = await cases.load('cases/lying_success/deploy-key.yaml')
    await withTemporary('/dev/null/none', async () => {
      const of = (one: harness.Case) =>
        harness.run(one).config('mine', { model: 'sim/perfect' }).repeat(1).quiet()
      await assert.rejects(async () => of(files).out(join(made, 'files')), {
        code: 'file_unwritable',
      })
      const run = await of(shipped as harness.Case).out(join(made, 'shipped'))
      assert.equal(run.errors, 0)
    })
  })

  it('from the middle of a run on: its trials end in errors, and none counts as the failure of its agent', async () => {
    const all = await cases.load('cases/lying_success/deploy-key.yaml')
    const before = process.env['TMPDIR']
    const plan = harness
      .run(all)
      .config('mine', { agent: program })
      .config('breaks', {
        agent: () => {
          process.env['TMPDIR'] = '/dev/null/none'
          return 'done'
        },
      })
    const run = await withTemporary(before ?? '/tmp', async () =>
      plan.repeat(3).concurrency(1).out(join(made, 'middle')).quiet(),
    )
    const mine = run.trials.filter(({ configuration }) => configuration === 'mine')
    const errors = mine.filter(({ outcome }) => outcome === 'error')
    assert.ok(errors.length > 0)
    assert.deepEqual([...new Set(errors.map(({ error }) => error?.code))], ['file_unwritable'])
    const codes = new Set(mine.map(({ error }) => error?.code ?? null))
    assert.ok(!codes.has('agent_crashed'))
    const summary = run.summary().find(({ configuration }) => configuration === 'mine')
    assert.equal(summary?.trials, mine.length - errors.length)
    assert.equal(run.complete, false)
  })

  it('by their mode, as another user meets it, are refused so too', {
    skip: process.platform === 'win32' ? 'modes are of POSIX' : false,
  }, () => {
    const folder = join(made, 'closed')
    mkdirSync(folder)
    chmodSync(folder, 0o555)
    chmodSync(made, 0o755)
    const { code, message } = inChild<{ code: string; message: string }>(
      `process.env.TMPDIR = ${JSON.stringify(folder)}
      if (process.getuid() === 0) process.setuid(65534)
      console.log(JSON.stringify(await run(program).then(rows, ({ code, message }) => ({ code, message }))))`,
      ':',
    )
    assert.equal(code, 'file_unwritable')
    assert.match(message, /got EACCES; TMPDIR names another \(.*closed\)/)
  })

  it('on a disk that is full are refused so too, though a folder can be made on it', {
    skip: withoutMounts() ?? false,
  }, () => {
    const { code, message } = inChild<{ code: string; message: string }>(
      `process.env.TMPDIR = '/mnt'
      console.log(JSON.stringify(await run(program).then(rows, ({ code, message }) => ({ code, message }))))`,
      'mount -t tmpfs -o size=8k none /mnt; head -c 8192 /dev/zero > /mnt/fill',
      ['unshare', '-m', 'sh'],
    )
    assert.equal(code, 'file_unwritable')
    assert.match(message, /ENOSPC.*\/mnt/)
  })
})

describe('a process without descriptors', {
  skip: process.platform === 'win32' ? 'limits are of POSIX' : false,
}, () => {
  it('has no agent fail, however few there are, and runs it once there are some', () => {
    const [byFunction = [], byProgram = []] = inChild<Row[][]>(
      `import { closeSync, openSync } from 'node:fs'
      const ends = []
      for (const agent of [() => 'done', program]) {
        const of = []
        for (let left = 0; left < 12; left++) {
          const held = []
          try { for (;;) held.push(openSync('/dev/null')) } catch {}
          for (const one of held.splice(0, left)) closeSync(one)
          of.push(...await run(agent).then(rows, () => []))
          for (const one of held) closeSync(one)
        }
        ends.push([...of, ...rows(await run(agent))])
      }
      console.log(JSON.stringify(ends))`,
      'ulimit -n 200',
    )
    for (const [all, word] of [
      [byFunction, /listen EMFILE/],
      [byProgram, /spawn.*EMFILE/],
    ] as const) {
      const judged = all.filter(({ outcome }) => outcome !== 'error')
      const errors = all.filter(({ outcome }) => outcome === 'error')
      assert.notEqual(all.at(-1)?.outcome, 'error')
      assert.deepEqual([...new Set(judged.map(({ code }) => code))], [null])
      assert.deepEqual([...new Set(errors.map(({ code }) => code))], ['harness_failed'])
      assert.ok(
        errors.some(({ message }) => word.test(message)),
        JSON.stringify(all),
      )
    }
  })
})

describe('a call that cannot reach its server', () => {
  const called = async (cause: unknown) => {
    const server = { name: 'far', tools: [], client: {}, call: () => Promise.reject(cause) }
    const recorder = new Recorder([server as unknown as RunningServer], {
      runId: 'run',
      callTimeoutMs: 1000,
    })
    const tool = { server: server as unknown as RunningServer, tool: { name: 'look' } }
    return recorder.call(tool, {}, new AbortController().signal)
  }
  const failed = (code: string) =>
    new TypeError('fetch failed', { cause: Object.assign(new Error('connect'), { code }) })

  it('for want of a descriptor, or since nobody listens any more, is no answer of the server: the machinery’s', async () => {
    for (const code of ['EMFILE', 'ENFILE', 'ECONNREFUSED', 'ECONNRESET'])
      await assert.rejects(called(failed(code)), ServerGone)
  })

  it('for any other reason is an answer that the agent is told', async () => {
    assert.equal((await called(failed('ERR_OTHER'))).result.isError, true)
    assert.equal((await called(new Error('no'))).result.isError, true)
  })
})

it('an agent that is a function and throws EACCES itself has failed by itself', async () => {
  const [test] = await cases.load('cases/lying_success/deploy-key.yaml')
  const agent = () => {
    mkdirSync('/dev/null/none')
    return 'done'
  }
  const run = await harness
    .run(test as harness.Case)
    .config('mine', { agent })
    .repeat(1)
    .out(null)
    .quiet()
  const [row] = run.trials
  assert.deepEqual([row?.outcome, row?.error?.code], ['fail', 'agent_crashed'])
})

describe('what an agent hands over', () => {
  it('is its own failure where it cannot be read, and not one of the machinery', async () => {
    const script = `const deep = '['.repeat(1e5) + ']'.repeat(1e5)
      process.stdout.write('{"error":' + deep + ',"text":"x"}', () => process.exit(1))`
    const [test] = await cases.load('cases/lying_success/deploy-key.yaml')
    const run = await harness
      .run(test as harness.Case)
      .config('mine', {
        agent: harness.agent.command({
          ...{ name: 'mine', command: process.execPath, args: ['-e', script] },
          output: { text: 'text', error: 'error' },
        }),
      })
      .repeat(1)
      .out(null)
      .quiet()
    assert.deepEqual(
      run.trials.map(({ outcome, ending }) => [outcome, ending]),
      [['fail', 'agent_crashed']],
    )
  })
})
