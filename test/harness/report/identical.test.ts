/** Repeats that are none: found from what was said and called, named, and not counted. */
import assert from 'node:assert/strict'
import { cpSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { cases, harness } from '../../../lib/index.ts'
import type { Coverage, TrialRecord } from '../../../lib/log/index.ts'
import { identicalIn, summaryOf } from '../../../lib/receipt/recompute/run-predicate.ts'
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

/** The run as if real models had answered so, with its transcripts changed. */
async function asReal(
  name: string,
  change = (line: { [member: string]: unknown }) => line,
  used: (record: TrialRecord, at: number) => Partial<TrialRecord> = () => ({}),
) {
  const dir = join(made, name)
  cpSync(whole.dir, dir, { recursive: true })
  const manifest = JSON.parse(readFileSync(join(dir, 'manifest.json'), 'utf8'))
  for (const one of manifest.configurations) one.simulated = false
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
    assert.match(open, /about \d+ cases \(its repeats are the same, .*\) in both runs instead of/)
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
