/**
 * The user of a case as a script: each answer is chosen by the words that the agent said.
 */
import type { UserSpec } from './schema/user-schema.ts'

type Rule = NonNullable<UserSpec['answers']>[number]

/** What a user says. `over`: and nothing after it. */
export type UserAnswer = { text: string; over: boolean }

export const DO_NOT_KNOW = 'I do not know.'

/** A script that answers, in one trial. */
export class ScriptedUser {
  private readonly spec: UserSpec
  private readonly used = new Set<Rule>()

  constructor(spec: UserSpec) {
    this.spec = spec
  }

  /** `fits` is false where no answer's words were said. */
  answer(said: string): UserAnswer & { fits: boolean } {
    const text = folded(said)
    const rule = (this.spec.answers ?? []).find(
      (one) =>
        !(one.once === true && this.used.has(one)) &&
        (one.when === undefined || holdsAny(text, one.when)) &&
        !(one.unless !== undefined && holdsAny(text, one.unless)),
    )
    if (!rule) return { text: this.spec.otherwise ?? DO_NOT_KNOW, over: false, fits: false }
    this.used.add(rule)
    return { text: filled(rule.says, this.spec.knows), over: rule.end === true, fits: true }
  }
}

/** Names of what an answer tells. */
export function namesIn(says: string): string[] {
  return [...says.matchAll(/\{([a-z][a-z0-9_]*)\}/g)].map(([, name]) => name as string)
}

function filled(says: string, knows: UserSpec['knows']): string {
  return says.replace(/\{([a-z][a-z0-9_]*)\}/g, (whole, name: string) =>
    Object.hasOwn(knows, name) ? (knows[name] as string) : whole,
  )
}

function holdsAny(text: string, given: string | readonly string[]): boolean {
  return [given].flat().some((phrase) => holds(text, folded(phrase)))
}

/** The phrase stands in the text, and not inside of another word. */
function holds(text: string, phrase: string): boolean {
  const [first, last] = [letterAt(phrase, 0), letterBefore(phrase, phrase.length)]
  for (let at = text.indexOf(phrase); at >= 0; at = text.indexOf(phrase, at + 1)) {
    const begins = joins(letterBefore(text, at)) && joins(first)
    const goesOn = joins(last) && joins(letterAt(text, at + phrase.length))
    if (!begins && !goesOn) return true
  }
  return false
}

function letterAt(text: string, at: number): string {
  const code = text.codePointAt(at)
  return code === undefined ? '' : String.fromCodePoint(code)
}

function letterBefore(text: string, at: number): string {
  const low = text.charCodeAt(at - 1)
  return letterAt(text, low >= 0xdc00 && low <= 0xdfff ? at - 2 : at - 1)
}

function joins(letter: string): boolean {
  return /[\p{L}\p{N}_]/u.test(letter)
}

function folded(text: string): string {
  return text.normalize('NFKC').toLowerCase().replace(/[’‘]/g, "'").replace(/\s+/g, ' ').trim()
}
