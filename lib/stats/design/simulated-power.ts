/**
 * How often a comparison finds a true difference: simulated with the rule of its verdict, and the
 * smallest difference that it finds often enough.
 */
import { normalCdf, normalQuantile } from '../distribution.ts'
import { cmhExact, signFlip } from '../exact.ts'
import { rng as seeded } from '../random.ts'
import { lowestDifference } from '../same-cases.ts'
import { type Chance, chanceOf, scoresBy } from './simulate.ts'
import { type PairWorld, pairsIn } from './worlds.ts'

export type Asked = { level: number; runs: number }

/** Beyond so many cases the normal distribution stands in for the simulated test. */
const SIMULATED_CASES = 300
/** Steps of the differences in the simulated test: those of more repeats are rounded to these. */
const MOST_STEPS = 64
/** Beyond so many moved cases the sign-flip test's p comes from the normal distribution. */
const COUNTED_CASES = 40

/** How often b is found worse in runs of a world, and by how much it is. */
export function foundIn(world: PairWorld, { level, runs }: Asked): { fall: number; found: Chance } {
  const { cases, target, repeats } = world
  if (cases > SIMULATED_CASES) return byMoments(world, { level, runs })
  const { difference, draw } = pairsIn(world)
  const random = seeded(`found ${world.way}`)
  const [a, b] = [new Uint32Array(cases), new Uint32Array(cases)]
  const finds =
    target === 'these' ? findsHere(repeats[0], level) : findsElsewhere(repeats[0], level)
  let hits = 0
  for (let run = 0; run < runs; run++) {
    draw(random, a, b)
    if (finds(a, b)) hits++
  }
  return { fall: -difference, found: chanceOf(hits, runs) }
}

/** The rule for other cases: the sign-flip test's mid-p. */
function findsElsewhere(repeats: number, level: number) {
  const alpha = 1 - level + 1e-12
  const most = Math.min(repeats, MOST_STEPS)
  return (a: Uint32Array, b: Uint32Array): boolean => {
    const steps: number[] = []
    let [sum, squares] = [0, 0]
    for (let i = 0; i < a.length; i++) {
      const passes = (b[i] as number) - (a[i] as number)
      const step = repeats > MOST_STEPS ? Math.round((passes * most) / repeats) : passes
      if (step === 0) continue
      steps.push(step)
      sum += step
      squares += step * step
    }
    if (sum >= 0) return false
    if (steps.length > COUNTED_CASES) return 2 * normalCdf(sum / Math.sqrt(squares)) <= alpha
    return signFlip(steps, { unit: 1 }).midP <= alpha
  }
}

/** The rule for these cases: the exact test within cases, and the interval leaves out 0. */
function findsHere(repeats: number, level: number) {
  const alpha = 1 - level + 1e-12
  const critical = normalQuantile((1 + level) / 2)
  const scored = scoresBy(repeats)
  return (a: Uint32Array, b: Uint32Array): boolean => {
    let [seen, spread] = [0, 0]
    for (let i = 0; i < a.length; i++) {
      const passes = (a[i] as number) + (b[i] as number)
      seen += (b[i] as number) - passes / 2
      spread += (passes * (2 * repeats - passes)) / (4 * (2 * repeats - 1))
    }
    // Far from the line the normal statistic says the same as the exact test.
    const z = spread > 0 ? -seen / Math.sqrt(spread) : 0
    if (z < critical - 0.3) return false
    const strata = () =>
      Array.from(a, (passes, i) => ({
        a: passes,
        aTrials: repeats,
        b: b[i] as number,
        bTrials: repeats,
      }))
    if (z < critical + 1.5 && cmhExact(strata()) > alpha) return false
    return lowestDifference(Array.from(b, scored), Array.from(a, scored), level) > 0
  }
}

/**
 * The same by the mean and the spread of the differences: with many cases they are all there is.
 */
function byMoments(world: PairWorld, { level, runs }: Asked): { fall: number; found: Chance } {
  const sample = { ...world, cases: Math.min(world.cases, 4000) }
  const { difference, draw } = pairsIn(sample)
  const [a, b] = [new Uint32Array(sample.cases), new Uint32Array(sample.cases)]
  const random = seeded(`moments ${world.way}`)
  let [squares, within] = [0, 0]
  const goes = 3
  for (let go = 0; go < goes; go++) {
    draw(random, a, b)
    for (let i = 0; i < sample.cases; i++) {
      const [p, q] = [(a[i] as number) / world.repeats[0], (b[i] as number) / world.repeats[1]]
      squares += (q - p) ** 2 / (goes * sample.cases)
      within += (p * (1 - p) + q * (1 - q)) / (goes * sample.cases)
    }
  }
  const fall = -difference
  const here = world.target === 'these'
  const spread = here
    ? within / Math.max(1, world.repeats[0] - 1)
    : Math.max(1e-12, squares - fall ** 2)
  // The test flips signs: its spread is that about 0.
  const [own, tested] = [Math.sqrt(spread), Math.sqrt(here ? spread : squares)]
  const critical = normalQuantile((1 + level) / 2)
  const share = normalCdf((fall * Math.sqrt(world.cases) - critical * tested) / own)
  return { fall, found: chanceOf(Math.round(share * runs), runs) }
}

/**
 * The smallest fall that is found with the wanted power when it comes in one way: how often it is
 * found, and NaN where not even the loss of everything is.
 */
export function smallestFound(
  world: Omit<PairWorld, 'loss'>,
  { level, power, runs, search }: Asked & { power: number; search: number },
): { fall: number; found: Chance } {
  const at = (loss: number, runs: number) => foundIn({ ...world, loss }, { level, runs })
  const all = at(1, search)
  if (all.found.share < power) return { fall: Number.NaN, found: all.found }
  let [low, high] = [0, 1]
  for (let i = 0; i < 14 && high - low > 0.01 * high; i++) {
    const middle = (low + high) / 2
    if (at(middle, search).found.share >= power) high = middle
    else low = middle
  }
  return at(high, runs)
}
