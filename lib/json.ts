/**
 * JSON in, strictly. Reading refuses what `JSON.parse` repairs in silence: bad UTF-8, a key given
 * twice, an integer that a double cannot hold, half a surrogate pair. Two texts that mean different
 * things must never share a digest.
 */
import { isUtf8 } from 'node:buffer'
import { type ErrorCode, TouchstoneError } from './errors.ts'

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json }
export type JsonObject = { [key: string]: Json }

/** True for an object of JSON: no array, not null. */
export function isObject(value: unknown): value is JsonObject {
  return value !== null && typeof value === 'object' && !Array.isArray(value)
}

/** Nesting that reading allows. Deeper text is an attack on the reader, not a document. */
export const MAX_DEPTH = 512

/**
 * Read JSON text or bytes strictly.
 *
 * Refused, with file, line and column: bytes that are not UTF-8, a duplicate key (however it is
 * escaped), an integer beyond 2^53 - 1 in size, a number beyond a double, half a surrogate pair,
 * nesting beyond `MAX_DEPTH`. Refusing large integers is stricter than RFC 8785 asks. A byte order
 * mark at the start is skipped.
 *
 * @param source name for error messages: a path, or what the text is
 * @throws TouchstoneError `json_utf8`, `json_syntax`, `json_duplicate_key`, `json_unsafe_number`,
 *   `json_lone_surrogate`, `json_depth`
 * @example
 * parse('{"a":[1,2]}') // { a: [1, 2] }
 */
export function parse(input: string | Uint8Array, source = 'JSON'): Json {
  return new Reader(typeof input === 'string' ? input : decode(input, source), source).document()
}

/**
 * Like `parse`, in half the time for text as `JSON.stringify` writes it: what is written back the
 * same has no key twice and no number that was rounded.
 *
 * @throws TouchstoneError what `parse` throws
 */
export function parseLine(text: string, source: string): Json {
  try {
    const value = JSON.parse(text) as Json
    if (openings(text) <= MAX_DEPTH && !SUSPECT.test(text) && JSON.stringify(value) === text)
      return value
  } catch {
    // `parse` says what is wrong, and where.
  }
  return parse(text, source)
}

/** What may be half a pair, or an integer beyond 2^53 - 1: both are written back as they were. */
const SUSPECT = /\\ud|[0-9]{16}/

/** Brackets that open, or stand in a text: nesting is at most as deep. */
function openings(text: string): number {
  let count = 0
  for (const bracket of '[{')
    for (let at = text.indexOf(bracket); at >= 0; at = text.indexOf(bracket, at + 1)) count++
  return count
}

/**
 * Decode UTF-8, refusing what is not. @throws TouchstoneError `json_utf8` with the place of the
 * first wrong byte, `file_unreadable` beyond what a text can hold.
 */
export function decode(bytes: Uint8Array, source: string): string {
  try {
    // Twice as fast as the decoder, which then only has the byte order marks and what is wrong.
    if (isUtf8(bytes)) {
      const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('utf8')
      return text.charCodeAt(0) === 0xfeff ? text.slice(1) : text
    }
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch (cause) {
    if (!(bytes instanceof Uint8Array))
      throw new TouchstoneError(
        'argument_invalid',
        `expected a text or bytes, got ${typeof bytes}`,
        { where: source },
      )
    if ((cause as NodeJS.ErrnoException).code === 'ERR_STRING_TOO_LONG')
      throw new TouchstoneError(
        'file_unreadable',
        `expected a text that fits in memory, got ${bytes.length} bytes`,
        { where: source, cause },
      )
    const repaired = new TextEncoder().encode(
      new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes),
    )
    let at = 0
    while (at < bytes.length && bytes[at] === repaired[at]) at++
    const line = bytes.subarray(0, at).reduce((lines, byte) => (byte === 10 ? lines + 1 : lines), 1)
    const column = at - bytes.lastIndexOf(10, at - 1)
    throw new TouchstoneError(
      'json_utf8',
      `expected UTF-8, got byte 0x${(bytes[at] ?? 0).toString(16).padStart(2, '0')}`,
      {
        where: `${source}:${line}:${at === 0 ? 1 : column}`,
        cause,
      },
    )
  }
}

const NUMBER = /-?(?:0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?/y
const PLAIN = /[^"\\\u0000-\u001f]*/y
const ESCAPES: Record<string, string> = {
  '"': '"',
  '\\': '\\',
  '/': '/',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
}

/** One pass over the text. `at` is always the index of the next unread UTF-16 unit. */
class Reader {
  private at = 0
  private readonly text: string
  private readonly source: string

  constructor(text: string, source: string) {
    this.text = text
    this.source = source
  }

  document(): Json {
    if (this.text.charCodeAt(0) === 0xfeff) this.at = 1
    this.space()
    const value = this.value(0)
    this.space()
    if (this.at < this.text.length)
      this.fail('json_syntax', 'expected the end of the text', this.at)
    return value
  }

  private value(depth: number): Json {
    const start = this.at
    switch (this.text.charCodeAt(start)) {
      case 0x7b:
        return this.object(depth + 1)
      case 0x5b:
        return this.array(depth + 1)
      case 0x22:
        return this.string()
      case 0x74:
        return this.word('true', true)
      case 0x66:
        return this.word('false', false)
      case 0x6e:
        return this.word('null', null)
      default:
        return this.number()
    }
  }

  private object(depth: number): Json {
    this.deeper(depth)
    const object: JsonObject = {}
    this.at++
    this.space()
    if (this.take(0x7d)) return object
    for (;;) {
      const start = this.at
      if (this.text.charCodeAt(start) !== 0x22)
        this.fail('json_syntax', 'expected a key in quotes', start)
      const key = this.string()
      if (Object.hasOwn(object, key))
        this.fail('json_duplicate_key', `expected each key once, got ${quote(key)} again`, start)
      this.space()
      if (!this.take(0x3a)) this.fail('json_syntax', 'expected ":"', this.at)
      this.space()
      const value = this.value(depth)
      // An ordinary assignment to "__proto__" would set the prototype and lose the member.
      if (key === '__proto__') {
        Object.defineProperty(object, key, {
          value,
          enumerable: true,
          configurable: true,
          writable: true,
        })
      } else object[key] = value
      this.space()
      if (this.take(0x7d)) return object
      if (!this.take(0x2c)) this.fail('json_syntax', 'expected "," or "}"', this.at)
      this.space()
    }
  }

  private array(depth: number): Json {
    this.deeper(depth)
    const array: Json[] = []
    this.at++
    this.space()
    if (this.take(0x5d)) return array
    for (;;) {
      array.push(this.value(depth))
      this.space()
      if (this.take(0x5d)) return array
      if (!this.take(0x2c)) this.fail('json_syntax', 'expected "," or "]"', this.at)
      this.space()
    }
  }

  private string(): string {
    const start = this.at++
    let out = ''
    for (;;) {
      PLAIN.lastIndex = this.at
      PLAIN.test(this.text)
      const end = PLAIN.lastIndex
      const next = this.text.charCodeAt(end)
      if (end > this.at) out += this.text.slice(this.at, end)
      this.at = end
      if (next === 0x22) {
        this.at++
        if (!out.isWellFormed())
          this.fail(
            'json_lone_surrogate',
            'expected whole characters, got half a surrogate pair',
            start,
          )
        return out
      }
      if (next !== 0x5c)
        this.fail(
          'json_syntax',
          Number.isNaN(next) ? 'expected a closing quote' : 'expected no bare control character',
          end,
        )
      out += this.escape()
    }
  }

  private escape(): string {
    const start = this.at
    const letter = this.text[start + 1] ?? ''
    const simple = ESCAPES[letter]
    if (simple !== undefined) {
      this.at += 2
      return simple
    }
    const hex = this.text.slice(start + 2, start + 6)
    if (letter !== 'u' || !/^[0-9a-fA-F]{4}$/.test(hex))
      this.fail('json_syntax', 'expected an escape that JSON knows', start)
    this.at += 6
    return String.fromCharCode(Number.parseInt(hex, 16))
  }

  private number(): number {
    const start = this.at
    NUMBER.lastIndex = start
    const match = NUMBER.exec(this.text)
    if (!match) this.fail('json_syntax', 'expected a value', start)
    this.at = NUMBER.lastIndex
    const value = Number(match[0])
    if (!Number.isFinite(value))
      this.fail('json_unsafe_number', 'expected a number that a double holds', start)
    if (!match[1] && !match[2] && !Number.isSafeInteger(value)) {
      this.fail('json_unsafe_number', 'expected an integer within 2^53 - 1', start)
    }
    return value
  }

  private word<T extends Json>(word: string, value: T): T {
    if (!this.text.startsWith(word, this.at)) this.fail('json_syntax', 'expected a value', this.at)
    this.at += word.length
    return value
  }

  private space(): void {
    for (;;) {
      const unit = this.text.charCodeAt(this.at)
      if (unit !== 0x20 && unit !== 0x0a && unit !== 0x0d && unit !== 0x09) return
      this.at++
    }
  }

  private take(unit: number): boolean {
    if (this.text.charCodeAt(this.at) !== unit) return false
    this.at++
    return true
  }

  private deeper(depth: number): void {
    if (depth > MAX_DEPTH)
      this.fail('json_depth', `expected nesting of at most ${MAX_DEPTH}, got more`, this.at)
  }

  private fail(code: ErrorCode, expected: string, at: number): never {
    const before = this.text.slice(0, at)
    const line = before.split('\n').length
    const column = at - before.lastIndexOf('\n')
    const character = this.text.codePointAt(at)
    const got = expected.includes(', got')
      ? ''
      : `, got ${character === undefined ? 'the end' : quote(String.fromCodePoint(character))}`
    throw new TouchstoneError(code, expected + got, { where: `${this.source}:${line}:${column}` })
  }
}

/** A short piece of input as it may stand in a message: quoted, cut, escaped. */
function quote(text: string): string {
  return JSON.stringify(text.length > 40 ? `${text.slice(0, 40)}…` : text)
}
