/** A server of revision 2026-07-28 that does everything right, and the means to make it do one thing wrong. */
import type { Behaviour, Exchange } from './stage.ts'
import { events, json, result, rpcError, TOOLS } from './well.ts'

const VERSION = '2026-07-28'
const CACHE = { resultType: 'complete', ttlMs: 60_000, cacheScope: 'public' }

export const DISCOVERED = {
  ...CACHE,
  supportedVersions: [VERSION, '2025-11-25'],
  capabilities: { tools: {} },
  _meta: { 'io.modelcontextprotocol/serverInfo': { name: 'modern', version: '2.0.0' } },
}
export const LISTED = { ...CACHE, tools: TOOLS }

/** Right in everything. */
export const modern: Behaviour = ({ res, rpc, id, method }) => {
  if (method !== 'POST') return res.writeHead(405).end()
  if (rpc === 'server/discover') return json(res, result(id, DISCOVERED))
  if (rpc === 'tools/list') return json(res, result(id, LISTED))
  return json(res, rpcError(id, -32601, 'Method not found'), {}, 404)
}

export function modernBut(discover: Behaviour | null, list: Behaviour | null = null): Behaviour {
  return (x) =>
    x.rpc === 'server/discover' && discover
      ? discover(x)
      : x.rpc === 'tools/list' && list
        ? list(x)
        : modern(x)
}

/** A result that differs from the right one in these members; undefined leaves one out. */
export const as =
  (right: object, change: object): Behaviour =>
  ({ res, id }) =>
    json(res, result(id, { ...right, ...change }))

/** A JSON-RPC error with this status. */
export const refuses =
  (status: number, code: number, data?: object, headers: Record<string, string> = {}): Behaviour =>
  ({ res, id }) =>
    json(
      res,
      JSON.stringify({ jsonrpc: '2.0', id, error: { code, message: 'Refused', data } }),
      headers,
      status,
    )

/** The right answer as the last event of a stream, behind these. */
export const behind =
  (right: object, ...before: object[]): Behaviour =>
  ({ res, id }: Exchange) =>
    events(
      res,
      [...before.map((each) => JSON.stringify(each)), result(id, right)].map(
        (text) => `data: ${text}\n\n`,
      ),
    )
