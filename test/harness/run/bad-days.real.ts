/**
 * Runs on bad days: a disk that is full, a folder that cannot be written, a device that fails, a lock that is somebody else's, a
 * clock that jumps. Each is an error that says the way out, loses nothing, and what goes on afterwards ends as an undisturbed run.
 *
 * Full and read-only file systems are real ones, in a mount namespace. EIO comes from /proc/self/mem, which cannot be read or
 * written at its start; where a device would have to fail in the middle, a hook on `node:fs` stands in for it, as the titles say.
 */
import assert from 'node:assert/strict'
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { before, describe, it } from 'node:test'
import { harness } from '../../../lib/index.ts'
import type { Ended } from '../../servers/disturbed-run.ts'
import { atOnce, inShell, isFailed, mounted, withoutMounts } from '../../servers/in-shell.ts'
import { temporaryFolder } from '../../temporary.ts'

const made = temporaryFolder('bad-days')
const TRIALS = 24

const reason = withoutMounts()
if (reason) console.log(`# full and read-only file systems are skipped: ${reason}`)

const runs = (dir: string, ...hooks: string[]) =>
  inShell(`eval "$RUN" '${dir}' "$TRIALS" ${hooks.join(' ')}`, TRIALS)[0] as Ended

function failed(ended: Ended | undefined, code: string, words: RegExp): void {
  assert.ok(ended && isFailed(ended), JSON.stringify(ended))
  assert.equal(ended.error.code, code, ended.error.message)
  assert.match(ended.error.message, words)
}

const filesIn = (dir: string) =>
  Object.fromEntries(
    readdirSync(dir).map((name): [string, string] => [name, readFileSync(join(dir, name), 'utf8')]),
  )

let whole: Ended
/** A run's folder with about half of its trials. */
const half = join(made, 'half')
before(() => {
  const dir = join(made, 'whole')
  whole = runs(dir)
  assert.ok(!isFailed(whole), JSON.stringify(whole))
  cpSync(dir, half, { recursive: true })
  const lines = readFileSync(join(half, 'trials.ndjson'), 'utf8').split('\n')
  writeFileSync(join(half, 'trials.ndjson'), `${lines.slice(0, TRIALS / 2).join('\n')}\n`)
})
const begun = (name: string) => {
  const dir = join(made, name)
  cpSync(half, dir, { recursive: true })
  return dir
}

describe('a file system that is', { skip: reason ?? false }, () => {
  it('full in the middle of a run: what is there stays, and what goes on with it once there is room ends the same', () => {
    const [full, still, end] = mounted(
      `
      mount -t tmpfs -o size=100k none /mnt
      eval "$RUN" /mnt/run "$TRIALS"
      eval "$RUN" /mnt/run "$TRIALS"
      mount -o remount,size=64m /mnt
      eval "$RUN" /mnt/run "$TRIALS"`,
      TRIALS,
    )
    failed(full, 'file_unwritable', /what is there stays, and resume goes on from it.*ENOSPC/)
    failed(still, 'file_unwritable', /ENOSPC/)
    assert.deepEqual(end, whole)
  })

  it('full before a run can begin: file_unwritable, and the same words begin it once there is room', () => {
    const [full, end] = mounted(
      `
      mount -t tmpfs -o size=8k none /mnt
      mkdir /mnt/run; head -c 4096 /dev/zero > /mnt/fill
      eval "$RUN" /mnt/run "$TRIALS"
      mount -o remount,size=64m /mnt
      eval "$RUN" /mnt/run "$TRIALS"`,
      TRIALS,
    )
    failed(full, 'file_unwritable', /ENOSPC/)
    assert.deepEqual(end, whole)
  })

  it('read-only: a run that is gone on with changes no byte, and ends the same once it may write', () => {
    const [first, other, end] = mounted(
      `
      mount -t tmpfs -o size=64m none /mnt
      cp -r '${half}' /mnt/run
      mount -o remount,ro /mnt
      eval "$RUN" /mnt/run "$TRIALS"
      eval "$RUN" /mnt/other "$TRIALS"
      diff -r '${half}' /mnt/run >&2
      mount -o remount,rw /mnt
      eval "$RUN" /mnt/run "$TRIALS"`,
      TRIALS,
    )
    failed(first, 'file_unwritable', /run\.lock.*EROFS|EROFS.*run\.lock/)
    failed(other, 'file_unwritable', /EROFS.*\/mnt\/other/)
    assert.deepEqual(end, whole)
  })
})

describe('a folder that another user owns', {
  skip: process.getuid?.() === 0 ? false : 'needs root',
}, () => {
  it('is an error that names it, and changes no byte', () => {
    const dir = begun('foreign')
    chmodSync(made, 0o755)
    chmodSync(dir, 0o555)
    const own = join(made, 'own')
    mkdirSync(own)
    chownSync(own, 65_534, 65_534)
    const before = filesIn(dir)
    const user = ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups', 'sh']
    const script = `export HOME='${own}' TMPDIR='${own}'; eval "$RUN" '${dir}' "$TRIALS"`
    const [ended] = inShell(script, TRIALS, user)
    failed(ended, 'file_unwritable', /EACCES.*foreign/)
    assert.deepEqual(filesIn(dir), before)
    chmodSync(dir, 0o755)
    assert.deepEqual(runs(dir), whole)
  })
})

describe('a device that fails', () => {
  it('in the place of a log (/proc/self/mem behind a link) is refused before a byte is written, and its folder goes on', () => {
    const dir = begun('mem')
    rmSync(join(dir, 'servers.ndjson'), { force: true })
    const kept = join(made, 'decisions.kept')
    cpSync(join(dir, 'decisions.ndjson'), kept)
    rmSync(join(dir, 'decisions.ndjson'))
    symlinkSync('/proc/self/mem', join(dir, 'decisions.ndjson'))
    const trials = readFileSync(join(dir, 'trials.ndjson'))
    const ended = runs(dir)
    assert.ok(isFailed(ended))
    assert.equal(ended.error.code, 'run_invalid')
    assert.match(ended.error.message, /expected a plain file, got a link.*decisions\.ndjson/)
    assert.deepEqual(readFileSync(join(dir, 'trials.ndjson')), trials)
    rmSync(join(dir, 'decisions.ndjson'))
    cpSync(kept, join(dir, 'decisions.ndjson'))
    assert.deepEqual(runs(dir), whole)
  })

  it('in the place of the records is refused when the run is opened, by the file', async () => {
    const dir = begun('unread')
    rmSync(join(dir, 'trials.ndjson'))
    symlinkSync('/proc/self/mem', join(dir, 'trials.ndjson'))
    await assert.rejects(harness.open(dir), {
      code: 'run_invalid',
      message: /expected a plain file, got a link.*trials\.ndjson/,
    })
  })

  for (const [what, hook, words] of [
    ['when the disk is to take what was written', 'fdatasyncSync=EIO:3', /resume goes on.*EIO/],
    ['in the middle of a line', 'writeSync=EIO:9', /resume goes on.*EIO/],
    ['when the manifest gets its name', 'renameSync=EIO', /EIO.*manifest\.json/],
    ['when the folder is made', 'mkdirSync=EIO', /EIO/],
  ] as const)
    it(`${what} (hook ${hook}): file_unwritable, and the same words end as an undisturbed run`, () => {
      const dir = join(made, hook)
      failed(runs(dir, hook), 'file_unwritable', words)
      assert.deepEqual(runs(dir), whole)
    })

  it('when what is torn is set aside (hook fsyncSync): nothing is cut, and the same words end the same', () => {
    const dir = begun('aside')
    const before = filesIn(dir)
    failed(runs(dir, 'fsyncSync=EIO'), 'file_unwritable', /EIO.*\.cut/)
    assert.deepEqual(filesIn(dir), before)
    assert.deepEqual(runs(dir), whole)
  })
})

describe('a lock', () => {
  it('of another host that lives is an error that names it, and without it the run ends the same', async () => {
    const dir = begun('elsewhere')
    const lock = join(dir, 'run.lock')
    const before = filesIn(dir)
    // A sign of life is any change.
    let beat = 0
    const beats = () =>
      writeFileSync(
        lock,
        JSON.stringify({ id: 'x', pid: 1, host: 'elsewhere', since: '2026', beat: `${beat++}` }),
      )
    beats()
    const beating = setInterval(beats, 200)
    try {
      const [ended] = await atOnce(dir, TRIALS, 1)
      failed(ended, 'run_locked', /held by process 1 on elsewhere since 2026; it is free/)
    } finally {
      clearInterval(beating)
      rmSync(lock)
    }
    assert.deepEqual(filesIn(dir), before)
    assert.deepEqual(runs(dir), whole)
  })

  it('where files have no second names (hook linkSync=EPERM) is given back all the same', () => {
    const dir = begun('no-links')
    assert.deepEqual(runs(dir, 'linkSync=EPERM'), whole)
    assert.ok(!existsSync(join(dir, 'run.lock')))
  })

  it('of two processes on one folder one writes and the other is told which, and the end is the same', async () => {
    const dir = begun('two')
    const ends = await atOnce(dir, TRIALS, 2)
    // Where one was through before the other began, both end well.
    for (const ended of ends)
      if (isFailed(ended)) failed(ended, 'run_locked', /held by process \d+ on /)
      else assert.deepEqual(ended, whole)
    assert.ok(ends.some((ended) => !isFailed(ended)))
    assert.deepEqual(runs(dir), whole)
  })
})

it('a clock that jumps ten years back and ahead changes nothing but times', () => {
  const dir = join(made, 'clock')
  assert.deepEqual(runs(dir, 'clock=1'), whole)
  const opened = readFileSync(join(dir, 'trials.ndjson'), 'utf8').trimEnd().split('\n')
  for (const line of opened) assert.ok(JSON.parse(line).duration_ms >= 0)
})
