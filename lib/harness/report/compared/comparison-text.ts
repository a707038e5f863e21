/** Comparisons of a run's configurations in words and tables, for people. */
import {
  count,
  foreign,
  type Look,
  type Tone,
  table,
  textWidth,
  tone,
  wrap,
} from '../../../display.ts'
import { type Adjusted, type Comparisons, metricNamed, type Ranking } from '../../../log/index.ts'
import { differenceText, digitsFor, percentage, pText, rateText } from '../../../rounding.ts'
import { sizeText } from '../../../stats/pairs/judgement.ts'

/** The two questions, as tables name them. */
export const QUESTIONS = { these: 'run again', 'like these': 'other cases' } as const

/** Longer names do not stand at the head of a column. */
const MOST = 24

export function verdictTone(verdict: string): Tone {
  return verdict === 'better' ? 'good' : verdict === 'worse' ? 'bad' : 'unsure'
}

export function comparisonText(comparison: Comparisons, look: Look = {}): string {
  const { primary, others, answers, a, b } = comparison
  const width = look.width ?? 100
  const { these, 'like these': other } = answers
  const is = textWidth(b) > MOST ? 'verdict' : `${b} is`
  const lines = [
    wrap(
      `${b} against ${a}: ${metricNamed(primary.metric).label}, paired over ${sizeText(other.primary)}`,
      width,
    ).replace(`${b} against ${a}`, (names) => tone(names, 'strong', look)),
    table(
      [
        { head: 'question' },
        { head: is },
        { head: textWidth(a) > MOST ? 'difference, points' : `${b} - ${a}, points` },
        { head: 'p', align: 'right' },
        { head: 'what varies' },
      ],
      [
        [...answerCells(QUESTIONS.these, these.primary, look), 'the trials'],
        [...answerCells(QUESTIONS['like these'], other.primary, look), 'the cases too'],
      ],
      { ...look, width: width - 2 },
    ).replace(/^/gm, '  '),
  ]
  const note = (text: string) => lines.push(wrap(text, width, '  '))
  for (const text of primaryNotes(comparison)) note(text)
  if (others.length > 0) {
    const together = others[0]?.among ?? 1
    lines.push(
      '',
      wrap(
        `${count(comparison.count, 'comparison')} per question. ${belowText(comparison, together)} ${twoFamilies(comparison)}`,
        width,
      ),
    )
    const rows = others.map(({ metric }) => {
      const [again, elsewhere] = [these, other].map((answer) =>
        answer.others.find((one) => one.metric === metric),
      )
      const cells = (one: (typeof others)[number] | undefined) =>
        one
          ? [
              differenceText(one.difference, one.low, one.high),
              tone(one.verdict, verdictTone(one.verdict), look),
              pText(one.pAdjusted),
            ]
          : ['-', '-', '-']
      return [metricNamed(metric).label, ...cells(again), ...cells(elsewhere)]
    })
    lines.push(
      table(
        [
          { head: 'metric' },
          { head: 'run again' },
          { head: is },
          { head: 'p', align: 'right' },
          { head: 'other cases' },
          { head: is },
          { head: 'p', align: 'right' },
        ],
        rows,
        { ...look, width: width - 2 },
      ).replace(/^/gm, '  '),
    )
    for (const text of otherNotes(comparison)) note(text)
    if (comparison.levels.cases > 0) note(levelsText(comparison))
  }
  return lines.join('\n')
}

/** What stands under the answers about the metric that was asked about. */
function primaryNotes(comparison: Comparisons): string[] {
  const { answers, pairs } = comparison
  const reasons = [
    [QUESTIONS.these, answers.these.primary],
    [QUESTIONS['like these'], answers['like these'].primary],
  ] as const
  return [
    pairs > 1
      ? `adjusted for ${count(pairs, 'pair')} of configurations: the intervals hold together, and so do the verdicts`
      : '',
    apart(comparison),
    singleRunsText(comparison),
    ...reasons.flatMap(([question, one]) => {
      const why = unexpected(one)
      const said = one.reasons.slice(1)
      return [...(why === '' || said.includes(why) ? [] : [why]), ...said].map(
        (text) => `${question}: ${text}`,
      )
    }),
  ].filter(Boolean)
}

/** Why other metrics came to verdicts that their own figures seem to speak against. */
function otherNotes({ answers }: Comparisons): string[] {
  return (['these', 'like these'] as const).flatMap((target) => {
    const told = answers[target].others.map((one) => ({ one, why: unexpected(one) }))
    const groups = Map.groupBy(
      told.filter(({ why }) => why !== ''),
      ({ why }) => why,
    )
    return [...groups].map(([why, some]) => {
      const labels = some.map(({ one }) => metricNamed(one.metric).label)
      return `${QUESTIONS[target]}, ${labels.join(' and ')}: ${why}`
    })
  })
}

const HOLDS_ALL_THE_SAME =
  'the interval holds 0 all the same: it allows for kinds of cases that these do not show, the test assumes that there are none'

/**
 * The reason for a verdict where a reader of its figures expects another one: `cannot tell` beside
 * a p below 0.05 or an interval without 0, or a direction beside an interval that holds 0. Else
 * empty.
 */
export function unexpected({ verdict, pAdjusted, level, low, high, reasons }: Adjusted): string {
  const holds = low <= 0 && high >= 0
  if (verdict === 'better' || verdict === 'worse') return holds ? HOLDS_ALL_THE_SAME : ''
  if (verdict !== 'cannot tell') return ''
  const seen = low > 0 || high < 0
  if (!(pAdjusted < 0.05) && !seen) return ''
  const withheld = reasons.find((text) => text.includes('is withheld'))
  if (withheld) return withheld
  if (!(pAdjusted < 0.05))
    return 'the interval leaves out 0, but the test does not rule out "no difference"'
  if (pAdjusted > 1 - level + 1e-12) return `p is held to ${pText(1 - level)} here, over all looks`
  return holds
    ? 'the interval holds 0: a difference of either sign fits these results'
    : (reasons.at(-1) ?? '')
}

/** What stands under a comparison, a sentence each. */
export function comparisonNotes(comparison: Comparisons): string[] {
  const { levels, others } = comparison
  return [
    ...primaryNotes(comparison),
    others.length > 0
      ? `${count(comparison.count, 'comparison')} per question${others.length > 1 ? '; all but the first are adjusted for each other' : ''}. ${twoFamilies(comparison)}`
      : '',
    ...otherNotes(comparison),
    levels.cases > 0 ? levelsText(comparison) : '',
  ].filter(Boolean)
}

/** Configurations from best to worst, with the letters of those that cannot be told apart. */
export function rankingText({ rows, metric, comparisons }: Ranking, look: Look): string {
  const width = look.width ?? 100
  const cells = rows.map((one) => [
    foreign(one.configuration, 64),
    Number.isFinite(one.estimate)
      ? `${percentage(one.estimate, digitsFor(NaN, one.estimate))}%`
      : '-',
    one.these.letters,
    one['like these'].letters,
  ])
  const level = (target: 'these' | 'like these') => {
    const names = rows.filter((one) => one[target].first).map((one) => one.configuration)
    const [best, ...others] = names
    return others.length === 0
      ? `${QUESTIONS[target]}: ${best} is first alone.`
      : `${QUESTIONS[target]}: ${best} is first among those that it cannot be told from: ${others.join(', ')}.`
  }
  return [
    wrap(
      `${metricNamed(metric).label}, best first. Two that share a letter cannot be told apart (${count(comparisons, 'pair')}, adjusted for each other).`,
      width,
    ),
    table(
      [
        { head: 'configuration', min: 13, names: true },
        { head: metricNamed(metric).label, align: 'right' },
        { head: QUESTIONS.these },
        { head: QUESTIONS['like these'] },
      ],
      cells,
      { ...look, width: width - 2 },
    ).replace(/^/gm, '  '),
    ...(['these', 'like these'] as const).map((target) => wrap(`  ${level(target)}`, width, '  ')),
  ].join('\n')
}

/**
 * A question with its answer: the verdict, the difference with its interval, and the p value that
 * decides.
 */
function answerCells(question: string, one: Adjusted, look: Look): string[] {
  return [
    question,
    tone(one.verdict, verdictTone(one.verdict), look),
    differenceText(one.difference, one.low, one.high),
    pText(one.pAdjusted, 1 - one.level),
  ]
}

/** What holds of the differences in the table below, of how many they are and are adjusted for. */
function belowText({ count: all, family = [] }: Comparisons, together: number): string {
  const below = all - 1
  if (family.length > 1)
    return 'Those below are in points. Of each family the intervals hold together, and so do the verdicts.'
  if (together === 1) return 'The one below is in points.'
  const apart =
    below === 1
      ? 'The one below, in points, is adjusted'
      : `The ${below} below, in points, are adjusted for each other`
  const among = together > below ? ` for the other configurations, ${together} in all` : ''
  return `${apart}${below > 1 && among ? ' and' : ''}${among}: their intervals hold together, and so do their verdicts.`
}

/**
 * What is held, and what is not. The metric asked about was named in advance and keeps its level;
 * one family for all would halve what it finds, and to ask about the others only behind it would
 * hide an attack (simulated in test/bench/README.md).
 */
function twoFamilies({ primary, together, others, family = [] }: Comparisons): string {
  const them =
    others.length === 1 ? 'the other one at as much' : 'these are held at as much together'
  const each = `${Number(((1 - primary.level) * 100).toPrecision(2))} in 100`
  if (together)
    return `The metric asked about and these are one family, which for each question says something false in at most ${each}.`
  if (family.length > 1) {
    const chosen = family.map((metric) => metricNamed(metric).label).join(', ')
    return `Those that were chosen (${chosen}) are one family and the others another, each held at ${each}.`
  }
  return `The metric asked about is held at ${each} on its own, and ${them}. Where nothing differs at all, up to three times as many pages say something false somewhere.`
}

/** What it means that the two questions have different answers; empty where they have the same. */
function apart({ answers }: Comparisons): string {
  const [these, other] = [answers.these.primary, answers['like these'].primary]
  if (these.verdict === other.verdict || these.cases === 0) return ''
  const here = `on these ${count(these.cases, 'case')}`
  if (other.verdict === 'cannot tell')
    return `${these.verdict} ${here}; ${sizeText(other)} say too little about others.`
  if (these.verdict === 'cannot tell')
    return `${here} the trials leave it open; over the cases they lean one way.`
  return `${these.verdict} ${here}, ${other.verdict} for others like these.`
}

/** What two single runs, one of each, would have said. */
function singleRunsText({ singleRuns, primary, a, b }: Comparisons): string {
  const { wrong, level } = singleRuns
  if (primary.bounds)
    return `one run of each: how often ${a} and ${b} come out in the wrong order is not known: trials that did not run, ended in an error or lost an attempt to one could change it.`
  if (!Number.isFinite(wrong)) return ''
  // Rarer than one in 10,000 is as good as never, and must not widen its neighbour.
  const said = (share: number) => `${percentage(share, Math.min(2, digitsFor(NaN, share)))}%`
  return `one run of each: ${a} and ${b} come out in the wrong order in ${said(wrong)} of pairs of single runs, and level in ${said(level)}.`
}

/**
 * Evidence levels as an ordinal outcome: how often a call of b stands above one of a in the same
 * case, a tie counting half.
 */
function levelsText({ a, b, levels }: Comparisons): string {
  const { superiority, low, high, pAdjusted, cases, level } = levels
  const verdict = !(pAdjusted <= 1 - level) ? 'cannot tell' : superiority > 0.5 ? 'better' : 'worse'
  const all =
    verdict !== 'cannot tell' && low <= 0.5 && high >= 0.5
      ? `; ${HOLDS_ALL_THE_SAME.replace('0', 'half')}`
      : ''
  return `evidence: a call of ${b} stands higher on the ladder than one of ${a} in ${rateText(superiority, low, high)} of pairs (half is no difference): ${verdict}, p ${pText(pAdjusted, 1 - level)}, ${count(cases, 'case')}${all}`
}
