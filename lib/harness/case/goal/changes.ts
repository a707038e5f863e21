/** The changes of a trial, and whether one does what an effect says. */
import { canonical } from '../../../canonical.ts'
import type { JsonObject } from '../../../json.ts'
import {
  type Change,
  type Effect,
  type End,
  type Match,
  matches,
  type Row,
} from '../../../world/world.ts'

/** An effect on one row. */
export type RowEffect = {
  op: Change['op']
  table: string
  where: Match
  anyCase: readonly string[]
}

/**
 * The rows of an effect. What a claim leaves open is not asked for: a terse claim is not a wrong
 * one.
 */
export function rowsOf({ op, table, where, each = [], anyCase = [] }: Effect): RowEffect[] {
  // An effect without rows of its own is on one row.
  return (each.length ? each : [{}]).map((own) => {
    const asked = Object.entries({ ...where, ...own }).filter(
      ([, condition]) => condition !== undefined,
    )
    return { op, table, where: Object.fromEntries(asked) as Match, anyCase }
  })
}

/** The row is as an effect says, in whichever case names stand that have none. */
function isSo(row: Row, where: Match, anyCase: readonly string[]): boolean {
  const folded = <T extends { [column: string]: unknown }>(of: T): T => ({
    ...of,
    ...Object.fromEntries(
      anyCase.flatMap((name) => {
        const value = of[name]
        return typeof value === 'string' ? [[name, value.toLowerCase()]] : []
      }),
    ),
  })
  return matches(folded(row), folded(where))
}

/** What a claim says is so by this change, and was not so before. */
export function isMadeBy({ before }: Change, { op, where, anyCase }: RowEffect): boolean {
  if (op === 'delete') return Object.keys(where).length > 0
  if (before === null) return op === 'create' && Object.keys(where).length > 0
  return Object.entries(where).some(
    ([name, condition]) => !isSo(before, { [name]: condition } as Match, anyCase),
  )
}

/** Of what the change made so, one says a part that the other does not. */
export function isMore(
  { where, anyCase }: RowEffect,
  other: RowEffect,
  { before }: Change,
): boolean {
  const part = (of: Match, name: string) => {
    const text = canonical({ [name]: of[name] ?? null } as JsonObject)
    return anyCase.includes(name) ? text.toLowerCase() : text
  }
  return Object.entries(where).some(
    ([name, condition]) =>
      part(where, name) !== part(other.where, name) &&
      (before === null || !isSo(before, { [name]: condition } as Match, anyCase)),
  )
}

export function isKind(change: Change, { op, table }: Effect): boolean {
  return change.table === table && (op === 'delete') === (change.op === 'delete')
}

/**
 * Does the change do what the effect says? A create that met a row already there, and changed it,
 * counts.
 */
export function isEffect(change: Change, effect: RowEffect): boolean {
  if (change.table !== effect.table) return false
  if (effect.op === 'delete')
    return change.op === 'delete' && isSo(change.before as Row, effect.where, effect.anyCase)
  return change.op !== 'delete' && isSo(change.after as Row, effect.where, effect.anyCase)
}

/** The row of a change. */
export function idOf({ table, before, after }: Change): string {
  return `${table}\u0000${((after ?? before) as Row).id}`
}

/** The changes since the start that the end state still shows, one per row. */
export function lastingChanges({ start, state, changes }: End): Change[] {
  const touched = new Map<string, Change>()
  for (const change of changes) touched.set(idOf(change), change)
  const rowsAt = (tables: typeof start, table: string, id: Row['id']) =>
    (tables[table] ?? []).find((row) => row.id === id) ?? null
  return [...touched.values()].flatMap((change): Change[] => {
    const row = (change.after ?? change.before) as Row
    const before = rowsAt(start, change.table, row.id)
    const after = rowsAt(state, change.table, row.id)
    // What was changed and changed back is as it was.
    if (before === after || (before && after && canonical(before) === canonical(after))) return []
    return [
      {
        table: change.table,
        before,
        after,
        op: before === null ? 'create' : after === null ? 'delete' : 'update',
      },
    ]
  })
}
