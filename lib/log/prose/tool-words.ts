/** The words of a tool's name, and those that say that its work was done. */
import { PAST, SAME } from './forms.ts'

/** The noun of a tool's name, or one of the same. Of `files` also one file. */
export function isNoun(word: string, noun: string): boolean {
  return (
    word !== '' && (word === noun || `${word}s` === noun || SAME.get(noun)?.includes(word) === true)
  )
}

export function wordsOf(text: string): string[] {
  return text.split(' ').filter(Boolean)
}

export function partsOfName(tool: string): string[] {
  return tool
    .replace(/([a-z])([A-Z])/g, '$1_$2')
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter(Boolean)
}

/** What makes a thing and says nothing of how: its noun is said as a verb, "refunded". */
export const MAKES = new Set(['create', 'make', 'send', 'post', 'issue', 'add', 'place'])

/** Words that say that a tool's work was done; where it is denied, its own verb too. */
export function formsOf(tool: string, denied = false): string[] {
  const [verb = '', ...nouns] = partsOfName(tool)
  return [
    ...(PAST.get(verb) ?? [past(verb)]),
    ...(MAKES.has(verb)
      ? nouns.slice(-1).flatMap((noun) => [past(noun), ...(PAST.get(noun) ?? [])])
      : []),
    ...(denied ? [verb, ...(MAKES.has(verb) ? nouns.slice(-1) : [])] : []),
  ]
}

export function isOwnVerb(tool: string, verb: string): boolean {
  const [action = ''] = partsOfName(tool)
  return verb === (PAST.get(action)?.[0] ?? past(action)) || verb === action
}

export function past(verb: string): string {
  return verb.endsWith('e') ? `${verb}d` : `${verb}ed`
}
