/**
 * Activity: how many trials were at work when, by configuration; where they waited for a provider's
 * limit, when errors came, and how long trials took as the run went on.
 */
import { onlyOptions } from '../arguments.ts'
import { count } from '../display.ts'
import { activityPicture, WIDTH_PX } from './activity-picture.ts'
import { Chart } from './chart.ts'
import { frame, nothing } from './draw/spec.ts'
import { FINITE, type RowReader, readRows } from './rows/rows.ts'
import {
  type Activity,
  binsOf,
  countsIn,
  elapsed,
  mostAtOnce,
  type Span,
  type Stretch,
  stretchesOf,
} from './rows/spans.ts'
import { activityText } from './text/activity-lines.ts'
import { labels } from './text/names.ts'
import { page } from './text/plot.ts'

export type ActivityRow = {
  configuration: string
  /** When an attempt at a trial began and ended, in ms since 1970. null: not known. */
  began: number | null
  ended: number | null
  /**
   * When it waited for a provider's limit: from and to, within the attempt, in order. Left out: not
   * recorded.
   */
  waits?: [from: number, to: number][]
  /** It ended in an error. Default false. */
  error?: boolean
}

export type ActivityOptions = {
  title?: string
  /** A sentence behind the notes. */
  more?: string
}

const TAKEN =
  'Time taken, without waits: of those that ended there in no error, the middle one (dot) and all (line).'
/** Parts of the picture's width. */
const PARTS = 140

/**
 * Trials at work over wall time, a panel for each configuration. Long stretches in which nothing
 * was at work are cut out, and said.
 *
 * @param rows one per attempt. One whose times are not known is left out, and counted in the notes
 * @throws TouchstoneError `chart_invalid` naming row and field
 * @example
 * const row = { configuration: 'naive', waits: [] }
 * const c = activity([{ ...row, began: 0, ended: 900 }, { ...row, began: 500, ended: 1500 }])
 * c.notes[0] // '2 attempts, the first at 1970-01-01 00:00:00 UTC, over 1.5 s. No interval.'
 * activity([{ ...row, began: 900, ended: 0 }]) // throws chart_invalid
 */
export function activity(
  rows: readonly ActivityRow[],
  options: ActivityOptions = {},
): Chart<ActivityRow> {
  onlyOptions(options, 'title more')
  const read = readRows(rows, rowOf)
  const known = Map.groupBy(read, ({ configuration }) => configuration)
  const names = labels(known.keys())
  const spans = [...known].map(([name, some]) => ({
    name: names.get(name) ?? '',
    // A time that is not known is not 0: such an attempt has no place on the axis.
    spans: some.flatMap(({ began, ended, waits = [], error = false }): Span[] =>
      began === null || ended === null ? [] : [{ began, ended, waits, error }],
    ),
  }))
  const all = spans.flatMap((one) => one.spans)
  const stretches = stretchesOf(all)
  const title = options.title ?? 'Trials at work over time'
  const notes = [notesOf(read, all, stretches), TAKEN, ...(options.more ? [options.more] : [])]
  const drawing = (parts: number): Activity => {
    const bins = binsOf(stretches, parts)
    const panels = spans.map((one) => ({
      name: one.name,
      said: saidOf(one.spans),
      counts: countsIn(one.spans, bins),
    }))
    return { stretches, bins, panels }
  }
  const empty = read.length === 0 ? 'No attempts.' : 'No attempt whose times are known.'
  return new Chart({
    kind: 'activity',
    title,
    notes,
    rows: read,
    spec:
      all.length > 0
        ? frame(title, notes, activityPicture(drawing(PARTS)), WIDTH_PX + 90)
        : nothing(title, notes, empty),
    text: (look) =>
      page(
        title,
        notes,
        all.length > 0 ? activityText(drawing(PARTS), drawing, look) : [empty],
        look,
      ),
  })
}

function rowOf(row: RowReader): ActivityRow {
  const began = row.maybe('began', FINITE)
  const ended = row.maybe('ended', FINITE)
  if (began !== null && ended !== null && ended < began)
    row.fail('ended', `an end at or behind its beginning (${began})`)
  const made: ActivityRow = { configuration: row.text('configuration'), began, ended }
  if (row.has('waits') && began !== null && ended !== null)
    made.waits = row.pairsWithin('waits', began, ended)
  if (row.flag('error')) made.error = true
  return made
}

function notesOf(rows: ActivityRow[], spans: Span[], stretches: Stretch[]): string {
  const [begin, end] = [stretches[0]?.from, stretches.at(-1)?.to]
  const cut = stretches.slice(1).map(({ from }, i) => from - (stretches[i]?.to ?? from))
  const unknown = rows.length - spans.length
  const known = rows.filter(({ began, ended }) => began !== null && ended !== null)
  const unseen = known.filter(({ waits }) => waits === undefined).length
  const waited = known.filter(({ waits = [] }) => waits.length > 0)
  const more = cut.length > 4 ? ` and ${count(cut.length - 4, 'more gap')}` : ''
  return [
    begin === undefined || end === undefined
      ? `${count(rows.length, 'attempt')}. No interval.`
      : `${count(spans.length, 'attempt')}, the first at ${momentOf(begin)}, over ${elapsed(end - begin)}. No interval.`,
    unknown > 0 ? `Left out: ${unknown.toLocaleString('en-US')} whose times are not known.` : '',
    cut.length > 0
      ? `Cut out, since nothing was at work: ${cut.slice(0, 4).map(elapsed).join(', ')}${more}.`
      : '',
    waited.length > 0
      ? `${count(waited.length, 'attempt')} waited for a limit, ${elapsed(waitedMs(waited))} in all.`
      : '',
    unseen > 0
      ? `Of ${unseen === known.length ? 'none it is' : `${unseen.toLocaleString('en-US')} it is not`} recorded whether it waited for a limit.`
      : '',
  ]
    .filter(Boolean)
    .join(' ')
}

function waitedMs(rows: readonly Pick<ActivityRow, 'waits'>[]): number {
  let sum = 0
  for (const { waits = [] } of rows) for (const [from, to] of waits) sum += to - from
  return sum
}

function momentOf(ms: number): string {
  const date = new Date(ms)
  return Number.isNaN(date.getTime())
    ? 'a time that no calendar has'
    : `${date.toISOString().slice(0, 19).replace('T', ' ')} UTC`
}

/** A configuration in words, behind its name. */
function saidOf(spans: readonly Span[]): string {
  const errors = spans.filter(({ error }) => error).length
  return [
    count(spans.length, 'attempt'),
    `at most ${mostAtOnce(spans)} at once`,
    errors > 0 ? count(errors, 'error') : '',
  ]
    .filter(Boolean)
    .join(', ')
}
