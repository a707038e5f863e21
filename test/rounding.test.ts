/** What people read of a number lies on the same side of every line as the number. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { forest, reliability, strip } from '../lib/chart/index.ts'
import { differenceText, rateText } from '../lib/rounding.ts'
import fc from './property.ts'

/** The numbers that a text gives for a value and its ends, in points. `<0.1` lies between 0 and 0.1. */
function read(text: string): number[] {
  const [, value = '', ends = ''] = /([-+<>\d.]+)(?:%| pp)? \[([^\]]+)\]/.exec(text) ?? []
  return [value, ...ends.split(', ')].map((word) => {
    const [, sign, mark, digits] = /^([-+]?)([<>]?)([\d.]+)$/.exec(word) ?? []
    assert.ok(digits, `no number in ${text}`)
    const size = Number(digits)
    const inside = mark === '<' ? size / 2 : mark === '>' ? (size + 100) / 2 : size
    return sign === '-' ? -inside : inside
  })
}

function sameSides(text: string, values: readonly number[], lines: readonly number[]): void {
  for (const [i, shown] of read(text).entries())
    for (const line of lines)
      assert.equal(
        Math.sign(shown - Number((line * 100).toFixed(6))) + 0,
        Math.sign((values[i] as number) - line) + 0,
        `${text} of ${values.join(', ')}, held against ${line}`,
      )
}

/** Shares near the lines as often as anywhere: 0.8 give or take down to a hundred-thousandth. */
const share = fc.oneof(
  fc.constantFrom(0, 0.5, 0.8, 1),
  fc.double({ min: 0, max: 1, noNaN: true }),
  fc
    .tuple(fc.constantFrom(0, 0.1, 0.8, 1), fc.constantFrom(-1, 1), fc.integer({ min: 1, max: 5 }))
    .map(([line, sign, digits]) => line + sign * 10 ** -digits)
    .filter((one) => one >= 0 && one <= 1),
)
const rate = fc.tuple(share, share, share).map((all) => all.toSorted((p, q) => p - q))
const difference = fc
  .tuple(share, share, share, fc.constantFrom(-1, 1), fc.constantFrom(-1, 1))
  .map(([p, q, r, s, t]) => [p * s, q, r * t].toSorted((x, y) => x - y))

describe('rounding', () => {
  test('turns no rate and no end of one over 0, 100 or the line of a gate', () => {
    fc.assert(
      fc.property(rate, ([low = 0, estimate = 0, high = 0]) =>
        sameSides(rateText(estimate, low, high, 0.8), [estimate, low, high], [0, 0.8, 1]),
      ),
      { numRuns: 1000 },
    )
  })

  test('turns no difference and no end of one over 0, 100 or a margin', () => {
    fc.assert(
      fc.property(difference, ([low = 0, estimate = 0, high = 0]) =>
        sameSides(
          differenceText(estimate, low, high, -0.1, 0.1),
          [estimate, low, high],
          [-1, -0.1, 0, 0.1, 1],
        ),
      ),
      { numRuns: 1000 },
    )
  })

  test('turns nothing over 0 or 100 in a chart either, in words or in the picture', () => {
    fc.assert(
      fc.property(rate, difference, ([low = 0, estimate = 0, high = 0], [l = 0, d = 0, h = 0]) => {
        const runs = [{ value: estimate }]
        const interval = { low, high }
        const drawn = strip([{ configuration: 'a', estimate, runs, ...interval }])
        const passes = reliability([{ configuration: 'a', k: 1, estimate, ...interval }])
        const rates = [estimate, low, high]
        sameSides(line(drawn.text({ width: 100 })), rates, [0, 1])
        sameSides(line(JSON.stringify(drawn.spec)), rates, [0, 1])
        sameSides(line(passes.text({ width: 100 })), rates, [0, 1])
        const paired = forest([{ case: 'a', difference: d, low: l, high: h }])
        sameSides(line(paired.text({ width: 100 })), [d, l, h], [-1, 0, 1])
        sameSides(line(JSON.stringify(paired.spec)), [d, l, h], [-1, 0, 1])
      }),
    )
  })

  test('writes an end that is next to 0 or 100 as the interval goes as <1 or >99', () => {
    // What a run has that is looked at while it goes on: an early look has a level near 1.
    assert.equal(rateText(0.875, 0.1004726, 0.9999999), '88% [10, >99]')
    assert.equal(rateText(0, 0, 0.99999999), '0% [0, >99]')
    assert.equal(rateText(0.5, 1e-7, 1 - 1e-7), '50% [<1, >99]')
    assert.equal(differenceText(0.13, -1e-7, 0.27), '+13 [-<1, +27]')
    // A thousandth of the interval, from both sides.
    assert.equal(rateText(0.5, 0, 0.9989), '50.0% [0, 99.9]')
    assert.equal(rateText(0.5, 0, 0.9991), '50% [0, >99]')
    assert.equal(rateText(0.5, 0.0011, 1), '50.0% [0.1, 100]')
    assert.equal(rateText(0.5, 0.0009, 1), '50% [<1, 100]')
    // Without an interval, and in a narrow one, nothing is next to it.
    assert.equal(rateText(0.9999, NaN, NaN), '99.99% [unknown]')
    assert.equal(rateText(0.9995, 0.9975, 0.99999), '99.950% [99.750, 99.999]')
    assert.equal(
      strip([{ configuration: 'a', estimate: 0.875, low: 0.1, high: 1 - 1e-7, runs: [] }])
        .text()
        .includes('88% [10, >99]'),
      true,
    )
  })

  test('gives an interval of more than half of all rates one decimal or none', () => {
    fc.assert(
      fc.property(rate, ([low = 0, estimate = 0, high = 0]) => {
        const text = rateText(estimate, low, high)
        if (high - low > 0.5) assert.ok(!/\.\d\d/.test(text), text)
      }),
      { numRuns: 1000 },
    )
  })

  test('keeps few digits where few are enough', () => {
    assert.equal(rateText(0.9, 0.8, 0.95, 0.8), '90% [80, 95]')
    assert.equal(rateText(0.9, 0.796, 0.95, 0.8), '90% [79.6, 95]')
    // A difference of shares that lies on its margin but for the last bit of a sum.
    assert.equal(differenceText(0.3 - 0.2, -0.34, 0.5, -0.1, 0.1), '+10 [-34, +50]')
    assert.equal(differenceText(0.13, 0.0003, 0.27), '+13.00 [+0.03, +27.00]')
    const chart = forest([{ case: 'a', difference: 0.13, low: 0.0003, high: 0.27 }])
    assert.match(chart.text(), /\+13\.00 pp \[\+0\.03, \+27\.00\]/)
  })
})

/** The part of a chart that says a value with its interval. */
function line(text: string): string {
  const [found = ''] = /[-+<>\d.]+(?:%| pp) \[[^\]]+\]/.exec(text) ?? []
  assert.ok(found, text)
  return found
}
