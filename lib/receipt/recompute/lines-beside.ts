/** Lines of a file of evidence, asked for attempt by attempt, in about the order of the file. */
import type { TrialRecord } from '../../log/index.ts'
import { type KeyedLine, keyedLines, type RunBytes } from './run-folder.ts'
import type { Problem } from './step.ts'

/**
 * Attempts are asked for in the order of `decisions.ndjson`, which is that of the other files too,
 * so that few lines are held at a time.
 */
export class LinesBeside {
  private readonly file: string
  private readonly word: string
  private readonly lines: AsyncGenerator<{ line: number; problem: string } | KeyedLine>
  /** Lines that were read and not asked for yet, by attempt. */
  private readonly held = new Map<string, KeyedLine[]>()
  private readonly taken = new Set<string>()
  private readonly found: Problem[] = []
  private next: KeyedLine | null = null

  /** @param word what codes of problems begin with */
  constructor(bytes: Pick<RunBytes, 'dir' | 'tooLong'>, file: string, word: string) {
    this.file = file
    this.word = word
    this.lines = keyedLines(bytes, file)
  }

  /**
   * The lines of an attempt, which stand together.
   *
   * @param expected false: it has none, so that none is looked for
   */
  async take(id: string, expected = true): Promise<KeyedLine[]> {
    this.taken.add(id)
    if (!expected && !this.held.has(id)) return []
    let lines = this.held.get(id)
    while (!lines && (await this.readGroup())) lines = this.held.get(id)
    this.held.delete(id)
    return lines ?? []
  }

  /**
   * What nobody asked for, and lines that cannot be read.
   *
   * @param more lines of an attempt that has its own
   */
  async problems(
    records: ReadonlyMap<string, TrialRecord>,
    more: { code: string; detail(id: string): string },
  ): Promise<Problem[]> {
    while (await this.readGroup());
    for (const [id, [first]] of this.held) {
      const known = records.has(id) || this.taken.has(id)
      this.found.push({
        code: known ? more.code : `${this.word}_unattributed`,
        where: `${this.file}:${first?.line}`,
        detail: known ? more.detail(id) : 'no trial in the log has this key',
      })
    }
    return this.found
  }

  /** Read the lines of one attempt. False at the end. */
  private async readGroup(): Promise<boolean> {
    const first = this.next ?? (await this.readLine())
    this.next = null
    if (first === null) return false
    const group = [first]
    for (;;) {
      const line = await this.readLine()
      if (line?.id === first.id) group.push(line)
      else {
        this.next = line
        break
      }
    }
    this.held.set(first.id, [...(this.held.get(first.id) ?? []), ...group])
    return true
  }

  private async readLine(): Promise<KeyedLine | null> {
    for (;;) {
      const { value, done } = await this.lines.next()
      if (done) return null
      if (!('problem' in value)) return value
      const where = `${this.file}:${value.line}`
      this.found.push({ code: `${this.word}_unreadable`, where, detail: value.problem })
    }
  }
}
