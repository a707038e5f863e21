/**
 * Server-sent events, the transport of 2024-11-05: one GET opens the stream, its first `endpoint`
 * event names where requests go, and answers come back on the stream.
 *
 * The whole stream counts as one answer for the byte limit. A later `endpoint` event is ignored, or
 * a server could move requests to another host after the host was checked.
 */

import { untilAborted } from '../../abort.ts'
import type { Deadline } from '../judge/deadline.ts'
import { judgeReply, Shortfall } from '../judge/outcome.ts'
import { type ConnectionSet, headersOf, type Limits } from '../judge/set.ts'
import { watchStalls } from '../judge/stall.ts'
import { checkEndpoint } from '../judge/url.ts'
import { eventReader, type Method, messageText } from '../read/frame.ts'
import { answerFrom } from '../read/reader.ts'
import { abandon, readBody } from './body.ts'
import type { Line } from './dial.ts'
import { answerOf } from './exchange.ts'
import { rpcShortfall, type Waiting, type Wire } from './wire.ts'

/** Open the stream and wait for its endpoint. @throws Shortfall, or the clock's reason */
export async function openSse(
  url: URL,
  line: Line,
  clock: Deadline,
  options: {
    limits: Limits
    local: boolean
    client: ConnectionSet['client']
    extra: Record<string, string>
  },
): Promise<Wire> {
  const { limits, local } = options
  const common = headersOf(options.client, options.extra)
  const counted = { bytesRead: 0 }
  const reading = {
    maxBytes: limits.maxResponseBytes,
    count: (bytes: number) => void (counted.bytesRead += bytes),
  }
  let version: string | null = null

  const reply = await line.send(url, {
    method: 'GET',
    headers: { ...common, accept: 'text/event-stream' },
    signal: clock.signal,
    label: 'GET',
  })
  const type = (reply.header('content-type') ?? '').split(';')[0]?.trim().toLowerCase()
  if (reply.httpStatus < 200 || reply.httpStatus > 299 || type !== 'text/event-stream') {
    // The body is not read: it can hold no answer, as nothing has been asked.
    abandon(reply.body)
    const fault = new Shortfall('content_type')
    throw judgeReply({ ...reply, rpc: null, fault })
  }

  const endpoint = Promise.withResolvers<URL>()
  // Awaited only when somebody waits; without this a stream that fails early would end the process.
  endpoint.promise.catch(() => {})
  let named = false
  let waiting: Waiting | null = null
  let ended: Shortfall | null = null

  const reader = eventReader(({ event, data }) => {
    if (event === 'endpoint') {
      if (named) return
      named = true
      const target = checkEndpoint(data, url, local)
      if (target.url) endpoint.resolve(target.url)
      else {
        const detail = target.reason === 'unparsable' ? 'no_endpoint' : 'endpoint_refused'
        endpoint.reject(new Shortfall(detail, { reason: target.reason }))
      }
    } else if (event === 'message' && waiting) {
      events.push(data)
    }
  })
  let events: string[] = []
  const look = async (texts: string[]): Promise<boolean> => {
    const asked = waiting
    for (const text of asked ? texts : []) {
      const { id, resolve } = asked as Waiting
      const { answer } = await answerFrom(text, id, false)
      if (answer) resolve({ answer, page: { text, id, alone: false } })
    }
    return false
  }
  const fall = (fault: Shortfall) => {
    ended = fault
    endpoint.reject(fault)
    waiting?.reject(fault)
  }
  readBody(reply.body, reply.header('content-encoding'), reading, (chunk) => {
    events = []
    reader.feed(chunk)
    return events.length === 0 ? false : look(events)
  }).then(
    () => fall(new Shortfall(named ? 'not_an_answer' : 'no_endpoint')),
    (error) => fall(error instanceof Shortfall ? error : new Shortfall('other', { cause: error })),
  )

  let target: URL
  try {
    target = await untilAborted(endpoint.promise, clock.signal)
  } catch (error) {
    reply.body.destroy()
    throw error
  }

  const post = (body: string, label: Method, signal: AbortSignal, left?: (at: number) => void) =>
    line.send(target, {
      method: 'POST',
      headers: {
        ...common,
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        ...(version ? { 'mcp-protocol-version': version } : {}),
      },
      body,
      signal,
      label: `POST ${label}`,
      left,
    })

  /**
   * Rejects when the POST is refused by status. A POST that is accepted settles nothing: the answer
   * comes on the stream.
   */
  const postAndWatch = async (
    body: string,
    id: number,
    label: Method,
    left: (at: number) => void,
  ): Promise<never> => {
    try {
      const reply = await post(body, label, clock.signal, left)
      if (reply.httpStatus >= 300) {
        const { answer, fault } = await answerOf(reply, id, reading, clock, limits.stepMs)
        throw judgeReply({ ...reply, rpc: answer?.error ?? null, fault })
      }
      abandon(reply.body)
    } catch (error) {
      // Proxies cut a POST while its answer is on the stream, so the answer is waited for a little
      // before a broken connection counts.
      if (!(error instanceof Shortfall) || error.outcome !== 'no_answer') throw error
      await new Promise((resolve) =>
        setTimeout(resolve, Math.min(limits.stepMs, clock.remainingMs())),
      )
      throw error
    }
    return new Promise<never>(() => {})
  }

  return {
    sent: line.sent,
    counted,
    async ask(id, method, params) {
      if (ended) throw ended
      let sentAt = performance.now()
      let stalled = () => 0
      const answered = new Promise<Parameters<Waiting['resolve']>[0]>((resolve, reject) => {
        waiting = { id, resolve, reject }
      })
      const watched = postAndWatch(messageText(method, id, params), id, method, (at) => {
        sentAt = at
        stalled = watchStalls()
      })
      watched.catch(() => {})
      try {
        const { answer, page } = await untilAborted(Promise.race([answered, watched]), clock.signal)
        if (answer.error) throw rpcShortfall(answer.error)
        const elapsedMs = performance.now() - sentAt
        return { outline: answer.outline, page, elapsedMs, stalledMs: stalled() }
      } finally {
        stalled()
        waiting = null
        answered.catch(() => {})
      }
    },
    async notify(method) {
      try {
        abandon((await post(messageText(method), method, clock.within(limits.stepMs))).body)
      } catch {
        clock.signal.throwIfAborted()
      }
    },
    agreed(protocolVersion) {
      version = protocolVersion
    },
    async close() {
      reply.body.on('error', () => {})
      reply.body.destroy()
      await line.close()
    },
  }
}
