/**
 * The percent format: a TypeScript file whose lines `// %%` begin cells.
 *
 * `// %%` begins code, `// %% [markdown]` prose written as comments; a title and
 * `tags=["parameters"]` may follow. The text before the first mark is a code cell of its own
 * when it holds anything.
 */

export type Cell = {
  kind: 'code' | 'markdown'
  /**
   * Text between the mark and the next one, without blank lines round it; prose without its comment
   * marks.
   */
  source: string
  /** Words behind the mark. */
  title: string
  tags: string[]
  /** Offsets in the file: from behind the mark's line to the next mark. */
  start: number
  end: number
  /** Line that `source` starts on, from 1. */
  line: number
}

const MARK = /^\/\/ ?%%(?!%)(.*)$/gm

/**
 * Split a notebook into its cells.
 *
 * @example
 * parse('// %% [markdown]\n// # Title\n// %%\n1 + 1\n').map((cell) => cell.kind) // ['markdown', 'code']
 * parse('// %% [markdown]\n// # Title\n// %%\n1 + 1\n')[0].source // '# Title'
 */
export function parse(text: string): Cell[] {
  const marks = [...text.matchAll(MARK)]
  const cells: Cell[] = []
  const add = (start: number, end: number, mark: string) => {
    const raw = text.slice(start, end)
    const kind = /^\s*\[(markdown|md)\]/.test(mark) ? 'markdown' : 'code'
    const tags = /\btags=(\[[^\]]*\])/.exec(mark)?.[1]
    cells.push({
      kind,
      source: kind === 'markdown' ? prose(raw) : trimLines(raw),
      title: mark
        .replace(/^\s*\[\w+\]/, '')
        .replace(/\btags=\[[^\]]*\]/, '')
        .trim(),
      tags: tags ? tagsOf(tags) : [],
      start,
      end,
      line: text.slice(0, start + leadingBlank(raw)).split('\n').length,
    })
  }
  const first = marks[0]?.index ?? text.length
  if (text.slice(0, first).replace(/^#!.*/, '').trim() !== '') add(0, first, '')
  for (const [i, mark] of marks.entries()) {
    add(
      Math.min(text.length, mark.index + mark[0].length + 1),
      marks[i + 1]?.index ?? text.length,
      mark[1] ?? '',
    )
  }
  return cells
}

/** Join cells to a notebook file. */
export function format(cells: readonly Pick<Cell, 'kind' | 'source'>[]): string {
  const text = cells.map((cell) =>
    cell.kind === 'code'
      ? `// %%\n${cell.source}`
      : `// %% [markdown]\n${cell.source.replace(/^/gm, '// ').replace(/ +$/gm, '')}`,
  )
  return `${text.join('\n\n')}\n`
}

function prose(raw: string): string {
  const block = /^\s*\/\*\*?([\s\S]*?)\*\/\s*$/.exec(raw)
  const lines = block
    ? block[1]!.split('\n').map((line) => line.replace(/^\s*\* ?/, ''))
    : raw.split('\n').map((line) => line.replace(/^\s*\/\/ ?/, ''))
  return trimLines(lines.join('\n'))
}

function trimLines(text: string): string {
  return text.replace(/^(\s*\n)+/, '').trimEnd()
}

function leadingBlank(text: string): number {
  return /^(\s*\n)*/.exec(text)?.[0].length ?? 0
}

function tagsOf(text: string): string[] {
  return [...text.matchAll(/["']([^"']*)["']/g)].map((match) => match[1]!)
}
