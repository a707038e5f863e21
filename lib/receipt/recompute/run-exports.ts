/**
 * The audit exports of a run's folder, handed out attempt by attempt.
 *
 * Runs keep them as lines of `audit.ndjson`. Runs of earlier versions have a file for each.
 */
import { join } from 'node:path'
import { readBytes } from '../../files.ts'
import { decode } from '../../json.ts'
import { FILES, type TrialRecord } from '../../log/index.ts'
import {
  attempt,
  attemptId,
  type FileEntry,
  type KeyedLine,
  keyedLines,
  type RunBytes,
} from './run-folder.ts'
import type { Problem } from './step.ts'

/** Where runs of earlier versions keep their exports. */
export const AUDIT_FOLDER = 'audit'

/** An export of an attempt. `provider` is null where only its text can say it. */
export type FoundExport = {
  provider: string | null
  /** The server whose log it is, where its line says so. */
  server?: string
  text: string
  where: string
}

/**
 * Exports from `audit.ndjson`. Attempts are asked for in the order of `decisions.ndjson`, which is
 * that of the exports too, so that few lines are held at a time.
 */
export class ExportLines {
  private readonly lines: AsyncGenerator<{ line: number; problem: string } | KeyedLine>
  /** Lines that were read and not asked for yet, by attempt. */
  private readonly held = new Map<string, KeyedLine[]>()
  private readonly taken = new Set<string>()
  private readonly found: Problem[] = []
  private next: KeyedLine | null = null

  constructor(bytes: RunBytes) {
    this.lines = keyedLines(bytes, FILES.audit)
  }

  async take(record: TrialRecord): Promise<FoundExport[]> {
    const id = attemptId(record.key, record.attempt)
    this.taken.add(id)
    if (record.digests.audit === null && !this.held.has(id)) return []
    let lines = this.held.get(id)
    while (!lines && (await this.readGroup())) lines = this.held.get(id)
    this.held.delete(id)
    return (lines ?? []).map(exportOf)
  }

  /** What nobody asked for, and lines that cannot be read. */
  async problems(records: ReadonlyMap<string, TrialRecord>): Promise<Problem[]> {
    while (await this.readGroup());
    for (const [id, [first]] of this.held) {
      const known = records.has(id) || this.taken.has(id)
      this.found.push({
        code: known ? 'audit_added' : 'audit_unattributed',
        where: `${FILES.audit}:${first?.line}`,
        detail: known
          ? `trial ${id} has its exports already, or none`
          : 'no trial in the log has this key',
      })
    }
    return this.found
  }

  /** Read the lines of one attempt, which stand together. False at the end. */
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
      const where = `${FILES.audit}:${value.line}`
      this.found.push({ code: 'audit_unreadable', where, detail: value.problem })
    }
  }
}

export function exportOf({ value, line }: KeyedLine): FoundExport {
  const { provider, server, text } = value
  return {
    provider: typeof provider === 'string' ? provider : null,
    ...(typeof server === 'string' && { server }),
    text: typeof text === 'string' ? text : '',
    where: `${FILES.audit}:${line}`,
  }
}

/**
 * Exports that are files of their own: `audit/CASE/CONFIGURATION/TRIAL[.attempt-N][.SERVER].json`.
 */
export class ExportFiles {
  private readonly dir: string
  private readonly servers: (caseId: string) => readonly string[] | null
  /** The files of each attempt, by the attempt's file name without its ending. */
  private readonly byStem: Map<string, FileEntry[]>

  constructor(bytes: RunBytes, servers: (caseId: string) => readonly string[] | null) {
    this.dir = bytes.dir
    this.servers = servers
    const mine = bytes.files.filter(({ path }) => path.startsWith(`${AUDIT_FOLDER}/`))
    this.byStem = Map.groupBy(mine, ({ path }) => stemOf(path))
  }

  /** The first server's, then the others' in the order of the case's servers. */
  async take(record: TrialRecord): Promise<FoundExport[]> {
    const numbered = record.attempt === 0 ? '' : `.attempt-${record.attempt}`
    const { case: id, configuration, trial } = record
    const stem = `${AUDIT_FOLDER}/${id}/${configuration}/${trial}${numbered}`
    const names = this.servers(id)
    const place = (path: string) => {
      if (path === `${stem}.json`) return -1
      const at = names?.indexOf(path.slice(stem.length + 1, -'.json'.length)) ?? -1
      return at < 0 ? Number.MAX_SAFE_INTEGER : at
    }
    const files = (this.byStem.get(stem) ?? []).toSorted((a, b) => place(a.path) - place(b.path))
    this.byStem.delete(stem)
    return files.map(({ path }) => {
      const { value } = attempt(() => decode(readBytes(join(this.dir, path)), path))
      return { provider: null, text: value ?? '', where: path }
    })
  }

  async problems(): Promise<Problem[]> {
    return [...this.byStem.values()].flat().map(({ path }) => ({
      code: 'audit_unattributed',
      where: path,
      detail: 'no trial has this export',
    }))
  }
}

/** `audit/case/naive/3.attempt-1.slack.json` -> `audit/case/naive/3.attempt-1`. */
function stemOf(path: string): string {
  const at = path.lastIndexOf('/') + 1
  const [, stem = path.slice(at)] = /^(\d+(?:\.attempt-\d+)?)\./.exec(path.slice(at)) ?? []
  return path.slice(0, at) + stem
}
