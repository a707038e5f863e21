/**
 * Pictures in terminals that can show them: the kitty and the iTerm protocol, and text everywhere
 * else.
 */
import { requireInstance } from '../arguments.ts'
import { lookOf } from '../display.ts'
import { Chart } from './chart.ts'
import { asciiOnly } from './text/plot.ts'

export type ImageProtocol = 'kitty' | 'iterm'

type Environment = Record<string, string | undefined>
type Stream = {
  isTTY?: boolean
  columns?: number
  hasColors?: () => boolean
  write(text: string): unknown
}

/**
 * How a terminal takes pictures; null where it shows text: not a terminal, inside tmux or screen,
 * or not known.
 *
 * @example
 * imageProtocol({ isTTY: true }, { TERM: 'xterm-kitty' }) // 'kitty'
 * imageProtocol({ isTTY: true }, { TERM_PROGRAM: 'iTerm.app' }) // 'iterm'
 * imageProtocol({ isTTY: true }, { TERM: 'xterm-kitty', TMUX: '/tmp/tmux' }) // null
 * imageProtocol({ isTTY: false }, { TERM: 'xterm-kitty' }) // null
 */
export function imageProtocol(
  stream: { isTTY?: boolean },
  environment: Environment,
): ImageProtocol | null {
  const { TERM = '', TERM_PROGRAM = '', KITTY_WINDOW_ID } = environment
  if (
    !stream.isTTY ||
    environment['TMUX'] ||
    environment['STY'] ||
    /^(screen|tmux|dumb)/.test(TERM)
  )
    return null
  if (
    KITTY_WINDOW_ID ||
    TERM === 'xterm-kitty' ||
    TERM === 'xterm-ghostty' ||
    TERM_PROGRAM === 'ghostty'
  )
    return 'kitty'
  if (['iTerm.app', 'WezTerm', 'vscode'].includes(TERM_PROGRAM)) return 'iterm'
  return null
}

/** The longest piece of base64 that one kitty sequence may carry. */
const KITTY_PIECE = 4096

/**
 * A PNG as escape sequences of a protocol, without a line feed behind it.
 *
 * @example
 * encodeImage(new Uint8Array([1]), 'iterm').slice(1, 12) // ']1337;File='
 */
export function encodeImage(png: Uint8Array, protocol: ImageProtocol): string {
  const data = Buffer.from(png.buffer, png.byteOffset, png.byteLength).toString('base64')
  if (protocol === 'iterm')
    return `\x1b]1337;File=inline=1;size=${png.byteLength};preserveAspectRatio=1:${data}\x07`
  const pieces = data.match(new RegExp(`.{1,${KITTY_PIECE}}`, 'g')) ?? []
  return pieces
    .map((piece, i) => {
      const more = i < pieces.length - 1 ? 1 : 0
      return `\x1b_G${i === 0 ? `a=T,f=100,m=${more}` : `m=${more}`};${piece}\x1b\\`
    })
    .join('')
}

/**
 * Write a chart to a terminal: as a picture where it can show one, else as text.
 *
 * @param stream default standard output
 * @returns what was written
 * @example
 * let said = ''
 * const rows = [{ configuration: 'a', level: 'verified' as const, count: 3 }]
 * await show(chart.levels(rows), { write: (text: string) => (said += text) }, {}) // 'text'
 */
export async function show(
  chart: Chart<unknown>,
  stream: Stream = process.stdout,
  environment: Environment = process.env,
): Promise<'picture' | 'text'> {
  requireInstance(chart, Chart, 'a chart', 'chart')
  const protocol = imageProtocol(stream, environment)
  if (protocol) {
    stream.write(`${encodeImage(await chart.png({ scale: 1 }), protocol)}\n`)
    return 'picture'
  }
  stream.write(`${chart.text({ ...lookOf(stream), ascii: asciiOnly(environment) })}\n`)
  return 'text'
}
