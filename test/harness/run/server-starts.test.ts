/** A server that never starts is not waited for in every trial; one that starts now and then is started in each. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { before, describe, it } from 'node:test'
import type { RunningServer } from '../../../lib/harness/server/running.ts'
import type { ServerPlan } from '../../../lib/harness/server/server-plan.ts'
import {
  GivenUp,
  ServerStarts,
  STARTS_TRIED,
  TRIED_AGAIN_MS,
} from '../../../lib/harness/server/server-starts.ts'
import { cases, harness, TouchstoneError } from '../../../lib/index.ts'
import { freePort } from '../../servers/port.ts'
import { temporaryFolder } from '../../temporary.ts'

const made = temporaryFolder()
const counter = resolve(import.meta.dirname, '../../servers/counter.ts')

/** A case before a server that is not ours. */
const caseBefore = (id: string, server: harness.ServerDescription) =>
  harness.case({
    id,
    title: 'Add two',
    kind: 'benign',
    task: 'Add 2.',
    servers: [server],
    solution: [{ call: 'add', with: { n: 2 } }],
    goal: [{ call: 'read', shows: {} }],
  })

/**
 * A server that comes up at those starts, from 0, for which the condition of the shell holds; `n`
 * is the start. Start 0 is that of the survey before the trials.
 */
function atStarts(name: string, condition: string) {
  const file = join(made, name)
  const script = `n=$(cat "$0" 2>/dev/null | wc -l); echo >> "$0"
    if ${condition}; then exec "$1" --disable-warning=ExperimentalWarning "$2"; fi
    echo "start $n: no config" >&2; exit 3`
  return {
    server: harness
      .server(undefined, { name: 'counter' })
      .stdio('sh', ['-c', script, file, process.execPath, counter]),
    starts: () => readFileSync(file, 'utf8').length,
  }
}

const perfect = { model: 'sim/perfect' }

describe('a server that fails at each start', () => {
  let well: harness.Case[]
  before(async () => {
    well = (await cases.load()).filter(({ id }) => id === 'lying_success/deploy-key.benign')
  })
  const runOf = (test: harness.Case, repeats: number) =>
    harness
      .run([test, ...well])
      .config('perfect', perfect)
      .repeat(repeats)
      .concurrency(1)
      .out(null)
      .quiet()
  const errorsOf = (run: harness.Run, id: string) =>
    run.trials.filter((row) => row.case === id).map(({ error }) => error?.message ?? 'none')

  it('is given up: its trials that are left end at once, by the reason of the first', async () => {
    const dead = atStarts('dead', 'false')
    const run = await runOf(await caseBefore('own/dead', dead.server), 20)
    // Each trial is attempted twice, and the survey has started it once.
    assert.equal(dead.starts(), STARTS_TRIED + 1)
    const errors = errorsOf(run, 'own/dead')
    assert.equal(errors.length, 20)
    const given = errors.filter((message) => /not started any more/.test(message))
    assert.equal(given.length, 20 - STARTS_TRIED / 2)
    assert.match(
      given.at(-1) ?? '',
      /start 1: no config.*; not started any more but once in 30 s, since 8 starts in a row failed and none came up \(server counter\)$/s,
    )
    const last = run.trials.findLast((row) => row.case === 'own/dead')
    assert.deepEqual([last?.error?.code, last?.attempt], ['server_unreachable', 0])
    // The rest of the run goes on.
    const others = run.trials.filter((row) => row.case !== 'own/dead')
    assert.deepEqual([others.length, others.every((row) => row.outcome === 'pass')], [20, true])
  })

  it('beside another one that comes up: each is counted by itself', async () => {
    const dead = atStarts('dead-beside', 'false')
    const other = atStarts('other', '[ "$n" -gt 1 ]')
    const both = [
      await caseBefore('own/dead', dead.server),
      await caseBefore('own/other', other.server),
    ]
    const run = await harness
      .run(both)
      .config('perfect', perfect)
      .repeat(6)
      .concurrency(1)
      .limits({ attempts: 2 })
      .out(null)
      .quiet()
    assert.equal(dead.starts(), STARTS_TRIED + 1)
    assert.deepEqual(errorsOf(run, 'own/other'), Array(6).fill('none'))
  })

  for (const [what, server, reason] of [
    [
      'whose command is not there',
      async () => harness.server(undefined, { name: 'counter' }).stdio('no-such-server', []),
      /no-such-server: spawn no-such-server ENOENT/,
    ],
    [
      'whose address nobody answers at',
      async () =>
        harness
          .server(undefined, { name: 'counter' })
          .http(`http://127.0.0.1:${await freePort()}/mcp`),
      /ECONNREFUSED/,
    ],
  ] as const)
    it(`or ${what}, the same`, async () => {
      const run = await runOf(await caseBefore('own/dead', await server()), 12)
      const errors = errorsOf(run, 'own/dead')
      assert.ok(
        errors.every((message) => reason.test(message)),
        errors[0],
      )
      const given = errors.filter((message) => /not started any more/.test(message))
      assert.equal(given.length, 12 - STARTS_TRIED / 2)
      assert.equal(run.errors, 12)
    })
})

describe('a server that fails at some starts', () => {
  it('is started in every trial: one start fewer in a row gives nothing up, nor any number after one that came up', async () => {
    // In the trials: 7 that fail, one that comes up, 10 that fail, one that comes up.
    const up = [STARTS_TRIED, STARTS_TRIED + 11]
    const some = atStarts('some', up.map((n) => `[ "$n" -eq ${n} ]`).join(' || '))
    const repeats = STARTS_TRIED + 11
    const run = await harness
      .run(await caseBefore('own/some', some.server))
      .config('perfect', perfect)
      .repeat(repeats)
      .concurrency(1)
      .limits({ attempts: 1 })
      .out(null)
      .quiet()
    assert.equal(some.starts(), repeats + 1)
    assert.deepEqual(
      run.trials.flatMap(({ error }, i) => (error === null ? [i + 1] : [])),
      up,
    )
    assert.ok(!run.trials.some(({ error }) => /not started any more/.test(error?.message ?? '')))
  })
})

describe('starts of a server', () => {
  const plan = { name: 'shop', stdio: { command: 'shop', args: [], env: {} }, http: null }
  const of = (more: object = {}) => ({ ...plan, ...more }) as unknown as ServerPlan
  const failing = async (): Promise<RunningServer> => {
    throw new TouchstoneError('server_unreachable', 'expected an MCP server, got none')
  }
  const running = {} as RunningServer
  const givenUp = async (starts: ServerStarts, which = of()) => {
    try {
      await starts.start(which, async () => running)
      return false
    } catch (cause) {
      return cause instanceof GivenUp
    }
  }

  it('that fail at the same time count as one', async () => {
    const starts = new ServerStarts()
    for (let round = 1; round <= STARTS_TRIED; round++) {
      const many = Array.from({ length: 20 }, () => starts.start(of(), failing))
      for (const { reason } of (await Promise.allSettled(many)) as PromiseRejectedResult[])
        assert.ok(!(reason instanceof GivenUp), `round ${round}`)
    }
    assert.equal(await givenUp(starts), true)
    assert.equal(await givenUp(starts, of({ stdio: { ...plan.stdio, args: ['other'] } })), false)
    assert.equal(await givenUp(new ServerStarts()), false)
  })

  it('of one that was given up are tried again now and then, until one comes up', async () => {
    let now = 0
    const starts = new ServerStarts(() => now)
    for (let n = 0; n < STARTS_TRIED; n++) await assert.rejects(starts.start(of(), failing))
    assert.equal(await givenUp(starts), true)
    now += TRIED_AGAIN_MS - 1
    assert.equal(await givenUp(starts), true)
    now += 1
    await assert.rejects(starts.start(of(), failing), (cause) => !(cause instanceof GivenUp))
    assert.equal(await givenUp(starts), true)
    now += TRIED_AGAIN_MS
    assert.equal(await givenUp(starts), false)
    for (let n = 0; n < 20; n++) await assert.rejects(starts.start(of(), failing))
    assert.equal(await givenUp(starts), false)
  })

  it('of which one came up while others failed give nothing up', async () => {
    const starts = new ServerStarts()
    let rise = (_: RunningServer) => {}
    const slow = starts.start(of(), () => new Promise((resolve) => (rise = resolve)))
    for (let n = 1; n < STARTS_TRIED; n++) await assert.rejects(starts.start(of(), failing))
    rise(running)
    await slow
    for (let n = 0; n < 20; n++)
      await assert.rejects(starts.start(of(), failing), (cause) => !(cause instanceof GivenUp))
    assert.equal(await givenUp(starts), false)
  })

  it('that end in another error are those of a server that came up', async () => {
    const starts = new ServerStarts()
    const broken = async (): Promise<RunningServer> => {
      throw new TouchstoneError('reset_failed', 'expected a reset, got none')
    }
    await assert.rejects(starts.start(of(), broken))
    for (let n = 0; n < 20; n++) await assert.rejects(starts.start(of(), failing))
    assert.equal(await givenUp(starts), false)
  })

  it('of a world of ours are not counted', async () => {
    const starts = new ServerStarts()
    const ours = of({ stdio: null })
    for (let n = 0; n < 20; n++) await assert.rejects(starts.start(ours, failing))
    assert.equal(await givenUp(starts, ours), false)
  })
})
