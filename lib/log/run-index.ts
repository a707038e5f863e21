/**
 * The trial log as its lines are found again: the columns of the trials that count, and the line of
 * every other attempt.
 */
import { Columns } from './columns.ts'
import type { ReadRecord } from './folder.ts'
import type { Manifest } from './records.ts'

export class RunIndex {
  readonly columns: Columns
  /** Records that were taken. */
  attempts = 0
  /** The number of the last line. */
  lines = 0
  /** Lines of attempts that do not count, and of trials that are not planned. */
  private readonly others = new Map<string, number>()

  constructor(manifest: Pick<Manifest, 'cases' | 'configurations' | 'repeats'>) {
    this.columns = new Columns(manifest)
  }

  /** Take the record of a line. Lines come in their order. */
  add({ record, line, place }: ReadRecord): void {
    const { columns, others } = this
    const { key, attempt } = record
    const before = { attempt: columns.attempt(key), line: columns.line(key) }
    if (columns.add(record, line)) columns.setPlace(key, 'trials', place)
    if (columns.line(key) !== line) others.set(idOf(record), line)
    else if (before.line > 0 && before.attempt !== attempt)
      others.set(idOf({ key, attempt: before.attempt }), before.line)
    this.attempts++
    this.lines = line
  }

  /** The line of an attempt, the last one where it has several. */
  lineOf(of: { key: string; attempt: number }): number | undefined {
    const { columns, others } = this
    return (columns.attempt(of.key) === of.attempt && columns.line(of.key)) || others.get(idOf(of))
  }

  /** Attempts that do not count, and trials that are not planned, as `key#attempt`. */
  *rest(): Generator<[id: string, line: number]> {
    yield* this.others
  }
}

export function idOf({ key, attempt }: { key: string; attempt: number }): string {
  return `${key}#${attempt}`
}
