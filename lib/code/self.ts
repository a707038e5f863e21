/** Lets notebooks, scripts and lines at the prompt import 'touchstone' wherever they lie, also from an empty folder. */
import { registerHooks } from 'node:module'

const NAME = 'touchstone'
let hooked = false

/** From now on an import of this package that finds none beside the importing file finds this one. Calls after the first do nothing. */
export function resolveSelf(): void {
  if (hooked) return
  hooked = true
  const own = new URL(`../index${import.meta.url.endsWith('.ts') ? '.ts' : '.js'}`, import.meta.url)
    .href
  registerHooks({
    resolve(specifier, context, nextResolve) {
      if (specifier !== NAME) return nextResolve(specifier, context)
      try {
        return nextResolve(specifier, context)
      } catch (error) {
        if ((error as { code?: string }).code !== 'ERR_MODULE_NOT_FOUND') throw error
        return nextResolve(own, context)
      }
    },
  })
}
