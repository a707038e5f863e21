/** What a case does on this machine besides calling simulated tools: a case file is a program. */
import type { Json, JsonObject } from '../../json.ts'
import type { Case } from './case.ts'

/** Something that running a case does: start a command, contact an address, use a variable. */
export type CasePower = { kind: 'command' | 'address' | 'variable'; text: string }

/** Members that hold data of worlds and words for agents, whatever they are named inside. */
const DATA = new Set([
  'state',
  'files',
  'describe',
  'parameters',
  'inject',
  'where',
  'with',
  'shows',
  'absent',
  'solution',
  'calls',
])

/** Everything that a case does by itself, in the order of its document, each once. */
export function powersOf({ document }: Pick<Case, 'document'>): CasePower[] {
  const found = new Map<string, CasePower>()
  const add = (kind: CasePower['kind'], text: string) =>
    found.set(`${kind} ${text}`, { kind, text })
  const look = (value: Json) => {
    if (Array.isArray(value)) return value.forEach(look)
    if (value === null || typeof value !== 'object') return
    const { command, args, url } = value as JsonObject
    if (typeof command === 'string')
      add('command', [command, ...(Array.isArray(args) ? args.map(String) : [])].join(' '))
    if (Array.isArray(command)) add('command', command.map(String).join(' '))
    if (typeof url === 'string') add('address', url)
    for (const [name, one] of Object.entries(value)) {
      if (DATA.has(name)) continue
      look(one)
      if (name === 'env' || name === 'headers')
        for (const [, bare, braced] of JSON.stringify(one).matchAll(VARIABLE))
          add('variable', (bare ?? braced) as string)
    }
  }
  look(document)
  return [...found.values()]
}

const VARIABLE = /\$(?:([A-Z_][A-Z0-9_]*)|\{([A-Z_][A-Z0-9_]*)\})/g
