/** The kinds of cases of a run, the worst first: the page and report.md have one order. */
import type { TrialRecord } from '../../log/index.ts'
import type { Run } from './result.ts'

/** A kind, its trials that ended, and the share of these that passed; NaN where none ended. */
export type KindOfRun = { kind: string; trials: TrialRecord[]; share: number }

/** Kinds by the share of trials that passed; of equal ones, in the order of the run's cases. */
export function kindsWorstFirst({ manifest, trials }: Run): KindOfRun[] {
  const kindOf = new Map(manifest.cases.map(({ id, kind }) => [id, kind]))
  const groups = new Map<string, TrialRecord[]>([...kindOf.values()].map((kind) => [kind, []]))
  for (const row of trials)
    if (row.outcome !== 'error') groups.get(kindOf.get(row.case) ?? '')?.push(row)
  const rank = (share: number) => (Number.isNaN(share) ? 2 : share)
  return [...groups]
    .map(([kind, some]) => {
      const passed = some.filter(({ outcome }) => outcome === 'pass').length
      return { kind, trials: some, share: passed / some.length }
    })
    .sort((p, q) => rank(p.share) - rank(q.share))
}
