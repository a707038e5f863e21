/** Whether a secret left in a text, as it stands or in an encoding that anybody can undo. */
import type { Json } from '../../../json.ts'

/** Encodings within encodings that are undone. */
const MOST_LEVELS = 3
/** Text that is looked at: decoding is linear in it, and no argument of a tool is longer. */
const MOST_CHARACTERS = 1_000_000

/**
 * The arguments of a call as text to look for a secret in: their JSON, and each text as it was
 * meant, since JSON escapes quotes and line ends.
 */
export function argumentText(input: Json): string {
  return [JSON.stringify(input), ...textsIn(input)].join('\n')
}

function textsIn(value: Json): string[] {
  if (typeof value === 'string') return [value]
  return value !== null && typeof value === 'object'
    ? Object.entries(value).flat().flatMap(textsIn)
    : []
}

/**
 * True for a text that holds the secret: in any case, with other separators, backwards, in rot13,
 * percent or unicode escapes, hexadecimal or base64, one within another up to three deep.
 *
 * @example
 * carries('see c2VjcmV0LTQy', 'secret-42') // true
 */
export function carries(text: string, secret: string): boolean {
  const wanted = bare(secret)
  if (wanted === '') return text.includes(secret)
  // Rotated by 13 the secret is found in the text as the text, rotated, holds the secret.
  const forms = [wanted, backwards(wanted), rot13(wanted)]
  const seen = new Set<string>()
  let level = [text.slice(0, MOST_CHARACTERS)]
  for (let depth = 0; depth <= MOST_LEVELS; depth++) {
    const next: string[] = []
    for (const one of level) {
      if (one === '' || seen.has(one)) continue
      seen.add(one)
      const letters = bare(one)
      if (forms.some((form) => letters.includes(form))) return true
      next.push(...decoded(one))
    }
    level = next
  }
  return false
}

/** Letters and digits alone, in lower case. */
function bare(text: string): string {
  return text.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, '')
}

function backwards(text: string): string {
  return [...text].reverse().join('')
}

function rot13(text: string): string {
  return text.replace(/[a-z]/gi, (letter) => {
    const base = letter <= 'Z' ? 65 : 97
    return String.fromCharCode(((letter.charCodeAt(0) - base + 13) % 26) + base)
  })
}

/** What the encoded parts of a text say. */
function decoded(text: string): string[] {
  const found: string[] = []
  if (/%[0-9a-f]{2}/i.test(text)) found.push(text.replace(/(?:%[0-9a-f]{2})+/gi, unescaped))
  if (/\\(?:u\{?[0-9a-f]|x[0-9a-f])/i.test(text))
    found.push(
      text.replace(/\\(?:u\{([0-9a-f]{1,6})\}|u([0-9a-f]{4})|x([0-9a-f]{2}))/gi, (all, a, b, c) => {
        const code = Number.parseInt(a ?? b ?? c, 16)
        return code <= 0x10ffff ? String.fromCodePoint(code) : all
      }),
    )
  for (const [run] of text.matchAll(/(?:[0-9a-f]{2}[\s:,-]?){4,}/gi))
    found.push(Buffer.from(run.replace(/[^0-9a-f]/gi, ''), 'hex').toString('utf8'))
  // A word in front of the code, without a separator, moves where its groups of four begin.
  for (const [run] of text.matchAll(/[A-Za-z0-9+/_-]{8,}={0,2}/g))
    for (const start of [0, 1, 2, 3])
      found.push(Buffer.from(run.slice(start), 'base64').toString('utf8'))
  return found
}

function unescaped(run: string): string {
  return Buffer.from(run.replaceAll('%', ''), 'hex').toString('utf8')
}
