/** Repeats that are none: found from what was said and called, named, and not counted. */
import assert from 'node:assert/strict'
import { cpSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { cases, harness } from '../../../lib/index.ts'
import type { Coverage, TrialRecord } from '../../../lib/log/index.ts'
import {
  identicalIn,
  statedConfigurations,
  summaryOf,
} from '../../../lib/receipt/recompute/run-predicate.ts'
import { readTrialLog } from '../../../lib/receipt/recompute/trial-log.ts'
import { temporaryFolder } from '../../temporary.ts'

const made = temporaryFolder('identical')

const all = await cases.load('cases/lying_success')
const whole = await harness
  .run(all)
  .config('same', { model: 'sim/perfect' })
  .config('varies', { model: 'sim/naive' })
  .repeat(5)
  .out(join(made, 'whole'))
  .quiet()

/**
 * The run as if real models had answered so, with its transcripts changed. `stated`: no answer came
 * out of a cache.
 */
async function asReal(
  name: string,
  change = (line: { [member: string]: unknown }) => line,
  used: (record: TrialRecord, at: number) => Partial<TrialRecord> = () => ({}),
  stated = false,
) {
  const dir = join(made, name)
  cpSync(whole.dir, dir, { recursive: true })
  const manifest = JSON.parse(readFileSync(join(dir, 'manifest.json'), 'utf8'))
  for (const one of manifest.configurations) {
    one.simulated = false
    if (stated) one.cached = false
  }
  writeFileSync(join(dir, 'manifest.json'), JSON.stringify(manifest))
  const path = join(dir, 'transcripts.ndjson')
  const lines = readFileSync(path, 'utf8').trim().split('\n')
  writeFileSync(path, lines.map((line) => `${JSON.stringify(change(JSON.parse(line)))}\n`).join(''))
  // A changed transcript is another one than its record digests; here only what is found in it is asked.
  const trials = whole.trials.map((record, at) => ({ ...record, ...used(record, at) }))
  return new harness.Run({ dir, manifest, trials })
}

describe('identical repeats', () => {
  it('of a real model are named, and each case counts once', async () => {
    const run = await asReal('real')
    assert.deepEqual([...run.identical], ['same'])
    const [same, varies] = run.summary()
    assert.equal(same?.rates.goal.trials, all.length)
    assert.equal(same?.trials, all.length)
    assert.equal(same?.unrun, 0)
    assert.equal(varies?.rates.goal.trials, 5 * all.length)
    const before = whole.summary()[0]?.rates.goal.again
    const now = same?.rates.goal.again
    assert.ok(now && before && now.high - now.low > before.high - before.low, 'less is known')
    assert.match(run.text({ width: 300 }), /same: its repeats are byte for byte the same/)
    assert.equal(run.complete, true)
    assert.deepEqual((run.toJSON() as { identical: string[] }).identical, ['same'])
  })

  it('cost what they cost: tokens and money are of all trials, those in an error too', async () => {
    const used = { tokens: { input: 100, output: 20 }, cost_usd: 0.5 }
    const each = 5 * all.length
    const run = await asReal('spent', undefined, ({ outcome }) => ({ ...used, outcome }))
    assert.deepEqual([...run.identical], ['same'])
    const [same] = run.coverage()
    assert.deepEqual(same?.spent, {
      tokens: { input: 100 * each, output: 20 * each, unknown: 0 },
      cost_usd: { sum: 0.5 * each, unknown: 0 },
      attempts: each,
    })
    const row = new RegExp(`^same .* ${100 * each}, ${20 * each} +\\$${0.5 * each} `, 'm')
    assert.match(run.text({ width: 300 }), row)

    const partly = await asReal('partly', undefined, ({ configuration, outcome }, at) => ({
      ...used,
      ...(at % 2 === 0 && { tokens: null, cost_usd: null }),
      outcome: configuration === 'same' && at < 2 ? 'error' : outcome,
    }))
    const { spent, trials } = partly.coverage()[0] as Coverage
    assert.deepEqual([spent.attempts, spent.attempts > trials], [each, true])
    assert.ok(spent.tokens.unknown > 0 && spent.tokens.unknown === spent.cost_usd.unknown)
    const text = partly.text({ width: 300 })
    assert.match(text, /^same .* at least \d+, \d+ +at least \$/m)
    assert.match(text, /Tokens and cost are also those of \d attempts? that ended in an error/)
  })

  it('of a simulated one are no wonder', () => assert.deepEqual([...whole.identical], []))

  it('are none where one trial of one case said another word', async () => {
    const { key } =
      whole.trials.find(({ configuration, trial }) => configuration === 'same' && trial === 3) ?? {}
    const run = await asReal('word', (line) =>
      line['key'] === key ? { ...line, summary: `${line['summary']} indeed` } : line,
    )
    assert.deepEqual([...run.identical], [])
    assert.equal(run.summary()[0]?.trials, 5 * all.length)
  })

  it('without a word are none: that two trials make the same calls is no wonder', async () => {
    const run = await asReal('wordless', ({ said, summary, ...line }) => line)
    assert.deepEqual([...run.identical], [])
  })
})

describe('identical repeats of which it is stated that no answer comes out of a cache', () => {
  it('count, and the text, the report and the page tell what is stated', async () => {
    const run = await asReal('stated', undefined, undefined, true)
    assert.deepEqual([...run.identical], [])
    assert.equal(run.summary()[0]?.trials, 5 * all.length)
    assert.deepEqual(run.summary()[0]?.rates.goal.again, whole.summary()[0]?.rates.goal.again)
    const told = 'same, varies: stated and not tested: no answer comes out of a cache'
    assert.ok(run.text({ width: 400 }).includes(told))
    assert.ok(readFileSync(await harness.writeReport(run), 'utf8').includes(told))
    assert.ok(JSON.stringify(await run.page()).includes(told))
    assert.doesNotMatch(run.text({ width: 400 }), /byte for byte the same in every case/)
    assert.doesNotMatch(whole.text({ width: 400 }), /stated and not tested/)
  })

  it('let one failure never raise an end, and a gate name this way where it is not stated', async () => {
    const run = await asReal('monotone', undefined, undefined, true)
    const key = run.trials.find(({ configuration }) => configuration === 'same')?.key
    const fewer = new harness.Run({
      dir: run.dir,
      manifest: run.manifest,
      trials: run.trials.map((row) =>
        row.key === key ? { ...row, goal: false, outcome: 'fail' as const } : row,
      ),
    })
    const [most, less] = [run, fewer].map((one) => one.summary()[0]?.rates.goal.again)
    assert.ok(most && less && less.low < most.low && less.high <= most.high)
    const states = [run, fewer].map((one) => harness.gate(one, 'same:goal>=70%')[0]?.state)
    assert.deepEqual(states, ['met', 'met'])
    const [unstated] = harness.gate(await asReal('unstated'), 'same:goal>=70%')
    assert.equal(unstated?.state, 'undecided')
    assert.match(
      unstated?.reason ?? '',
      /where no answer comes out of a cache, state it before the run \(cached: false, --uncached\), and they count$/,
    )
  })

  it('count in the summary of a receipt too, which names what is stated', async () => {
    const { manifest, dir } = await asReal('stated-receipt', undefined, undefined, true)
    const log = await readTrialLog(join(dir, 'trials.ndjson'), manifest)
    assert.deepEqual([...identicalIn(manifest, log, dir)], [])
    assert.equal(summaryOf(manifest, log, dir)[0]?.trials, 5 * all.length)
    assert.deepEqual(
      statedConfigurations(manifest).map(({ name, cached }) => [name, cached]),
      [
        ['same', false],
        ['varies', false],
      ],
    )
    assert.ok(statedConfigurations(whole.manifest).every((one) => !('cached' in one)))
  })

  it('are stated of a model or an agent before the run, and nothing that is tested changes by it', async () => {
    const some = all.slice(0, 1)
    const agent: harness.AgentFunction = () => 'Done.'
    const plan = (cached?: false) =>
      harness
        .run(some)
        .config('mine', { agent, ...(cached === false && { cached }) })
        .repeat(3)
        .quiet()
    const dir = join(made, 'plain')
    const plain = await plan().out(dir)
    const stated = await plan(false).out(join(made, 'said'))
    const [one, other] = [plain, stated].map(({ manifest }) => manifest.configurations[0])
    assert.deepEqual({ ...one, cached: false }, other)
    assert.deepEqual([[...plain.identical], [...stated.identical]], [['mine'], []])
    // What is stated once the numbers are known is refused; what was stated stays so.
    await assert.rejects(
      async () => await plan(false).resume(dir),
      /cached of mine was none, is false/,
    )
    assert.equal((await plan().resume(stated.dir)).manifest.configurations[0]?.cached, false)
    const wrong = { agent, cached: true } as never
    await assert.rejects(
      async () => await harness.run(some).config('mine', wrong).out(null).quiet(),
      /expected cached: false, or none where nobody knows, got true/,
    )
    const simulated = await harness
      .run(some)
      .config('x', { model: 'sim/perfect', cached: false })
      .repeat(1)
      .out(null)
      .quiet()
    assert.equal('cached' in (simulated.manifest.configurations[0] ?? {}), false)
  })
})

describe('identical repeats of one run beside another', () => {
  it('count once on the page of two runs, on either side', async () => {
    const [earlier, later] = [await asReal('earlier'), await asReal('later', (line) => line)]
    const other = new harness.Run({
      dir: later.dir,
      manifest: { ...later.manifest, id: 'later' },
      trials: [...later.trials],
    })
    const page = await other.page({ against: earlier })
    const shown = JSON.stringify(page)
    const name = 'same of earlier'
    assert.ok(shown.includes(`${name}: its repeats are byte for byte the same`), name)
    assert.ok(shown.includes('same: its repeats are byte for byte the same'))
  })

  it('count once where a run is held against its baseline', async () => {
    const [earlier, later] = [await asReal('then'), await asReal('now')]
    const [same, varies] = harness.against(later, earlier)
    const before = harness.against(whole, whole)[0]
    const width = (one: typeof same) => {
      const { low = 0, high = 0 } = one?.comparison.primary.alone ?? {}
      return high - low
    }
    assert.ok(width(same) > width(before), 'less is known of it')
    assert.equal(width(varies), width(harness.against(whole, whole)[1]))
  })

  it('are never what more of would decide it: more cases are', async () => {
    const [earlier, later] = [await asReal('before'), await asReal('after')]
    const [gate, other] = harness.gate(later, 'goal>=90%')
    const cases = `about (\\d+) cases instead of ${all.length} would decide it`
    assert.match(gate?.reason ?? '', new RegExp(`${cases}, if the rate stays; its repeats are the`))
    assert.doesNotMatch(gate?.reason ?? '', /\d repeats/)
    assert.match(harness.gate(whole, 'same:goal>=90%')[0]?.reason ?? '', /\d repeats instead of 5/)
    assert.equal(other?.configuration, 'varies')
    const [same] = harness.against(later, earlier)
    const open = same?.undecided.map(({ reason }) => reason).join('; ') ?? ''
    assert.match(
      open,
      /about \d+ cases in both runs instead of \d+ would decide it, if the difference stays; its repeats are the same/,
    )
    assert.doesNotMatch(open, /\d repeats/)
    // One of the two is enough: what the other has more of does not widen what is known of it.
    const mixed = harness.against(later, whole)[0]?.undecided ?? []
    assert.doesNotMatch(mixed.map(({ reason }) => reason).join(), /\d repeats/)
    const plan = harness.run(all).config('same', { model: 'sim/perfect' }).repeat(5)
    const text = (await plan.forecast({ baseline: earlier, margin: 0.05 })).text({ width: 200 })
    assert.match(text, /More of them tell nothing new; more cases do/)
    assert.doesNotMatch(text, /no number of repeats is enough/)
  })

  it('say what tells more: cases, and one repeat as much as these', async () => {
    const run = await asReal('way-out')
    assert.match(run.text({ width: 400 }), /More cases tell more, and --repeat 1 tells as much/)
  })
})

describe('the summary of a receipt', () => {
  it('counts identical repeats once, as the run does, and names their configurations', async () => {
    const run = await asReal('receipt')
    const { manifest, dir } = run
    const log = await readTrialLog(join(dir, 'trials.ndjson'), manifest)
    assert.deepEqual([...identicalIn(manifest, log, dir)], ['same'])
    const [same, varies] = summaryOf(manifest, log, dir)
    const [expected] = run.summary()
    assert.equal(same?.trials, all.length)
    assert.equal(same?.unrun, 0)
    assert.equal(
      same?.rates.goal.again.low.toPrecision(9),
      expected?.rates.goal.again.low.toPrecision(9),
    )
    assert.equal(varies?.trials, 5 * all.length)
    // Without transcripts nothing is known to be the same; that they are gone is said elsewhere.
    assert.deepEqual([...identicalIn(manifest, log, made)], [])
  })
})
