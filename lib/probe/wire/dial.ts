/**
 * Connections that go only where the address check allows.
 *
 * The check runs inside the connection's own name lookup: every address is judged, all judged
 * addresses are handed on (so that a dead IPv6 route does not hide a living IPv4 one), and the
 * socket's remote address is compared with them once connected. Names go to the name servers
 * directly, not through the hosts file or search domains, and at most once per test.
 */
import { Resolver } from 'node:dns/promises'
import { isIP, type LookupFunction } from 'node:net'
import type { Readable } from 'node:stream'
import type { SecureContext } from 'node:tls'
import type { Agent, Dispatcher } from 'undici'
import { untilAborted } from '../../abort.ts'
import { checkAddress } from '../judge/address.ts'
import { Shortfall, shortfallOf } from '../judge/outcome.ts'

/** What tests put in the place of the world outside. None of it is public. */
export type Seams = {
  /** Answers for a name, as text. Default: A and AAAA records from the system's name servers. */
  resolve?: ((host: string, signal: AbortSignal) => Promise<string[]>) | undefined
  /**
   * Where a judged address is really dialled. It cannot make a refused address allowed: judging
   * comes first.
   */
  pin?: ((address: string) => string) | undefined
  /** An authority to trust beside the system's, PEM. */
  ca?: string | undefined
  /** Limits in the place of the set's. */
  limits?:
    | Partial<{
        timeoutMs: number
        maxResponseBytes: number
        sessionCloseWaitMs: number
        stepMs: number
      }>
    | undefined
}

export type Reached = {
  httpStatus: number
  header(name: string): string | undefined
  body: Readable
}

export type Ask = {
  method: 'GET' | 'POST' | 'DELETE'
  headers: Record<string, string>
  body?: string
  signal: AbortSignal
  /** What is noted in `sent` once the request leaves. */
  label: string
  /**
   * Called when the request truly begins to leave, with `performance.now()`: name, TCP and TLS came
   * before it.
   */
  left?: ((at: number) => void) | undefined
  /** Over a connection of its own, which no request before it has used. Default false. */
  fresh?: boolean
}

export type Line = {
  /** Send one request. @throws Shortfall, or the signal's reason */
  send(url: URL, ask: Ask): Promise<Reached>
  /** Every request that left, in order. */
  readonly sent: string[]
  close(): Promise<void>
}

/** More addresses than this are judged but not tried. */
const MAX_TRIED = 16
const MAX_HEADER_BYTES = 32_768
/**
 * Six seconds at most for a name server that drops one family's questions: the other family still
 * has its turn.
 */
const DNS = { timeout: 2_000, tries: 2 }

/** Start connecting for one test. `local` is for a developer's own server: no address is judged. */
export async function openLine(options: {
  local: boolean
  signal: AbortSignal
  seams: Seams
  /** An authority to trust beside the system's, PEM. */
  ca?: string | undefined
}): Promise<Line> {
  const { Agent, buildConnector, request } = await import('undici')
  const { local, signal, seams } = options
  const judged = new Map<string, Promise<string[]>>()
  const dialledTo = new Set<string>()

  const addressesOf = (host: string) => {
    let known = judged.get(host)
    if (!known) {
      known = untilAborted((seams.resolve ?? resolveName)(host, signal), signal).then(judgeAll)
      // Two connections may wait for it, or none any more; the failure is the request's to report.
      known.catch(() => {})
      judged.set(host, known)
    }
    return known
  }

  const lookup: LookupFunction = (host, wanted, callback) => {
    addressesOf(host).then(
      (addresses) => {
        const list = addresses.slice(0, MAX_TRIED).map((address) => {
          const dial = seams.pin?.(address) ?? address
          dialledTo.add(plain(dial))
          return { address: dial, family: isIP(dial) }
        })
        const first = list[0]
        if (wanted.all) callback(null, list)
        else callback(null, first?.address ?? '', first?.family)
      },
      (error: Error) => callback(error, ''),
    )
  }

  const secureContext = await authorities(options.ca ?? seams.ca)
  const connector = buildConnector({
    timeout: 8_000,
    maxCachedSessions: 0,
    allowH2: true,
    autoSelectFamily: true,
    rejectUnauthorized: true,
    secureContext,
    ...(local ? {} : { lookup }),
  })
  const agents: Agent[] = []
  // A server that closes a connection behind its answer may do so while the next request is on its
  // way. Once it has done it, no connection is used twice.
  let closesBehind = false
  let opened = 0
  const openAgent = (): Agent => {
    const made = new Agent(agentOptions)
    agents.push(made)
    return made
  }
  const agentOptions: Agent.Options = {
    connections: 4,
    pipelining: 1,
    allowH2: true,
    maxHeaderSize: MAX_HEADER_BYTES,
    headersTimeout: 0,
    bodyTimeout: 0,
    keepAliveTimeout: 10_000,
    connect: (to, callback) => {
      // A literal is dialled without a lookup, so nothing would have judged it.
      if (!local && isIP(to.hostname.replace(/^\[|\]$/g, ''))) {
        callback(new Shortfall('address_refused', { reason: 'ip_literal' }), null)
        return
      }
      opened++
      connector(to, (error, socket) => {
        if (error) return callback(error, null)
        socket.once('end', () => {
          closesBehind = true
        })
        const remote = plain(socket.remoteAddress ?? '')
        if (local || dialledTo.has(remote)) return callback(null, socket)
        socket.destroy()
        // A peer that has reset the connection by now has no address any more. That is its doing
        // and no refusal of ours.
        if (remote === '') return callback(new Shortfall('connection_dropped'), null)
        const { reason } = checkAddress(remote.slice(1, -1))
        const refused = reason === 'ok' ? 'not_an_address' : reason
        callback(new Shortfall('address_refused', { reason: refused }), null)
      })
    },
  }
  const shared = openAgent()

  const sent: string[] = []
  const line: Line = {
    sent,
    async send(url, ask) {
      const { method, headers, body, signal: until, label, left, fresh = false } = ask
      // Two turns: one so that a connection whose answer has just ended counts as free and is taken
      // again, one so that its end is heard of if the server has closed it.
      await turn()
      await turn()
      const agent = fresh || closesBehind ? openAgent() : shared
      const before = opened
      const noting: Dispatcher = agent.compose((dispatch) => (opts, handler) => {
        const start = handler.onRequestStart?.bind(handler)
        handler.onRequestStart = (controller, context) => {
          sent.push(label)
          left?.(performance.now())
          start?.(controller, context)
        }
        return dispatch(opts, handler)
      })
      try {
        const reply = await request(url, {
          method,
          headers,
          body: body ?? null,
          signal: until,
          dispatcher: noting,
        })
        return {
          httpStatus: reply.statusCode,
          header: (name) => {
            const value = reply.headers[name]
            return Array.isArray(value) ? value[0] : value
          },
          body: reply.body,
        }
      } catch (error) {
        if (until.aborted) throw until.reason
        const fault = shortfallOf(error)
        // It closed a connection that it had answered on before while this request was on its way.
        // Over a new one the answer is its own. RFC 9110, 9.2.2: no byte of an answer came, and no
        // request of ours changes anything.
        if (fault.detail !== 'connection_dropped' || agent !== shared || opened > before)
          throw fault
        return await line.send(url, { ...ask, fresh: true })
      }
    },
    close: () => Promise.all(agents.map((agent) => agent.destroy().catch(() => {}))).then(() => {}),
  }
  return line
}

function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}

/** All addresses, or a refusal when even one of them is not public. */
function judgeAll(addresses: string[]): string[] {
  if (addresses.length === 0) throw new Shortfall('name_not_found')
  for (const address of addresses) {
    const { allowed, reason } = checkAddress(address)
    if (!allowed) throw new Shortfall('address_refused', { reason })
  }
  return addresses
}

/**
 * A and AAAA records. One family may fail as long as the other answers; both failing is told apart
 * from "no such name".
 */
async function resolveName(host: string, signal: AbortSignal): Promise<string[]> {
  const resolver = new Resolver(DNS)
  // A question left open would keep the process alive behind the deadline.
  signal.addEventListener('abort', () => resolver.cancel(), { once: true })
  const answers = await Promise.allSettled([resolver.resolve6(host), resolver.resolve4(host)])
  const addresses = answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []))
  if (addresses.length > 0) return addresses
  const codes = answers.map((answer) =>
    answer.status === 'rejected' ? answer.reason?.code : 'ENODATA',
  )
  const absent = codes.every((code) => code === 'ENOTFOUND' || code === 'ENODATA')
  throw new Shortfall(absent ? 'name_not_found' : 'name_failed')
}

/**
 * What connections trust: the system's authorities, and one more if it is given. Made once and
 * shared, since each holds memory that is not of the heap, which thousands of them would fill
 * before any is collected.
 */
async function authorities(own: string | undefined): Promise<SecureContext> {
  const { createSecureContext, getCACertificates } = await import('node:tls')
  if (own === undefined) {
    system ??= createSecureContext()
    return system
  }
  if (extended?.own !== own) {
    const ca = [...getCACertificates('default'), own]
    extended = { own, context: createSecureContext({ ca }) }
  }
  return extended.context
}

let system: SecureContext | undefined
/** The last that was asked for. */
let extended: { own: string; context: SecureContext } | undefined

/**
 * One text per address, whatever form it came in: IPv4 and the same address mapped into IPv6 are
 * one.
 */
function plain(address: string): string {
  const six = isIP(address) === 4 ? `::ffff:${address}` : address
  return URL.parse(`http://[${six}]/`)?.hostname ?? ''
}
