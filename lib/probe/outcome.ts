/**
 * What a connection test can come to: the five published words, a stable detail code beneath each, and the rules that
 * choose them. Pure. Total: whatever a server, a socket or a name server does ends in one of the five.
 */
import type { Reason } from './url.ts'

/** The five words of the scenario set. */
export type Outcome = 'answered' | 'needs_credentials' | 'no_answer' | 'error' | 'refused'

/** Why, as a stable code. Each belongs to one outcome, save that those of a failed tool list stand beside `answered`. */
export type Detail =
  | 'handshake_complete'
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
  | 'no_endpoint'
  | 'other'
  // refused
  | 'url_refused'
  | 'address_refused'
  | 'endpoint_refused'
  // a task that was not reached
  | 'not_reached'

const OUTCOME_OF: Record<Detail, Outcome> = {
  handshake_complete: 'answered',
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
  no_endpoint: 'error',
  other: 'error',
  url_refused: 'refused',
  address_refused: 'refused',
  endpoint_refused: 'refused',
  not_reached: 'error',
}

/** One plain sentence per detail, for reports. */
export const SAYS: Record<Detail, string> = {
  handshake_complete: 'it completed the handshake',
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
  timed_out: 'nothing came back within the time limit',
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
  no_endpoint: 'its event stream named no usable endpoint',
  other: 'something else stopped it',
  url_refused: 'the address check refused the URL, so nothing was attempted',
  address_refused: 'the name led to an address that is not public, so nothing was attempted',
  endpoint_refused:
    'the event stream asked for requests to go where they may not, so nothing was attempted',
  not_reached: 'not reached',
}

/** How a test or one of its requests fell short. Internal: a result carries the codes, nobody outside catches this. */
export class Shortfall extends Error {
  readonly detail: Detail
  readonly httpStatus: number | null
  readonly rpcCode: number | null
  readonly reason: Reason | null

  constructor(
    detail: Detail,
    more: {
      httpStatus?: number | null
      rpcCode?: number | null
      reason?: Reason | null
      cause?: unknown
    } = {},
  ) {
    super(SAYS[detail], { cause: more.cause })
    this.detail = detail
    this.httpStatus = more.httpStatus ?? null
    this.rpcCode = more.rpcCode ?? null
    this.reason = more.reason ?? null
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

/** The shortfall that an error from a socket, TLS or HTTP means. Whatever is not known is `other`, never a throw. */
export function shortfallOf(error: unknown): Shortfall {
  if (error instanceof Shortfall) return error
  // Every address of a name was tried in turn: the first that says more than "unreachable" speaks for all.
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

/** What a JSON-RPC answer came to. `text` is the server's own and is never stored, only read for what it is about. */
export type RpcError = { code: number | null; text: string }

const AUTH_WORDS =
  /\b(?:un)?authori[sz](?:ed|ation)\b|\bunauthenticated\b|\bauthenticat\w*|\bforbidden\b|\b(?:api|access)[ _-]?keys?\b|\b(?:access|bearer|auth)[ _-]?tokens?\b|\bcredentials?\b|\b(?:log|sign)[ _-]?in\b|\b40[13]\b|\bpermission denied\b/i

/**
 * Is a JSON-RPC error about authentication? Judged by its words: the code -32001 that many servers use for it also means
 * an unknown session or a timeout.
 *
 * @param text the error's message and data, of which at most 4,096 characters are read
 */
export function isAboutAuthentication(text: string): boolean {
  return AUTH_WORDS.test(text.slice(0, 4096))
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
 * What an HTTP answer without a JSON-RPC result means, in the set's order: credentials asked for by the response, then by
 * the JSON-RPC error, then the HTTP status, then the body.
 */
export function judgeReply({ httpStatus, header, rpc, fault }: Reply): Shortfall {
  const more = { httpStatus, rpcCode: rpc?.code ?? null, cause: fault ?? undefined }
  if (httpStatus === 401) return new Shortfall('http_401', more)
  if (httpStatus === 403) {
    return new Shortfall(
      header('cf-mitigated') === 'challenge' ? 'http_403_challenge' : 'http_403',
      more,
    )
  }
  if (header('www-authenticate') !== undefined) return new Shortfall('www_authenticate', more)
  if (rpc && isAboutAuthentication(rpc.text)) return new Shortfall('auth_error', more)
  if (httpStatus >= 300 && httpStatus < 400) return new Shortfall('redirect', more)
  if (httpStatus >= 400) return new Shortfall('http_status', more)
  if (rpc) return new Shortfall('rpc_error', more)
  return new Shortfall(fault?.detail ?? 'not_an_answer', { ...more, reason: fault?.reason ?? null })
}
