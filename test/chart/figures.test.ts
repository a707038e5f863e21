/** A number in the text of a chart is whole at every width: a part of it would read as another. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import * as chart from '../../lib/chart/index.ts'
import { say, sayDifference } from '../../lib/chart/rows/quantity.ts'
import { broken, short } from '../../lib/chart/text/names.ts'
import { textWidth } from '../../lib/display.ts'
import fc from '../property.ts'
import { corners, HOSTILE, samples } from './samples.ts'

/** Widths that are tried: narrower than any terminal, and as wide as most. */
const WIDTHS = [30, 40, 41, 43, 47, 50, 55, 60, 64, 72, 80, 100, 120]

/** Numbers as they stand in a text, without what tells only one of several equal names apart. */
const numbers = (text: string) =>
  text.replace(/ \(\d+\)/g, '').match(/[-+]?\d(?:[\d.,]*\d)?(?:e[-+]\d+)?/g) ?? []

/** The text without its dots, among which a digit is a count of marks in one column. */
const undotted = (text: string) =>
  text.replace(/┼─*\n(?:.*\n)*?Axis:/, '┼\nAxis:').replace(/(?<=^|\s|•)[2-9](?=\s|•|$)/gm, '')

/** What an axis may say: which of its ticks have a name depends on the width. */
function ticks(spec: unknown, unit: string): string[] {
  if (typeof spec !== 'object' || spec === null) return []
  return Object.entries(spec).flatMap(([name, value]) =>
    name === 'values' && Array.isArray(value) && value.every((one) => typeof one === 'number')
      ? value.flatMap((tick) => [say(tick, unit), sayDifference(tick, unit)])
      : ticks(value, unit),
  )
}

function whole(made: chart.Chart<unknown>, name: string, widths = WIDTHS, unit = 'share'): void {
  const known = new Set([
    ...numbers(made.text({ width: 200 })),
    ...ticks(made.spec, unit).flatMap(numbers),
    ...numbers(JSON.stringify(made.rows)),
  ])
  for (const width of widths) {
    const text = made.text({ width })
    for (const line of text.split('\n'))
      assert.ok(textWidth(line) <= Math.max(40, width), `${name} at ${width}: ${line}`)
    for (const number of numbers(undotted(text)))
      assert.ok(known.has(number), `${name} at ${width} says ${number}:\n${text}`)
  }
}

/** Names of any script, with numbers in them, without a space at which they could be broken. */
const name = fc.oneof(
  fc.string({ minLength: 1, maxLength: 60, unit: 'grapheme' }),
  fc.constantFrom(HOSTILE, '日本語の設定'.repeat(6), `gpt-5.4-${'mini-'.repeat(12)}20250805`),
  fc.tuple(fc.nat(), fc.nat()).map(([a, b]) => `model-${a}-${'x'.repeat(a % 30)}-v${b}.${a % 9}`),
)
const names = fc.uniqueArray(name, { minLength: 1, maxLength: 4 })
const share = fc.double({ min: 0, max: 1, noNaN: true })
const wide = fc.oneof(
  fc.double({ min: -1e9, max: 1e9, noNaN: true }),
  fc.double({ min: -1e300, max: 1e300, noNaN: true }),
)
const unit = fc.constantFrom('share', 'tokens', 'USD', 'ms', 'input tokens of model 12')
const sorted = (values: number[]) => values.toSorted((a, b) => a - b)

/** A chart of each kind over the names, with figures drawn by `next`. */
const kinds: Record<
  string,
  (list: string[], some: number[], all: number[], of: string) => chart.Chart<unknown>
> = {
  strip: (list, some, all, of) => {
    const figures = of === 'share' ? some : all
    const [low, value, high] = sorted(figures) as [number, number, number]
    return chart.strip(
      list.map((configuration, i) => ({
        configuration,
        estimate: value,
        low,
        high,
        ...(i % 2 ? { boundLow: low, boundHigh: high } : { againLow: low, againHigh: value }),
        runs: figures.map((one) => ({ value: one })),
      })),
      { unit: of, metric: `${list[0]} of 1234567` },
    )
  },
  heat: (list, some) =>
    chart.heat(
      list.map((one, i) => ({
        case: one,
        configuration: list[i % 2] ?? one,
        kind: list[i % 3] ?? one,
        passes: Math.round((some[0] ?? 0) * 1e6),
        trials: 1e6,
        errors: Math.round((some[1] ?? 0) * 1e6),
      })),
    ),
  slope: (list, some) =>
    chart.slope(
      list.map((one) => ({ case: one, a: some[0] ?? 0, b: some[1] ?? 0 })),
      { a: list[0] ?? 'A', b: list.at(-1) ?? 'B' },
    ),
  forest: (list, some, all, of) => {
    const figures = of === 'share' ? some : all
    const [low, value, high] = sorted(figures) as [number, number, number]
    return chart.forest(
      list.map((one) => ({ case: one, difference: value, low, high })),
      {
        a: list[0] ?? 'A',
        overall: { difference: value, low, high, boundLow: low, boundHigh: high },
        unit: of,
      },
    )
  },
  levels: (list, some) =>
    chart.levels(
      list.flatMap((configuration) =>
        chart.RUNGS.map((level, i) => ({
          configuration,
          level,
          count: Math.round((some[i % 3] ?? 0) * 10 ** (i * 4)),
        })),
      ),
    ),
  ecdf: (list, _some, all, of) =>
    chart.ecdf(
      list.map((configuration) => ({ configuration, values: all })),
      { unit: of === 'share' ? 'ms' : of },
    ),
  reliability: (list, some) => {
    const [low, estimate, high] = sorted(some) as [number, number, number]
    return chart.reliability(
      list.flatMap((configuration) => [{ configuration, k: 12345, estimate, low, high }]),
    )
  },
  noise: (list, some, all, of) => {
    const figures = of === 'share' ? some : all
    const [low, value, high] = sorted(figures) as [number, number, number]
    return chart.noise(
      list.map((label) => ({ label, difference: value, low, high })),
      { unit: of },
    )
  },
  latency: (list, some) =>
    chart.latency(
      list.map((server) => ({
        server,
        values: some.map((one) => 1 + one * 1e7),
        outcomes: { answered: 3, [server]: 123456 },
      })),
    ),
  own: (list, some, all) =>
    chart.own(
      [Object.fromEntries([...list, 'n', 'm'].map((one, i) => [one, i % 2 ? (all[0] ?? 0) : one]))],
      { mark: 'bar' },
      { title: `${list[0]} ${some[0]}`, notes: [`${list[0]}${all[0]}`] },
    ),
}

describe('numbers in the text of charts', () => {
  test('every sample and corner keeps them whole at every width', () => {
    for (const [one, make] of Object.entries({ ...samples, ...corners })) whole(make(), one)
  })

  for (const [kind, make] of Object.entries(kinds)) {
    test(`${kind}: whole with any names and figures`, () => {
      fc.assert(
        fc.property(
          names,
          fc.tuple(share, share, share),
          fc.tuple(wide, wide, wide),
          unit,
          fc.integer({ min: 30, max: 120 }),
          (list, some, all, of, width) =>
            whole(
              make(list, [...some], [...all], of),
              kind,
              [width],
              of === 'share' && kind === 'ecdf' ? 'ms' : of,
            ),
        ),
      )
    })
  }

  test('where the words do not fit beside the marks they stand below them', () => {
    const drawn = chart.noise([{ label: 'A/B', difference: 0.2111, low: 0.2109, high: 0.2113 }])
    const text = drawn.text({ width: 40 })
    assert.match(text, /^ +\+21\.11 pp \[\+21\.09, \+21\.13\]$/m)
  })

  test('a shortened name loses a number whole, or keeps it', () => {
    assert.equal(short('gpt-oss-20250805-instruct', 16), 'gpt-oss…nstruct')
    assert.equal(short('claude-4.5-20250929', 18), 'claude-4.5…')
    assert.equal(short('1234567890', 6), '…')
    assert.equal(short('12345', 5), '12345')
  })

  test('a word without spaces is broken between numbers, never within one', () => {
    assert.deepEqual(broken('abcdef12345', 8), ['abcdef', '12345'])
    assert.deepEqual(broken('12345678901', 8), ['…'])
    assert.deepEqual(broken('rate 12.5% of 40', 10), ['rate 12.5%', 'of 40'])
  })
})
