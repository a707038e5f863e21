/**
 * The shipped fonts: where they lie, and how wide a text set in them is. Nothing here looks at the
 * system's fonts.
 */
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { TouchstoneError } from '../../errors.ts'
import advances from './fonts/advances.json' with { type: 'json' }

/**
 * The family that SVG files name. A reader without DejaVu Sans gets Verdana, which is as wide, so
 * that nothing overlaps.
 */
export const FAMILY = 'DejaVu Sans, Verdana, sans-serif'

const EM = 2048
/** The width of a character that the table lacks. Too much room is better than too little. */
const UNKNOWN = EM

/**
 * `[advance, characters]` in font units, as the font files have them. `npm run advances` writes it,
 * a test holds it.
 */
const TABLES = advances as unknown as { [weight in Weight]: [advance: number, text: string][] }
const known: { [weight in Weight]?: Map<string, number> } = {}

function tableOf(weight: Weight): Map<string, number> {
  known[weight] ??= new Map(
    TABLES[weight].flatMap(([advance, text]) =>
      [...text].map((character) => [character, advance] as const),
    ),
  )
  return known[weight]
}

export type Weight = 'regular' | 'bold'

/**
 * How wide a text is.
 *
 * @param sizePx font size in pixels
 * @returns      pixels
 * @example
 * measure('iiii', 10).toFixed(2) // '11.11'
 */
export function measure(text: string, sizePx: number, weight: Weight = 'regular'): number {
  const table = tableOf(weight)
  let units = 0
  for (const character of text) units += table.get(character) ?? UNKNOWN
  return (units * sizePx) / EM
}

/**
 * Paths of the two font files, beside this module from source and from a compiled package.
 *
 * @throws TouchstoneError `dependency_missing` when one is not there: drawing on would give a
 *   picture without any text.
 */
export function fontFiles(folder: URL = new URL('./fonts/', import.meta.url)): string[] {
  return ['DejaVuSans.ttf', 'DejaVuSans-Bold.ttf'].map((name) => {
    const path = fileURLToPath(new URL(name, folder))
    if (!existsSync(path)) {
      throw new TouchstoneError(
        'dependency_missing',
        'expected the font file of the package, got no such file',
        { where: path },
      )
    }
    return path
  })
}
