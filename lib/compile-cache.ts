/** Node's cache of compiled modules, where its folder can be had. */
import { mkdirSync } from 'node:fs'
import * as modules from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/**
 * Types are stripped and modules compiled once, not at every start. Node makes the cache's folder
 * with those above it, and never ends where a file system answers ENOENT for a folder whose parent
 * is there, as /proc does: so the folder is made here first, and there is no cache without it.
 */
export function useCompileCache(): void {
  try {
    mkdirSync(process.env['NODE_COMPILE_CACHE'] || join(tmpdir(), 'node-compile-cache'))
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== 'EEXIST') return
  }
  modules.enableCompileCache?.()
}
