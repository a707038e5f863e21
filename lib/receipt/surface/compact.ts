/**
 * Classifiers as they are written in a file: the same members as a `Classifier`, with defaults for
 * what most of them share.
 *
 * A text in the place of `shown` or `recorded` is the reason why there is none.
 */
import type {
  Binding,
  ByArgument,
  Classifier,
  Condition,
  Effect,
  Field,
  Irreversibility,
  Read,
  Shown,
} from './classifier.ts'

export const CLASSIFIERS_SCHEMA = 'touchstone.classifiers.v1'

export type CompactField = {
  /** Default: the field's own name, without `_hash`. */
  from?: string[]
  /** The domain of the hash, for a value that identifies. */
  hash?: string
  kind?: 'flag' | 'amount'
  fold?: 'lower'
  named?: { [other: string]: string | null }
}

export type CompactEffect = {
  shown: Shown | string
  recorded: string[] | string
  undone?: string[]
  once?: true
  binding?: Binding
}

export type CompactClass = {
  resource_type: string
  /** Default: the resource type. */
  category?: string
  /** Default `record_change`. */
  class?: string
  /** Default `<resource type>:write`. */
  scope?: string
  /** Default `one_way_recoverable`. */
  irreversibility?: Irreversibility
  tools: { [name: string]: string | ByArgument }
  only?: { [tool: string]: Condition[] }
  implied?: { [tool: string]: { [argument: string]: string } }
  fields: { [name: string]: CompactField }
  /** Default: every field of `binding.all`. */
  required?: string[]
  binding: Binding
  scoped?: string[]
  effects: { [verb: string]: CompactEffect }
  reads?: { [name: string]: Read }
}

export type ClassifierFile = {
  schema: typeof CLASSIFIERS_SCHEMA
  provider: string
  /** Words in the names of servers that are meant. Default: any server. */
  servers?: string[]
  classes: CompactClass[]
  /** Tools that change nothing and whose answers show none of the effects above. */
  reads?: string[]
}

/** The classifiers that a file describes. Whether they are right, `checkClassifier` says. */
export function expand(file: ClassifierFile): Classifier[] {
  const { provider, servers, classes, reads = [] } = file
  const common = { provider, ...(servers && { servers, strict: true as const }) }
  const made = classes.map((one): Classifier => {
    const { resource_type, category = resource_type, scope = `${resource_type}:write` } = one
    const { required = one.binding.all } = one
    return {
      ...common,
      category,
      resource_type,
      class: one.class ?? 'record_change',
      scope,
      irreversibility: one.irreversibility ?? 'one_way_recoverable',
      reason_code: `classified_${category}`,
      tools: one.tools,
      ...(one.only && { only: one.only }),
      ...(one.implied && { implied: one.implied }),
      fields: Object.entries(one.fields).map(fieldOf),
      required: required.map((name) => ({
        fields: [name],
        detail: `missing_${name.replace(/_hash$/, '')}`,
      })),
      binding: one.binding,
      scoped: one.scoped ?? [],
      effects: Object.fromEntries(
        Object.entries(one.effects).map(([verb, effect]) => [verb, effectOf(effect)]),
      ),
      reads: one.reads ?? {},
    }
  })
  return reads.length === 0 ? made : [...made, readsOf(file, common, reads)]
}

/** Reads that show nothing that is looked for: they claim no effect either. */
function readsOf(
  { provider, servers = [] }: ClassifierFile,
  common: Pick<Classifier, 'provider' | 'servers' | 'strict'>,
  reads: string[],
): Classifier {
  const name = `${servers[0] ?? provider}_reads`
  return {
    ...common,
    category: name,
    resource_type: name,
    class: 'unclassified',
    scope: 'read',
    irreversibility: 'two_way',
    reason_code: `classified_${name}`,
    tools: {},
    fields: [],
    required: [],
    binding: { all: [] },
    scoped: [],
    effects: {},
    reads: Object.fromEntries(reads.map((tool) => [tool, { verb: 'read', answers: [] }])),
  }
}

function fieldOf([name, field]: [string, CompactField]): Field {
  const { from = [name.replace(/_hash$/, '')], hash, kind = 'text', fold, named } = field
  return {
    name,
    from,
    ...(hash === undefined ? { kind } : { kind: 'hash', domain: hash }),
    ...(fold && { fold }),
    ...(named && { named }),
  }
}

function effectOf({ shown, recorded, ...rest }: CompactEffect): Effect {
  return {
    ...rest,
    shown: typeof shown === 'string' ? { by: 'nothing', because: shown } : shown,
    recorded: typeof recorded === 'string' ? { none: recorded } : recorded,
  }
}
