/**
 * A run's trials in DuckDB: asked in SQL, or written as Parquet. The package is loaded when it is
 * asked for.
 *
 * What a run holds is handed over as values. No SQL is made of it.
 */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { onlyMembers, requireText } from '../../arguments.ts'
import { TouchstoneError } from '../../errors.ts'
import { writeNew } from '../../files.ts'
import type { Json } from '../../json.ts'
import { removeFolder, temporaryFolder } from '../../process/temporary.ts'
import type { Run } from './result.ts'
import { type ColumnType, TRIAL_COLUMNS, trialColumns } from './trial-table.ts'

/** A row of an answer, by the names of its columns. */
export type SqlRow = { [column: string]: Json }

type DuckDB = typeof import('@duckdb/node-api')
type Connection = import('@duckdb/node-api').DuckDBConnection
type Database = { duckdb: DuckDB; connection: Connection }

/**
 * The package with the database; it comes with nobody who does not ask for it.
 * @throws TouchstoneError `dependency_missing`
 */
function duckdb(): Promise<DuckDB> {
  return import('@duckdb/node-api').catch((cause: unknown) => {
    throw new TouchstoneError(
      'dependency_missing',
      'expected the package @duckdb/node-api for SQL and Parquet, got none: npm install @duckdb/node-api',
      { cause },
    )
  })
}

/** Nothing is fetched, and nothing is kept beside the memory. */
const SETTINGS = {
  autoinstall_known_extensions: 'false',
  autoload_known_extensions: 'false',
  allow_persistent_secrets: 'false',
  temp_directory: '',
}

/** A database in memory with the table `trials`. */
async function filled(run: Run, signal?: AbortSignal): Promise<Database> {
  run.requireSound()
  const loaded = await duckdb()
  const instance = await loaded.DuckDBInstance.create(':memory:', SETTINGS)
  const connection = await instance.connect()
  const members = TRIAL_COLUMNS.map(({ name, type }) => `"${name}" ${type}`)
  await connection.run(`CREATE TABLE trials (${members.join(', ')})`)
  const appender = await connection.createAppender('trials')
  const types = TRIAL_COLUMNS.map(({ type }) => loaded[HANDED_AS[type]])
  for (const columns of trialColumns(run.manifest, run.records())) {
    signal?.throwIfAborted()
    const chunk = loaded.DuckDBDataChunk.create(types)
    chunk.setColumns(columns)
    appender.appendDataChunk(chunk)
    await new Promise((resolve) => setImmediate(resolve))
  }
  appender.closeSync()
  return { duckdb: loaded, connection }
}

/** The type of the values that are handed over. DuckDB reads a time from its text. */
const HANDED_AS = {
  VARCHAR: 'VARCHAR',
  BOOLEAN: 'BOOLEAN',
  INTEGER: 'INTEGER',
  BIGINT: 'BIGINT',
  DOUBLE: 'DOUBLE',
  TIMESTAMPTZ: 'VARCHAR',
} as const satisfies { [type in ColumnType]: keyof DuckDB }

/** Databases by run: a run's trials do not change. */
const DATABASES = new WeakMap<Run, Promise<Database>>()

function databaseOf(run: Run, signal?: AbortSignal): Promise<Database> {
  const known = DATABASES.get(run)
  if (known) return known
  const made = filled(run, signal).then(async (database) => {
    // From here on no file, no address and no extension can be reached, and no setting changed.
    await database.connection.run('SET enable_external_access = false')
    await database.connection.run('SET lock_configuration = true')
    return database
  })
  DATABASES.set(run, made)
  made.catch(() => DATABASES.delete(run))
  return made
}

/**
 * Functions that set the database to write files, which its lock then makes it stumble over; and
 * those that take a query as text, in which their names could hide.
 */
const REFUSED =
  /enable_logging|enable_profiling|\bquery(?:_table)?"?(?:\s|\/\*[\s\S]*?\*\/|--[^\n]*\n)*\(/i

/** See `Run.sql`. */
export async function sqlOf(
  run: Run,
  query: string,
  options: { signal?: AbortSignal } = {},
): Promise<SqlRow[]> {
  requireText(query, 'a query in SQL', 'query')
  onlyMembers(options, ['signal'], 'options')
  const { signal } = options
  signal?.throwIfAborted()
  const [refused] = REFUSED.exec(query) ?? []
  if (refused !== undefined) throw invalid('a query that only reads', refused.slice(0, 40))
  const { duckdb: loaded, connection } = await databaseOf(run, signal)
  // An interrupt that comes before the query is at work is lost, so that one is not enough.
  let interrupting: NodeJS.Timeout | undefined
  const interrupt = () => {
    interrupting = setInterval(() => connection.interrupt(), 100)
    connection.interrupt()
  }
  signal?.addEventListener('abort', interrupt)
  try {
    const statements = await connection.extractStatements(query)
    if (statements.count !== 1) throw invalid('one statement', String(statements.count))
    const prepared = await statements.prepare(0)
    const type = loaded.StatementType[prepared.statementType] ?? 'another'
    if (type !== 'SELECT' && type !== 'EXPLAIN') throw invalid('a SELECT', type)
    signal?.throwIfAborted()
    const reader = await prepared.runAndReadAll()
    return reader
      .getRowObjectsJS()
      .map((row) =>
        Object.fromEntries(Object.entries(row).map(([name, one]) => [name, plain(one)])),
      )
  } catch (cause) {
    signal?.throwIfAborted()
    if (cause instanceof TouchstoneError) throw cause
    const [said = 'an error'] = (cause as Error).message.split('\n')
    throw new TouchstoneError(
      'argument_invalid',
      `expected a query that DuckDB answers, got ${said}`,
      {
        where: 'query',
        cause,
      },
    )
  } finally {
    signal?.removeEventListener('abort', interrupt)
    clearInterval(interrupting)
  }
}

function invalid(expected: string, got: string): TouchstoneError {
  return new TouchstoneError('argument_invalid', `expected ${expected}, got ${got}`, {
    where: 'query',
  })
}

/** A value as JSON holds it: times as ISO text, whole numbers beyond 2^53 as text. */
function plain(value: unknown): Json {
  if (typeof value === 'bigint') {
    const number = Number(value)
    return Number.isSafeInteger(number) ? number : String(value)
  }
  if (value instanceof Date) return value.toISOString()
  if (typeof value === 'number') return Number.isFinite(value) ? value : null
  if (Array.isArray(value)) return value.map(plain)
  if (value instanceof Uint8Array) return Buffer.from(value).toString('base64')
  if (typeof value === 'object' && value !== null)
    return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, plain(one)]))
  return (value ?? null) as Json
}

/** See `Run.parquet`. */
export async function parquetOf(
  run: Run,
  path: string,
  options: { signal?: AbortSignal } = {},
): Promise<string> {
  requireText(path, 'a path', 'path')
  onlyMembers(options, ['signal'], 'options')
  const { signal } = options
  signal?.throwIfAborted()
  if (existsSync(path)) throw there(path)
  const { connection } = await filled(run, signal)
  const folder = temporaryFolder('parquet')
  try {
    // Under another name first: a file of that name is a whole one.
    const draft = join(folder, 'trials.parquet')
    await connection.run('COPY trials TO $1 (FORMAT parquet, COMPRESSION zstd)', [draft])
    writeNew(path, readFileSync(draft))
    return path
  } finally {
    connection.closeSync()
    await removeFolder(folder)
  }
}

function there(path: string): TouchstoneError {
  return new TouchstoneError('file_exists', 'expected a path where nothing is yet, got a file', {
    where: path,
  })
}
