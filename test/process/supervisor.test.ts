/** A process that is killed takes with it what it started: agents, servers, probes; and its folders go. */
import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { describe, it } from 'node:test'
import { lives, pidsIn, until } from '../servers/processes.ts'
import { temporaryFolder } from '../temporary.ts'

const root = resolve(import.meta.dirname, '..', '..')
const made = temporaryFolder('supervisor')

/** A shell that starts one that leaves its session, and writes the numbers of both into $F. */
const TWO = `setsid sh -c 'echo $$ >> "$F"; trap "" TERM; sleep 1000' & echo $$ >> "$F"; cat; sleep 1000`

/** What a person starts; each comes to run `TWO`. */
const PROGRAMS: { [who: string]: (folder: string) => string[] } = {
  'an agent that is a program': (folder) => [
    '--input-type=module',
    '-e',
    `import { harness, cases } from './lib/index.ts'
     const [test] = await cases.load('cases/lying_success')
     const agent = harness.agent.command({ command: 'sh', args: ['-c', ${JSON.stringify(TWO)}], cwd: '{folder}' })
     await harness.run(test).config('mine', { agent }).repeat(1).quiet().out(${JSON.stringify(join(folder, 'run'))})`,
  ],
  'a server of a case': () => [
    '--input-type=module',
    '-e',
    `import { harness } from './lib/index.ts'
     await harness.server(undefined, { name: 'own' }).stdio('sh', ['-c', ${JSON.stringify(TWO)}], { env: { F: process.env.F } }).start()`,
  ],
  'a probe of a command': () => [
    'repl.ts',
    'probe',
    '--env',
    'F',
    '--stdio',
    '--',
    'sh',
    '-c',
    TWO,
  ],
}

function started(who: string) {
  const folder = temporaryFolder('one')
  mkdirSync(join(folder, 'tmp'), { recursive: true })
  const file = join(folder, 'pids')
  const env = { ...process.env, F: file, TMPDIR: join(folder, 'tmp') }
  const words = ['--import', 'tsx', ...(PROGRAMS[who]?.(folder) ?? [])]
  const child = spawn(process.execPath, words, {
    cwd: root,
    env,
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  return {
    child,
    file,
    env,
    temporary: () => readdirSync(join(folder, 'tmp')).filter((name) => /^touchstone-/.test(name)),
  }
}

/** The supervisor of a process, by the mark that it was started with. */
function supervisorOf({ pid = 0 }: ChildProcess): number {
  const found = readdirSync('/proc').filter((name) => {
    try {
      return readFileSync(`/proc/${name}/cmdline`, 'utf8').includes(
        `supervisor-main.ts\0${pid.toString(36)}.`,
      )
    } catch {
      return false
    }
  })
  return Number(found[0])
}

const linux = process.platform === 'linux' ? false : 'needs /proc'

describe('after kill -9', { skip: linux }, () => {
  for (const who of Object.keys(PROGRAMS))
    it(`${who} ends with what left its session, and no folder stays`, async () => {
      const { child, file, temporary } = started(who)
      await until('both processes', () => pidsIn(file).length === 2 && supervisorOf(child) > 0)
      const supervisor = supervisorOf(child)
      assert.deepEqual([...pidsIn(file), supervisor].map(lives), [true, true, true])
      child.kill('SIGKILL')
      await once(child, 'exit')
      await until('none of them', () => !pidsIn(file).some(lives))
      await until('no supervisor', () => !lives(supervisor))
      assert.deepEqual(temporary(), [])
    })

  it('of its supervisor too, the next process ends what is left and removes its folders', async () => {
    const { child, file, temporary, env } = started('an agent that is a program')
    await until('both processes', () => pidsIn(file).length === 2 && supervisorOf(child) > 0)
    process.kill(supervisorOf(child), 'SIGKILL')
    child.kill('SIGKILL')
    await once(child, 'exit')
    const left = pidsIn(file)
    assert.deepEqual(left.map(lives), [true, true])
    assert.equal(temporary().length, 1)
    // Those of another machine, of a living process and of nobody stay, and so does what a link leads to.
    const theirs = temporary()[0]?.replace(/\.[0-9a-z]{5}-/, '.zzzzz-') as string
    const [, owner = ''] = /^touchstone-agent-(.*)-\w{6}$/.exec(temporary()[0] as string) ?? []
    const linked = `touchstone-agent-${owner}-linked`
    for (const name of [theirs, 'touchstone-agent-abcdef', 'touchstone-own'])
      mkdirSync(join(env.TMPDIR, name))
    mkdirSync(join(made, 'kept'))
    writeFileSync(join(made, 'kept', 'file'), '')
    symlinkSync(join(made, 'kept'), join(env.TMPDIR, linked))
    const code = `import { startChild, endChild } from './lib/process/child.ts'
      const child = startChild('sleep', ['1000'], { env: {}, stdio: 'ignore', where: 'test' })
      process.stdin.resume().once('end', () => endChild(child, { graceMs: 300 }))`
    const next = spawn(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', code], {
      cwd: root,
      env,
      stdio: ['pipe', 'ignore', 'inherit'],
    })
    await until('none of them', () => !left.some(lives))
    await until('no folder of it', () => temporary().length === 4)
    next.stdin.end()
    assert.deepEqual(await once(next, 'exit'), [0, null])
    assert.deepEqual(
      temporary().sort(),
      [theirs, 'touchstone-agent-abcdef', linked, 'touchstone-own'].sort(),
    )
    assert.deepEqual(readdirSync(join(made, 'kept')), ['file'])
  })

  it('of its supervisor alone, another one is started with the next child', async () => {
    const code = `import { startChild } from './lib/process/child.ts'
      const start = () => startChild('sh', ['-c', 'echo $$ >> "$F"; exec sleep 1000'], { env: process.env, stdio: 'ignore', where: 'test' })
      start()
      process.stdin.on('data', start)`
    const file = join(made, 'again')
    const child = spawn(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', code], {
      cwd: root,
      env: { ...process.env, F: file },
      stdio: ['pipe', 'ignore', 'inherit'],
    })
    await until('a supervisor', () => pidsIn(file).length === 1 && supervisorOf(child) > 0)
    const first = supervisorOf(child)
    process.kill(first, 'SIGKILL')
    await until('no supervisor', () => !lives(first))
    await until('a second one', () => {
      child.stdin.write('x')
      return (supervisorOf(child) || first) !== first
    })
    child.kill('SIGKILL')
    await once(child, 'exit')
    await until('none of them', () => !pidsIn(file).some(lives))
  })
})
