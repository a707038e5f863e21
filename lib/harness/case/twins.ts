/** What a case says of others, and by which word it is filed: its twin and its kind. */
import { gotWord, nearest } from '../../choice.ts'
import { TouchstoneError } from '../../errors.ts'
import { FAULT_KINDS } from '../server/fault.ts'
import type { Case } from './case.ts'

/** The kinds of the cases that ship, beside those of faults. */
const KINDS = [
  'benign',
  'confused_deputy',
  'description_poisoning',
  'error_injection',
  'exfiltration',
  'impersonated_user',
  'name_collision',
  'out_of_scope_parameter',
  'parameter_poisoning',
  'preference_manipulation',
  'real_servers',
  'result_injection',
  'shadowing',
  'sleeper',
  'tool_transfer',
  'toxic_flow',
  'wrong_target',
]

/** Letters in which a kind that is somebody's own differs from each that is known. */
const SLIPS = 2

/** The known kind that a kind was perhaps meant to be; null for a known one, or one of its own. */
export function kindMeant(kind: string): string | null {
  const known = [...FAULT_KINDS, ...KINDS]
  return known.includes(kind) ? null : nearest(kind, known, SLIPS)
}

/**
 * What is wrong with a case's twin, as "expected X, got Y"; null where nothing is.
 *
 * @param whole the cases are all that there are. Else a twin may stand somewhere else, unless one
 *   of these is nobody's twin and its id is nearly the one
 */
export function twinProblem(test: Case, all: readonly Case[], whole: boolean): string | null {
  if (test.twin === null) return null
  const twin = all.find(({ id }) => id === test.twin)
  if (!twin) {
    const named = new Set(all.map((one) => one.twin))
    const alone = all.filter(
      ({ id, attack }) => attack === null && !named.has(id) && id !== test.id,
    )
    const near = nearest(
      test.twin,
      alone.map(({ id }) => id),
      SLIPS,
    )
    if (!whole && near === null) return null
    const ids = near === null ? all.map(({ id }) => id) : [near]
    return `expected the id of a case that is loaded, ${gotWord(test.twin, ids)}`
  }
  if (twin === test) return 'expected another case as the twin, got the case itself'
  if (twin.attack) return `expected a benign twin, got "${twin.id}", which has an attack`
  if (twin.kind !== test.kind)
    return `expected a twin of the same kind, ${test.kind}, got "${twin.id}" of kind ${twin.kind}`
  return null
}

/**
 * What a run is of: cases, each once, with their twins.
 *
 * @throws TouchstoneError `argument_invalid`
 */
export function requireCases(list: readonly Case[]): void {
  const ids = new Set<string>()
  const refuse = (message: string, where: string): never => {
    throw new TouchstoneError('argument_invalid', message, { where })
  }
  if (list.length === 0) refuse('expected at least one case, got none', 'cases')
  for (const [i, test] of list.entries()) {
    if (ids.has(test.id)) refuse(`expected each case once, got "${test.id}"`, 'cases')
    ids.add(test.id)
    const problem = twinProblem(test, list, false)
    if (problem) refuse(problem, `cases[${i}].twin`)
  }
}
