/**
 * What a case judges can be seen. Of a server that is not simulated only that is seen which the
 * case says how to see: a folder, tables by a call or a query. A goal or an effect about anything
 * else would hold, or fail, whatever happened.
 */
import { gotWord } from '../../choice.ts'
import type { Case } from './case.ts'
import { invalid, type Locate, type Path } from './mistake.ts'
import type { Predicate, ServerSpec } from './schema/case-schema.ts'

/** The tables that are seen of a server that is not simulated. */
function tablesSeen(spec: ServerSpec): string[] {
  const files = spec.files !== undefined || spec.folder !== undefined ? ['files'] : []
  return [...files, ...Object.keys(spec.tables ?? {})]
}

/**
 * @throws TouchstoneError `case_invalid` with the place of the first thing that cannot be judged
 */
export function requireJudged(test: Case, locate: Locate, single: boolean): void {
  const real = new Map(
    test.servers.flatMap((spec) => (spec.world === undefined ? [[spec.name, spec] as const] : [])),
  )
  const hasDatabase = (spec: ServerSpec & { name: string }) =>
    spec.database !== undefined || test.live[spec.name]?.database !== undefined

  for (const [i, spec] of test.servers.entries()) {
    const here: Path = single ? ['server'] : ['servers', i]
    const at = (...path: Path) => locate([...here, ...path])
    for (const [name, source] of Object.entries(spec.tables ?? {}))
      if ('query' in source && !hasDatabase(spec))
        invalid('expected database beside a query, got none', at('tables', name, 'query'))
    if (!real.has(spec.name)) {
      const [tool] = Object.keys(spec.effects)
      if (tool !== undefined)
        invalid(
          `expected effects only beside stdio or http, since a world says its own, got ${tool}`,
          at('effects', tool),
        )
      continue
    }
    const seen = tablesSeen(spec)
    for (const [tool, effect] of Object.entries(spec.effects)) {
      if ('table' in effect) {
        if (!seen.includes(effect.table))
          invalid(seenInstead(spec.name, seen, effect.table), at('effects', tool, 'table'))
        continue
      }
      if ((effect.shows === undefined) === (effect.absent === undefined))
        invalid('expected either shows or absent', at('effects', tool))
      if ('query' in effect && !hasDatabase(spec))
        invalid('expected database beside a query, got none', at('effects', tool, 'query'))
      if ('call' in effect)
        for (const [name, value] of Object.entries(effect.with ?? {}))
          if (typeof value === 'string' && value.startsWith('$'))
            invalid(
              `expected a value that is known before the agent's call, got "${value}"`,
              at('effects', tool, 'with', name),
            )
    }
  }

  const goals: [Case['goal'], Path][] = [[test.goal, ['goal']]]
  if (test.attack) goals.push([test.attack.goal, ['attack', 'goal']])
  for (const [goal, path] of goals) {
    if (typeof goal === 'function') continue
    for (const [i, predicate] of goal.entries()) {
      const at = (member: string) => locate([...path, i, member])
      const name = predicate.server ?? (test.servers[0]?.name as string)
      const spec = real.get(name)
      if (predicate.query !== undefined) {
        if (!spec) invalid(`expected a server with a database, got the world ${name}`, at('query'))
        else if (!hasDatabase({ ...spec, name }))
          invalid(`expected database of ${name} beside a query, got none`, at('query'))
      }
      if (spec) requireSeen({ ...spec, name }, predicate, at)
      const declared = test.servers.some(
        ({ world, effects }) => world !== undefined || Object.keys(effects).length > 0,
      )
      if (predicate.report !== undefined && !declared)
        invalid(
          `expected effects of ${name}, since a report is judged by them, got none`,
          at('report'),
        )
    }
  }
}

function requireSeen(
  spec: ServerSpec & { name: string },
  { table, unchanged }: Predicate,
  at: (member: string) => string,
): void {
  if (table === undefined && unchanged === undefined) return
  const seen = tablesSeen(spec)
  const member = table !== undefined ? 'table' : 'unchanged'
  if (seen.length === 0)
    invalid(
      `expected report, canary, call, query or command, since the state of ${spec.name} is not to be seen, got ${member}`,
      at(member),
    )
  const named = table !== undefined ? [table] : Array.isArray(unchanged) ? unchanged : []
  for (const name of named)
    if (!seen.includes(name)) invalid(seenInstead(spec.name, seen, name), at(member))
}

function seenInstead(server: string, seen: readonly string[], got: string): string {
  return seen.length === 0
    ? `expected tables, files or folder of ${server}, since its state is not to be seen otherwise, got the table "${got}"`
    : `expected a table of ${server} (${seen.join(', ')}), ${gotWord(got, seen)}`
}

/** The calls by which goals ask. */
export function questionsOf(test: Case): { question: Predicate; path: Path }[] {
  const goals: [Case['goal'], Path][] = [[test.goal, ['goal']]]
  if (test.attack) goals.push([test.attack.goal, ['attack', 'goal']])
  return goals.flatMap(([goal, path]) =>
    typeof goal === 'function'
      ? []
      : goal.flatMap((question, i) =>
          question.call === undefined ? [] : [{ question, path: [...path, i] }],
        ),
  )
}
