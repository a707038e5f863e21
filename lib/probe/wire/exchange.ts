/**
 * One POST and the answer to it: a JSON body, or an event stream that carries the answer. Shared by
 * both eras of the protocol.
 */

import type { Deadline } from '../judge/deadline.ts'
import { Shortfall } from '../judge/outcome.ts'
import { watchStalls } from '../judge/stall.ts'
import { type Aside, eventReader, type Read } from '../read/frame.ts'
import { answerFrom } from '../read/reader.ts'
import type { Page } from '../read/tools.ts'
import { abandon, readBody } from './body.ts'
import type { Line, Reached } from './dial.ts'

export type Answered = {
  answer: Read | null
  /** The text that holds the answer. */
  page: Page | null
  /** When the last byte of the answer had arrived, by `performance.now()`. */
  answeredAt: number
  /** What else the server sent before its answer, in order, at most 64. */
  asides: Exclude<Aside, null>[]
  /** What stopped the body from being read; null when it was read. */
  fault: Shortfall | null
}

export type Exchanged = Answered & {
  reply: Reached
  elapsedMs: number
  /** The longest time that this process stood still meanwhile. */
  stalledMs: number
}

export type Reading = { maxBytes: number; count(bytes: number): void }

/** Statuses that say so much that the body of their response is read for a short time only. */
export const isGood = (httpStatus: number) => httpStatus >= 200 && httpStatus < 300

/**
 * Send a request and read its answer.
 *
 * @param patienceMs how long the body of an error response is read
 * @throws Shortfall when nothing came, or the signal's reason
 */
export async function exchange(
  line: Line,
  url: URL,
  post: { headers: Record<string, string>; body: string; method: string; fresh?: boolean },
  read: { id: number; reading: Reading; clock: Deadline; patienceMs: number },
  onReply: (reply: Reached) => void = () => {},
): Promise<Exchanged> {
  let sentAt = performance.now()
  let stalled = () => 0
  try {
    const reply = await line.send(url, {
      method: 'POST',
      headers: post.headers,
      body: post.body,
      signal: read.clock.signal,
      label: `POST ${post.method}`,
      fresh: post.fresh ?? false,
      left: (at) => {
        sentAt = at
        stalled = watchStalls()
      },
    })
    onReply(reply)
    const patienceMs = isGood(reply.httpStatus) ? null : read.patienceMs
    const answered = await answerOf(reply, read.id, read.reading, read.clock, patienceMs)
    return { ...answered, reply, elapsedMs: answered.answeredAt - sentAt, stalledMs: stalled() }
  } finally {
    stalled()
  }
}

/**
 * The answer in a response, or what stopped it from being found.
 *
 * @param patienceMs how long the body of an error response is read. Null: to the deadline
 */
export async function answerOf(
  reply: Reached,
  id: number,
  reading: Reading,
  clock: Deadline,
  patienceMs: number | null,
): Promise<Answered> {
  const none = { answer: null, page: null, answeredAt: 0, asides: [] }
  const type = (reply.header('content-type') ?? '').split(';')[0]?.trim().toLowerCase() ?? ''
  const stream = type === 'text/event-stream'
  if (!stream && !/^application\/(?:[\w.-]+\+)?json$/.test(type)) {
    await abandon(reply.body)
    // 202, 204 and an empty 200 are no answer of the wrong kind, they are none.
    const empty = type === '' && (reply.httpStatus === 202 || reply.httpStatus === 204)
    return { ...none, fault: new Shortfall(empty ? 'not_an_answer' : 'content_type') }
  }
  const giveUp = patienceMs === null ? null : setTimeout(() => reply.body.destroy(), patienceMs)
  try {
    return await (stream ? fromEvents(reply, id, reading) : fromBody(reply, id, reading))
  } catch (error) {
    clock.signal.throwIfAborted()
    const fault = error instanceof Shortfall ? error : new Shortfall('other', { cause: error })
    return { ...none, fault }
  } finally {
    if (giveUp) clearTimeout(giveUp)
  }
}

async function fromBody(reply: Reached, id: number, reading: Reading): Promise<Answered> {
  const chunks: Uint8Array[] = []
  await readBody(reply.body, reply.header('content-encoding'), reading, (chunk) => {
    chunks.push(chunk)
    return false
  })
  const answeredAt = performance.now()
  const text = chunks.length === 1 ? (chunks[0] as Uint8Array) : Buffer.concat(chunks)
  const { json, answer, aside } = await answerFrom(text, id, true)
  return {
    answer,
    page: answer ? { text, id, alone: true } : null,
    answeredAt,
    asides: aside ? [aside] : [],
    fault: answer ? null : new Shortfall(json ? 'not_an_answer' : 'not_json'),
  }
}

/** More of a server's own messages than this are read past without being noted. */
const MAX_ASIDES = 64

type Found = { answer: Read; page: Page; answeredAt: number }

async function fromEvents(reply: Reached, id: number, reading: Reading): Promise<Answered> {
  const asides: Answered['asides'] = []
  let found: Found | null = null
  let events: string[] = []
  const reader = eventReader(({ data }) => events.push(data))

  const look = async (texts: string[], answeredAt: number): Promise<boolean> => {
    for (const text of texts) {
      const { answer, aside } = await answerFrom(text, id, false)
      if (answer) {
        found = { answer, page: { text, id, alone: false }, answeredAt }
        return true
      }
      if (aside && asides.length < MAX_ASIDES) asides.push(aside)
    }
    return false
  }
  await readBody(reply.body, reply.header('content-encoding'), reading, (chunk) => {
    events = []
    reader.feed(chunk)
    return events.length === 0 ? false : look(events, performance.now())
  })
  const none = { answer: null, page: null, answeredAt: 0 }
  const { answer, page, answeredAt } = (found as Found | null) ?? none
  return {
    answer,
    page,
    answeredAt,
    asides,
    fault: answer ? null : new Shortfall('not_an_answer'),
  }
}
