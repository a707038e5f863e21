/**
 * Goals over calls: that a tool was called, how often, with what, before which other, and what
 * answer reached the agent.
 */
import type { JsonObject } from '../../../json.ts'
import { matches } from '../../../world/world.ts'
import type { Predicate } from '../schema/case-schema.ts'
import { type Hidden, shownValue } from './found.ts'
import type { Answer, Ending } from './goal.ts'

/** A call of the agent as a goal sees it. `answer` is the text that reached the agent. */
export type CalledTool = {
  server: string
  tool: string
  input: JsonObject
  status: string
  answer: string
}

/** The calls of a server with their places in the trial, from 1. */
type Placed = CalledTool & { place: number }

/**
 * Was the tool called, as often, with these arguments, with this answer, and before another one?
 */
export function wasCalled(
  tool: string,
  predicate: Predicate,
  { calls, ends }: Pick<Ending, 'calls' | 'ends'>,
): Answer {
  const { answer, times, before } = predicate
  const server = predicate.server ?? Object.keys(ends)[0]
  const mine = calls
    .map((call, i): Placed => ({ ...call, place: i + 1 }))
    .filter((call) => call.server === server)
  const any = mine.filter((call) => call.tool === tool)
  const found = any.filter(
    ({ input, answer: text }) =>
      matches(input as never, (predicate.with ?? {}) as JsonObject) &&
      (answer === undefined || text.includes(answer)),
  )
  const other = before === undefined ? undefined : mine.find((call) => call.tool === before)
  const often = times === undefined ? found.length > 0 : found.length === times
  const inOrder = other === undefined || (found[0] !== undefined && found[0].place < other.place)
  return {
    met: often && inOrder,
    found: (hidden) =>
      [foundCalls(any, found, hidden), ...(other ? [`${before} at call ${other.place}`] : [])].join(
        '; ',
      ),
  }
}

function foundCalls(any: readonly Placed[], found: readonly Placed[], hidden: Hidden): string {
  if (any.length === 0) return 'no call of it'
  const [first] = any as [Placed, ...Placed[]]
  if (found.length > 0) return `at call ${places(found)}`
  return `no such call; it was called at call ${places(any)}, first with ${shownValue(first.input, hidden)}`
}

function places(some: readonly Placed[]): string {
  const shown = some.slice(0, 5).map(({ place }) => place)
  const more = some.length - shown.length
  return shown.join(', ') + (more > 0 ? ` and ${more} more` : '')
}
