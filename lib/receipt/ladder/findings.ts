/** What stands against the claims of a run, by how grave it is. */
/**
 * `error`: the evidence contradicts what was said or done. `warning`: a level says less than it
 * seems. `note`: good to know.
 */
export type Severity = 'error' | 'warning' | 'note'
export type Finding = { severity: Severity; kind: string; detail: string }

/** Findings of one kind, over all calls. */
export type FindingGroup = {
  severity: Severity
  kind: string
  calls: number
  /** Of the first call. */
  detail: string
  /** The first few. */
  at: { run_id: string | null; seq: number | null; tool: string }[]
}

const GRAVEST_FIRST: readonly Severity[] = ['error', 'warning', 'note']

/** Findings by kind, gravest first, then in the order of the first call of each. */
export function groupFindings(
  rows: readonly { run_id: string | null; seq: number | null; tool: string; findings: Finding[] }[],
): FindingGroup[] {
  const groups = new Map<string, FindingGroup>()
  for (const { run_id, seq, tool, findings } of rows)
    for (const { severity, kind, detail } of findings) {
      const key = `${severity} ${kind}`
      const group = groups.get(key) ?? { severity, kind, calls: 0, detail, at: [] }
      groups.set(key, group)
      group.calls++
      if (group.at.length < 5) group.at.push({ run_id, seq, tool })
    }
  const rank = (one: FindingGroup) => GRAVEST_FIRST.indexOf(one.severity)
  return [...groups.values()].sort((a, b) => rank(a) - rank(b))
}
