/**
 * Tables of a server that is not ours: what can be seen of its state by asking, as rows. A table is
 * the answer to a call, or to a query of its database. A folder's files are the table `files`.
 */
import { canonical, digest } from '../../canonical.ts'
import { isObject, type Json, type JsonObject } from '../../json.ts'
import type { Row } from '../../world/world.ts'
import type { CallToolResult } from '../wire/mcp.ts'
import { type Judge, unread } from './judge-asks.ts'

/** A question to the server. */
export type Question = { call: string; with?: JsonObject | undefined }
/**
 * Where the rows of a table come from. `id`: the column that tells rows apart; default `id`, or the
 * whole row.
 */
export type TableSource = (Question | { query: string }) & { id?: string | undefined }

/** Read one table now. @throws TouchstoneError `state_unreadable` */
export async function readTable(
  server: string,
  name: string,
  source: TableSource,
  judge: Judge,
): Promise<Row[]> {
  const where = `server ${server}, table ${name}`
  if ('query' in source) return identified(await judge.query(source.query), source.id)
  const answer = await judge.ask(source.call, source.with ?? {})
  if (answer.isError) throw unread(`rows of ${source.call}`, `an error: ${textOf(answer)}`, where)
  const data = dataOf(answer)
  if (data === undefined)
    throw unread(`rows of ${source.call}`, `no JSON: ${textOf(answer).slice(0, 60)}`, where)
  return identified(objectsIn(data), source.id)
}

/** An answer's text. */
export function textOf(result: CallToolResult): string {
  return result.content.map((part) => (part.type === 'text' ? part.text : '')).join('\n')
}

/**
 * An answer's data: its structured content, or the JSON of its texts; undefined where there is
 * none.
 */
export function dataOf(result: CallToolResult): Json | undefined {
  const { structuredContent } = result as { structuredContent?: JsonObject }
  // FastMCP wraps what is no object.
  if (structuredContent)
    return Object.keys(structuredContent).join() === 'result'
      ? (structuredContent['result'] as Json)
      : structuredContent
  const texts = result.content.flatMap((part) => (part.type === 'text' ? [part.text] : []))
  const parsed = texts.map(jsonIn)
  if (parsed.length === 0 || parsed.includes(undefined)) return undefined
  return parsed.length === 1 ? parsed[0] : (parsed as Json[])
}

function jsonIn(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json
  } catch {
    return undefined
  }
}

/**
 * The objects of an answer: the members of a list, of the only list in an object, or the object
 * itself.
 */
function objectsIn(data: Json): JsonObject[] {
  if (Array.isArray(data)) return data.map((one) => (isObject(one) ? one : { value: one }))
  if (!isObject(data)) return [{ value: data }]
  const lists = Object.values(data).filter(
    (one): one is Json[] => Array.isArray(one) && one.every(isObject),
  )
  return lists.length === 1 ? objectsIn(lists[0] as Json[]) : [data]
}

/**
 * Rows with an id: that of a column, or one made of the whole row. Rows that are the same are
 * counted apart.
 */
function identified(rows: readonly JsonObject[], column = 'id'): Row[] {
  const seen = new Map<string | number, number>()
  return rows.map((row) => {
    const own = row[column]
    const plain = typeof own === 'string' || typeof own === 'number' ? own : digest(canonical(row))
    const before = seen.get(plain) ?? 0
    seen.set(plain, before + 1)
    return { ...row, id: before === 0 ? plain : `${plain} ${before + 1}` }
  })
}
