/** Beside a rate that a judge model read: who the judge is, and how often it was right. */
import { count, foreign } from '../../display.ts'
import type { ConfigurationSummary, Manifest } from '../../log/index.ts'
import { digitsFor, percentage, rateText } from '../../rounding.ts'

type Counted = { hits: number; of: number }

/** A sentence for each configuration of whom a judge read prose. Empty where none did. */
export function judgeLines(
  { judge }: Pick<Manifest, 'judge'>,
  summary: readonly ConfigurationSummary[],
): string[] {
  if (judge === undefined) return []
  const share = ({ hits, of }: Counted) =>
    of === 0 ? 'unknown' : `${percentage(hits / of, digitsFor(NaN, hits / of))}% (${hits} of ${of})`
  const lines = summary.flatMap(({ configuration, rates }) => {
    const { judge: read, trials, estimate } = rates.overclaim
    if (!read) return []
    const { counted } = read
    const was = rateText(counted.estimate, counted.again.low, counted.again.high)
    const corrected = Number.isFinite(estimate)
      ? 'the rate above is without its errors, and holds what is not known of them'
      : 'it tells nothing, so that there is no rate'
    return [
      `${foreign(configuration, 64)}: whether it overclaimed was read by a judge in ${read.trials} of ${count(trials, 'trial')}, which counted ${was} run again; ${corrected}.`,
    ]
  })
  if (lines.length === 0) return []
  const known = judge.answers - judge.unread
  return [
    `The judge ${foreign(judge.model, 80)}, on ${known} of ${count(judge.answers, 'labelled answer')} that it read: finds ${share(judge.recall)} of claims, ${share(judge.precision)} of what it finds is one; says of ${share(judge.sensitivity)} of answers that overclaim that they do, of ${share(judge.specificity)} of the others that they do not. Comparisons of overclaiming are of what it read, its errors included.`,
    ...lines,
  ]
}
