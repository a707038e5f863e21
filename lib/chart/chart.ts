/**
 * What every kind of chart hands back: a public spec, and the ways to look at it and to keep it.
 */
import { mkdir } from 'node:fs/promises'
import { dirname, extname, resolve } from 'node:path'
import { inspect } from 'node:util'
import { onlyOptions } from '../arguments.ts'
import { foreign, lookOf } from '../display.ts'
import { TouchstoneError } from '../errors.ts'
import { replaceFile, unwritable } from '../files.ts'
import type { JsonObject } from '../json.ts'
import { toPng, toSvg } from './draw/render.ts'
import { schema } from './draw/spec.ts'
import { asciiOnly, type TextLook } from './text/plot.ts'

/** Every kind of chart, each named like the function that draws it. */
export const CHART_KINDS = [
  'strip',
  'heat',
  'slope',
  'transition',
  'forest',
  'levels',
  'ecdf',
  'reliability',
  'noise',
  'latency',
  'activity',
  'own',
] as const
export type ChartKind = (typeof CHART_KINDS)[number]

/** Media types and what to show under them, as Jupyter front ends take it. */
export type MimeBundle = Record<string, unknown>

type Parts<Row> = {
  kind: ChartKind
  title: string
  notes: string[]
  rows: Row[]
  spec: JsonObject
  text: (look: TextLook) => string
}

const SAVED_AS = ['.svg', '.png', '.html', '.json', '.txt']

/**
 * One chart. `spec` is plain Vega-Lite with the data inside and may be edited before drawing:
 *
 * @example
 * const c = chart.strip([{ configuration: 'a', estimate: 0.5, low: 0.4, high: 0.6, runs: [] }], { metric: 'goal rate' })
 * c.spec.background = '#fffff8'
 * c.kind // 'strip'
 */
export class Chart<Row = unknown> {
  readonly kind: ChartKind
  /** What is shown, in one line. */
  readonly title: string
  /** n, target, interval and how to read it: the lines below the title. */
  readonly notes: string[]
  /** The rows as they were checked; undefined estimates are null. */
  readonly rows: Row[]
  /** Vega-Lite v6, also accepted by v5. Plain data; what is changed here is what is drawn. */
  spec: JsonObject
  private readonly draw: (look: TextLook) => string

  constructor(parts: Parts<Row>) {
    this.kind = parts.kind
    this.title = foreign(parts.title, 300)
    this.notes = parts.notes
    this.rows = parts.rows
    this.spec = parts.spec
    this.draw = parts.text
  }

  /** SVG text, the same for the same spec on every machine. */
  svg(): Promise<string> {
    return toSvg(this.spec)
  }

  /**
   * PNG bytes, drawn with the shipped fonts.
   *
   * @param options `scale`: pixels per SVG unit, in (0, 8], default 2
   */
  async png(options: { scale?: number } = {}): Promise<Uint8Array> {
    onlyOptions(options, 'scale')
    return toPng(await this.svg(), options.scale)
  }

  /**
   * A page that needs nothing else: interactive, light or dark as the reader's system is, and it
   * makes no request.
   */
  async html(): Promise<string> {
    const { page } = await import('./chart-page.ts')
    return page(this)
  }

  /**
   * The chart in characters, for terminals and logs.
   *
   * @param look `width` in columns, default 100; `colors`, default false; `ascii`, default false
   */
  text(look: TextLook = {}): string {
    return this.draw({ ...look, width: Math.max(40, look.width ?? 100) })
  }

  /**
   * Write the chart to a file, by its extension: `.svg`, `.png`, `.html`, `.json` (the spec) or
   * `.txt`. Folders are made; a chart that is there is replaced.
   *
   * @returns the file's absolute path
   * @throws  TouchstoneError `argument_invalid` for another extension, `file_unwritable` when the
   *   file cannot be written
   */
  async save(path: string): Promise<string> {
    const file = resolve(path)
    const kind = extname(file).toLowerCase()
    if (!SAVED_AS.includes(kind)) {
      const got = kind || 'none'
      throw new TouchstoneError(
        'argument_invalid',
        `expected an extension of ${SAVED_AS.join(' ')}, got ${got}`,
        { where: path },
      )
    }
    const content = await this.as(kind)
    try {
      await mkdir(dirname(file), { recursive: true })
      replaceFile(file, content)
    } catch (cause) {
      throw unwritable(path, cause)
    }
    return file
  }

  private async as(extension: string): Promise<string | Uint8Array> {
    if (extension === '.svg') return this.svg()
    if (extension === '.png') return this.png()
    if (extension === '.html') return this.html()
    return extension === '.json' ? `${JSON.stringify(this.spec, null, 2)}\n` : `${this.text()}\n`
  }

  toJSON(): { kind: ChartKind; title: string; notes: string[]; rows: Row[]; spec: JsonObject } {
    return {
      kind: this.kind,
      title: this.title,
      notes: this.notes,
      rows: this.rows,
      spec: this.spec,
    }
  }

  [inspect.custom](_depth: number, options: { colors?: boolean }): string {
    const look = lookOf(process.stdout)
    return this.text({
      width: look.width,
      colors: options.colors === true,
      ascii: asciiOnly(process.env),
    })
  }

  /**
   * For notebooks: an interactive chart, a picture for readers that run no scripts, and text.
   *
   * A promise, since drawing is asynchronous; kernels await it. The spec names Vega-Lite v5, which
   * is what front ends have.
   */
  async [Symbol.for('Jupyter.display')](): Promise<MimeBundle> {
    const bundle: MimeBundle = {
      'application/vnd.vegalite.v5+json': { ...this.spec, $schema: schema(5) },
    }
    try {
      return {
        ...bundle,
        'image/png': Buffer.from(await this.png()).toString('base64'),
        'text/plain': this.text(),
      }
    } catch (error) {
      if (!(error instanceof TouchstoneError && error.code === 'dependency_missing')) throw error
      // Where pictures cannot be made, the interactive chart and the text still can.
      return { ...bundle, 'text/plain': `${this.text()}\n\nNo picture: ${error.message}` }
    }
  }
}
