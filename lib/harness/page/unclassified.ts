/** Calls that no classifier knows: why the writes of a server stay asserted. */
import { foreign } from '../../display.ts'
import type { StatRow, TrialRecord } from '../../log/index.ts'
import type { Decision } from '../../receipt/surface/decision.ts'
import { shippedServerOf } from '../../receipt/surface/registry.ts'

/** Tools that are named, of however many. */
const SHOWN = 3

/** Trials that are looked at. */
const READ = 50

/** What is read of a run. */
type Trials = {
  columns: { keys(which?: ((row: StatRow) => boolean) | null): Iterable<string> }
  record(key: string): TrialRecord
  eachDecision(key: string): Iterable<Decision>
}

/**
 * Says that no classifier knows tools that writes went through, and the way out. Null where one
 * knows each.
 *
 * @param keys trials that are looked at; default: the first 50 with a write that stayed asserted
 */
export function unclassifiedText(
  run: Trials,
  keys: Iterable<string> = run.columns.keys(({ levels }) => levels.asserted > 0),
): string | null {
  const tools = new Set<string>()
  const byServer = new Map<string, Set<string>>()
  for (const key of [...keys].slice(0, READ)) {
    const places = run.record(key).writes
    for (const { classification, server, tool, observation } of run.eachDecision(key))
      if (classification === 'observed_unknown_tool') {
        byServer.set(server.id, (byServer.get(server.id) ?? new Set()).add(tool.name))
        if (places.includes(observation?.seq ?? -1))
          tools.add(`${foreign(tool.name, 60)} of ${foreign(server.id, 60)}`)
      }
  }
  if (tools.size === 0) return null
  const named = `${tools.size > SHOWN ? 'tools such as ' : ''}${[...tools].sort().slice(0, SHOWN).join(', ')}`
  const like = [...byServer].map(likeText).join('')
  return `No classifier knows ${named}: whatever a later read shows, such a write stays asserted until a file says what the tool does (touchstone classify drafts one, docs/classifiers.md).${like}`
}

/** Says that a server which ships has tools of these names, and would be known by its name. */
function likeText([server, tools]: [string, ReadonlySet<string>]): string {
  const like = shippedServerOf([...tools], server)
  const of = foreign(server, 60)
  return like === null
    ? ''
    : ` ${like}, which ships, has tools of the names that ${of} has: if ${of} is that server, name it so.`
}
