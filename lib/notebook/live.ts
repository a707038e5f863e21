/**
 * `touchstone notebook --watch`: a page that follows a notebook as it is edited.
 *
 * After a save only the cells from the first changed one are run again, with the prompt's
 * evaluator, so that a change takes as long as what depends on it. Names are put back to what they
 * were before that cell; objects that kept cells made are the same objects, with whatever later
 * cells did to them. Only a run from the start is the record, and the page says so.
 */
import { watch } from 'node:fs'
import { basename, dirname, resolve } from 'node:path'
import { addStream, captureConsole } from '../code/capture.ts'
import { createEvaluator } from '../code/evaluate.ts'
import { untilEnded } from '../code/guard.ts'
import { count, escapeMarkup } from '../display.ts'
import { TouchstoneError } from '../errors.ts'
import { readText } from '../files.ts'
import { type CellResult, failureOf, type NotebookResult, titleOf } from './execute.ts'
import { body, html } from './html.ts'
import { instrument, parameterOf } from './instrument.ts'
import { bundleOf } from './mime.ts'
import { LIVE, serve } from './serve.ts'

export type Watching = {
  url: string
  /** What the page shows now. */
  result(): NotebookResult
  /** Settles when nothing is at work; rejects never. */
  idle(): Promise<void>
  /** Run every cell again in a fresh scope. */
  runAll(): void
  close(): Promise<void>
}

export type WatchOptions = {
  set?: Record<string, string>
  /** Default: any free port. */
  port?: number
  /** Called after each run with what it ran. */
  onRun?: (result: NotebookResult, ran: { from: number; cells: number }) => void
}

type Kept = { source: string; before: Record<string, unknown>; result: CellResult }

/**
 * Serve a notebook's page and run it again as it changes.
 *
 * @throws `file_unreadable`, `argument_invalid`; a notebook with a syntax error is shown as such,
 *   since it is being edited
 */
export async function watchNotebook(file: string, options: WatchOptions = {}): Promise<Watching> {
  const path = resolve(file)
  readText(path, 'a notebook')
  let evaluator = createEvaluator({ cwd: dirname(path) })
  let kept: Kept[] = []
  let note = ''
  let controller = new AbortController()
  let work: Promise<void> = Promise.resolve()
  let result: NotebookResult = {
    file,
    title: basename(file),
    cells: [],
    ok: true,
    set: {},
    durationMs: 0,
  }

  const show = () => ({ times: true, live: LIVE, note: `${note}<button data-run>Run all</button>` })
  const server = await serve({
    page: () => html(result, show()),
    body: () => body(result, show()),
    onRun: () => runAll(),
    ...(options.port === undefined ? {} : { port: options.port }),
  })

  const update = async (): Promise<void> => {
    const text = readText(path, 'a notebook')
    let parsed: ReturnType<typeof instrument>
    try {
      parsed = instrument(text, basename(file), 'touchstone.live')
      checkSet(options.set, parsed.parameters, file)
    } catch (error) {
      note = `<p>${escapeMarkup((error as Error).message)}.${result.cells.length > 0 ? ' Below: the run before this change.' : ''}</p>`
      return server.changed()
    }
    const { signal } = (controller = new AbortController())
    const code = parsed.cells.flatMap((cell, i) => (parsed.runs[i] ? [{ cell, i }] : []))
    let from = kept.findIndex(
      (one, k) => one.source !== code[k]?.cell.source || one.result.state !== 'ran',
    )
    if (from < 0) from = kept.length
    const cells: CellResult[] = parsed.cells.map((cell, i) => {
      const k = code.findIndex((one) => one.i === i)
      if (k >= 0 && k < from) return { ...kept[k]!.result, ...cell }
      return {
        ...cell,
        state: cell.kind === 'markdown' ? 'prose' : k < 0 ? 'empty' : 'not_run',
        outputs: [],
        count: null,
        durationMs: 0,
      }
    })
    result = {
      file,
      title: titleOf(parsed.cells, file),
      cells,
      ok: true,
      set: from === 0 ? {} : result.set,
      durationMs: 0,
    }
    const restored = kept[from]
    if (restored) restore(evaluator.scope, restored.before)
    kept = kept.slice(0, from)
    note =
      from === 0 || from === code.length
        ? ''
        : `<p>${count(from, 'cell')} kept from the run before; ${from === 1 ? 'its' : 'their'} objects are as later cells left them. Run all starts afresh.</p>`
    const began = performance.now()
    for (const { cell, i } of code.slice(from)) {
      const at = cells[i]!
      const before = { ...Object.getOwnPropertyDescriptors(evaluator.scope) }
      await runCell(at, '\n'.repeat(cell.line - 1) + cell.source, signal)
      if (cell.tags.includes('parameters')) applySet(options.set, evaluator.scope, result.set, at)
      kept.push({ source: cell.source, before, result: at })
      at.count = at.state === 'ran' ? kept.length : null
      if (at.state !== 'ran') {
        result.ok = false
        break
      }
    }
    result.durationMs = performance.now() - began
    server.changed()
    options.onRun?.(result, { from, cells: kept.length - from })
  }

  const runCell = async (at: CellResult, source: string, signal: AbortSignal): Promise<void> => {
    at.state = 'running'
    server.changed()
    const started = performance.now()
    const release = captureConsole((stream) => addStream(at.outputs, stream))
    try {
      // A cell that never awaits hears nothing but SIGINT.
      const running = evaluator.evaluate(source, { filename: path, signal, breakOnSigint: true })
      const { value } = await untilEnded(running, signal)
      const bundle = await bundleOf(value)
      if (bundle) at.outputs.push({ kind: 'value', bundle })
      at.state = 'ran'
    } catch (error) {
      at.state = 'failed'
      at.outputs.push(failureOf(error, path, signal))
    } finally {
      release()
      at.durationMs = performance.now() - started
    }
  }

  // Between runs the page goes on, and shows at the last cell that ran what it had left behind.
  const late = (error: unknown) => {
    const at = result.cells.findLast((cell) => cell.state !== 'not_run' && cell.state !== 'prose')
    if (
      at === undefined ||
      at.state === 'running' ||
      (error as { name?: string } | null)?.name === 'AbortError'
    )
      return
    at.state = 'failed'
    at.outputs.push(failureOf(error, path))
    result.ok = false
    server.changed()
    options.onRun?.(result, { from: kept.length, cells: 0 })
  }
  process.on('uncaughtException', late)
  process.on('unhandledRejection', late)

  const again = () => {
    controller.abort(new DOMException('The notebook changed', 'AbortError'))
    work = work.then(update).catch((error: unknown) => {
      note = `<p>${escapeMarkup((error as Error).message)}</p>`
      server.changed()
    })
  }
  const runAll = () => {
    controller.abort(new DOMException('The notebook is run again', 'AbortError'))
    work = work.then(async () => {
      await evaluator.close()
      evaluator = createEvaluator({ cwd: dirname(path) })
      kept = []
    })
    again()
  }

  let timer: NodeJS.Timeout | undefined
  // Editors write a file in several steps, or put a new one in its place: the folder sees both.
  const watcher = watch(dirname(path), (_, name) => {
    if (name !== null && name !== basename(path)) return
    clearTimeout(timer)
    timer = setTimeout(again, 30)
  })
  again()
  return {
    url: server.url,
    result: () => result,
    async idle() {
      for (let seen: unknown; seen !== work; ) {
        seen = work
        await work
      }
    },
    runAll,
    async close() {
      clearTimeout(timer)
      watcher.close()
      process.removeListener('uncaughtException', late)
      process.removeListener('unhandledRejection', late)
      controller.abort(new DOMException('Watching ended', 'AbortError'))
      await work
      await server.close()
      await evaluator.close()
    },
  }
}

function checkSet(
  set: Record<string, string> | undefined,
  parameters: string[],
  file: string,
): void {
  for (const name of Object.keys(set ?? {})) {
    if (parameters.includes(name)) continue
    throw new TouchstoneError(
      'argument_invalid',
      `expected a parameter (${parameters.join(', ') || 'there are none'}), got ${name}`,
      {
        where: file,
      },
    )
  }
}

function applySet(
  set: Record<string, string> | undefined,
  scope: Record<string, unknown>,
  applied: Record<string, unknown>,
  cell: CellResult,
): void {
  for (const [name, text] of Object.entries(set ?? {})) {
    if (!Object.hasOwn(scope, name)) continue
    try {
      applied[name] = scope[name] = parameterOf(name, text, scope[name])
    } catch (error) {
      cell.state = 'failed'
      cell.outputs.push({
        kind: 'error',
        name: 'argument_invalid',
        message: (error as Error).message,
        line: cell.line,
        stack: [],
      })
    }
  }
}

function restore(scope: Record<string, unknown>, before: Record<string, unknown>): void {
  for (const name of Object.keys(scope)) if (!Object.hasOwn(before, name)) delete scope[name]
  for (const [name, described] of Object.entries(before))
    Object.defineProperty(scope, name, described as PropertyDescriptor)
}
