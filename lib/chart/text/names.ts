/**
 * Names and sentences shortened for charts. A number is kept whole or left out whole, since a part
 * of it reads as another number.
 */
import { stripVTControlCharacters } from 'node:util'
import { foreign, textWidth, wrap } from '../../display.ts'

const NUMBER = /([-+]?\d(?:[\d.,]*\d)?(?:e[-+]\d+)?)/

/** A text in parts that are not cut: numbers, and characters that are one on the screen. */
function parts(text: string): string[] {
  return text
    .split(NUMBER)
    .flatMap((part, i) =>
      i % 2 ? [part] : [...new Intl.Segmenter().segment(part)].map(({ segment }) => segment),
    )
}

/** The first parts that fit a width in columns. */
function fitting(list: readonly string[], width: number): string[] {
  let used = 0
  const end = list.findIndex((part) => (used += textWidth(part)) > width)
  return end < 0 ? [...list] : list.slice(0, end)
}

/**
 * A text of at most `max` columns: what is too long loses its middle, since names of models and
 * cases differ at their ends.
 *
 * @example
 * short('gpt-oss-20250805-instruct', 16) // 'gpt-oss…nstruct'
 */
export function short(text: string, max: number): string {
  if (textWidth(text) <= max) return text
  const all = parts(text)
  const tail = fitting(all.toReversed(), Math.floor((max - 1) / 2)).reverse()
  const head = fitting(all, max - 1 - textWidth(tail.join('')))
  return `${head.join('')}…${tail.join('')}`
}

/**
 * A label for each distinct name: harmless to print, at most `max` columns wide, never the same for
 * two names.
 *
 * @param max columns, default 36
 */
export function labels(names: Iterable<string>, max = 36): Map<string, string> {
  const out = new Map<string, string>()
  const taken = new Set<string>()
  for (const name of new Set(names)) {
    const safe = foreign(name, 400).trim() || '(blank)'
    let label = short(safe, max)
    for (let n = 2; taken.has(label); n++) label = `${short(safe, max - ` (${n})`.length)} (${n})`
    taken.add(label)
    out.set(name, label)
  }
  return out
}

/**
 * A text in lines of at most `width` columns: broken at spaces, and a word that is wider within
 * itself. A number that is wider than a line is left out.
 */
export function broken(text: string, width: number): string[] {
  if (textWidth(text) <= width) return [text]
  return wrap(stripVTControlCharacters(text), width)
    .split('\n')
    .flatMap((line) => {
      const lines: string[] = []
      for (let rest = parts(line); rest.length; ) {
        const first = fitting(rest, width)
        lines.push(first.length ? first.join('') : '…')
        rest = rest.slice(Math.max(1, first.length))
      }
      return lines.length ? lines : ['']
    })
}
