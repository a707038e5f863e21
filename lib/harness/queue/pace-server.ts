/**
 * Where a shared pace is kept: on the server of a run's queue, over connections of its own. A
 * server that does not answer in seconds is one that cannot be asked, since model calls wait for
 * it.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Redis } from 'ioredis'
import { kindOf, packageOf } from './driver.ts'
import { CHANNEL, type Change, changeIn, LUA, type PaceServer, SQL } from './pace-rules.ts'

const LONGEST_ANSWER_MS = 5000
/** How long the first connection is waited for: without one nothing is known of any pace. */
const LONGEST_START_MS = 15_000
const AGAIN_MS = 500

type Told = (change: Change) => void

/**
 * The pace on a queue's server. It need not be there: it is connected to again and again.
 *
 * @param changed told of each change, also those that others made
 * @throws TouchstoneError `argument_invalid`, `dependency_missing`
 */
export function paceServer(url: string, changed: Told): PaceServer {
  return kindOf(url) === 'redis' ? overRedis(url, changed) : new OverPostgres(url, changed)
}

function overRedis(url: string, changed: Told): PaceServer {
  const { Redis } = packageOf('redis', 'ioredis') as typeof import('ioredis')
  const options = {
    maxRetriesPerRequest: 0,
    enableOfflineQueue: false,
    retryStrategy: () => AGAIN_MS,
  }
  const asking = new Redis(url, { ...options, commandTimeout: LONGEST_ANSWER_MS })
  // A subscription waits for its server, and is made again when that comes back.
  const hearing = new Redis(url, {
    ...options,
    enableOfflineQueue: true,
    maxRetriesPerRequest: null,
  })
  for (const one of [asking, hearing]) one.on('error', () => {})
  hearing.on('message', (_, text) => changed(changeIn(text.slice(PREFIX.length))))
  hearing.subscribe(CHANNEL).catch(() => {})
  const ready = new Promise<void>((resolve) => asking.once('ready', resolve))
  const begun = Promise.race([ready, sleep(LONGEST_START_MS, undefined, { ref: false })])
  asking.defineCommand('pace', { numberOfKeys: 1, lua: LUA })
  const paced = asking as Redis & { pace(...words: (string | number)[]): Promise<string[]> }
  return {
    async ask(account, numbers) {
      await begun
      const texts = await paced.pace(`${PREFIX}${account}`, ...numbers)
      return texts.map(Number)
    },
    async close() {
      asking.disconnect()
      hearing.disconnect()
    },
  }
}

const PREFIX = 'touchstone:pace:'

/** What is used of `pg`. */
type Client = {
  connect(): Promise<void>
  query(text: string | object, values?: unknown[]): Promise<{ rows: { numbers: number[] }[] }>
  on(event: string, hear: (told: { payload?: string }) => void): void
  end(): Promise<void>
}

const TABLE = `
SELECT pg_advisory_lock(73250617);
CREATE SCHEMA IF NOT EXISTS touchstone;
CREATE UNLOGGED TABLE IF NOT EXISTS touchstone.pace (
  account text PRIMARY KEY, numbers float8[] NOT NULL, at timestamptz NOT NULL DEFAULT now()
) WITH (fillfactor = 50);
DELETE FROM touchstone.pace WHERE at < now() - interval '1 hour';
SELECT pg_advisory_unlock(73250617);
SET synchronous_commit = off;
${SQL};
LISTEN ${CHANNEL}`

class OverPostgres implements PaceServer {
  private readonly url: string
  private readonly changed: Told
  private client: Client | null = null
  private closed = false
  /** What is asked already. */
  private before: Promise<unknown>

  constructor(url: string, changed: Told) {
    this.url = url
    this.changed = changed
    this.before = Promise.race([this.connect(), sleep(LONGEST_START_MS, undefined, { ref: false })])
  }

  private async connect(): Promise<void> {
    const { Client } = packageOf('postgres', 'pg') as { Client: new (config: object) => Client }
    const client = new Client({
      connectionString: this.url,
      keepAlive: true,
      connectionTimeoutMillis: LONGEST_ANSWER_MS,
      query_timeout: LONGEST_ANSWER_MS,
    })
    const gone = () => {
      if (this.client === client) this.client = null
    }
    client.on('error', gone)
    client.on('end', () => {
      gone()
      if (!this.closed) sleep(AGAIN_MS, undefined, { ref: false }).then(() => this.connect())
    })
    client.on('notification', ({ payload }) => this.changed(changeIn(payload ?? '')))
    try {
      await client.connect()
      await client.query({ text: TABLE, query_timeout: LONGEST_START_MS })
      this.client = client
    } catch {
      await client.end().catch(() => {})
    }
  }

  ask(account: string, numbers: readonly number[]): Promise<number[]> {
    // A connection takes one query at a time.
    const answer = this.before.then(async () => {
      if (this.client === null) throw new Error('no connection')
      const text = 'SELECT pg_temp.touchstone_pace($1, $2) AS numbers'
      const { rows } = await this.client.query(text, [account, numbers])
      return (rows[0] as { numbers: number[] }).numbers
    })
    this.before = answer.catch(() => {})
    return answer
  }

  async close(): Promise<void> {
    this.closed = true
    await this.before
    await this.client?.end().catch(() => {})
  }
}
