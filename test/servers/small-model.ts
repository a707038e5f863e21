/**
 * A real language model: SmolLM2-135M-Instruct behind llama.cpp, as `.ci/model` installs it.
 *
 * Left alone it writes prose and calls nothing. So a server stands between that asks llama.cpp for an answer of the form
 * `{ name, arguments }` and hands it on as a tool call. Which tool, with which arguments, and whether the answer ends in time, is
 * the model's own doing.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join, resolve } from 'node:path'
import { createInterface } from 'node:readline'

const root = resolve(import.meta.dirname, '..', '..')
/** The Python that `.ci/model` makes. */
export const PYTHON = join(root, '.cache', 'model', 'bin', 'python')

type Answer = {
  choices: { finish_reason: string; message: { content: string | null; tool_calls?: unknown } }[]
}

/** Start it. `url` is that of an OpenAI-compatible API. */
export async function startSmallModel(): Promise<{ url: string; close(): Promise<void> }> {
  const script = join(root, 'test', 'servers', 'small-model.py')
  const child = spawn(PYTHON, [script], { stdio: ['pipe', 'pipe', 'ignore'] })
  const lines = createInterface({ input: child.stdout })
  const engine = await new Promise<string>((found, failed) => {
    lines.once('line', found)
    child.once('exit', (code) => failed(new Error(`the engine ended with ${code}`)))
  })
  const server = createServer(async (request, response) => {
    const asked = await fetch(`${engine}${request.url}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(asking(JSON.parse(await textOf(request)))),
    })
    const text = await asked.text()
    response.writeHead(asked.status, { 'content-type': 'application/json' })
    response.end(asked.ok ? JSON.stringify(called(JSON.parse(text) as Answer)) : text)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    async close() {
      server.closeAllConnections()
      server.close()
      const ended = once(child, 'exit')
      child.stdin.end()
      child.kill()
      await ended
    },
  }
}

type Request = {
  tools?: { function: { name: string } }[]
  tool_choice?: unknown
  max_tokens?: number
}

/** The request with the form that an answer must have. */
function asking({ tool_choice: _, ...request }: Request) {
  const names = (request.tools ?? []).map((tool) => tool.function.name)
  const schema = {
    type: 'object',
    properties: { name: { enum: names }, arguments: { type: 'object' } },
    required: ['name', 'arguments'],
    additionalProperties: false,
  }
  return {
    max_tokens: 64,
    ...request,
    ...(names.length > 0 && {
      response_format: { type: 'json_schema', json_schema: { name: 'call', schema } },
    }),
  }
}

/** The answer with its JSON as a tool call. One that broke off stays the text that it is. */
function called(answer: Answer): Answer {
  for (const choice of answer.choices) {
    try {
      const { name, arguments: input } = JSON.parse(choice.message.content ?? '')
      choice.message = {
        ...choice.message,
        content: null,
        tool_calls: [
          { id: 'call', type: 'function', function: { name, arguments: JSON.stringify(input) } },
        ],
      }
      choice.finish_reason = 'tool_calls'
    } catch {
      // No call.
    }
  }
  return answer
}

async function textOf(request: IncomingMessage): Promise<string> {
  let text = ''
  for await (const part of request.setEncoding('utf8')) text += part
  return text
}
