/** Cases as a person reads them: one as its file would be, several as a table. */
import { count, foreign, type Look, table, tone, wrap } from '../../display.ts'
import { printable } from '../../errors.ts'
import { shownAs } from '../../shown.ts'
import { yamlText } from '../../yaml.ts'
import type { Case } from './case.ts'

/** Rows that are shown before the rest is only counted. */
const SHOWN = 40

export const CASE_COLUMNS = [
  { head: 'case' },
  { head: 'world' },
  { head: 'attack' },
  { head: 'title', min: 16 },
]

export function caseCells({ id, servers, attack, title }: Case): string[] {
  const worlds = new Set(servers.flatMap(({ world }) => (world === undefined ? [] : [world])))
  // Servers that are other people's have no world.
  const named = worlds.size > 0 ? [...worlds].map((name) => foreign(name, 40)).join('+') : '-'
  return [foreign(id, 100), named, attack ? 'yes' : '', foreign(title, 200)]
}

/** Let a case show itself as its file would be. It stays plain data. */
export function shownAsFile(test: Case): Case {
  return shownAs(test, () => printable(yamlText(withoutEmpty(test.document))))
}

/** Let a list of cases show itself as a table. It stays a plain list. */
export function shownAsTable(cases: Case[]): Case[] {
  return shownAs(cases, (look: Look) => {
    const more = cases.length - SHOWN
    const rest = more > 0 ? `and ${count(more, 'more case')}; ` : ''
    const last = `${rest}one by its place, [0], is the whole case`
    return [
      table(CASE_COLUMNS, cases.slice(0, SHOWN).map(caseCells), look),
      tone(wrap(last, look.width ?? 100), 'quiet', look),
    ].join('\n')
  })
}

/** Members that hold nothing, of the case and of its servers, are not in a file. */
function withoutEmpty(members: Case['document']): Case['document'] {
  const empty = (value: unknown) =>
    typeof value === 'object' && value !== null && Object.keys(value).length === 0
  const kept = Object.entries(members).flatMap(([name, value]) => {
    if (empty(value)) return []
    if (name === 'server') return [[name, withoutEmpty(value as Case['document'])]]
    if (name !== 'servers') return [[name, value]]
    return [[name, (value as Case['document'][]).map(withoutEmpty)]]
  })
  return Object.fromEntries(kept)
}
