/** Locks of files and folders: between processes of one machine, of containers with the same names and numbers, and of hosts whose clocks differ. */
import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { copyFileSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { after, describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { hold, holdLater } from '../lib/lock.ts'
import { inContainer, noContainers, signalContainer } from './servers/containers.ts'
import { temporaryFolder } from './temporary.ts'

const children: ChildProcess[] = []
after(() => {
  for (const child of children) child.kill('SIGKILL')
})
const place = () => {
  const dir = temporaryFolder('lock')
  return { dir, lock: join(dir, 'a.lock'), file: join(dir, 'a') }
}
const busy = (who: string) => new Error(`held by ${who}`)
/** So long that a test which waits for it does not end. */
const NEVER_MS = 1e8
const SHORT_MS = 1500

type Holder = {
  child: ChildProcess
  /** The next line that it says. */
  says(): Promise<string>
  tell(line: string): void
  /** A signal to the process itself, not to what started it. */
  signal(name: NodeJS.Signals): void
}

/** @param container its host name; none: a process here */
function holder(at: { lock: string; file: string }, leaseMs: number, container?: string): Holder {
  const script = resolve(import.meta.dirname, 'servers/lock-holder.ts')
  const node = [process.execPath, '--import', 'tsx', script, at.lock, `${leaseMs}`, at.file]
  const command = container === undefined ? node : inContainer(container, node)
  const [program = '', ...args] = command
  const child = spawn(program, args, { stdio: ['pipe', 'pipe', 'inherit'] })
  children.push(child)
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]()
  return {
    child,
    says: async () => (await lines.next()).value ?? 'ended',
    tell: (line) => void child.stdin.write(`${line}\n`),
    signal(name) {
      if (container === undefined) return void child.kill(name)
      signalContainer(child, name)
    },
  }
}

describe('a lock among processes here', () => {
  it('is refused while its holder lives, by number, host and time, and free when it is given back', async () => {
    const at = place()
    const other = holder(at, NEVER_MS)
    assert.equal(await other.says(), 'held')
    const name = new RegExp(
      `^held by process ${other.child.pid} on ${hostname()} since \\d{4}-.*Z; it is free when that process ends, or 100000 s after its last sign of life$`,
    )
    assert.throws(
      () => hold(at.lock, busy, { leaseMs: NEVER_MS }),
      ({ message }: Error) => name.test(message),
    )
    other.tell('release')
    assert.equal(await other.says(), 'released')
    hold(at.lock, busy, { leaseMs: NEVER_MS }).release()
    assert.deepEqual(readdirSync(at.dir), [])
  })

  it('of a process that was killed is free at once', async () => {
    const at = place()
    const other = holder(at, NEVER_MS)
    assert.equal(await other.says(), 'held')
    other.signal('SIGKILL')
    await new Promise((done) => other.child.once('exit', done))
    hold(at.lock, busy, { leaseMs: NEVER_MS }).release()
  })

  it('whose number was given to a new process is free at once', () => {
    const at = place()
    const lock = hold(at.lock, busy, { leaseMs: NEVER_MS })
    const held = JSON.parse(readFileSync(at.lock, 'utf8'))
    lock.release()
    writeFileSync(at.lock, JSON.stringify({ ...held, started: '1' }))
    hold(at.lock, busy, { leaseMs: NEVER_MS }).release()
  })

  it('is waited for where it is short', async () => {
    const at = place()
    const other = holder(at, NEVER_MS)
    assert.equal(await other.says(), 'held')
    const waiting = holdLater(at.lock, busy, { waitMs: NEVER_MS, leaseMs: NEVER_MS })
    other.tell('release')
    ;(await waiting).release()
  })

  it('of which a copy was made is no lock of the copy’s, after a lease', async () => {
    const [at, copy] = [place(), place()]
    const other = holder(at, SHORT_MS)
    assert.equal(await other.says(), 'held')
    copyFileSync(at.lock, copy.lock)
    // Its sign of life is fresh at first.
    let lock: ReturnType<typeof hold> | null = null
    while (lock === null) {
      try {
        lock = await holdLater(copy.lock, busy, { leaseMs: SHORT_MS })
      } catch {
        await sleep(50)
      }
    }
    lock.release()
    other.tell('write')
    assert.equal(await other.says(), 'wrote')
  })

  it('that was deleted, or replaced, lets its holder write nothing more', () => {
    const at = place()
    const lock = hold(at.lock, busy, { leaseMs: NEVER_MS })
    lock.confirm()
    rmSync(at.lock)
    assert.throws(() => lock.confirm(), /nobody \(its lock was deleted\)/)
    const second = hold(at.lock, busy, { leaseMs: NEVER_MS })
    assert.throws(() => lock.confirm())
    lock.release()
    assert.ok(existsSync(at.lock), 'what is another’s is not given back')
    second.confirm()
    second.release()
  })

  it('is not waited for any longer when the signal aborts, and leaves nothing behind', async () => {
    const at = place()
    writeFileSync(at.lock, 'who knows')
    const stop = new AbortController()
    const told = Promise.withResolvers<string>()
    const waiting = holdLater(at.lock, busy, {
      leaseMs: NEVER_MS,
      signal: stop.signal,
      told: told.resolve,
    })
    assert.equal(await told.promise, 'a process that did not say who it is')
    stop.abort(new Error('enough'))
    await assert.rejects(waiting, /enough/)
    assert.deepEqual(readdirSync(at.dir), ['a.lock'])
  })
})

describe('a lock of another host', () => {
  const text = (beat: number) =>
    JSON.stringify({
      ...{ id: 'abc', pid: 1, host: 'elsewhere', boot: 'b', space: 's', started: '5' },
      // Its clock is years ahead.
      ...{ since: '2039-01-01T00:00:00.000Z', beat: `${beat}`.padStart(16, '0') },
    })

  it('is held while its sign of life changes, whatever its clock says', async () => {
    const at = place()
    let beat = 0
    writeFileSync(at.lock, text(beat))
    const beating = setInterval(() => writeFileSync(at.lock, text(++beat)), 100)
    try {
      await assert.rejects(holdLater(at.lock, busy, { leaseMs: NEVER_MS }), {
        message: /^held by process 1 on elsewhere since 2039-01-01T00:00:00\.000Z; it is free/,
      })
    } finally {
      clearInterval(beating)
    }
  })

  it('is free when its sign of life has not changed for a lease; so is one that nobody can read', async () => {
    for (const left of [text(1e9), '', '{"pid":1}']) {
      const at = place()
      writeFileSync(at.lock, left)
      ;(await holdLater(at.lock, busy, { leaseMs: 300 })).release()
      writeFileSync(at.lock, left)
      hold(at.lock, busy, { leaseMs: 300 }).release()
      assert.deepEqual(readdirSync(at.dir), [])
    }
  })
})

describe('containers that share a folder', { skip: noContainers }, () => {
  it('with the same process number and host name keep each other out; the lease of one that was killed ends', async () => {
    const at = place()
    const first = holder(at, SHORT_MS, 'box')
    assert.equal(await first.says(), 'held')
    const refused = holder(at, SHORT_MS, 'box')
    assert.match(await refused.says(), /^waits for process 1 on box since /)
    assert.match(await refused.says(), /^refused process 1 on box since /)
    // Process 1 of the machine is another one.
    await assert.rejects(holdLater(at.lock, busy, { leaseMs: SHORT_MS }), /process 1 on box/)
    const waiting = holder(at, SHORT_MS, 'box')
    first.signal('SIGKILL')
    assert.match(await waiting.says(), /^waits for/)
    // It may have seen the last sign of life, and then the end of it.
    const said = await waiting.says()
    if (said !== 'held') assert.equal(await holder(at, SHORT_MS, 'box').says(), 'held', said)
  })

  it('one that stands still for longer than its lease and goes on writes no byte more, and leaves the other’s lock alone', async () => {
    const at = place()
    writeFileSync(at.file, '')
    const first = holder(at, SHORT_MS, 'box')
    assert.equal(await first.says(), 'held')
    first.tell('write')
    assert.equal(await first.says(), 'wrote')
    first.signal('SIGSTOP')
    const second = holder(at, SHORT_MS, 'other')
    assert.match(await second.says(), /^waits for process 1 on box/)
    assert.equal(await second.says(), 'held')
    const before = readFileSync(at.file, 'utf8')
    first.tell('write')
    first.signal('SIGCONT')
    assert.match(
      await first.says(),
      /^refused process 1 on other since .*; process 1 had it and gave no sign of life for 1\.5 s$/,
    )
    assert.equal(readFileSync(at.file, 'utf8'), before)
    first.tell('release')
    assert.equal(await first.says(), 'released')
    second.tell('write')
    assert.equal(await second.says(), 'wrote')
  })
})
