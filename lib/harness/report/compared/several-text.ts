/** Many configurations against the first one, in one table: what would fill screens, in short. */
import { count, foreign, type Look, table, tone, wrap } from '../../../display.ts'
import { type Adjusted, type Comparisons, metricNamed } from '../../../log/index.ts'
import { differenceText, pText } from '../../../rounding.ts'
import { QUESTIONS, unexpected, verdictTone } from './comparison-text.ts'

/** Of more configurations than this, the text of a run holds each other one against it so. */
export const MOST_IN_FULL = 4

/**
 * The metric asked about for each, and of the others those that came to a verdict. Where the
 * figures seem to speak against a verdict, a note says why.
 */
export function severalText(comparisons: readonly Comparisons[], look: Look): string {
  const [first] = comparisons
  if (!first) return ''
  const width = look.width ?? 100
  const { a, primary, pairs } = first
  const asked = metricNamed(primary.metric).label
  const notes = new Map<string, string[]>()
  const rows = comparisons.flatMap(({ b, answers: both }) => {
    const cells = (target: 'these' | 'like these', one: Adjusted, name: string) => {
      const why = unexpected(one)
      const label = metricNamed(one.metric).label
      if (why) notes.set(why, [...(notes.get(why) ?? []), `${b}, ${QUESTIONS[target]}, ${label}`])
      return [
        name,
        label,
        QUESTIONS[target],
        tone(one.verdict, verdictTone(one.verdict), look),
        differenceText(one.difference, one.low, one.high),
        pText(one.pAdjusted, 1 - one.level),
      ]
    }
    const targets = ['these', 'like these'] as const
    const others = targets.flatMap((target) =>
      both[target].others
        .filter((one) => one.verdict !== 'cannot tell' || unexpected(one) !== '')
        .map((one) => ({ target, one })),
    )
    return [
      ...targets.map((target) => ({ target, one: both[target].primary })),
      ...others.sort((p, q) => p.one.metric.localeCompare(q.one.metric)),
    ].map(({ target, one }, i) => cells(target, one, i === 0 ? foreign(b, 64) : ''))
  })
  return [
    wrap(
      `${tone(`Against ${foreign(a, 64)}`, 'strong', look)}: ${asked}, paired by case, adjusted for ${count(pairs, 'pair')}; of the other metrics, those that came to a verdict.`,
      width,
    ),
    table(
      [
        { head: 'configuration', min: 13, names: true },
        { head: 'metric' },
        { head: 'question' },
        { head: 'it is' },
        { head: 'difference, points' },
        { head: 'p', align: 'right' },
      ],
      rows,
      { ...look, width: width - 2 },
    ).replace(/^/gm, '  '),
    ...[...notes].map(([why, of]) => wrap(`${of.join('; ')}: ${why}`, width, '  ')),
    wrap(
      'Each in full: touchstone compare --b NAME, run.compare(a, b), report.md or the page.',
      width,
    ),
  ].join('\n')
}
