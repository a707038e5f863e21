/**
 * One clause of prose, held against the tools: a value counts only in the role that its noun or its
 * preposition gives it, and the last noun of a phrase says what the phrase is about.
 */
import type { Json, JsonObject } from '../../json.ts'
import { ARTICLE, FORMS, GIVES, MOVES, NO_VALUE, OBJECTS, PAST, ROLES, TAKES } from './forms.ts'
import { formsOf, isNoun, isOwnVerb, MAKES, partsOfName, past, wordsOf } from './tool-words.ts'

/** A claim as it stands in the agent's report. */
export type StatedClaim = {
  tool: string
  action: string
  target: JsonObject
  done: boolean
  quote?: string
}

/** A tool that changes something, and the arguments that it was, or should be, called with. */
export type Doable = { tool: string; inputs: readonly JsonObject[] }

/** A claim; `noun`: its sentence names the thing by a noun, so that "it" may point there. */
export type Read = StatedClaim & { noun: boolean }

/** The claim of a clause; null where it is not read. `it`: the claim that "it" may point to. */
export function readClause(
  clause: string,
  tools: readonly Doable[],
  it: Read | undefined,
): Read | null {
  const lower = clause.toLowerCase()
  const form = FORMS.find(({ pattern }) => pattern.test(lower))
  if (!form) return null
  const [, ...parts] = form.pattern.exec(lower) ?? []
  const [before = '', verb = '', after = ''] = form.passive ? parts : ['', ...parts]
  const denied = !form.done
  // The same words as they stand: a name in other letters is another name.
  const subject = wordsOf(clause.slice(0, before.length))
  const rest = wordsOf(after === '' ? '' : clause.slice(-after.length))
  const first = form.passive ? (subject.length === 1 ? subject[0] : '') : rest[0]
  const isIt = first?.toLowerCase() === 'it'
  if (isIt && !it?.noun) return null
  const about = form.passive ? rest : rest.slice(1)
  const words = isIt ? about : form.passive ? [...subject, BREAK, ...rest] : rest
  const found = tools
    .filter(({ tool }) => formsOf(tool, denied).includes(verb))
    // "Set the topic" asks for it as well.
    .filter(({ tool }) => !form.bare || partsOfName(tool)[0] !== verb)
    .filter(({ tool }) => !isIt || isOfOneThing(tool, it?.tool ?? ''))
    .flatMap((one) => readAs(one, verb, words, isIt) ?? [])
  const best = Math.max(...found.map(({ score }) => score))
  const [only, other] = found.filter(({ score }) => score === best)
  if (!only || other) return null
  const { tool, target, noun } = only
  const [action = ''] = partsOfName(tool)
  return { tool, action, target, done: form.done, noun: noun && !isIt }
}

function isOfOneThing(a: string, b: string): boolean {
  return partsOfName(a).slice(1).join(' ') === partsOfName(b).slice(1).join(' ')
}

/** Between the subject of a passive sentence and what stands after its verb. */
const BREAK = '\n'

type As = { tool: string; target: JsonObject; noun: boolean; score: number }

/** The words as what a call of the tool was about, by the arguments that they say most of. */
function readAs(
  { tool, inputs }: Doable,
  verb: string,
  words: readonly string[],
  isIt: boolean,
): As | null {
  const noun = partsOfName(tool).at(-1) ?? ''
  // Who is created or deleted is new, or no longer: that is more than to be added or removed.
  if (OBJECTS.persons.has(noun) && !isOwnVerb(tool, verb)) return null
  const members = [...new Set(inputs.flatMap((input) => Object.keys(input)))]
  const all = [{}, ...inputs].flatMap((input) => {
    const said = new Saying(tool, verb, input, members)
    return said.reads(words, isIt) ? [said] : []
  })
  const [best] = all.sort((a, b) => b.weight - a.weight)
  return best ? { tool, target: best.target, noun: best.named > 0, score: best.weight } : null
}

type Phrase = { nouns: string[]; values: string[][]; flags: string[]; end: number }

/** What words say of one call of a tool. */
class Saying {
  readonly target: JsonObject = {}
  /** Nouns of the tool that were said; a word that means the same weighs less. */
  named = 0
  private readonly input: JsonObject
  private readonly members: readonly string[]
  private readonly action: string
  private readonly nouns: readonly string[]
  /** Its noun is the verb, "refunded". */
  private readonly byNoun: boolean
  private readonly own: boolean
  private readonly values: readonly { name: string; words: readonly string[] }[]
  private readonly persons: number

  constructor(tool: string, verb: string, input: JsonObject, members: readonly string[]) {
    this.input = input
    this.members = members
    const [action = '', ...nouns] = partsOfName(tool)
    this.action = action
    this.nouns = nouns
    const noun = nouns.at(-1) ?? ''
    this.byNoun = MAKES.has(action) && [past(noun), noun, ...(PAST.get(noun) ?? [])].includes(verb)
    this.own = isOwnVerb(tool, verb)
    this.values = Object.entries(input).flatMap(([name, value]) => {
      const words = wordsOf(textOf(value) ?? '')
      return words.length > 0 ? [{ name, words }] : []
    })
    this.persons = members.filter((one) => OBJECTS.persons.has(baseOf(one))).length
  }

  get weight(): number {
    const said = this.named + Object.keys(this.target).length
    return (this.own ? 1 : 0) + (this.byNoun ? 2 : 0) + 2 * said
  }

  /** Each word has its role. `isIt`: the thing stands in another sentence. */
  reads(words: readonly string[], isIt: boolean): boolean {
    let isThing = isIt
    let preposition = ''
    for (let at = 0; at < words.length; ) {
      const word = (words[at] as string).toLowerCase()
      if (word === BREAK) {
        preposition = ''
        at++
        continue
      }
      if (Object.hasOwn(ROLES, word) && !this.isLabel(preposition, word)) {
        preposition = word
        at++
      }
      const phrase = this.phraseAt(words, at, preposition)
      const said = phrase ? this.takes(phrase, preposition) : null
      if (!phrase || said === null) return false
      if (preposition === '' && said) isThing = true
      at = phrase.end
    }
    return isThing
  }

  /** In the details under a claim a parameter has its own name: "with from /a.txt". */
  private isLabel(preposition: string, word: string): boolean {
    return preposition === 'with' && this.members.includes(word)
  }

  /** The words up to the next article or preposition; null where there are none. */
  private phraseAt(words: readonly string[], start: number, preposition: string): Phrase | null {
    const phrase: Phrase = { nouns: [], values: [], flags: [], end: start }
    const from = ARTICLE.has((words[start] ?? '').toLowerCase()) ? start + 1 : start
    let at = from
    for (; at < words.length; ) {
      const word = (words[at] as string).toLowerCase()
      const isFirst = at === from
      if (word === BREAK || ARTICLE.has(word)) break
      if (Object.hasOwn(ROLES, word) && !(isFirst && this.isLabel(preposition, word))) break
      const value = this.isNounWord(word) ? null : this.valueAt(words, at)
      if (value) {
        phrase.values.push(value.names)
        at += value.length
        if (words[at] === 'cents' && value.names.includes('amount')) at++
        continue
      }
      // A noun after "key ci-2026" is of another phrase, or of a form that is not known.
      if (phrase.nouns.length > 0 && phrase.end !== at) return null
      if (this.isFlag(word)) phrase.flags.push(word)
      else phrase.nouns.push(word)
      at++
      phrase.end = at
    }
    phrase.end = at
    return at > from ? phrase : null
  }

  private isNounWord(word: string): boolean {
    return this.nouns.some((noun) => isNoun(word, noun)) || this.members.includes(word)
  }

  private isFlag(word: string): boolean {
    return Object.entries(this.input).some(
      ([name, value]) => value === true && partsOfName(name).join('-') === word,
    )
  }

  /** The members whose value stands at a place, and its length in words. */
  private valueAt(
    words: readonly string[],
    at: number,
  ): { names: string[]; length: number } | null {
    const word = words[at] as string
    if (NO_VALUE.has(word.toLowerCase())) return null
    const found = this.values.filter((one) => one.words.every((of, i) => of === words[at + i]))
    const length = Math.max(0, ...found.map((one) => one.words.length))
    const names = found.filter((one) => one.words.length === length).map(({ name }) => name)
    const { owner, repo } = this.input
    const isPath = typeof owner === 'string' && typeof repo === 'string'
    if (length === 0 && isPath && word === `${owner}/${repo}`) return { names: [PATH], length: 1 }
    return length > 0 ? { names, length } : null
  }

  /** null: it is not read; else whether it names what the tool was done to. */
  private takes({ nouns, values, flags }: Phrase, preposition: string): boolean | null {
    if (nouns.length === 0) return this.takesValues(values, flags, preposition)
    // Of a thing that was made it says no more.
    const isNew = nouns[0] === 'new' && MAKES.has(this.action) && preposition === ''
    if (this.isThing(isNew ? nouns.slice(1) : nouns)) {
      if (preposition !== '' && preposition !== 'as') return null
      if (!values.every((names) => this.take(names.filter((one) => this.isOwn(one))))) return null
      if (!flags.every((flag) => this.takeFlag(flag))) return null
      for (const noun of isNew ? nouns.slice(1) : nouns)
        this.named += this.nouns.includes(noun) ? 1 : 0.5
      return preposition === ''
    }
    if (flags.length > 0) {
      const isAccess = preposition === 'with' && nouns.join(' ') === 'access'
      return isAccess && values.length === 0 && flags.every((flag) => this.takeFlag(flag))
        ? false
        : null
    }
    const [name, other] = this.members.filter((one) => isMember(nouns, one))
    if (name === undefined || other !== undefined) return null
    const fits = preposition === 'with' || this.fits(name, preposition)
    if (!fits || (values.length === 0 && ['', 'with'].includes(preposition))) return null
    const isOf = (names: string[]) =>
      names.includes(PATH) && name === 'repo' ? [PATH] : names.filter((one) => one === name)
    if (!values.every((names) => this.take(isOf(names)))) return null
    return preposition === '' && this.isDone(name)
  }

  private takesValues(
    values: readonly string[][],
    flags: readonly string[],
    preposition: string,
  ): boolean | null {
    if (flags.length > 0 && (values.length > 0 || !['with', 'as'].includes(preposition)))
      return null
    if (!flags.every((flag) => this.takeFlag(flag))) return null
    let isThing = false
    for (const names of values) {
      const fitting = names.filter((one) => this.fits(one, preposition))
      if (!this.take(fitting)) return null
      if (fitting.some((one) => this.isDone(one))) isThing = true
    }
    return isThing
  }

  private take(names: readonly string[]): boolean {
    const [name, other] = names
    if (name === undefined || other !== undefined) return false
    for (const one of name === PATH ? ['owner', 'repo'] : [name])
      this.target[one] = this.input[one] as Json
    return true
  }

  private takeFlag(flag: string): boolean {
    return this.take(Object.keys(this.input).filter((one) => partsOfName(one).join('-') === flag))
  }

  /** The last noun is that of the thing, and those before it are the tool's, in their order. */
  private isThing(nouns: readonly string[]): boolean {
    const thing = this.nouns.at(-1)
    if (thing === undefined || !isNoun(nouns.at(-1) ?? '', thing)) return false
    let at = -1
    return nouns.every((noun) => {
      at = this.nouns.findIndex((one, i) => i > at && isNoun(noun, one))
      return at >= 0
    })
  }

  /** A member that names the thing itself. */
  private isOwn(name: string): boolean {
    const base = baseOf(name)
    if (OBJECTS.measure.has(base) || isNoun(base, this.nouns.at(-1) ?? '')) return true
    if (OBJECTS.own.has(base)) return this.action !== 'rename'
    if (OBJECTS.persons.has(base)) return OBJECTS.joins.has(this.action) || GIVES.has(this.action)
    if (OBJECTS.given.has(base)) return GIVES.has(this.action)
    return this.action === 'move' && OBJECTS.moved.has(base)
  }

  /** It may stand after the verb, or after a preposition. */
  private fits(name: string, preposition: string): boolean {
    const base = name === PATH ? 'repo' : baseOf(name)
    const isPerson = OBJECTS.persons.has(base)
    // Of two persons it is not said which is which.
    if (isPerson && this.persons > 1) return false
    if (preposition === '') {
      if (this.byNoun) return OBJECTS.byNoun.has(base) || OBJECTS.measure.has(base)
      if (isPerson && !this.own && !GIVES.has(this.action)) return false
      return this.isOwn(name)
    }
    if (MOVES.has(this.action)) return this.isEnd(base, preposition)
    const takes = TAKES.has(this.action)
    if (preposition === 'from' && takes) return ROLES['in']?.has(base) || isPerson
    if (preposition === 'to' && takes) return false
    if (preposition === 'to' && OBJECTS.sets.has(this.action))
      return isNoun(base, this.nouns.at(-1) ?? '')
    if (preposition === 'with' && base !== 'with')
      return this.action === 'share' && base === 'address'
    return ROLES[preposition]?.has(base) === true
  }

  /** From where, or to where, something was moved: a folder is where it ends, if nothing else. */
  private isEnd(base: string, preposition: string): boolean {
    if (preposition === 'from') return OBJECTS.moved.has(base)
    if (preposition !== 'to' && preposition !== 'into') return OBJECTS.measure.has(base)
    const hasEnd = this.members.some((one) => OBJECTS.ends.has(baseOf(one)))
    return OBJECTS.ends.has(base) || (base === 'folder' && !hasEnd)
  }

  /** What the tool is done to, where no noun says so. */
  private isDone(name: string): boolean {
    const base = baseOf(name)
    if (this.byNoun) return OBJECTS.byNoun.has(base) || OBJECTS.measure.has(base)
    if (OBJECTS.persons.has(base)) return OBJECTS.joins.has(this.action)
    return !OBJECTS.measure.has(base) && this.isOwn(name)
  }
}

/** A value that names two members, with a slash between them: `acme/payments`. */
const PATH = 'owner/repo'

/** A value as it may stand in a sentence. */
function textOf(value: Json): string | null {
  if (Array.isArray(value)) {
    const texts = value.map(textOf)
    return texts.includes(null) ? null : texts.join(' ')
  }
  if (typeof value === 'number') return String(value)
  // A longer one stands in no sentence that is read.
  return typeof value === 'string' && value.length > 1 && value.length < 600 ? value : null
}

/** The thing that a parameter names: `message_id` is a message. */
function baseOf(name: string): string {
  const words = partsOfName(name)
  if (words.length > 1 && ['id', 'name'].includes(words.at(-1) ?? '')) words.pop()
  return words.join(' ')
}

function isMember(nouns: readonly string[], name: string): boolean {
  const said = nouns.join(' ')
  const base = baseOf(name)
  return said === base || said === partsOfName(name).join(' ') || isNoun(said, base)
}
