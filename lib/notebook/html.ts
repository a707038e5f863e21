/** A run as one HTML page: charts alive, light and dark, and nothing to load from anywhere. */

import { createHash } from 'node:crypto'
import { onlyMembers } from '../arguments.ts'
import { mount, POLICY, pageOf, scripts } from '../chart/chart-page.ts'
import { duration, escapeMarkup } from '../display.ts'
import type { JsonObject } from '../json.ts'
import type { CellResult, NotebookResult, Output } from './execute.ts'
import { HIGHLIGHTS, highlight } from './highlight.ts'
import { altOf, failureText } from './markdown.ts'
import { SVG, VEGALITE } from './mime.ts'
import { proseHtml } from './prose.ts'

export type HtmlOptions = {
  /** Show how long each cell took. Default false, so that a second run gives the same bytes. */
  times?: boolean
  /**
   * Text of a script for a page that a server keeps current; such a page may talk to its server.
   */
  live?: string
  /** Shown above the notebook, as HTML. */
  note?: string
}

/**
 * Write a run as a page. @throws `dependency_missing` when a chart cannot be drawn for want of vega
 */
export async function html(result: NotebookResult, options: HtmlOptions = {}): Promise<string> {
  onlyMembers(options, ['times', 'live', 'note'], 'options')
  const drawn = result.cells.some((cell) => cell.outputs.some(isChart))
  // A live page gets its charts later, if it has none yet.
  const code = drawn || options.live ? await scripts() : ''
  const policy = options.live ? `${POLICY}; connect-src 'self'` : POLICY
  const follow = options.live ? `<script>${options.live}</script>` : ''
  const inside = [await body(result, options), code, follow].join('\n')
  return pageOf(result.title, `${PAGE}\n`, inside, policy)
}

/** The part of the page that a run changes. */
export async function body(result: NotebookResult, options: HtmlOptions = {}): Promise<string> {
  const cells = result.cells.filter((cell) => cell.source.trim() !== '' || cell.outputs.length > 0)
  const note = options.note ? `<div class="note">${options.note}</div>\n` : ''
  const sections = await Promise.all(cells.map((cell) => cellHtml(cell, result, options)))
  return `<main>\n${note}${sections.map((section) => keyed(section, options)).join('\n')}\n</main>`
}

async function cellHtml(
  cell: CellResult,
  result: NotebookResult,
  options: HtmlOptions,
): Promise<string> {
  if (cell.kind === 'markdown')
    return `<section class="prose">\n${await proseHtml(cell.source)}</section>`
  const set = cell.tags.includes('parameters') ? Object.entries(result.set) : []
  const outputs = await Promise.all(cell.outputs.map(outputHtml))
  if (set.length > 0)
    outputs.unshift(
      `<p class="quiet">set for this run: ${set.map(([name, value]) => escapeMarkup(`${name} = ${JSON.stringify(value)}`)).join(', ')}</p>`,
    )
  if (cell.state === 'running') outputs.push('<p class="quiet">running</p>')
  if (cell.state === 'not_run')
    outputs.push(`<p class="quiet">not run${result.ok ? ' yet' : ': a cell above failed'}</p>`)
  const time =
    options.times && cell.state === 'ran'
      ? `<span class="time">${duration(cell.durationMs)}</span>`
      : ''
  return `<section class="code ${cell.state}">${time}
<pre class="source"><code>${await highlight(cell.source, 'ts')}</code></pre>
${outputs.join('\n')}
</section>`
}

/** A live page keeps the cells that did not change, so that charts do not flicker. */
function keyed(section: string, options: HtmlOptions): string {
  if (!options.live) return section
  const key = createHash('sha256').update(section).digest('hex').slice(0, 16)
  return section.replace('<section', `<section data-key="${key}"`)
}

function isChart(output: Output): boolean {
  return output.kind === 'value' && typeof output.bundle[VEGALITE] === 'object'
}

async function outputHtml(output: Output): Promise<string> {
  if (output.kind === 'stream')
    return `<pre class="output ${output.name}">${escapeMarkup(output.text.trimEnd())}</pre>`
  if (output.kind === 'error') {
    const frames =
      output.stack.length > 1
        ? `<details><summary>stack</summary><pre>${escapeMarkup(output.stack.join('\n'))}</pre></details>`
        : ''
    return `<div class="failure"><pre class="output">${escapeMarkup(failureText(output))}</pre>${frames}</div>`
  }
  const { bundle } = output
  const spec = bundle[VEGALITE]
  const text = bundle['text/plain']
  if (spec && typeof spec === 'object') {
    const svg = typeof bundle[SVG] === 'string' ? bundle[SVG] : ''
    // The page has a newer Vega-Lite than front ends of Jupyter do; the spec suits both.
    const { $schema: _, ...current } = spec as JsonObject
    return `<div class="output">${mount(current, altOf(text), svg)}</div>`
  }
  if (typeof bundle['text/html'] === 'string')
    return `<div class="output rich">${bundle['text/html']}</div>`
  if (typeof bundle['text/markdown'] === 'string')
    return `<div class="output rich">${await proseHtml(bundle['text/markdown'])}</div>`
  if (typeof bundle[SVG] === 'string') return `<div class="output rich">${bundle[SVG]}</div>`
  if (typeof bundle['image/png'] === 'string') {
    return `<div class="output"><img alt="${escapeMarkup(altOf(text))}" src="data:image/png;base64,${escapeMarkup(bundle['image/png'])}"></div>`
  }
  return `<pre class="output">${escapeMarkup(text)}</pre>`
}

const PAGE = `
:root { --rule: #e3e6e8; --quiet: #5d666e; --code: #f6f7f8; --bad: #b3261e; --k: #0b5cad; --s: #0a6b4f; --n: #9a4a00; }
@media (prefers-color-scheme: dark) {
  :root { --rule: #333a41; --quiet: #a3adb5; --code: #1d2328; --bad: #ff8a80; --k: #7db8f5; --s: #6fcfae; --n: #f0b072; }
}
main { max-width: 920px; margin: 0 auto; }
section { margin: 0 0 20px; position: relative; }
.prose h1 { font-size: 24px; line-height: 1.25; } .prose h2 { font-size: 18px; } .prose h3 { font-size: 15px; }
.prose code { background: var(--code); padding: 1px 4px; border-radius: 3px; font-size: 12px; }
a { color: var(--k); }
.source { background: var(--code); border-radius: 4px; padding: 10px 12px; margin: 0 0 8px; }
.output { margin: 8px 0; padding: 0 12px; } pre.output { white-space: pre; }
.output img { max-width: 100%; }
.stderr { border-left: 3px solid var(--n); }
.failure { border-left: 3px solid var(--bad); } .failure pre.output { color: var(--bad); white-space: pre-wrap; } .failure details { padding: 0 12px; font-size: 12px; }
.quiet, .note, .time { color: var(--quiet); font-size: 12px; } .quiet { padding: 0 12px; }
.note { border-bottom: 1px solid var(--rule); padding-bottom: 8px; }
.time { position: absolute; right: 12px; top: 10px; }
.not_run .source { opacity: 0.55; }
table { border-collapse: collapse; } th, td { text-align: left; padding: 3px 14px 3px 0; border-bottom: 1px solid var(--rule); }
th { color: var(--quiet); font-weight: normal; } [align=right] { text-align: right; } [align=center] { text-align: center; }
${HIGHLIGHTS}
`.trim()
