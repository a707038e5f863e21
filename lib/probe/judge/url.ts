/**
 * May a URL be tested at all? Judged on the raw text before anything is parsed, resolved or
 * dialled.
 *
 * The raw text comes first because `new URL()` repairs in silence: it strips spaces and line
 * breaks, turns `\` into `/` and adds missing slashes, so that what was read and what is dialled
 * are two different texts.
 */
import { isIP } from 'node:net'
import type { AddressReason } from './address.ts'

/** Why a URL may not be tested; `ok` when it may. The list is closed. */
export type UrlReason =
  | 'ok'
  | 'unparsable'
  | 'space'
  | 'brace'
  | 'backslash'
  | 'scheme'
  | 'no_authority'
  | 'user_info'
  | 'ip_literal'
  | 'localhost'
  | 'local_name'
  | 'internal_name'
  | 'no_dot'
  | 'label'
  | 'other_host'

export type UrlVerdict = { allowed: boolean; reason: UrlReason }

/** Why an address was refused: a word about the URL, or about an address its name resolved to. */
export type Reason = UrlReason | AddressReason

/**
 * Judge the text of a URL by the published address check: an https URL on a host name with a dot in
 * it, no IP address, no user name or password, no localhost, .local or .internal name, no spaces or
 * braces left to fill in.
 *
 * Stricter than the letter in three places where `new URL()` would repair: a backslash, a missing
 * `//` and an empty user name (`https://@host`) are refused. Percent-encoded braces and any port
 * are allowed. Passing says nothing about what the name resolves to: that is judged when the
 * connection is made.
 *
 * @returns `allowed`, and `reason`: `ok` or one of a closed list
 * @see known answers: fixtures/probe/url.json
 * @example
 * checkUrl('https://mcp.example.com/mcp') // { allowed: true, reason: 'ok' }
 * checkUrl('https://2130706433/') // { allowed: false, reason: 'ip_literal' }
 * checkUrl('https://example.com/{tenant}/mcp') // { allowed: false, reason: 'brace' }
 */
export function checkUrl(text: string): UrlVerdict {
  const reason = judge(text)
  return { allowed: reason === 'ok', reason }
}

function judge(text: string): UrlReason {
  if (typeof text !== 'string') return 'unparsable'
  if (/[\s\u0000-\u0020\u007f]/.test(text)) return 'space'
  if (/[{}]/.test(text)) return 'brace'
  if (text.includes('\\')) return 'backslash'
  const scheme = /^([a-z][a-z0-9+.-]*):/i.exec(text)?.[1]
  if (scheme === undefined) return 'unparsable'
  if (scheme.toLowerCase() !== 'https') return 'scheme'
  const authority = /^https:\/\/([^/?#]+)/i.exec(text)?.[1]
  if (authority === undefined) return 'no_authority'
  if (authority.includes('@')) return 'user_info'
  const url = URL.parse(text)
  return url ? judgeHost(url.hostname) : 'unparsable'
}

function judgeHost(hostname: string): UrlReason {
  if (isIP(hostname.replace(/^\[|\]$/g, ''))) return 'ip_literal'
  const host = withoutDot(hostname).toLowerCase()
  if (host === 'localhost' || host.endsWith('.localhost')) return 'localhost'
  if (host === 'local' || host.endsWith('.local')) return 'local_name'
  if (host === 'internal' || host.endsWith('.internal')) return 'internal_name'
  const labels = host.split('.')
  if (host.length > 253 || labels.some((label) => label === '' || label.length > 63)) return 'label'
  return labels.length < 2 ? 'no_dot' : 'ok'
}

/** For a developer's own server: any address, over http or https. */
export function checkLocalUrl(text: string): UrlVerdict {
  const protocol = URL.parse(text)?.protocol
  const reason =
    protocol === undefined ? 'unparsable' : /^https?:$/.test(protocol) ? 'ok' : 'scheme'
  return { allowed: reason === 'ok', reason }
}

/**
 * The URL that is dialled: as given, without the dot that ends a fully qualified name, which would
 * otherwise stand in the Host header and in SNI, where few servers know it.
 */
export function dialled(text: string): URL {
  const url = new URL(text)
  url.hash = ''
  if (url.hostname.endsWith('.')) url.hostname = withoutDot(url.hostname)
  return url
}

/**
 * Where an event stream asked requests to go, judged: it must pass the whole URL check again and be
 * on the same host.
 *
 * A port of its own is the same host. `local` drops the address rules and keeps the same-host rule.
 */
export function checkEndpoint(
  data: string,
  stream: URL,
  local: boolean,
): { url: URL | null; reason: UrlReason } {
  const resolved = URL.parse(data, stream)
  if (resolved === null || data.trim() === '') return { url: null, reason: 'unparsable' }
  const verdict = local ? checkLocalUrl(resolved.href).reason : judge(resolved.href)
  if (verdict !== 'ok') return { url: null, reason: verdict }
  const url = dialled(resolved.href)
  return url.hostname === stream.hostname
    ? { url, reason: 'ok' }
    : { url: null, reason: 'other_host' }
}

function withoutDot(hostname: string): string {
  return hostname.endsWith('.') ? hostname.slice(0, -1) : hostname
}
