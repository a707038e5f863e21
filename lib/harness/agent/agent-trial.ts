/**
 * What the ways of running an agent share: the trial that it is given, the forms of its servers,
 * how it ended.
 */
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { JsonObject } from '../../json.ts'
import { reasonOf } from '../wire/mcp.ts'
import type { Answer } from './answer.ts'
import type { Conversation } from './conversation.ts'
import type { AgentEnd, AgentLimits } from './ending.ts'
import type { Gateway } from './gateway.ts'
import type { McpServers, StdioServer } from './program/mcp-config.ts'
import type { Recorder } from './recorder.ts'
import type { Reports } from './report-tool.ts'

/** How an agent ended: with an answer, or without one. `notes` are for the transcript. */
export type Ended = { answer: Answer; notes?: JsonObject } | { end: AgentEnd; notes?: JsonObject }

/** What one way of running an agent needs. */
export type Trial = {
  task: string
  gateway: Gateway
  recorder: Recorder
  reports: Reports
  limits: AgentLimits
  seed: number
  /** With the user of the case, or null. */
  conversation: Conversation | null
  signal: AbortSignal
}

/** An answer, or the end by an answer that is none. */
export function read(answer: () => Answer, notes: JsonObject = {}): Ended {
  try {
    return { answer: answer(), notes }
  } catch (cause) {
    return { end: { how: 'answer_invalid', message: reasonOf(cause).toWellFormed() }, notes }
  }
}

/** Name and address of each server. */
export async function addressesOf(gateway: Gateway): Promise<[name: string, url: string][]> {
  return Promise.all(
    gateway.servers.map(
      async (behind): Promise<[string, string]> => [behind.name, await gateway.address(behind)],
    ),
  )
}

export function httpServers(addresses: readonly [string, string][]): McpServers {
  return Object.fromEntries(addresses.map(([name, url]) => [name, { type: 'http', url }]))
}

export function stdioServers(addresses: readonly [string, string][]): McpServers {
  return Object.fromEntries(
    addresses.map(([name, url]) => [name, { type: 'stdio', ...bridgeTo(url) }]),
  )
}

/** The program that hands messages on to an address. */
export function bridgeTo(url: string): StdioServer {
  const own = fileURLToPath(import.meta.url)
  const bridge = join(own, '..', `stdio-bridge${own.slice(own.lastIndexOf('.'))}`)
  return {
    command: process.execPath,
    args: ['--disable-warning=ExperimentalWarning', bridge],
    env: { TOUCHSTONE_MCP_URL: url },
  }
}

/** Fills `{name}` into a text, for the names that there are. */
export function filler(values: { [name: string]: string }): (text: string) => string {
  return (text) =>
    text.replace(/\{([a-z_]+)\}/g, (whole, name: string) =>
      Object.hasOwn(values, name) ? (values[name] as string) : whole,
    )
}
