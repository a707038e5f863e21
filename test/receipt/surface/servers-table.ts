/** The table of `docs/servers.md`: tool by tool, how far a call can climb, and why not further. */
import { globSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import type { Classifier, Effect, Shown } from '../../../lib/receipt/surface/classifier.ts'
import { classifierOf, classifiersFor, effectOf } from '../../../lib/receipt/surface/registry.ts'

const root = join(import.meta.dirname, '../../..')

export type KeptTool = {
  name: string
  readOnlyHint?: boolean
  required: string[]
  parameters: { [name: string]: string | string[] }
}
export type KeptList = { source: string; version: string; tool: string; tools: KeptTool[] }

/** The kept tool lists by name, with the name of a server that offers them. */
export function keptLists(): { name: string; server: string; list: KeptList }[] {
  return globSync('fixtures/servers/*.json', { cwd: root })
    .sort()
    .map((path) => {
      const name = basename(path, '.json')
      return {
        name,
        server: name,
        list: JSON.parse(readFileSync(join(root, path), 'utf8')) as KeptList,
      }
    })
}

export type Part = { one: Classifier; verb: string; effect: Effect; when: string }

/** What a tool can be: its effects, each with the argument that says so, and whether it can be a read. */
export function partsOf(server: string, tool: string): { effects: Part[]; isRead: boolean } {
  const { name, candidates } = classifiersFor(tool, server)
  const effects = candidates.flatMap((one): Part[] => {
    const verb = Object.hasOwn(one.tools, name) ? one.tools[name] : undefined
    if (verb === undefined) return []
    const argument = typeof verb === 'string' ? '' : verb.argument
    const verbs =
      typeof verb === 'string'
        ? [{ verb, when: '' }]
        : Object.entries(verb.verbs).map(([value, verb]) => ({
            verb,
            when: `${argument} ${value}`,
          }))
    return verbs.flatMap(({ verb, when }) => {
      const first = classifierOf(one.resource_type, verb)
      const effect = first && effectOf(first, verb)
      return effect ? [{ one, verb, effect, when }] : []
    })
  })
  return { effects, isRead: candidates.some((one) => Object.hasOwn(one.reads, name)) }
}

/** Fields of the binding that no argument of the tool can say. */
export function silentOf({ one, effect }: Part, tool: KeptTool): string[] {
  const said = new Set([
    ...Object.keys(tool.parameters),
    ...Object.keys(one.implied?.[tool.name] ?? {}),
  ])
  const says = (field: string) =>
    one.fields
      .find((each) => each.name === field)
      ?.from.some((from) => said.has(from.split(/[.[]/)[0] as string))
  return said.size === 0 ? [] : (effect.binding ?? one.binding).all.filter((field) => !says(field))
}

/** The highest level that any evidence can give to an effect. */
export function highest({ shown, recorded }: Effect): string {
  if (Array.isArray(recorded)) return 'verified'
  return shown.by === 'nothing' ? 'asserted' : 'observed_confirmed'
}

export function table(): string {
  const lists = keptLists()
  const sections = lists.map(({ name, server, list }) => {
    const rows: string[] = []
    const reads: string[] = []
    for (const tool of list.tools) {
      const { effects, isRead } = partsOf(server, tool.name)
      if (isRead && effects.length === 0) reads.push(`\`${tool.name}\``)
      // A tool of one name on two servers: what this one cannot be asked for is the other's.
      const sayable = effects.filter((part) => silentOf(part, tool).length === 0)
      for (const part of sayable.length > 0 ? sayable : effects) rows.push(rowOf(tool.name, part))
    }
    return [
      `## ${name}`,
      '',
      `${list.source}, ${list.version}: ${list.tools.length} tools.`,
      '',
      ...(rows.length === 0
        ? []
        : [
            '| tool | effect | at most | shown by | recorded by |',
            '|---|---|---|---|---|',
            ...rows,
            '',
          ]),
      ...(reads.length === 0 ? [] : [`Reads: ${reads.join(', ')}.`, '']),
    ].join('\n')
  })
  return [
    '# How far a tool can climb',
    '',
    'Tool by tool, for servers that people connect: the highest level that evidence can give, which reads show the effect,',
    'which entries of a provider record it, and why not further. The lists are kept in `fixtures/servers/` with their sources;',
    'the classifiers are `lib/receipt/surface/servers/*.json`. `npm run servers` writes this table, and a test holds it.',
    '',
    ...sections,
  ].join('\n')
}

function rowOf(tool: string, { one, verb, effect, when }: Part): string {
  const cells = [
    `\`${tool}\`${when === '' ? '' : `, ${when}`}`,
    `${one.resource_type} ${verb}`,
    highest(effect),
    shownBy(effect.shown),
    Array.isArray(effect.recorded)
      ? effect.recorded.map((kind) => `\`${kind}\``).join(', ')
      : `nothing: ${effect.recorded.none}`,
  ]
  return `| ${cells.join(' | ')} |`
}

function shownBy(shown: Shown): string {
  if (shown.by === 'nothing') return `nothing: ${shown.because}`
  const by = shown.by === 'value' ? `the value of ${shown.member}` : shown.by
  return `${by} in ${shown.reads.map((read) => `\`${read}\``).join(', ')}`
}
