/** A server's database, asked by the judge: an SQLite file, or whatever an adapter reaches. */
import type { Json, JsonObject } from '../../json.ts'

/** Asks any database. What it gives are rows of plain data. */
export type DatabaseAdapter = {
  query(text: string): Promise<readonly JsonObject[]> | readonly JsonObject[]
}
/** An SQLite file, or an adapter. */
export type DatabaseSource = { sqlite: string } | DatabaseAdapter

/**
 * Rows of a query. The file is opened for reading alone, anew each time, so that what the server
 * wrote last is seen.
 */
export async function queried(source: DatabaseSource, text: string): Promise<JsonObject[]> {
  if ('query' in source) return [...(await source.query(text))]
  const { DatabaseSync } = await import('node:sqlite')
  const database = new DatabaseSync(source.sqlite, { readOnly: true })
  try {
    return database
      .prepare(text)
      .all()
      .map((row) =>
        Object.fromEntries(Object.entries(row).map(([column, value]) => [column, plain(value)])),
      )
  } finally {
    database.close()
  }
}

/** A value of SQLite as JSON: bytes as hexadecimal text. */
function plain(value: unknown): Json {
  return value instanceof Uint8Array ? Buffer.from(value).toString('hex') : (value as Json)
}
