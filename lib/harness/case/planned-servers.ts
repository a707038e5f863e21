/** A case's server as a description to start, with what the judge will ask of it. */
import { canonical } from '../../canonical.ts'
import type { JsonObject } from '../../json.ts'
import type { Effect } from '../../world/world.ts'
import type { ServerPlan } from '../server/server-plan.ts'
import type { Question, TableSource } from '../server/tables.ts'
import type { Case } from './case.ts'
import type { ServerSpec } from './schema/case-schema.ts'

/** The servers of a case, as they are started. */
export function plansOf(test: Case): ServerPlan[] {
  const goals = [test.goal, test.attack?.goal ?? []].flatMap((goal) =>
    typeof goal === 'function' ? [] : goal,
  )
  return test.servers.map((spec) => {
    const questions = goals.flatMap((one): Question[] =>
      one.call !== undefined && (one.server ?? test.servers[0]?.name) === spec.name
        ? [{ call: one.call, with: one.with as JsonObject | undefined }]
        : [],
    )
    return { ...planOf(spec), questions, ...live(planOf(spec), test.live[spec.name]) }
  })
}

/** What of a server cannot stand in a document: functions. */
export type LiveParts = {
  reset?: NonNullable<NonNullable<ServerPlan['http']>['reset']>
  database?: NonNullable<ServerPlan['database']>
}

function live(plan: ServerPlan, parts: LiveParts | undefined): Partial<ServerPlan> {
  if (!parts) return {}
  const { reset, database } = parts
  return {
    ...(database && { database }),
    ...(reset && plan.stdio && { stdio: { ...plan.stdio, reset } }),
    ...(reset && plan.http && { http: { ...plan.http, reset } }),
  }
}

/** The description of a case's server. */
export function planOf(spec: ServerSpec & { name: string }): ServerPlan {
  const { effects, tables } = declared(spec)
  return {
    name: spec.name,
    world: spec.world ?? null,
    state: spec.state ?? {},
    tools: {},
    describe: spec.describe,
    parameters: spec.parameters as ServerPlan['parameters'],
    inject: spec.inject,
    faults: spec.faults,
    stdio: spec.stdio ?? null,
    http: spec.http ?? null,
    files: spec.files ?? null,
    effects,
    tables,
    database: spec.database ?? null,
    folder: spec.folder ?? null,
    questions: [],
    volatile: spec.volatile ?? [],
    policy: spec.policy ?? null,
  }
}

/**
 * Effects on tables. One that is said by an answer to the judge is an effect on the table of what
 * that answer shows.
 */
function declared(spec: ServerSpec): Pick<ServerPlan, 'effects' | 'tables'> {
  const tables = { ...spec.tables } as { [table: string]: TableSource }
  const effects = Object.entries(spec.effects).map(([tool, effect]): [string, Effect] => {
    if ('table' in effect) return [tool, effect as Effect]
    const { shows, absent, ...source } = effect
    const name = `shown by ${canonical(source as JsonObject)}`
    tables[name] = source as TableSource
    const where = (shows ?? absent ?? {}) as Effect['where'] | Effect['where'][]
    const op = shows === undefined ? 'delete' : 'create'
    return [
      tool,
      Array.isArray(where)
        ? { op, table: name, where: {}, each: where }
        : { op, table: name, where },
    ]
  })
  return { effects: Object.fromEntries(effects), tables }
}

/**
 * The addresses at which a case needs a turn: servers whose state is judged, and that trials share.
 */
export function sharedAddresses(plans: readonly ServerPlan[]): string[] {
  return plans.flatMap(({ http, ...plan }) => {
    const judged =
      plan.questions.length + Object.keys(plan.tables).length + Object.keys(plan.effects).length
    return http && (judged > 0 || http.reset || plan.folder || plan.database) ? [http.url] : []
  })
}
