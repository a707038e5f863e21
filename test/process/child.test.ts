/** Children end with everything that they started: real processes, of every kind that leaves its group. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { endChild, startChild } from '../../lib/process/child.ts'
import { fromPs, MARK, soughtIn } from '../../lib/process/descendants.ts'
import { withoutMounts } from '../servers/in-shell.ts'
import { lives, pidsIn, until } from '../servers/processes.ts'
import { temporaryFolder } from '../temporary.ts'

const made = temporaryFolder('child')

const NAMED = 'echo $$ >> "$F"; exec sleep 1000'

/** What a shell does to leave something behind; each writes its number into $F. */
const LEAVES: { [how: string]: string } = {
  'in its group': `sh -c '${NAMED}' &`,
  'with a group of its own': `set -m; sh -c '${NAMED}' &`,
  'with a session of its own': `setsid sh -c '${NAMED}' &`,
  'behind a double fork': `(setsid sh -c '${NAMED}' &) ; (sh -c '${NAMED}' &)`,
  'deaf to SIGTERM, in another session': `setsid sh -c 'trap "" TERM; ${NAMED}' &`,
  'with an empty environment, below a parent that lives': `setsid sh -c 'env -i F="$F" setsid -f true; env -i F="$F" sh -c '"'"'${NAMED}'"'"' & wait' &`,
  'deaf to SIGTERM, with an empty environment, below a parent that ends': `setsid sh -c 'env -i F="$F" sh -c '"'"'trap "" TERM; ${NAMED}'"'"' & wait' &`,
}

const linux = process.platform === 'linux'

describe('a child that ends leaves nothing', { skip: linux ? false : 'needs setsid' }, () => {
  for (const [how, script] of Object.entries(LEAVES))
    for (const end of ['by itself', 'when it is ended'])
      it(`${how}, ${end}`, async () => {
        const file = join(made, `${how} ${end}`)
        const wanted = script.split('exec sleep').length - 1
        const child = startChild(
          'sh',
          ['-c', `${script}\n${end === 'by itself' ? '' : 'wait; sleep 1000'}`],
          {
            env: { ...process.env, F: file },
            stdio: 'ignore',
            where: 'test',
          },
        )
        const gone = once(child, 'exit')
        if (end === 'by itself') await gone
        await until(`${wanted} processes`, () => pidsIn(file).length === wanted)
        const left = pidsIn(file)
        assert.deepEqual(
          left.map(lives),
          left.map(() => true),
        )
        await endChild(child, { graceMs: 300 })
        await gone
        assert.deepEqual(
          left.map(lives),
          left.map(() => false),
        )
      })

  it('but what a lasting child started lives on', async () => {
    const file = join(made, 'lasting')
    const child = startChild('sh', ['-c', `setsid sh -c '${NAMED}' &`], {
      env: { ...process.env, F: file },
      stdio: 'ignore',
      where: 'test',
      lasting: true,
    })
    await once(child, 'exit')
    await until('a process', () => pidsIn(file).length === 1)
    await endChild(child, { graceMs: 300 })
    const [pid = 0] = pidsIn(file)
    assert.equal(lives(pid), true)
    process.kill(pid, 'SIGKILL')
  })

  it('nor does it end what another child of the same process started', async () => {
    const start = (file: string) =>
      startChild('sh', ['-c', `setsid sh -c '${NAMED}' & wait`], {
        env: { ...process.env, F: file },
        stdio: 'ignore',
        where: 'test',
      })
    const [one, two] = ['one', 'two'].map((name) => join(made, name)) as [string, string]
    const [first, second] = [start(one), start(two)]
    await until('both', () => pidsIn(one).length + pidsIn(two).length === 2)
    await endChild(first, { graceMs: 300 })
    assert.deepEqual([...pidsIn(one), ...pidsIn(two)].map(lives), [false, true])
    await endChild(second, { graceMs: 300 })
    assert.deepEqual(pidsIn(two).map(lives), [false])
  })
})

it('where nothing can be seen of other processes a child ends with its group all the same', {
  skip: withoutMounts() ?? false,
}, () => {
  const code = `import { startChild, endChild } from './lib/process/child.ts'
    const child = startChild('sh', ['-c', 'trap "" TERM; echo deaf; sleep 1000 & wait; sleep 1000'], { env: { PATH: process.env.PATH }, stdio: ['ignore', 'pipe', 'ignore'], where: 'test' })
    const closed = new Promise((done) => child.stdout.once('close', done))
    await new Promise((done) => child.stdout.once('data', done))
    await endChild(child, { graceMs: 100 })
    // Both held the pipe.
    await closed
    console.log(child.signalCode)`
  const words = [
    '-m',
    'sh',
    '-ec',
    'mount -t tmpfs none /proc; exec "$0" --import tsx --input-type=module -e "$1"',
    process.execPath,
    code,
  ]
  const { stdout, stderr } = spawnSync('unshare', words, { encoding: 'utf8', timeout: 60_000 })
  assert.deepEqual([stdout, stderr], ['SIGKILL\n', ''])
})

describe('a word that no program can be handed is refused before anything starts', () => {
  const start = (word: string, env: NodeJS.ProcessEnv = {}) =>
    startChild('true', [word], { env, stdio: 'ignore', where: 'agent' })
  it('a NUL character in an argument or a variable', () => {
    assert.throws(() => start('a\0b'), {
      code: 'argument_invalid',
      message:
        'expected words and variables that a program can be handed, got argument 1: a NUL character in it (agent)',
    })
    assert.throws(() => startChild('true', [], { env: {}, cwd: 'a\0b', where: 'agent' }), {
      code: 'argument_invalid',
      message: /got a folder: a NUL character in it \(agent\)$/,
    })
    assert.throws(() => start('a', { A: 'a\0b' }), {
      code: 'argument_invalid',
      message: /variable A/,
    })
  })
  it('131,071 bytes are taken, one more is not', {
    skip: linux ? false : 'a limit of Linux',
  }, async () => {
    const child = start('é'.repeat(65_535) + 'a')
    assert.deepEqual(await once(child, 'exit'), [0, null])
    await endChild(child, { graceMs: 300 })
    assert.throws(() => start('é'.repeat(65_536)), {
      code: 'argument_invalid',
      message: /got argument 1: one of 131072 bytes \(agent\)$/,
    })
    // The name and the sign between count.
    assert.throws(() => start('a', { AB: 'a'.repeat(131_069) }), { code: 'argument_invalid' })
  })
  it('more than all of them together may have', {
    skip: linux ? false : 'a limit of Linux',
  }, () => {
    const env = Object.fromEntries(
      Array.from({ length: 100 }, (_, i) => [`V${i}`, 'a'.repeat(100_000)]),
    )
    assert.throws(() => start('a', env), { code: 'argument_invalid', message: /in all/ })
  })
})

describe('processes as `ps` tells of them', () => {
  // As procps prints it for `ps axeww`, and the manual page of macOS's ps for `-E`: the environment
  // behind the words.
  const text = `    1     0     1 Ss   /sbin/init HOME=/
  501     1   501 S    sleep 1000 A=b ${MARK}=x.1,y.2 HOME=/root
  502   501   501 Z    [sh] <defunct>
  503   501   503 R+   sh -c echo ${MARK}=words; sleep ${MARK}=y.2
no process
`
  it('have their marks, and zombies are none', () => {
    assert.deepEqual(fromPs(text), [
      { pid: 1, parent: 0, group: 1, session: 0, marks: '' },
      { pid: 501, parent: 1, group: 501, session: 0, marks: 'x.1,y.2' },
      { pid: 503, parent: 501, group: 503, session: 0, marks: 'y.2' },
    ])
  })
  it('are sought by group, by mark and by parent, never this one', () => {
    const of = (pid: number, parent: number, group: number, marks = '') => ({
      pid,
      parent,
      group,
      session: 0,
      marks,
    })
    const all = [
      of(2, 1, 2),
      of(3, 2, 3),
      of(4, 3, 4),
      of(5, 1, 5, 'm'),
      of(6, 1, 6),
      of(process.pid, 2, 2),
    ]
    const sought = { leaders: new Set([2]), marked: (marks: string) => marks === 'm' }
    assert.deepEqual(soughtIn(all, sought), [2, 5, 3, 4])
  })
})
