/**
 * Spec in, SVG text or PNG bytes out: the same bytes on every machine. Vega and resvg are loaded on
 * first use.
 */

import { TouchstoneError } from '../../errors.ts'
import type { JsonObject } from '../../json.ts'
import { FAMILY, fontFiles, measure } from './font.ts'

type Vega = typeof import('vega')
type VegaLite = typeof import('vega-lite')
type TextItem = { font?: string; fontSize?: number; fontWeight?: string | number; limit?: number }
type Measured = { width: (item: TextItem, text: unknown) => number }

let loading: Promise<[Vega, VegaLite]> | undefined

function load(): Promise<[Vega, VegaLite]> {
  loading ??= needed('vega and vega-lite', async () => {
    const [vega, vegaLite] = await Promise.all([import('vega'), import('vega-lite')])
    const metrics = (vega as unknown as { textMetrics: Measured }).textMetrics
    const other = metrics.width
    // Without a canvas vega takes every character for 0.8 em, and charts come out half as wide
    // again as they are. Text in other fonts, from charts that are not ours, is measured as before.
    metrics.width = (item, text) => {
      if (item.font !== FAMILY) return other(item, text)
      const weight =
        item.fontWeight === 'bold' || Number(item.fontWeight) >= 600 ? 'bold' : 'regular'
      const width = measure(String(text ?? '').trim(), item.fontSize ?? 11, weight)
      return item.limit ? Math.min(width, item.limit) : width
    }
    return [vega, vegaLite]
  })
  return loading
}

/** Load what a chart needs. @throws TouchstoneError `dependency_missing` saying what and why */
export async function needed<T>(what: string, get: () => Promise<T>): Promise<T> {
  try {
    return await get()
  } catch (cause) {
    const got = cause instanceof Error ? cause.message.split('\n')[0] : String(cause)
    throw new TouchstoneError('dependency_missing', `expected ${what} to load, got: ${got}`, {
      cause,
    })
  }
}

/** A drawing holds its rows. It reads no file and no address, and links to none. */
const NOTHING_ELSE = {
  load: refuse,
  sanitize: refuse,
  http: refuse,
  file: refuse,
}

async function refuse(uri: string): Promise<never> {
  throw new TouchstoneError('chart_invalid', `expected a drawing of its own rows, got ${uri}`)
}

/**
 * One chart at a time: ids of clip paths count up from a reset, and two charts drawn at once would
 * share the count.
 */
let drawing: Promise<unknown> = Promise.resolve()

/**
 * Draw a Vega-Lite spec as SVG text.
 *
 * @param warn called with what Vega-Lite and Vega have to say about the spec; silent by default
 * @throws TouchstoneError `chart_invalid` when the spec does not compile, `dependency_missing` when
 *   vega does not load
 */
export async function toSvg(
  spec: JsonObject,
  warn: (message: string) => void = () => {},
): Promise<string> {
  const [vega, vegaLite] = await load()
  const logger = vega.logger(vega.Warn, undefined, (_method, _level, args) => {
    warn(args.map(String).join(' '))
    return undefined as never
  })
  const draw = async () => {
    try {
      const compiled = vegaLite.compile(structuredClone(spec) as never, { logger: logger as never })
      vega.resetSVGDefIds()
      const view = new vega.View(vega.parse(compiled.spec), {
        renderer: 'none',
        logger,
        loader: NOTHING_ELSE as never,
      })
      try {
        return await view.toSVG()
      } finally {
        view.finalize()
      }
    } catch (cause) {
      const got = cause instanceof Error ? cause.message : String(cause)
      throw new TouchstoneError(
        'chart_invalid',
        `expected a Vega-Lite spec that compiles, got: ${got}`,
        { cause },
      )
    }
  }
  const mine = drawing.then(draw)
  drawing = mine.catch(() => {})
  return mine
}

/**
 * Rasterise SVG text with the shipped fonts alone.
 *
 * @param scale pixels per SVG unit, in (0, 8], default 2
 * @throws TouchstoneError `argument_invalid` for another scale, `dependency_missing` when resvg or
 *   a font is not there
 */
export async function toPng(svg: string, scale = 2): Promise<Uint8Array> {
  if (!(scale > 0 && scale <= 8)) {
    throw new TouchstoneError('argument_invalid', `expected a scale in (0, 8], got ${scale}`, {
      where: 'options.scale',
    })
  }
  const files = fontFiles()
  const { Resvg } = await needed(
    '@resvg/resvg-js',
    async () => (await import('@resvg/resvg-js')).default,
  )
  const image = new Resvg(svg, {
    fitTo: { mode: 'zoom', value: scale },
    font: { fontFiles: files, loadSystemFonts: false, defaultFontFamily: 'DejaVu Sans' },
  })
  return new Uint8Array(image.render().asPng())
}
