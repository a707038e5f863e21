/**
 * Streamable HTTP: one POST per message, each answered by a JSON body or by an event stream that carries the answer.
 *
 * Never sent: a GET, an answer to a server's request, a resumption. What a server pushes before our answer is read past.
 */
import { abandon, readBody } from './body.ts'
import { after, type Deadline } from './deadline.ts'
import type { Line, Reached } from './dial.ts'
import { answerIn, eventReader, jsonOf, type Method, messageText, type RpcAnswer } from './frame.ts'
import { judgeReply, Shortfall } from './outcome.ts'
import { connectionTest, type Limits } from './set.ts'
import type { Wire } from './wire.ts'

/** What every request carries. Compression is not asked for, so that bytes on the wire are bytes read. */
export function ownHeaders(): { [name: string]: string } {
  return { 'user-agent': connectionTest().userAgent, 'accept-encoding': 'identity' }
}

/** A session id is echoed only if it is what the protocol allows: visible ASCII, and of a sensible length. */
const SESSION_ID = /^[\x21-\x7e]{1,1024}$/

export function openHttp(url: URL, line: Line, clock: Deadline, limits: Limits): Wire {
  const counted = { bytesRead: 0 }
  const reading = {
    maxBytes: limits.maxResponseBytes,
    count: (bytes: number) => void (counted.bytesRead += bytes),
  }
  let session: string | null = null
  let version: string | null = null

  const post = (body: string, label: Method, signal: AbortSignal, left?: (at: number) => void) =>
    line.send(url, {
      method: 'POST',
      headers: {
        ...ownHeaders(),
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        ...agreedHeaders(),
      },
      body,
      signal,
      label: `POST ${label}`,
      left,
    })
  const agreedHeaders = () => ({
    ...(session ? { 'mcp-session-id': session } : {}),
    ...(version ? { 'mcp-protocol-version': version } : {}),
  })

  return {
    sent: line.sent,
    counted,
    async ask(id, method, params) {
      let sentAt = performance.now()
      const reply = await post(messageText(method, id, params), method, clock.signal, (at) => {
        sentAt = at
      })
      const good = reply.httpStatus >= 200 && reply.httpStatus < 300
      if (method === 'initialize' && good) {
        const offered = reply.header('mcp-session-id')
        if (offered !== undefined && SESSION_ID.test(offered)) session = offered
      }
      const { answer, answeredAt, fault } = await answerOf(
        reply,
        id,
        reading,
        clock,
        good ? null : limits.stepMs,
      )
      if (answer && answer.error === null)
        return { result: answer.result, elapsedMs: answeredAt - sentAt }
      clock.signal.throwIfAborted()
      throw judgeReply({
        httpStatus: reply.httpStatus,
        header: reply.header,
        rpc: answer?.error ?? null,
        fault,
      })
    },
    async notify(method: Method) {
      // A server that never answers a notification must not eat the time of the tool list.
      try {
        await abandon((await post(messageText(method), method, clock.within(limits.stepMs))).body)
      } catch {
        clock.signal.throwIfAborted()
      }
    },
    agreed(protocolVersion) {
      version = protocolVersion
    },
    async close() {
      const waitMs = Math.min(limits.sessionCloseWaitMs, clock.remainingMs())
      if (session !== null && waitMs > 0) {
        const headers = {
          ...ownHeaders(),
          'mcp-protocol-version': version ?? connectionTest().set.client.protocolVersion,
          'mcp-session-id': session,
        }
        await line
          .send(url, { method: 'DELETE', headers, signal: after(waitMs), label: 'DELETE' })
          .then(({ body }) => abandon(body))
          .catch(() => {})
      }
      await line.close()
    },
  }
}

/**
 * The answer in a response, or what stopped it from being found.
 *
 * @param patienceMs how long the body of an error response is read: its status already says enough. Null: to the deadline
 */
export async function answerOf(
  reply: Reached,
  id: number,
  reading: { maxBytes: number; count(bytes: number): void },
  clock: Deadline,
  patienceMs: number | null,
): Promise<{ answer: RpcAnswer | null; answeredAt: number; fault: Shortfall | null }> {
  const type = (reply.header('content-type') ?? '').split(';')[0]?.trim().toLowerCase() ?? ''
  const stream = type === 'text/event-stream'
  if (!stream && !/^application\/(?:[\w.-]+\+)?json$/.test(type)) {
    await abandon(reply.body)
    // 202, 204 and an empty 200 are no answer of the wrong kind, they are none.
    const empty = type === '' && (reply.httpStatus === 202 || reply.httpStatus === 204)
    return {
      answer: null,
      answeredAt: 0,
      fault: new Shortfall(empty ? 'not_an_answer' : 'content_type'),
    }
  }
  const giveUp = patienceMs === null ? null : setTimeout(() => reply.body.destroy(), patienceMs)
  let answer: RpcAnswer | null = null
  const chunks: Uint8Array[] = []
  let answeredAt = 0
  const reader = eventReader(({ data }) => {
    if (answer !== null) return
    answer = answerIn(jsonOf(data), id, false)
    answeredAt = performance.now()
  })
  try {
    await readBody(reply.body, reply.header('content-encoding'), reading, (chunk) => {
      if (stream) reader.feed(chunk)
      else chunks.push(chunk)
      return answer !== null
    })
    if (stream) return { answer, answeredAt, fault: answer ? null : new Shortfall('not_an_answer') }
    const value = jsonOf(chunks.length === 1 ? (chunks[0] as Uint8Array) : Buffer.concat(chunks))
    const fault = new Shortfall(value === undefined ? 'not_json' : 'not_an_answer')
    return { answer: answerIn(value, id, true), answeredAt: performance.now(), fault }
  } catch (error) {
    clock.signal.throwIfAborted()
    return {
      answer: null,
      answeredAt: 0,
      fault: error instanceof Shortfall ? error : new Shortfall('other', { cause: error }),
    }
  } finally {
    if (giveUp) clearTimeout(giveUp)
  }
}
