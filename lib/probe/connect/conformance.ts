/**
 * Negative requests for a server of one's own, by the set `mcp-stateless-conformance 1.0`: does it
 * refuse what revision 2026-07-28 says that it must refuse, with the status and the code that it
 * says?
 *
 * Not a connection test, and never sent to a stranger's server.
 */
import { onlyMembers } from '../../arguments.ts'
import { count, foreign, type Look, table, tone } from '../../display.ts'
import { TouchstoneError } from '../../errors.ts'
import { get } from '../../scenario/index.ts'
import { keepHeaders, shownAddress } from '../../secrets.ts'
import { Shown } from '../../shown.ts'
import { signalOf } from '../../signal.ts'
import { deadline } from '../judge/deadline.ts'
import { type Detail, SAYS, shortfallOf } from '../judge/outcome.ts'
import { headersOf, nameOf, type SetName } from '../judge/set.ts'
import { checkLocalUrl, dialled } from '../judge/url.ts'
import { abandon } from '../wire/body.ts'
import { type Line, openLine } from '../wire/dial.ts'
import { exchange } from '../wire/exchange.ts'
import { envelope } from './modern-tasks.ts'

const NAME = 'mcp-stateless-conformance@1.0'

type ConformanceSet = {
  title: string
  client: { name: string; version: string; protocolVersion: string }
  limits: { timeoutMs: number; stepMs: number; maxResponseBytes: number }
  tasks: Check[]
}

/** One request of the set, as data. */
type Check = {
  id: string
  label: string
  demand: 'MUST' | 'SHOULD'
  /** What differs from a right `server/discover`. */
  sends: {
    httpMethod?: 'GET' | 'DELETE'
    method?: string
    headers?: { [name: string]: string | null }
    meta?: { [name: string]: string | null } | null
  }
  expects: { httpStatus: number; rpcCode?: number; supportedVersions?: true }
}

export type ConformanceCheck = {
  id: string
  label: string
  demand: 'MUST' | 'SHOULD'
  passed: boolean
  httpStatus: number | null
  rpcCode: number | null
  /** What the specification demands, such as `400, code -32020`. */
  expected: string
  /** Why no status is known; null when one came. */
  detail: Detail | null
}

export type ConformanceData = {
  schema: 'touchstone.conformance.v0'
  set: SetName
  subject: string
  checks: ConformanceCheck[]
  passed: number
  startedAt: string
}

/** What a server made of each request of the set. */
export class Conformance extends Shown implements ConformanceData {
  readonly schema = 'touchstone.conformance.v0'
  readonly set: SetName
  readonly subject: string
  readonly checks: ConformanceCheck[]
  readonly passed: number
  readonly startedAt: string

  constructor(data: Omit<ConformanceData, 'schema'>) {
    super()
    this.set = data.set
    this.subject = data.subject
    this.checks = data.checks
    this.passed = data.passed
    this.startedAt = data.startedAt
  }

  toJSON(): ConformanceData {
    return { ...this }
  }

  text(look: Look = {}): string {
    const rows = this.checks.map((check) => [
      check.passed ? tone('✓', 'good', look) : tone('✗', 'bad', look),
      check.label,
      said(check.httpStatus, check.rpcCode) || (check.detail ? SAYS[check.detail] : ''),
      check.expected,
      check.demand,
    ])
    const heads = [
      { head: '' },
      { head: 'request', min: 20 },
      { head: 'answer', min: 12 },
      { head: 'demanded', min: 12 },
      { head: '' },
    ]
    return [
      `${tone(foreign(this.subject), 'strong', look)}  ${this.set.id} ${this.set.version}`,
      table(heads, rows, look),
      `${this.passed} of ${count(this.checks.length, 'check')} passed`,
    ].join('\n')
  }
}

export type ConformanceOptions = {
  /** Headers that every request carries, such as a key. */
  headers?: Record<string, string>
  /** An authority to trust beside the system's, PEM. */
  ca?: string
  signal?: AbortSignal | undefined
}

/**
 * Send the requests of `mcp-stateless-conformance 1.0` to a server of your own, one after the
 * other. What it demands are statuses and headers of HTTP: a server over stdio has none of them.
 *
 * @param url http or https, at any address
 * @throws TouchstoneError `argument_invalid` for what is no http or https URL
 * @see scenarios/mcp-stateless-conformance/1.0.json
 * @example
 * conformance('ftp://127.0.0.1/') // throws argument_invalid
 */
export async function conformance(
  url: string,
  options: ConformanceOptions = {},
): Promise<Conformance> {
  const { allowed } = checkLocalUrl(url)
  if (!allowed) {
    throw new TouchstoneError(
      'argument_invalid',
      `expected an http or https URL, since the set is of statuses and headers of HTTP, got ${foreign(String(url))}`,
      { where: 'url' },
    )
  }
  onlyMembers(options, ['headers', 'ca', 'signal'], 'options')
  keepHeaders(options.headers ?? {})
  const signal = signalOf(options.signal)
  const published = get(NAME)
  const set = published.set as unknown as ConformanceSet
  const startedAt = new Date().toISOString()
  const clock = deadline(set.limits.timeoutMs, signal)
  const line = await openLine({ local: true, signal: clock.signal, seams: {}, ca: options.ca })
  const checks: ConformanceCheck[] = []
  try {
    for (const [i, check] of set.tasks.entries()) {
      checks.push(await run(check, i + 1, { url: dialled(url), line, clock, set, options }))
      signal?.throwIfAborted()
    }
  } finally {
    clock.stop()
    await line.close()
  }
  const passed = checks.filter((check) => check.passed).length
  const subject = shownAddress(url)
  return new Conformance({ set: nameOf(published), subject, checks, passed, startedAt })
}

async function run(
  check: Check,
  id: number,
  to: {
    url: URL
    line: Line
    clock: ReturnType<typeof deadline>
    set: ConformanceSet
    options: ConformanceOptions
  },
): Promise<ConformanceCheck> {
  const { id: name, label, demand, expects } = check
  const found = await answerTo(check, id, to)
  const { httpStatus, rpcCode, supported } = found
  const passed =
    httpStatus === expects.httpStatus &&
    (expects.rpcCode === undefined || rpcCode === expects.rpcCode) &&
    (expects.supportedVersions !== true || supported)
  const list = expects.supportedVersions ? ', data.supported' : ''
  const expected = `${said(expects.httpStatus, expects.rpcCode ?? null)}${list}`
  return { id: name, label, demand, passed, httpStatus, rpcCode, expected, detail: found.detail }
}

type Found = Pick<ConformanceCheck, 'httpStatus' | 'rpcCode' | 'detail'> & { supported: boolean }

async function answerTo(
  { sends }: Check,
  id: number,
  { url, line, clock, set, options }: Parameters<typeof run>[2],
): Promise<Found> {
  const { method = 'server/discover' } = sends
  const right: { [name: string]: string } = {
    ...headersOf(set.client, options.headers),
    accept: 'application/json, text/event-stream',
    'mcp-protocol-version': set.client.protocolVersion,
    'mcp-method': method,
  }
  const headers = changed(right, sends.headers)
  try {
    if (sends.httpMethod) {
      const signal = clock.within(set.limits.stepMs)
      const label = sends.httpMethod
      const reply = await line.send(url, { method: label, headers, signal, label, fresh: true })
      await abandon(reply.body)
      return { httpStatus: reply.httpStatus, rpcCode: null, supported: false, detail: null }
    }
    const _meta = sends.meta === null ? undefined : changed(envelope(set.client), sends.meta)
    const body = JSON.stringify({ jsonrpc: '2.0', id, method, params: { _meta } })
    const reading = { maxBytes: set.limits.maxResponseBytes, count: () => {} }
    const { reply, answer } = await exchange(
      line,
      url,
      { headers: { ...headers, 'content-type': 'application/json' }, body, method, fresh: true },
      { id, reading, clock, patienceMs: set.limits.stepMs },
    )
    const rpc = answer?.error ?? null
    return {
      httpStatus: reply.httpStatus,
      rpcCode: rpc?.code ?? null,
      supported: (rpc?.supported.length ?? 0) > 0,
      detail: null,
    }
  } catch (error) {
    return { httpStatus: null, rpcCode: null, supported: false, detail: shortfallOf(error).detail }
  }
}

/** Members replaced, and those that are null taken out. */
function changed<T extends object>(right: T, by: { [name: string]: string | null } = {}): T {
  const kept = Object.entries({ ...right, ...by }).filter(([, value]) => value !== null)
  return Object.fromEntries(kept) as T
}

function said(httpStatus: number | null, rpcCode: number | null): string {
  if (httpStatus === null) return ''
  return rpcCode === null ? String(httpStatus) : `${httpStatus}, code ${rpcCode}`
}
