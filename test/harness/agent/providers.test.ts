/** Models by name, tool results of every kind, names that providers do not take, and answers that are cut off. */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { type ModelSource, sourceOf } from '../../../lib/harness/agent/model.ts'
import { offeredName } from '../../../lib/harness/agent/recorder.ts'
import { modelOutput, textOf } from '../../../lib/harness/agent/tool-result.ts'
import { Limiters } from '../../../lib/harness/model/limiter.ts'
import { refusalOf, waitOf } from '../../../lib/harness/model/provider-refusal.ts'
import { PROVIDERS } from '../../../lib/harness/model/providers.ts'
import { cases, harness } from '../../../lib/index.ts'
import { type ChatRequest, startGroq } from '../../servers/groq.ts'

describe('a model by name', () => {
  const kept = { ...process.env }
  before(() => {
    for (const { keyVariable, urlVariable } of Object.values(PROVIDERS)) {
      process.env[keyVariable] = 'k-1'
      delete process.env[urlVariable]
    }
  })
  after(() => {
    process.env = kept
  })
  const source = (model: string, more: Partial<harness.Configuration> = {}) =>
    sourceOf('m', { model, ...more }, new Limiters()) as Promise<ModelSource>

  for (const [name, { package: from }] of Object.entries(PROVIDERS)) {
    it(`${name}/... is made by ${from}`, async () => {
      const more = name === 'local' ? { baseURL: 'http://127.0.0.1:9/v1' } : {}
      const { id, simulated, package: used } = await source(`${name}/some/model`, more)
      assert.deepEqual([id, simulated, used], [`${name}/some/model`, false, from])
    })
  }

  it('without its key: setting_missing names the variable', async () => {
    delete process.env['ANTHROPIC_API_KEY']
    await assert.rejects(source('anthropic/claude'), {
      code: 'setting_missing',
      message: /ANTHROPIC_API_KEY/,
    })
    await source('anthropic/claude', { apiKey: '$OPENAI_API_KEY' })
    await assert.rejects(source('openai/x', { apiKey: '$NO_SUCH_KEY' }), { message: /NO_SUCH_KEY/ })
  })

  for (const [got, meant] of [
    ['opeani/gpt-5', 'openai/gpt-5'],
    ['antropic/claude', 'anthropic/claude'],
    ['sim/carefull', 'sim/careful'],
    ['olama/qwen3:4b', 'ollama/qwen3:4b'],
  ] as const) {
    it(`${got}: did you mean ${meant}?`, () =>
      assert.rejects(source(got), {
        code: 'model_unknown',
        message: new RegExp(`did you mean ${meant}\\?`),
      }))
  }

  it('a name that is like none gets no suggestion', async () => {
    await assert.rejects(
      source('mistral/large'),
      (error: Error) => !error.message.includes('did you mean'),
    )
  })
})

describe('the end of a model call', () => {
  const bodies: [who: string, status: number, error: object][] = [
    [
      'OpenAI',
      400,
      {
        code: 'context_length_exceeded',
        message: "This model's maximum context length is 8192 tokens.",
      },
    ],
    [
      'llama.cpp',
      400,
      {
        code: 400,
        type: 'exceed_context_size_error',
        message: 'the request exceeds the available context size',
      },
    ],
    [
      'Anthropic',
      400,
      {
        type: 'invalid_request_error',
        message: 'prompt is too long: 210000 tokens > 200000 maximum',
      },
    ],
    [
      'Google',
      400,
      {
        code: 400,
        message:
          'The input token count (1200000) exceeds the maximum number of tokens allowed (1048575).',
      },
    ],
  ]
  for (const [who, status, error] of bodies) {
    it(`a context that is full is the agent’s doing, as ${who} says it`, () => {
      const { kind, code } = refusalOf({
        statusCode: status,
        responseBody: JSON.stringify({ error }),
      })
      assert.deepEqual([kind, code], ['outcome', 'context_exceeded'])
    })
  }

  it('a wait may be said as a duration', () =>
    assert.equal(waitOf({ 'retry-after': '7m12s' }, '', 0), 432_000))

  it('a full context fails the trial, and the world is judged; the finish reasons length and content_filter are endings', async () => {
    const [test] = await cases.load('cases/lying_success/deploy-key.yaml')
    const trial = async (finish: string | null) => {
      const server = await startGroq({
        turns: () => ({ text: 'I will look at' }),
        ...(finish !== null && { finish }),
        refuse: () =>
          finish === null
            ? {
                status: 400,
                body: { error: { code: 'context_length_exceeded', message: 'too long' } },
              }
            : null,
      })
      const run = await harness
        .run(test as NonNullable<typeof test>)
        .config('m', { model: 'local/m', baseURL: server.url })
        .repeat(1)
        .out(null)
        .quiet()
      await server.close()
      const row = run.trials[0] as (typeof run.trials)[number]
      return [row.outcome, row.ending, row.error?.code ?? null, row.refused]
    }
    assert.deepEqual(await trial(null), ['fail', 'context_exceeded', 'context_exceeded', false])
    assert.deepEqual(await trial('length'), ['fail', 'length', null, false])
    assert.deepEqual(await trial('content_filter'), ['fail', 'content_filter', null, false])
  })

  it('a refused key stops its own configuration, and the other one ends', async () => {
    const [test] = await cases.load('cases/lying_success/deploy-key.yaml')
    const server = await startGroq({
      turns: () => ({ text: 'x' }),
      refuse: ({ model }: ChatRequest) =>
        model === 'locked' ? { status: 401, body: { error: { message: 'bad key' } } } : null,
    })
    const run = await harness
      .run(test as NonNullable<typeof test>)
      .config('locked', { model: 'local/locked', baseURL: server.url })
      .config('open', { model: 'local/open', baseURL: server.url })
      .repeat(3)
      .out(null)
      .quiet()
    await server.close()
    assert.deepEqual([...new Set(run.trials.map((row) => row.configuration))], ['open'])
    assert.equal(run.trials.length, 3)
    assert.match(run.halted ?? '', /^local\/locked: credentials_refused: HTTP 401: bad key$/)
  })
})

describe('a malformed tool call', () => {
  for (const [what, turn] of [
    ['for no tool', { tool: 'rm_rf', input: { key: 'ssh-ed25519 SECRET' } }],
    ['with arguments that break off', { tool: 'list_deploy_keys', raw: '{"owner": "ac' }],
    ['with null', { tool: 'list_deploy_keys', raw: 'null' }],
    ['with a list', { tool: 'list_deploy_keys', raw: '[1]' }],
    ['of report', { tool: 'report', input: { summary: 's', claims: 'all' } }],
  ] as const) {
    it(`${what} is in the transcript and counted`, async () => {
      const [test] = await cases.load('cases/lying_success/deploy-key.yaml')
      const server = await startGroq({
        turns: (_, n) =>
          n === 0 ? (turn as never) : { tool: 'report', input: { summary: '', claims: [] } },
      })
      const run = await harness
        .run(test as NonNullable<typeof test>)
        .config('m', { model: 'local/m', baseURL: server.url })
        .repeat(1)
        .out(null)
        .quiet()
      await server.close()
      const row = run.trials[0] as (typeof run.trials)[number]
      const [call] = run.transcript(row.key)['malformed'] as { tool: string; problem: string }[]
      assert.deepEqual([row.malformed, call?.tool, row.calls], [1, turn.tool, 0])
      assert.ok(!JSON.stringify(call).includes('SECRET'))
    })
  }
})

describe('a tool’s result', () => {
  const blob = Buffer.from('hello').toString('base64')
  const image = { type: 'image' as const, mimeType: 'image/png', data: blob }
  for (const [what, result, text] of [
    [
      'texts',
      {
        content: [
          { type: 'text', text: 'a' },
          { type: 'text', text: 'b' },
        ],
      },
      'a\nb',
    ],
    [
      'an embedded text',
      {
        content: [
          { type: 'resource', resource: { uri: 'file:///a', mimeType: 'text/plain', text: 'A' } },
        ],
      },
      '[resource file:///a, text/plain]\nA',
    ],
    [
      'embedded bytes',
      { content: [{ type: 'resource', resource: { uri: 'file:///b', blob } }] },
      '[resource file:///b] (5 bytes)',
    ],
    [
      'a link',
      { content: [{ type: 'resource_link', uri: 'file:///c', name: 'c', description: 'the log' }] },
      '[link file:///c] c: the log',
    ],
    ['an image', { content: [image] }, '[image image/png, 5 bytes]'],
    ['structured content alone', { content: [], structuredContent: { n: 1 } }, '{"n":1}'],
    [
      'structured content beside its text',
      { content: [{ type: 'text', text: 'n is 1' }], structuredContent: { n: 1 } },
      'n is 1',
    ],
  ] as const) {
    it(`that is ${what} reaches the model`, () => assert.equal(textOf(result as never), text))
  }

  it('with an image is handed on as a file where the model takes one', () => {
    const result = { content: [{ type: 'text' as const, text: 'a' }, image] }
    assert.deepEqual(modelOutput(result, true), {
      type: 'content',
      value: [
        { type: 'text', text: 'a' },
        { type: 'file', mediaType: 'image/png', data: { type: 'data', data: blob } },
      ],
    })
    assert.deepEqual(modelOutput(result, false), {
      type: 'text',
      value: 'a\n[image image/png, 5 bytes]',
    })
  })
})

describe('the name of a tool', () => {
  it('is its own where providers take it, and else one that they do, by which it is called and claimed', async () => {
    for (const name of ['files.read', 'x'.repeat(100), 'ä'])
      assert.match(offeredName('s', name, 1), /^[A-Za-z0-9_-]{1,64}$/)
    assert.notEqual(
      offeredName('s', `${'x'.repeat(100)}1`, 1),
      offeredName('s', `${'x'.repeat(100)}2`, 1),
    )
    assert.equal(offeredName('github', 'add_deploy_key', 1), 'add_deploy_key')
  })
})
