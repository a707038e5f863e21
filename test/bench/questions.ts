/**
 * Where more is asked than one rate and one comparison: several looks, many configurations, families of cases, trials that are lost
 * where it hurts, reliability, and planning. `npx tsx test/bench/questions.ts [runs per cell]` prints the tables of README.md.
 */
import {
  cmhExact,
  compare,
  compareMedians,
  compareReliability,
  holm,
  jointSignFlip,
  lookAt,
  looks,
  normalQuantile,
  type Pair,
  type Rng,
  rate,
  rng,
  signFlip,
} from '../../lib/stats/index.ts'

const trials = (p: number, n: number, random: Rng) =>
  Array.from({ length: n }, () => (random() < p ? 1 : 0))
const decided = ({ verdict }: { verdict: string }) => verdict === 'better' || verdict === 'worse'
const normal = (random: Rng) => normalQuantile(Math.min(1 - 1e-12, Math.max(1e-12, random())))
const logistic = (x: number) => 1 / (1 + Math.exp(-x))
const average = (values: readonly number[]) => values.reduce((x, y) => x + y, 0) / values.length
const share = (count: number, runs: number) => (count / runs).toFixed(3)

function table(title: string, head: string[], rows: (string | number)[][]): void {
  console.log(
    [
      `\n${title}\n`,
      `| ${head.join(' | ')} |`,
      `|${'---|'.repeat(head.length)}`,
      ...rows.map((row) => `| ${row.join(' | ')} |`),
    ].join('\n'),
  )
}

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
    const held = { first: 0, others: 0, either: 0, again: 0, both: 0 }
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

/** Each configuration moves whole families; equal on average. */
function families(runs: number): void {
  const rows = [
    [10, 5],
    [20, 4],
    [43, 2],
  ].map(([count = 0, variants = 0]) => {
    const random = rng(`families ${count}`)
    let [alarms, ignored, covered, coveredIgnored] = [0, 0, 0, 0]
    const truth = average(
      Array.from({ length: 400 }, (_, i) =>
        logistic(1 + normalQuantile((i + 0.5) / 400) * Math.SQRT2),
      ),
    )
    for (let run = 0; run < runs; run++) {
      const pairs = Array.from({ length: count }, (_, family): Pair[] => {
        const base = 1 + normal(random)
        const [a, b] = [base + normal(random), base + normal(random)]
        return Array.from({ length: variants }, () => ({
          family: `f${family}`,
          a: trials(logistic(a), 5, random),
          b: trials(logistic(b), 5, random),
        }))
      }).flat()
      const alone = pairs.map(({ a, b }) => ({ a, b }))
      if (decided(compare(pairs))) alarms++
      if (decided(compare(alone))) ignored++
      const scores = pairs.map(({ b }) => [...b])
      const holds = ({ low, high }: { low: number; high: number }) => low <= truth && truth <= high
      if (holds(rate(scores, { families: pairs.map((pair) => pair.family) }))) covered++
      if (holds(rate(scores))) coveredIgnored++
    }
    return [
      `${count} x ${variants}`,
      share(alarms, runs),
      share(ignored, runs),
      share(covered, runs),
      share(coveredIgnored, runs),
    ]
  })
  table(
    'Families of variants that each configuration moves as a whole, equal on average: false verdicts about other cases, and how often the rate is covered.',
    [
      'families x variants',
      'alarms',
      'alarms, families ignored',
      'covers',
      'covers, families ignored',
    ],
    rows,
  )
}

/** Equal ability, and half of b's failures end as errors of the machinery. */
function lost(runs: number): void {
  const rows = (['these', 'like these'] as const).map((target) => {
    const random = rng(`lost ${target}`)
    let [said, silent] = [0, 0]
    for (let run = 0; run < runs; run++) {
      const pairs = Array.from({ length: 20 }, () => {
        const p = 0.4 + 0.4 * random()
        const b = trials(p, 10, random)
        const kept = b.filter((score) => score === 1 || random() < 0.5)
        return { a: trials(p, 10, random), b: kept, lost: { a: 0, b: b.length - kept.length } }
      })
      if (decided(compare(pairs, { target }))) said++
      if (
        decided(
          compare(
            pairs.map(({ a, b }) => ({ a, b })),
            { target },
          ),
        )
      )
        silent++
    }
    return [target, share(said, runs), share(silent, runs)]
  })
  table(
    'Equal ability, half of b’s failures lost to errors, 20 cases x 10: verdicts.',
    ['target', 'with the bounds', 'without'],
    rows,
  )
}

/** pass^k and medians: coverage of the difference. */
function others(runs: number): void {
  const rows: (string | number)[][] = []
  for (const [cases, n, k] of [
    [4, 5, 3],
    [20, 5, 5],
    [50, 10, 5],
    [20, 20, 5],
  ] as const) {
    const random = rng(`pass^k ${cases} ${n}`)
    let covered = 0
    for (let run = 0; run < runs; run++) {
      const rates = Array.from({ length: cases }, () =>
        [0, 1].map(() => (random() < 0.2 ? 0.5 : 0.98)),
      )
      const pairs = rates.map(([a = 0, b = 0]) => ({
        a: trials(a, n, random),
        b: trials(b, n, random),
      }))
      const truth = average(rates.map(([a = 0, b = 0]) => b ** k - a ** k))
      const { low, high } = compareReliability(pairs, k, { target: 'these' })
      if (low <= truth && truth <= high) covered++
    }
    rows.push([`pass^${k}, run again`, `${cases} x ${n}`, share(covered, runs)])
  }
  for (const cases of [2, 5, 20, 83]) {
    const random = rng(`medians ${cases}`)
    let covered = 0
    for (let run = 0; run < runs; run++) {
      const pairs = Array.from({ length: cases }, () => {
        const center = 0.5 * normal(random)
        const side = () => Array.from({ length: 5 }, () => Math.exp(center + 0.5 * normal(random)))
        return { a: side(), b: side() }
      })
      const { low, high } = compareMedians(pairs)
      if (low <= 0 && 0 <= high) covered++
    }
    rows.push(['medians, other cases', `${cases} x 5`, share(covered, runs)])
  }
  table('Coverage of other differences.', ['difference', 'cases x repeats', 'covers'], rows)
}

const PARTS = {
  manyLooks,
  manyConfigurations,
  anywhere,
  onePageOneFamily,
  families,
  lost,
  others,
}

if (process.argv[1] === import.meta.filename) {
  const runs = Number(process.argv[2] ?? 1000)
  const wanted = process.argv.slice(3)
  console.log(`${runs} runs per cell.`)
  for (const [name, part] of Object.entries(PARTS))
    if (wanted.length === 0 || wanted.includes(name)) part(runs)
}
