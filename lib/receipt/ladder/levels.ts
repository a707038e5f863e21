/**
 * Levels re-derived from evidence: each call on the rung that the bytes at hand support, and not
 * higher.
 *
 * The stored level is compared, never trusted. Calls and records meet by digest, so the cost is
 * linear in both.
 */
import { gotShape, onlyMembers, requireAwaited, requireWord } from '../../arguments.ts'
import { TouchstoneError } from '../../errors.ts'
import { readBytes } from '../../files.ts'
import { isObject, parse } from '../../json.ts'
import { documentsIn, isDocument, type Line, linesIn, streamLines, textOf } from '../../lines.ts'
import { type Audit, type AuditOptions, type Evidence, evidenceOf } from '../audit/evidence.ts'
import { compacting } from '../audit/strings.ts'
import { dayOf, instantOf } from '../audit/time.ts'
import { unpack } from '../audit/unpack.ts'
import { rank } from '../surface/call.ts'
import {
  decisionsIn,
  LEVELS,
  type Level,
  type ReadDecision,
  readDecision,
  type Surface,
} from '../surface/decision.ts'
import { type Ledger, usedIn } from './ledger.ts'
import type { Report, Unread } from './report.ts'
import { derive } from './rungs.ts'

/** ISO 8601 times or epoch milliseconds, both inclusive. */
export type Window = { from?: string | number; to?: string | number }

export type VerifyOptions = {
  /** Audit evidence: paths, provider exports as bytes, imports, or records. Default none. */
  audit?: Audit
  /**
   * How exports that are given as paths are read: provider, scope, server, CloudTrail's digest
   * files and keys.
   */
  auditOptions?: AuditOptions
  /**
   * Records that occurred outside are refused, and so are those without a time. Default: any time.
   */
  window?: Window
  /** Records that earlier receipts used. */
  ledger?: Ledger
  /**
   * How long after its call a record may be logged, where both have a time. Default 24 hours.
   * Before the answer it may lie by a quarter of an hour at most, for clocks that differ and calls
   * that last, except where the answer names its request.
   */
  toleranceMs?: number
  /** Level that every claiming call is to reach; the report's `min_level.met` says whether. */
  minLevel?: Level
}

/**
 * Decisions, a surface, a surface's or NDJSON file's path, or anything with `decisions`, such as a
 * run.
 */
export type Decisions = string | Surface | readonly unknown[] | { decisions: readonly unknown[] }

/**
 * Derive each call's level from scratch.
 *
 * A call is `verified` only when it asserted success, an imported record's digest recomputes, and
 * the same digest comes from the call's own action. It is `observed_confirmed` only by a later read
 * of the same run that shows the effect. One record serves one call. Everything that did not count
 * is listed with its reason. The same inputs in any order give the same report.
 *
 * A line of a file that is no decision stands in the report's `unread`, and the report is not `ok`.
 *
 * @throws TouchstoneError `surface_invalid`, `record_invalid`, `export_invalid`,
 *   `argument_invalid`, `file_unreadable` and the `json_*` codes for input that cannot be read, and
 *   for a file without one decision; never for evidence that is only bad
 * @example
 * const call = receipt.observe({
 *   server: 'github', tool: 'add_deploy_key', status: 'success', runId: 'run-1', seq: 0,
 *   arguments: { owner: 'org', repo: 'prod-repo', title: 'ci-key' },
 * })
 * verify([call]).weakest // { state: 'rung', level: 'asserted' }
 * const bytes = '[{"action":"public_key.create","_document_id":"e1","repo":"org/prod-repo","title":"ci-key"}]'
 * verify([call], { audit: { provider: 'github', bytes } }).weakest // { state: 'rung', level: 'verified' }
 */
export function verify(decisions: Decisions, options: VerifyOptions = {}): Report {
  const checked = optionsOf(options)
  if (typeof decisions === 'string' && NDJSON.test(decisions)) {
    const read = new Reading(decisions)
    for (const line of linesIn(unpack(readBytes(decisions), decisions))) read.line(line)
    return judged(read.end(), options, checked)
  }
  const calls: ReadDecision[] = []
  for (const { value, where } of decisionsOf(decisions)) calls.push(readDecision(value, where))
  return judged({ calls }, options, checked)
}

/**
 * Like `verify`, for an NDJSON file of decisions too large to hold as text: it is read line by
 * line, gzipped or not, and of each decision only what levels rest on is kept.
 *
 * @param path one decision per line, or one surface per line; a file whose first line is not a
 *   whole document is read as one
 */
export async function verifyStream(
  path: string,
  options: VerifyOptions & { signal?: AbortSignal } = {},
): Promise<Report> {
  const checked = optionsOf(options)
  if (typeof path !== 'string' || path.includes('\0'))
    throw new TouchstoneError('argument_invalid', `expected a path, ${gotShape(path)}`, {
      where: 'path',
    })
  const read = new Reading(path, compacting())
  for await (const one of streamLines(path, { signal: options.signal })) {
    if (one.line === 1 && !NDJSON.test(path)) {
      const text = textOf(one, path)
      if (text.trim() !== '' && !isDocument(text)) return verify(path, options)
    }
    read.line(one)
  }
  return judged(read.end(), options, checked)
}

/** Lines of which the report tells the place and the reason; the others are counted. */
const MOST_UNREAD = 20

/** The decisions of a file's lines, with the lines that hold none. */
class Reading {
  private readonly path: string
  private readonly compact: (one: ReadDecision) => ReadDecision
  private readonly calls: ReadDecision[] = []
  private readonly unread: Unread = { lines: 0, first: [] }
  private refused: TouchstoneError | null = null

  constructor(path: string, compact = (one: ReadDecision) => one) {
    this.path = path
    this.compact = compact
  }

  line(one: Line): void {
    const where = `${this.path}:${one.line}`
    try {
      const text = textOf(one, this.path)
      if (text.trim() === '') return
      const read = decisionsIn(parse(text, where), where).map((value) => readDecision(value, where))
      for (const call of read) this.calls.push(this.compact(call))
    } catch (error) {
      if (!(error instanceof TouchstoneError)) throw error
      this.refused ??= error
      this.unread.lines++
      if (this.unread.first.length < MOST_UNREAD)
        this.unread.first.push({
          where: error.where ?? where,
          reason: `${error.code}: ${error.message}`,
        })
    }
  }

  /** @throws the refusal of the first line, where no line is a decision: the file is another one */
  end(): { calls: ReadDecision[]; unread: Unread } {
    const { calls, unread, refused } = this
    if (calls.length === 0 && refused) throw refused
    return { calls, unread }
  }
}

function judged(
  { calls, unread = { lines: 0, first: [] } }: { calls: ReadDecision[]; unread?: Unread },
  options: VerifyOptions,
  checked: ReturnType<typeof optionsOf>,
): Report {
  const evidence = recordsOf(evidenceOf(options.audit, options.auditOptions))
  return derive(calls, { ...evidence, unread }, checked)
}

function recordsOf(evidence: Evidence) {
  const records = evidence.records.toSorted((a, b) =>
    rank([a.provider, b.provider], [a.id, b.id], [a.order, b.order]),
  )
  const imports = evidence.imports.toSorted((a, b) =>
    rank([a.source.name, b.source.name], [a.source.digest, b.source.digest]),
  )
  const failures = evidence.failures.toSorted(({ record: a }, { record: b }) =>
    rank([a.provider, b.provider], [a.id, b.id], [a.order, b.order]),
  )
  return { records, failures, imports, ignored: evidence.ignored }
}

/** Clocks differ, logs are written late, and a run may last: a day is too far for none of these. */
const TOLERANCE_MS = 24 * 60 * 60 * 1000

const OPTIONS = ['audit', 'auditOptions', 'window', 'ledger', 'minLevel', 'toleranceMs', 'signal']

function optionsOf(options: VerifyOptions) {
  // A window or level that is misspelt and left out would let through what it was to keep out.
  onlyMembers(options, OPTIONS, 'options')
  const { window, ledger, minLevel, toleranceMs = TOLERANCE_MS } = options
  if (!Number.isFinite(toleranceMs) || toleranceMs < 0)
    throw new TouchstoneError(
      'argument_invalid',
      `expected milliseconds >= 0, got ${String(toleranceMs)}`,
      { where: 'toleranceMs' },
    )
  if (options.auditOptions !== undefined)
    onlyMembers(
      options.auditOptions,
      ['provider', 'scope', 'server', 'digests', 'publicKey'],
      'auditOptions',
    )
  if (window !== undefined) onlyMembers(window, ['from', 'to'], 'window')
  if (minLevel !== undefined) requireWord(minLevel, 'a level', LEVELS, 'minLevel')
  const from = timeOf(window?.from, 'window.from')
  const to = timeOf(window?.to, 'window.to')
  if (from !== null && to !== null && from > to)
    throw new TouchstoneError(
      'argument_invalid',
      'expected window.from <= window.to, got the reverse',
      {
        where: 'window',
      },
    )
  return {
    window: window ? { from, to } : null,
    used: usedIn(ledger),
    minLevel: minLevel ?? null,
    toleranceMs,
  }
}

function timeOf(value: string | number | undefined, where: string): number | null {
  if (value === undefined) return null
  const at = typeof value === 'string' ? (instantOf(value) ?? dayOf(value)) : value
  if (typeof at === 'number' && Number.isFinite(at) && Math.abs(at) <= 8.64e15) return at
  const got =
    typeof value === 'string' ? `"${value}"` : typeof value === 'number' ? value : typeof value
  const expected = 'an ISO 8601 time with its distance from UTC, a day, or epoch milliseconds'
  throw new TouchstoneError('argument_invalid', `expected ${expected}, got ${got}`, { where })
}

/** Each decision of the input, unread, with its place. */
export function* decisionsOf(input: Decisions): Generator<{ value: unknown; where: string }> {
  requireAwaited(input, 'decisions', 'decisions')
  if (typeof input === 'string') return yield* decisionsInFile(input)
  const run = isObject(input) && 'decisions' in input && !('observed_tool_decisions' in input)
  const list = decisionsIn(run ? input['decisions'] : input)
  for (const [i, value] of list.entries()) yield { value, where: `decisions[${i}]` }
}

function* decisionsInFile(path: string): Generator<{ value: unknown; where: string }> {
  const bytes = unpack(readBytes(path), path)
  const documents = /\.(nd)?jsonl?(\.gz)?$/.test(path)
    ? documentsIn(bytes, path)
    : [{ value: parse(bytes, path), line: null }]
  for (const { value: document, line } of documents) {
    const place = line === null ? path : `${path}:${line}`
    for (const [i, value] of decisionsIn(document, place).entries())
      yield { value, where: line === null ? `${path}: observed_tool_decisions[${i}]` : place }
  }
}

/** Files of one document per line, by their name. */
const NDJSON = /\.(ndjson|jsonl)(\.gz)?$/
