/**
 * What a kernel hears while a cell never awaits: interrupts and shutdown, by a thread of its own.
 *
 * Node breaks such a cell by SIGINT (`breakOnSigint`), and only while the cell runs: before and
 * after it, for a moment, SIGINT ends the process. So Jupyter sends a message, and the thread sends
 * the signal, while the part of a cell up to its first await runs and at no other time.
 */
import { once } from 'node:events'
import { extname } from 'node:path'
import { Worker } from 'node:worker_threads'

/** Where a cell is: what the two threads agree on. */
export const AT = { rest: 0, begin: 1, work: 2, end: 3 } as const

/** The code of the error of a cell that was broken: Node's. */
export const INTERRUPTED = 'ERR_SCRIPT_EXECUTION_INTERRUPTED'

/** What the thread is given. */
export type ControlSetting = {
  control: string
  heartbeat: string
  key: string
  session: string
  /** A number of `AT`, and how many cells have begun. */
  at: Int32Array
}

/** `stop` names the cell that is to be stopped; `heard` answers it. */
export type ControlMessage =
  | { frames: (Uint8Array | string)[] }
  | { stop: number }
  | { heard: true }
  | { ready: true }
  | { close: true }

/** A socket as a kernel reads and answers it. */
export type Requests = AsyncIterable<Buffer[]> & {
  send(frames: (Buffer | string)[]): Promise<void>
}

export class Control implements Requests {
  private readonly at = new Int32Array(new SharedArrayBuffer(8))
  private readonly thread: Worker
  private readonly received: Buffer[][] = []
  private wake: () => void = () => {}
  private ended = false

  private constructor(setting: Omit<ControlSetting, 'at'>, interrupt: () => void) {
    const url = new URL(`./control-worker${extname(import.meta.url)}`, import.meta.url)
    this.thread = new Worker(url, { workerData: { ...setting, at: this.at } })
    this.thread.on('message', (message: ControlMessage) => {
      if ('frames' in message) this.received.push(message.frames.map((one) => Buffer.from(one)))
      if ('stop' in message) {
        this.thread.postMessage({ heard: true } satisfies ControlMessage)
        if (message.stop > 0 && message.stop === this.at[1]) interrupt()
      }
      this.wake()
    })
    this.thread.once('exit', () => {
      this.ended = true
      this.wake()
    })
  }

  /**
   * Start the thread.
   *
   * @param interrupt stops a cell behind its first await
   * @throws what the thread threw, such as an address in use
   */
  static async start(setting: Omit<ControlSetting, 'at'>, interrupt: () => void): Promise<Control> {
    const made = new Control(setting, interrupt)
    await once(made.thread, 'message')
    return made
  }

  /** Run the part of a cell that the thread may break, inside of what SIGINT breaks. */
  readonly breakable = <T>(work: () => T): T => {
    if (Atomics.compareExchange(this.at, 0, AT.begin, AT.work) === AT.end)
      throw Object.assign(new Error('stopped before it began'), { code: INTERRUPTED })
    Atomics.store(this.at, 0, AT.work)
    try {
      return work()
    } finally {
      // A signal that is on its way breaks this loop, and nothing behind it.
      while (Atomics.compareExchange(this.at, 0, AT.work, AT.rest) === AT.end);
    }
  }

  /** From here a cell can be stopped. */
  begin(): void {
    Atomics.add(this.at, 1, 1)
    Atomics.store(this.at, 0, AT.begin)
  }

  /** No cell is at work. */
  rest(): void {
    Atomics.store(this.at, 0, AT.rest)
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Buffer[]> {
    while (!this.ended) {
      const { promise, resolve } = Promise.withResolvers<void>()
      this.wake = resolve
      yield* this.received.splice(0)
      if (this.received.length === 0 && !this.ended) await promise
    }
  }

  async send(frames: (Buffer | string)[]): Promise<void> {
    this.thread.postMessage({ frames } satisfies ControlMessage)
  }

  /** End the thread; what was sent before leaves first. */
  async close(): Promise<void> {
    if (this.ended) return
    const exit = once(this.thread, 'exit')
    this.thread.postMessage({ close: true } satisfies ControlMessage)
    await exit
  }
}
