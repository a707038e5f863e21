/**
 * What a provider's answer tells of its limits: how many requests and tokens it lets through in how
 * long, and how many are left.
 *
 * Sources: Anthropic's "Rate limits" (`anthropic-ratelimit-*`, a reset is an RFC 3339 time, limits
 * are per minute), OpenAI's "Rate limits in headers" and Groq's "Rate limits" (`x-ratelimit-*`, a
 * reset is a duration such as `6m0s`; Groq's requests are those of a day), and
 * draft-ietf-httpapi-ratelimit-headers (`RateLimit`, `RateLimit-Policy`). Google and Ollama send
 * none. fixtures/harness/rate-limits.json has an answer of each.
 */
import { durationMs } from './provider-refusal.ts'

/** What providers count. All lists of numbers of calls are in this order. */
export const COUNTED = ['requests', 'tokens', 'input', 'output'] as const
/** How many of each: requests, tokens, and of the tokens what goes in and what comes out. */
export type Counts = readonly [number, number, number, number]

/** A limit that refills: `limit` in `windowMs`, of which `remaining` are left. */
export type Quota = { limit: number; remaining: number; windowMs: number }
/** By place in `COUNTED`; null: not told. */
export type Told = readonly (Quota | null)[]

type Headers = { readonly [name: string]: string | undefined }

const MINUTE_MS = 60_000
/** Windows longer than this are not paced: what is left is used, and then the provider says so. */
const LONGEST_WINDOW_MS = 600_000

/** What the headers of an answer or of a refusal tell. Names are in lower case. */
export function toldLimits(headers: Headers): Told {
  const told = COUNTED.map((what) => ofAnthropic(headers, what) ?? ofOpenai(headers, what))
  told[0] ??= ofIetf(headers)
  return told.map((quota) => (quota && quota.windowMs <= LONGEST_WINDOW_MS ? quota : null))
}

const WORDS = { requests: 'requests', tokens: 'tokens', input: 'input-tokens' } as const

/**
 * Its buckets fill all the time, per minute; the resets are whole seconds, too coarse to compute
 * from. `tokens` is whichever of the limits is the tightest, so that input and output go first.
 */
function ofAnthropic(headers: Headers, what: (typeof COUNTED)[number]): Quota | null {
  const number = (of: string, member: string) =>
    numberIn(headers[`anthropic-ratelimit-${of}-${member}`])
  if (what === 'tokens' && number('input-tokens', 'limit') !== null) return null
  const word = what === 'output' ? 'output-tokens' : WORDS[what]
  return quota(number(word, 'limit'), number(word, 'remaining'), MINUTE_MS)
}

/** Tokens are per minute; requests per minute or per day, as the reset tells. */
function ofOpenai(headers: Headers, what: (typeof COUNTED)[number]): Quota | null {
  if (what !== 'requests' && what !== 'tokens') return null
  const limit = numberIn(headers[`x-ratelimit-limit-${what}`])
  const left = numberIn(headers[`x-ratelimit-remaining-${what}`])
  if (what === 'tokens') return quota(limit, left, MINUTE_MS)
  const resetMs = durationMs(headers[`x-ratelimit-reset-${what}`] ?? '')
  if (limit === null || left === null || resetMs === null || left >= limit) return null
  return quota(limit, left, (resetMs * limit) / (limit - left))
}

/**
 * `RateLimit-Policy: "burst";q=100;w=60` with `RateLimit: "burst";r=50;t=30`, by name. Of several,
 * the one that lets the fewest through; a policy in another unit than requests is left out.
 */
function ofIetf(headers: Headers): Quota | null {
  const policies = new Map(itemsIn(headers['ratelimit-policy']))
  let tightest: Quota | null = null
  for (const [name, { r }] of itemsIn(headers['ratelimit'])) {
    const { q, w, qu } = policies.get(name) ?? {}
    if (qu !== undefined && qu !== 'requests') continue
    const one = quota(numberIn(q), numberIn(r), (numberIn(w) ?? 0) * 1000)
    if (one === null || one.windowMs > LONGEST_WINDOW_MS) continue
    if (tightest === null || one.limit / one.windowMs < tightest.limit / tightest.windowMs)
      tightest = one
  }
  return tightest
}

/** The items of a structured field (RFC 9651) whose names are strings, with their parameters. */
function itemsIn(field = ''): [string, { [parameter: string]: string }][] {
  // Every other part stands in quotes.
  const outside = field.split('"').map((part, i) => (i % 2 ? part : part.replaceAll(',', '\n')))
  return outside
    .join('"')
    .split('\n')
    .flatMap((item) => {
      const [, name, parameters = ''] = /^\s*"([^"]*)"\s*(.*)$/.exec(item) ?? []
      if (name === undefined) return []
      const pairs = [...parameters.matchAll(/;\s*([a-z]+)="?([^";]*)"?/g)]
      return [[name, Object.fromEntries(pairs.map(([, key, value]) => [key, value]))]]
    })
}

function quota(limit: number | null, remaining: number | null, windowMs: number): Quota | null {
  if (limit === null || remaining === null || limit <= 0 || !(windowMs > 0)) return null
  return { limit, remaining, windowMs }
}

/** A number that is not below 0, or null. */
function numberIn(text: string | undefined): number | null {
  if (text === undefined || text.trim() === '') return null
  const number = Number(text)
  return Number.isFinite(number) && number >= 0 ? number : null
}
