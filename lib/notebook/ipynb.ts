/**
 * A run as a Jupyter notebook (nbformat 4.5): opens in JupyterLab and VS Code with charts alive,
 * and on GitHub as pictures.
 */
import { createHash } from 'node:crypto'
import type { CellResult, NotebookResult, Output } from './execute.ts'
import { SVG } from './mime.ts'

/**
 * Write a run as `.ipynb` text. Charts are Vega-Lite v5 and PNG; SVG is left out, since front ends
 * would show it twice and GitHub not at all. Cell ids come from place and content, so that a second
 * run gives the same bytes.
 */
export function ipynb(result: NotebookResult): string {
  const cells = result.cells.map((cell, i) => ({
    cell_type: cell.kind,
    id: createHash('sha256').update(`${i}\n${cell.source}`).digest('hex').slice(0, 12),
    metadata: {
      ...(cell.tags.length > 0 ? { tags: cell.tags } : {}),
      ...(cell.title ? { name: cell.title } : {}),
    },
    source: lines(cell.source),
    ...(cell.kind === 'code'
      ? {
          execution_count: cell.count,
          outputs: cell.outputs.map((output) => outputOf(output, cell)),
        }
      : {}),
  }))
  const notebook = {
    cells,
    metadata: {
      kernelspec: { display_name: 'Touchstone', language: 'typescript', name: 'touchstone' },
      language_info: { file_extension: '.ts', mimetype: 'text/x-typescript', name: 'typescript' },
      title: result.title,
    },
    nbformat: 4,
    nbformat_minor: 5,
  }
  return `${JSON.stringify(notebook, null, 1)}\n`
}

function outputOf(output: Output, cell: CellResult): Record<string, unknown> {
  switch (output.kind) {
    case 'stream':
      return { output_type: 'stream', name: output.name, text: lines(output.text) }
    case 'error':
      return {
        output_type: 'error',
        ename: output.name,
        evalue: output.message,
        traceback: [`${output.name}: ${output.message}`, ...output.stack],
      }
    case 'value': {
      const { [SVG]: _, ...bundle } = output.bundle
      const data = Object.fromEntries(
        Object.entries(bundle).map(([type, value]) => [
          type,
          typeof value === 'string' && type.startsWith('text/') ? lines(value) : value,
        ]),
      )
      return { output_type: 'execute_result', execution_count: cell.count, data, metadata: {} }
    }
  }
}

/** nbformat keeps text as a list of lines with their ends. */
function lines(text: string): string[] {
  return text === '' ? [] : text.split(/(?<=\n)/)
}
