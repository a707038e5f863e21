/**
 * What the test needs of a transport, and what all transports share: ask a request, send a notification, close.
 *
 * Nothing else can leave: there is no way here to answer a server's request or to call a tool.
 */

import type { Method } from './frame.ts'
import { type RpcError, Shortfall } from './outcome.ts'

export type Transport = 'streamable-http' | 'sse' | 'stdio'

export type Answer = {
  result: unknown
  /** From the request's true leaving to the reading of its answer. */
  elapsedMs: number
}

export type Wire = {
  /** Send a request and read its answer. @throws Shortfall, or the signal's reason */
  ask(id: number, method: Method, params?: Record<string, unknown>): Promise<Answer>
  /** Send a notification and wait a short while for it to be taken. How it is taken never matters. */
  notify(method: Method): Promise<void>
  /** Later requests carry what was agreed on. */
  agreed(protocolVersion: string): void
  /** End the session, if there is one, and let go of everything. Never throws. */
  close(): Promise<void>
  /** What left, in order. */
  readonly sent: readonly string[]
  readonly counted: { bytesRead: number }
}

/** A JSON-RPC error that came over a transport without HTTP statuses of its own. */
export function rpcShortfall(error: RpcError, about: (text: string) => boolean): Shortfall {
  return new Shortfall(about(error.text) ? 'auth_error' : 'rpc_error', { rpcCode: error.code })
}
