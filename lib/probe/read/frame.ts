/**
 * The messages of the test as text, and answers out of bytes: JSON bodies and event streams. Pure,
 * no sockets.
 *
 * Reading is lenient where a server may differ and the set does not care (id of another type,
 * batches, extra members, bad UTF-8), and strict where it does: only a JSON-RPC 2.0 message with
 * our id is an answer.
 */
import { createParser } from 'eventsource-parser'
import { isObject } from '../../json.ts'
import type { RpcError } from '../judge/outcome.ts'
import { type Outline, outlineOf } from './outline.ts'

export type Method = 'initialize' | 'notifications/initialized' | 'server/discover' | 'tools/list'

/**
 * What a server sent that was no answer: a request or a notification of its own, or an error with
 * another id.
 */
export type Aside = 'request' | 'log' | 'notification' | 'error_with_another_id' | null

export type RpcAnswer = { result: unknown; error: null } | { result: null; error: RpcError }

/** One JSON-RPC message as it leaves. Without an id it is a notification. */
export function messageText(method: Method, id?: number, params?: Record<string, unknown>): string {
  return JSON.stringify({
    jsonrpc: '2.0',
    ...(id === undefined ? {} : { id }),
    method,
    ...(params ? { params } : {}),
  })
}

/** An answer with its result in bounded size, as it is carried on. */
export type Read = { outline: Outline; error: null } | { outline: null; error: RpcError }

/** What a text that a server sent holds. */
export type Reading = {
  /** False when the text is no JSON. */
  json: boolean
  answer: Read | null
  /** What it is when it is not the answer. */
  aside: Aside
}

/**
 * Read one JSON text: the answer to request `id`, if it is in it, and otherwise what else it is.
 */
export function readAnswer(text: Uint8Array | string, id: number, alone: boolean): Reading {
  const value = jsonOf(text)
  const found = answerIn(value, id, alone)
  if (found === null) return { json: value !== undefined, answer: null, aside: asideOf(value) }
  const answer: Read =
    found.error === null
      ? { outline: outlineOf(found.result), error: null }
      : { outline: null, error: found.error }
  return { json: true, answer, aside: null }
}

function asideOf(value: unknown): Aside {
  if (!isObject(value)) return null
  const { method, id, error } = value
  if (typeof method === 'string') {
    if (id !== undefined) return 'request'
    return method === 'notifications/message' ? 'log' : 'notification'
  }
  return isObject(error) ? 'error_with_another_id' : null
}

/**
 * The answer to request `id` in a JSON value, or null when there is none in it.
 *
 * A batch is looked into. The id may come back as text. `alone` says that the value is the whole
 * body of the response to our request: then an error with no id, or id null, is the answer too.
 */
export function answerIn(value: unknown, id: number, alone: boolean): RpcAnswer | null {
  if (Array.isArray(value)) {
    for (const each of value) {
      const answer = Array.isArray(each) ? null : answerIn(each, id, alone && value.length === 1)
      if (answer) return answer
    }
    return null
  }
  if (value === null || typeof value !== 'object') return null
  const message = value as {
    jsonrpc?: unknown
    id?: unknown
    error?: unknown
    result?: unknown
    method?: unknown
  }
  if (message.jsonrpc !== '2.0' || message.method !== undefined) return null
  const failed = message.error !== undefined && message.error !== null
  const ours =
    (typeof message.id === 'number' || typeof message.id === 'string') &&
    String(message.id) === String(id)
  const nobodys = alone && failed && (message.id === undefined || message.id === null)
  if (!ours && !nobodys) return null
  if (failed) return { result: null, error: rpcError(message.error, ours) }
  return Object.hasOwn(message, 'result') ? { result: message.result, error: null } : null
}

/**
 * The JSON value of a body, or undefined when it is not JSON. A byte order mark is skipped, bad
 * UTF-8 is replaced.
 */
export function jsonOf(body: Uint8Array | string): unknown {
  try {
    return JSON.parse(typeof body === 'string' ? body : new TextDecoder().decode(body))
  } catch {
    return undefined
  }
}

function rpcError(error: unknown, ownId: boolean): RpcError {
  const { code, message, data } = (
    typeof error === 'object' && error !== null ? error : { message: error }
  ) as {
    code?: unknown
    message?: unknown
    data?: unknown
  }
  const about = words(data)
  return {
    code: Number.isSafeInteger(code) ? (code as number) : null,
    message: typeof message === 'string' ? message.slice(0, 1024).toWellFormed() : null,
    text: `${words(message)} ${about}`,
    supported: versionsIn(data),
    aboutEnvelope: /_meta\b|io\.modelcontextprotocol\//.test(about),
    ownId,
  }
}

/**
 * The revisions that an error's `data.supported` names, at most eight: the form of a date and
 * nothing else is kept.
 */
function versionsIn(data: unknown): string[] {
  const supported = isObject(data) ? data['supported'] : null
  return Array.isArray(supported)
    ? supported
        .slice(0, 64)
        .filter(
          (each): each is string => typeof each === 'string' && /^\d{4}-\d{2}-\d{2}$/.test(each),
        )
        .slice(0, 8)
    : []
}

/** The text in a value of an error, as far as it is cheap to have: deep nesting is not walked. */
function words(value: unknown, depth = 0): string {
  if (typeof value === 'string') return value.slice(0, 4096)
  if (typeof value === 'number') return String(value)
  if (typeof value !== 'object' || value === null || depth > 3) return ''
  let text = ''
  for (const each of Object.values(value)) {
    text += ` ${words(each, depth + 1)}`
    if (text.length > 4096) break
  }
  return text
}

export type StreamEvent = { event: string; data: string }

/**
 * Reads an event stream out of chunks cut anywhere, a character's bytes included. An unfinished
 * last event is dropped.
 */
export type EventReader = { feed(chunk: Uint8Array): void }

/**
 * A reader of one event stream by the WHATWG rules. It holds no more than what was fed: the caller
 * counts bytes first.
 *
 * @param take called for each whole event; `event` is `message` when the stream named none
 */
export function eventReader(take: (event: StreamEvent) => void): EventReader {
  const decoder = new TextDecoder()
  const parser = createParser({
    onEvent: ({ event, data }) => take({ event: event ?? 'message', data }),
  })
  return { feed: (chunk) => parser.feed(decoder.decode(chunk, { stream: true })) }
}
