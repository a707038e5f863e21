/** Source code as HTML with its parts told apart, by `highlight.js`. Loaded when it is needed. */
import type { HLJSApi } from 'highlight.js'
import { escapeMarkup } from '../display.ts'

let made: Promise<HLJSApi> | undefined
function highlighter(): Promise<HLJSApi> {
  return (made ??= (async () => {
    const [core, ...languages] = await Promise.all([
      import('highlight.js/lib/core'),
      import('highlight.js/lib/languages/typescript'),
      import('highlight.js/lib/languages/json'),
      import('highlight.js/lib/languages/bash'),
    ])
    for (const [i, name] of ['typescript', 'json', 'bash'].entries())
      core.default.registerLanguage(name, languages[i]!.default)
    return core.default
  })())
}

/**
 * Highlight code. Text of a language that is not known here is escaped and nothing else.
 *
 * @param language a name or an alias such as `ts`, `js`, `json`, `sh`
 * @example
 * await highlight('let n = 1', 'ts')
 * // '<span class="hljs-keyword">let</span> n = <span class="hljs-number">1</span>'
 */
export async function highlight(code: string, language = ''): Promise<string> {
  const { getLanguage, highlight: marked } = await highlighter()
  const known = language === 'js' || language === 'javascript' ? 'typescript' : language
  if (!getLanguage(known)) return escapeMarkup(code)
  return marked(code, { language: known, ignoreIllegals: true }).value
}

/** Style of the classes above. The page sets the colours, light and dark. */
export const HIGHLIGHTS = `
.hljs-comment, .hljs-doctag { color: var(--quiet); }
.hljs-string, .hljs-regexp, .hljs-subst { color: var(--s); }
.hljs-keyword, .hljs-literal, .hljs-built_in { color: var(--k); }
.hljs-number { color: var(--n); }
`.trim()
