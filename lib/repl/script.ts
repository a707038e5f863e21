/**
 * Code without a terminal: `touchstone -e CODE`, piped text and `touchstone FILE.ts`, through the
 * prompt's evaluator.
 */
import { dirname, resolve } from 'node:path'
import type { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { createEvaluator, type Names } from '../code/evaluate.ts'
import { untilEnded } from '../code/guard.ts'
import { lookOf } from '../display.ts'
import { TouchstoneError } from '../errors.ts'
import { readText } from '../files.ts'
import { describe } from './docs.ts'
import { askedIn } from './enter.ts'
import { showError, showValue } from './show.ts'

type Output = {
  write(text: string): unknown
  isTTY?: boolean
  columns?: number
  hasColors?: () => boolean
}

export type ScriptOptions = {
  /** Text to run; its last value is printed. */
  code?: string
  /** Or a file to run; its last value is not printed. */
  file?: string
  /** Or a stream to read to its end and run, such as `process.stdin`; the last value is printed. */
  stdin?: Readable
  /** Names in scope from the start. */
  scope?: Names
  output?: Output
  errors?: Output
  /** Stops the script; calls in it that take a signal are stopped too. */
  signal?: AbortSignal
}

/**
 * Run a script once.
 *
 * The last value of `code` and `stdin` is printed unless it is undefined; `?name` alone prints what
 * the source says of it. SIGINT stops the script through its signal.
 *
 * @returns exit code: 0, or 1 when the script threw (the error is on `errors`), or 130 when it was
 *   stopped
 * @throws `file_unreadable` when the file cannot be read, `argument_invalid` when there is nothing
 *   to run
 * @example
 * await runScript({ code: 'const n: number = 2; n' }) // 0
 */
export async function runScript(options: ScriptOptions): Promise<0 | 1 | 130> {
  const output = options.output ?? process.stdout
  const errors = options.errors ?? process.stderr
  const { code, filename } = await codeOf(options)
  const evaluator = createEvaluator({
    scope: options.scope ?? {},
    cwd: options.file ? dirname(resolve(options.file)) : process.cwd(),
  })
  const controller = new AbortController()
  const stop = () => controller.abort(new DOMException('The script was stopped', 'AbortError'))
  const signal = options.signal
    ? AbortSignal.any([options.signal, controller.signal])
    : controller.signal
  process.once('SIGINT', stop)
  try {
    const asked = options.file === undefined ? askedIn(code) : null
    const { value } = asked
      ? { value: describe(asked.name, evaluator.scope, lookOf(output), asked.source) }
      : await untilEnded(
          evaluator.evaluate(code, { filename, signal, breakOnSigint: true }),
          signal,
        )
    if (value !== undefined && options.file === undefined) {
      output.write(`${typeof value === 'string' ? value : showValue(value, lookOf(output))}\n`)
    }
    return 0
  } catch (error) {
    if (
      signal.aborted ||
      (error as { code?: string } | null)?.code === 'ERR_SCRIPT_EXECUTION_INTERRUPTED'
    ) {
      errors.write('stopped\n')
      return 130
    }
    errors.write(`${showError(error, lookOf(errors), evaluator.frames(error))}\n`)
    return 1
  } finally {
    process.removeListener('SIGINT', stop)
    await evaluator.close()
  }
}

async function codeOf(options: ScriptOptions): Promise<{ code: string; filename: string }> {
  if (options.code !== undefined) return { code: options.code, filename: '-e' }
  if (options.file !== undefined) {
    return { code: readText(options.file, 'a script to run'), filename: resolve(options.file) }
  }
  if (options.stdin) {
    return { code: await text(options.stdin), filename: 'stdin' }
  }
  throw new TouchstoneError(
    'argument_invalid',
    'expected code, a file or a stream to run, got none of them',
  )
}
