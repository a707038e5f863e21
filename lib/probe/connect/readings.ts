/**
 * What the set `mcp-connection 1.0` leaves open, and how it is read here. The set's words win; these are ours.
 *
 * Two implementations that differ in one of these can both follow the set and still disagree on a server, so they are data
 * that a result can be laid beside.
 */

export type Reading = { id: string; about: string; reading: string }

const READINGS: [string, string, string][] = [
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
    'From the moment initialize leaves, after name, TCP and TLS, to the moment its answer is read.',
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
]

/**
 * What the set leaves open and how this implementation reads it, in order.
 *
 * @example
 * readings()[0].id // 'D1'
 * readings().length // 20
 */
export function readings(): Reading[] {
  return READINGS.map(([id, about, reading]) => ({ id, about, reading }))
}
