/**
 * Streamable HTTP with a handshake: one POST per message, each answered by a JSON body or by an
 * event stream.
 *
 * Never sent: a GET, an answer to a server's request, a resumption. What a server pushes before our
 * answer is read past.
 */

import { after, type Deadline } from '../judge/deadline.ts'
import { judgeReply, Shortfall } from '../judge/outcome.ts'
import { type ConnectionSet, headersOf, type Limits } from '../judge/set.ts'
import { type Method, messageText } from '../read/frame.ts'
import { abandon } from './body.ts'
import type { Line } from './dial.ts'
import { exchange, isGood } from './exchange.ts'
import type { Wire } from './wire.ts'

/**
 * A session id is echoed only if it is what the protocol allows: visible ASCII, and of a sensible
 * length.
 */
const SESSION_ID = /^[\x21-\x7e]{1,1024}$/

export function openHttp(
  url: URL,
  line: Line,
  clock: Deadline,
  {
    limits,
    client,
    extra,
  }: { limits: Limits; client: ConnectionSet['client']; extra: Record<string, string> },
): Wire {
  const counted = { bytesRead: 0 }
  const reading = {
    maxBytes: limits.maxResponseBytes,
    count: (bytes: number) => void (counted.bytesRead += bytes),
  }
  let session: string | null = null
  let version: string | null = null
  const headers = () => ({
    ...headersOf(client, extra),
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    ...(session ? { 'mcp-session-id': session } : {}),
    ...(version ? { 'mcp-protocol-version': version } : {}),
  })

  return {
    sent: line.sent,
    counted,
    async ask(id, method, params) {
      const { reply, answer, page, fault, elapsedMs, stalledMs } = await exchange(
        line,
        url,
        { headers: headers(), body: messageText(method, id, params), method },
        { id, reading, clock, patienceMs: limits.stepMs },
        ({ httpStatus, header }) => {
          const offered = header('mcp-session-id')
          const opens = method === 'initialize' && isGood(httpStatus)
          if (opens && offered !== undefined && SESSION_ID.test(offered)) session = offered
        },
      )
      if (answer?.error === null && page) {
        return { outline: answer.outline, page, elapsedMs, stalledMs }
      }
      clock.signal.throwIfAborted()
      throw judgeReply({ ...reply, rpc: answer?.error ?? null, fault })
    },
    async notify(method: Method) {
      // A server that never answers a notification must not eat the time of the tool list.
      try {
        const reply = await line.send(url, {
          method: 'POST',
          headers: headers(),
          body: messageText(method),
          ...waiting(limits.stepMs, clock.signal),
          label: `POST ${method}`,
        })
        await abandon(reply.body)
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
          ...headersOf(client, extra),
          'mcp-protocol-version': version ?? client.protocolVersion,
          'mcp-session-id': session,
        }
        await line
          .send(url, {
            method: 'DELETE',
            headers,
            ...waiting(waitMs, clock.signal),
            label: 'DELETE',
          })
          .then(({ body }) => abandon(body))
          .catch(() => {})
      }
      await line.close()
    },
  }
}

/**
 * For a request whose answer never matters: how long is waited for it once the request has left.
 * Until then the test's own time bounds it, so that a process that gets no turn for seconds does
 * not leave it out.
 */
function waiting(ms: number, bound: AbortSignal): { signal: AbortSignal; left(): void } {
  const over = new AbortController()
  return {
    signal: AbortSignal.any([bound, over.signal]),
    left: () =>
      void after(ms).addEventListener('abort', () => over.abort(new Shortfall('timed_out'))),
  }
}
