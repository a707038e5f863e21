/** One attempt as a run would write it, held against itself before anything is written. */
import { FILES, type linesOf, type Manifest, METHODS } from '../../log/index.ts'
import { recordIn } from '../../log/record-line.ts'
import { redactedJson } from '../../secrets.ts'
import { attemptId, linesOfAttempt, placeOf } from './run-evidence.ts'
import { markProblems } from './run-log.ts'
import { attemptProblems, ToldByAll } from './run-trials.ts'
import type { Problem } from './step.ts'

/**
 * What the reader of a folder with this attempt in it would find: lines that cannot be read, marks
 * that do not follow from others, and a record that its evidence contradicts.
 *
 * @param adversarial whether its case has an attack
 * @param configuration as the manifest has it
 * @throws TouchstoneError `run_invalid` for a record of another form
 */
export function writtenProblems(
  lines: ReturnType<typeof linesOf>,
  adversarial: boolean,
  configuration?: Manifest['configurations'][number],
): Problem[] {
  const record = recordIn(redactedJson(lines.record), () => FILES.trials)
  const id = attemptId(record.key, record.attempt)
  const unread: Problem[] = []
  const evidence = {
    decisions: linesOfAttempt(id, FILES.decisions, lines.decisions, unread),
    audits: linesOfAttempt(id, FILES.audit, lines.audit, unread),
    transcripts: linesOfAttempt(id, FILES.transcripts, [lines.transcript], unread),
  }
  if (unread.length > 0) return unread
  const where = placeOf(record)
  const found = attemptProblems(record, evidence, new ToldByAll(), configuration)
  return [
    ...markProblems(record, adversarial, METHODS.outcomes).map((one) => ({ ...one, where })),
    ...Object.values(found).flat(),
  ]
}
