/** Reading a run back from its folder. */
import { earlierAttempts, inspectRun, lastAttempts } from '../../log/index.ts'
import { Run } from './result.ts'

/**
 * Read a run's folder back, and hold its records against the evidence beside them.
 *
 * Digests and the marks that follow from others are checked at any size; levels are derived again
 * for runs of up to 5,000 attempts (`receipt.verify` does so at any size). Where the evidence gives
 * other levels than a record, the evidence's stand in their place. What else does not agree is in
 * `run.problems`, and then the run gives no numbers.
 *
 * @throws TouchstoneError `run_unknown`, `run_invalid`, `run_damaged`
 */
export async function open(dir: string): Promise<Run> {
  const folder = await inspectRun(dir)
  const { folderProblems } = await import('../../receipt/attest/check-folder.ts')
  const { problems, levels } = await folderProblems(folder)
  const counted = lastAttempts(folder.attempts)
  const earlier = earlierAttempts(folder.attempts, counted)
  const trials = counted.map((record) => {
    const derived = levels.get(record.key)
    return derived ? { ...record, levels: derived } : record
  })
  return new Run({ dir, manifest: folder.manifest, trials, earlier, problems })
}
