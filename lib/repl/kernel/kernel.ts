/**
 * A Jupyter kernel over the prompt's evaluator, so that the same lines work in JupyterLab and VS
 * Code.
 */
import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { setImmediate } from 'node:timers/promises'
import type { Publisher } from 'zeromq'
import { captureConsole } from '../../code/capture.ts'
import { createEvaluator, type Evaluator, type Names } from '../../code/evaluate.ts'
import type { Frame } from '../../code/frames.ts'
import { TouchstoneError } from '../../errors.ts'
import { bundleOf, SVG } from '../../notebook/mime.ts'
import type { Desk } from '../commands.ts'
import { complete } from '../complete.ts'
import { describe } from '../docs.ts'
import { enter, isSpecial } from '../enter.ts'
import { showError } from '../show.ts'
import { Control, INTERRUPTED, type Requests } from './control.ts'
import { type Message, pointsOf, readMessage, unitsOf, writeMessage } from './messages-wire.ts'

export type Connection = {
  transport: string
  ip: string
  key: string
  shell_port: number
  control_port: number
  stdin_port: number
  iopub_port: number
  hb_port: number
}

type Content = Record<string, unknown>

/**
 * The package that speaks Jupyter's transport; it comes with nobody who does not ask for it.
 * @throws TouchstoneError `dependency_missing`
 */
export function zeromq(): Promise<typeof import('zeromq')> {
  return import('zeromq').catch((cause: unknown) => {
    throw new TouchstoneError(
      'dependency_missing',
      'expected the package zeromq for a Jupyter kernel, got none: npm install zeromq',
      { cause },
    )
  })
}

/**
 * Serve a Jupyter connection until it asks for shutdown. An interrupt stops the cell at work.
 *
 * @param file  the connection file that Jupyter names on the command line
 * @param scope names in scope from the start
 * @throws `dependency_missing` without the package zeromq, `file_unreadable` for the connection
 *   file
 */
export async function runKernel(
  file: string,
  options: { scope?: Names; version?: string } = {},
): Promise<void> {
  const zmq = await zeromq()
  const connection = readConnection(file)
  const at = (port: number) => `${connection.transport}://${connection.ip}:${port}`
  const sockets = {
    shell: new zmq.Router(),
    stdin: new zmq.Router(),
    iopub: new zmq.Publisher(),
  }
  await sockets.shell.bind(at(connection.shell_port))
  await sockets.stdin.bind(at(connection.stdin_port))
  await sockets.iopub.bind(at(connection.iopub_port))
  const session = randomUUID()
  const addresses = { control: at(connection.control_port), heartbeat: at(connection.hb_port) }
  const interrupt = () => kernel.interrupt()
  const control = await Control.start({ ...addresses, key: connection.key, session }, interrupt)

  const evaluator = createEvaluator({ scope: options.scope ?? {} })
  const kernel = new Kernel(sockets.iopub, control, evaluator, {
    session,
    key: connection.key,
    version: options.version ?? '0',
  })
  const release = captureConsole(({ name, text }) => kernel.publish('stream', { name, text }))
  const late = (error: unknown) =>
    kernel.publish('stream', {
      name: 'stderr',
      text: `${showError(error, {}, evaluator.frames(error))}\n`,
    })
  // A kernel is a process of its own, in which SIGINT means the cell and never the end. Jupyter
  // sends a message: a SIGINT of others can come in the moment in which a cell begins or ends, when
  // Node listens to none (`kernel-control.ts`).
  process.removeAllListeners('SIGINT')
  process.on('SIGINT', interrupt)
  process.on('unhandledRejection', late)
  process.on('uncaughtException', late)
  const { promise: left, resolve: leave } = Promise.withResolvers<void>()
  // A front end that dies without a word must not leave kernels behind.
  const parent = process.ppid
  const orphaned = setInterval(() => {
    if (process.ppid !== parent) leave()
  }, 2000)
  const ends = [kernel.serve(sockets.shell, leave), kernel.serve(control, leave).finally(leave)]
  try {
    await left
  } finally {
    clearInterval(orphaned)
    release()
    kernel.interrupt()
    await kernel.flushed()
    await control.close()
    for (const socket of Object.values(sockets)) socket.close()
    await Promise.allSettled(ends)
    process.removeListener('SIGINT', interrupt)
    process.removeListener('unhandledRejection', late)
    process.removeListener('uncaughtException', late)
    await evaluator.close()
  }
}

function readConnection(file: string): Connection {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as Connection
  } catch (cause) {
    throw new TouchstoneError(
      'file_unreadable',
      `expected a Jupyter connection file, got ${(cause as Error).message}`,
      { where: file, cause },
    )
  }
}

class Kernel {
  /** Cells that ran without an error, in order. */
  private readonly session: string[] = []
  private lastError: unknown
  private readonly iopub: Publisher
  private readonly control: Control
  private readonly evaluator: Evaluator
  private readonly id: string
  private readonly key: string
  private readonly version: string
  private readonly given: ReadonlySet<string>
  private count = 0
  /** Its signal is that of every cell since the last interrupt. */
  private controller = new AbortController()
  /** The request that late output belongs to. */
  private parent: Message | undefined
  private sending: Promise<unknown> = Promise.resolve()
  /**
   * Requests waiting behind the one at work; an error there answers those that ask for it with
   * `aborted`.
   */
  private readonly waiting: Message[] = []

  constructor(
    iopub: Publisher,
    control: Control,
    evaluator: Evaluator,
    { session, key, version }: { session: string; key: string; version: string },
  ) {
    this.iopub = iopub
    this.control = control
    this.evaluator = evaluator
    this.id = session
    this.key = key
    this.version = version
    this.given = new Set(Object.keys(evaluator.scope))
  }

  /** A socket takes one send at a time. */
  publish(type: string, content: Content, parent = this.parent): void {
    const frames = [
      type,
      ...writeMessage(type, content, parent, { key: this.key, session: this.id }),
    ]
    this.sending = this.sending.then(() => this.iopub.send(frames)).catch(() => {})
  }

  flushed(): Promise<unknown> {
    return this.sending
  }

  interrupt(): void {
    this.controller.abort(new DOMException('The cell was stopped', 'AbortError'))
    this.controller = new AbortController()
  }

  /** What commands such as `.time` and questions such as `?name` do in a cell. */
  private desk(run: Desk['run']): Desk {
    const print = (text: string) => this.publish('stream', { name: 'stdout', text: `${text}\n` })
    return {
      look: () => ({ width: 100 }),
      print,
      show: async (text) => print(text),
      run,
      session: () => this.session,
      saving: { given: this.given, from: 'touchstone' },
      has: (name) => Object.hasOwn(this.evaluator.scope, name),
      lastError: () => this.lastError,
      frames: this.evaluator.frames,
      examples: [],
      cwd: process.cwd(),
      leave: () => print('The front end ends a kernel.'),
    }
  }

  /** Answer a socket's requests in order, reading ahead so that an error can abort what waits. */
  async serve(socket: Requests, leave: () => void): Promise<void> {
    let turn: Promise<void> = Promise.resolve()
    for await (const frames of socket) {
      const message = readMessage(frames, this.key)
      if (!message) continue
      this.waiting.push(message)
      turn = turn.then(() => this.answer(socket, message, leave)).catch(() => {})
    }
    await turn
  }

  private async answer(socket: Requests, message: Message, leave: () => void): Promise<void> {
    const type = message.header.msg_type
    const reply = async (content: Content) => {
      const { identities } = message
      const frames = writeMessage(type.replace(/_request$/, '_reply'), content, message, {
        key: this.key,
        session: this.id,
        identities,
      })
      await socket.send(frames)
    }
    const at = this.waiting.indexOf(message)
    if (at < 0) return reply({ status: 'aborted' })
    this.waiting.splice(at, 1)
    const handle = HANDLERS[type]
    if (!handle) return
    if (type === 'execute_request') this.parent = message
    this.publish('status', { execution_state: 'busy' }, message)
    const content = await handle.call(this, message.content, message).catch((error: unknown) => ({
      status: 'error',
      ename: 'Error',
      evalue: String(error),
      traceback: [],
    }))
    await reply(content)
    this.publish('status', { execution_state: 'idle' }, message)
    if (type === 'shutdown_request') leave()
  }

  static readonly handlers: Record<
    string,
    (this: Kernel, content: Content, message: Message) => Promise<Content>
  > = {
    async kernel_info_request() {
      return {
        status: 'ok',
        protocol_version: '5.3',
        implementation: 'touchstone',
        implementation_version: this.version,
        language_info: {
          name: 'typescript',
          version: process.versions.node,
          mimetype: 'text/x-typescript',
          file_extension: '.ts',
          codemirror_mode: 'typescript',
          pygments_lexer: 'typescript',
        },
        banner: `Touchstone ${this.version} on Node ${process.versions.node}`,
        help_links: [],
      }
    },
    async execute_request(content, message) {
      const code = String(content['code'] ?? '')
      const silent = content['silent'] === true
      if (!silent && code.trim() !== '') this.count++
      const execution_count = this.count
      const { signal } = this.controller
      this.control.begin()
      if (!silent) this.publish('execute_input', { code, execution_count }, message)
      const filename = `cell-${execution_count}`
      // Code that never awaits would keep what was published from leaving, and an interrupt from
      // being heard.
      await this.flushed()
      await setImmediate()
      try {
        const run = async (text: string) => {
          const started = performance.now()
          const { value } = await this.evaluator.evaluate(text, {
            filename,
            signal,
            breakOnSigint: true,
            around: this.control.breakable,
          })
          const bundle = await bundleOf(value)
          if (bundle && !silent) {
            // Front ends draw the spec or the picture; with the SVG too they would have it twice.
            const { [SVG]: _, ...data } = bundle
            this.publish('execute_result', { execution_count, data, metadata: {} }, message)
          }
          this.session.push(text)
          return { ok: true, durationMs: performance.now() - started }
        }
        await enter(code, this.desk(run), this.evaluator.scope)
        return { status: 'ok', execution_count, user_expressions: {}, payload: [] }
      } catch (error) {
        if ((error as { code?: string } | null)?.code === INTERRUPTED) this.interrupt()
        const failure = signal.aborted
          ? { ename: 'stopped', evalue: 'the cell was stopped', traceback: ['stopped'] }
          : failureOf(error, this.evaluator.frames(error))
        this.lastError = error
        this.publish('error', failure, message)
        if (content['stop_on_error'] !== false) this.abortWaiting()
        return { status: 'error', execution_count, ...failure }
      } finally {
        this.control.rest()
      }
    },
    async complete_request(content) {
      const code = String(content['code'] ?? '')
      const end = unitsOf(code, Number(content['cursor_pos'] ?? code.length))
      const [matches, stub] = await complete(
        code.slice(0, end),
        this.evaluator.scope,
        process.cwd(),
      )
      return {
        status: 'ok',
        matches,
        cursor_start: pointsOf(code, end - stub.length),
        cursor_end: pointsOf(code, end),
        metadata: {},
      }
    },
    async inspect_request(content) {
      const code = String(content['code'] ?? '')
      const end = unitsOf(code, Number(content['cursor_pos'] ?? code.length))
      const head = /[\p{ID_Continue}$.]*$/u.exec(code.slice(0, end))![0]
      const tail = /^[\p{ID_Continue}$]*/u.exec(code.slice(end))![0]
      try {
        const text = describe(
          head + tail,
          this.evaluator.scope,
          {},
          Number(content['detail_level'] ?? 0) > 0,
        )
        return { status: 'ok', found: true, data: { 'text/plain': text }, metadata: {} }
      } catch {
        return { status: 'ok', found: false, data: {}, metadata: {} }
      }
    },
    async is_complete_request(content) {
      const code = String(content['code'] ?? '')
      return isSpecial(code) || this.evaluator.isComplete(code)
        ? { status: 'complete' }
        : { status: 'incomplete', indent: '' }
    },
    async history_request() {
      return { status: 'ok', history: [] }
    },
    async comm_info_request() {
      return { status: 'ok', comms: {} }
    },
    async interrupt_request() {
      this.interrupt()
      return { status: 'ok' }
    },
    async shutdown_request(content) {
      this.interrupt()
      return { status: 'ok', restart: content['restart'] === true }
    },
  }

  private abortWaiting(): void {
    for (const message of this.waiting.filter((one) => one.header.msg_type === 'execute_request')) {
      this.waiting.splice(this.waiting.indexOf(message), 1)
    }
  }
}

const HANDLERS = Kernel.handlers

function failureOf(
  error: unknown,
  frames: readonly Frame[],
): { ename: string; evalue: string; traceback: string[] } {
  const ename =
    error instanceof TouchstoneError ? error.code : error instanceof Error ? error.name : 'thrown'
  return {
    ename,
    evalue: error instanceof Error ? error.message : String(error),
    traceback: showError(error, {}, frames).split('\n'),
  }
}
