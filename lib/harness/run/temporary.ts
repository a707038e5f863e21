/** Folders for runs that are not to be kept: there while the process lives, gone when it ends. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const folders = new Set<string>()

/** A new folder among the temporary files. A process that is killed leaves it. */
export function temporaryFolder(): string {
  if (folders.size === 0) {
    process.once('exit', () => {
      for (const folder of folders) rmSync(folder, { recursive: true, force: true })
    })
  }
  const folder = mkdtempSync(join(tmpdir(), 'touchstone-run-'))
  folders.add(folder)
  return folder
}
