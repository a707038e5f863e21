/**
 * The trial log of a run, read once: the row of each trial, where its line stands, and what its
 * records say that the plan, or they themselves, contradict.
 */
import { type Digest, digest } from '../../canonical.ts'
import { TouchstoneError } from '../../errors.ts'
import { decode } from '../../json.ts'
import {
  BREATH_LINES,
  breathe,
  FILES,
  type Manifest,
  RunIndex,
  type TrialRecord,
} from '../../log/index.ts'
import { LineWindow } from '../../window.ts'
import type { Commitment } from './commitment.ts'
import { RecordCheck } from './run-log.ts'
import { attempt, type Problem } from './step.ts'

/** A line of the trial log. `record` is null where the line cannot be read; `problem` says why. */
export type LoggedLine = {
  line: number
  digest: Digest
  record: TrialRecord | null
  problem: string | null
}

export type TrialLog = {
  /** Lines that are not empty. */
  lines: number
  /** Lines that hold no trial's record. */
  unread: Problem[]
  /** Where the records disagree with the plan and with themselves. Empty without a manifest. */
  problems: Problem[]
  index: RunIndex
  /** Records, by case. */
  attempts: ReadonlyMap<string, number>
}

/** The plan of a run whose manifest cannot be read. */
const NO_PLAN = { cases: [], configurations: [], repeats: 0 }

/** @param path null for a log that is not there, or that is not read */
export async function readTrialLog(
  path: string | null,
  manifest: Manifest | null,
  commitment?: Commitment,
  each?: (line: LoggedLine) => void,
): Promise<TrialLog> {
  const { recordIn } = await import('../../log/record-line.ts')
  const index = new RunIndex(manifest ?? NO_PLAN)
  const check = manifest && new RecordCheck(manifest)
  const attempts = new Map<string, number>()
  const unread: Problem[] = []
  let lines = 0
  await eachLine(path, FILES.trials, unread, 'trial_unreadable', commitment, (window) => {
    const { line, place: from, sizeBytes } = window
    lines++
    commitment?.add(window.bytes)
    const where = `${FILES.trials}:${line}`
    const { value: record, problem } = attempt(() => {
      const read = recordIn(decode(window.bytes, where), () => where)
      index.add({ record: read, line, place: { from, sizeBytes } })
      return read
    })
    if (problem !== null) unread.push({ code: 'trial_unreadable', where, detail: problem })
    if (record !== null) {
      check?.see(record)
      attempts.set(record.case, (attempts.get(record.case) ?? 0) + 1)
    }
    each?.({ line, digest: digest(window.bytes), record, problem })
  })
  return { lines, unread, problems: check?.problems() ?? [], index, attempts }
}

/**
 * The lines of a file that are not empty. One that is longer than a text can be ends the reading
 * and is a problem.
 */
export async function eachLine(
  path: string | null,
  name: string,
  problems: Problem[],
  code: string,
  commitment: Commitment | undefined,
  see: (window: LineWindow) => void,
): Promise<void> {
  if (path === null) return
  const window = new LineWindow(path, commitment?.seen)
  try {
    while (window.next()) {
      if (window.line % BREATH_LINES === 0) await breathe()
      if (window.sizeBytes > 0) see(window)
    }
  } catch (error) {
    // What the system refuses has its cause.
    if (!(error instanceof TouchstoneError) || error.cause !== undefined) throw error
    problems.push({ code, where: name, detail: error.message })
  } finally {
    window.close()
  }
}
