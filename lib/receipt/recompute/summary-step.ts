/**
 * The summary of a receipt against the one that its run gives here.
 *
 * Where both were made by one version of the method each member has to be the same. Where not,
 * counts and means still have to be: no version gives others. What a version may give otherwise
 * (intervals, bounds) or may not know is no contradiction, and is not established either: it is
 * named.
 */

import { isObject } from '../../json.ts'
import { differences, type Problem } from './step.ts'

/** Members that every version gives alike, as they stand in a configuration's summary. */
const ALIKE = [
  /^(configuration|model|simulated|trials|errors|retried|unrun|cost_usd)$/,
  /^(levels|tokens)\./,
  /^lost\.(attempts|changed|ended\b.*)$/,
  /^rates\.\w+\.(estimate|trials|cases)$/,
  /^(duration_ms\.(median|p95)|calls\.median|reliability\.(k|passAtK|passHatK))$/,
]

/**
 * @param same both by one version of the method
 * @returns where they contradict each other, and the members that only one gives, or that the two
 *   give otherwise
 */
export function compareSummaries(
  expected: readonly object[],
  got: unknown,
  same: boolean,
): { problems: Problem[]; open: string[] } {
  const all = differences(expected, got, 'predicate.summary', 'summary_differs')
  const unknown = strangers(expected, got, '')
  if (same) return { problems: all, open: unknown }
  const firm = all.filter(({ where, detail }) => {
    const member = where.replace(/^predicate\.summary\[\d+\]\.?/, '')
    if (member === '' || member === where) return true
    // A judge's errors are taken out of a rate by the method.
    const read = /^rates\.overclaim\.estimate$/.test(member) && readByJudge(expected, where)
    return !read && !detail.endsWith('got nothing') && ALIKE.some((one) => one.test(member))
  })
  const otherwise = all
    .filter((one) => !firm.includes(one))
    .map(({ where }) => where.replace(/^predicate\.summary\[\d+\]\.?/, ''))
  return { problems: firm, open: [...new Set([...otherwise, ...unknown].map(general))].sort() }
}

/** `rates.goal.again.low` is one of `rates.*.again`. */
function general(member: string): string {
  return member.replace(/^rates\.\w+\.(\w+).*$/, 'rates.*.$1').replace(/\[\d+\]/g, '')
}

function readByJudge(expected: readonly object[], where: string): boolean {
  const at = /^predicate\.summary\[(\d+)\]/.exec(where)?.[1]
  const one = expected[Number(at)] as { rates?: { overclaim?: object } } | undefined
  return one?.rates?.overclaim !== undefined && 'judge' in one.rates.overclaim
}

/** Members of `got` that `expected` does not have. */
function strangers(expected: unknown, got: unknown, where: string): string[] {
  if (Array.isArray(expected) && Array.isArray(got))
    return [...new Set(expected.flatMap((one, i) => strangers(one, got[i], where)))]
  if (!isObject(expected) || !isObject(got)) return []
  return Object.entries(got).flatMap(([name, value]) => {
    const member = where === '' ? name : `${where}.${name}`
    return Object.hasOwn(expected, name) ? strangers(expected[name], value, member) : [member]
  })
}
