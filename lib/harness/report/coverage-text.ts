/** Beside the rates: over how many trials they speak, and what the trials took. */
import { type Column, foreign, type Look, table, tone, wrap } from '../../display.ts'
import type { ConfigurationSummary, Coverage, Manifest } from '../../log/index.ts'
import { coverageShown } from '../page/coverage.ts'

/** Both tables, a row for each configuration. */
export function coverageText(
  coverage: readonly Coverage[],
  summary: readonly ConfigurationSummary[],
  look: Look,
): string {
  const { heads, rows, notes } = coverageShown(coverage, summary)
  const right = (head: string): Column => ({ head, align: 'right' })
  const [time, ...numbers] = heads.took
  // A count that stands in two lines reads as two.
  const cell = (text: string) => ((look.width ?? 100) < 96 ? text.replace(/ of (?=\d)/, '/') : text)
  const reached = table(
    // A rate stands left, and counts right.
    [NAME, ...heads.reached.map((head) => (/where/.test(head) ? { head } : right(head)))],
    rows.map((row) => [foreign(row.name, 64), ...row.reached.map(({ text }) => cell(text))]),
    look,
  )
  const took = table(
    [NAME, { head: time as string }, ...numbers.map(right), { head: 'ended' }],
    rows.map((row) => [foreign(row.name, 64), ...row.took.map(cell), endingsText(row.endings)]),
    look,
  )
  const quiet = (text: string) => tone(wrap(text, look.width ?? 100), 'quiet', look)
  const [explained, ...others] = notes.map(quiet)
  return [reached, explained, '', took, ...others].join('\n')
}

const NAME: Column = { head: 'configuration', min: 13, names: true }

/** How trials ended, the most frequent first. */
export function endingsText(endings: Coverage['endings']): string {
  return endings.map(([ending, n]) => `${foreign(ending, 40)} ${n}`).join(', ')
}

/** How the trials ended, none of which was finished; and what helps where words were wanted. */
export function unfinishedText(endings: Coverage['endings']): string {
  const silent = endings.some(([ending]) => ending === 'no_answer')
  const hint = '; no_answer: the agent said nothing. Have it print an answer, or call report'
  return `no trial was finished: ${endingsText(endings)}${silent ? hint : ''}`
}

/** Says of configurations that their repeats are the same. */
export function identicalText(...names: string[]): string {
  return `${names.map((name) => foreign(name, 64)).join(', ')}: ${names.length > 1 ? 'their' : 'its'} repeats are byte for byte the same in every case, as from plain code, a cache or temperature 0. They are no repeats: each case counts once, and how its trials vary is not known. More cases tell more, and --repeat 1 tells as much as these repeats; ${WAY_OUT}.`
}

/** What makes repeats count that are the same. */
export const WAY_OUT =
  'where no answer comes out of a cache, state it before the run (cached: false, --uncached), and they count'

/** Says of which configurations it is stated that nothing is cached; null for none. */
export function uncachedText({ configurations }: Pick<Manifest, 'configurations'>): string | null {
  const names = configurations.flatMap(({ name, cached }) =>
    cached === false ? foreign(name, 64) : [],
  )
  if (names.length === 0) return null
  return `${names.join(', ')}: stated and not tested: no answer comes out of a cache (cached: false). So repeats count, also where they are byte for byte the same.`
}
