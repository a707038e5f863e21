/**
 * What a one-fault server over streamable HTTP is: it does one thing that real servers do, and says what the set makes of it.
 *
 * Sources of the tables are the rows of the project's survey of real servers, and the set's own sentences.
 */
import type { Detail, Outcome } from '../../lib/probe/judge/outcome.ts'
import type { Behaviour } from './stage.ts'

export type Fault = {
  id: string
  behave: Behaviour
  outcome: Outcome
  detail?: Detail
  /** Why the tool list did not pass; null when it did. Default null for `answered`. */
  toolList?: Detail | null
  /** Requests that must have left, and no others. */
  sent: string[]
  tools?: { named: number; more?: boolean; pages?: number }
  /** Ends by the deadline: run with a short one. */
  slow?: boolean
}

export const [INIT, READY, LIST, DELETE] = [
  'POST initialize',
  'POST notifications/initialized',
  'POST tools/list',
  'DELETE',
]
export const ALL = [INIT, READY, LIST, DELETE] as string[]
/** Without a session there is nothing to close. */
export const OPEN = [INIT, READY, LIST] as string[]
export const FIRST = [INIT] as string[]

export const passes = (id: string, behave: Behaviour, more: Partial<Fault> = {}): Fault => ({
  id,
  behave,
  outcome: 'answered',
  detail: 'handshake_complete',
  toolList: null,
  sent: ALL,
  ...more,
})
export const stops = (
  id: string,
  outcome: Outcome,
  detail: Detail,
  behave: Behaviour,
  more: Partial<Fault> = {},
): Fault => ({
  id,
  behave,
  outcome,
  detail,
  sent: FIRST,
  ...more,
})

/** Does not answer. */
export const never: Behaviour = () => {}
