/**
 * Lets notebooks, scripts and lines at the prompt import 'touchstone' wherever they lie, also from
 * an empty folder.
 */
import * as modules from 'node:module'

const NAME = /^touchstone(?:\/(stats|receipt|probe|harness|chart))?$/
let hooked = false

/**
 * From now on an import of this package, or of one of its faces, that finds none beside the
 * importing file finds this one. Calls after the first do nothing.
 */
export function resolveSelf(): void {
  if (hooked) return
  hooked = true
  const extension = import.meta.url.endsWith('.ts') ? '.ts' : '.js'
  modules.registerHooks({
    resolve(specifier, context, nextResolve) {
      const named = NAME.exec(specifier)
      if (!named) return nextResolve(specifier, context)
      try {
        return nextResolve(specifier, context)
      } catch (error) {
        if ((error as { code?: string }).code !== 'ERR_MODULE_NOT_FOUND') throw error
        const face = named[1] === undefined ? 'index' : `${named[1]}/index`
        return nextResolve(new URL(`../${face}${extension}`, import.meta.url).href, context)
      }
    },
  })
}
