/** Calls that no classifier knows: why the writes of a server stay asserted. */
import { foreign } from '../../display.ts'
import type { Decision } from '../../receipt/surface/decision.ts'

/** Tools that are named, of however many. */
const SHOWN = 3

/** What stands beside the levels of writes, or null where a classifier knows each tool. */
export function unclassifiedText(writes: Iterable<Decision>): string | null {
  const tools = new Set<string>()
  for (const { classification, server, tool } of writes)
    if (classification === 'observed_unknown_tool')
      tools.add(`${foreign(tool.name, 60)} of ${foreign(server.id, 60)}`)
  if (tools.size === 0) return null
  const named = `${tools.size > SHOWN ? 'tools such as ' : ''}${[...tools].sort().slice(0, SHOWN).join(', ')}`
  return `No classifier knows ${named}: whatever a later read shows, such a write stays asserted until a file says what the tool does (touchstone classify drafts one, docs/classifiers.md).`
}
