/** The registered classifiers, and which of them knows a tool. */
import { TouchstoneError } from '../../errors.ts'
import type { Classifier, Effect } from './classifier.ts'
import { SHIPPED } from './classifiers/index.ts'
import { checkClassifier } from './definition.ts'
import { shippedServers } from './servers.ts'

type Registry = {
  list: readonly Classifier[]
  byName: Map<string, Classifier[]>
  byVerb: Map<string, Classifier>
  readVerbs: Set<string>
  /** Words that may stand before the name of a tool. */
  words: string[]
}

let registry: Registry | undefined
let shipped: Registry | undefined

/**
 * Register a classifier, so that `observe` knows its tools and `verify` can bind their calls.
 *
 * Registering a category of one's own again replaces it, so a notebook cell can be run twice. A
 * class, tool or read that ships is refused: a level would else rest on another rule than its name
 * says.
 *
 * @throws TouchstoneError `classifier_invalid` naming the member that is wrong
 */
export function classifier(definition: Classifier): Classifier {
  const { list } = registered()
  checkClassifier(definition, list)
  const taken = shippedRule(definition)
  if (taken)
    throw new TouchstoneError(
      'classifier_invalid',
      `expected ${taken.expected}, got ${taken.got}`,
      { where: `classifier ${definition.category}: ${taken.path.join('.')}` },
    )
  const known = list.findIndex((one) => one.category === definition.category)
  const next = known < 0 ? [...list, definition] : list.with(known, definition)
  registry = indexed(next)
  return definition
}

/**
 * Register several classifiers at once: each is checked against the others, and nothing is
 * registered when one is wrong.
 *
 * @throws TouchstoneError `classifier_invalid` naming the member that is wrong
 */
export function registerTogether(list: readonly Classifier[]): void {
  const kept = registered().list.filter(
    ({ category }) => !list.some((one) => one.category === category),
  )
  for (const one of list) checkClassifier(one, [...kept, ...list.filter((other) => other !== one)])
  registry = indexed([...kept, ...list])
}

/** Every registered classifier: the shipped ones, then those that were added. */
export function classifiers(): readonly Classifier[] {
  return registered().list
}

/** Whether this process knows others than those that come with Touchstone. */
export function hasOwnClassifiers(): boolean {
  return registered() !== shippedOnes()
}

/** The classifiers that come with Touchstone, whatever was registered since. */
function shippedClassifiers(): readonly Classifier[] {
  return shippedOnes().list
}

/** What of a classifier is a rule that ships: its category, its class, or a tool or read of it. */
export function shippedRule(
  one: Classifier,
): { path: string[]; expected: string; got: string } | null {
  const taken = (path: string[], what: string, got: string) => ({
    path,
    expected: `${what} that no shipped classifier has`,
    got,
  })
  for (const other of shippedClassifiers()) {
    if (other.category === one.category)
      return taken(['category'], 'a category', `${one.category} of ${other.provider}`)
    if (other.provider === one.provider && other.resource_type === one.resource_type)
      return taken(
        ['resource_type'],
        'a class',
        `${one.resource_type} of ${one.provider} (${other.category})`,
      )
  }
  for (const member of ['tools', 'reads'] as const)
    for (const tool of Object.keys(one[member])) {
      const other = shippedWith(tool, one)
      if (other)
        return taken([member, tool], 'a tool', `${tool} of ${other.category} (${other.provider})`)
    }
  return null
}

/**
 * The shipped classifier that has a tool or read of another one, for the same provider or for
 * servers of the same name, with or without the server's name before the tool.
 */
function shippedWith(tool: string, one: Classifier): Classifier | undefined {
  const words = wordsOf(one)
  return words
    .flatMap((word) => lookUp(shippedOnes(), tool, word).candidates)
    .find(
      (other) =>
        other.provider === one.provider || wordsOf(other).some((word) => words.includes(word)),
    )
}

/** The classifier whose binding rule covers a class and verb. */
export function classifierOf(actionClass: string, verb: string): Classifier | undefined {
  return registered().byVerb.get(`${actionClass}\n${verb}`)
}

/** How the effect of a class and verb can be shown. */
export function effectOf(one: Classifier, verb: string): Effect | undefined {
  return Object.hasOwn(one.effects, verb) ? one.effects[verb] : undefined
}

/** True for a verb that a classifier of this class declares as a read. */
export function isReadVerb(actionClass: unknown, verb: unknown): boolean {
  return (
    typeof actionClass === 'string' &&
    typeof verb === 'string' &&
    registered().readVerbs.has(`${actionClass}\n${verb}`)
  )
}

/** What a tool call names: the tool without its prefix, and the classifiers that know it. */
export type Known = { name: string; candidates: Classifier[] }

/**
 * The classifiers that know a tool. Hosts put the server before the name in several ways:
 * `mcp__server__tool`, `server.tool`, `server/tool`, `server_tool`, `server-tool`. The first name
 * without a prefix that is known counts.
 *
 * @param own which classifiers to use, default all that are registered
 */
export function classifiersFor(tool: string, server = '', own?: readonly Classifier[]): Known {
  return lookUp(own ? indexed(own) : registered(), tool, server)
}

function lookUp({ byName, words }: Registry, tool: string, server: string): Known {
  const leaf = leafOf(tool)
  for (const cut of cutsOf(leaf, [server, ...words])) {
    const name = leaf.slice(cut)
    const known = byName.get(name)
    if (!known) continue
    const host = `${server} ${tool.slice(0, tool.length - name.length)}`.toLowerCase()
    const lower = name.toLowerCase()
    const isNamed = (word: string) => host.includes(word) || lower.startsWith(`${word}_`)
    const meant = known.filter((one) => wordsOf(one).some(isNamed))
    const loose = known.filter((one) => !one.strict)
    if (meant.length > 0 || loose.length > 0)
      return { name, candidates: meant.length > 0 ? meant : loose }
  }
  return { name: leaf, candidates: [] }
}

/**
 * The server that ships with tools of most of these names, more than any other: the word by which
 * its classifiers know it. Null where none has, or two have as many.
 *
 * @param server what the server is called, which may stand before the names
 * @example
 * shippedServerOf(['write_file', 'edit_file', 'list_allowed_directories']) // 'filesystem'
 */
export function shippedServerOf(tools: readonly string[], server = ''): string | null {
  const counts = new Map<string, number>()
  for (const tool of new Set(tools)) {
    const leaf = leafOf(tool)
    const names = [...cutsOf(leaf, [server])].map((cut) => leaf.slice(cut))
    const found = names.flatMap((name) => shippedOnes().byName.get(name) ?? [])
    for (const word of new Set(found.flatMap((one) => wordsOf(one)[0] ?? [])))
      counts.set(word, (counts.get(word) ?? 0) + 1)
  }
  const [first, second] = [...counts].sort(([, a], [, b]) => b - a)
  if (!first || first[1] === second?.[1]) return null
  return 2 * first[1] > new Set(tools).size ? first[0] : null
}

/** The tool's name without what stands before the last dot, slash or double underscore. */
function leafOf(tool: string): string {
  const at = Math.max(tool.lastIndexOf('.'), tool.lastIndexOf('/')) + 1
  const double = tool.lastIndexOf('__')
  return tool.slice(Math.max(at, double < 0 ? 0 : double + 2))
}

/** Where the name may begin: at its start, and behind a word and one `_` or `-`. */
function* cutsOf(leaf: string, words: readonly string[]): Generator<number> {
  yield 0
  const lower = leaf.toLowerCase()
  for (const word of words) {
    const separator = lower[word.length]
    if (word === '' || (separator !== '_' && separator !== '-')) continue
    if (lower.startsWith(word.toLowerCase())) yield word.length + 1
  }
}

function wordsOf(one: Classifier): string[] {
  return one.servers ?? [one.provider]
}

function indexed(list: readonly Classifier[]): Registry {
  const made: Registry = {
    list,
    byName: new Map(),
    byVerb: new Map(),
    readVerbs: new Set(),
    words: [...new Set(list.flatMap(wordsOf))],
  }
  for (const one of list) {
    for (const name of [...Object.keys(one.tools), ...Object.keys(one.reads)])
      made.byName.set(name, [...(made.byName.get(name) ?? []), one])
    for (const { verb } of Object.values(one.reads))
      made.readVerbs.add(`${one.resource_type}\n${verb}`)
    for (const verb of Object.keys(one.effects)) {
      const key = `${one.resource_type}\n${verb}`
      if (!made.byVerb.has(key)) made.byVerb.set(key, one)
    }
  }
  return made
}

function registered(): Registry {
  registry ??= shippedOnes()
  return registry
}

function shippedOnes(): Registry {
  shipped ??= indexed([...SHIPPED, ...shippedServers()])
  return shipped
}
