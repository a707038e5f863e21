/** Reading a run back from its folder. */
import { requireText } from '../../arguments.ts'
import { inspectRun } from '../../log/index.ts'
import { Run } from './result.ts'

/**
 * Read a run's folder back, and hold its records against the evidence beside them.
 *
 * Digests and the marks that follow from others are checked at any size; levels are derived again
 * for runs of up to 5,000 attempts (`receipt.verify` does so at any size). Where the evidence gives
 * other levels than a record, the evidence's stand in their place. What else does not agree is in
 * `run.problems`, and then the run gives no numbers.
 *
 * @throws TouchstoneError `argument_invalid`, `run_unknown`, `run_invalid`, `run_damaged`
 */
export async function open(dir: string): Promise<Run> {
  requireText(dir, "a run's folder", 'dir')
  const { folderCheck } = await import('../../receipt/attest/check-folder.ts')
  const check = folderCheck()
  const folder = await inspectRun(dir, check.see)
  const { problems, levels } = await check.problems(folder)
  const { manifest, columns } = folder
  for (const [key, derived] of levels) columns.setLevels(key, derived)
  return new Run({ dir, manifest, columns, problems })
}
