/** Calls as `verify` judges them: in an order of their own, each with its projection. */
import { canonical } from '../../canonical.ts'
import { type Projection, subjectOf } from './binding.ts'
import type { ReadDecision } from './decision.ts'
import { isReadVerb } from './registry.ts'

export type Judged = {
  decision: ReadDecision
  projection: Projection
  kind: 'write' | 'read' | 'unclassified'
  /** Another decision claims the same place in the run. */
  repeated: boolean
}

/** Calls and records that share provider and digest, by their index. */
export type Group = { calls: number[]; records: number[] }
export type Groups = ReadonlyMap<string, Group>

export function groupKey(provider: string, digest: string): string {
  return `${digest} ${provider}`
}

/** Calls in the order of run and sequence, each with its projection. */
export function placed(input: readonly ReadDecision[]): Judged[] {
  const texts = new Map<ReadDecision, string>()
  const textOf = (one: ReadDecision) => {
    const known = texts.get(one)
    if (known !== undefined) return known
    const made = canonical(one)
    texts.set(one, made)
    return made
  }
  // By content where a decision has no place or shares it, since the order of handing in must not
  // matter.
  const sorted = input.toSorted((a, b) => {
    const [x, y] = [a.observation, b.observation]
    if (!x !== !y) return x ? -1 : 1
    return (x && y && (rank([x.run_id, y.run_id]) || x.seq - y.seq)) || rank([textOf(a), textOf(b)])
  })
  return sorted.map((decision, i) => {
    const repeated = [sorted[i - 1], sorted[i + 1]].some((other) => samePlace(decision, other))
    const read = isReadVerb(decision.action.resource_type, decision.action.verb)
    const projection: Projection = read
      ? { ok: false, reason: 'read', detail: 'a read claims no effect' }
      : decision.classification !== 'classified'
        ? {
            ok: false,
            reason: 'not_classified',
            detail: `the call is ${decision.classification ?? 'not classified'}`,
          }
        : subjectOf(decision.action)
    const kind = read
      ? 'read'
      : decision.classification === 'observed_unknown_tool'
        ? 'unclassified'
        : 'write'
    return { decision, projection, kind, repeated }
  })
}

function samePlace(one: ReadDecision, other: ReadDecision | undefined): boolean {
  const [a, b] = [one.observation, other?.observation]
  return !!a && !!b && a.run_id === b.run_id && a.seq === b.seq
}

/** Compare pairs in turn, by UTF-16 units: an order that no locale changes. */
export function rank(...pairs: [string, string][]): number {
  for (const [a, b] of pairs) if (a !== b) return a < b ? -1 : 1
  return 0
}
