/**
 * Server-sent events, the transport of 2024-11-05: one GET opens the stream, its first `endpoint` event names where requests go,
 * and answers come back on the stream.
 *
 * The whole stream counts as one answer for the byte limit. A later `endpoint` event is ignored, or a server could move
 * requests to another host after the host was checked.
 */
import { untilAborted } from '../abort.ts'
import { abandon, readBody } from './body.ts'
import type { Deadline } from './deadline.ts'
import type { Line } from './dial.ts'
import { answerIn, eventReader, jsonOf, type Method, messageText, type RpcAnswer } from './frame.ts'
import { answerOf, ownHeaders } from './http.ts'
import { isAboutAuthentication, judgeReply, Shortfall } from './outcome.ts'
import type { Limits } from './set.ts'
import { checkEndpoint } from './url.ts'
import { rpcShortfall, type Wire } from './wire.ts'

/** Open the stream and wait for its endpoint. @throws Shortfall, or the clock's reason */
export async function openSse(
  url: URL,
  line: Line,
  clock: Deadline,
  limits: Limits,
  local: boolean,
): Promise<Wire> {
  const counted = { bytesRead: 0 }
  const reading = {
    maxBytes: limits.maxResponseBytes,
    count: (bytes: number) => void (counted.bytesRead += bytes),
  }
  let version: string | null = null

  const reply = await line.send(url, {
    method: 'GET',
    headers: { ...ownHeaders(), accept: 'text/event-stream' },
    signal: clock.signal,
    label: 'GET',
  })
  const type = (reply.header('content-type') ?? '').split(';')[0]?.trim().toLowerCase()
  if (reply.httpStatus < 200 || reply.httpStatus > 299 || type !== 'text/event-stream') {
    // The body is not read: it can hold no answer, as nothing has been asked.
    abandon(reply.body)
    const fault = new Shortfall('content_type')
    throw judgeReply({ httpStatus: reply.httpStatus, header: reply.header, rpc: null, fault })
  }

  const endpoint = Promise.withResolvers<URL>()
  // Awaited only when somebody waits; without this a stream that fails early would end the process.
  endpoint.promise.catch(() => {})
  let named = false
  let waiting: {
    id: number
    resolve(answer: RpcAnswer): void
    reject(error: unknown): void
  } | null = null
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
      const answer = answerIn(jsonOf(data), waiting.id, false)
      if (answer) waiting.resolve(answer)
    }
  })
  const fall = (fault: Shortfall) => {
    ended = fault
    endpoint.reject(fault)
    waiting?.reject(fault)
  }
  readBody(reply.body, reply.header('content-encoding'), reading, (chunk) => {
    reader.feed(chunk)
    return false
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
        ...ownHeaders(),
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        ...(version ? { 'mcp-protocol-version': version } : {}),
      },
      body,
      signal,
      label: `POST ${label}`,
      left,
    })

  /** Ends the wait only for what a POST can settle: a refusal by status. Its acceptance settles nothing. */
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
        throw judgeReply({
          httpStatus: reply.httpStatus,
          header: reply.header,
          rpc: answer?.error ?? null,
          fault,
        })
      }
      abandon(reply.body)
    } catch (error) {
      // Proxies cut a POST while its answer is on the stream, so a broken connection is given a little time to be wrong.
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
      const answered = new Promise<RpcAnswer>((resolve, reject) => {
        waiting = { id, resolve, reject }
      })
      const watched = postAndWatch(messageText(method, id, params), id, method, (at) => {
        sentAt = at
      })
      watched.catch(() => {})
      try {
        const answer = await untilAborted(Promise.race([answered, watched]), clock.signal)
        if (answer.error) throw rpcShortfall(answer.error, isAboutAuthentication)
        return { result: answer.result, elapsedMs: performance.now() - sentAt }
      } finally {
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
