/** Console output of a cell, caught as data while the cell runs. */
import { format } from 'node:util'

export type Stream = { kind: 'stream'; name: 'stdout' | 'stderr'; text: string }

const METHODS = {
  log: 'stdout',
  info: 'stdout',
  debug: 'stdout',
  warn: 'stderr',
  error: 'stderr',
} as const

/**
 * Send `console` output to a function until the returned one is called.
 *
 * `console.table`, `dir` and `group` end in these methods, so they are caught too.
 */
export function captureConsole(write: (stream: Stream) => void): () => void {
  const originals = Object.keys(METHODS).map(
    (method) => [method as keyof typeof METHODS, console[method as keyof typeof METHODS]] as const,
  )
  let indent = ''
  const group = console.group
  const groupEnd = console.groupEnd
  for (const [method] of originals) {
    console[method] = (...args: unknown[]) => {
      const text = format(...args).replace(/^/gm, indent)
      write({ kind: 'stream', name: METHODS[method], text: `${text}\n` })
    }
  }
  console.group = (...args: unknown[]) => {
    if (args.length > 0) console.log(...args)
    indent += '  '
  }
  console.groupEnd = () => {
    indent = indent.slice(2)
  }
  return () => {
    for (const [method, original] of originals) console[method] = original
    console.group = group
    console.groupEnd = groupEnd
  }
}

/** Add a stream to outputs, joined to the one before when it is of the same kind. */
export function addStream<T extends { kind: string }>(
  outputs: (T | Stream)[],
  stream: Stream,
): void {
  const last = outputs.at(-1)
  if (last?.kind === 'stream' && (last as Stream).name === stream.name)
    (last as Stream).text += stream.text
  else outputs.push({ ...stream })
}
