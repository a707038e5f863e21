/** Folders of tests among the temporary files: the one place where tests make them. */
import { mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const made: string[] = []

/** A new folder, which is removed with all that it holds when this process exits. */
export function temporaryFolder(purpose = 'test'): string {
  if (made.length === 0) process.once('exit', removeAll)
  const folder = realpathSync(mkdtempSync(join(tmpdir(), `touchstone-${purpose}-`)))
  made.push(folder)
  return folder
}

/** A folder into which a child still writes stays, and is told: no test has failed by it. */
function removeAll(): void {
  for (const folder of made)
    try {
      rmSync(folder, { recursive: true, force: true, maxRetries: 3 })
    } catch (cause) {
      process.stderr.write(`${folder} was not removed: ${(cause as Error).message}\n`)
    }
}
