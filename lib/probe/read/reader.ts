/**
 * Reading what servers sent without standing still: large texts are read in a worker thread, which
 * can be ended.
 *
 * The thread is started when it is first needed and serves all tests of the process. It keeps the
 * process alive only while it has work.
 */
import { extname } from 'node:path'
import { Worker } from 'node:worker_threads'
import { type Reading, readAnswer } from './frame.ts'
import type { Page, ReadOptions, ToolList } from './tools.ts'

export type Job =
  | { kind: 'answer'; id: number; text: Uint8Array | string; answerId: number; alone: boolean }
  | { kind: 'tools'; id: number; pages: Page[]; options: ReadOptions }
  | { kind: 'texts'; id: number; texts: string[] }
  | { kind: 'end'; id: number }

export type Reply = { id: number; value: ToolList | Reading | string[] }

/** The id of the message by which the thread says that it is loaded. */
export const READY = 0

/** A JSON text up to this size is parsed where it arrives; it takes about a millisecond. */
const SMALL = 65_536
/** How long the thread may take to notice that a reading is over before it is ended. */
const GRACE_MS = 1_000

type Waiting = {
  job: Job
  resolve(value: never): void
  reject(error: unknown): void
}

let thread: Worker | null = null
let loaded = Promise.resolve()
let lastId = READY
const waiting = new Map<number, Waiting>()

/** Start the thread ahead of its first work. */
export function warmReader(): void {
  if (thread === null) start().unref()
}

/**
 * The answer to a request in a text that a server sent.
 *
 * @param alone the text is the whole body of the response (`answerIn`)
 */
export async function answerFrom(
  text: Uint8Array | string,
  id: number,
  alone: boolean,
): Promise<Reading> {
  if (text.length <= SMALL) return readAnswer(text, id, alone)
  return run({ kind: 'answer', id: ++lastId, text, answerId: id, alone })
}

/**
 * Read a tool list's pages.
 *
 * @param signal ends the reading: what has been read by then is the result, and `unread` counts the
 *   rest
 * @returns null when the thread did not end in time, so that nothing of the list can be told
 */
export async function toolsFrom(
  pages: Page[],
  options: ReadOptions,
  signal: AbortSignal,
): Promise<ToolList | null> {
  const id = ++lastId
  const read = run<ToolList>({ kind: 'tools', id, pages, options })
  await Promise.race([loaded, read])
  let patience: NodeJS.Timeout | undefined
  const ended = Promise.withResolvers<null>()
  const end = () => {
    thread?.postMessage({ kind: 'end', id } satisfies Job)
    patience = setTimeout(() => {
      waiting.delete(id)
      replace()
      ended.resolve(null)
    }, GRACE_MS)
  }
  if (signal.aborted) end()
  else signal.addEventListener('abort', end, { once: true })
  try {
    return await Promise.race([read, ended.promise])
  } finally {
    signal.removeEventListener('abort', end)
    clearTimeout(patience)
  }
}

/** Rules that any of some short texts matches, in order. */
export function rulesOf(texts: string[]): Promise<string[]> {
  return run({ kind: 'texts', id: ++lastId, texts })
}

function run<T>(job: Job): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    waiting.set(job.id, { job, resolve: resolve as Waiting['resolve'], reject })
    const at = thread ?? start()
    at.ref()
    at.postMessage(job)
  })
}

function start(): Worker {
  const made = new Worker(new URL(`./reader-worker${extname(import.meta.url)}`, import.meta.url), {
    name: 'probe reader',
  })
  thread = made
  const { promise, resolve } = Promise.withResolvers<void>()
  loaded = promise
  made.on('message', ({ id, value }: Reply) => {
    if (id === READY) resolve()
    waiting.get(id)?.resolve(value as never)
    waiting.delete(id)
    if (waiting.size === 0) made.unref()
  })
  made.on('error', (error) => {
    if (thread === made) thread = null
    for (const [id, { reject }] of waiting) {
      waiting.delete(id)
      reject(error)
    }
  })
  return made
}

/** End a thread that hangs, and give the work of the others to a new one. */
function replace(): void {
  thread?.removeAllListeners()
  thread?.terminate()
  thread = null
  for (const { job } of waiting.values()) {
    const at = thread ?? start()
    at.ref()
    at.postMessage(job)
  }
}
