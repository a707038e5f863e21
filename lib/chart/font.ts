/** The shipped fonts: where they lie, and how wide a text set in them is. Nothing here looks at the system's fonts. */
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { TouchstoneError } from '../errors.ts'
import { BOLD, REGULAR } from './advances.ts'

/** The family that SVG files name. A reader without DejaVu Sans gets Verdana, which is as wide, so that nothing overlaps. */
export const FAMILY = 'DejaVu Sans, Verdana, sans-serif'

const EM = 2048
/** What an unknown character takes: an em, so that a text is rather given too much room than too little. */
const UNKNOWN = EM

const tables = {
  regular: index(REGULAR),
  bold: index(BOLD),
}

function index(rows: [advance: number, characters: string][]): Map<string, number> {
  return new Map(
    rows.flatMap(([advance, characters]) =>
      [...characters].map((character) => [character, advance]),
    ),
  )
}

export type Weight = keyof typeof tables

/**
 * How wide a text is.
 *
 * @param sizePx font size in pixels
 * @returns      pixels
 * @example
 * measure('iiii', 10).toFixed(2) // '11.11'
 */
export function measure(text: string, sizePx: number, weight: Weight = 'regular'): number {
  const table = tables[weight]
  let units = 0
  for (const character of text) units += table.get(character) ?? UNKNOWN
  return (units * sizePx) / EM
}

/**
 * Paths of the two font files, beside this module from source and from a compiled package.
 *
 * @throws TouchstoneError `dependency_missing` when one is not there: drawing on would give a picture without any text.
 */
export function fontFiles(folder: URL = new URL('./fonts/', import.meta.url)): string[] {
  return ['DejaVuSans.ttf', 'DejaVuSans-Bold.ttf'].map((name) => {
    const path = fileURLToPath(new URL(name, folder))
    if (!existsSync(path)) {
      throw new TouchstoneError(
        'dependency_missing',
        'expected the font file of the package, got no such file',
        {
          where: path,
        },
      )
    }
    return path
  })
}
