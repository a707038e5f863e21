/**
 * What the published sets leave open, and how it is read here. The sets' words win; these are ours.
 *
 * Two implementations that differ in one of these can both follow the set and still disagree on a
 * server, so they are data that a result can be laid beside.
 */

import { connectionSet, DEFAULT_SET } from '../judge/set.ts'

export type Reading = { id: string; about: string; reading: string }

/** Of mcp-connection 1.0. */
const LEGACY: [string, string, string][] = [
  [
    'D1',
    'which transport a URL has',
    'The one that is declared, streamable HTTP unless told otherwise. Never the other one as a fallback: that would send what the set does not list.',
  ],
  [
    'D2',
    'a strange initialize result',
    'Any JSON-RPC result passes, whatever version or members it has. Later requests carry the version it names if that has the form of a date, else 2025-06-18.',
  ],
  [
    'D3',
    'the answer to notifications/initialized',
    'It never matters. It is waited for two seconds at most.',
  ],
  [
    'D4',
    'a tool list that fails after a good handshake',
    'The outcome stays answered; the task is not passed. Each page that is asked for must be answered with a result.',
  ],
  [
    'D5',
    'several signs in one answer',
    'A result first; then HTTP 401, 403 or any WWW-Authenticate; then a JSON-RPC error about authentication; then the HTTP status; then the body. A bot challenge with 403 is needs_credentials by the letter and has a detail code of its own.',
  ],
  [
    'D6',
    'an error about authentication',
    'Judged by the words of its message and data, 4,096 characters at most. The code -32001 alone says nothing.',
  ],
  [
    'D7',
    'an answer that stops half-way',
    'Time-out or cut connection: no_answer. A body that ends cleanly without an answer: error.',
  ],
  [
    'D8',
    'the limit and the session’s end',
    'DELETE gets two seconds or what is left of the twelve, whichever is less, and is not sent when nothing is left. Its answer never matters.',
  ],
  ['D9', 'a session of a failed handshake', 'It is closed if its id came with a 2xx status.'],
  [
    'D10',
    'an endpoint event',
    'It must pass the whole URL check again and have the same host name. Another port is the same host; plain http is refused.',
  ],
  [
    'D11',
    'a name that changes within a test',
    'A name is resolved once per test; every connection goes to an address judged then.',
  ],
  [
    'D12',
    'latency',
    'From the moment initialize leaves, after name, TCP and TLS, to the arrival of the last byte of its answer. When this process stood still meanwhile for more than 20 ms and more than a tenth of it, the latency is not told.',
  ],
  [
    'D13',
    'how many tools',
    'Distinct names over the pages read; `more` says that the last page still had a cursor.',
  ],
  [
    'D14',
    'the end of the list',
    'No cursor, null, or a cursor that is no text. An empty text is a cursor.',
  ],
  [
    'D15',
    'the id of an answer',
    'Ours, as a number or as text. An error without an id is ours only as the whole body of the response.',
  ],
  [
    'D16',
    'the form of a URL',
    'A backslash, a missing // and any @ in the authority are refused, since parsers repair them.',
  ],
  ['D17', 'what is left to fill in', 'Braces as characters. %7B and <YOUR_TOKEN> are not braces.'],
  [
    'D18',
    'compressed answers',
    'identity is asked for; one layer of gzip, deflate, br or zstd is read all the same, under the same limit.',
  ],
  [
    'D19',
    'the largest answer',
    'Exactly 1,000,000 bytes pass, on the wire and unpacked. A stream of server-sent events counts as one answer.',
  ],
  [
    'D20',
    'what is read of tools',
    'Names and descriptions. Parameters, annotations and server instructions are not read.',
  ],
  [
    'D21',
    'how long tools are read',
    'Until the twelve seconds are over, and for two seconds at least. What is not read by then is counted, and nothing of it is kept. Of the tools read, the first 2,000 are kept.',
  ],
  [
    'D22',
    'a server that speaks only 2026-07-28',
    'An error, with the detail modern_only: error code -32022 or -32020, -32602 about the _meta envelope, or data.supported that names only 2026-07-28 and later.',
  ],
  [
    'D23',
    'a connection closed behind an answer',
    'A request that was on its way then, and of whose answer no byte came, is sent once more over a new connection, and stands twice in what was sent. One that is closed again was dropped.',
  ],
]

/** Of mcp-connection-stateless 1.0. */
const STATELESS: [string, string, string][] = [
  [
    'S1',
    'a discover result without 2026-07-28',
    'The task is not passed, and such a result is none under 2026-07-28.',
  ],
  [
    'S2',
    'the tool list behind a failed discover',
    'It is asked for all the same, declared tools or not, save when discover got no answer or was refused.',
  ],
  [
    'S3',
    'connections',
    'Each request has its own. Latency begins when the request leaves, so that no TLS handshake is in it.',
  ],
  ['S4', 'a result without resultType', 'It passes, and is a finding.'],
  [
    'S5',
    'a server without tools that does not know tools/list',
    'The task is not passed. A set that asks for a list must not invent one.',
  ],
  ['S6', '401 to the tool list behind an open discover', 'The outcome stays answered.'],
  [
    'S7',
    'several signs in one answer',
    'A result first; then HTTP 401, 403 or any WWW-Authenticate; then a JSON-RPC error about authentication; then the codes of the revision; then the HTTP status; then the body.',
  ],
  [
    'S8',
    'an event stream as an answer',
    'It is read as in mcp-connection 1.0: past what comes before the answer, and nothing is sent back.',
  ],
]

/**
 * What a set leaves open and how this implementation reads it, in order.
 *
 * @param set `id@version`, default `mcp-connection@1.0`
 * @throws TouchstoneError `set_unknown`
 * @example
 * readings()[0].id // 'D1'
 * readings().length // 23
 * readings('mcp-connection-stateless@1.0').length // 8
 */
export function readings(set: string = DEFAULT_SET): Reading[] {
  const rows = connectionSet(set).era === 'legacy' ? LEGACY : STATELESS
  return rows.map(([id, about, reading]) => ({ id, about, reading }))
}
