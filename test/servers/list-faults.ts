/** Faults in the tool list: errors, cursors, and tools that are none. */
import { DELETE, type Fault, INIT, LIST, never, OPEN, passes, READY } from './fault.ts'
import type { Behaviour } from './stage.ts'
import { json, result, rpcError, TOOLS, wellBut } from './well.ts'

const listing = (behave: Behaviour): Behaviour => wellBut({ 'tools/list': behave })

export const LIST_FAULTS: Fault[] = [
  passes(
    'tools/list answered 401',
    listing(({ res }) => res.writeHead(401).end()),
    { toolList: 'http_401' },
  ),
  passes(
    'tools/list answered with an error',
    listing(({ res, id }) => json(res, rpcError(id, -32601, 'Method not found'))),
    { toolList: 'rpc_error' },
  ),
  passes('tools/list never answered', listing(never), {
    toolList: 'timed_out',
    slow: true,
    sent: OPEN,
  }),
  passes(
    'tools/list over the byte limit',
    listing(({ res, id }) => json(res, result(id, { tools: TOOLS }).padEnd(1_000_001))),
    { toolList: 'answer_too_large' },
  ),
  passes(
    'tools/list redirected',
    listing(({ res }) => res.writeHead(307, { location: '/' }).end()),
    { toolList: 'redirect' },
  ),
  passes(
    'an empty list',
    listing(({ res, id }) => json(res, result(id, { tools: [] }))),
    { tools: { named: 0 } },
  ),
  passes(
    'a result without a list',
    listing(({ res, id }) => json(res, result(id, {}))),
    { tools: { named: 0 } },
  ),
  passes(
    'nextCursor null',
    listing(({ res, id }) => json(res, result(id, { tools: TOOLS, nextCursor: null }))),
    { tools: { named: 2 } },
  ),
  passes(
    'nextCursor a number',
    listing(({ res, id }) => json(res, result(id, { tools: TOOLS, nextCursor: 7 }))),
    { tools: { named: 2 } },
  ),
  passes(
    'null among the tools, no schema',
    listing(({ res, id }) =>
      json(res, result(id, { tools: [null, { name: 'a' }, { name: 5 }, 'x'] })),
    ),
    { tools: { named: 1 } },
  ),
  passes(
    'an output schema that is none',
    listing(({ res, id }) =>
      json(res, result(id, { tools: [{ name: 'a', outputSchema: { type: 'nothing' } }] })),
    ),
    { tools: { named: 1 } },
  ),
  passes(
    'the same tool twice',
    listing(({ res, id }) => json(res, result(id, { tools: [...TOOLS, ...TOOLS] }))),
    { tools: { named: 2 } },
  ),
  passes(
    'a cursor that never ends',
    listing(({ res, id }) => json(res, result(id, { tools: TOOLS, nextCursor: 'again' }))),
    {
      tools: { named: 2, more: true, pages: 3 },
      sent: [INIT, READY, LIST, LIST, LIST, DELETE] as string[],
    },
  ),
  passes(
    'an empty cursor is a cursor',
    listing(({ res, id, params }) =>
      json(
        res,
        result(id, {
          tools: [{ name: `t${id}` }],
          ...(params?.['cursor'] === '' ? {} : { nextCursor: '' }),
        }),
      ),
    ),
    { tools: { named: 2, pages: 2 }, sent: [INIT, READY, LIST, LIST, DELETE] as string[] },
  ),
  passes(
    'a second page that fails',
    listing(({ res, id, params }) =>
      json(
        res,
        params ? rpcError(id, -32602, 'bad cursor') : result(id, { tools: TOOLS, nextCursor: 'x' }),
      ),
    ),
    { toolList: 'rpc_error', sent: [INIT, READY, LIST, LIST, DELETE] as string[] },
  ),
  passes(
    'half a character at a chunk edge',
    listing((x) => {
      const bytes = Buffer.from(result(x.id, { tools: [{ name: 'caf\u00e9' }] }))
      const cut = bytes.indexOf(0xc3) + 1
      x.res.writeHead(200, { 'content-type': 'application/json' })
      x.res.write(bytes.subarray(0, cut), () => setImmediate(() => x.res.end(bytes.subarray(cut))))
    }),
    { tools: { named: 1 } },
  ),
]
