/**
 * Plain text for people: tables that fit a width, colour, and text of others made harmless.
 *
 * Nothing here writes. The caller that prints decides on `colors` and `width`.
 */
import { createRequire } from 'node:module'
import { stripVTControlCharacters, styleText } from 'node:util'
import { printable } from './errors.ts'
import { redacted } from './secrets.ts'

export type Tone = 'good' | 'bad' | 'unsure' | 'quiet' | 'strong'
const TONES: Record<Tone, Parameters<typeof styleText>[0]> = {
  good: 'green',
  bad: 'red',
  unsure: 'yellow',
  quiet: 'gray',
  strong: 'bold',
}

export type Look = {
  /** Escape sequences for colour. Default false. */
  colors?: boolean
  /** Characters a line may take. Default: what the terminal has, else 100. */
  width?: number
  /** Tables go in here as markup; in the text stands their place between two marks. */
  tables?: { mark: string; made: string[] }
}

/**
 * The look that fits a stream: colours on a terminal unless NO_COLOR is set, its width, else 100
 * characters.
 */
export function lookOf(stream: {
  isTTY?: boolean
  columns?: number
  hasColors?: () => boolean
}): Required<Pick<Look, 'colors' | 'width'>> {
  const terminal = stream.isTTY === true
  return {
    colors: terminal && !process.env['NO_COLOR'] && (stream.hasColors?.() ?? true),
    width: terminal ? Math.max(40, stream.columns ?? 80) : 100,
  }
}

/** The look of a list. Where it is no terminal that reads, rows are whole: they are searched. */
export function listLook(stream: Parameters<typeof lookOf>[0]): ReturnType<typeof lookOf> {
  return { ...lookOf(stream), ...(stream.isTTY !== true && { width: Number.POSITIVE_INFINITY }) }
}

/** Colour a text by what it means. Without `colors` it comes back as it is. */
export function tone(text: string, as: Tone, look: Look = {}): string {
  return look.colors ? styleText(TONES[as], text, { validateStream: false }) : text
}

/**
 * Somebody else's text, safe to print: control characters, escape sequences, bidirectional
 * overrides and invisible characters become U+FFFD, line breaks become spaces, and it is cut at
 * `max` characters.
 *
 * @param max characters, default 200
 * @example
 * foreign('get\u001b[31m_user') // 'get�[31m_user'
 */
export function foreign(text: string, max = 200): string {
  // What stands in a file of others need not be the text that its place calls for.
  const said: string = typeof text === 'string' ? text : (JSON.stringify(text) ?? typeof text)
  const safe = printable(redacted(said.replace(/[\t\n\r]+/g, ' ')))
  const characters = [...safe]
  return characters.length > max ? `${characters.slice(0, max - 1).join('')}…` : safe
}

/**
 * A text for a terminal, safe to print: colours stay, other control sequences and characters do
 * not.
 */
export function coloured(text: string): string {
  return text
    .split(/(\u001b\[[\d;]*m)/)
    .map((part, i) => (i % 2 ? part : printable(part)))
    .join('')
}

/**
 * The JSON text of a value, safe to print: what a terminal would obey or not show is escaped, so
 * that it reads back as it was.
 *
 * @param indent spaces, default 0: one line
 * @example
 * jsonText(['a\u009b31m']) // '["a\\u009b31m"]'
 */
export function jsonText(value: unknown, indent = 0): string {
  const text = JSON.stringify(value, null, indent)
  return text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Co}]/gu, (character) =>
    character === '\n'
      ? character
      : [...Array(character.length).keys()]
          .map((i) => `\\u${character.charCodeAt(i).toString(16).padStart(4, '0')}`)
          .join(''),
  )
}

/**
 * Text that is safe between tags and in quoted attributes of HTML and of XML 1.0. What XML cannot
 * hold becomes U+FFFD.
 *
 * @example
 * escapeMarkup('a<b') // 'a&lt;b'
 */
export function escapeMarkup(text: string): string {
  return text
    .toWellFormed()
    .replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, '\ufffd')
    .replace(/[&<>"']/g, (character) => MARKUP[character] as string)
}

const MARKUP: { [character: string]: string } = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

/**
 * Columns that a text takes in a terminal: escape sequences and combining marks take none, wide
 * characters and emoji two.
 *
 * @example
 * textWidth('\u2705 日本') // 7
 */
export function textWidth(text: string): number {
  if (/^[ -~]*$/.test(text)) return text.length
  stringWidth ??= (load('string-width') as typeof import('string-width')).default
  return stringWidth(text)
}

// Its expressions take 25 ms to load, a seventh of the prompt's start: it comes with the first text
// that needs it.
const load = createRequire(import.meta.url)
let stringWidth: typeof import('string-width').default | undefined

/** Pad to a width in columns. */
export function pad(text: string, width: number, align: 'left' | 'right' = 'left'): string {
  const blank = ' '.repeat(Math.max(0, width - textWidth(text)))
  return align === 'left' ? text + blank : blank + text
}

/**
 * Cut to a width in columns, with an ellipsis where something is lost. Characters that are one on
 * the screen stay whole. A cut text loses its escape sequences.
 *
 * @example
 * cut('a\u0301bcdef', 4) // 'a\u0301bc…'
 */
export function cut(text: string, width: number): string {
  if (textWidth(text) <= width) return text
  let out = ''
  let used = 0
  for (const { segment } of new Intl.Segmenter().segment(stripVTControlCharacters(text))) {
    used += textWidth(segment)
    if (used > width - 1) break
    out += segment
  }
  return `${out}…`
}

/**
 * Cut to a width in columns with the ellipsis in the middle: names that differ at one end stay
 * apart.
 *
 * @example
 * cutMiddle('cached_read/contractor.benign', 16) // 'cached_…r.benign'
 */
export function cutMiddle(text: string, width: number): string {
  if (textWidth(text) <= width) return text
  const head = cut(text, Math.floor(width / 2))
  const left = width - textWidth(head)
  const parts = [...new Intl.Segmenter().segment(stripVTControlCharacters(text))]
  let tail = ''
  for (const { segment } of parts.reverse()) {
    if (textWidth(segment + tail) > left) break
    tail = segment + tail
  }
  return head + tail
}

/** The least width, from `least`, at which no two names of a column are cut to the same text. */
function apartFrom(least: number, rows: readonly string[][], column: number): number {
  const names = [...new Set(rows.map((row) => row[column] ?? ''))]
  const most = Math.max(least, ...names.map(textWidth))
  let width = least
  while (width < most && new Set(names.map((one) => cutMiddle(one, width))).size < names.length)
    width++
  return width
}

/** A space at which a line may end: not within an interval, and not before the unit of a figure. */
const BETWEEN_WORDS = / (?![^[\]]{0,20}\])(?<!\d (?=(?:ms|s|min|h)\b))/

/** Break a text at spaces into lines of at most `width` columns, each behind `indent`. */
export function wrap(text: string, width: number, indent = ''): string {
  const lines: string[] = []
  for (const paragraph of text.split('\n')) {
    let line = ''
    const words = paragraph
      .split(BETWEEN_WORDS)
      .flatMap((one) => (textWidth(indent + one) > width ? one.split(' ') : [one]))
    for (const word of words) {
      if (line && textWidth(indent + line) + 1 + textWidth(word) > width) {
        lines.push(indent + line)
        line = word
      } else line = line ? `${line} ${word}` : word
    }
    lines.push(indent + line)
  }
  return lines.join('\n')
}

export type Column = {
  head: string
  /** Default left; numbers go right. */
  align?: 'left' | 'right'
  /**
   * The narrowest this column may be cut to when the table is too wide. Default: it is never cut,
   * but broken at spaces.
   */
  min?: number
  /** Its cells name things: they are cut in the middle, and different ones stay different. */
  names?: boolean
}

/**
 * An aligned table: heads, then rows, two spaces between columns. Where it is wider than
 * `look.width`, columns with a `min` are cut first; then the others are broken at spaces, so that a
 * row takes several lines.
 *
 * @example
 * table([{ head: 'case' }, { head: 'pass', align: 'right' }], [['a', '5/5'], ['longer', '0/5']])
 * // 'case    pass\na        5/5\nlonger   0/5'
 */
export function table(columns: Column[], rows: string[][], look: Look = {}): string {
  if (look.tables) {
    const { mark, made } = look.tables
    return `${mark}${made.push(tableMarkup(columns, rows)) - 1}${mark}`
  }
  const widths = columns.map((column, i) =>
    Math.max(textWidth(column.head), ...rows.map((row) => textWidth(row[i] ?? ''))),
  )
  const limit = look.width ?? 100
  const shrink = (floors: (number | undefined)[]) => {
    for (let over = totalOf(widths) - limit; over > 0; over--) {
      let widest = -1
      for (const [i, width] of widths.entries())
        if (width > (floors[i] ?? width) && (widest < 0 || width > (widths[widest] ?? 0)))
          widest = i
      if (widest < 0) return
      widths[widest] = (widths[widest] ?? 0) - 1
    }
  }
  shrink(columns.map(({ min, names }, i) => (names ? apartFrom(min ?? 1, rows, i) : min)))
  for (const space of [BETWEEN_WORDS, ' '])
    shrink(
      columns.map(({ head, min }, i) =>
        min === undefined
          ? longestWord([head, ...rows.map((row) => row[i] ?? '')], space)
          : undefined,
      ),
    )
  const fitted = (cells: string[], as?: Tone) => {
    const parts = columns.map(({ min, names }, i) => {
      const [cell = '', width = 0] = [cells[i], widths[i]]
      if (names) return [cutMiddle(cell, width)]
      if (min === undefined && textWidth(cell) > width) return wrap(cell, width).split('\n')
      return [cut(cell, width)]
    })
    const height = Math.max(...parts.map((lines) => lines.length))
    return Array.from({ length: height }, (_, line) =>
      columns
        .map(({ align }, i) => {
          const text = parts[i]?.[line] ?? ''
          return pad(as ? tone(text, as, look) : text, widths[i] ?? 0, align)
        })
        .join('  ')
        .trimEnd(),
    )
  }
  return [
    ...fitted(
      columns.map(({ head }) => head),
      'quiet',
    ),
    ...rows.flatMap((row) => fitted(row)),
  ].join('\n')
}

/** A table as HTML. A front end has styles of its own, so that each cell says its side. */
function tableMarkup(columns: readonly Column[], rows: readonly string[][]): string {
  const cell = (name: 'th' | 'td', text: string, i: number) =>
    `<${name} style="text-align: ${columns[i]?.align ?? 'left'}">${escapeMarkup(text)}</${name}>`
  const line = (name: 'th' | 'td', cells: readonly string[]) =>
    `<tr>${columns.map((_, i) => cell(name, cells[i] ?? '', i)).join('')}</tr>`
  const heads = columns.map(({ head }) => head)
  return `<div style="overflow-x: auto" tabindex="0"><table><thead>${line('th', heads)}</thead><tbody>${rows.map((row) => line('td', row)).join('')}</tbody></table></div>`
}

/**
 * A text as HTML with its tables as tables; undefined where it has none. What stands round them
 * keeps its lines.
 *
 * @param say gives the text for a look
 */
export function marked(say: (look: Look) => string): string | undefined {
  // Nobody whose text is shown knows the mark.
  const mark = `table-${crypto.randomUUID()}-`
  const made: string[] = []
  // Lines are as long as the front end makes them.
  const text = say({ width: 10_000, tables: { mark, made } })
  if (made.length === 0) return undefined
  return text
    .split(new RegExp(`\\n? *${mark}(\\d+)${mark}\\n?`))
    .map((part, i) => (i % 2 ? (made[Number(part)] ?? '') : part.trim() === '' ? '' : prose(part)))
    .join('')
}

function prose(text: string): string {
  let [from, to] = [0, text.length]
  while (text[from] === '\n') from++
  while (to > from && text[to - 1] === '\n') to--
  return `<pre style="white-space: pre-wrap">${escapeMarkup(text.slice(from, to))}</pre>`
}

function totalOf(widths: readonly number[]): number {
  return widths.reduce((sum, width) => sum + width + 2, -2)
}

/**
 * Columns of the longest part that is not broken. A coloured text is not, since its colour would
 * run on.
 */
function longestWord(texts: readonly string[], space: string | RegExp): number {
  const parts = texts.flatMap((text) => (text.includes('\u001b') ? [text] : text.split(space)))
  return Math.max(0, ...parts.map(textWidth))
}

/** `1 case`, `2 cases`: a count with its noun. */
export function count(n: number, noun: string, plural = `${noun}s`): string {
  return `${n.toLocaleString('en-US')} ${n === 1 ? noun : plural}`
}

/** Milliseconds as a person reads them: `850 ms`, `2.4 s`, `3 min 20 s`. */
export function duration(ms: number): string {
  if (!Number.isFinite(ms)) return '-'
  if (ms < 1000) return `${Math.round(ms)} ms`
  if (ms < 60_000) return `${(ms / 1000).toFixed(1)} s`
  return `${Math.floor(ms / 60_000)} min ${Math.round((ms % 60_000) / 1000)} s`
}
