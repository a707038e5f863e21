/**
 * Spans and metrics for OpenTelemetry, where a process has registered it. Elsewhere nothing is
 * loaded and nothing is done.
 *
 * Names are those of the GenAI and MCP semantic conventions, which are in development. No
 * prompt, answer, argument or message of an error is in any of them.
 */
import { createRequire } from 'node:module'
import { join } from 'node:path'
import type { Attributes, Context, Histogram, Meter, Span, SpanOptions } from '@opentelemetry/api'

type Api = typeof import('@opentelemetry/api')

/** What a span is of. */
export type Traced = {
  name: string
  /** Another process is asked: `client`. */
  kind: 'client' | 'internal'
  attributes: Attributes
  /** The span above it, as W3C writes it; undefined: the one that is at work. */
  parent?: string | undefined
}

const doubled = (from: number, many: number) =>
  Array.from({ length: many }, (_, power) => from * 2 ** power)

/** What is measured in seconds, in the buckets that the conventions name. */
const SECONDS = {
  'gen_ai.client.operation.duration': doubled(0.01, 14),
  'gen_ai.execute_tool.duration': doubled(0.01, 14),
  'gen_ai.invoke_agent.duration': doubled(0.1, 13),
  'mcp.client.operation.duration': [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120, 300],
}
const TOKENS = Array.from({ length: 14 }, (_, power) => 4 ** power)

export class Telemetry {
  private readonly api: Api
  private readonly instruments = new Map<string, Histogram>()
  private meter: Meter | null = null

  constructor(api: Api) {
    this.api = api
  }

  /**
   * Do work inside a span. What it throws ends the span with that error's code, and is thrown.
   *
   * @param ended what is to be added when the work has ended well
   */
  async span<T>(
    { name, kind, attributes, parent }: Traced,
    work: (traceparent: string) => Promise<T>,
    ended: (result: T) => Attributes = () => ({}),
  ): Promise<T> {
    const { trace, context, SpanKind, SpanStatusCode } = this.api
    const options: SpanOptions = { kind: SpanKind[kind === 'client' ? 'CLIENT' : 'INTERNAL'] }
    const above = parent === undefined ? context.active() : this.contextOf(parent)
    const span = trace.getTracer('touchstone').startSpan(name, { ...options, attributes }, above)
    try {
      const result = await context.with(trace.setSpan(above, span), () => work(written(span)))
      const more = ended(result)
      span.setAttributes(more)
      if (more['error.type'] !== undefined) span.setStatus({ code: SpanStatusCode.ERROR })
      return result
    } catch (cause) {
      span.setAttributes({ 'error.type': errorType(cause) })
      span.setStatus({ code: SpanStatusCode.ERROR })
      throw cause
    } finally {
      span.end()
    }
  }

  private contextOf(traceparent: string): Context {
    const { trace, ROOT_CONTEXT, isSpanContextValid } = this.api
    const [, traceId = '', spanId = '', flags = ''] =
      /^00-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$/.exec(traceparent) ?? []
    const above = { traceId, spanId, traceFlags: Number.parseInt(flags, 16), isRemote: true }
    return isSpanContextValid(above) ? trace.setSpanContext(ROOT_CONTEXT, above) : ROOT_CONTEXT
  }

  /** Count how long something took. */
  took(name: keyof typeof SECONDS, ms: number, attributes: Attributes): void {
    this.histogram(name, 's', SECONDS[name]).record(ms / 1000, attributes)
  }

  /** Count what a model call used. What a provider did not say is not counted. */
  used(tokens: { input?: number | undefined; output?: number | undefined }, of: Attributes): void {
    for (const [type, many] of Object.entries(tokens))
      if (Number.isSafeInteger(many))
        this.histogram('gen_ai.client.token.usage', '{token}', TOKENS).record(many as number, {
          ...of,
          'gen_ai.token.type': type,
        })
  }

  private histogram(name: string, unit: string, boundaries: number[]): Histogram {
    this.meter ??= this.api.metrics.getMeter('touchstone')
    let made = this.instruments.get(name)
    if (!made) {
      made = this.meter.createHistogram(name, {
        unit,
        advice: { explicitBucketBoundaries: boundaries },
      })
      this.instruments.set(name, made)
    }
    return made
  }

  /** Hand over what is kept, since the process may end: within 5 s, where a receiver is away. */
  async flush(): Promise<void> {
    const { trace, metrics } = this.api
    type Flushed = { forceFlush?(): Promise<void>; getDelegate?(): Flushed }
    const flushed = [trace.getTracerProvider(), metrics.getMeterProvider()].map((one) => {
      const provider = one as unknown as Flushed
      return Promise.resolve((provider.getDelegate?.() ?? provider).forceFlush?.())
    })
    let timer: NodeJS.Timeout | undefined
    const late = new Promise((resolve) => {
      timer = setTimeout(resolve, 5000)
    })
    await Promise.race([Promise.allSettled(flushed), late])
    clearTimeout(timer)
  }
}

/** A low number of words for what went wrong. */
export function errorType(cause: unknown): string {
  const { code, name } = (cause ?? {}) as { code?: unknown; name?: unknown }
  if (typeof code === 'string' || typeof code === 'number') return `${code}`.slice(0, 60)
  return typeof name === 'string' ? name.slice(0, 60) : '_OTHER'
}

/** A span as W3C writes it. */
function written(span: Span): string {
  const { traceId, spanId, traceFlags } = span.spanContext()
  return `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, '0')}`
}

let made: Telemetry | null = null

/** OpenTelemetry as this process has it; null: nobody has registered any of it. */
export function telemetry(): Telemetry | null {
  // Where the API keeps what was registered, whichever copy of it did that.
  const registered = (globalThis as { [name: symbol]: unknown })[
    Symbol.for('opentelemetry.js.api.1')
  ] as { trace?: unknown; metrics?: unknown } | undefined
  if (!registered?.trace && !registered?.metrics) return null
  if (made) return made
  for (const from of [import.meta.url, join(process.cwd(), 'from-here.js')]) {
    try {
      made = new Telemetry(createRequire(from)('@opentelemetry/api') as Api)
      return made
    } catch (cause) {
      if ((cause as NodeJS.ErrnoException).code !== 'MODULE_NOT_FOUND') throw cause
    }
  }
  return null
}
