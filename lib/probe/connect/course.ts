/**
 * How far one test has come: which tasks passed, what stopped the others, and what the server told
 * meanwhile.
 */
import type { Shortfall } from '../judge/outcome.ts'
import type { TaskId } from '../judge/set.ts'
import { spoils } from '../judge/stall.ts'
import type { Outline } from '../read/outline.ts'
import type { Page } from '../read/tools.ts'

export type Course = {
  /** Tasks that were begun: `passed`, or what stopped them. */
  tasks: Map<TaskId, 'passed' | Shortfall>
  /** The server answered in a way that makes the outcome `answered`. */
  answered: boolean
  latency: { ms: number; stalledMs: number } | null
  protocolVersion: string | null
  /** Of `initialize` or of `server/discover`. */
  greeting: Outline | null
  pages: Page[]
  more: boolean
}

export function newCourse(): Course {
  return {
    tasks: new Map(),
    answered: false,
    latency: null,
    protocolVersion: null,
    greeting: null,
    pages: [],
    more: false,
  }
}

/** The latency that may be told, and why there is none where the handshake was answered. */
export function latencyOf({ latency }: Course): {
  latencyMs: number | null
  latencyNote: 'loop_blocked' | null
} {
  if (latency === null) return { latencyMs: null, latencyNote: null }
  const spoilt = spoils(latency.stalledMs, latency.ms)
  return { latencyMs: spoilt ? null : latency.ms, latencyNote: spoilt ? 'loop_blocked' : null }
}
