/**
 * Putting back the state of a server that is used again: by a call, by a program, or by a function.
 */
import { TouchstoneError } from '../../errors.ts'
import type { JsonObject } from '../../json.ts'
import { type CallToolResult, type Client, callTool, reasonOf } from '../wire/mcp.ts'
import { runProgram } from './judge-asks.ts'
import { textOf } from './tables.ts'

/**
 * Puts a server's state back. It may call the server's tools or change what stands in its folder.
 * What it throws ends a kept child, and is an error of the trial for a server at an address.
 */
export type ResetHook = (server: { client: Client; folder: string | null }) => Promise<void> | void
/** A tool to call, a program to run, or a function. */
export type Reset =
  | { call: string; with?: JsonObject | undefined }
  | { command: string; args?: string[] | undefined }
  | ResetHook

/** How long a reset may take. */
const PATIENCE_MS = 60_000

/** Put the state back. @throws TouchstoneError `reset_failed` */
export async function resetBy(
  reset: Reset,
  server: { name: string; client: Client; folder: string | null },
): Promise<void> {
  const failed = (got: string, cause?: unknown) =>
    new TouchstoneError('reset_failed', `expected the reset to put the state back, got ${got}`, {
      where: `server ${server.name}`,
      cause,
    })
  if (typeof reset === 'function') {
    try {
      await reset({ client: server.client, folder: server.folder })
    } catch (cause) {
      throw failed(reasonOf(cause), cause)
    }
    return
  }
  if ('command' in reset) {
    const { exit, output } = await runProgram(reset.command, reset.args ?? [], {
      cwd: server.folder ?? undefined,
      where: `server ${server.name}, reset`,
    })
    if (exit !== 0) throw failed(`exit code ${exit}: ${output.slice(-300)}`)
    return
  }
  let answer: CallToolResult
  try {
    answer = await callTool(server.client, reset.call, reset.with ?? {}, {
      signal: AbortSignal.timeout(PATIENCE_MS),
      timeoutMs: PATIENCE_MS,
    })
  } catch (cause) {
    throw failed(reasonOf(cause), cause)
  }
  if (answer.isError) throw failed(`an error of ${reset.call}: ${textOf(answer).slice(0, 300)}`)
}
