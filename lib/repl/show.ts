/** Values and errors as text: what the prompt, `-e` and piped scripts print. */

import { inspect } from 'node:util'
import { isPromise } from 'node:util/types'
import { type Look, tone, wrap } from '../display.ts'
import { TouchstoneError } from '../errors.ts'

/** A value as a person reads it: strings as they are at the top when asked, everything else as it prints itself. */
export function showValue(value: unknown, look: Look): string {
  const text = inspect(value, {
    colors: look.colors ?? false,
    breakLength: look.width ?? 100,
    compact: 3,
    depth: 4,
    maxArrayLength: 50,
    maxStringLength: 4000,
  })
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
): Promise<boolean> {
  const { png } = (value ?? {}) as { png?: (options: { scale: number }) => Promise<Uint8Array> }
  if (typeof png !== 'function') return false
  const { encodeImage, imageProtocol } = await import('../chart/terminal.ts')
  const protocol = imageProtocol(stream, process.env)
  if (!protocol) return false
  stream.write(`${encodeImage(await png.call(value, { scale: 1 }), protocol)}\n`)
  return true
}

/**
 * An error as one paragraph: its code or name, its message, and the line of the code it came from.
 *
 * @param filename the name that the code ran under, to find its line in the stack
 */
export function showError(error: unknown, look: Look, filename?: string): string {
  if (!(error instanceof Error)) return `${tone('thrown', 'bad', look)} ${showValue(error, look)}`
  const name = error instanceof TouchstoneError ? error.code : nameOf(error)
  const line = filename === undefined ? undefined : lineOf(error, filename)
  const place =
    line === undefined || error.message.includes(`${filename}:`) ? '' : ` (line ${line})`
  const message = error.message || 'no message'
  const text = wrap(`${name}: ${message}${place}`, look.width ?? 100, '')
  return `${tone(text.slice(0, name.length), 'bad', look)}${text.slice(name.length)}${causes(error, look)}`
}

function nameOf(error: Error): string {
  const code = (error as { code?: unknown }).code
  return typeof code === 'string' ? `${error.name} ${code}` : error.name
}

function causes(error: Error, look: Look): string {
  let text = ''
  let cause = error.cause
  for (let depth = 0; cause instanceof Error && depth < 3; depth++) {
    text += `\n${wrap(`because of ${cause.name}: ${cause.message}`, look.width ?? 100, '  ')}`
    cause = cause.cause
  }
  return text
}

/** The line of the code that a stack goes through first, counted from 1. */
function lineOf(error: Error, filename: string): number | undefined {
  const frame = (error.stack ?? '').split('\n').find((line) => line.includes(`${filename}:`))
  const line = frame?.slice(frame.indexOf(`${filename}:`) + filename.length + 1).match(/^\d+/)
  return line ? Number(line[0]) : undefined
}

/** The whole stack with causes, for `.trace`. */
export function showTrace(error: unknown, look: Look): string {
  return inspect(error, { colors: look.colors ?? false, breakLength: look.width ?? 100 })
}
