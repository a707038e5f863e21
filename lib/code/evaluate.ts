/**
 * The evaluator behind the prompt, `-e`, piped text, script files and the Jupyter kernel:
 * TypeScript with top-level await, static imports and names that may be declared again.
 */
import { isAbsolute, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { types } from 'node:util'
import { constants, Script } from 'node:vm'
import { untilAborted } from '../abort.ts'
import { nearest } from '../choice.ts'
import { TouchstoneError } from '../errors.ts'
import { withSignal } from '../signal.ts'
import { type Frame, framesOf, type Typed } from './frames.ts'
import { resolveSelf } from './self.ts'
import { quietly, readSource, type SyntaxFault } from './strip-types.ts'

const LINE = Symbol.for('touchstone.line')
/** In a scope: what there is in the place of a name that people look for and it does not have. */
const ELSEWHERE = Symbol.for('touchstone.elsewhere')

/** Names in scope, by name. */
export type Names = Record<string, unknown>

export type Evaluation = {
  /** Value of the last expression statement; undefined when the code ends in something else. */
  value: unknown
  /** Names that the code declared at its top. */
  declared: string[]
  durationMs: number
}

export type EvaluateOptions = {
  /** Names the code in stack traces; a relative one lies in `cwd`. Default `prompt`. */
  filename?: string
  /** Stops the wait for the code. Every long call that the code starts heeds it too. */
  signal?: AbortSignal
  /** Let SIGINT break code that never awaits. Default false. */
  breakOnSigint?: boolean
  /**
   * Wraps the part that runs before the first await, inside of what SIGINT breaks: no more of it
   * runs once SIGINT came.
   */
  around?: <T>(work: () => T) => T
}

/** A line as {@link rewrite} makes it. */
type Body = (given: { scope: Names; line: object }) => Promise<void>

export type Evaluator = {
  evaluate(code: string, options?: EvaluateOptions): Promise<Evaluation>
  /** False while more text could make the code a program. */
  isComplete(code: string): boolean
  /** What the code sees and declares, by name. */
  scope: Names
  /** Where in evaluated code an error comes from, innermost first. Also for a line of a stack. */
  frames(error: unknown): Frame[]
  /** Dispose what `using` declared, last first. */
  close(): Promise<void>
}

/**
 * Make an evaluator.
 *
 * `const`, `let`, `class`, `function` and imports at the top of the code become members of `scope`,
 * which later code sees; `_` is the last value and `__` the one before. What `using` declares lives
 * until `close()`.
 *
 * @param scope names that the code sees from the start; getters stay lazy
 * @param cwd   folder that relative imports start from, default the process's
 * @example
 * const { evaluate } = createEvaluator({ scope: { two: 2 } })
 * await evaluate('const n: number = two + 1')
 * const six = await evaluate('n * 2')
 * six.value // 6
 */
export function createEvaluator(options: { scope?: Names; cwd?: string } = {}): Evaluator {
  const cwd = options.cwd ?? process.cwd()
  const scope = scopeOf(options.scope ?? {})
  scope['_'] = scope['__'] = undefined
  quietLoader()
  resolveSelf()
  const opened: { value: AsyncDisposable | Disposable }[] = []
  const typed = new Map<string, Typed>()
  let ownUnderscore = false

  const evaluate = async (code: string, choices: EvaluateOptions = {}): Promise<Evaluation> => {
    const file = choices.filename ?? 'prompt'
    const path = isAbsolute(file) ? file : join(cwd, file)
    const source = readExpressionFirst(code)
    if (!('program' in source)) throw faulty(source, file, code)
    const { rewrite } = await rewriter()
    choices.signal?.throwIfAborted()
    const {
      code: script,
      declared,
      columnOf,
    } = rewrite(source.code, source.program, (name) => Object.hasOwn(scope, name))
    // Braces alone were read in parentheses.
    const shift = source.code.length > code.length ? 1 : 0
    typed.set(path, {
      file,
      source: code,
      columnOf: (line, column) => columnOf(line, column) - (line === 1 ? shift : 0),
    })
    if (typed.size > TYPED_KEPT) typed.delete(typed.keys().next().value as string)
    if (declared.includes('_') || declared.includes('__')) ownUnderscore = true

    const fresh = declared.filter((name) => !Object.hasOwn(scope, name))
    for (const name of fresh) scope[name] = undefined
    const line = {
      value: undefined as unknown,
      meta: metaOf(path),
      old: (name: string) => scope[name],
      named: nameFunction,
      exporting,
      using(value: AsyncDisposable | Disposable | null | undefined) {
        if (value) opened.push({ value })
        return value
      },
    }
    const started = performance.now()
    const { around = (work) => work(), breakOnSigint = false, signal } = choices
    const lines = globalThis as { [LINE]?: unknown }
    if (signal) scope['signal'] = signal
    try {
      const importModuleDynamically = constants.USE_MAIN_CONTEXT_DEFAULT_LOADER
      const compiled = quietly(
        () => new Script(script, { filename: path, importModuleDynamically }),
      )
      lines[LINE] = (body: Body) => around(() => body({ scope, line }))
      const running = withSignal(signal, () => compiled.runInThisContext({ breakOnSigint }))
      await untilAborted(running as Promise<void>, signal)
    } catch (error) {
      for (const name of fresh) if (scope[name] === undefined) delete scope[name]
      throw readable(error, scope)
    } finally {
      delete lines[LINE]
    }
    if (!ownUnderscore && line.value !== undefined) {
      scope['__'] = scope['_']
      scope['_'] = line.value
    }
    return { value: line.value, declared, durationMs: performance.now() - started }
  }

  return {
    evaluate,
    isComplete(code) {
      const source = readExpressionFirst(code)
      return 'program' in source || !source.incomplete
    },
    scope,
    frames: (error) => {
      if (typeof error === 'string') return framesOf(error, typed)
      if (!(error instanceof Error)) return []
      const fault = faults.get(error)
      const own = framesOf(error.stack ?? '', typed).filter(isInside)
      return fault ? [fault] : own
    },
    async close() {
      for (const { value } of opened.splice(0).reverse()) {
        if (Symbol.asyncDispose in value) await value[Symbol.asyncDispose]()
        else value[Symbol.dispose]()
      }
    },
  }
}

/**
 * The analysis of scopes takes longer to load than a prompt to start: it comes with the first line.
 */
export function rewriter(): Promise<typeof import('./rewrite.ts')> {
  return import('./rewrite.ts')
}

const isInside = ({ line, source }: Frame) => line <= source.split('\n').length

/** Entries whose source is kept, to show the lines of functions that they declared. */
const TYPED_KEPT = 1000

/** Places of syntax faults: a stack does not tell them. */
const faults = new WeakMap<Error, Frame>()

function faulty({ message, line, column }: SyntaxFault, file: string, source: string): SyntaxError {
  const error = new SyntaxError(`${message} (${file}:${line}:${column})`)
  faults.set(error, { name: null, file, line, column, source })
  return error
}

let quiet = false
/** Node warns, once and at the first import, that the loader constant below is experimental. */
function quietLoader(): void {
  if (quiet) return
  quiet = true
  const emitWarning = process.emitWarning as (...args: unknown[]) => void
  process.emitWarning = (...args: unknown[]) => {
    if (!String(args[0]).startsWith('vm.USE_MAIN_CONTEXT_DEFAULT_LOADER'))
      emitWarning.apply(process, args)
  }
}

/** `{ a: 1 }` alone on a line means the object, not a block with a label. */
function readExpressionFirst(code: string): ReturnType<typeof readSource> {
  if (/^\s*\{/.test(code)) {
    const wrapped = readSource(`(${code.trimEnd()}\n)`)
    if ('program' in wrapped) return wrapped
  }
  return readSource(code)
}

/** A scope whose missing names throw as missing variables do. */
function scopeOf(given: Names): Names {
  const missing = new Proxy(Object.create(null) as Names, {
    get(_, name, receiver: Names) {
      if (typeof name === 'symbol') return undefined
      throw new ReferenceError(
        `${name} is not defined${meant(name, Object.keys(receiver), receiver)}`,
      )
    },
    set: (_, name, value, receiver) =>
      Reflect.defineProperty(receiver, name, {
        value,
        writable: true,
        enumerable: true,
        configurable: true,
      }),
  })
  const scope = Object.create(missing) as Names
  Object.assign(scope, { [ELSEWHERE]: (given as Scope)[ELSEWHERE] })
  for (const [name, described] of Object.entries(Object.getOwnPropertyDescriptors(given))) {
    const put = (value: unknown) =>
      Object.defineProperty(scope, name, {
        value,
        writable: true,
        enumerable: true,
        configurable: true,
      })
    // A lazy name can be declared again like any other.
    if (described.get)
      Object.defineProperty(scope, name, {
        get: described.get,
        set: put,
        enumerable: true,
        configurable: true,
      })
    else put(described.value)
  }
  return scope
}

function nameFunction<T extends object>(made: T, name: string): T {
  return Object.defineProperty(made, 'name', { value: name, configurable: true })
}

/** A static import of a name that a module does not export is an error, not undefined. */
function exporting(
  module: Record<string, unknown>,
  specifier: string,
  names: string[],
): Record<string, unknown> {
  for (const name of names) {
    if (!(name in module))
      throw new SyntaxError(`The requested module '${specifier}' does not export '${name}'`)
  }
  return module
}

function metaOf(path: string): Record<string, unknown> {
  const url = pathToFileURL(path).href
  return {
    url,
    filename: path,
    dirname: join(path, '..'),
    main: true,
    resolve: (to: string) => new URL(to, url).href,
  }
}

/**
 * `(0 , __scope.run) is not a function` -> `run is not a function`: messages speak of what was
 * typed.
 */
function asTyped(message: string): string {
  return message
    .replaceAll(/\(0 ?, ?__scope\.([\p{ID_Continue}$]+)\)/gu, '$1')
    .replaceAll(/__scope\.|__hoisted_/g, '')
}

/** Say in the words of the code what went wrong, keeping the error itself. */
function readable(error: unknown, scope: Names): unknown {
  if (error instanceof Error && !(error instanceof TouchstoneError)) {
    const message = noMember(asTyped(error.message), scope)
    if (message !== error.message) {
      const [stack, before] = [error.stack, error.message]
      error.message = message
      if (stack) error.stack = asTyped(stack).replace(asTyped(before), () => message)
    }
  }
  return error
}

/**
 * `run.nope is not a function` -> `run has no member nope; did you mean ...?`, where a member of
 * that object has nearly that name. Nothing of the code runs again: of values only what a name
 * holds is read.
 */
function noMember(message: string, scope: Names): string {
  const named =
    /^([\p{ID_Continue}$]+(?:\.[\p{ID_Continue}$]+)*) is not a (?:function|constructor)$/u
  const path = named.exec(message)?.[1]?.split('.') ?? []
  const name = path.pop() as string
  let at: unknown = scope
  for (const [i, part] of path.entries()) {
    if (Object(at) !== at || (i > 0 && types.isProxy(at))) return message
    const held = Object.getOwnPropertyDescriptor(at, part)
    if (held?.get && i > 0) return message
    at = held?.get ? scope[part] : held?.value
  }
  if (path.length === 0 || at === null || at === undefined || types.isProxy(at)) return message
  const names = new Set<string>()
  for (let of = Object(at); of && of !== Object.prototype; of = Object.getPrototypeOf(of)) {
    if (types.isProxy(of)) return message
    for (const one of Object.getOwnPropertyNames(of)) names.add(one)
  }
  names.delete('constructor')
  const hint = names.has(name) ? '' : meant(name, names, scope)
  return hint === '' ? message : `${path.join('.')} has no member ${name}${hint}`
}

type Scope = { [ELSEWHERE]?: { [name: string]: string } }

function meant(name: string, known: Iterable<string>, scope: Scope): string {
  const { [ELSEWHERE]: elsewhere = {} } = scope
  if (Object.hasOwn(elsewhere, name)) return `; there is ${elsewhere[name]}`
  const near = nearest(name, known)
  return near === null ? '' : `; did you mean ${near}?`
}
