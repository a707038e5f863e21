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

function removeAll(): void {
  for (const folder of made) rmSync(folder, { recursive: true, force: true, maxRetries: 3 })
}
