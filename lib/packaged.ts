/**
 * What comes with Touchstone beside its code: cases, published sets, schemas. It stands at the root
 * of the package.
 */
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/**
 * The path of a file or folder of the package, such as `cases/`: beside the nearest package.json
 * above this file.
 */
export function packaged(path: string): string {
  for (let at = new URL('.', import.meta.url); ; at = new URL('..', at))
    if (existsSync(new URL('package.json', at)) || at.pathname === '/')
      return fileURLToPath(new URL(path, at))
}
