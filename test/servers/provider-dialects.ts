/**
 * A loopback model that speaks as four providers do, for agents that were made elsewhere: chat completions and responses
 * (OpenAI), messages (Anthropic), generateContent (Google). Answers are streamed where the request asks for it.
 *
 * Shapes as the providers document them: platform.openai.com/docs/api-reference (chat, responses-streaming),
 * docs.anthropic.com/en/api (messages, messages-streaming), ai.google.dev/api/generate-content.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export type Dialect = 'chat' | 'responses' | 'messages' | 'generateContent'

/** What a provider was asked, whatever its dialect. */
export type Asked = {
  dialect: Dialect
  /** Names of the tools that were offered. */
  tools: string[]
  /** How many calls of tools stand in the conversation. */
  calls: number
  /** The whole body. */
  text: string
  /** What the answer said that it cost; null where there was none. */
  tokens: Tokens | null
}

/** `input` holds what was read from a cache and written to one, `output` what was thought. */
export type Tokens = {
  input: number
  cacheRead: number
  cacheWritten: number
  output: number
  thought: number
}

/** A call, with what is said before it; or the answer. */
export type Move = { tool: string; input: unknown; says?: string } | { text: string }
/** How it is turned away. */
export type Refused = { status: number }

type Json = { [name: string]: unknown }

/** Of the n-th answer: no two are alike, and no sum of some is that of others. */
function tokensOf(n: number): Tokens {
  const unit = 2 ** (n % 12)
  return {
    input: 10_000 + unit,
    cacheRead: 3000,
    cacheWritten: 500,
    output: 200 + unit,
    thought: 30,
  }
}

/** Start it. `asked` holds what was asked. */
export async function startDialects(play: (asked: Asked) => Move | Refused) {
  const asked: Asked[] = []
  const server = createServer(async (request, response) => {
    const text = await textOf(request)
    const path = new URL(request.url ?? '/', 'http://127.0.0.1').pathname
    const dialect = dialectOf(path)
    if (dialect === null || request.method !== 'POST') {
      response.writeHead(path.endsWith('/models') ? 200 : 404, {
        'content-type': 'application/json',
      })
      response.end('{"object":"list","data":[],"models":[]}')
      return
    }
    const body = JSON.parse(text) as Json
    if (path.endsWith(':countTokens') || path.endsWith('/count_tokens')) {
      response.writeHead(200, { 'content-type': 'application/json' })
      response.end('{"totalTokens":100,"input_tokens":100}')
      return
    }
    const one: Asked = { dialect, text, tokens: null, ...heard[dialect](body) }
    asked.push(one)
    const id = `${asked.length}`
    const streamed = body['stream'] === true || path.includes(':stream')
    const move = play(one)
    if ('status' in move) {
      response.writeHead(move.status, { 'content-type': 'application/json' })
      response.end(JSON.stringify(refusalIn(dialect, move.status)))
      return
    }
    one.tokens = tokensOf(asked.length)
    const model = String(body['model'] ?? 'scripted')
    said[dialect](response, move, { id, model, streamed, tokens: one.tokens })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    /** Without a path: each client appends its own. */
    url: `http://127.0.0.1:${port}`,
    asked,
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

/** The body of a refusal, as each provider documents it. */
function refusalIn(dialect: Dialect, status: number): Json {
  const message = 'The key is not known.'
  if (dialect === 'messages')
    return { type: 'error', error: { type: 'authentication_error', message } }
  if (dialect === 'generateContent')
    return { error: { code: status, message, status: 'UNAUTHENTICATED' } }
  return { error: { message, type: 'invalid_request_error', param: null, code: 'invalid_api_key' } }
}

function dialectOf(path: string): Dialect | null {
  if (path.endsWith('/chat/completions')) return 'chat'
  if (path.endsWith('/responses')) return 'responses'
  if (/\/messages(\/count_tokens)?$/.test(path)) return 'messages'
  return /:(stream)?(generateContent|countTokens)$/i.test(path) ? 'generateContent' : null
}

const list = (value: unknown) => (Array.isArray(value) ? (value as Json[]) : [])
const namesOf = (tools: Json[]) => tools.map((tool) => String(tool['name']))

const heard: { [dialect in Dialect]: (body: Json) => Pick<Asked, 'tools' | 'calls'> } = {
  chat: (body) => ({
    tools: namesOf(list(body['tools']).map((tool) => tool['function'] as Json)),
    calls: list(body['messages']).flatMap((one) => list(one['tool_calls'])).length,
  }),
  responses: (body) => ({
    tools: list(body['tools']).flatMap((tool) =>
      tool['type'] === 'namespace'
        ? list(tool['tools']).map((one) => `${tool['name']}__${one['name']}`)
        : namesOf([tool]),
    ),
    calls: list(body['input']).filter(({ type }) => type === 'function_call').length,
  }),
  messages: (body) => ({
    tools: namesOf(list(body['tools'])),
    calls: list(body['messages'])
      .flatMap((one) => list(one['content']))
      .filter(({ type }) => type === 'tool_use').length,
  }),
  generateContent: (body) => ({
    tools: namesOf(list(body['tools']).flatMap((one) => list(one['functionDeclarations']))),
    calls: list(body['contents'])
      .flatMap((one) => list(one['parts']))
      .filter((part) => 'functionCall' in part).length,
  }),
}

function saidIn(move: Move): string | undefined {
  return 'text' in move ? move.text : move.says
}

type Said = { id: string; model: string; streamed: boolean; tokens: Tokens }
type Say = (response: ServerResponse, move: Move, said: Said) => void

const said: { [dialect in Dialect]: Say } = {
  chat(response, move, { id, model, streamed, tokens }) {
    const head = { id: `chatcmpl-${id}`, created: 1_767_600_000, model }
    const usage = {
      prompt_tokens: tokens.input,
      prompt_tokens_details: { cached_tokens: tokens.cacheRead },
      completion_tokens: tokens.output,
      completion_tokens_details: { reasoning_tokens: tokens.thought },
      total_tokens: tokens.input + tokens.output,
    }
    const calls =
      'text' in move
        ? null
        : [
            {
              index: 0,
              id: `call_${id}`,
              type: 'function',
              function: { name: move.tool, arguments: JSON.stringify(move.input) },
            },
          ]
    const message = {
      role: 'assistant',
      content: saidIn(move) ?? null,
      ...(calls && { tool_calls: calls }),
    }
    const finish_reason = calls ? 'tool_calls' : 'stop'
    if (!streamed) {
      whole(response, {
        ...head,
        object: 'chat.completion',
        choices: [{ index: 0, message, finish_reason }],
        usage,
      })
      return
    }
    const chunk = (choices: Json[], more: Json = {}) => ({
      data: { ...head, object: 'chat.completion.chunk', choices, ...more },
    })
    stream(response, [
      chunk([{ index: 0, delta: message, finish_reason: null }]),
      chunk([{ index: 0, delta: {}, finish_reason }]),
      chunk([], { usage }),
      { data: '[DONE]' },
    ])
  },

  responses(response, move, { id, model, streamed, tokens }) {
    const spoken = saidIn(move)
    const items: Json[] = []
    if (spoken !== undefined)
      items.push({
        type: 'message',
        id: `msg_${id}`,
        role: 'assistant',
        status: 'completed',
        content: [{ type: 'output_text', text: spoken, annotations: [] }],
      })
    if ('tool' in move)
      items.push({
        type: 'function_call',
        id: `fc_${id}`,
        call_id: `call_${id}`,
        ...spaced(move.tool),
        arguments: JSON.stringify(move.input),
        status: 'completed',
      })
    const usage = {
      input_tokens: tokens.input,
      input_tokens_details: { cached_tokens: tokens.cacheRead },
      output_tokens: tokens.output,
      output_tokens_details: { reasoning_tokens: tokens.thought },
      total_tokens: tokens.input + tokens.output,
    }
    const done = {
      id: `resp_${id}`,
      object: 'response',
      created_at: 1_767_600_000,
      model,
      status: 'completed',
      output: items,
      usage,
    }
    if (!streamed) {
      whole(response, done)
      return
    }
    const event = (type: string, more: Json) => ({ event: type, data: { type, ...more } })
    stream(response, [
      event('response.created', { response: { ...done, status: 'in_progress', output: [] } }),
      ...items.flatMap((item, output_index) => [
        event('response.output_item.added', { output_index, item }),
        ...(item['type'] === 'message'
          ? [
              event('response.output_text.delta', {
                item_id: item['id'],
                output_index,
                content_index: 0,
                delta: spoken,
              }),
            ]
          : []),
        event('response.output_item.done', { output_index, item }),
      ]),
      event('response.completed', { response: done }),
    ])
  },

  messages(response, move, { id, model, streamed, tokens }) {
    const spoken = saidIn(move)
    const blocks: Json[] = []
    if (spoken !== undefined) blocks.push({ type: 'text', text: spoken })
    if ('tool' in move)
      blocks.push({ type: 'tool_use', id: `toolu_${id}`, name: move.tool, input: move.input })
    const stop_reason = 'text' in move ? 'end_turn' : 'tool_use'
    const head = { id: `msg_${id}`, type: 'message', role: 'assistant', model, stop_sequence: null }
    // Anthropic counts beside each other what others count within each other.
    const usage = {
      input_tokens: tokens.input - tokens.cacheRead - tokens.cacheWritten,
      cache_read_input_tokens: tokens.cacheRead,
      cache_creation_input_tokens: tokens.cacheWritten,
      output_tokens: tokens.output,
    }
    if (!streamed) {
      whole(response, { ...head, content: blocks, stop_reason, usage })
      return
    }
    const event = (type: string, more: Json = {}) => ({ event: type, data: { type, ...more } })
    const streamedAs = (block: Json) =>
      block['type'] === 'text'
        ? [
            { type: 'text', text: '' },
            { type: 'text_delta', text: block['text'] },
          ]
        : [
            { ...block, input: {} },
            { type: 'input_json_delta', partial_json: JSON.stringify(block['input']) },
          ]
    stream(response, [
      event('message_start', { message: { ...head, content: [], stop_reason: null, usage } }),
      ...blocks.flatMap((block, index) => {
        const [content_block, delta] = streamedAs(block)
        return [
          event('content_block_start', { index, content_block }),
          event('content_block_delta', { index, delta }),
          event('content_block_stop', { index }),
        ]
      }),
      event('message_delta', {
        delta: { stop_reason, stop_sequence: null },
        usage: { output_tokens: tokens.output },
      }),
      event('message_stop'),
    ])
  },

  generateContent(response, move, { model, streamed, tokens }) {
    const spoken = saidIn(move)
    const parts: Json[] = []
    if (spoken !== undefined) parts.push({ text: spoken })
    if ('tool' in move) parts.push({ functionCall: { name: move.tool, args: move.input } })
    const answer = {
      candidates: [{ index: 0, content: { role: 'model', parts }, finishReason: 'STOP' }],
      usageMetadata: {
        promptTokenCount: tokens.input,
        cachedContentTokenCount: tokens.cacheRead,
        candidatesTokenCount: tokens.output - tokens.thought,
        thoughtsTokenCount: tokens.thought,
        totalTokenCount: tokens.input + tokens.output,
      },
      modelVersion: model,
    }
    if (streamed) stream(response, [{ data: answer }])
    else whole(response, answer)
  },
}

/** Codex offers the tools of a server under a namespace: `mcp__github` and `add_deploy_key`. */
function spaced(tool: string): Json {
  const at = tool.lastIndexOf('__')
  return tool.startsWith('mcp__') && at > 5
    ? { namespace: tool.slice(0, at), name: tool.slice(at + 2) }
    : { name: tool }
}

function whole(response: ServerResponse, body: Json) {
  response.writeHead(200, { 'content-type': 'application/json' })
  response.end(JSON.stringify(body))
}

function stream(response: ServerResponse, events: { event?: string; data: unknown }[]) {
  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' })
  for (const { event, data } of events) {
    if (event) response.write(`event: ${event}\n`)
    response.write(`data: ${typeof data === 'string' ? data : JSON.stringify(data)}\n\n`)
  }
  response.end()
}

async function textOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString('utf8')
}
