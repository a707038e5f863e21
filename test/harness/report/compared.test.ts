/** Comparisons in words: a reason wherever the figures seem to say another thing than the verdict. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { before, describe, it } from 'node:test'
import {
  comparisonNotes,
  unexpected as unexpectedReason,
} from '../../../lib/harness/report/compared/comparison-text.ts'
import { cases, harness } from '../../../lib/index.ts'

/** Text without what a table, a page or Markdown does to it. */
const plain = (text: string) => text.replace(/[\\\n]/g, ' ').replace(/ +/g, ' ')

let [two, five]: harness.Run[] = []
before(async () => {
  const all = await cases.load()
  const plan = harness
    .run(all)
    .config('naive', { model: 'sim/naive' })
    .config('careful', { model: 'sim/careful' })
    .out(null)
    .quiet()
  two = await plan.repeat(3)
  five = await new harness.RunBuilder({
    ...plan.plan,
    cases: all.filter(({ kind }) => kind === 'lying_success'),
  })
    .config('perfect', { model: 'sim/perfect' })
    .config('gullible', { model: 'sim/gullible' })
    .config('again', { model: 'sim/careful' })
    .repeat(5)
})

/** Verdicts that a reader of the figures would not expect. */
function unexpected(run: harness.Run) {
  const [a = '', ...others] = run.configurations
  return others.flatMap((b) =>
    Object.values(run.compare(a, b).answers).flatMap(({ primary, others }) =>
      [primary, ...others].filter(({ verdict, pAdjusted, low, high }) =>
        verdict === 'cannot tell'
          ? pAdjusted < 0.05
          : verdict !== 'same within d' && low <= 0 && high >= 0,
      ),
    ),
  )
}

describe('a verdict that its figures seem to speak against', () => {
  it('has its reason beside it, for each metric: better, with an interval that holds 0', () => {
    const run = two as harness.Run
    assert.deepEqual(
      unexpected(run).map(({ target, metric, verdict }) => [target, metric, verdict].join(' ')),
      ['like these goal better', 'like these overclaim better'],
    )
    const comparison = run.compare('naive', 'careful')
    for (const text of [comparison.text(), comparisonNotes(comparison).join('\n')].map(plain)) {
      assert.match(text, /other cases: the interval holds 0 all the same: it allows for kinds/)
      assert.match(text, /other cases, overclaimed: the interval holds 0 all the same/)
      assert.doesNotMatch(text, /run again(, [a-z ]+)?: the interval holds 0/)
    }
  })

  it('has it in the text, in report.md and on the page: cannot tell, with a p below 0.05', async () => {
    const run = five as harness.Run
    const found = unexpected(run)
    assert.deepEqual(
      [...new Set(found.map(({ target, verdict }) => [target, verdict].join(' ')))],
      ['these cannot tell'],
    )
    assert.ok(
      found.some(({ metric }) => metric === 'goal'),
      'primary',
    )
    assert.ok(
      found.some(({ metric }) => metric === 'overclaim'),
      'another',
    )
    const shown = [
      found.map(({ a, b }) => run.compare(a, b).text()).join('\n'),
      readFileSync(await harness.writeReport(run), 'utf8'),
      JSON.stringify(await run.page()),
    ].map(plain)
    for (const text of shown)
      for (const label of ['', ', overclaimed'])
        assert.ok(text.includes(`run again${label}: the interval holds 0: a difference of`), label)
    assert.match(plain(run.text()), /, run again, (goal met|overclaimed): the interval holds 0:/)
    assert.doesNotMatch(
      plain(run.compare('careful', 'again').text()),
      /again.*the interval holds 0/,
    )
  })
})

it('an interval that leaves out 0 beside cannot tell has its reason, on either side of 0 and of 0.05', () => {
  const of = (low: number, high: number, pAdjusted: number, reasons: string[] = []) =>
    unexpectedReason({
      ...{ verdict: 'cannot tell', level: 0.95, low, high, pAdjusted, reasons },
    } as unknown as Parameters<typeof unexpectedReason>[0])
  const said = 'the interval leaves out 0, but the test does not rule out "no difference"'
  assert.equal(of(-0.84, -0.02, 0.056), said)
  assert.equal(of(0.02, 0.84, 0.056), said)
  assert.equal(of(0.02, 0.84, Number.NaN), said)
  assert.equal(of(-0.84, 0, 0.056), '')
  assert.equal(of(Number.NaN, Number.NaN, 0.056), '')
  assert.equal(of(0.02, 0.84, 0.056, ['the verdict is withheld: x']), 'the verdict is withheld: x')
  assert.match(of(-0.1, 0.1, 0.04), /the interval holds 0/)
})

describe('the text of a run', () => {
  it('holds more than four configurations against the first in one table, and loses no verdict', () => {
    const run = five as harness.Run
    const text = run.text({ width: 120 })
    assert.doesNotMatch(text, /against naive: goal met, paired over/)
    const table = text.slice(text.indexOf('Against naive:'))
    for (const b of run.configurations.slice(1))
      for (const { primary, others } of Object.values(run.compare('naive', b).answers))
        for (const one of [primary, ...others.filter(({ verdict }) => verdict !== 'cannot tell')]) {
          const [label, question] = [
            one.metric === 'goal' ? 'goal met' : 'overclaimed',
            one.target === 'these' ? 'run again' : 'other cases',
          ]
          assert.match(table, new RegExp(`${label} +${question} +${one.verdict} `), b)
        }
    assert.match(table, /Each in full: touchstone compare --b NAME/)
    assert.match((two as harness.Run).text(), /careful against naive: goal met, paired over/)
    assert.match(
      (two as harness.Run).text({ width: 40 }),
      /^careful against naive: goal met, paired\nover .{1,40}$/m,
    )
  })

  it('rounds what hardly ever happens beside what often does, and no interval from 0 up is one', () => {
    const text = plain((two as harness.Run).text())
    const [, wrong = '', level = ''] =
      /wrong order in (\S+)% of .* level in (\S+)%/.exec(text) ?? []
    for (const share of [wrong, level]) assert.match(share, /^<?\d+(\.\d\d?)?$/)
    assert.doesNotMatch(text, /\[0 ms, unknown\]/)
  })
})
