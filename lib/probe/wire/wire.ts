/**
 * What the tests need of a transport, and what all transports share: ask a request, send a
 * notification, close.
 *
 * Nothing else can leave: there is no way here to answer a server's request or to call a tool.
 */

import { isAboutAuthentication } from '../judge/authentication.ts'
import { isModernOnly, type RpcError, Shortfall } from '../judge/outcome.ts'
import type { Method, Read } from '../read/frame.ts'
import type { Outline } from '../read/outline.ts'
import type { Page } from '../read/tools.ts'

export type Transport = 'streamable-http' | 'sse' | 'stdio'

export type Answer = {
  outline: Outline
  /** The text that holds the answer, for what the outline leaves out. */
  page: Page
  /** From the request's true leaving to the arrival of its answer's last byte. */
  elapsedMs: number
  /** The longest time that this process stood still meanwhile. */
  stalledMs: number
}

export type Wire = {
  /** Send a request and read its answer. @throws Shortfall, or the signal's reason */
  ask(id: number, method: Method, params?: Record<string, unknown>): Promise<Answer>
  /**
   * Send a notification and wait a short while for it to be taken. How it is taken never matters.
   */
  notify(method: Method): Promise<void>
  /** Later requests carry what was agreed on. */
  agreed(protocolVersion: string): void
  /** End the session, if there is one, and let go of everything. Never throws. */
  close(): Promise<void>
  /** What left, in order. */
  readonly sent: readonly string[]
  readonly counted: { bytesRead: number }
}

/** What a JSON-RPC error means that came over a transport without HTTP statuses of its own. */
export function rpcShortfall(rpc: RpcError): Shortfall {
  const modern = isModernOnly(rpc) ? 'modern_only' : 'rpc_error'
  return new Shortfall(isAboutAuthentication(rpc.text) ? 'auth_error' : modern, { rpc })
}

/** What a request over a transport with one stream for all answers waits for. */
export type Waiting = {
  id: number
  resolve(found: { answer: Read; page: Page }): void
  reject(error: unknown): void
}
