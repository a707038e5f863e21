/** What a public call was handed: refused with "expected X, got Y" where it is another thing. */
import { amongText, gotWord } from './choice.ts'
import { TouchstoneError } from './errors.ts'

/**
 * Refuse what is no object, and an object with other members than these: a misspelt option that is
 * passed over is an option that was not given.
 *
 * @throws TouchstoneError `argument_invalid` naming the member and what was probably meant
 * @example
 * onlyMembers({ kye: 'a.pem' }, ['key', 'set'], 'options') // throws argument_invalid
 */
export function onlyMembers(value: unknown, names: readonly string[], where: string): void {
  const known = names.join(', ')
  if (!isPlain(value)) throw refused(`an object of ${known}`, gotShape(value), where)
  const other = Object.keys(value).find((name) => !names.includes(name))
  if (other === undefined) return
  throw refused(names.length > 1 ? `one of ${known}` : known, gotWord(other, names), where)
}

/**
 * `onlyMembers` of a call's `options`, by the names in a text.
 *
 * @throws TouchstoneError `argument_invalid`
 */
export function onlyOptions(options: unknown, names: string): void {
  onlyMembers(options, names.split(' '), 'options')
}

/** Refuse what is no text, or an empty one. @throws TouchstoneError `argument_invalid` */
export function requireText(value: unknown, expected: string, where: string): void {
  if (typeof value === 'string' && value !== '') return
  throw refused(expected, gotShape(value), where)
}

/**
 * Refuse what is none of a few words: a word that is not known must not be read as one of them.
 *
 * @throws TouchstoneError `argument_invalid` with the words, and what was probably meant
 * @example
 * requireWord('sucess', 'a status', ['success', 'error'], 'call.status') // throws argument_invalid
 */
export function requireWord(
  value: unknown,
  what: string,
  words: readonly string[],
  where: string,
): void {
  if (typeof value !== 'string')
    throw refused(`${what} (${words.join(', ')})`, gotShape(value), where)
  if (words.includes(value)) return
  const text = amongText(what, value.slice(0, 60), words)
  throw new TouchstoneError('argument_invalid', text, { where })
}

/** Refuse what is no object, or a list. @throws TouchstoneError `argument_invalid` */
export function requireObject(value: unknown, expected: string, where: string): void {
  if (isPlain(value)) return
  throw refused(expected, gotShape(value), where)
}

/** Refuse what is not of a class. @throws TouchstoneError `argument_invalid` */
export function requireInstance(
  value: unknown,
  type: abstract new (...given: never[]) => unknown,
  expected: string,
  where: string,
): void {
  if (!(value instanceof type)) throw refused(expected, gotShape(value), where)
}

/** Refuse a promise where its value is meant. @throws TouchstoneError `argument_invalid` */
export function requireAwaited(value: unknown, expected: string, where: string): void {
  if (isPromise(value)) throw refused(expected, gotShape(value), where)
}

/** An object that is no list and no promise: that has no members, and none would be missed. */
function isPlain(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !isPromise(value)
}

function isPromise(value: unknown): boolean {
  return typeof (value as { then?: unknown } | null | undefined)?.then === 'function'
}

/**
 * The second half of "expected X, got Y" for a value of another kind.
 *
 * @example
 * gotShape([]) // 'got a list'
 * gotShape(Promise.resolve([])) // 'got a promise: add await'
 */
export function gotShape(value: unknown): string {
  if (isPromise(value)) return 'got a promise: add await'
  if (value === '') return 'got an empty text'
  if (value === undefined) return 'got nothing'
  if (value === null) return 'got null'
  return `got ${Array.isArray(value) ? 'a list' : typeof value}`
}

function refused(expected: string, got: string, where: string): TouchstoneError {
  return new TouchstoneError('argument_invalid', `expected ${expected}, ${got}`, { where })
}
