/**
 * What a connection test can come to: the five published words, a stable detail code beneath each,
 * and the rules that choose them. Pure. Total: whatever a server, a socket or a name server does
 * ends in one of the five.
 */
import { isAboutAuthentication } from './authentication.ts'
import type { Reason } from './url.ts'

/** The five words of the scenario set. */
export type Outcome = 'answered' | 'needs_credentials' | 'no_answer' | 'error' | 'refused'

/**
 * Why, as a stable code. Each belongs to one outcome, save that those of a failed tool list stand
 * beside `answered`.
 */
export type Detail =
  | 'handshake_complete'
  | 'request_answered'
  // needs_credentials
  | 'http_401'
  | 'http_403'
  | 'http_403_challenge'
  | 'www_authenticate'
  | 'auth_error'
  // no_answer
  | 'name_not_found'
  | 'name_failed'
  | 'connection_refused'
  | 'connection_dropped'
  | 'unreachable'
  | 'timed_out'
  | 'command_failed'
  // error
  | 'certificate'
  | 'tls'
  | 'redirect'
  | 'http_status'
  | 'not_http'
  | 'headers_too_large'
  | 'answer_too_large'
  | 'content_type'
  | 'content_encoding'
  | 'not_json'
  | 'not_an_answer'
  | 'rpc_error'
  | 'modern_only'
  | 'no_endpoint'
  | 'other'
  // error, of the set for revision 2026-07-28
  | 'version_unsupported'
  | 'header_mismatch'
  | 'capability_required'
  | 'method_not_found'
  | 'meta_rejected'
  | 'legacy_only'
  | 'result_type'
  | 'version_not_listed'
  // refused
  | 'url_refused'
  | 'address_refused'
  | 'endpoint_refused'
  // a task that was not reached
  | 'not_reached'

const OUTCOME_OF: Record<Detail, Outcome> = {
  handshake_complete: 'answered',
  request_answered: 'answered',
  http_401: 'needs_credentials',
  http_403: 'needs_credentials',
  http_403_challenge: 'needs_credentials',
  www_authenticate: 'needs_credentials',
  auth_error: 'needs_credentials',
  name_not_found: 'no_answer',
  name_failed: 'no_answer',
  connection_refused: 'no_answer',
  connection_dropped: 'no_answer',
  unreachable: 'no_answer',
  timed_out: 'no_answer',
  command_failed: 'no_answer',
  certificate: 'error',
  tls: 'error',
  redirect: 'error',
  http_status: 'error',
  not_http: 'error',
  headers_too_large: 'error',
  answer_too_large: 'error',
  content_type: 'error',
  content_encoding: 'error',
  not_json: 'error',
  not_an_answer: 'error',
  rpc_error: 'error',
  modern_only: 'error',
  no_endpoint: 'error',
  other: 'error',
  version_unsupported: 'error',
  header_mismatch: 'error',
  capability_required: 'error',
  method_not_found: 'error',
  meta_rejected: 'error',
  legacy_only: 'error',
  result_type: 'error',
  version_not_listed: 'error',
  url_refused: 'refused',
  address_refused: 'refused',
  endpoint_refused: 'refused',
  not_reached: 'error',
}

/** One plain sentence per detail, for reports. */
export const SAYS: Record<Detail, string> = {
  handshake_complete: 'it completed the handshake',
  request_answered: 'it answered under 2026-07-28',
  http_401: 'it asked for credentials (HTTP 401)',
  http_403: 'it asked for credentials (HTTP 403)',
  http_403_challenge:
    'HTTP 403 from a bot challenge, which the set counts as asking for credentials',
  www_authenticate: 'it asked for credentials (a WWW-Authenticate header)',
  auth_error: 'it answered with an error about authentication',
  name_not_found: 'the name did not resolve',
  name_failed: 'the name server did not give an answer',
  connection_refused: 'the connection was refused',
  connection_dropped: 'the connection was dropped before the answer was whole',
  unreachable: 'the host or network was unreachable',
  timed_out: 'no answer came back within the time limit',
  command_failed: 'the command did not start',
  certificate: 'its certificate did not verify',
  tls: 'the TLS handshake failed',
  redirect: 'it answered with a redirect, and redirects are never followed',
  http_status: 'it answered with an HTTP error',
  not_http: 'its answer was not HTTP',
  headers_too_large: 'its headers were larger than is read',
  answer_too_large: 'its answer was larger than is read',
  content_type: 'its answer was neither JSON nor an event stream',
  content_encoding: 'its answer was compressed in a way that could not be read',
  not_json: 'its answer was not JSON',
  not_an_answer: 'what it sent was not an answer to the request',
  rpc_error: 'it answered with a JSON-RPC error',
  modern_only: 'it speaks only 2026-07-28 or later, which has no initialize',
  no_endpoint: 'its event stream named no usable endpoint',
  other: 'something else stopped it',
  version_unsupported: 'it does not support revision 2026-07-28',
  header_mismatch: 'it says that a header is missing or differs from the body',
  capability_required: 'it demands a capability that this client does not have',
  method_not_found: 'it does not know the method',
  meta_rejected: 'it rejected the parameters of the request',
  legacy_only:
    'it refused without an error of 2026-07-28, which is how an earlier revision answers',
  result_type: 'its result was of a type that this request cannot have',
  version_not_listed: 'it does not list 2026-07-28 among the revisions it supports',
  url_refused: 'the address check refused the URL, so nothing was attempted',
  address_refused: 'the name led to an address that is not public, so nothing was attempted',
  endpoint_refused:
    'the event stream asked for requests to go where they may not, so nothing was attempted',
  not_reached: 'not reached',
}

type More = {
  httpStatus?: number | null
  rpc?: RpcError | null
  reason?: Reason | null
  /** Where a redirect pointed, as the server wrote it. Told only to the server's owner. */
  location?: string | null
  cause?: unknown
}

/**
 * How a test or one of its requests fell short. Internal: a result carries the codes, nobody
 * outside catches this.
 */
export class Shortfall extends Error {
  readonly detail: Detail
  readonly httpStatus: number | null
  readonly rpc: RpcError | null
  readonly reason: Reason | null
  readonly location: string | null

  constructor(detail: Detail, more: More = {}) {
    super(SAYS[detail], { cause: more.cause })
    this.detail = detail
    this.httpStatus = more.httpStatus ?? null
    this.rpc = more.rpc ?? null
    this.reason = more.reason ?? null
    this.location = more.location ?? null
  }

  get outcome(): Outcome {
    return OUTCOME_OF[this.detail]
  }
}

const BY_CODE: Record<string, Detail> = {
  ECONNREFUSED: 'connection_refused',
  ECONNRESET: 'connection_dropped',
  ECONNABORTED: 'connection_dropped',
  EPIPE: 'connection_dropped',
  UND_ERR_SOCKET: 'connection_dropped',
  ERR_STREAM_PREMATURE_CLOSE: 'connection_dropped',
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: 'not_http',
  ETIMEDOUT: 'timed_out',
  UND_ERR_CONNECT_TIMEOUT: 'timed_out',
  UND_ERR_HEADERS_TIMEOUT: 'timed_out',
  UND_ERR_BODY_TIMEOUT: 'timed_out',
  EHOSTUNREACH: 'unreachable',
  EHOSTDOWN: 'unreachable',
  ENETUNREACH: 'unreachable',
  ENETDOWN: 'unreachable',
  EADDRNOTAVAIL: 'unreachable',
  ENOTFOUND: 'name_not_found',
  ENODATA: 'name_not_found',
  EAI_AGAIN: 'name_failed',
  ESERVFAIL: 'name_failed',
  UND_ERR_HEADERS_OVERFLOW: 'headers_too_large',
  UND_ERR_RES_EXCEEDED_MAX_SIZE: 'answer_too_large',
  EPROTO: 'tls',
}

const CERTIFICATE =
  /^(?:UNABLE_TO_|SELF_SIGNED_|DEPTH_ZERO_|CERT_|CRL_|ERROR_IN_C|INVALID_(?:CA|PURPOSE)|PATH_LENGTH_|HOSTNAME_MISMATCH|ERR_TLS_CERT)/

/**
 * The shortfall that an error from a socket, TLS or HTTP means. Whatever is not known is `other`,
 * never a throw.
 */
export function shortfallOf(error: unknown): Shortfall {
  if (error instanceof Shortfall) return error
  // Every address of a name was tried in turn: the first that says more than "unreachable" speaks
  // for all.
  const all = error instanceof AggregateError ? error.errors.map(shortfallOf) : []
  const telling =
    all.find((each) => each.detail !== 'unreachable' && each.detail !== 'other') ?? all[0]
  if (telling) return telling
  const { code, name } = (error ?? {}) as { code?: unknown; name?: unknown }
  const known = typeof code === 'string' ? code : ''
  if (CERTIFICATE.test(known)) return new Shortfall('certificate', { cause: error })
  if (/^ERR_(?:SSL|TLS)_/.test(known)) return new Shortfall('tls', { cause: error })
  if (/^HPE_/.test(known) || name === 'HTTPParserError' || /^ERR_HTTP2_/.test(known)) {
    return new Shortfall('not_http', { cause: error })
  }
  return new Shortfall(BY_CODE[known] ?? 'other', { cause: error })
}

/**
 * A JSON-RPC error as far as it is read. `message` and `text` are the server's own: never stored of
 * a stranger's.
 */
export type RpcError = {
  code: number | null
  message: string | null
  /** Message and data as words, to judge what they are about. */
  text: string
  /** Revisions that `data.supported` names, at most eight, each of the form of a date. */
  supported: string[]
  /** `data` names the `_meta` envelope of revision 2026-07-28. */
  aboutEnvelope: boolean
  /** Its id is the request's own. */
  ownId: boolean
}

/** Codes that revision 2026-07-28 defines. */
export const MODERN_CODES = { headerMismatch: -32020, capability: -32021, version: -32022 } as const
const FIRST_MODERN = '2026-07-28'

/** Does an error that answers `initialize` say that the server speaks only revisions without it? */
export function isModernOnly({ code, supported, aboutEnvelope }: RpcError): boolean {
  if (code === MODERN_CODES.version || code === MODERN_CODES.headerMismatch) return true
  if (code === -32602 && aboutEnvelope) return true
  return supported.length > 0 && supported.every((version) => version >= FIRST_MODERN)
}

export type Reply = {
  httpStatus: number
  header(name: string): string | undefined
  /** The JSON-RPC error in the body, if there was one. */
  rpc: RpcError | null
  /** What stopped the body from being read, if anything did. */
  fault: Shortfall | null
}

/**
 * What an HTTP answer without a JSON-RPC result means, in the set's order: credentials asked for by
 * the response, then by the JSON-RPC error, then the HTTP status, then the body.
 */
export function judgeReply(reply: Reply): Shortfall {
  const { httpStatus, header, rpc, fault } = reply
  const more = { httpStatus, rpc, location: header('location') ?? null, cause: fault ?? undefined }
  const asked = credentialsAsked(reply)
  if (asked) return new Shortfall(asked, more)
  if (rpc && isModernOnly(rpc)) return new Shortfall('modern_only', more)
  if (httpStatus >= 300 && httpStatus < 400) return new Shortfall('redirect', more)
  if (httpStatus >= 400) return new Shortfall('http_status', more)
  if (rpc) return new Shortfall('rpc_error', more)
  return new Shortfall(fault?.detail ?? 'not_an_answer', { ...more, reason: fault?.reason ?? null })
}

/**
 * How an answer asked for credentials, by its status and headers first and by its words then; null
 * when it did not.
 */
export function credentialsAsked({ httpStatus, header, rpc }: Reply): Detail | null {
  if (httpStatus === 401) return 'http_401'
  if (httpStatus === 403) {
    return header('cf-mitigated') === 'challenge' ? 'http_403_challenge' : 'http_403'
  }
  if (header('www-authenticate') !== undefined) return 'www_authenticate'
  return rpc && isAboutAuthentication(rpc.text) ? 'auth_error' : null
}
