/**
 * The versions of what is computed from a run's evidence. Each is raised where the same evidence
 * gives another result, so that a run or a receipt of before is held to what both versions know and
 * not to what only ours gives.
 */

/**
 * `summary`: intervals and bounds of a run's numbers, `numbers/`. `claims`: what is read in an
 * agent's words, `prose/` and `stated.ts`. `levels`: what evidence shows, `receipt/ladder`. 0:
 * before they were named. Since `summary` 2 a filed report is an act (`hadActed`); since 3
 * planned trials that are not there are in the bounds, and pass^k has some; since 4 `lost` says
 * where a single run lands. `claims` 2 reads more forms of sentences; since 3 a state that is
 * denied is read beside a list that denies; since 4 a value counts only in its role. Since `levels`
 * 2 a record from before a call, or of a call that failed, verifies nothing. `outcomes`: what the
 * end of an agent makes of its trial. Since 1 an agent that broke off by its own failure has not
 * met its goal, and one that a limit ended is judged by what it left.
 */
export const METHODS = { summary: 4, claims: 4, levels: 2, outcomes: 1 } as const

/** The versions that are told; 0 for one that is not. */
export function methodsIn(told: unknown): { [method in keyof typeof METHODS]: number } {
  const given = (told ?? {}) as { [method: string]: unknown }
  const of = (method: keyof typeof METHODS) => {
    const version = given[method]
    return Number.isSafeInteger(version) ? (version as number) : 0
  }
  return {
    summary: of('summary'),
    claims: of('claims'),
    levels: of('levels'),
    outcomes: of('outcomes'),
  }
}
