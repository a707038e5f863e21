/**
 * A first draft of a file of classifiers, out of a server's own list of tools.
 *
 * The draft is valid and raises nothing: no effect has a read that shows it or an entry that
 * records it before somebody has looked. It names which arguments seem to say the target, so that
 * only what is known has to be added.
 */
import { stringify } from 'yaml'
import { isObject, type JsonObject } from '../../json.ts'
import { CLASSIFIERS_SCHEMA, type CompactClass, type CompactField } from '../surface/compact.ts'
import { classifiersFor, shippedServerOf } from '../surface/registry.ts'
import { isSecretName } from '../surface/target.ts'

/** A tool as a server lists it. */
export type ListedTool = {
  name: string
  inputSchema?: unknown
  annotations?: { readOnlyHint?: boolean | undefined } | undefined
}

export type Draft = {
  server: string
  /** Tools that a registered classifier knows. */
  known: string[]
  /**
   * A server that ships with tools of most names that are not known: under its name they are. Null
   * for none.
   */
  like: string | null
  /** Tools that are drafted as effects, and as reads. */
  effects: string[]
  reads: string[]
  /** The file, as YAML. */
  text: string
}

const NOT_YET = 'not looked at yet'
const READ =
  /^(get|list|read|search|find|query|fetch|describe|show|view|count|check|lookup|download|export|preview|validate)([_-]|[A-Z]|$)|[_-](get|list|read|search|query|history|status|logs?)$/

/**
 * Draft the classifiers of a server.
 *
 * @param server its name: words of it must stand in the name that a recorder gives the server
 * @example
 * draftFor('acme', [{ name: 'list_users' }, { name: 'delete_user', inputSchema: { properties: { user_id: { type: 'string' } }, required: ['user_id'] } }]).effects // ['delete_user']
 */
export function draftFor(server: string, tools: readonly ListedTool[]): Draft {
  const slug =
    server
      .toLowerCase()
      .replace(/[^a-z0-9]+/g, '_')
      .replace(/^_+|_+$/g, '') || 'server'
  const isKnown = ({ name }: ListedTool) => classifiersFor(name, server).candidates.length > 0
  const unknown = tools.filter((tool) => !isKnown(tool))
  const reads = unknown.filter(isRead)
  const effects = unknown.filter((tool) => !isRead(tool))
  const classes = new Map<string, CompactClass>()
  for (const tool of effects) add(classes, slug, tool)
  const file = {
    schema: CLASSIFIERS_SCHEMA,
    provider: slug,
    servers: [server.toLowerCase()],
    ...(classes.size > 0 && { classes: [...classes.values()] }),
    ...(reads.length > 0 && { reads: reads.map(({ name }) => leafOf(name)) }),
  }
  const names = (list: readonly ListedTool[]) => list.map(({ name }) => name)
  return {
    server,
    known: names(tools.filter(isKnown)),
    like: shippedServerOf(names(unknown), server),
    effects: names(effects),
    reads: names(reads),
    text: `${HEAD}${stringify(file, { lineWidth: 100 })}`,
  }
}

const HEAD = `# A draft. It raises no level as it stands. For each effect say:
#   shown     which reads show it: { by: presence | absence | value, reads: [...] }, or the reason why none does
#   recorded  which kinds of audit entries record it, or the reason why none does
#   binding   which fields name the target
# and for each read that shows something, where its answer keeps the items. docs/servers.md and the classifiers that ship are
# examples of finished ones.
`

function isRead({ name, annotations }: ListedTool): boolean {
  return annotations?.readOnlyHint ?? READ.test(leafOf(name))
}

/** A classifier names tools without the prefix of a host. */
function leafOf(name: string): string {
  return name.slice(Math.max(name.lastIndexOf('.'), name.lastIndexOf('/')) + 1)
}

/** Words of a tool's name, `createIssue` and `create_issue` alike. */
function wordsOf(name: string): string[] {
  return name
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter(Boolean)
}

function add(classes: Map<string, CompactClass>, slug: string, tool: ListedTool): void {
  const leaf = leafOf(tool.name)
  const [verb = 'do', ...noun] = wordsOf(leaf).filter((word, i) => i > 0 || word !== slug)
  const resource_type = [slug, ...(noun.length > 0 ? noun : ['call'])].join('_')
  const one: CompactClass = classes.get(resource_type) ?? {
    resource_type,
    tools: {},
    fields: {},
    required: [],
    binding: { all: [] },
    effects: {},
  }
  classes.set(resource_type, one)
  const named = fieldsOf(slug, tool.inputSchema)
  Object.assign(one.fields, named.fields)
  if (Object.keys(one.fields).length === 0) one.fields['call_hash'] = { hash: `${slug}_call` }
  if (one.binding.all.length === 0) one.binding.all.push(Object.keys(one.fields)[0] as string)
  // Two tools of one class and verb would be one effect.
  const free = Object.hasOwn(one.effects, verb) ? wordsOf(leaf).join('_') : verb
  one.tools[leaf] = free
  one.effects[free] = {
    shown: NOT_YET,
    recorded: NOT_YET,
    ...(named.target.length > 0 && { binding: { all: named.target } }),
  }
}

const NAMING = /(^|_)(id|ids|key|name|number|path|slug|uuid|arn|ref|email|owner|repo|namespace)$/

/** The arguments that seem to name the target: identifying ones, hashed. */
function fieldsOf(slug: string, schema: unknown) {
  const properties = isObject(schema) && isObject(schema['properties']) ? schema['properties'] : {}
  const required = isObject(schema) && Array.isArray(schema['required']) ? schema['required'] : []
  const fields: { [name: string]: CompactField } = {}
  const target: string[] = []
  for (const [argument, about] of Object.entries(properties)) {
    const snake = wordsOf(argument).join('_')
    if (!NAMING.test(snake) || isSecretName(argument) || !isScalar(about)) continue
    if (argument.includes('.')) continue
    const name = `${snake}_hash`
    fields[name] = { from: [argument], hash: `${slug}_${snake}` }
    if (required.includes(argument)) target.push(name)
  }
  return { fields, target }
}

function isScalar(about: unknown): about is JsonObject {
  const type = isObject(about) ? about['type'] : undefined
  return type === 'string' || type === 'integer' || type === 'number'
}
