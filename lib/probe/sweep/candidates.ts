/**
 * What a sweep is given, as servers to test: whatever registries, configurations and lists hold.
 * Nothing throws here. What is no server is skipped by name.
 */

import { isObject } from '../../json.ts'
import { Declaration, declaration, remoteOf } from './declaration.ts'

/** Why an entry, or one remote of it, is not tested. */
export type SkipReason =
  /** A server that came before in this sweep, under this name or another. */
  | 'same_server'
  /** The log holds its result already. */
  | 'in_log'
  /** Neither a URL, nor an object that declares a server. */
  | 'not_an_entry'
  | 'no_url'
  /** A list or a configuration that holds none. */
  | 'no_servers'
  | 'transport_unknown'
  /** A declaration with packages only, or a command of a configuration. */
  | 'no_remotes'
  | 'deleted'
  /** The registry has a later version of it. */
  | 'not_latest'

export type Candidate = {
  url: string
  transport: 'streamable-http' | 'sse'
  name: string | null
  /** The URL as declared, when defaults were filled in. */
  template: string | null
}

export type Skip = {
  reason: SkipReason
  /** Of the entry in the list, from 0. */
  entry: number
  name: string | null
  subject: string | null
}

const MAX_DEPTH = 8

/** The servers in one entry of a list, and what in it is none. */
export function* candidatesIn(
  value: unknown,
  entry: number,
  name: string | null = null,
  depth = 0,
): Generator<Candidate | Skip> {
  const skip = (reason: SkipReason, subject: string | null = null): Skip => ({
    reason,
    entry,
    name: nameIn(value) ?? name,
    subject,
  })
  if (typeof value === 'string') {
    if (value.trim() === '') yield skip('no_url')
    else yield { url: value.toWellFormed(), transport: 'streamable-http', name, template: null }
    return
  }
  if (depth > MAX_DEPTH) {
    yield skip('not_an_entry')
    return
  }
  if (Array.isArray(value)) {
    if (value.length === 0) yield skip('no_servers')
    for (const each of value) yield* candidatesIn(each, entry, name, depth + 1)
    return
  }
  if (!isObject(value) && !(value instanceof Declaration)) {
    yield skip('not_an_entry')
    return
  }
  const fields = value as Record<string, unknown>
  if (Array.isArray(fields['servers'])) {
    yield* candidatesIn(fields['servers'], entry, name, depth + 1)
    return
  }
  const configured = fields['mcpServers'] ?? fields['servers']
  if (isObject(configured)) {
    if (Object.keys(configured).length === 0) yield skip('no_servers')
    for (const [key, one] of Object.entries(configured)) {
      yield* candidatesIn(one, entry, key, depth + 1)
    }
    return
  }
  if (fields['url'] !== undefined && fields['remotes'] === undefined) {
    const remote = remoteOf(value, '', 'streamable-http')
    if ('reason' in remote) {
      const { url } = fields
      yield skip(remote.reason, typeof url === 'string' ? url.toWellFormed() : null)
    } else {
      const { url, transport, template } = remote
      yield { url: url.toWellFormed(), transport, name: nameIn(value) ?? name, template }
    }
    return
  }
  yield* declared(value, skip)
}

function* declared(
  value: unknown,
  skip: (reason: SkipReason, subject?: string | null) => Skip,
): Generator<Candidate | Skip> {
  let read: Declaration
  try {
    read = value instanceof Declaration ? value : declaration(value)
  } catch {
    const fields = value as Record<string, unknown>
    const command = typeof fields['command'] === 'string'
    yield skip(command ? 'no_remotes' : 'url' in fields ? 'no_url' : 'not_an_entry')
    return
  }
  const { name, remotes, problems, status, latest } = read
  if (status === 'deleted') yield { ...skip('deleted'), name }
  else if (!latest) yield { ...skip('not_latest'), name }
  else if (remotes.length + problems.length === 0) yield { ...skip('no_remotes'), name }
  else {
    for (const { url, transport, template } of remotes) {
      yield { url: url.toWellFormed(), transport, name, template }
    }
    for (const { reason } of problems) yield { ...skip(reason), name }
  }
}

function nameIn(value: unknown): string | null {
  if (!isObject(value)) return null
  const { name, server } = value
  const given = typeof name === 'string' ? name : isObject(server) ? server['name'] : null
  return typeof given === 'string' ? given.slice(0, 256).toWellFormed() : null
}
