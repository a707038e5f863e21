/** The scripts and the style of the page as one text each: nothing is loaded from anywhere. */
import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { extname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { readSourceOrThrow } from '../../code/strip-types.ts'

/** In the order in which they are needed. */
const SCRIPTS = [
  'dom',
  'data',
  'marks',
  'copy',
  'search',
  'kinds',
  'shown-columns',
  'trial-columns',
  'overview',
  'pictures',
  'cases',
  'list',
  'side',
  'reasons',
  'timeline',
  'shown-events',
  'trial',
  'route',
]

let made: Promise<{ script: string; style: string }> | undefined

/** The page's own code. In a checkout it is TypeScript, and its types are taken out. */
export function viewSource(): Promise<{ script: string; style: string }> {
  made ??= (async () => {
    const own = fileURLToPath(import.meta.url)
    const folder = own.slice(0, own.lastIndexOf('source')) + 'view'
    const texts = await Promise.all(
      SCRIPTS.map((name) => readFile(`${folder}/${name}${extname(own)}`, 'utf8')),
    )
    const parts = texts.map((text, i) => {
      return readSourceOrThrow(text, `${SCRIPTS[i]}`)
        .code.replace(/^import\b[^;]*?\bfrom\s*['"][^'"]+['"];?$/gm, '')
        .replace(/^export (?=(async )?function|const|let|class)/gm, '')
        .replace(/^export \{\};?$/gm, '')
        .replace(/^\s*\/\/.*$/gm, '')
        .replace(/\/\*\*[\s\S]*?\*\//g, '')
        .replace(/[ \t]+$/gm, '')
        .replace(/\n{2,}/g, '\n')
        .trim()
    })
    const script = `(() => {'use strict'\n${parts.join('\n')}\nstart()\n})()`
    const style = await readFile(`${folder}/page.css`, 'utf8')
    return { script: script.replace(/<\/(script)/gi, '<\\/$1'), style }
  })()
  return made
}

/** The source expression of a policy for a text that stands in the page. */
export function hashOf(text: string): string {
  return `'sha256-${createHash('sha256').update(text).digest('base64')}'`
}
