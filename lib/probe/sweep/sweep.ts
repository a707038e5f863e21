/**
 * Testing many servers: bounded concurrency, one appended line per result, and going on where an
 * earlier sweep stopped.
 *
 * Memory does not grow with results: each is written and let go. What stays is one key and at most
 * one number per entry.
 */
import { onlyMembers } from '../../arguments.ts'
import { TouchstoneError } from '../../errors.ts'
import { progress } from '../../progress.ts'
import { signalOf } from '../../signal.ts'
import { ProbeResult } from '../connect/result.ts'
import { runTest, type Target } from '../connect/tasks.ts'
import { connectionSet, DEFAULT_SET, type Era } from '../judge/set.ts'
import { type Candidate, candidatesIn, type Skip } from './candidates.ts'
import type { Declaration } from './declaration.ts'
import { keyOf, lineOf, type OpenLog, openLog, type SweepLine } from './log.ts'
import { Sweep, Totals } from './totals.ts'

/** What a list may hold. Anything else is an entry too: it is skipped, and the skip is named. */
export type SweepEntry =
  | string
  | { url: string; transport?: 'streamable-http' | 'sse'; name?: string }
  | Declaration
  | { [member: string]: unknown }
  | readonly SweepEntry[]
  | null
  | number
  | boolean

export type SweepOptions = {
  /**
   * File that gets one JSON line per result and per skip. An existing one is gone on with: what it
   * holds of this set, or of this way to test servers of one's own, is not tested again.
   */
  log?: string | undefined
  /** Tests at a time, a whole number from 1 to 512. Default 16. */
  concurrency?: number
  /** The published set, `id@version`. Default `mcp-connection@1.0`. */
  set?: string | undefined
  /** Your own servers, outside the address rules. Default false. */
  local?: boolean
  /** Of your own servers: which protocol to speak. Default `legacy`. */
  era?: Era | 'auto' | undefined
  /** Of your own servers: the time of each test, ms. Default 60,000. */
  timeoutMs?: number | undefined
  signal?: AbortSignal | undefined
  /** Called with each result, in the order they end. */
  onResult?: ((result: ProbeResult, name: string | null) => void) | undefined
  /** Called with each entry that is not tested. */
  onSkip?: ((skip: Skip) => void) | undefined
}

const MEMBERS = [
  'log',
  'concurrency',
  'set',
  'local',
  'era',
  'timeoutMs',
  'signal',
  'onResult',
  'onSkip',
] as const

/**
 * Test many servers. Every entry ends as a result or as a skip with a reason, whatever it is.
 *
 * @param list    URLs, `{ url, transport, name }`, `server.json` declarations of any schema
 *   version, pages of a registry (`{ servers }`), configurations (`{ mcpServers }`); arrays,
 *   generators, async ones, or one such page by itself
 * @param options `log`, `concurrency` (default 16), `set`, `local`, `era`, `signal`, `onResult`,
 *   `onSkip`
 * @throws TouchstoneError `argument_invalid`; `set_unknown`; `file_unreadable` for a log that is
 *   not one; `file_unwritable` for one that another process writes; the signal's reason when it
 *   aborts, what is in the log by then stays
 * @example
 * const swept = await sweep(['https://localhost/mcp', 'https://10.0.0.1/mcp', 'https://localhost/mcp', null])
 * swept.outcomes // { refused: 2 }
 * swept.skips // { same_server: 1, not_an_entry: 1 }
 */
export async function sweep(
  list: Iterable<SweepEntry> | AsyncIterable<SweepEntry> | { [member: string]: unknown },
  options: SweepOptions = {},
): Promise<Sweep> {
  onlyMembers(options, MEMBERS, 'options')
  const { concurrency = 16, local = false, log } = options
  const signal = signalOf(options.signal)
  if (!Number.isInteger(concurrency) || concurrency < 1 || concurrency > 512) {
    throw invalid(`expected a whole number from 1 to 512, got ${concurrency}`, 'concurrency')
  }
  if (local && options.set !== undefined) {
    throw invalid('expected no set for servers of your own', 'set')
  }
  const set = local ? null : connectionSet(options.set ?? DEFAULT_SET)
  const test = set ? `${set.name.id}@${set.name.version}` : `own ${options.era ?? 'legacy'}`
  const source = iteratorOf(list)
  const totals = new Totals()
  const inLog = new Set<string>()
  const seen = new Set<string>()
  const told = new Set<string>()
  const open: OpenLog | null =
    log === undefined
      ? null
      : await openLog(log, (line) => {
          // Lines of another test are another result, and count for nothing here.
          if (line.test !== test) return
          if (line.schema === 'touchstone.sweep.skip.v0') {
            told.add(skipKey(line))
            return
          }
          inLog.add(keyOf(test, line.transport, line.subject))
          totals.add(line)
        })
  const length = Array.isArray(list) ? candidatesOf(list) : 0
  const bar = length > 0 ? progress(length, 'servers', { failures: 'not answered' }) : null

  const skip = (what: Skip) => {
    totals.skip(what.reason)
    bar?.tick()
    options.onSkip?.(what)
    const key = skipKey(what)
    if (what.reason === 'in_log' || told.has(key)) return
    told.add(key)
    open?.append({ schema: 'touchstone.sweep.skip.v0', test, ...what })
  }
  const attempt = async (candidate: Candidate, entry: number) => {
    const { url, transport, name } = candidate
    const key = keyOf(test, transport, url)
    if (seen.has(key) || inLog.has(key)) {
      skip({ reason: seen.has(key) ? 'same_server' : 'in_log', entry, name, subject: url })
      return
    }
    seen.add(key)
    const findings = await runTest(targetOf(candidate, options), {}, signal)
    const result = new ProbeResult(url, transport, set?.name ?? null, findings)
    const line: SweepLine = lineOf(result, candidate, test)
    open?.append(line)
    totals.add(line)
    totals.tested++
    options.onResult?.(result, name)
    bar?.tick(result.outcome !== 'answered')
  }

  let failed = false
  // A candidate of a page is work of its own, so that one page with a thousand servers is tested as
  // a thousand entries are.
  const pending = flatten(source)
  const work = async () => {
    try {
      while (!failed) {
        signal?.throwIfAborted()
        const { value, done } = await pending.next()
        if (done) return
        if ('reason' in value.one) skip(value.one)
        else await attempt(value.one, value.entry)
      }
    } catch (error) {
      // A list, a callback or a log that fails ends the whole sweep, and not this one worker.
      failed = true
      throw error
    }
  }
  // All workers come to an end before a failure is passed on: no test runs on behind the caller's
  // back.
  const workers = await Promise.allSettled(Array.from({ length: concurrency }, work))
  bar?.stop()
  open?.close()
  for (const worker of workers) if (worker.status === 'rejected') throw worker.reason
  return new Sweep({ ...totals.toJSON(), set: set?.name ?? null, log: log ?? null })
}

function targetOf({ url, transport }: Candidate, options: SweepOptions): Target {
  const { local = false, set, era, timeoutMs } = options
  return local
    ? { url, transport, local, era, timeoutMs }
    : { url, transport, local, ...(set === undefined ? {} : { set }) }
}

/** How many servers and skips are in a list. */
function candidatesOf(list: readonly unknown[]): number {
  let n = 0
  list.forEach((value, entry) => {
    for (const _ of candidatesIn(value, entry)) n++
  })
  return n
}

async function* flatten(
  source: AsyncIterator<unknown> | Iterator<unknown>,
): AsyncGenerator<{ one: Candidate | Skip; entry: number }> {
  for (let entry = 0; ; entry++) {
    const { value, done } = await source.next()
    if (done) return
    for (const one of candidatesIn(value, entry)) yield { one, entry }
  }
}

/** A text is one entry and not a list of letters, and so is a page. */
function iteratorOf(list: unknown): AsyncIterator<unknown> | Iterator<unknown> {
  const given = list as Iterable<unknown> | AsyncIterable<unknown> | string | null | undefined
  if (typeof given === 'object' && given !== null) {
    if (Symbol.asyncIterator in given) return given[Symbol.asyncIterator]()
    return Symbol.iterator in given ? given[Symbol.iterator]() : [list][Symbol.iterator]()
  }
  if (typeof given === 'string') return [given][Symbol.iterator]()
  throw invalid('expected a list of servers, got none', 'list')
}

function skipKey({ reason, name, subject, entry }: Skip): string {
  return JSON.stringify([reason, name, subject, subject === null && name === null ? entry : null])
}

function invalid(message: string, where: string): TouchstoneError {
  return new TouchstoneError('argument_invalid', message, { where: `options.${where}` })
}
