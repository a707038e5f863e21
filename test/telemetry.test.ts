/** Spans and metrics of a run, by OpenTelemetry's own SDK. */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { join, resolve } from 'node:path'
import { after, afterEach, before, describe, it } from 'node:test'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { context, metrics, trace } from '@opentelemetry/api'
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks'
import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from '@opentelemetry/sdk-metrics'
import { InMemorySpanExporter, SimpleSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace'
import { cases, harness } from '../lib/index.ts'
import { solves, startGroq } from './servers/groq.ts'

const root = resolve(import.meta.dirname, '..')

describe('a run in a process that has OpenTelemetry', () => {
  const spans = new InMemorySpanExporter()
  const measured = new InMemoryMetricExporter(AggregationTemporality.DELTA)
  const reader = new PeriodicExportingMetricReader({ exporter: measured })
  let test: Awaited<ReturnType<typeof cases.load>>[number]
  before(async () => {
    context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable())
    trace.setGlobalTracerProvider(
      new TracerProvider({ spanProcessors: [new SimpleSpanProcessor({ exporter: spans })] }),
    )
    metrics.setGlobalMeterProvider(new MeterProvider({ readers: [reader] }))
    const [first] = await cases.load('cases/lying_success/deploy-key.yaml')
    test = first as typeof test
  })
  afterEach(() => {
    spans.reset()
    measured.reset()
  })
  after(() => {
    for (const api of [trace, context, metrics]) api.disable()
  })
  const ended = () =>
    spans.getFinishedSpans().map((span) => ({
      name: span.name,
      id: span.spanContext().spanId,
      trace: span.spanContext().traceId,
      above: span.parentSpanContext?.spanId,
      attributes: span.attributes,
      kind: span.kind,
      status: span.status.code,
    }))
  const points = () =>
    measured
      .getMetrics()
      .flatMap(({ scopeMetrics }) => scopeMetrics)
      .flatMap((scope) => scope.metrics)
      .flatMap(({ descriptor: { name, unit }, dataPoints }) =>
        dataPoints.map(({ attributes, value }) => ({
          name,
          unit,
          attributes,
          ...(value as { count: number; sum: number; buckets: { boundaries: number[] } }),
        })),
      )

  it('is one trace: the run, its attempts, the agent, its model calls and its tool calls', async () => {
    const run = await harness
      .run(test)
      .config('a', { model: 'sim/perfect' })
      .repeat(2)
      .out(null)
      .quiet()
    const all = ended()
    const [top] = all.filter(({ name }) => name === 'touchstone.run')
    assert.equal(top?.above, undefined)
    assert.equal(top?.attributes['touchstone.run.id'], run.manifest.id)
    assert.equal(new Set(all.map((one) => one.trace)).size, 1)
    const below = (id: string | undefined) => all.filter(({ above }) => above === id)
    const attempts = below(top?.id)
    assert.deepEqual(
      attempts.map(({ name, attributes }) => [name, attributes['touchstone.key']]).sort(),
      run.trials.map(({ key }) => ['touchstone.trial', key]).sort(),
    )
    for (const attempt of attempts) {
      assert.equal(attempt.attributes['touchstone.outcome'], 'pass')
      const [agent, ...more] = below(attempt.id)
      assert.deepEqual([agent?.name, more], ['invoke_agent a', []])
      assert.deepEqual(
        {
          ...agent?.attributes,
          ...{ 'gen_ai.usage.input_tokens': 0, 'gen_ai.usage.output_tokens': 0 },
        },
        {
          'gen_ai.operation.name': 'invoke_agent',
          'gen_ai.agent.name': 'a',
          'gen_ai.request.model': 'perfect',
          'gen_ai.provider.name': 'sim',
          'gen_ai.usage.input_tokens': 0,
          'gen_ai.usage.output_tokens': 0,
        },
      )
      const names = below(agent?.id).map(({ name }) => name)
      assert.ok(names.includes('chat perfect'), names.join())
      const tools = below(agent?.id).filter(({ name }) => name.startsWith('execute_tool'))
      const { key } = { key: attempt.attributes['touchstone.key'] }
      const trial = run.trials.find((one) => one.key === key)
      assert.equal(tools.length, trial?.calls)
      for (const { attributes, name } of tools) {
        assert.equal(name, `execute_tool ${attributes['gen_ai.tool.name']}`)
        assert.equal(attributes['gen_ai.operation.name'], 'execute_tool')
        assert.equal(attributes['mcp.method.name'], 'tools/call')
      }
    }
  })

  it('says of a model call what the conventions ask for, and counts its tokens and its time', async () => {
    let calls = 0
    const groq = await startGroq({
      turns: solves(test),
      refuse: () => (calls++ === 0 ? { status: 500 } : null),
    })
    try {
      await harness
        .run(test)
        .config('a', {
          model: 'groq/openai/gpt-oss-20b',
          baseURL: groq.url,
          apiKey: 'gsk_very-secret-key',
          temperature: 0.5,
          maxOutputTokens: 300,
        })
        .repeat(1)
        .out(null)
        .quiet()
    } finally {
      await groq.close()
    }
    await reader.forceFlush()
    const chats = ended().filter(({ name }) => name.startsWith('chat'))
    const [first] = chats
    assert.equal(first?.name, 'chat openai/gpt-oss-20b')
    assert.equal(first?.kind, 2, 'a client')
    const { 'gen_ai.request.seed': seed, ...said } = first?.attributes ?? {}
    assert.equal(typeof seed, 'number')
    assert.deepEqual(said, {
      'gen_ai.operation.name': 'chat',
      'gen_ai.provider.name': 'groq',
      'gen_ai.request.model': 'openai/gpt-oss-20b',
      'gen_ai.request.temperature': 0.5,
      'gen_ai.request.max_tokens': 300,
      'gen_ai.response.model': 'openai/gpt-oss-20b',
      'gen_ai.response.finish_reasons': ['tool-calls'],
      'gen_ai.usage.input_tokens': 100,
      'gen_ai.usage.output_tokens': 20,
    })
    const of = { 'gen_ai.operation.name': 'chat', 'gen_ai.provider.name': 'groq' }
    const model = { 'gen_ai.request.model': 'openai/gpt-oss-20b' }
    const tokens = points().filter(({ name }) => name === 'gen_ai.client.token.usage')
    assert.deepEqual(
      tokens.map(({ attributes, unit, count, sum, buckets }) => ({
        attributes,
        unit,
        mean: sum / count,
        count,
        first: buckets.boundaries.slice(0, 3),
      })),
      (['input', 'output'] as const).map((type) => ({
        attributes: { ...of, ...model, 'gen_ai.token.type': type },
        unit: '{token}',
        mean: { input: 100, output: 20 }[type],
        count: chats.length,
        first: [1, 4, 16],
      })),
    )
    const [took] = points().filter(({ name }) => name === 'gen_ai.client.operation.duration')
    assert.deepEqual([took?.unit, took?.count], ['s', chats.length])
    assert.deepEqual(took?.attributes, { ...of, ...model })
    const names = new Set(points().map(({ name }) => name))
    for (const name of ['invoke_agent', 'execute_tool'])
      assert.ok(names.has(`gen_ai.${name}.duration`), name)
    assert.ok(names.has('mcp.client.operation.duration'))
  })

  it('ends what failed with an error’s code, and never with its message', async () => {
    const groq = await startGroq({ turns: solves(test), refuse: () => ({ status: 401 }) })
    try {
      await harness
        .run(test)
        .config('a', { model: 'groq/m', baseURL: groq.url, apiKey: 'gsk_very-secret-key' })
        .repeat(1)
        .out(null)
        .quiet()
    } finally {
      await groq.close()
    }
    const chat = ended().find(({ name }) => name === 'chat m')
    assert.equal(chat?.status, 2, 'an error')
    assert.equal(chat?.attributes['error.type'], 'credentials_refused')
    assert.ok(spans.getFinishedSpans().every(({ status }) => status.message === undefined))
  })

  it('holds no argument, answer, prompt, instruction or key', async () => {
    const groq = await startGroq({ turns: solves(test) })
    try {
      await harness
        .run(test)
        .config('a', {
          model: 'groq/m',
          baseURL: groq.url,
          apiKey: 'gsk_very-secret-key',
          instructions: 'Instruction-canary.',
        })
        .config('b', { agent: async () => 'Answer-canary.' })
        .repeat(1)
        .out(null)
        .quiet()
    } finally {
      await groq.close()
    }
    const text = JSON.stringify(ended())
    const inputs = test.solution.flatMap(({ with: given }) => Object.values(given ?? {}))
    const told = [test.task, 'gsk_very-secret', 'canary', ...inputs.map(String)]
    assert.ok(inputs.length > 0)
    for (const one of told) assert.ok(one.length < 3 || !text.includes(one), one)
  })
})

describe('a run in a process without OpenTelemetry', () => {
  it('loads nothing of it', async () => {
    const code = `
      import { createRequire } from 'node:module'
      import { cases, harness } from ${JSON.stringify(pathToFileURL(join(root, 'lib/index.ts')).href)}
      const run = await harness.run(await cases.load('cases/lying_success/deploy-key.yaml'))
        .config('a', { model: 'sim/naive' }).repeat(1).out(null).quiet()
      const loaded = Object.keys(createRequire(import.meta.url).cache)
      console.log(run.complete, loaded.filter((path) => path.includes('opentelemetry')).length)`
    const args = ['--import', 'tsx', '--input-type=module', '-e', code]
    const env = { ...process.env, NODE_TEST_CONTEXT: undefined }
    const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: root, env })
    assert.equal(stdout, 'true 0\n')
  })
})
