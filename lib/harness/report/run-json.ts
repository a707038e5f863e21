/** A run as plain data: what `--json` prints. */
import { relative } from 'node:path'
import type { JsonObject } from '../../json.ts'
import type { Run } from './result.ts'

/**
 * Everything but what stands in the log already, for programs. Times and ids apart, the same seed
 * gives the same.
 */
export function runJson(run: Run): JsonObject {
  const [a, ...others] = run.configurations
  const sound = run.unsound.length === 0
  return JSON.parse(
    JSON.stringify({
      schema: 'touchstone.run.v0',
      id: run.id,
      dir: relative(process.cwd(), run.dir) || '.',
      complete: run.complete,
      errors: run.errors,
      problems: run.problems,
      identical: [...run.identical],
      manifest: run.manifest,
      summary: sound ? run.summary() : null,
      coverage: sound ? run.coverage() : null,
      comparisons: sound ? others.map((b) => run.compare(a as string, b)) : [],
      trials: run.trials,
    }),
  ) as JsonObject
}
