/**
 * What an agent says it did, read again from its transcript: handed over as claims, or found in its
 * last words by the rule of `prose.ts`.
 */
import type { Json, JsonObject } from '../json.ts'
import { claimsInProse } from './prose.ts'
import type { TranscriptCall, TranscriptLine } from './transcript.ts'
import type { ClaimSource } from './trial.ts'

/** A claim as it stands in the agent's report. */
export type StatedClaim = {
  tool: string
  action: string
  target: JsonObject
  done: boolean
  quote?: string
}

/** A tool that changes something, and arguments of it that the task's solution has. */
export type Changing = { server: string; tool: string; inputs: JsonObject[] }

/** What of a transcript says what its agent claims. One of the last four is there. */
export type SaidParts = Pick<
  TranscriptLine,
  | 'calls'
  | 'said'
  | 'report_claims'
  | 'answer_claims'
  | 'can_change'
  | 'prose_claims'
  | 'prose_complete'
>

/** `complete`: no sentence may hold another claim. */
export type SaidClaims = {
  from: ClaimSource | null
  claims: readonly StatedClaim[]
  complete: boolean
}

/** The claims of a transcript; null for one of an earlier version, which does not hold them. */
export function claimsSaid(line: SaidParts): SaidClaims | null {
  const { report_claims, answer_claims, can_change, prose_claims } = line
  if (report_claims) return { from: 'report', claims: report_claims, complete: true }
  if (answer_claims) return { from: 'claims', claims: answer_claims, complete: true }
  if (prose_claims) return sourced({ claims: prose_claims, complete: line.prose_complete === true })
  if (!can_change) return null
  const tools = can_change.map(({ server, tool, inputs }) => ({
    tool,
    inputs: [...inputsOf(line.calls, server, tool), ...inputs],
  }))
  return sourced(claimsInProse(line.said?.at(-1) ?? '', tools))
}

/** Words that were read as a whole say what their agent claims, also where that is nothing. */
export function sourced<C extends { claims: readonly StatedClaim[]; complete: boolean }>(
  read: C,
): C & { from: 'prose' | null } {
  return { ...read, from: read.complete || read.claims.length > 0 ? 'prose' : null }
}

/** The arguments of the calls of a tool, by their start. */
function inputsOf(calls: readonly TranscriptCall[], server: string, tool: string): JsonObject[] {
  return calls
    .filter((call) => call.server === server && call.tool === tool)
    .sort((a, b) => a.seq - b.seq)
    .map(({ input }) => input)
}

/** Claims without what they were matched to, as one text. */
export function textOfClaims(claims: readonly StatedClaim[]): string {
  return JSON.stringify(
    claims.map(({ tool, action, target, done, quote }) => [
      tool,
      action,
      inOrder(target),
      done,
      quote ?? null,
    ]),
  )
}

/** A value whose members stand in the order of their names. */
function inOrder(value: Json): Json {
  if (Array.isArray(value)) return value.map(inOrder)
  if (value === null || typeof value !== 'object') return value
  const members = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))
  return members.map(([name, item]): Json => [name, inOrder(item)])
}
