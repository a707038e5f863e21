/**
 * Why a provider did not answer a model call, and what follows from it: wait, try again, stop the
 * run, or count it against the model.
 *
 * Sources: Groq's documentation of rate limits, flex processing and errors; RetryInfo and
 * QuotaFailure of google.rpc (error_details.proto) as the Gemini API sends them;
 * fixtures/harness/rate-limits.json.
 */
import type { JsonObject } from '../../json.ts'
import { redacted } from '../../secrets.ts'
import { reasonOf } from '../wire/mcp.ts'

/**
 * `limit`: wait as told, then ask again. `capacity`: the provider is full, ask again later.
 * `transient`: it may work the next time. `outcome`: the model's own doing. `final`: asking again
 * gives the same. `halt`: no other call will get through either.
 */
export type RefusalKind = 'limit' | 'capacity' | 'transient' | 'outcome' | 'final' | 'halt'

export type Refusal = {
  kind: RefusalKind
  /** A stable word, recorded as the trial's error. */
  code: string
  /** HTTP status, or null where there was no answer. */
  status: number | null
  message: string
  /** How long the provider asks to wait, or null where it does not say. */
  waitMs: number | null
  headers: { [name: string]: string }
}

/** The run cannot go on: no call would get through. What is finished is kept. */
export class RunHalted extends Error {
  readonly code: string
  constructor(code: string, message: string) {
    super(message)
    this.name = 'RunHalted'
    this.code = code
  }
}

/** Put a failed model call into its class. `now` is needed for a Retry-After that is a date. */
export function refusalOf(cause: unknown, now = Date.now()): Refusal {
  const error = (cause ?? {}) as {
    statusCode?: unknown
    responseHeaders?: { [name: string]: string }
    responseBody?: unknown
    isRetryable?: unknown
    name?: unknown
  }
  const headers = error.responseHeaders ?? {}
  const status = typeof error.statusCode === 'number' ? error.statusCode : null
  const body = bodyOf(error.responseBody)
  const message = `${status === null ? '' : `HTTP ${status}: `}${body.message ?? reasonOf(cause)}`
  const refusal = (kind: RefusalKind, code: string, waitMs: number | null = null): Refusal => ({
    kind,
    code,
    status,
    message: redacted(message).slice(0, 300).toWellFormed(),
    waitMs,
    headers,
  })
  if (status === 400 && body.code === 'tool_use_failed') {
    return refusal('outcome', 'tool_use_failed')
  }
  if (status !== null && status >= 400 && status < 500 && isContextFull(body.code, message))
    return refusal('outcome', 'context_exceeded')
  if (status === 429) {
    if (body.perDay || isDayLimit(message)) return refusal('halt', 'day_limit')
    if (body.code === 'insufficient_quota') return refusal('halt', 'quota_exhausted')
    return refusal('limit', 'rate_limited', waitOf(headers, message, now) ?? body.waitMs)
  }
  if (status === 498) return refusal('capacity', 'capacity_exceeded', waitOf(headers, '', now))
  if (status === 413) return refusal('final', 'request_too_large')
  if (status === 401 || status === 403) return refusal('halt', 'credentials_refused')
  if (status === 404) return refusal('halt', 'model_not_found')
  if (status !== null && (status >= 500 || status === 408 || status === 409)) {
    return refusal('transient', 'provider_failed', waitOf(headers, '', now))
  }
  if (status !== null && status >= 400) return refusal('final', 'request_refused')
  if (error.isRetryable === true) return refusal('transient', 'provider_unreachable')
  return refusal('final', 'model_error')
}

/** The error a provider's body speaks of. */
type Told = {
  code: string | null
  message: string | null
  /** Google says how long to wait in the body. */
  waitMs: number | null
  /** Google names the quota in the body: `GenerateRequestsPerDayPerProjectPerModel-FreeTier`. */
  perDay: boolean
}

/** Groq's `code` is lost in the SDK's parsed form, so the text is read again. */
function bodyOf(text: unknown): Told {
  const nothing = { code: null, message: null, waitMs: null, perDay: false }
  if (typeof text !== 'string') return nothing
  try {
    const { error } = JSON.parse(text) as { error?: JsonObject }
    const word = (value: unknown) => (typeof value === 'string' ? value : null)
    const given = error?.['details']
    const details = (Array.isArray(given) ? given : []) as { [member: string]: unknown }[]
    const of = (type: string) =>
      details.filter((one) => one?.['@type'] === `type.googleapis.com/google.rpc.${type}`)
    const delay = word(of('RetryInfo')[0]?.['retryDelay'])
    const quotas = of('QuotaFailure').flatMap(({ violations }) =>
      (Array.isArray(violations) ? violations : []).map((one) => word(one?.quotaId) ?? ''),
    )
    return {
      code: word(error?.['code']) ?? word(error?.['type']),
      message: word(error?.['message']),
      waitMs: delay === null ? null : durationMs(delay),
      perDay: quotas.some((id) => id.includes('PerDay')),
    }
  } catch {
    return nothing
  }
}

/**
 * The conversation is longer than the model takes: the agent has flooded itself. By code (OpenAI,
 * Groq, llama.cpp) or, where the provider gives none of its own, by its words (Anthropic, Google,
 * vLLM).
 */
function isContextFull(code: string | null, message: string): boolean {
  return (
    code === 'context_length_exceeded' ||
    code === 'exceed_context_size_error' ||
    /prompt is too long|input token count .* exceeds|maximum context length|available context size/i.test(
      message,
    )
  )
}

/** Limits per day are not waited for. Groq names them in the message: `tokens per day (TPD)`. */
function isDayLimit(message: string): boolean {
  return /\bper day\b|\((RPD|TPD|ITPD|OTPD)\)/i.test(message)
}

/**
 * How long a provider asks to wait: `retry-after-ms`, `retry-after` (seconds, a date, or a duration
 * such as `7m12s`), or the words of its message.
 */
export function waitOf(
  headers: { [name: string]: string },
  message: string,
  now: number,
): number | null {
  const ms = Number(headers['retry-after-ms'])
  if (headers['retry-after-ms'] && Number.isFinite(ms) && ms >= 0) return ms
  const after = headers['retry-after']
  if (after !== undefined && after.trim() !== '') {
    const seconds = Number(after)
    if (Number.isFinite(seconds) && seconds >= 0) return seconds * 1000
    const date = Date.parse(after)
    if (Number.isFinite(date)) return Math.max(0, date - now)
    const long = durationMs(after)
    if (long !== null) return long
  }
  const words = /try again in ([0-9hms.]+)/i.exec(message)
  return words ? durationMs(words[1] as string) : null
}

/** `2m59.56s`, `7.66s`, `120ms`, `1h2m` in milliseconds, or null for anything else. */
export function durationMs(text: string): number | null {
  const parts = /^(?:(\d+)h)?(?:(\d+)m(?!s))?(?:(\d+(?:\.\d+)?)s)?(?:(\d+(?:\.\d+)?)ms)?\.?$/.exec(
    text.trim(),
  )
  if (!parts || parts.slice(1).every((part) => part === undefined)) return null
  const [h = 0, m = 0, s = 0, ms = 0] = parts.slice(1).map((part) => Number(part ?? 0))
  return h * 3_600_000 + m * 60_000 + s * 1000 + ms
}
