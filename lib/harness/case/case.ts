/** A case ready to run, made from a checked document. */
import { canonical, type Digest, digest } from '../../canonical.ts'
import type { JsonObject } from '../../json.ts'
import type { GoalFunction } from './goal/goal.ts'
import type { LiveParts } from './planned-servers.ts'
import {
  type CallSpec,
  type CaseInput,
  type ParsedCase,
  type Predicate,
  type ServerSpec,
  type SolutionStep,
  serverNames,
} from './schema/case-schema.ts'
import type { UserSpec } from './schema/user-schema.ts'

/** A case ready to run. */
export type Case = {
  id: string
  title: string
  kind: string
  twin: string | null
  /**
   * Variants of one task share a family, and count once where other cases are spoken of; null where
   * the case names none.
   */
  family: string | null
  requires: string[]
  servers: (ServerSpec & { name: string })[]
  task: string
  /** Who answers when the agent says something; null where the task is all that it is told. */
  user: UserSpec | null
  solution: SolutionStep[]
  goal: Predicate[] | GoalFunction
  attack: { instruction: string; calls: CallSpec[]; goal: Predicate[] | GoalFunction } | null
  /**
   * Functions of its servers, by name: what no document can hold. Their source text is part of the
   * digest.
   */
  live: { [server: string]: LiveParts }
  digest: Digest
  /** The checked document, as it is digested and published. */
  document: JsonObject
}

/** Goals as functions, for cases written in TypeScript. Their source text is part of the digest. */
export type GoalFunctions = {
  goal?: GoalFunction | undefined
  attackGoal?: GoalFunction | undefined
}

/** What a case in TypeScript holds besides its document. */
export type CaseFunctions = GoalFunctions & { live?: { [server: string]: LiveParts } | undefined }

/** Make a case from a checked document. */
export function caseFrom(
  parsed: ParsedCase,
  { live = {}, ...functions }: CaseFunctions = {},
): Case {
  const { server: one, servers: several, goal, attack: hostile, ...rest } = parsed
  const list = one ? [one] : (several ?? [])
  const names = serverNames(list)
  const held = Object.entries(live).flatMap(([server, { reset, database }]) => [
    [`${server}.reset`, reset],
    [`${server}.database`, database && 'query' in database ? database.query : undefined],
  ])
  const sources = Object.fromEntries(
    [...Object.entries(functions), ...held].flatMap(([name, fn]) =>
      typeof fn === 'function' ? [[name, fn.toString()]] : [],
    ),
  )
  const document = JSON.parse(
    JSON.stringify(Object.keys(sources).length ? { ...parsed, functions: sources } : parsed),
  ) as JsonObject
  return {
    id: rest.id,
    title: rest.title,
    kind: rest.kind,
    twin: rest.twin ?? null,
    family: rest.family ?? null,
    requires: rest.requires,
    servers: list.map((spec, i) => ({ ...spec, name: names[i] as string })),
    task: rest.task,
    user: rest.user ?? null,
    solution: rest.solution,
    goal: functions.goal ?? goal,
    attack: hostile ? { ...hostile, goal: functions.attackGoal ?? hostile.goal } : null,
    live,
    digest: digest(canonical(document)),
    document,
  }
}

/** A case as it is written in TypeScript: like in YAML, but goals may be functions. */
export type CaseDefinition = Omit<CaseInput, 'goal' | 'attack'> & {
  goal: CaseInput['goal'] | GoalFunction
  attack?: Omit<NonNullable<CaseInput['attack']>, 'goal'> & {
    goal: NonNullable<CaseInput['attack']>['goal'] | GoalFunction
  }
}
