/** Attempts over time: what is counted in which part, what is cut out, and what is refused. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import * as chart from '../../lib/chart/index.ts'
import {
  binsOf,
  countsIn,
  elapsed,
  mostAtOnce,
  type Span,
  stretchesOf,
  ticksOf,
} from '../../lib/chart/rows/spans.ts'
import fc from '../property.ts'

const span = (began: number, ended: number, more: Partial<Span> = {}): Span => ({
  began,
  ended,
  waits: [],
  error: false,
  ...more,
})

const spans = fc.array(
  fc.tuple(fc.nat(5000), fc.nat(900), fc.nat(100), fc.boolean()).map(([began, work, wait, error]) =>
    span(began, began + work + wait, {
      waits: wait > 0 ? [[began + work / 2, began + work / 2 + wait]] : [],
      error,
    }),
  ),
  { minLength: 1, maxLength: 40 },
)

describe('activity', () => {
  test('the parts hold all time at work and waiting, each error and each end, whatever their number', () => {
    fc.assert(
      fc.property(spans, fc.integer({ min: 1, max: 200 }), (all, n) => {
        const bins = binsOf(stretchesOf(all), n)
        const { working, waiting, errors, took } = countsIn(all, bins)
        const over = (means: Float64Array) =>
          bins.reduce((sum, { from, to }, i) => sum + (means[i] as number) * (to - from), 0)
        const waited = all.flatMap(({ waits }) => waits).reduce((sum, [a, b]) => sum + b - a, 0)
        const lasted = all.reduce((sum, { began, ended }) => sum + ended - began, 0)
        assert.ok(Math.abs(over(waiting) - waited) < 1e-6 * (1 + waited))
        assert.ok(Math.abs(over(working) - (lasted - waited)) < 1e-6 * (1 + lasted))
        const failed = all.filter(({ error }) => error).length
        assert.equal(
          errors.reduce((a, b) => a + b, 0),
          failed,
        )
        assert.equal(took.flat().length, all.length - failed)
      }),
    )
  })

  test('the most at once is the number that holds some moment', () => {
    fc.assert(
      fc.property(spans, (all) => {
        const at = (moment: number) =>
          all.filter(({ began, ended }) => began <= moment && moment < ended).length
        const lasting = all.filter(({ began, ended }) => began < ended)
        const most = Math.max(0, ...lasting.map(({ began }) => at(began)))
        assert.equal(mostAtOnce(lasting), most)
      }),
    )
    // One that ends makes room for the one that begins in that moment.
    assert.equal(mostAtOnce([span(0, 10), span(10, 20)]), 1)
    assert.equal(mostAtOnce([span(0, 11), span(10, 20)]), 2)
  })

  test('a gap is cut out where it is longer than a tenth of the time in which something ran, and not where it is as long', () => {
    const around = (gap: number) => stretchesOf([span(0, 500), span(500 + gap, 1000 + gap)])
    assert.deepEqual(around(100), [{ from: 0, to: 1100, at: 0 }])
    assert.deepEqual(
      around(101).map(({ from, to }) => [from, to]),
      [
        [0, 500],
        [601, 1101],
      ],
    )
    const { notes } = chart.activity([
      { configuration: 'a', began: 0, ended: 60_000 },
      { configuration: 'b', began: 36_060_000, ended: 36_120_000 },
    ])
    assert.match(notes[0] ?? '', /over 10 h 2 min\..* Cut out, since nothing was at work: 10 h\./)
    // The hours are no part of what is drawn.
    const apart = stretchesOf([span(0, 60_000), span(36_060_000, 36_120_000)])
    assert.ok(binsOf(apart, 100).every(({ to, from }) => to - from <= 60_000))
    assert.deepEqual(
      ticksOf(apart, 2).map(({ label }) => label),
      ['0 s', '1 min', '10 h 1 min', '10 h 2 min'],
    )
  })

  test('an attempt whose times are not known is left out and counted, never drawn as one of no length', () => {
    const known = { configuration: 'a', began: 1000, ended: 2000 }
    const rows = [known, { configuration: 'a', began: 1500, ended: null }]
    const made = chart.activity([...rows, { configuration: 'a', began: null, ended: 9 }])
    assert.match(made.notes[0] ?? '', /^1 attempt, .* Left out: 2 whose times are not known\./)
    assert.match(made.text(), /^a: 1 attempt, at most 1 at once$/m)
    assert.deepEqual(made.spec['vconcat'], chart.activity([known]).spec['vconcat'])
  })

  test('a picture of 100,000 attempts holds as much as one of some hundred', () => {
    const rows = Array.from({ length: 100_000 }, (_, i) => ({
      configuration: `c${i % 3}`,
      began: i * 40,
      ended: i * 40 + 3000 + ((i * 7919) % 500),
      waits: (i % 5 ? [] : [[i * 40, i * 40 + 100]]) as [number, number][],
      error: i % 100 === 0,
    }))
    const sizeOf = (some: typeof rows) => JSON.stringify(chart.activity(some).spec).length
    assert.ok(sizeOf(rows) < 1.5 * sizeOf(rows.slice(0, 1000)))
  })

  test('an end before its beginning and waits that are none of the attempt are refused, naming the field', () => {
    const row = { configuration: 'a', began: 100, ended: 200 }
    for (const [wrong, where] of [
      [{ ended: 99 }, 'ended'],
      [{ began: '2026' }, 'began'],
      [{ waits: [[99, 120]] }, 'waits'],
      [{ waits: [[120, 201]] }, 'waits'],
      [
        {
          waits: [
            [100, 150],
            [149, 200],
          ],
        },
        'waits',
      ],
      [{ waits: [[120]] }, 'waits'],
      [{ error: 'yes' }, 'error'],
      [{ configuration: '' }, 'configuration'],
    ] as const)
      assert.throws(() => chart.activity([{ ...row, ...wrong } as never]), {
        code: 'chart_invalid',
        message: new RegExp(`rows\\[0\\]\\.${where}`),
      })
    const whole = chart.activity([
      {
        ...row,
        waits: [
          [100, 150],
          [150, 200],
        ],
      },
    ])
    assert.match(whole.notes[0] ?? '', /1 attempt waited for a limit, 100 ms in all\./)
  })

  test('times are said in their two largest units', () => {
    for (const [ms, text] of [
      [0, '0 s'],
      [999, '999 ms'],
      [2500, '2.5 s'],
      [59_400, '59 s'],
      [59_600, '1 min'],
      [90_000, '1 min 30 s'],
      [3_599_900, '1 h'],
      [50_580_000, '14 h 3 min'],
      [86_400_000, '1 d'],
      [183_600_000, '2 d 3 h'],
    ] as const)
      assert.equal(elapsed(ms), text)
  })
})
