/**
 * How often the intervals hold and the verdicts keep quiet, over many worlds whose truth is known; the worst cells come first.
 *
 * `npx tsx test/bench/coverage.ts [runs per cell] [runs per worst cell]` prints the tables of README.md;
 * test/stats/calibration.test.ts runs a few cells. The worst of hundreds of cells are worst by chance too, so that they are
 * simulated again, more often and from other seeds, and it is the second share that counts. A world says how cases are drawn: the true rates of both configurations, and what they are on average.
 */
import {
  betaQuantile,
  clopperPearson,
  compare,
  normalQuantile,
  type Rng,
  rate,
  rng,
} from '../../lib/stats/index.ts'

export type World = {
  name: string
  /** The true rates of a case under a and b. */
  draw: (random: Rng) => [a: number, b: number]
  /** The means over all cases there could be. */
  truth: [a: number, b: number]
  /** Without a true difference, and each case as likely to differ by d as by -d: what the verdict's test assumes. */
  symmetric: boolean
}

const POINTS = 512
const cut = (p: number) => Math.min(1, Math.max(0, p))
const points = Array.from({ length: POINTS }, (_, i) => (i + 0.5) / POINTS)
const normals = points.map(normalQuantile)
const pick = (items: readonly number[], random: Rng) =>
  items[Math.floor(random() * items.length)] as number
const average = (values: readonly number[]) =>
  values.reduce((sum, value) => sum + value, 0) / values.length

/** Rates from a beta distribution, each configuration moved on its own by a normal deviation. */
function smooth(mean: number, icc: number, interaction: number): World {
  const weight = 1 / icc - 1
  const rates = points.map((u) => betaQuantile(u, mean * weight, (1 - mean) * weight))
  const moved = (random: Rng, p: number) => cut(p + interaction * pick(normals, random))
  const truth = average(rates.map((p) => average(normals.map((z) => cut(p + interaction * z)))))
  return {
    name: `smooth, mean ${mean}, icc ${icc}${interaction ? `, interaction ${interaction}` : ''}`,
    draw: (random) => {
      const p = pick(rates, random)
      return [moved(random, p), moved(random, p)]
    },
    truth: [truth, truth],
    symmetric: true,
  }
}

/** b fails a share of the cases wholly; in all others both have the same rate. */
function broken(share: number, good: number): World {
  return {
    name: `b breaks ${share * 100} % of cases, ${good} elsewhere`,
    draw: (random) => [good, random() < share ? 0 : good],
    truth: [good, (1 - share) * good],
    symmetric: false,
  }
}

/** Equal on average, and not symmetric: b breaks a share of the cases and is perfect elsewhere. */
function skewed(share: number): World {
  return {
    name: `equal means: b breaks ${share * 100} % of cases, perfect elsewhere`,
    draw: (random) => [1 - share, random() < share ? 0 : 1],
    truth: [1 - share, 1 - share],
    symmetric: false,
  }
}

export const WORLDS: World[] = [
  smooth(0.5, 0.4, 0),
  smooth(0.5, 0.05, 0.25),
  smooth(0.9, 0.4, 0),
  smooth(0.9, 0.4, 0.25),
  smooth(0.95, 0.7, 0),
  smooth(0.98, 0.4, 0),
  broken(0.02, 0.995),
  broken(0.05, 0.995),
  broken(0.05, 1),
  broken(0.2, 0.9),
  skewed(0.02),
  skewed(0.1),
]

export type Cell = {
  world: string
  cases: number
  repeats: number
  /** Shares of runs in which the interval holds the truth: of b's rate and of the difference, for both questions. */
  covered: { rate: number; difference: number; rateAgain: number; differenceAgain: number }
  /** Mean widths. */
  width: { rate: number; difference: number; rateAgain: number; differenceAgain: number }
  /** The rate's mean width if each case were a single trial: a binomial interval of as many trials as there are cases. */
  once: number
  /** Shares of runs with the verdict better or worse about other cases, and with "same within 5 points". */
  alarms: number
  same: number
  /** The world's verdicts are false alarms, and its test's assumption holds. */
  symmetric: boolean
  level: boolean
}

/** Simulate one cell. */
export function coverage(
  world: World,
  cases: number,
  repeats: number,
  runs: number,
  seed = 'coverage',
): Cell {
  const random = rng(`${seed} ${world.name} ${cases} ${repeats}`)
  const trials = (p: number) => Array.from({ length: repeats }, () => (random() < p ? 1 : 0))
  const none = () => ({ rate: 0, difference: 0, rateAgain: 0, differenceAgain: 0 })
  const [covered, width] = [none(), none()]
  let [alarms, same, once] = [0, 0, 0]
  for (let run = 0; run < runs; run++) {
    const drawn = Array.from({ length: cases }, () => world.draw(random))
    const pairs = drawn.map(([a, b]) => ({ a: trials(a), b: trials(b) }))
    const scores = pairs.map(({ b }) => b)
    const meanB = average(drawn.map(([, b]) => b))
    const meanA = average(drawn.map(([a]) => a))
    const other = compare(pairs, { equivalence: 0.05 })
    const found = {
      rate: [rate(scores), world.truth[1]],
      difference: [other, world.truth[1] - world.truth[0]],
      rateAgain: [rate(scores, { target: 'these' }), meanB],
      differenceAgain: [compare(pairs, { target: 'these' }), meanB - meanA],
    } as const
    for (const name of Object.keys(found) as (keyof typeof found)[]) {
      const [{ low, high }, truth] = found[name]
      if (low <= truth + 1e-12 && truth <= high + 1e-12) covered[name] += 1 / runs
      width[name] += (high - low) / runs
    }
    const sum = average(scores.map(average)) * cases
    const low = sum <= 0 ? 0 : betaQuantile(0.025, sum, cases - sum + 1)
    const high = sum >= cases ? 1 : betaQuantile(0.975, sum + 1, cases - sum)
    once += (high - low) / runs
    if (other.verdict === 'better' || other.verdict === 'worse') alarms += 1 / runs
    if (other.verdict === 'same within d') same += 1 / runs
  }
  return {
    world: world.name,
    cases,
    repeats,
    covered,
    width,
    once,
    alarms,
    same,
    symmetric: world.symmetric,
    level: Math.abs(world.truth[1] - world.truth[0]) < 1e-9,
  }
}

const three = (value: number) => value.toFixed(3)

/** How one figure of a cell is called, and whether much of it is bad. */
type Figure = { of: (cell: Cell) => number; high: boolean }

/** The worst cells by one figure, with what came when they were simulated again. */
function worstOf(cells: Cell[], { of, high }: Figure, count: number, again: (cell: Cell) => Cell) {
  return cells
    .toSorted((x, y) => (high ? of(y) - of(x) : of(x) - of(y)))
    .slice(0, count)
    .map((cell) => ({ cell, first: of(cell), second: of(again(cell)) }))
    .toSorted((x, y) => (high ? y.second - x.second : x.second - y.second))
}

/** The tables of README.md. */
export function full(runs = 400, more = 2000): void {
  const cells = WORLDS.flatMap((world) =>
    [3, 8, 20, 50, 100].flatMap((cases) =>
      [1, 2, 3, 5, 11, 20].map((repeats) => coverage(world, cases, repeats, runs)),
    ),
  )
  const known = new Map<string, Cell>()
  const again = ({ world: name, cases, repeats }: Cell): Cell => {
    const key = `${name} ${cases} ${repeats}`
    const world = WORLDS.find((one) => one.name === name) as World
    const found = known.get(key) ?? coverage(world, cases, repeats, more, 'again')
    known.set(key, found)
    return found
  }
  console.log(`${cells.length} cells of ${runs} runs; the worst again, ${more} runs each.`)
  const ends = (share: number) => {
    const { low, high } = clopperPearson(Math.round(share * more), more)
    return `${three(share)} [${three(low)}, ${three(high)}]`
  }
  const where = ({ world, cases, repeats }: Cell) => [world, `${cases} x ${repeats}`]
  const table = (
    title: string,
    says: string,
    found: ReturnType<typeof worstOf>,
    widths: (cell: Cell) => string[],
    heads: string[],
  ) =>
    console.log(
      [
        `\n**${title}**\n`,
        `| world | cases x repeats | ${says}, first | again, with its 95 % interval |${heads.map((head) => ` ${head} |`).join('')}`,
        `|${'---|'.repeat(4 + heads.length)}`,
        ...found.map(
          ({ cell, first, second }) =>
            `| ${[...where(cell), three(first), ends(second), ...widths(cell)].join(' | ')} |`,
        ),
      ].join('\n'),
    )
  for (const [name, says] of [
    ['rate', 'the rate, other cases'],
    ['difference', 'the difference, other cases'],
    ['rateAgain', 'the rate, run again'],
    ['differenceAgain', 'the difference, run again'],
  ] as const) {
    const of = ({ covered }: Cell) => covered[name]
    const found = worstOf(cells, { of, high: false }, 8, again)
    const low = cells.filter((cell) => of(cell) < 0.93).length
    const still = found.filter(({ second }) => second < 0.93).length
    const wider = cells.filter((cell) => cell.width.rate > cell.once + 1e-9).length
    const once = name === 'rate' ? `; wider than each case once in ${wider}` : ''
    table(
      `Coverage of ${says}: ${low} of ${cells.length} cells below .930 at first, ${still} of the 8 worst when simulated again; mean ${three(average(cells.map(of)))}${once}. The worst:`,
      'covered',
      found,
      (cell) => [three(cell.width[name]), ...(name === 'rate' ? [three(cell.once)] : [])],
      ['mean width', ...(name === 'rate' ? ['each case once'] : [])],
    )
  }
  const level = cells.filter((cell) => cell.level)
  for (const symmetric of [true, false])
    table(
      symmetric
        ? 'False alarms of the verdict about other cases, where its assumption holds. The worst:'
        : 'And where it does not: equal means, b breaks a few cases and is a little better in all others. The worst:',
      'better or worse',
      worstOf(
        level.filter((cell) => cell.symmetric === symmetric),
        { of: ({ alarms }) => alarms, high: true },
        symmetric ? 8 : 4,
        again,
      ),
      () => [],
      [],
    )
  table(
    'False "same within 5 points", where the true difference is 5 points or more. The worst:',
    'same',
    worstOf(
      cells.filter(({ world }) =>
        WORLDS.some((one) => one.name === world && Math.abs(one.truth[1] - one.truth[0]) >= 0.049),
      ),
      { of: ({ same }) => same, high: true },
      4,
      again,
    ),
    () => [],
    [],
  )
}

if (process.argv[1] === import.meta.filename)
  full(Number(process.argv[2] ?? 400), Number(process.argv[3] ?? 2000))
