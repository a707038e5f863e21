import assert from 'node:assert/strict'
import { test } from 'node:test'
import { rate } from '../../lib/stats/rate.ts'
import fc from '../property.ts'
import { close, passes } from './known.ts'

const cases = fc.array(fc.array(fc.integer({ min: 0, max: 1 }), { maxLength: 8 }), {
  minLength: 0,
  maxLength: 15,
})

test('for equal 0/1 trials the design effect is 1 + (trials - 1) icc, unless that is below 1', () => {
  fc.assert(
    fc.property(
      fc.array(fc.integer({ min: 0, max: 6 }), { minLength: 2, maxLength: 20 }),
      (counts) => {
        const r = rate(counts.map((c) => passes(c, 6)))
        if (Number.isNaN(r.icc)) return
        close(r.designEffect, Math.max(1, 1 + 5 * r.icc), 1e-9, 'design effect')
      },
    ),
  )
})

test('the interval holds the estimate, stays in [0, 1] and is never of zero width', () => {
  fc.assert(
    fc.property(cases, (data) => {
      const r = rate(data)
      const usable = data.filter((trials) => trials.length > 0).length
      assert.equal(r.cases, usable)
      assert.equal(r.missing, data.length - usable)
      if (usable < 2) {
        assert.ok(Number.isNaN(r.low) && Number.isNaN(r.high) && r.reason)
        return
      }
      assert.ok(
        0 <= r.low && r.low <= r.estimate + 1e-12 && r.estimate <= r.high + 1e-12 && r.high <= 1,
      )
      assert.ok(r.high - r.low > 0.001)
      assert.ok(r.effectiveN >= r.cases - 1e-9 && r.effectiveN <= r.trials + 1e-9)
    }),
  )
})

test('failures mirror successes, and neither the order of cases nor of trials matters', () => {
  fc.assert(
    fc.property(cases, (data) => {
      const [there, back] = [rate(data), rate(data.map((trials) => trials.map((x) => 1 - x)))]
      const turned = rate(data.toReversed().map((trials) => trials.toReversed()))
      if (Number.isNaN(there.low)) return
      close(there.low, 1 - back.high, 1e-9, 'mirror')
      close(there.low, turned.low, 1e-9, 'order')
    }),
  )
})

test('the estimate is the mean over cases, not over trials', () => {
  assert.equal(rate([[1], [0, 0, 0, 0, 0, 0, 0]]).estimate, 0.5)
})

test('a case with very many trials does not make up for cases with one: they are worth the number of cases times the harmonic mean', () => {
  const many = Array.from({ length: 1000 }, (_, i) => (i < 999 ? 1 : 0))
  const r = rate([[1], [1], many])
  close(r.effectiveN, 9 / (1 + 1 + 1 / 1000), 1e-9, 'effectiveN')
  assert.ok(r.low < 0.35, `two cases with one trial each cannot show a rate above ${r.low}`)
  // With as many trials in each case all of them can count, as ever.
  close(rate([passes(5, 6), passes(5, 6), passes(5, 6)]).effectiveN, 18, 1e-9, 'equal trials')
})

test('repeats that tell nothing new leave the interval as wide as one trial per case', () => {
  const once = [1, 0, 1, 1, 0, 1, 1, 0]
  const [single, copied] = [rate(once.map((x) => [x])), rate(once.map((x) => [x, x, x, x, x]))]
  close(copied.low, single.low, 1e-12, 'low')
  close(copied.high, single.high, 1e-12, 'high')
})

test('without spread each case counts once: 8 cases that always pass are bounded as 8 trials, not 40', () => {
  const r = rate(Array.from({ length: 8 }, () => [1, 1, 1, 1, 1]))
  assert.equal(r.estimate, 1)
  assert.equal(r.effectiveN, 8)
  assert.ok(r.low < 0.7)
  assert.equal(r.high, 1)
  assert.match(r.reason ?? '', /each case counts once/)
})

test('one case and no case have no interval; the t and bootstrap forms fall back rather than give none of width', () => {
  assert.match(rate([[1, 0, 1]]).reason ?? '', /one case/)
  assert.match(rate([]).reason ?? '', /no usable trial/)
  assert.ok(Number.isNaN(rate([]).estimate))
  for (const method of ['t', 'bootstrap'] as const) {
    const r = rate(
      [
        [1, 1],
        [1, 1],
        [1, 1],
      ],
      { method },
    )
    assert.equal(r.method, 'wilson')
    assert.ok(r.high - r.low > 0.3)
  }
})

test('a graded score is a rate too, and equal scores are not certainty', () => {
  const r = rate([
    [0.5, 0.5],
    [0.5, 0.5],
    [0.5, 0.5],
  ])
  assert.equal(r.estimate, 0.5)
  assert.ok(r.high - r.low > 0.5)
})

test('one more failure never raises an end, for either question', () => {
  const data = fc.array(fc.array(fc.integer({ min: 0, max: 1 }), { minLength: 1, maxLength: 7 }), {
    minLength: 2,
    maxLength: 9,
  })
  fc.assert(
    fc.property(data, fc.nat(), fc.nat(), (cases, at, trial) => {
      const i = at % cases.length
      const worse = cases.map((scores, j) =>
        i === j ? scores.with(trial % scores.length, 0) : scores,
      )
      for (const target of ['these', 'like these'] as const) {
        const [before, after] = [rate(cases, { target }), rate(worse, { target })]
        assert.ok(after.low <= before.low + 1e-7 && after.high <= before.high + 1e-7, target)
      }
    }),
  )
})

test('a perfect score bounds other cases by their number, and these by the trials', () => {
  const perfect = Array.from({ length: 20 }, () => passes(20, 20))
  const failed = [passes(19, 20), ...perfect.slice(1)]
  close(rate(perfect).low, 0.84922, 1e-4, 'other cases')
  close(rate(perfect, { target: 'these' }).low, 0.9919, 1e-4, 'run again')
  for (const target of ['these', 'like these'] as const)
    assert.ok(rate(failed, { target }).low < rate(perfect, { target }).low)
})

test('a family counts once: three copies of every case are worth no more than one', () => {
  const cases = [passes(5, 5), passes(3, 5), passes(0, 5), passes(4, 5), passes(5, 5)]
  const copies = cases.flatMap((scores) => [scores, scores, scores])
  const families = cases.flatMap((_, i) => [`f${i}`, `f${i}`, `f${i}`])
  const [once, thrice] = [rate(cases), rate(copies, { families })]
  assert.deepEqual([thrice.cases, thrice.families], [15, 5])
  for (const name of ['estimate', 'low', 'high', 'standardError'] as const)
    close(thrice[name], once[name], 1e-9, name)
  assert.match(rate(copies, { families: copies.map(() => 'x') }).reason ?? '', /one family/)
})
