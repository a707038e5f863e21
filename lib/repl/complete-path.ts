/** Tab completion of file paths inside a string. */
import { readdirSync } from 'node:fs'
import { homedir } from 'node:os'
import { basename, dirname, join, resolve } from 'node:path'
import type { Completion } from './complete.ts'

/** The entries of a folder that go on with what was typed; hidden ones only behind a dot. */
export function completePath(typed: string, cwd: string): Completion {
  const home = typed.startsWith('~/') ? join(homedir(), typed.slice(2)) : typed
  const folder = typed.endsWith('/') ? home : dirname(home)
  const stub = typed.endsWith('/') || typed === '' ? '' : basename(typed)
  try {
    const entries = readdirSync(resolve(cwd, folder), { withFileTypes: true })
    const names = entries
      .filter(
        (entry) =>
          entry.name.startsWith(stub) && (stub.startsWith('.') || !entry.name.startsWith('.')),
      )
      .map((entry) => (entry.isDirectory() ? `${entry.name}/` : entry.name))
    return [names.sort(), stub]
  } catch {
    return [[], stub]
  }
}
