/**
 * A chart as a page of its own: scripts and data inside, light or dark as the reader's system is,
 * no request to anywhere.
 */
import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { escapeMarkup } from '../display.ts'
import type { Json, JsonObject } from '../json.ts'
import type { Chart } from './chart.ts'
import { needed } from './draw/render.ts'
import { config } from './draw/theme.ts'

const PACKAGES = ['vega', 'vega-lite', 'vega-embed']

/**
 * What a page with charts may do: run what stands in it, and nothing else. Vega's own interpreter
 * of expressions is used, so that no text is ever run as code.
 */
export const POLICY =
  "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data: blob:; base-uri 'none'; form-action 'none'"

/** JSON that is safe inside a script element, whatever its strings say. */
export function scriptJson(value: Json): string {
  const unit = (character: string) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
  return JSON.stringify(value).replace(/[<>&\u2028\u2029]/g, unit)
}

/**
 * Script elements with vega, vega-lite and vega-embed, their licences before them, and the code
 * that brings every mounted chart of the page to life. Once per page.
 *
 * @throws TouchstoneError `dependency_missing`
 */
export async function scripts(): Promise<string> {
  const find = createRequire(import.meta.url)
  const elements = PACKAGES.map((name) =>
    needed(name, async () => {
      const folder = dirname(dirname(find.resolve(name)))
      const code = await readFile(join(folder, 'build', `${name}.min.js`), 'utf8')
      const licence = await readFile(join(folder, 'LICENSE'), 'utf8')
      // A map would be a request; a closing tag inside the code would end the element.
      const safe = code
        .replace(/^\/\/# sourceMappingURL=.*$/gm, '')
        .replace(/<\/(script)/gi, '<\\/$1')
      return `<script>/*! ${name}\n\n${licence.replaceAll('*/', '* /')}*/\n${safe.trim()}</script>`
    }),
  )
  return [...(await Promise.all(elements)), `<script>${starter()}</script>`].join('\n')
}

/**
 * The code that draws every `.chart` of a page, and draws it again when the reader's theme changes.
 */
function starter(): string {
  return `
const dark = ${scriptJson(config('dark'))}
const over = (a, b) => {
  const out = { ...a }
  for (const [k, v] of Object.entries(b)) out[k] = v && typeof v === 'object' && !Array.isArray(v) ? over(a?.[k] ?? {}, v) : v
  return out
}
const theme = matchMedia('(prefers-color-scheme: dark)')
const draw = () => Promise.all([...document.querySelectorAll('.chart')].map(async (place) => {
  const spec = JSON.parse(place.querySelector('script').textContent)
  if (theme.matches) spec.config = over(spec.config ?? {}, dark)
  const stage = place.querySelector('.stage')
  try {
    await vegaEmbed(stage, spec, {
      mode: 'vega-lite', renderer: 'svg', ast: true, tooltip: { theme: theme.matches ? 'dark' : 'light' },
      actions: { export: true, source: false, compiled: false, editor: false },
    })
    place.dataset.drawn = theme.matches ? 'dark' : 'light'
  } catch (error) {
    stage.textContent = String(error)
    place.dataset.drawn = 'error'
  }
}))
theme.addEventListener('change', draw)
addEventListener('DOMContentLoaded', draw)
`.trim()
}

/**
 * The place of one chart in a page that has the `scripts()`: its spec, and a picture for readers
 * that run no scripts.
 */
export function mount(spec: JsonObject, title: string, svg: string): string {
  return `<div class="chart" role="figure" aria-label="${escapeMarkup(title)}"><div class="stage"></div>
<script type="application/json">${scriptJson(spec)}</script>
<noscript>${svg}</noscript></div>`
}

/** Style of pages that hold charts, for both themes. */
export const STYLE = `
:root { color-scheme: light dark; }
body { margin: 0; padding: 24px; background: #fff; color: #1f2428; font: 14px/1.5 'DejaVu Sans', Verdana, sans-serif; }
.chart { overflow-x: auto; }
.chart .vega-embed { padding-right: 38px; }
pre { overflow-x: auto; font: 12px/1.35 'DejaVu Sans Mono', Menlo, Consolas, monospace; }
@media (prefers-color-scheme: dark) {
  body { background: #15191d; color: #e8ebed; }
  .chart .vega-embed summary { filter: invert(1); }
}
`.trim()

/** A page that may hold charts. @param style beside `STYLE`. @param body HTML */
export function pageOf(title: string, style: string, body: string, policy = POLICY): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeMarkup(title)}</title>
<style>
${STYLE}
${style}</style>
</head>
<body>
${body}
</body>
</html>
`
}

/** The whole page of one chart. */
export async function page(chart: Chart): Promise<string> {
  const [code, svg] = await Promise.all([scripts(), chart.svg()])
  const text = `<details><summary>As text</summary>\n<pre>${escapeMarkup(chart.text())}</pre>\n</details>`
  return pageOf(chart.title, '', [mount(chart.spec, chart.title, svg), text, code].join('\n'))
}
