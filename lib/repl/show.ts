/** Values and errors as text: what the prompt, `-e` and piped scripts print. */

import { inspect, stripVTControlCharacters } from 'node:util'
import { isPromise } from 'node:util/types'
import type { Frame } from '../code/frames.ts'
import { type Look, tone, wrap } from '../display.ts'
import { printable, TouchstoneError } from '../errors.ts'
import { redacted } from '../secrets.ts'

/**
 * A value as a person reads it: strings as they are at the top when asked, everything else as it
 * prints itself.
 */
export function showValue(value: unknown, look: Look): string {
  const text = inspect(value, {
    colors: look.colors ?? false,
    breakLength: look.width ?? 100,
    compact: 3,
    depth: 4,
    maxArrayLength: 50,
    maxStringLength: 4000,
  })
    // Escapes are inspect's own or were cleaned; what changes the order or is invisible is
    // anybody's.
    .replace(/[\p{Cf}\p{Zl}\p{Zp}\p{Co}]/gu, (character) =>
      character === '\u200d' ? character : '\ufffd',
    )
  return isPromise(value)
    ? `${text}  ${tone('(a promise: put await before it)', 'quiet', look)}`
    : text
}

/**
 * Draw a chart as a picture, where the terminal shows pictures.
 *
 * @returns false when nothing was drawn: the value is no chart, or its text must do
 */
export async function drawInline(
  value: unknown,
  stream: { isTTY?: boolean; write(text: string): unknown },
  environment: Record<string, string | undefined> = process.env,
): Promise<boolean> {
  const { png } = (value ?? {}) as { png?: (options: { scale: number }) => Promise<Uint8Array> }
  if (typeof png !== 'function') return false
  const { encodeImage, imageProtocol } = await import('../chart/terminal.ts')
  const protocol = imageProtocol(stream, environment)
  if (!protocol) return false
  stream.write(`${encodeImage(await png.call(value, { scale: 1 }), protocol)}\n`)
  return true
}

/** Frames shown of an error; `.trace` has the rest. */
const FRAMES = 3

/**
 * An error for people: its code or name, its message, its causes, and the lines that it came from.
 *
 * @param frames where in the code that was typed, innermost first
 */
export function showError(error: unknown, look: Look, frames: readonly Frame[] = []): string {
  if (!(error instanceof Error)) return `${tone('thrown', 'bad', look)} ${showValue(error, look)}`
  const name = error instanceof TouchstoneError ? error.code : nameOf(error)
  const message = harmless(error.message) || 'no message'
  const text = wrap(`${name}: ${message}`, look.width ?? 100, '')
  const places = frames.slice(0, FRAMES).map((frame) => excerpt(frame, frames.length > 1, look))
  return `${tone(text.slice(0, name.length), 'bad', look)}${text.slice(name.length)}${causes(error, look)}${places.join('')}`
}

/** The line of a frame with an arrow below its column. */
function excerpt({ name, file, line, column, source }: Frame, named: boolean, look: Look): string {
  const code = (source.split('\n')[line - 1] ?? '').replaceAll('\t', ' ')
  const head = `  ${line} │ `
  const room = (look.width ?? 100) - head.length
  // Of a long line, the part round the column.
  const from = column > room ? column - Math.ceil(room / 2) : 0
  const place = named || name ? `\n  ${name ? `${name}, ` : ''}${file}` : ''
  const gutter = `${' '.repeat(head.length - 2)}│ `
  const arrow = column > code.length + 1 ? '' : `\n${gutter}${' '.repeat(column - 1 - from)}^`
  return tone(`${place}\n${head}${harmless(code.slice(from, from + room))}${arrow}`, 'quiet', look)
}

/** What an error says may be anybody's words. */
function harmless(text: unknown): string {
  return printable(redacted(String(text)))
}

function nameOf(error: Error): string {
  const code = (error as { code?: unknown }).code
  return harmless(typeof code === 'string' ? `${error.name} ${code}` : error.name)
}

function causes(error: Error, look: Look): string {
  let text = ''
  let cause = error.cause
  for (let depth = 0; cause instanceof Error && depth < 3; depth++) {
    text += `\n${wrap(`because of ${harmless(cause.name)}: ${harmless(cause.message)}`, look.width ?? 100, '  ')}`
    cause = cause.cause
  }
  return text
}

/** Frames that only say how the code was run. */
const MACHINERY = /^\s+at .*(?:\bnode:|[\\/]lib[\\/](?:code|repl)[\\/]|[\\/]lib[\\/]signal\.)/

/**
 * The whole stack with causes, for `.trace`, without the frames of what ran the code.
 *
 * @param framesOf the frame in typed code of a line of the stack
 */
export function showTrace(
  error: unknown,
  look: Look,
  framesOf: (line: string) => readonly Frame[],
): string {
  const text = harmless(inspect(error, { breakLength: look.width ?? 100 }))
  return text
    .split('\n')
    .flatMap((line) => {
      const plain = stripVTControlCharacters(line)
      if (MACHINERY.test(plain)) return []
      const [frame] = framesOf(plain.replace(/ \{$/, ''))
      if (!frame) return [line]
      const { name, file, column, source } = frame
      if (frame.line > source.split('\n').length) return []
      return [`    at ${name ? `${name} ` : ''}${file}:${frame.line}:${column}`]
    })
    .join('\n')
}
