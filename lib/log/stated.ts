/**
 * What an agent says it did, read again from its transcript: handed over as claims, or found in its
 * last words by the rule of `prose/`.
 */
import type { Json, JsonObject } from '../json.ts'
import { claimsInProse } from './prose/claims-in-prose.ts'
import type { Doable, StatedClaim } from './prose/clause.ts'
import { MAKES, partsOfName } from './prose/tool-words.ts'
import type { TranscriptCall, TranscriptLine } from './transcript.ts'
import type { ClaimSource } from './trial.ts'

/** A tool that changes something, and arguments of it that the task's solution has. */
export type Changing = { server: string; tool: string; inputs: JsonObject[] }

/**
 * What of a transcript says what its agent claims: claims that were handed over, words, or both.
 */
export type SaidParts = Pick<
  TranscriptLine,
  | 'instructions'
  | 'calls'
  | 'said'
  | 'summary'
  | 'report_claims'
  | 'answer_claims'
  | 'can_change'
  | 'prose_claims'
  | 'prose_complete'
>

/** `complete`: no sentence may hold another claim. `unread`: else, the words that were not read. */
export type SaidClaims = {
  from: ClaimSource | null
  claims: readonly StatedClaim[]
  complete: boolean
  unread?: string
}

/** The claims of a transcript; null for one of an earlier version, which does not hold them. */
export function claimsSaid(line: SaidParts): SaidClaims | null {
  const { report_claims, answer_claims, can_change, prose_claims } = line
  const complete = line.prose_complete === true
  const tools = can_change?.map(({ server, tool, inputs }) => ({
    tool,
    inputs: [...inputsOf(line.calls, server, tool), ...inputs],
  }))
  const answer = line.said?.at(-1) ?? ''
  const listed = report_claims ?? answer_claims
  if (listed) {
    const from = report_claims ? 'report' : 'claims'
    if (prose_claims) return { from, claims: [...listed, ...prose_claims], complete }
    const words = {
      summary: report_claims ? (line.summary ?? '') : '',
      answer: line.instructions === undefined ? answer : '',
    }
    // In runs of before, words beside claims were not read.
    return tools
      ? claimsBeside(from, listed, words, tools)
      : { from, claims: listed, complete: true }
  }
  if (prose_claims) return sourced({ claims: prose_claims, complete })
  return tools ? sourced(claimsInProse(answer, tools)) : null
}

/** The words that left open what the agent claims; null where none did, or a model read them. */
export function wordsUnread(line: TranscriptLine): string | null {
  const said = line['judge'] === undefined ? claimsSaid(line) : null
  if (said === null || said.complete) return null
  return (said.unread ?? line.said?.at(-1) ?? '').slice(0, 200) || null
}

/**
 * Claims that an agent handed over, held against the words that it said beside them.
 *
 * The list is what it claims. A sentence that the rule can point to is said as much as a member of
 * the list: one that the list does not hold is a claim too, where nothing beside it may take it
 * back. Where something may, or where the list says that nothing was changed and the answer was
 * not read, it is not known what the agent claims besides.
 *
 * @param words `summary`: of the report. `answer`: its last words, of an agent of its own
 */
export function claimsBeside(
  from: 'report' | 'claims',
  listed: readonly StatedClaim[],
  { summary, answer }: { summary: string; answer: string },
  tools: readonly Doable[],
): SaidClaims {
  const texts = [summary, answer].filter((text) => text.trim() !== '')
  const denied = deniesAll(listed, tools)
  const unheld = (text: string) => {
    const { claims, ...read } = claimsInProse(text, tools, denied)
    return { ...read, claims: claims.filter((one) => one.done && !isHeld(one, listed)) }
  }
  if (texts.length === 0) return { from, claims: listed, complete: true }
  const all = unheld(texts.join('\n'))
  if (all.complete) return { from, claims: [...listed, ...all.claims], complete: true }
  const open = texts.some((text) => unheld(text).claims.length > 0)
  // What was only read is nothing that was done: a list of it is as silent as an empty one.
  const silent = !listed.some(
    ({ tool, done }) => done && tools.some((one) => tool === one.tool || tool.endsWith(one.tool)),
  )
  const unread = answer.trim() === '' ? undefined : claimsInProse(answer, tools, denied).unread
  if (!open && !(silent && unread !== undefined)) return { from, claims: listed, complete: true }
  return { from, claims: listed, complete: false, unread: unread ?? all.unread ?? '' }
}

/**
 * The list denies, of things to be made, and the task is to make things: that one is not there then
 * denies it too, and does not say that it was taken away.
 */
function deniesAll(listed: readonly StatedClaim[], tools: readonly Doable[]): boolean {
  const makes = (tool: string) => MAKES.has(partsOfName(tool)[0] ?? '')
  return (
    listed.length > 0 &&
    listed.every(({ tool, done }) => !done && tools.some((one) => tool.endsWith(one.tool))) &&
    tools.every(({ tool, inputs }) => inputs.length === 0 || makes(tool)) &&
    tools.every(({ tool }) => makes(tool) || listed.every((one) => !one.tool.endsWith(tool)))
  )
}

/** A claim of the list says the same, or more. */
function isHeld(said: StatedClaim, listed: readonly StatedClaim[]): boolean {
  return listed.some(
    ({ tool, target, done }) =>
      done &&
      (tool === said.tool || tool.endsWith(said.tool)) &&
      Object.entries(said.target).every(
        ([name, value]) =>
          !Object.hasOwn(target, name) || JSON.stringify(target[name]) === JSON.stringify(value),
      ),
  )
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
