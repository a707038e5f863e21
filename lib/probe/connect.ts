/** `probe.connect()`: the published connection test as a call that reads like one, for one test or several. */
import { foreign } from '../display.ts'
import { TouchstoneError } from '../errors.ts'
import { progress } from '../progress.ts'
import { signalOf } from '../signal.ts'
import { ProbeResult } from './result.ts'
import { ProbeRuns } from './runs.ts'
import type { Command } from './stdio.ts'
import { runTest, type Target } from './tasks.ts'
import type { Transport } from './wire.ts'

export type ConnectOptions = {
  /** Default `streamable-http`. There is no falling back to the other one: that would send what the set does not list. */
  transport?: 'streamable-http' | 'sse'
  /** Abort to give up: the call then rejects with the signal's reason. */
  signal?: AbortSignal | undefined
  /** A server of your own, at any address, http allowed. Such a test is not the published one. Default false. */
  local?: boolean
}

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
    const published = !('command' in this.target) && !this.target.local
    return new ProbeResult(
      this.subject,
      this.transport,
      published,
      await runTest(this.target, {}, signalOf(this.signal)),
    )
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
 * Test an MCP server by the published set `mcp-connection 1.0`: initialize, then tools/list, no credentials, no tool called.
 *
 * A server that falls short, and an address that is refused, are results. With `local: true` the same tasks run against any
 * address, and a `{ command, args }` runs a stdio server; neither is the published test, and the result says so (`set: null`).
 *
 * @param target  a URL, or a command for a stdio server of your own
 * @param options `transport` (default `streamable-http`), `signal`, `local`
 * @returns a test that runs when awaited: a `ProbeResult`. `.repeat(n)` gives a `ProbeRuns`
 * @throws TouchstoneError `argument_invalid` for a text without a scheme, `transport_unknown`
 * @see scenarios/mcp-connection/1.0.json
 * @example
 * const result = await connect('https://localhost/mcp')
 * result.outcome // 'refused'
 * result.reason // 'localhost'
 * result.attempted // 0
 */
export function connect(target: string | Command, options: ConnectOptions = {}): Connection {
  const { transport = 'streamable-http', local = false, signal } = options
  if (typeof target !== 'string') {
    if (typeof target?.command !== 'string' || target.command === '') {
      throw new TouchstoneError(
        'argument_invalid',
        'expected a URL or { command, args }, got neither',
        {
          where: 'target',
        },
      )
    }
    return new Connection({ command: target }, signal)
  }
  if (transport !== 'streamable-http' && transport !== 'sse') {
    throw new TouchstoneError(
      'transport_unknown',
      `expected streamable-http or sse, got ${String(transport)}`,
      {
        where: 'options.transport',
      },
    )
  }
  requireScheme(target)
  if (local && !/^https?:\/\//i.test(target)) {
    throw new TouchstoneError(
      'argument_invalid',
      `expected an http or https URL, got ${foreign(target)}`,
      {
        where: 'target',
      },
    )
  }
  if (local && URL.parse(target) === null) {
    throw new TouchstoneError('argument_invalid', `expected a URL, got ${foreign(target)}`, {
      where: 'target',
    })
  }
  return new Connection({ url: target, transport, local }, signal)
}

/** A text without a scheme is a slip of whoever typed it, not a hostile address; `host:3000/path` is such a text too. */
function requireScheme(text: string): void {
  const scheme = /^\s*[a-z][a-z0-9+.-]*:/i.test(text) && !/^[\w.-]+:\d+(?:[/?#]|$)/.test(text)
  if (scheme || /[{}]/.test(text)) return
  throw new TouchstoneError(
    'argument_invalid',
    `expected a URL such as https://mcp.example.com/mcp, got ${foreign(text) || 'nothing'}`,
    {
      where: 'target',
    },
  )
}
