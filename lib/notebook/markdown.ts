/**
 * A run as Markdown with its charts as SVG files beside it: what is committed, since it shows on
 * GitHub and diffs well.
 */
import type { NotebookResult, Output } from './execute.ts'
import { SVG } from './mime.ts'

export type Document = {
  /** File name to content, the Markdown first. */
  files: Map<string, string>
}

/**
 * Write a run as Markdown. Times and what differs from run to run are left out, so that a second
 * run gives the same bytes.
 *
 * @param name file name without extension; charts are `<name>-<n>.svg`
 */
export function markdown(result: NotebookResult, name: string): Document {
  const charts = new Map<string, string>()
  const parts: string[] = []
  const set = Object.entries(result.set)
  for (const cell of result.cells) {
    if (cell.kind === 'markdown') {
      parts.push(cell.source)
      continue
    }
    if (cell.source.trim() !== '') parts.push(fence(cell.source, 'ts'))
    if (cell.tags.includes('parameters') && set.length > 0) {
      parts.push(
        `Set for this run: ${set.map(([key, value]) => `\`${key}\` = \`${JSON.stringify(value)}\``).join(', ')}.`,
      )
    }
    for (const output of cell.outputs) parts.push(shown(output, name, charts))
    if (cell.state === 'not_run') parts.push('*Not run: a cell above failed.*')
  }
  const text = `${parts.filter(Boolean).join('\n\n')}\n`
  return { files: new Map([[`${name}.md`, text], ...charts]) }
}

function shown(output: Output, name: string, charts: Map<string, string>): string {
  if (output.kind === 'stream') return fence(output.text.trimEnd(), 'text')
  if (output.kind === 'error') return fence(failureText(output), 'text')
  const { bundle } = output
  const svg = bundle[SVG]
  if (typeof svg === 'string') {
    const file = `${name}-${charts.size + 1}.svg`
    charts.set(file, svg.endsWith('\n') ? svg : `${svg}\n`)
    return `![${altOf(bundle['text/plain'])}](${file})`
  }
  const prose = bundle['text/markdown']
  return typeof prose === 'string' ? prose.trimEnd() : fence(bundle['text/plain'].trimEnd(), 'text')
}

/** `TypeError: message (line 12)`. */
export function failureText(output: Extract<Output, { kind: 'error' }>): string {
  return `${output.name}: ${output.message}${output.line === null ? '' : ` (line ${output.line})`}`
}

/** A fence longer than any inside. */
function fence(text: string, language: string): string {
  const longest = Math.max(2, ...[...text.matchAll(/`{3,}/g)].map((match) => match[0].length))
  const marks = '`'.repeat(longest + 1)
  return `${marks}${language}\n${text}\n${marks}`
}

/** The chart's first line, for those who do not see it. */
export function altOf(text: string): string {
  const line = text.split('\n').find((one) => one.trim() !== '') ?? 'chart'
  return line
    .trim()
    .replace(/[[\]\\]/g, '\\$&')
    .slice(0, 200)
}
