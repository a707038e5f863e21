/**
 * A developer's own server as a child process: one JSON-RPC message per line on its standard input
 * and output.
 *
 * Not part of a published set. What it writes beside that is kept for the person who wrote it
 * (`process-told.ts`).
 */
import { untilAborted } from '../../abort.ts'
import type { Deadline } from '../judge/deadline.ts'
import { Shortfall } from '../judge/outcome.ts'
import type { Limits } from '../judge/set.ts'
import { watchStalls } from '../judge/stall.ts'
import { type Aside, type Method, messageText, type Read } from '../read/frame.ts'
import { answerFrom } from '../read/reader.ts'
import type { Page } from '../read/tools.ts'
import { type Command, endCommand, startCommand } from './command.ts'
import { type ProcessTold, ProcessWatch } from './process-told.ts'
import { rpcShortfall, type Waiting, type Wire } from './wire.ts'

export type StdioWire = Wire & {
  /** Send a request and give its answer, an error too. @throws Shortfall, or the signal's reason */
  request(
    id: number,
    method: Method,
    params?: Record<string, unknown>,
  ): Promise<{
    answer: Read
    page: Page
    asides: Exclude<Aside, null>[]
    elapsedMs: number
    stalledMs: number
  }>
  /** The process can answer nothing more. */
  ended(): boolean
  told(): ProcessTold
}

/** Start the process. It may fail to start: then each request falls short, and `told` says why. */
export async function openStdio(
  target: Command,
  clock: Deadline,
  limits: Limits,
): Promise<StdioWire> {
  const child = startCommand(target)
  const watch = new ProcessWatch(target, child)
  const counted = { bytesRead: 0 }
  const sent: string[] = []
  let asides: Exclude<Aside, null>[] = []
  let waiting: Waiting | null = null
  let ended: Shortfall | null = null
  const fall = (fault: Shortfall) => {
    ended ??= fault
    waiting?.reject(ended)
  }
  child.once('error', (cause) => fall(new Shortfall('command_failed', { cause })))
  child.stdin.on('error', () => {})

  const take = async (bytes: Buffer) => {
    if (bytes.length > limits.maxResponseBytes) return fall(new Shortfall('answer_too_large'))
    const { id = -1 } = waiting ?? {}
    const { json, answer, aside } = await answerFrom(bytes, id, false)
    if (!json || (answer === null && aside === null)) watch.stray(bytes)
    else if (aside && asides.length < 64) asides.push(aside)
    if (answer && !ended && waiting?.id === id) {
      waiting.resolve({ answer, page: { text: bytes, id, alone: false } })
    }
  }
  const lines = readLines(child.stdout, {
    maxBytes: limits.maxResponseBytes,
    count: (bytes) => {
      counted.bytesRead += bytes
    },
    take,
    tooLong: () => fall(new Shortfall('answer_too_large')),
  })
  child.once('close', () => lines.done().then(() => fall(new Shortfall('connection_dropped'))))

  const request: StdioWire['request'] = async (id, method, params) => {
    if (ended) throw ended
    asides = []
    const answered = new Promise<Parameters<Waiting['resolve']>[0]>((resolve, reject) => {
      waiting = { id, resolve, reject }
    })
    const sentAt = performance.now()
    const stalled = watchStalls()
    sent.push(method)
    child.stdin.write(`${messageText(method, id, params)}\n`)
    try {
      const { answer, page } = await untilAborted(answered, clock.signal)
      const elapsedMs = performance.now() - sentAt
      return { answer, page, asides, elapsedMs, stalledMs: stalled() }
    } finally {
      stalled()
      waiting = null
      answered.catch(() => {})
    }
  }

  return {
    sent,
    counted,
    request,
    async ask(id, method, params) {
      const { answer, page, elapsedMs, stalledMs } = await request(id, method, params)
      if (answer.error) throw rpcShortfall(answer.error)
      return { outline: answer.outline, page, elapsedMs, stalledMs }
    },
    async notify(method) {
      sent.push(method)
      child.stdin.write(`${messageText(method)}\n`)
    },
    agreed() {},
    async close() {
      await endCommand(child, limits.sessionCloseWaitMs)
    },
    ended: () => ended !== null,
    told: () => watch.told(),
  }
}

/** Cut a stream into lines. Nothing more is read while a line is looked at. */
function readLines(
  stream: NodeJS.ReadableStream & { destroy(): void },
  to: {
    maxBytes: number
    count(bytes: number): void
    take(line: Buffer): Promise<void>
    tooLong(): void
  },
): { done(): Promise<void> } {
  let looking = Promise.resolve()
  let parts: Buffer[] = []
  let sizeBytes = 0
  stream.on('data', (chunk: Buffer) => {
    to.count(chunk.length)
    const lines: Buffer[] = []
    let from = 0
    for (let at = chunk.indexOf(10); at >= 0; at = chunk.indexOf(10, from)) {
      parts.push(chunk.subarray(from, at))
      lines.push(Buffer.concat(parts))
      parts = []
      sizeBytes = 0
      from = at + 1
    }
    sizeBytes += chunk.length - from
    if (sizeBytes > to.maxBytes) {
      to.tooLong()
      stream.destroy()
      return
    }
    if (from < chunk.length) parts.push(chunk.subarray(from))
    if (lines.length === 0) return
    stream.pause()
    const look = async () => {
      for (const line of lines) await to.take(line)
      stream.resume()
    }
    looking = look()
  })
  return { done: () => looking }
}
