/** A server that does everything right over streamable HTTP, and the means to make it do one thing wrong. */
import type { Behaviour, Exchange } from './stage.ts'

export const TOOLS = [
  { name: 'list_items', description: 'Lists items.', inputSchema: { type: 'object' } },
  { name: 'get_item', description: 'Gets one item.', inputSchema: { type: 'object' } },
]

export const INITIALIZED = {
  protocolVersion: '2025-06-18',
  capabilities: { tools: {} },
  serverInfo: { name: 'well', version: '1.0.0' },
}

export const SESSION = 'session-1'

/** A JSON-RPC result as text. */
export function result(id: unknown, value: unknown): string {
  return JSON.stringify({ jsonrpc: '2.0', id, result: value })
}

export function rpcError(id: unknown, code: number, message: string): string {
  return JSON.stringify({ jsonrpc: '2.0', id, error: { code, message } })
}

export function json(
  res: Exchange['res'],
  text: string | Buffer,
  headers: Record<string, string> = {},
  status = 200,
): void {
  res.writeHead(status, { 'content-type': 'application/json', ...headers })
  res.end(text)
}

/** Open an event stream and write these pieces into it. */
export function events(res: Exchange['res'], pieces: (string | Buffer)[], end = true): void {
  res.writeHead(200, { 'content-type': 'text/event-stream' })
  for (const piece of pieces) res.write(piece)
  if (end) res.end()
}

/** What the server would answer to a request, as a JSON-RPC text. */
export function answer({ id, rpc }: Exchange): string {
  return result(id, rpc === 'initialize' ? INITIALIZED : { tools: TOOLS })
}

/** Right in everything; opens a session. */
export const well: Behaviour = (exchange) => {
  const { res, rpc, method } = exchange
  if (method === 'DELETE') return res.writeHead(200).end()
  if (rpc === 'notifications/initialized') return res.writeHead(202).end()
  return json(res, answer(exchange), rpc === 'initialize' ? { 'mcp-session-id': SESSION } : {})
}

export type Part = 'initialize' | 'notifications/initialized' | 'tools/list' | 'DELETE'

/** Right in everything but these parts. */
export function wellBut(parts: Partial<Record<Part, Behaviour>>): Behaviour {
  return (exchange) => (parts[(exchange.rpc ?? exchange.method) as Part] ?? well)(exchange)
}

/** `initialize` answered with these headers and this body. */
export function initializeWith(
  status: number,
  headers: Record<string, string>,
  body: string | Buffer = '',
): Behaviour {
  return wellBut({ initialize: ({ res }) => res.writeHead(status, headers).end(body) })
}

/** `initialize` answered with a JSON body made from its id. */
export function initializeAs(
  make: (id: unknown) => string | Buffer,
  headers: Record<string, string> = {},
  status = 200,
): Behaviour {
  return wellBut({ initialize: ({ res, id }) => json(res, make(id), headers, status) })
}

/** Every request answered by an event stream of these pieces, `ANSWER` standing for the right answer. */
export function streamedAs(
  make: (answer: string, exchange: Exchange) => (string | Buffer)[],
  end = true,
): Behaviour {
  const stream: Behaviour = (exchange) =>
    events(exchange.res, make(answer(exchange), exchange), end)
  return wellBut({ initialize: stream, 'tools/list': stream })
}
