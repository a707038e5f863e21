/**
 * The comparison of two configurations of a run, as it is handed out: for both questions, with what
 * shows itself.
 */
import type { Look } from '../../../display.ts'
import type { Comparisons, Measure, MetricComparison } from '../../../log/index.ts'
import { Shown } from '../../../shown.ts'
import type { MeasureComparison } from '../../../stats/index.ts'
import { comparisonText } from './comparison-text.ts'

/** The comparison of two configurations of a run. */
export class RunComparison extends Shown {
  readonly a: string
  readonly b: string
  /** The metric that was asked for, with the target that was asked for. */
  readonly primary: Comparisons['primary']
  readonly others: Comparisons['others']
  /** Both questions: `these` (run again) and `like these` (other cases). */
  readonly answers: Comparisons['answers']
  /**
   * How often single runs, one of each, would put the two in the wrong order, or level. NaN where
   * trials that lost an attempt to an error, or are not there, could change it.
   */
  readonly singleRuns: Comparisons['singleRuns']
  /** Are b's calls better evidenced? `superiority` above 0.5 says yes. */
  readonly levels: Comparisons['levels']
  /** Comparisons in this table. */
  readonly count: number
  /** Pairs of configurations that the numbers are adjusted for. */
  readonly pairs: number
  /** Whether the metric that was asked about and the others are adjusted as one family. */
  readonly together: boolean
  readonly #measured: (measure: Measure) => MeasureComparison

  constructor(
    { a, b, primary, others, answers, singleRuns, levels, count, pairs, together }: Comparisons,
    measured: (measure: Measure) => MeasureComparison,
  ) {
    super()
    this.a = a
    this.b = b
    this.primary = primary
    this.others = others
    this.answers = answers
    this.singleRuns = singleRuns
    this.levels = levels
    this.count = count
    this.pairs = pairs
    this.together = together
    this.#measured = measured
  }

  /**
   * Does b take more than a? Paired differences of case medians, with an interval over cases.
   *
   * @param measure `duration_ms`, `steps`, `calls`, `tokens` or `cost_usd`; trials without it are
   *   left out
   * @throws TouchstoneError `argument_invalid`
   */
  measure(measure: Measure): MeasureComparison {
    return this.#measured(measure)
  }

  /** Is b better than a on the primary metric? */
  get verdict(): MetricComparison['verdict'] {
    return this.primary.verdict
  }

  text(look: Look = {}): string {
    return comparisonText(this, look)
  }

  toJSON(): Comparisons {
    const { a, b, primary, others, answers, singleRuns, levels, count, pairs, together } = this
    return { a, b, primary, others, answers, singleRuns, levels, count, pairs, together }
  }
}
