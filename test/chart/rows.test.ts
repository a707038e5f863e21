/** Bad rows are refused by code, naming row and field; names come out harmless, short and distinct. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import * as chart from '../../lib/chart/index.ts'
import { labels } from '../../lib/chart/text/names.ts'
import { textWidth } from '../../lib/display.ts'
import { TouchstoneError } from '../../lib/errors.ts'
import fc from '../property.ts'

type Loose = (rows: unknown, options?: unknown) => unknown
const { strip, heat, slope, forest, levels, ecdf, reliability, noise, latency } =
  chart as unknown as Record<string, Loose>

const run = { configuration: 'a', estimate: 0.5, low: 0.4, high: 0.6, runs: [] }

/** [why, call, message, where] */
const refused: [string, () => unknown, string, string][] = [
  ['rows that are no array', () => strip!({}), 'expected an array of rows, got object', 'rows'],
  [
    'a row that is no object',
    () => strip!([run, null]),
    'expected a row object, got null',
    'rows[1]',
  ],
  [
    'a percentage for a share',
    () => strip!([{ ...run, estimate: 62 }]),
    'expected a share in [0, 1], got 62',
    'rows[0].estimate',
  ],
  [
    'a share just above 1',
    () => strip!([{ ...run, high: 1.0000001 }]),
    'expected a share in [0, 1], got 1.0000001',
    'rows[0].high',
  ],
  [
    'a share just below 0',
    () => strip!([{ ...run, low: -1e-9 }]),
    'expected a share in [0, 1], got -1e-9',
    'rows[0].low',
  ],
  [
    'a number as text',
    () => strip!([{ ...run, estimate: '0.5' }]),
    'expected a share in [0, 1], got "0.5"',
    'rows[0].estimate',
  ],
  [
    'infinity',
    () => strip!([{ ...run, estimate: Infinity }], { unit: 'ms' }),
    'expected a finite number, got Infinity',
    'rows[0].estimate',
  ],
  [
    'low above high',
    () => strip!([{ ...run, low: 0.7 }]),
    'expected an end at or below high (0.6), got 0.7',
    'rows[0].low',
  ],
  [
    'one end of an interval',
    () => strip!([{ ...run, high: null }]),
    'expected both ends of an interval or neither, got null',
    'rows[0].high',
  ],
  [
    'a run without a value',
    () => strip!([{ ...run, runs: [{ value: 0.5 }, {}] }]),
    'expected a share in [0, 1], got undefined',
    'rows[0].runs[1].value',
  ],
  [
    'a run that is NaN',
    () => strip!([{ ...run, runs: [{ value: NaN }] }]),
    'expected a share in [0, 1], got NaN',
    'rows[0].runs[0].value',
  ],
  [
    'runs that are no array',
    () => strip!([{ ...run, runs: 3 }]),
    'expected an array, got 3',
    'rows[0].runs',
  ],
  [
    'an empty name',
    () => strip!([{ ...run, configuration: '' }]),
    'expected a text that is not empty, got ""',
    'rows[0].configuration',
  ],
  [
    'a configuration twice',
    () => strip!([run, run]),
    'expected each configuration once, got "a"',
    'rows[1].configuration',
  ],
  [
    'more passes than trials',
    () => heat!([{ case: 'a', configuration: 'b', passes: 6, trials: 5 }]),
    'expected at most 5 passes, got 6',
    'rows[0].passes',
  ],
  [
    'half a pass',
    () => heat!([{ case: 'a', configuration: 'b', passes: 0.5, trials: 5 }]),
    'expected a whole number >= 0, got 0.5',
    'rows[0].passes',
  ],
  [
    'a pair twice',
    () => heat!([1, 2].map(() => ({ case: 'a', configuration: 'b', passes: 1, trials: 5 }))),
    'expected each case and configuration once, got "b"',
    'rows[1].configuration',
  ],
  [
    'counts for shares',
    () => slope!([{ case: 'a', a: 1, b: 4 }]),
    'expected a share in [0, 1], got 4',
    'rows[0].b',
  ],
  [
    'a pair with one half',
    () => slope!([{ case: 'a', a: 1 }]),
    'expected a share in [0, 1], got undefined',
    'rows[0].b',
  ],
  [
    'percentage points for shares',
    () => forest!([{ case: 'a', difference: 40 }]),
    'expected a difference of shares in [-1, 1], got 40',
    'rows[0].difference',
  ],
  [
    'a bad overall',
    () => forest!([], { overall: { difference: 2 } }),
    'expected a difference of shares in [-1, 1], got 2',
    'overall[0].difference',
  ],
  [
    'an unknown level',
    () => levels!([{ configuration: 'a', level: 'proven', count: 1 }]),
    'expected one of none, asserted, observed_confirmed, verified, got "proven"',
    'rows[0].level',
  ],
  [
    'no level',
    () => levels!([{ configuration: 'a', count: 1 }]),
    'expected one of none, asserted, observed_confirmed, verified, got undefined',
    'rows[0].level',
  ],
  [
    'a negative count',
    () => levels!([{ configuration: 'a', level: 'none', count: -1 }]),
    'expected a whole number >= 0, got -1',
    'rows[0].count',
  ],
  [
    'zero on a logarithmic axis',
    () => ecdf!([{ configuration: 'a', values: [1, 0] }], { log: true }),
    'expected a finite number > 0, got 0',
    'rows[0].values[1]',
  ],
  [
    'NaN among values',
    () => ecdf!([{ configuration: 'a', values: [NaN] }]),
    'expected a finite number, got NaN',
    'rows[0].values[0]',
  ],
  [
    'k of zero',
    () => reliability!([{ configuration: 'a', k: 0, estimate: 1 }]),
    'expected a whole number >= 1, got 0',
    'rows[0].k',
  ],
  [
    'an unknown comparison',
    () => noise!([{ label: 'x', difference: 0, kind: 'B/B' }]),
    'expected one of A/A, A/B, got "B/B"',
    'rows[0].kind',
  ],
  [
    'fewer probes than answers',
    () => latency!([{ server: 'a', values: [1, 2], outcomes: { answered: 1 } }]),
    'expected at least 2 probes, as many as there are values, got [object Object]',
    'rows[0].outcomes',
  ],
  [
    'a hostile value in a message',
    () => levels!([{ configuration: 'a', level: '\u001b[31mx', count: 1 }]),
    'expected one of none, asserted, observed_confirmed, verified, got "\ufffd[31mx"',
    'rows[0].level',
  ],
]

describe('chart rows', () => {
  for (const [why, call, message, where] of refused) {
    test(`refused: ${why}`, () => {
      assert.throws(call, (error) => {
        assert.ok(error instanceof TouchstoneError)
        assert.deepEqual([error.code, error.message], ['chart_invalid', `${message} (${where})`])
        return true
      })
    })
  }

  test('the ends of a range are inside it', () => {
    strip!([{ ...run, estimate: 0, low: 0, high: 1, runs: [{ value: 0 }, { value: 1 }] }])
    forest!([{ case: 'a', difference: -1, low: -1, high: 1 }])
    ecdf!([{ configuration: 'a', values: [Number.MIN_VALUE] }], { log: true })
    latency!([{ server: 'a', values: [1], outcomes: { answered: 1 } }])
    heat!([{ case: 'a', configuration: 'b', passes: 5, trials: 5 }])
  })

  test('rows are copied: a later change to them changes no chart', () => {
    const values = [1, 2]
    const made = chart.ecdf([{ configuration: 'a', values }])
    values.push(3)
    assert.deepEqual(made.rows, [{ configuration: 'a', values: [1, 2] }])
  })

  test('undefined comes out of rows as null, so that JSON holds it', () => {
    const made = chart.strip([{ configuration: 'a', estimate: NaN, low: NaN, high: NaN, runs: [] }])
    assert.deepEqual(JSON.parse(JSON.stringify(made)).rows, [
      { configuration: 'a', estimate: null, low: null, high: null, runs: [] },
    ])
  })
})

describe('chart labels', () => {
  test('labels are harmless, fit, and differ where names differ', () => {
    fc.assert(
      fc.property(
        fc.uniqueArray(fc.string({ unit: 'binary', maxLength: 60 }), { maxLength: 8 }),
        fc.integer({ min: 8, max: 40 }),
        (names, max) => {
          const made = labels(names, max)
          assert.equal(new Set(made.values()).size, names.length)
          for (const label of made.values()) {
            assert.ok(textWidth(label) <= max, `${label} in ${max}`)
            assert.doesNotMatch(label, /[\p{Cc}\u202a-\u202e\u2066-\u2069\u200b]/u)
          }
        },
      ),
    )
  })

  test('a long name loses its middle, since names differ at their ends', () => {
    assert.deepEqual(
      [...labels(['groq/openai/gpt-oss-20b', 'groq/openai/gpt-oss-120b'], 15).values()],
      ['groq/op…oss-20b', 'groq/op…ss-120b'],
    )
  })

  test('names that become the same are numbered', () => {
    assert.deepEqual(
      [...labels(['a\u200b', 'a\u200c', 'a\ufffd']).values()],
      ['a\ufffd', 'a\ufffd (2)', 'a\ufffd (3)'],
    )
  })

  test('a blank name has a label', () => {
    assert.equal(labels([' ']).get(' '), '(blank)')
  })
})
