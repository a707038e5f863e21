/**
 * `probe.connect()`: the published connection test as a call that reads like one, for one test or
 * several.
 */
import { onlyMembers } from '../../arguments.ts'
import { foreign } from '../../display.ts'
import { TouchstoneError } from '../../errors.ts'
import { notHandedFor } from '../../process/child.ts'
import { progress } from '../../progress.ts'
import { keepHeaders, keepSecrets, redacted, redactedValue, shownAddress } from '../../secrets.ts'
import { signalOf } from '../../signal.ts'
import { connectionSet, DEFAULT_SET, type Era } from '../judge/set.ts'
import type { Command } from '../wire/command.ts'
import type { Transport } from '../wire/wire.ts'
import { otherWay } from './other-way.ts'
import { ProbeResult } from './result.ts'
import { ProbeRuns } from './runs.ts'
import { type OwnOptions, runTest, setAsked, type Target } from './tasks.ts'

export type ConnectOptions = {
  /**
   * Default `streamable-http`. There is no falling back to the other one: that would send what the
   * set does not list.
   */
  transport?: 'streamable-http' | 'sse'
  /** Abort to give up: the call then rejects with the signal's reason. */
  signal?: AbortSignal | undefined
  /**
   * The published set to run, `id@version`. Default `mcp-connection@1.0`;
   * `mcp-connection-stateless@1.0` is for 2026-07-28.
   */
  set?: string
  /**
   * A server of your own, at any address, http allowed. Such a test is not the published one.
   * Default false.
   */
  local?: boolean
  /**
   * Of a server of your own: which protocol to speak. `auto` asks in the way of 2026-07-28 first.
   * Default `legacy`.
   */
  era?: Era | 'auto'
  /** Of a server of your own: headers that every request carries, such as a key. */
  headers?: Record<string, string>
  /** Of a server of your own: an authority to trust beside the system's, PEM. */
  ca?: string
  /** Of a server of your own: the whole test, ms, from 1 to 3,600,000. Default 60,000. */
  timeoutMs?: number
  /** Of a server of your own: keep each tool's input schema. Default false. */
  schemas?: boolean
}

const OF_OWN = ['era', 'headers', 'ca', 'timeoutMs', 'schemas'] as const

/** A test that has not run yet: await it to run it once, or `repeat` it. */
export class Connection implements PromiseLike<ProbeResult> {
  readonly subject: string
  readonly transport: Transport
  private readonly target: Target
  private readonly signal: AbortSignal | undefined
  private running: Promise<ProbeResult> | undefined

  constructor(target: Target, signal: AbortSignal | undefined) {
    this.target = target
    this.signal = signal
    this.transport = 'command' in target ? 'stdio' : target.transport
    this.subject =
      'command' in target
        ? [target.command.command, ...(target.command.args ?? [])].join(' ')
        : target.url
  }

  /**
   * The same test several times, one after the other, each with connections of its own.
   *
   * @param n how many, a whole number from 1 to 1000. Default 5
   * @throws TouchstoneError `argument_invalid`
   */
  repeat(n = 5): RepeatedConnection {
    if (!Number.isInteger(n) || n < 1 || n > 1000) {
      throw new TouchstoneError(
        'argument_invalid',
        `expected a whole number from 1 to 1000, got ${n}`,
        { where: 'n' },
      )
    }
    return new RepeatedConnection(this, n)
  }

  /** Run it anew, whether or not it has run. */
  async run(): Promise<ProbeResult> {
    const { target } = this
    const signal = signalOf(this.signal)
    const findings = await runTest(target, {}, signal)
    if ('command' in target)
      return new ProbeResult(redacted(this.subject), 'stdio', null, redactedValue(findings))
    if (!target.local) {
      const { name } = connectionSet(setAsked(target))
      return new ProbeResult(target.url, target.transport, name, findings)
    }
    const told = await otherWay(target, findings, signal)
    // A server of one's own may say again what it was sent.
    const subject = shownAddress(target.url)
    return new ProbeResult(subject, target.transport, null, redactedValue(told))
  }

  /** Runs the test when first awaited; awaiting again gives the same result. */
  // biome-ignore lint/suspicious/noThenProperty: a call that ends in work is awaited
  then<A = ProbeResult, B = never>(
    kept?: ((result: ProbeResult) => A | PromiseLike<A>) | null,
    broken?: ((reason: unknown) => B | PromiseLike<B>) | null,
  ): Promise<A | B> {
    this.running ??= this.run()
    return this.running.then(kept, broken)
  }

  [Symbol.for('nodejs.util.inspect.custom')](): string {
    return `connection test of ${foreign(this.subject)} (${this.transport}), not awaited yet`
  }
}

/** Several tests that have not run yet: await them. */
export class RepeatedConnection implements PromiseLike<ProbeRuns> {
  private readonly connection: Connection
  readonly n: number
  private running: Promise<ProbeRuns> | undefined

  constructor(connection: Connection, n: number) {
    this.connection = connection
    this.n = n
  }

  // biome-ignore lint/suspicious/noThenProperty: a call that ends in work is awaited
  then<A = ProbeRuns, B = never>(
    kept?: ((runs: ProbeRuns) => A | PromiseLike<A>) | null,
    broken?: ((reason: unknown) => B | PromiseLike<B>) | null,
  ): Promise<A | B> {
    this.running ??= this.run()
    return this.running.then(kept, broken)
  }

  private async run(): Promise<ProbeRuns> {
    // Not `using`: Node 22 runs these sources as they stand and does not know it.
    const bar = progress(this.n, 'tests', { failures: 'not answered' })
    try {
      const results: ProbeResult[] = []
      for (let i = 0; i < this.n; i++) {
        const result = await this.connection.run()
        results.push(result)
        bar.tick(result.outcome !== 'answered')
      }
      return new ProbeRuns(results)
    } finally {
      bar.stop()
    }
  }

  [Symbol.for('nodejs.util.inspect.custom')](): string {
    return `${this.n} connection tests of ${foreign(this.connection.subject)}, not awaited yet`
  }
}

/**
 * Test an MCP server by a published set: `mcp-connection 1.0` (initialize, then tools/list) unless
 * told otherwise. No credentials, no tool called.
 *
 * A server that falls short, and an address that is refused, are results. With `local: true` the
 * same tasks run against any address, and a `{ command, args }` runs a stdio server. Neither is the
 * published test, and the result says so (`set: null`). The owner of a server is told more (`own`):
 * its error texts, its error output, how it ended, what would have worked.
 *
 * @param target  a URL, or a command for a stdio server of your own
 * @param options `transport` (default `streamable-http`), `set`, `signal`, `local` and what belongs
 *   to it
 * @returns a test that runs when awaited: a `ProbeResult`. `.repeat(n)` gives a `ProbeRuns`
 * @throws TouchstoneError `argument_invalid` for a text without a scheme and for options that do
 *   not go together, `transport_unknown`, `set_unknown`
 * @see scenarios/mcp-connection/1.0.json, scenarios/mcp-connection-stateless/1.0.json
 * @example
 * const result = await connect('https://localhost/mcp')
 * result.outcome // 'refused'
 * result.reason // 'localhost'
 * result.attempted // 0
 */
export function connect(target: string | Command, options: ConnectOptions = {}): Connection {
  onlyMembers(options, ['transport', 'signal', 'set', 'local', ...OF_OWN], 'options')
  const { transport = 'streamable-http', local = false, signal, set } = options
  const stdio = typeof target !== 'string'
  if (stdio && (typeof target?.command !== 'string' || target.command === '')) {
    throw invalid('expected a URL or { command, args }, got neither', 'target')
  }
  if (stdio) {
    const { command, args = [], env = {}, cwd = '' } = target
    const words = [command, ...args, ...Object.entries(env).map((one) => one.join('=')), cwd]
    const reason = words.map((one) => notHandedFor(String(one))).find((one) => one !== null)
    if (reason)
      throw invalid(`expected words that a program can be handed, got ${reason}`, 'target')
  }
  if (transport !== 'streamable-http' && transport !== 'sse') {
    throw new TouchstoneError(
      'transport_unknown',
      `expected streamable-http or sse, got ${String(transport)}`,
      { where: 'options.transport' },
    )
  }
  const own = ownOptions(options)
  if (stdio || local) {
    if (set !== undefined) throw invalid('expected no set for a server of your own', 'options.set')
    keepHeaders(own.headers ?? {})
    if (stdio) {
      keepSecrets(target.env ?? {})
      return new Connection({ command: target, ...own }, signal)
    }
  } else {
    const stray = OF_OWN.find((name) => own[name] !== undefined)
    if (stray) throw invalid('expected local: true beside it', `options.${stray}`)
    connectionSet(set ?? DEFAULT_SET)
  }
  requireScheme(target)
  if (!local) {
    return new Connection({ url: target, transport, local, ...(set ? { set } : {}) }, signal)
  }
  if (!/^https?:\/\//i.test(target)) {
    throw invalid(`expected an http or https URL, got ${foreign(target)}`, 'target')
  }
  if (URL.parse(target) === null) throw invalid(`expected a URL, got ${foreign(target)}`, 'target')
  return new Connection({ url: target, transport, local, ...own }, signal)
}

function ownOptions(options: ConnectOptions): OwnOptions {
  const { era, headers, ca, timeoutMs, schemas } = options
  if (era !== undefined && !['legacy', 'modern', 'auto'].includes(era)) {
    throw invalid(`expected legacy, modern or auto, got ${String(era)}`, 'options.era')
  }
  const sane =
    Number.isInteger(timeoutMs) && Number(timeoutMs) >= 1 && Number(timeoutMs) <= 3_600_000
  if (timeoutMs !== undefined && !sane) {
    throw invalid(
      `expected a whole number of ms from 1 to 3600000, got ${timeoutMs}`,
      'options.timeoutMs',
    )
  }
  for (const [name, value] of Object.entries(headers ?? {})) {
    // A value may be a secret, so it is not named.
    if (!/^[!#$%&'*+\-.^_`|~\w]+$/.test(name) || !/^[\t\x20-\x7e\x80-\xff]*$/.test(value)) {
      throw invalid('expected a header name and a value of one line', `options.headers ${name}`)
    }
  }
  const lower = Object.entries(headers ?? {}).map(([name, value]) => [name.toLowerCase(), value])
  return {
    era,
    headers: headers && Object.fromEntries(lower),
    ca,
    timeoutMs,
    schemas,
  }
}

function invalid(message: string, where: string): TouchstoneError {
  return new TouchstoneError('argument_invalid', message, { where })
}

/**
 * A text without a scheme is a slip of whoever typed it, not a hostile address; `host:3000/path` is
 * such a text too.
 */
function requireScheme(text: string): void {
  const scheme = /^\s*[a-z][a-z0-9+.-]*:/i.test(text) && !/^[\w.-]+:\d+(?:[/?#]|$)/.test(text)
  if (scheme || /[{}]/.test(text)) return
  throw invalid(
    `expected a URL such as https://mcp.example.com/mcp, got ${foreign(text) || 'nothing'}`,
    'target',
  )
}
