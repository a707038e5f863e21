/**
 * The audit exports of a run's folder, handed out attempt by attempt.
 *
 * Runs keep them as lines of `audit.ndjson`. Runs of earlier versions have a file for each.
 */
import { join } from 'node:path'
import { readBytes } from '../../files.ts'
import { decode } from '../../json.ts'
import { FILES, type TrialRecord } from '../../log/index.ts'
import type { KeyedLine } from './run-evidence.ts'
import type { FileEntry, RunBytes } from './run-folder.ts'
import { attempt, type Problem } from './step.ts'

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
  take(record: TrialRecord): FoundExport[] {
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

  problems(): Problem[] {
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
