/**
 * Servers that are not ours: a child process, or an address. Their state is not to be seen, but a folder given to a child is:
 * it is made fresh, its files are the table `files`, and the effects of tools are said by the case.
 *
 * The agent knows the folder as `/workspace`, whatever its name of the day is, so that a trial reads the same every time.
 */
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, isAbsolute, join, relative, resolve } from 'node:path'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import type { Json, JsonObject } from '../canonical.ts'
import { TouchstoneError } from '../errors.ts'
import { changesBetween, digestOfState, type Effect, type Match, type Row, type State } from '../world/world.ts'
import { callTool, connectClient, listTools, reasonOf, type Transport } from './mcp.ts'
import type { RunningServer } from './serve.ts'
import type { ServerPlan } from './server.ts'

/** The folder's name in tasks, arguments, results and arguments of the command. */
const WORKSPACE = '/workspace'

/** Largest file that is read into the table; beyond it only its size is seen. */
const MAX_FILE_BYTES = 1_000_000

export async function startForeign(
  plan: ServerPlan,
  options: { signal?: AbortSignal | undefined },
): Promise<RunningServer> {
  const folder = plan.files ? makeFolder(plan.files) : null
  const forget = () => {
    if (folder) rmSync(folder, { recursive: true, force: true })
  }
  try {
    const start = folder ? readFolder(folder) : {}
    const transport = plan.stdio
      ? stdioTransport(plan.stdio, folder)
      : httpTransport(plan.http as NonNullable<ServerPlan['http']>)
    const client = await connectClient(transport, { timeoutMs: 15_000, signal: options.signal })
    const close = async () => {
      await client.close()
      forget()
    }
    return {
      name: plan.name,
      ours: false,
      tools: await listTools(client, options.signal),
      client,
      url: plan.http?.url ?? null,
      startDigest: digestOfState(start),
      async call(tool, input, { signal, timeoutMs }) {
        const result = await callTool(client, tool, exchanged(input, WORKSPACE, folder), { signal, timeoutMs })
        return exchanged(result, folder, WORKSPACE)
      },
      effectOf: (tool, input) => foreignEffect(plan.effects, tool, input),
      async end() {
        const state = folder ? readFolder(folder) : {}
        return {
          state,
          start,
          changes: changesBetween(start, state),
          provider: null,
          audit: null,
          digest: digestOfState(state),
        }
      },
      close,
      [Symbol.asyncDispose]: close,
    }
  } catch (cause) {
    forget()
    throw cause
  }
}

function stdioTransport(stdio: NonNullable<ServerPlan['stdio']>, folder: string | null): Transport {
  const args = exchanged(stdio.args, WORKSPACE, folder)
  const PATH = [resolve('node_modules/.bin'), process.env['PATH'] ?? ''].join(delimiter)
  const env = { ...(process.env as Record<string, string>), ...stdio.env, PATH }
  // What a child writes to its standard error is its own affair; the SDK would print it into a progress bar.
  return new StdioClientTransport({ command: stdio.command, args, env, stderr: 'ignore' })
}

function httpTransport(http: NonNullable<ServerPlan['http']>): Transport {
  try {
    return new StreamableHTTPClientTransport(new URL(http.url), { requestInit: { headers: http.headers } }) as Transport
  } catch (cause) {
    throw new TouchstoneError('argument_invalid', `expected a URL, got ${reasonOf(cause)}`, { where: 'http.url' })
  }
}

function makeFolder(files: { [path: string]: string }): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'touchstone-')))
  for (const [path, text] of Object.entries(files)) {
    const full = resolve(folder, path)
    const inside = relative(folder, full)
    if (isAbsolute(path) || inside.startsWith('..') || inside === '') {
      throw new TouchstoneError('case_invalid', `expected a path inside the folder, got "${path}"`, { where: 'files' })
    }
    mkdirSync(dirname(full), { recursive: true })
    writeFileSync(full, text)
  }
  return folder
}

/** The files of a folder as a table, sorted by path. */
export function readFolder(folder: string): State {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
  const rows = entries.map((entry): Row => {
    const full = join(entry.parentPath, entry.name)
    const bytes = readFileSync(full)
    const path = relative(folder, full)
    return {
      id: path,
      path,
      size_bytes: bytes.length,
      text: bytes.length > MAX_FILE_BYTES ? null : bytes.toString('utf8'),
    }
  })
  return { files: rows.sort((a, b) => (String(a.id) < String(b.id) ? -1 : 1)) }
}

/** A value with one folder name in its texts exchanged for another. */
function exchanged<T>(value: T, from: string | null, to: string | null): T {
  if (from === null || to === null) return value
  if (typeof value === 'string') return value.replaceAll(from, to) as T
  if (Array.isArray(value)) return value.map((item) => exchanged(item, from, to)) as T
  if (value === null || typeof value !== 'object') return value
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, exchanged(item, from, to)])) as T
}

/** An effect said by the case: `$name` is the argument of that name; a path in the folder is relative to it. */
function foreignEffect(effects: { [tool: string]: Effect }, tool: string, input: JsonObject): Effect | null {
  const effect = Object.hasOwn(effects, tool) ? effects[tool] : undefined
  if (!effect) return null
  const filled = (value: Json): Json => {
    const argument = typeof value === 'string' && value.startsWith('$') ? (input[value.slice(1)] ?? null) : value
    return typeof argument === 'string' && argument.startsWith(`${WORKSPACE}/`)
      ? argument.slice(WORKSPACE.length + 1)
      : argument
  }
  const where: Match = Object.fromEntries(
    Object.entries(effect.where).map(([column, value]) => [column, filled(value as Json)]),
  )
  return { ...effect, where }
}
