/** Servers that answer with as much work as they may: every shape of a megabyte that a reader has to look at. */
import type { Behaviour } from './stage.ts'
import { events, INITIALIZED, json, result, SESSION, wellBut } from './well.ts'

const SIZE = 990_000

/** Pieces made until the text is as long as an answer may be, and no longer: one that is too long is not read. */
function filled(make: (i: number) => string): string {
  const pieces: string[] = []
  let piece = make(0)
  for (let size = 0; size + piece.length < SIZE; piece = make(pieces.length)) {
    pieces.push(piece)
    size += piece.length + 1
  }
  return pieces.join(',')
}

/** A page of tools as text, which never ends. */
const listing = (tools: string): Behaviour =>
  wellBut({
    'tools/list': ({ res, id }) =>
      json(res, `{"jsonrpc":"2.0","id":${id},"result":{"tools":[${tools}],"nextCursor":"on"}}`),
  })

/** Text on which many patterns begin to match. */
const NEARLY = 'ignore all the previous do not tell the <IMPORTANT read ~/.ssh/ must always call '

export const HOSTILE: { [shape: string]: () => Behaviour } = {
  'one name with ten thousands of descriptions': () =>
    listing(filled((i) => `{"name":"a","description":"p${i}"}`)),
  'ten thousands of tools': () => listing(filled((i) => `{"name":"t${i}"}`)),
  'descriptions on which every pattern begins to match': () =>
    listing(filled((i) => JSON.stringify({ name: `n${i}`, description: NEARLY.repeat(190) + i }))),
  'one tool that is listed again and again': () => listing(filled(() => '{"name":"a"}')),
  'a schema with ten thousands of properties': () =>
    listing(
      `{"name":"a","inputSchema":{"type":"object","properties":{${filled((i) => `"p${i}":{"type":"string","x-mcp-header":"h${i}"}`)}}}}`,
    ),
  'arrays in arrays': () =>
    wellBut({
      initialize: ({ res }) => json(res, `${'['.repeat(400_000)}${']'.repeat(400_000)}`),
    }),
  'a batch of ten thousands of messages': () =>
    wellBut({
      initialize: ({ res, id }) =>
        json(res, `[${filled(() => '{"jsonrpc":"2.0","method":"x"}')},${result(id, INITIALIZED)}]`),
    }),
  'ten thousands of events': () =>
    wellBut({ 'tools/list': ({ res }) => events(res, ['data:[]\n\n'.repeat(SIZE / 9)]) }),
  'ten thousands of capabilities': () =>
    wellBut({
      initialize: ({ res, id }) =>
        json(
          res,
          `{"jsonrpc":"2.0","id":${id},"result":{"capabilities":{${filled((i) => `"c${i}":{}`)}}}}`,
          { 'mcp-session-id': SESSION },
        ),
    }),
}
