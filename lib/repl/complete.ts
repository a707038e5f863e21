/**
 * Tab completion: members through call chains, names in scope, names of option objects, and strings
 * (case ids, configurations, faults, models, file paths).
 *
 * Nothing that was typed is run: `follow.ts` says what is read.
 */
import type { Names } from '../code/evaluate.ts'
import { chainBefore, enclosing } from './chain.ts'
import { completePath } from './complete-path.ts'
import { follow, membersOf } from './follow.ts'
import { optionNames, textsFor } from './offers.ts'

/** Candidates that replace `stub`, the end of the text. */
export type Completion = [candidates: string[], stub: string]

const KEYWORDS = [
  'await ',
  'const ',
  'let ',
  'import ',
  'function ',
  'class ',
  'for ',
  'if ',
  'return ',
  'typeof ',
  'new ',
]

/** Complete the end of a text. */
export async function complete(text: string, scope: Names, cwd: string): Promise<Completion> {
  const { string, call } = enclosing(text)
  if (string) {
    const typed = text.slice(string.start)
    const offered = call
      ? await textsFor(call, text.slice(0, string.start - 1), typed, scope, cwd)
      : []
    const fitting = offered.filter((one) => one.startsWith(typed))
    return fitting.length > 0 ? [fitting, typed] : completePath(typed, cwd)
  }
  const path = /([\p{ID_Start}$_][\p{ID_Continue}$]*)?$/u.exec(text)?.[0] ?? ''
  const before = text.slice(0, text.length - path.length)
  const dot = /\?{0,1}\.\s*$/.exec(before)
  if (dot) {
    const chain = chainBefore(before.slice(0, dot.index))
    const known = chain && follow(chain, scope)
    return [known ? matching(membersOf(known), path) : [], path]
  }
  if (call && /[{,]\s*$/.test(before)) {
    const names = matching(optionNames(call, scope), path)
    if (names.length > 0) return [names, path]
  }
  if (path === '' && before.trim() !== '' && !/[\s([{,=:;!&|?+*/<>-]$/.test(before)) return [[], '']
  const names = Object.keys(scope)
  if (path === '') return [names.filter((name) => name !== '_' && name !== '__'), '']
  const globals = Object.getOwnPropertyNames(globalThis)
  return [matching([...names, ...globals, ...KEYWORDS], path), path]
}

function matching(names: Iterable<string>, stub: string): string[] {
  return [...new Set(names)].filter((name) => name.startsWith(stub)).sort()
}
