/** The interactive prompt. */
import { createEvaluator, type Names, rewriter } from '../code/evaluate.ts'
import type { Look } from '../display.ts'
import { lookOf } from '../display.ts'
import { COMMANDS, type Desk, type Example } from './commands.ts'
import type { Completion } from './complete.ts'
import { type EditorOptions, startEditor } from './editor.ts'
import { enter, isSpecial } from './enter.ts'
import { defaultHistoryPath, openHistory } from './line-history.ts'
import { page } from './pager.ts'
import { drawInline, showError, showValue } from './show.ts'

export type ReplOptions = {
  /**
   * Names in scope from the start; getters stay lazy. A function is called once the prompt is
   * there: what takes long to load is loaded while the first line is typed.
   */
  scope?: Names | (() => Promise<Names>)
  /** Printed above the first prompt. */
  banner?: string
  input?: EditorOptions['input']
  output?: EditorOptions['output'] & { hasColors?: () => boolean }
  /** File for history; null keeps none. Default: see {@link defaultHistoryPath}. */
  historyPath?: string | null
  /** Lines for `.help`; they must work when pasted. */
  examples?: readonly Example[]
  /** Module that `.save` imports the names of `scope` from. Default `touchstone`. */
  importFrom?: string
}

const EXAMPLES: readonly Example[] = [
  { code: 'const n: number = 5', says: 'TypeScript; a name may be declared again' },
  { code: 'await Promise.resolve(n * 2)', says: 'await at the top' },
  { code: '_ + 1', says: 'go on from the last value' },
]
/**
 * Start the prompt and wait until it is left.
 *
 * Ctrl-C aborts the signal of every line since the last Ctrl-C, so that it also ends what an
 * earlier line started and did not await. Lines see the signal as `signal`; long calls of the
 * library heed it by themselves.
 */
export async function startRepl(options: ReplOptions = {}): Promise<void> {
  const input = options.input ?? process.stdin
  const output = options.output ?? process.stdout
  const cwd = process.cwd()
  const look = (): Look => lookOf(output)
  const print = (text: string) => void output.write(text.endsWith('\n') ? text : `${text}\n`)
  const history = openHistory(
    options.historyPath === undefined ? defaultHistoryPath() : options.historyPath,
  )
  const { scope = {} } = options
  const early = typeof scope === 'function' ? {} : scope
  const evaluator = createEvaluator({ scope: early, cwd })
  const given = new Set(Object.keys(early))
  const session: string[] = []
  let lines = 0
  let lastError: unknown
  let controller = new AbortController()

  const stop = () => {
    controller.abort(new DOMException('Stopped by Ctrl-C', 'AbortError'))
    controller = new AbortController()
  }
  const fail = (error: unknown) => {
    lastError = error
    print(showError(error, look(), evaluator.frames(error)))
  }
  const show = async (text: string) => {
    const long = text.split('\n').length >= ((output as { rows?: number }).rows ?? Infinity)
    if (!long || !(await editor.lend(() => page(text)))) print(text)
  }
  const run: Desk['run'] = async (code) => {
    const filename = `prompt-${++lines}`
    const { signal } = controller
    const started = performance.now()
    try {
      const { value } = await evaluator.evaluate(code, {
        filename,
        signal,
        breakOnSigint: true,
        around: editor.withoutRawMode,
      })
      session.push(code)
      if (value !== undefined && !(await drawInline(value, output)))
        await show(showValue(value, look()))
      return { ok: true, durationMs: performance.now() - started }
    } catch (error) {
      const broken =
        (error as { code?: string } | null)?.code === 'ERR_SCRIPT_EXECUTION_INTERRUPTED'
      if (broken) {
        editor.inRawMode()
        stop()
      }
      if (signal.aborted) print('stopped')
      else fail(error)
      return { ok: false, durationMs: performance.now() - started }
    }
  }

  const desk: Desk = {
    look,
    print,
    show,
    run,
    session: () => session,
    saving: { given, from: options.importFrom ?? 'touchstone' },
    has: (name) => Object.hasOwn(evaluator.scope, name),
    lastError: () => lastError,
    frames: evaluator.frames,
    examples: options.examples ?? EXAMPLES,
    cwd,
    leave: () => editor.close(),
  }
  const loading = Promise.withResolvers<void>()
  const onEntry = async (text: string): Promise<void> => {
    history.add(text.trimEnd())
    try {
      await loading.promise
      await enter(text, desk, evaluator.scope)
    } catch (error) {
      fail(error)
    }
  }

  if (options.banner) print(options.banner)
  const { promise: left, resolve: leave } = Promise.withResolvers<void>()
  const editor = startEditor({
    input,
    output,
    prompt: '> ',
    colors: look().colors ?? false,
    history: history.entries,
    complete: async (text) => {
      await loading.promise
      return completeEntry(text, evaluator.scope, cwd)
    },
    isComplete: (text) => isSpecial(text) || evaluator.isComplete(text),
    onEntry,
    onInterrupt: stop,
    onClose: leave,
  })
  // A SIGINT that breaks no line must not end the prompt, whatever a verb before it made of SIGINT.
  const outer = process.listeners('SIGINT')
  process.removeAllListeners('SIGINT')
  process.on('SIGINT', stop)
  const load = async () => {
    const late = typeof scope === 'function' ? await scope() : {}
    Object.assign(evaluator.scope, late)
    for (const name of Object.keys(late)) given.add(name)
    await Promise.all([rewriter(), import('./complete.ts')])
    evaluator.isComplete('')
  }
  // What is printed is seen first.
  setImmediate(() => load().then(loading.resolve, loading.reject))
  loading.promise.catch(() => {})
  // A promise that nobody awaited, or a timer, must not end the session.
  const late = (error: unknown) => {
    if ((error as { name?: string } | null)?.name === 'AbortError') return
    print('')
    fail(error)
    editor.refresh()
  }
  process.on('unhandledRejection', late)
  process.on('uncaughtException', late)
  try {
    await left
    stop()
  } finally {
    process.removeListener('SIGINT', stop)
    for (const listener of outer) process.on('SIGINT', listener)
    process.removeListener('unhandledRejection', late)
    process.removeListener('uncaughtException', late)
    await evaluator.close()
  }
}

/** Completion of a whole entry: commands and questions first, then code. */
async function completeEntry(text: string, scope: Names, cwd: string): Promise<Completion> {
  const { complete } = await import('./complete.ts')
  const command = /^\s*\.(\w*)$/.exec(text)
  if (command) {
    return [Object.keys(COMMANDS).filter((name) => name.startsWith(command[1]!)), command[1]!]
  }
  const file = /^\s*\.(?:save|load)\s+(\S*)$/.exec(text)
  if (file) return complete(`"${file[1]}`, {}, cwd)
  return complete(text.replace(/^\s*(\?\??|\.(time|plot)\s+)/, ''), scope, cwd)
}
