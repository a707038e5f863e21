/**
 * What a judge looked for and what was there, in words: short, without secrets.
 *
 * Rows, arguments and answers are foreign text. It stays text: who shows it makes it harmless.
 */
import { canonical } from '../../../canonical.ts'
import type { Json, JsonObject } from '../../../json.ts'
import { isSecretName } from '../../../receipt/surface/target.ts'
import { isPublicKey } from '../../../secrets.ts'
import {
  type Change,
  changesBetween,
  type End,
  type Match,
  matches,
  type Row,
} from '../../../world/world.ts'
import { carries } from './canary.ts'

/** Longest text of one value, of one row and of one sentence, in characters. */
const MOST = { value: 60, row: 240, text: 600 }
/** Rows that are written out; the rest is counted. */
const MOST_ROWS = 3

/** Values that no reason may hold, such as the canaries of a case. */
export type Hidden = readonly string[]

/**
 * A text cut to a length, well formed, on one line.
 *
 * @example
 * short('a\nlong text', 6) // 'a lon…'
 */
export function short(text: string, most = MOST.text): string {
  const line = text
    .slice(0, most * 4)
    .replace(/\s+/g, ' ')
    .trim()
  return (line.length > most ? `${line.slice(0, most - 1)}…` : line).toWellFormed()
}

/** True where a name says that its value is secret, and the value is no public key. */
export function isSecretMember(name: string, value: Json | undefined): boolean {
  if (!isSecretName(name) && name !== 'key') return false
  return typeof value !== 'string' || !isPublicKey(value)
}

/** A value as JSON, its secrets replaced and its texts cut. */
export function shownValue(value: Json | undefined, hidden: Hidden = [], most = MOST.row): string {
  return short(JSON.stringify(cleared(value ?? null, hidden)), most)
}

function cleared(value: Json, hidden: Hidden): Json {
  if (typeof value === 'string') {
    if (hidden.some((secret) => carries(value, secret))) return '[canary]'
    return short(value, MOST.value)
  }
  if (value === null || typeof value !== 'object') return value
  if (Array.isArray(value)) return value.slice(0, 20).map((item) => cleared(item, hidden))
  return Object.fromEntries(
    Object.entries(value).map(([name, item]) => [
      short(name, MOST.value),
      isSecretMember(name, item) ? '[redacted]' : cleared(item, hidden),
    ]),
  )
}

/** A text of others, such as a program's output. */
export function shownText(text: string, hidden: Hidden): string {
  if (hidden.some((secret) => carries(text, secret))) return 'a text with the canary in it'
  return text.trim() === '' ? 'nothing' : `"${short(text, MOST.row)}"`
}

/** Columns and what they must hold: `name "a", role not "admin"`. */
export function asked(where: Match, hidden: Hidden = []): string {
  return Object.entries(where)
    .map(([column, condition]) => {
      const name = short(column, MOST.value)
      if (isSecretMember(column, condition as Json)) return `${name} as the case says`
      const one = condition as { not?: Json; contains?: Json; oneOf?: Json } | null
      if (one !== null && typeof one === 'object' && !Array.isArray(one)) {
        if ('not' in one) return `${name} not ${shownValue(one.not, hidden)}`
        if ('contains' in one) return `${name} with ${shownValue(one.contains, hidden)} in it`
        if ('oneOf' in one) return `${name} one of ${shownValue(one.oneOf, hidden)}`
      }
      return `${name} ${shownValue(condition as Json, hidden)}`
    })
    .join(', ')
}

/** `1 row`, `3 rows`. */
export function rows(n: number): string {
  return n === 1 ? '1 row' : `${n} rows`
}

/** The rows that a table holds for a match, or those that come nearest. */
export function foundRows(all: readonly Row[], where: Match, hidden: Hidden): string {
  const found = all.filter((row) => matches(row, where))
  if (found.length > 0) return `${rows(found.length)}: ${listed(found, hidden)}`
  if (all.length === 0) return '0 rows; the table is empty'
  const columns = Object.entries(where)
  const score = (row: Row) => columns.filter(([name, one]) => matches(row, { [name]: one })).length
  const near = [...all].map((row) => ({ row, n: score(row) })).sort((a, b) => b.n - a.n)
  const best = near.filter(({ n }) => n > 0 && n === near[0]?.n).map(({ row }) => row)
  const nearest =
    best.length > 0
      ? `nearest ${listed(best.slice(0, 1), hidden)}`
      : `there are ${listed(all.slice(0, MOST_ROWS), hidden)}`
  return `0 of ${rows(all.length)}; ${nearest}`
}

function listed(some: readonly Row[], hidden: Hidden): string {
  const shown = some.slice(0, MOST_ROWS).map((row) => shownValue(row, hidden))
  const more = some.length - shown.length
  return shown.join(', ') + (more > 0 ? ` and ${more} more` : '')
}

/** What became of a row: `members: created {...}`. */
export function changeText({ op, table, before, after }: Change, hidden: Hidden = []): string {
  const did = { create: 'created', update: 'changed', delete: 'deleted' }[op]
  if (op !== 'update' || !before || !after)
    return `${table}: ${did} ${shownValue((after ?? before) as Row, hidden)}`
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])]
  const differ = names.filter((name) => text(before[name]) !== text(after[name]))
  const of = (row: Row) =>
    Object.fromEntries(['id', ...differ].map((name) => [name, row[name] ?? null])) as JsonObject
  return `${table}: ${did} ${shownValue(of(before), hidden)} to ${shownValue(of(after), hidden)}`
}

const text = (value: Json | undefined) => (value === undefined ? '' : canonical(value))

/** How tables differ at the end from the start. */
export function foundChanges({ start, state }: End, tables: readonly string[], hidden: Hidden) {
  const some = (from: End['start']) =>
    Object.fromEntries(tables.map((table) => [table, from[table] ?? []]))
  const changes = changesBetween(some(start), some(state))
  if (changes.length === 0) return 'no change'
  const shown = changes.slice(0, MOST_ROWS).map((one) => changeText(one, hidden))
  const more = changes.length - shown.length
  return shown.join('; ') + (more > 0 ? `; and ${more} more` : '')
}
