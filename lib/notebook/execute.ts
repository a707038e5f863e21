/**
 * Runs a notebook as what it is, one module, and gives what its cells printed and showed as data.
 *
 * The module's own rules hold: static imports, top-level await, one scope. It runs in this process,
 * one notebook at a time.
 */

import * as modules from 'node:module'
import { basename, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { onlyMembers } from '../arguments.ts'
import { addStream, captureConsole, type Stream } from '../code/capture.ts'
import { untilEnded } from '../code/guard.ts'
import { resolveSelf } from '../code/self.ts'
import { TouchstoneError } from '../errors.ts'
import { readText } from '../files.ts'
import { signalOf, withSignal } from '../signal.ts'
import { instrument, type Marks, parameterOf } from './instrument.ts'
import { type Bundle, bundleOf, plain } from './mime.ts'
import type { Cell } from './parse.ts'

export type Shown = { kind: 'value'; bundle: Bundle }
export type Failure = {
  kind: 'error'
  /** `TypeError`, or a `TouchstoneError`'s code. */
  name: string
  message: string
  /** Line of the notebook, from 1; null when the error carries none. */
  line: number | null
  stack: string[]
}
export type Output = Stream | Shown | Failure

export type CellResult = Cell & {
  /**
   * `empty` is a code cell without statements, `not_run` one behind a failure; `running` is seen in
   * live pages only.
   */
  state: 'prose' | 'ran' | 'failed' | 'not_run' | 'empty' | 'running'
  outputs: Output[]
  /** Counted from 1 among cells that ran; null for the others. */
  count: number | null
  durationMs: number
}

export type NotebookResult = {
  file: string
  /** First heading, else the file's name. */
  title: string
  cells: CellResult[]
  /** Every cell ran to its end. */
  ok: boolean
  /** Parameters that differ from the notebook's own. */
  set: Record<string, unknown>
  durationMs: number
}

export type RunOptions = {
  /** Values for names declared in cells tagged `parameters`, as text. */
  set?: Record<string, string>
  signal?: AbortSignal
}

const sources = new Map<string, string>()
let hooked = false
let runs = 0
let turn: Promise<unknown> = Promise.resolve()

/**
 * Run a notebook file.
 *
 * A cell that throws ends the run: the result is then not `ok`, and says which cell and line. With
 * `signal` aborted, the cell at work fails as stopped; what it had started goes on only as far as
 * it does not heed the signal.
 *
 * @param file percent-format TypeScript
 * @returns outputs by cell
 * @throws `file_unreadable`; `notebook_invalid` for syntax and for statements across marks;
 *   `argument_invalid` for a name in `set` that no cell tagged `parameters` declares
 */
export function run(file: string, options: RunOptions = {}): Promise<NotebookResult> {
  const next = turn.then(() => execute(file, options))
  turn = next.catch(() => {})
  return next
}

async function execute(file: string, options: RunOptions): Promise<NotebookResult> {
  onlyMembers(options, ['set', 'signal'], 'options')
  const path = resolve(file)
  const text = readText(file, 'a notebook')
  const signal = signalOf(options.signal)
  const id = ++runs
  const key = `touchstone.notebook.${id}`
  const { code, cells, runs: hasCode, parameters, imports } = instrument(text, file, key)
  for (const name of Object.keys(options.set ?? {})) {
    if (parameters.includes(name)) continue
    throw new TouchstoneError(
      'argument_invalid',
      `expected a parameter (${parameters.join(', ') || 'there are none'}), got ${name}`,
      {
        where: file,
      },
    )
  }
  const results: CellResult[] = cells.map((cell, i) => ({
    ...cell,
    state: cell.kind === 'markdown' ? 'prose' : hasCode[i] ? 'not_run' : 'empty',
    outputs: [],
    count: null,
    durationMs: 0,
  }))
  const set: Record<string, unknown> = {}
  let current = -1
  let started = 0
  let count = 0
  let live = true
  const marks: Marks = {
    start(cell) {
      current = cell
      started = performance.now()
    },
    async show(cell, value) {
      const bundle = await bundleOf(value)
      if (live && bundle) results[cell]!.outputs.push({ kind: 'value', bundle })
    },
    end(cell) {
      if (!live) return
      const result = results[cell]!
      result.state = 'ran'
      result.count = ++count
      result.durationMs = performance.now() - started
    },
    given(name, fallback) {
      const given = options.set?.[name]
      if (given === undefined) return fallback
      return (set[name] = parameterOf(name, given, fallback))
    },
  }
  const globals = globalThis as { [key: symbol]: unknown }
  const url = `${pathToFileURL(path).href}?touchstone=${id}`
  resolveSelf()
  hookLoader()
  sources.set(url, code)
  globals[Symbol.for(key)] = marks
  const release = captureConsole((stream) => {
    const cell = results[Math.max(0, current)]
    if (cell) addStream(cell.outputs, stream)
  })
  const left = (exitCode: number) => {
    if (signal?.aborted) return
    const line = results[Math.max(0, current)]?.line ?? 1
    process.stderr.write(
      `notebook_failed: expected every cell to run, got process.exit(${exitCode}) in one; nothing is written (${file}:${line})\n`,
    )
    process.exitCode = exitCode || 1
  }
  process.once('exit', left)
  const began = performance.now()
  let failure: unknown
  let failed = false
  try {
    signal?.throwIfAborted()
    await untilEnded(
      withSignal(signal, () => import(url)),
      signal,
    )
  } catch (error) {
    failed = true
    failure = error
  } finally {
    live = false
    process.removeListener('exit', left)
    release()
    sources.delete(url)
    delete globals[Symbol.for(key)]
  }
  if (failed) {
    const at = current >= 0 ? current : cellOfImport(failure, imports, results)
    const result = results[at]
    if (result) {
      result.state = 'failed'
      result.durationMs = current >= 0 ? performance.now() - started : 0
      result.outputs.push(failureOf(failure, path, signal))
    }
  }
  const skipped = failed ? undefined : results.find((cell) => cell.state === 'not_run')
  if (skipped) {
    throw new TouchstoneError(
      'notebook_failed',
      'expected every cell to run, got one that was left out',
      {
        where: `${file}:${skipped.line}`,
      },
    )
  }
  return {
    file,
    title: titleOf(cells, file),
    cells: results,
    ok: !failed,
    set,
    durationMs: performance.now() - began,
  }
}

/** First heading of the prose, else the file's name. */
export function titleOf(cells: readonly Cell[], file: string): string {
  for (const cell of cells) {
    const heading = cell.kind === 'markdown' ? /^# +(.+)$/m.exec(cell.source)?.[1] : undefined
    if (heading) return heading.trim()
  }
  return basename(file)
}

function hookLoader(): void {
  if (hooked) return
  hooked = true
  modules.registerHooks({
    // A notebook is an ES module in whatever package it lies, so no other loader is asked.
    resolve(specifier, context, nextResolve) {
      return sources.has(specifier)
        ? { url: specifier, format: 'module', shortCircuit: true }
        : nextResolve(specifier, context)
    },
    load(url, context, nextLoad) {
      const source = sources.get(url)
      return source === undefined
        ? nextLoad(url, context)
        : { format: 'module', source, shortCircuit: true }
    },
  })
}

/** Imports run before any cell: what fails there belongs to the cell that asked for it. */
function cellOfImport(
  error: unknown,
  imports: { specifier: string; cell: number }[],
  results: CellResult[],
): number {
  const message = error instanceof Error ? error.message : ''
  const asked = imports.find(({ specifier }) =>
    message.includes(specifier.replace(/^(\.\.?\/)+/, '')),
  )
  return asked?.cell ?? imports[0]?.cell ?? results.findIndex((cell) => cell.kind === 'code')
}

/** An error as data, with the notebook's own frames first and none of the machinery that ran it. */
export function failureOf(error: unknown, path: string, signal?: AbortSignal): Failure {
  const broken = (error as { code?: string } | null)?.code === 'ERR_SCRIPT_EXECUTION_INTERRUPTED'
  if (broken || (signal?.aborted && error === signal.reason)) {
    return { kind: 'error', name: 'stopped', message: 'the run was stopped', line: null, stack: [] }
  }
  if (!(error instanceof Error)) {
    const message = typeof error === 'string' ? error : plain(error)
    return { kind: 'error', name: 'thrown', message, line: null, stack: [] }
  }
  const frames = (error.stack ?? '').split('\n').filter((line) => /^\s+at /.test(line))
  const own = frames
    .filter((frame) => frame.includes(path))
    .map((frame) =>
      frame
        .trim()
        .replace(/\(?(?:file:\/\/)?[^\s(]*\/([^/\s]+?)(?:\?touchstone=\d+)?(:\d+):\d+\)?$/, '$1$2'),
    )
  const line = own[0] ? Number(/:(\d+)$/.exec(own[0])?.[1]) : null
  return {
    kind: 'error',
    name: error instanceof TouchstoneError ? error.code : error.name,
    message: error.message.replaceAll(/\?touchstone=\d+/g, ''),
    line,
    stack: own,
  }
}
