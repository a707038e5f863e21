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
}

export type Move = { tool: string; input: unknown } | { text: string }
/** How it is turned away. */
export type Refused = { status: number }

type Json = { [name: string]: unknown }
const USAGE = { input: 100, output: 20 }

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
    const one: Asked = { dialect, text, ...heard[dialect](body) }
    asked.push(one)
    const id = `${asked.length}`
    const streamed = body['stream'] === true || path.includes(':stream')
    const move = play(one)
    if ('status' in move) {
      response.writeHead(move.status, { 'content-type': 'application/json' })
      response.end(JSON.stringify(refusalIn(dialect, move.status)))
      return
    }
    said[dialect](response, move, id, String(body['model'] ?? 'scripted'), streamed)
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

type Say = (
  response: ServerResponse,
  move: Move,
  id: string,
  model: string,
  streamed: boolean,
) => void

const said: { [dialect in Dialect]: Say } = {
  chat(response, move, id, model, streamed) {
    const head = { id: `chatcmpl-${id}`, created: 1_767_600_000, model }
    const usage = { prompt_tokens: USAGE.input, completion_tokens: USAGE.output, total_tokens: 120 }
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
      content: 'text' in move ? move.text : null,
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

  responses(response, move, id, model, streamed) {
    const item: Json =
      'text' in move
        ? {
            type: 'message',
            id: `msg_${id}`,
            role: 'assistant',
            status: 'completed',
            content: [{ type: 'output_text', text: move.text, annotations: [] }],
          }
        : {
            type: 'function_call',
            id: `fc_${id}`,
            call_id: `call_${id}`,
            ...spaced(move.tool),
            arguments: JSON.stringify(move.input),
            status: 'completed',
          }
    const usage = {
      input_tokens: USAGE.input,
      input_tokens_details: { cached_tokens: 0 },
      output_tokens: USAGE.output,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: 120,
    }
    const done = {
      id: `resp_${id}`,
      object: 'response',
      created_at: 1_767_600_000,
      model,
      status: 'completed',
      output: [item],
      usage,
    }
    if (!streamed) {
      whole(response, done)
      return
    }
    const event = (type: string, more: Json) => ({ event: type, data: { type, ...more } })
    stream(response, [
      event('response.created', { response: { ...done, status: 'in_progress', output: [] } }),
      event('response.output_item.added', { output_index: 0, item }),
      ...('text' in move
        ? [
            event('response.output_text.delta', {
              item_id: `msg_${id}`,
              output_index: 0,
              content_index: 0,
              delta: move.text,
            }),
          ]
        : []),
      event('response.output_item.done', { output_index: 0, item }),
      event('response.completed', { response: done }),
    ])
  },

  messages(response, move, id, model, streamed) {
    const block: Json =
      'text' in move
        ? { type: 'text', text: move.text }
        : { type: 'tool_use', id: `toolu_${id}`, name: move.tool, input: move.input }
    const stop_reason = 'text' in move ? 'end_turn' : 'tool_use'
    const head = { id: `msg_${id}`, type: 'message', role: 'assistant', model, stop_sequence: null }
    const usage = { input_tokens: USAGE.input, output_tokens: USAGE.output }
    if (!streamed) {
      whole(response, { ...head, content: [block], stop_reason, usage })
      return
    }
    const event = (type: string, more: Json = {}) => ({ event: type, data: { type, ...more } })
    const [empty, delta] =
      'text' in move
        ? [
            { type: 'text', text: '' },
            { type: 'text_delta', text: move.text },
          ]
        : [
            { ...block, input: {} },
            { type: 'input_json_delta', partial_json: JSON.stringify(move.input) },
          ]
    stream(response, [
      event('message_start', { message: { ...head, content: [], stop_reason: null, usage } }),
      event('content_block_start', { index: 0, content_block: empty }),
      event('content_block_delta', { index: 0, delta }),
      event('content_block_stop', { index: 0 }),
      event('message_delta', {
        delta: { stop_reason, stop_sequence: null },
        usage: { output_tokens: USAGE.output },
      }),
      event('message_stop'),
    ])
  },

  generateContent(response, move, _, model, streamed) {
    const part =
      'text' in move ? { text: move.text } : { functionCall: { name: move.tool, args: move.input } }
    const answer = {
      candidates: [{ index: 0, content: { role: 'model', parts: [part] }, finishReason: 'STOP' }],
      usageMetadata: {
        promptTokenCount: USAGE.input,
        candidatesTokenCount: USAGE.output,
        totalTokenCount: 120,
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
