/** `History.text`: a table for each configuration, what is said below it, what was left out. */
import { count, foreign, type Look, table, tone, wrap } from '../../display.ts'
import { METRICS } from '../../log/index.ts'
import { digitsFor, percentage, rateText } from '../../rounding.ts'
import type { History, HistoryPoint, HistorySeries } from './history.ts'

/** @param nameOf how a run's folder is named */
export function historyText(past: History, look: Look, nameOf: (dir: string) => string): string {
  const width = look.width ?? 100
  const label = METRICS[past.metric].label
  const all = past.series.flatMap(({ points }) => points)
  const lines = [
    wrap(
      `${label} of ${count(new Set(all.map(({ dir }) => dir)).size, 'run')} over time, with ${percentage(past.level, digitsFor(NaN, past.level))}% intervals for the cases at hand.${all.some(({ expected }) => expected !== null) ? ` ${expectedText(1 - past.level)}` : ''}`,
      width,
    ),
  ]
  for (const { configuration, points, noise, firstWorse } of past.series) {
    lines.push('', tone(foreign(configuration, 64), 'strong', look))
    const known = points.length > 1
    lines.push(
      table(
        [
          { head: 'when' },
          { head: 'run' },
          { head: 'trials', align: 'right' },
          { head: label },
          ...(known ? [{ head: 'expected' }, { head: 'is' }] : []),
        ],
        points.map((point, i) => [
          dayOf(point.at),
          foreign(nameOf(point.dir), 400) +
            (points[i - 1]?.digest === point.digest || i === 0 ? '' : ' *'),
          `${point.trials}${point.absent > 0 ? `, ${point.absent} not there` : ''}`,
          rateText(point.estimate, point.again.low, point.again.high),
          ...(known
            ? [
                point.expected ? expectedIn(point.expected, point.cases) : '-',
                tone(
                  point.is,
                  point.is === 'worse' ? 'bad' : point.is === 'better' ? 'good' : 'quiet',
                  look,
                ),
              ]
            : []),
        ]),
        { ...look, width: width - 2 },
      ).replace(/^/gm, '  '),
    )
    if (points.some((point, i) => i > 0 && points[i - 1]?.digest !== point.digest))
      lines.push('  * the configuration changed')
    for (const [why, is] of Object.entries(unknownIn(points)))
      if (is) lines.push(wrap(`  unknown: ${why}.`, width, '  '))
    const told =
      points.length === 1 ? 'One run: none before it to hold it against.' : noiseText(noise)
    lines.push(wrap(`  ${told}`, width, '  '))
    const worse = points.find(({ run }) => run === firstWorse)
    if (worse)
      lines.push(
        tone(`  First worse beyond the noise: ${foreign(nameOf(worse.dir), 400)}.`, 'bad', look),
      )
  }
  for (const { dir, reason } of past.skipped)
    lines.push(
      '',
      tone(`Left out: ${foreign(dir, 120)} (${foreign(reason, 200)}).`, 'unsure', look),
    )
  return lines.join('\n')
}

function expectedText(outside: number): string {
  return `Expected: where the run lands if nothing has changed, from the runs before it and their noise, over the cases that they share. Until enough runs show the noise from day to day, days are taken to differ by about 6 points. Of 100 histories without a change, at most about ${percentage(outside, 0)} have a run outside of it.`
}

/** Over how many cases, where the run has more. */
function expectedIn(
  { estimate, low, high, cases }: NonNullable<HistoryPoint['expected']>,
  all: number,
): string {
  return rateText(estimate, low, high) + (cases < all ? ` over ${count(cases, 'case')}` : '')
}

function unknownIn(points: readonly HistoryPoint[]): { [why: string]: boolean } {
  const unknown = points.filter(({ is }) => is === 'unknown')
  return {
    'no run before it has a case of it': unknown.some(({ expected }) => expected === null),
    'trials that were lost or are not there decide': unknown.some(
      ({ expected }) => expected !== null,
    ),
  }
}

function noiseText({ ratio, df }: HistorySeries['noise']): string {
  if (ratio === null)
    return 'No configuration was run twice unchanged, so that the noise from day to day is not known.'
  return ratio <= 1
    ? `Unchanged runs (${df + 1} or more) differ no more than their trials explain.`
    : `Unchanged runs differ ${Number(Math.sqrt(ratio).toFixed(1))} times as much as their trials explain (${count(df, 'degree')} of freedom): that much is noise from day to day.`
}

/** `2026-01-02 10:30`. */
export function dayOf(at: string): string {
  return at.slice(0, 16).replace('T', ' ')
}
