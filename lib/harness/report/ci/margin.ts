/** Whether a difference from an earlier run is within the margin, and what would decide it. */
import {
  type Adjusted,
  type ComparedMetric,
  type MetricComparison,
  metricNamed,
} from '../../../log/index.ts'
import { differenceText, digitsApart, digitsFor, pointsText as signed } from '../../../rounding.ts'
import type { Target } from '../../../stats/index.ts'
import { SAME_REPEATS } from './gate-ends.ts'

/** A difference in points, as its metric is to be read. */
export function pointsText(metric: ComparedMetric, figures: string): string {
  const more = metricNamed(metric).better === 'higher' ? '' : ', where more is worse'
  return `${figures} points${more}`
}

/**
 * The change towards the better, and its lower end; `worst` and `hard`: if every trial without a
 * score of its own had gone against the run. Unadjusted: all metrics must hold, and no chance is
 * given to the best of them (intersection-union).
 */
function gain({ metric, difference, bounds, alone: { low, high } }: Alone): {
  now: number
  least: number
  worst: number
  hard: number
} {
  const { worst, best } = bounds ?? { worst: difference, best: difference }
  return metricNamed(metric).better === 'higher'
    ? { now: difference, least: low, worst, hard: bounds?.low ?? low }
    : { now: -difference, least: -high, worst: -best, hard: -(bounds?.high ?? high) }
}

type Alone = MetricComparison & Pick<Adjusted, 'alone'>

/** Trials that are in no rate, or whose score may be any other. */
export const OPEN_TRIALS =
  'trials that did not run, ended in an error, lost an attempt to one, or could not be judged'

/** `open`: trials that may have come out badly are part of it. */
export type Loss = { text: string; open: boolean }

/**
 * A loss of more than the margin that is not ruled out, of one metric; null where it is, and where
 * no trial speaks of a loss: one that did worse, or that may have.
 */
export function lossOf(one: MetricComparison, margin: number): Loss | null {
  const { metric, difference, low, high, bounds } = one
  const { now, least, worst, hard } = gain({ ...one, alone: { low, high } })
  const speaks = now < 0 || worst < 0
  if (!speaks || (!(least < -margin) && !(hard < -margin))) return null
  const { label, better } = metricNamed(metric)
  const lines = [-margin, margin]
  const figures = Number.isFinite(now)
    ? pointsText(metric, differenceText(difference, low, high, ...lines))
    : 'not known of both'
  if (bounds === null || worst === now) return { text: `${label} ${figures}`, open: false }
  const [end, beyond] = (better === 'higher' ? [worst, hard] : [-worst, -hard]).map((share) =>
    signed(share, digitsApart(digitsFor(high - low, share), share, lines)),
  )
  return { text: `${label} ${figures}, ${end} at worst, ${beyond} with chance`, open: true }
}

export function withinMargin(one: Adjusted, margin: number): 'worse' | 'as hoped' | 'undecided' {
  const { least, hard } = gain(one)
  if (Math.min(least, hard) >= -margin) return 'as hoped'
  return one.verdict === 'worse' ? 'worse' : 'undecided'
}

/**
 * Why a loss of more than the margin is not ruled out, and how much more would decide it if the
 * difference stayed.
 *
 * @param repeats of this run and of the baseline; null: only more cases tell more
 */
export function openBecause(
  one: Adjusted,
  margin: number,
  { target, repeats }: { target: Target; repeats: readonly [now: number, then: number] | null },
): string {
  const { now, least } = gain(one)
  if (!Number.isFinite(least)) return one.reasons.at(-1) ?? 'nothing to compare'
  const shown = differenceText(one.difference, one.alone.low, one.alone.high, -margin, margin)
  const figures = pointsText(one.metric, shown)
  if (least >= -margin) return `${figures}; ${OPEN_TRIALS} leave it open`
  // From here the loss itself is either ruled out or shown, whichever is nearer.
  const room = Math.max(now + margin, -now)
  const factor = ((now - least) / room) ** 2
  const because = repeats === null && target === 'these' ? `; ${SAME_REPEATS}` : ''
  return `${figures}; about ${needed(one.cases, repeats, factor)} would decide it, if the difference stays${because}`
}

/** What shrinks the square of an interval by a factor: it goes with 1 / now + 1 / then. */
function needed(
  cases: number,
  repeats: readonly [now: number, then: number] | null,
  factor: number,
): string {
  const atLeast = (from: number, size: number) => Math.max(from + 1, Math.ceil(size - 1e-9))
  if (repeats === null)
    return `${atLeast(cases, cases * factor)} cases in both runs instead of ${cases}`
  const [now, then] = repeats
  const both = atLeast(Math.min(now, then), (2 * factor) / (1 / now + 1 / then))
  if (now === then) return `${both} repeats in both runs instead of ${now}`
  const alone = 1 / ((1 / now + 1 / then) / factor - 1 / then)
  if (then >= both)
    return `${atLeast(now, alone)} repeats instead of ${now} (the baseline has ${then})`
  return `${both} repeats in both runs instead of ${now} in this one and ${then} in the baseline`
}
