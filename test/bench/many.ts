/**
 * Many verdicts at once: several looks, many configurations, a whole page of them. `npx tsx test/bench/many.ts [runs per cell]`
 * prints the tables of README.md.
 */
import {
  cmhExact,
  compare,
  holm,
  jointSignFlip,
  lookAt,
  looks,
  rng,
  signFlip,
} from '../../lib/stats/index.ts'
import { average, decided, runAll, runParts, share, table, trials } from './questions.ts'

/** Two configurations that are the same, looked at again and again. */
function manyLooks(runs: number): void {
  const rows = [
    [8, 3, 20],
    [20, 5, 40],
    [20, 1, 12],
  ].flatMap(([cases = 0, first = 0, most = 0]) =>
    (['these', 'like these'] as const).map((target) => {
      const at = lookAt(first, most)
      const levels = looks(at.map((repeats) => repeats / most))
      const random = rng(`looks ${cases} ${first} ${target}`)
      let [held, unheld, covers] = [0, 0, 0]
      for (let run = 0; run < runs; run++) {
        const rates = Array.from({ length: cases }, () => 0.2 + 0.6 * random())
        const pairs = rates.map(() => ({ a: [] as number[], b: [] as number[] }))
        let [found, naive] = [false, false]
        for (const [look, repeats] of at.entries()) {
          for (const [i, pair] of pairs.entries())
            for (const side of ['a', 'b'] as const)
              pair[side].push(...trials(rates[i] as number, repeats - pair[side].length, random))
          const one = compare(pairs, { target, level: levels[look] as number })
          naive ||= decided(compare(pairs, { target }))
          found ||= decided(one)
          if (found || look === at.length - 1) {
            if (one.low <= 0 && 0 <= one.high) covers++
            break
          }
        }
        if (found) held++
        if (naive) unheld++
      }
      return [
        `${cases} cases, ${at.join(', ')} repeats`,
        target,
        share(held, runs),
        share(unheld, runs),
        share(covers, runs),
      ]
    }),
  )
  table(
    'Two that are the same, looked at until a verdict: false verdicts over all looks, the same up to there where each look is at 95 %, and how often the interval at the stop holds the truth.',
    ['size', 'target', 'error held', 'not held', 'covers'],
    rows,
  )
}

/** Configurations that are the same: any pair told apart, on either question. */
function manyConfigurations(runs: number): void {
  const rows = [3, 6, 11].map((count) => {
    const random = rng(`configurations ${count}`)
    let [joint, alone, exact] = [0, 0, 0]
    for (let run = 0; run < runs; run++) {
      const sides = Array.from({ length: 20 }, () => {
        const p = 0.2 + 0.7 * random()
        return Array.from({ length: count }, () => trials(p, 5, random))
      })
      const pairs = Array.from({ length: count }, (_, i) =>
        Array.from({ length: count - i - 1 }, (_, j) => [i, i + 1 + j] as const),
      ).flat()
      const columns = pairs.map(([i, j]) =>
        sides.map((side) => average(side[j] ?? []) - average(side[i] ?? [])),
      )
      if (jointSignFlip(columns, { draws: 2000 }).some((p) => p <= 0.05)) joint++
      if (columns.some((column) => signFlip(column, { unit: 0.2 }).midP <= 0.05)) alone++
      const cmh = pairs.map(
        ([i, j]) =>
          compare(
            sides.map((side) => ({ a: side[i] ?? [], b: side[j] ?? [] })),
            { target: 'these' },
          ).pDecisive,
      )
      if (holm(cmh).some((p) => p <= 0.05)) exact++
    }
    return [count, share(joint, runs), share(exact, runs), share(alone, runs)]
  })
  table(
    'Configurations that are the same, 20 cases x 5: any two told apart.',
    ['configurations', 'other cases', 'run again', 'other cases, unadjusted'],
    rows,
  )
}

/** Metrics that no configuration differs in: goal, and four others, each with rates of its own. */
const OTHERS = 4

/**
 * A whole page about configurations that are the same: the primary metric of each against the first, the ranking of all, and
 * the other metrics. How often a word is false, by question; and what one family for all of it would cost the first line.
 */
function anywhere(runs: number): void {
  const rows = [2, 3, 6, 11].map((count) => {
    const random = rng(`anywhere ${count}`)
    const held = { first: 0, others: 0, either: 0, again: 0, both: 0, page: 0, pageBoth: 0 }
    const pairs = Array.from({ length: count - 1 }, (_, j) => [0, 1 + j] as const)
    const all = Array.from({ length: count }, (_, i) =>
      Array.from({ length: count - i - 1 }, (_, j) => [i, i + 1 + j] as const),
    ).flat()
    for (let run = 0; run < runs; run++) {
      /** By metric, case and configuration. */
      const scores = Array.from({ length: 1 + OTHERS }, (_, metric) =>
        Array.from({ length: 20 }, () => {
          const p = metric === 0 ? 0.2 + 0.7 * random() : 0.6 * random()
          return Array.from({ length: count }, () => trials(p, 5, random))
        }),
      )
      const column = (metric: number, [i, j]: readonly [number, number]) =>
        (scores[metric] ?? []).map((side) => average(side[j] ?? []) - average(side[i] ?? []))
      const exact = (metric: number, [i, j]: readonly [number, number]) =>
        compareHere((scores[metric] ?? []).map((side) => [side[i] ?? [], side[j] ?? []]))
      const draws = { draws: 2000 }
      const any = (ps: number[]) => ps.some((p) => p <= 0.05)
      const rest = Array.from({ length: OTHERS }, (_, i) => 1 + i)
      const first =
        any(
          jointSignFlip(
            pairs.map((pair) => column(0, pair)),
            draws,
          ),
        ) ||
        (count > 2 &&
          any(
            jointSignFlip(
              all.map((pair) => column(0, pair)),
              draws,
            ),
          ))
      const others = any(
        jointSignFlip(
          rest.flatMap((metric) => pairs.map((pair) => column(metric, pair))),
          draws,
        ),
      )
      const again =
        any(holm(pairs.map((pair) => exact(0, pair)))) ||
        (count > 2 && any(holm(all.map((pair) => exact(0, pair))))) ||
        any(holm(rest.flatMap((metric) => pairs.map((pair) => exact(metric, pair)))))
      const every = [0, ...rest].flatMap((metric) => all.map((pair) => [metric, pair] as const))
      const page = any(
        jointSignFlip(
          every.map(([metric, pair]) => column(metric, pair)),
          draws,
        ),
      )
      const pageAgain = any(holm(every.map(([metric, pair]) => exact(metric, pair))))
      if (page) held.page++
      if (page || pageAgain) held.pageBoth++
      if (first) held.first++
      if (others) held.others++
      if (first || others) held.either++
      if (again) held.again++
      if (first || others || again) held.both++
    }
    return [count, ...Object.values(held).map((n) => share(n, runs))]
  })
  table(
    'A page about configurations that are the same, 20 cases x 5, five metrics: how often any word on it is false.',
    [
      'configurations',
      'other cases: first line and ranking',
      'other cases: other metrics',
      'other cases: anywhere',
      'run again: anywhere',
      'either question',
      'one family: other cases',
      'one family: either question',
    ],
    rows,
  )
}

/** The exact test within cases of one pair. */
const compareHere = (pairs: (readonly [number[], number[]])[]) =>
  cmhExact(
    pairs.map(([a, b]) => {
      const sum = (side: number[]) => side.reduce((x, y) => x + y, 0)
      return { a: sum(a), aTrials: a.length, b: sum(b), bTrials: b.length }
    }),
  )

/** What the first line finds: alone, in one family with four other metrics, and as the first gate of a sequence. */
function onePageOneFamily(runs: number): void {
  const rows = [0.1, 0.15, 0.2].map((fall) => {
    const random = rng(`one family ${fall}`)
    let [alone, together, attack, gated] = [0, 0, 0, 0]
    for (let run = 0; run < runs; run++) {
      const columns = Array.from({ length: 1 + OTHERS }, (_, metric) =>
        Array.from({ length: 20 }, () => {
          const p = 0.9 - 0.2 * random()
          // The primary metric falls a little, the second one (an attack) much more.
          const q = metric === 0 ? p - fall : metric === 1 ? p - 0.4 : p
          return average(trials(q, 5, random)) - average(trials(p, 5, random))
        }),
      )
      const [first = 1] = jointSignFlip(columns.slice(0, 1), { draws: 2000 })
      const one = jointSignFlip(columns, { draws: 2000 })
      const [second = 1] = jointSignFlip(columns.slice(1), { draws: 2000 })
      if (first <= 0.05) alone++
      if ((one[0] ?? 1) <= 0.05) together++
      if (second <= 0.05) attack++
      if (first <= 0.05 && second <= 0.05) gated++
    }
    return [fall, ...[alone, together, attack, gated].map((n) => share(n, runs))]
  })
  table(
    'What other rules would cost, 2 configurations, 20 cases x 5: the primary metric falls by so much, an attack succeeds in 40 points more.',
    [
      'fall',
      'primary found, as it is',
      'primary found, one family of five',
      'attack found, as it is',
      'attack found, only behind the primary (gatekeeping)',
    ],
    rows,
  )
}

const PARTS = { manyLooks, manyConfigurations, anywhere, onePageOneFamily }

/** All tables. */
export const full = (runs = 500): void => runAll(PARTS, runs)

if (process.argv[1] === import.meta.filename) runParts(PARTS)
