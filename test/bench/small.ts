/**
 * Which test should decide about other cases where there are few: size and power of the sign-flip test, its mid-p, Student's t, and
 * t with a floor under its variance. `npx tsx test/bench/small.ts [runs per cell]` prints the table of README.md.
 *
 * A sign-flip test of the studentised mean is none of its own: flipping signs leaves the sum of squares as it is, so that the
 * studentised mean rises with the plain one, floor or not, and orders all patterns alike.
 */
import {
  betaQuantile,
  compare,
  normalQuantile,
  type Rng,
  rng,
  tCdf,
  withinError,
} from '../../lib/stats/index.ts'

const TESTS = ['sign-flip', 'mid-p', 't', 't, floored'] as const
type P = { [test in (typeof TESTS)[number]]: number }

const cut = (p: number) => Math.min(1, Math.max(0, p))
const trials = (p: number, random: Rng) => Array.from({ length: 5 }, () => (random() < p ? 1 : 0))
const points = Array.from({ length: 256 }, (_, i) => (i + 0.5) / 256)
const normals = points.map(normalQuantile)
const pick = (items: readonly number[], random: Rng) =>
  items[Math.floor(random() * items.length)] as number

type World = { name: string; fall: number; draw: (random: Rng) => [a: number, b: number] }

function worlds(mean: number, interaction: number): World[] {
  const rates = points.map((u) => betaQuantile(u, mean * 1.5, (1 - mean) * 1.5))
  const both = (p: number, random: Rng): [number, number] => [
    cut(p + interaction * pick(normals, random)),
    cut(p + interaction * pick(normals, random)),
  ]
  const name = `mean ${mean}, interaction ${interaction}`
  return [
    { name, fall: 0, draw: (random) => both(pick(rates, random), random) },
    ...[0.2, 0.35].flatMap((fall): World[] => [
      {
        name: `${name}, every case a little`,
        fall,
        draw: (random) => {
          const [a, b] = both(pick(rates, random), random)
          return [a, b * (1 - fall / mean)]
        },
      },
      {
        name: `${name}, a few wholly`,
        fall,
        draw: (random) => {
          const [a, b] = both(pick(rates, random), random)
          return [a, random() < fall / mean ? 0 : b]
        },
      },
    ]),
  ]
}

function tests(pairs: { a: number[]; b: number[] }[]): P {
  const { p, standardError, difference, df } = compare(pairs)
  const error = Math.max(standardError, withinError(pairs, true).error)
  return {
    'sign-flip': p.signFlip,
    'mid-p': p.midP,
    // Without any spread the t test is undefined: it then finds nothing.
    t: Number.isNaN(p.t) ? 1 : p.t,
    't, floored': 2 * tCdf(-Math.abs(difference) / error, df),
  }
}

/** Shares of runs in which each test finds a difference. */
function cell({ name, fall, draw }: World, cases: number, runs: number): P {
  const random = rng(`small ${name} ${fall} ${cases}`)
  const found: P = { 'sign-flip': 0, 'mid-p': 0, t: 0, 't, floored': 0 }
  for (let run = 0; run < runs; run++) {
    const pairs = Array.from({ length: cases }, () => {
      const [a, b] = draw(random)
      return { a: trials(a, random), b: trials(b, random) }
    })
    const p = tests(pairs)
    for (const test of TESTS) if (p[test] <= 0.05 + 1e-12) found[test] += 1 / runs
  }
  return found
}

/** The tables of README.md. */
export function full(runs = 600): void {
  const lines = [
    `| cases x 5 | | ${TESTS.join(' | ')} |`,
    `|---|---|${TESTS.map(() => '---|').join('')}`,
  ]
  const all = [0.5, 0.8, 0.95].flatMap((mean) => [0, 0.25].flatMap((x) => worlds(mean, x)))
  for (const cases of [6, 8, 10, 12]) {
    const cells = all.map((world) => ({ world, found: cell(world, cases, runs) }))
    const row = (what: string, of: (test: (typeof TESTS)[number]) => number) =>
      lines.push(`| ${cases} | ${what} | ${TESTS.map((test) => of(test).toFixed(3)).join(' | ')} |`)
    const level = cells.filter(({ world }) => world.fall === 0)
    const worst = (test: (typeof TESTS)[number]) =>
      Math.max(...level.map(({ found }) => found[test]))
    row('largest size', worst)
    for (const fall of [0.2, 0.35])
      for (const way of ['every case a little', 'a few wholly']) {
        const those = cells.filter(({ world }) => world.fall === fall && world.name.endsWith(way))
        row(
          `power, ${fall * 100} points, ${way}`,
          (test) => those.reduce((sum, { found }) => sum + found[test], 0) / those.length,
        )
      }
  }
  console.log(lines.join('\n'))
}

if (process.argv[1] === import.meta.filename) full(Number(process.argv[2] ?? 600))
