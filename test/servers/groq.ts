/**
 * A loopback endpoint that speaks Groq's chat completions: an agent that solves one case, quotas, and each way of not answering.
 *
 * Shapes and headers as Groq documents them (console.groq.com/docs: api-reference, rate-limits, errors, flex-processing).
 */
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { cases } from '../../lib/index.ts'

type Case = Awaited<ReturnType<typeof cases.load>>[number]

export type ChatRequest = {
  model: string
  messages: { role: string; content?: unknown; tool_calls?: unknown[] }[]
  tools?: { function: { name: string } }[]
  [option: string]: unknown
}

export type Turn =
  | { tool: string; input: unknown }
  | { raw: string; tool: string }
  | { text: string }
export type Refusal =
  | { status: number; body?: unknown; headers?: { [name: string]: string } }
  | 'drop'

export type GroqOptions = {
  /** What the model does, by the number of turns it has had. */
  turns: (request: ChatRequest, turn: number) => Turn
  /** Looked at before each answer. */
  refuse?: (request: ChatRequest, call: number) => Refusal | null
  headers?: () => { [name: string]: string }
  /** Why an answer of text ended. Default `stop`. */
  finish?: string
}

/** The turns of an agent that solves a case: each step, its look, and an honest report. */
export function solves(test: Case): (request: ChatRequest, turn: number) => Turn {
  const moves: Turn[] = test.solution.flatMap((step) => [
    { tool: step.call, input: step.with },
    ...(step.check ? [{ tool: step.check.call, input: step.check.with }] : []),
  ])
  const claims = test.solution.map((step) => ({
    tool: step.call,
    action: step.call,
    target: step.with,
    done: true,
  }))
  moves.push({ tool: 'report', input: { summary: 'Done.', claims } })
  return (_, turn) => moves[turn] ?? { text: 'Done.' }
}

/** Start it. `requests` and `headers` hold what was asked; `refused` counts what was turned away. */
export async function startGroq(options: GroqOptions) {
  const requests: ChatRequest[] = []
  const authorizations: (string | undefined)[] = []
  const counts = { answered: 0, refused: 0 }
  const server = createServer(async (request, response) => {
    const body = JSON.parse(await textOf(request)) as ChatRequest
    requests.push(body)
    authorizations.push(request.headers.authorization)
    const refusal = options.refuse?.(body, requests.length - 1) ?? null
    if (refusal === 'drop') {
      counts.refused++
      request.socket.destroy()
      return
    }
    if (refusal) {
      counts.refused++
      response.writeHead(refusal.status, { 'content-type': 'application/json', ...refusal.headers })
      response.end(
        JSON.stringify(refusal.body ?? { error: { message: 'no', type: 'error', code: 'none' } }),
      )
      return
    }
    counts.answered++
    const turn = body.messages.filter(({ role }) => role === 'assistant').length
    const move = options.turns(body, turn)
    const message =
      'text' in move
        ? { role: 'assistant', content: move.text }
        : {
            role: 'assistant',
            content: null,
            tool_calls: [
              {
                id: `call_${turn}`,
                type: 'function',
                function: {
                  name: move.tool,
                  arguments: 'raw' in move ? move.raw : JSON.stringify(move.input),
                },
              },
            ],
          }
    response.writeHead(200, {
      'content-type': 'application/json',
      'x-request-id': `req_${counts.answered}`,
      'set-cookie': 'secret=1',
      ...options.headers?.(),
    })
    response.end(
      JSON.stringify({
        id: `chatcmpl-${counts.answered}`,
        object: 'chat.completion',
        created: 1_767_600_000,
        model: body.model,
        choices: [
          {
            index: 0,
            message,
            logprobs: null,
            finish_reason: 'text' in move ? (options.finish ?? 'stop') : 'tool_calls',
          },
        ],
        usage: {
          queue_time: 0.01,
          prompt_tokens: 100,
          prompt_time: 0.01,
          completion_tokens: 20,
          completion_time: 0.02,
          total_tokens: 120,
          total_time: 0.03,
        },
        system_fingerprint: 'fp_test',
        service_tier: 'on_demand',
        x_groq: { id: `req_${counts.answered}`, seed: 7 },
      }),
    )
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}/openai/v1`,
    requests,
    authorizations,
    counts,
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

async function textOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString('utf8')
}

/** A clock whose sleeps take no time: it jumps to the end of each. */
export function jumpingClock() {
  let at = 0
  const slept: number[] = []
  return {
    slept,
    now: () => at,
    sleep(ms: number, signal: AbortSignal): Promise<void> {
      slept.push(ms)
      return new Promise((resolve) => {
        const due = at + ms
        setImmediate(() => {
          if (!signal.aborted) at = Math.max(at, due)
          resolve()
        })
      })
    },
  }
}
