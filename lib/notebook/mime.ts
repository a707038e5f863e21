/** What a value shows of itself: a MIME bundle, as notebooks and Jupyter know it. */
import { inspect } from 'node:util'
import type { JsonObject } from '../json.ts'

/** MIME type to text, base64 (pictures), or JSON (specs). Always has `text/plain`. */
export type Bundle = { 'text/plain': string; [type: string]: unknown }

export const VEGALITE = 'application/vnd.vegalite.v5+json'
export const SVG = 'image/svg+xml'
const DISPLAY = Symbol.for('Jupyter.display')

/** Anything that draws itself. */
type Drawn = {
  spec: JsonObject
  svg(): Promise<string> | string
  png?(): Promise<Uint8Array>
  text?(): string
}

/**
 * The bundle of a value; undefined for `undefined`.
 *
 * A value with `[Symbol.for('Jupyter.display')]()` says itself what it shows, and one with `spec`
 * and `svg()` is a chart. Both may be promised. Everything else shows its text.
 */
export async function bundleOf(value: unknown): Promise<Bundle | undefined> {
  if (value === undefined) return undefined
  const bundle: Record<string, unknown> = {}
  const shown = value as { [DISPLAY]?: () => unknown } | null
  if (shown !== null && typeof shown === 'object' && typeof shown[DISPLAY] === 'function') {
    const said = await shown[DISPLAY]()
    if (said && typeof said === 'object') Object.assign(bundle, said)
  }
  if (isDrawn(value)) {
    bundle[SVG] ??= await value.svg()
    bundle[VEGALITE] ??= {
      ...value.spec,
      $schema: 'https://vega.github.io/schema/vega-lite/v5.json',
    }
    if (bundle['image/png'] === undefined && value.png) {
      bundle['image/png'] = Buffer.from(await value.png()).toString('base64')
    }
    if (value.text) bundle['text/plain'] ??= value.text()
  }
  return {
    ...bundle,
    'text/plain': typeof bundle['text/plain'] === 'string' ? bundle['text/plain'] : plain(value),
  }
}

function isDrawn(value: unknown): value is Drawn {
  if (value === null || typeof value !== 'object') return false
  const drawn = value as Partial<Drawn>
  return typeof drawn.svg === 'function' && typeof drawn.spec === 'object'
}

/** Text of a value without colour, 100 characters wide; a text of several lines as it is. */
export function plain(value: unknown): string {
  if (typeof value === 'string' && value.includes('\n')) return value
  return inspect(value, {
    colors: false,
    breakLength: 100,
    compact: 3,
    depth: 4,
    maxArrayLength: 50,
    maxStringLength: 4000,
  })
}
