/**
 * Streamable HTTP of revision 2026-07-28: each request is a POST of its own that carries all it
 * needs, over a connection of its own. No handshake, no session, no GET, no DELETE, no
 * notification.
 */
import type { Deadline } from '../judge/deadline.ts'
import type { Shortfall } from '../judge/outcome.ts'
import { type ConnectionSet, headersOf, type Limits } from '../judge/set.ts'
import { type Aside, type Method, messageText, type Read } from '../read/frame.ts'
import type { Page } from '../read/tools.ts'
import type { Line } from './dial.ts'
import { exchange } from './exchange.ts'
import type { StdioWire } from './stdio.ts'

export type ModernReply = {
  /** Null over a transport that has none. */
  httpStatus: number | null
  header(name: string): string | undefined
  answer: Read | null
  page: Page | null
  asides: Exclude<Aside, null>[]
  fault: Shortfall | null
  elapsedMs: number
  stalledMs: number
}

export type ModernWire = {
  /** Send a request. @throws Shortfall when nothing came, or the signal's reason */
  request(id: number, method: Method, params: Record<string, unknown>): Promise<ModernReply>
  close(): Promise<void>
  readonly sent: readonly string[]
  readonly counted: { bytesRead: number }
}

export function openModernHttp(
  url: URL,
  line: Line,
  clock: Deadline,
  options: { limits: Limits; client: ConnectionSet['client']; extra: Record<string, string> },
): ModernWire {
  const { limits, client, extra } = options
  const counted = { bytesRead: 0 }
  const reading = {
    maxBytes: limits.maxResponseBytes,
    count: (bytes: number) => void (counted.bytesRead += bytes),
  }
  return {
    sent: line.sent,
    counted,
    async request(id, method, params) {
      const headers = {
        ...headersOf(client, extra),
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        'mcp-protocol-version': client.protocolVersion,
        'mcp-method': method,
      }
      const { reply, ...found } = await exchange(
        line,
        url,
        { headers, body: messageText(method, id, params), method, fresh: true },
        { id, reading, clock, patienceMs: limits.stepMs },
      )
      return { ...found, httpStatus: reply.httpStatus, header: reply.header }
    },
    close: () => line.close(),
  }
}

/** The same requests to a child process: what HTTP says in headers stands in the body already. */
export function modernStdio(wire: StdioWire): ModernWire {
  return {
    sent: wire.sent,
    counted: wire.counted,
    async request(id, method, params) {
      const found = await wire.request(id, method, params)
      return { ...found, httpStatus: null, header: () => undefined, fault: null }
    },
    close: () => wire.close(),
  }
}
