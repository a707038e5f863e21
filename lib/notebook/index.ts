/**
 * Notebooks: percent-format TypeScript, run as one module; outputs as Markdown, a page, and
 * Jupyter's format.
 */
export {
  type CellResult,
  type Failure,
  type NotebookResult,
  type Output,
  type RunOptions,
  run,
} from './execute.ts'
export { type HtmlOptions, html } from './html.ts'
export { ipynb } from './ipynb.ts'
export { type Document, markdown } from './markdown.ts'
export { type Bundle, bundleOf } from './mime.ts'
export { type Cell, format, parse } from './parse.ts'
export { summary, type Write, write } from './write.ts'
