/** Many configurations: what is claimed of any of them is adjusted for all. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import {
  compareAll,
  compareMetric,
  type Manifest,
  ranking,
  rowsOf,
  type TrialRecord,
} from '../../../lib/log/index.ts'
import { rng } from '../../../lib/stats/index.ts'

/** A run of `names`, whose trials pass with the probability that `rate` gives. */
function runOf(
  names: string[],
  cases: number,
  repeats: number,
  rate: (test: number, name: string) => number,
  seed: string,
) {
  const random = rng(seed)
  const manifest = {
    repeats,
    cases: Array.from({ length: cases }, (_, i) => ({
      id: `c${i}`,
      twin: null,
      adversarial: false,
    })),
    configurations: names.map((name) => ({ name })),
  } as unknown as Manifest
  const rows = manifest.cases.flatMap(({ id }, i) =>
    names.flatMap((configuration) =>
      Array.from({ length: repeats }, (_, trial) => {
        const goal = random() < rate(i, configuration)
        return {
          case: id,
          configuration,
          trial,
          outcome: goal ? 'pass' : 'fail',
          goal,
          attack: null,
          overclaims: random() < 0.3 ? 1 : 0,
          underclaims: random() < 0.2 ? 1 : 0,
          unneeded: 0,
          levels: { asserted: 1, observed_confirmed: 0, verified: goal ? 1 : 0 },
        } as TrialRecord
      }),
    ),
  )
  return { manifest, records: rows, rows: rowsOf(rows) }
}

const SIX = ['a', 'b', 'c', 'd', 'e', 'f']
const decided = ({ verdict }: { verdict: string }) => verdict === 'better' || verdict === 'worse'

describe('many configurations', () => {
  it('six that are the same give a false better or worse in about 5 of 100 runs, on either question', () => {
    const alarms = { these: 0, 'like these': 0 }
    const alone = { these: 0, 'like these': 0 }
    const runs = 30
    for (let run = 0; run < runs; run++) {
      const { manifest, rows } = runOf(SIX, 10, 5, (i) => (i % 4) / 4 + 0.1, `same ${run}`)
      const { rows: ranked } = ranking(manifest, rows)
      for (const target of ['these', 'like these'] as const) {
        if (ranked.some((one) => one[target].letters !== 'a')) alarms[target]++
        const pairs = SIX.flatMap((a, i) => SIX.slice(i + 1).map((b) => [a, b] as const))
        if (pairs.some(([a, b]) => decided(compareMetric(manifest, rows, a, b, { target }))))
          alone[target]++
      }
    }
    for (const target of ['these', 'like these'] as const) {
      // Five in a hundred, and three standard errors.
      assert.ok(alarms[target] <= 5, `${target}: ${alarms[target]} of ${runs}`)
      assert.ok(
        alone[target] > 3 * alarms[target],
        `${target}: ${alone[target]} of ${runs} unadjusted`,
      )
    }
  })

  it('the best is first, and what cannot be told from it shares its letter', () => {
    const rates: { [name: string]: number } = { low: 0.1, high: 0.9, higher: 0.95 }
    const { manifest, rows } = runOf(Object.keys(rates), 20, 5, (_, name) => rates[name] ?? 0, 'x')
    const { rows: ranked, comparisons } = ranking(manifest, rows)
    assert.equal(comparisons, 3)
    assert.deepEqual(
      ranked.map((one) => [one.configuration, one.these.letters, one['like these'].letters]),
      [
        ['higher', 'a', 'a'],
        ['high', 'a', 'a'],
        ['low', 'b', 'b'],
      ],
    )
    assert.deepEqual(
      ranked.map((one) => one['like these'].first),
      [true, true, false],
    )
  })

  it('a verdict among many holds at their level with every lost trial against it, or is not said', () => {
    // b fails no trial that is known; so many of each case ended in an error.
    const among = (lost: number, count: number) => {
      const names = SIX.slice(0, count)
      const { manifest, records } = runOf(
        names,
        10,
        5,
        (_, name) => (name === 'b' ? 1 : 0.6),
        'lost',
      )
      const some = records.map((row) =>
        row.configuration === 'b' && row.trial === 0 && Number(row.case.slice(1)) < lost
          ? ({ ...row, outcome: 'error', goal: null } as TrialRecord)
          : row,
      )
      return compareAll(manifest, rowsOf(some), 'a', 'b').answers.these.primary
    }
    const words = (count: number) =>
      Array.from({ length: 11 }, (_, lost) => among(lost, count).verdict).join()
    const said = (better: number) =>
      Array.from({ length: 11 }, (_, lost) => (lost < better ? 'better' : 'cannot tell')).join()
    assert.equal(words(2), said(11))
    assert.equal(words(6), said(9))
  })

  it('as one page no metric is better or worse in more than about 5 of 100 runs that are the same', () => {
    const alarms = { page: { these: 0, 'like these': 0 }, first: { these: 0, 'like these': 0 } }
    const runs = 100
    for (let run = 0; run < runs; run++) {
      const { manifest, rows } = runOf(['a', 'b'], 20, 5, (i) => (i % 4) / 4 + 0.1, `page ${run}`)
      for (const among of ['page', 'first'] as const) {
        const { answers, together, primary, others } = compareAll(manifest, rows, 'a', 'b', {
          among,
        })
        assert.equal(together, among === 'page')
        if (together) for (const one of others) assert.equal(one.among, primary.among)
        for (const target of ['these', 'like these'] as const) {
          const all = [answers[target].primary, ...answers[target].others]
          if (all.some(decided)) alarms[among][target]++
        }
      }
    }
    for (const target of ['these', 'like these'] as const) {
      // Five in a hundred, and three standard errors.
      assert.ok(alarms.page[target] <= 11, `${target}: ${alarms.page[target]} of ${runs}`)
      assert.ok(alarms.page[target] <= alarms.first[target])
    }
  })

  it('names and order of the configurations change no letter', () => {
    const rates = [0.2, 0.5, 0.9]
    const names = ['x', 'y', 'z']
    const { manifest, rows } = runOf(
      names,
      15,
      5,
      (_, name) => rates[names.indexOf(name)] ?? 0,
      'o',
    )
    const turned = { ...manifest, configurations: manifest.configurations.toReversed() }
    assert.deepEqual(ranking(turned, rows), ranking(manifest, rows))
  })

  it('a configuration without a trial has no letter and is not among the first', () => {
    const { manifest, records } = runOf(['a', 'b', 'c'], 8, 3, () => 0.5, 'none')
    const last = ranking(
      manifest,
      rowsOf(records.filter(({ configuration }) => configuration !== 'b')),
    ).rows.at(-1)
    assert.equal(last?.configuration, 'b')
    assert.deepEqual(last?.['like these'], { letters: '', first: false })
  })

  it('the interval of one among many is wider than alone, and a word for the others is refused', () => {
    const { manifest, rows } = runOf(SIX, 12, 5, () => 0.5, 'wide')
    const width = (among: 'pair' | 'first' | 'all' | 'page') => {
      const { low, high } = compareAll(manifest, rows, 'a', 'b', { among }).primary
      return high - low
    }
    assert.ok(width('pair') < width('first') && width('first') < width('all'))
    assert.ok(width('all') < width('page'))
    assert.throws(
      () => compareAll(manifest, rows, 'a', 'b', { among: 'some' as never }),
      /expected one of pair, first, all, page, got "some" \(among\)/,
    )
  })
})
