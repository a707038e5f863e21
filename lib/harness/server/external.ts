/**
 * Servers that are not ours: a child process, or an address. Their state is not to be seen, but a folder given to a child is:
 * it is made fresh, its files are the table `files`, and the effects of tools are said by the case.
 *
 * The agent knows the folder as `/workspace`, whatever its name of the day is, so that a trial reads the same every time.
 */
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, isAbsolute, join, relative, resolve } from 'node:path'
import {
  getDefaultEnvironment,
  StdioClientTransport,
} from '@modelcontextprotocol/sdk/client/stdio.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { TouchstoneError } from '../../errors.ts'
import type { Json, JsonObject } from '../../json.ts'
import {
  changesBetween,
  digestOfState,
  type Effect,
  type Row,
  type State,
} from '../../world/world.ts'
import { type Child, giveBack, kindOf, takeChild } from './child-pool.ts'
import { FaultEngine, needsEngine, requireTools } from './engine.ts'
import { ExternalBackend, type Upstream } from './external-backend.ts'
import { type Front, frontOf } from './front.ts'
import {
  type Client,
  callTool,
  connectClient,
  listTools,
  onRelisted,
  reasonOf,
  type Tool,
  type Transport,
} from './mcp.ts'
import type { ServerPlan } from './plan.ts'
import type { RunningServer } from './running.ts'
import { filledIn } from './variables.ts'

/** The folder's name in tasks, arguments, results and arguments of the command. */
const WORKSPACE = '/workspace'

/** Largest file that is read into the table; beyond it only its size is seen. */
const MAX_FILE_BYTES = 1_000_000

/**
 * Start it, or take one that was kept, and connect.
 *
 * @throws TouchstoneError `server_unreachable`, `setting_missing`, `tool_unknown`, `fault_unknown`, `case_invalid`
 */
export async function startExternal(
  plan: ServerPlan,
  options: { signal?: AbortSignal | undefined },
): Promise<RunningServer> {
  const kind = kindOf(plan)
  const kept = takeChild(kind)
  const child = kept ?? (await startChild(plan, options))
  const { client, folder } = child
  let front: Front | null = null
  try {
    // Only a child that was kept finds the files of the trial before it.
    if (kept && folder && plan.files) fill(folder, plan.files)
    const start = folder ? readFolder(folder) : {}
    const tools = await listTools(client, options.signal)
    const direct = async (
      tool: string,
      input: Record<string, unknown>,
      { signal, timeoutMs }: { signal: AbortSignal; timeoutMs: number },
    ) =>
      exchanged(
        await callTool(client, tool, exchanged(input, WORKSPACE, folder), { signal, timeoutMs }),
        folder,
        WORKSPACE,
      )
    if (needsEngine(plan)) {
      requireTools(
        plan,
        tools.map(({ name }) => name),
      )
      front = await behindEngine(plan, tools, client, {
        list: () => listTools(client),
        call: (tool, input, signal) => direct(tool, input, { signal, timeoutMs: LONGEST_MS }),
      })
    }
    const close = async () => {
      await front?.close()
      await giveBack(kind, child, plan.stdio?.reset ?? null)
    }
    return {
      name: plan.name,
      ours: false,
      tools: front?.tools ?? tools,
      client: front?.client ?? client,
      url: plan.http?.url ?? null,
      startDigest: digestOfState(start),
      async call(tool, input, how) {
        try {
          return await (front ? front.call(tool, input, how) : direct(tool, input, how))
        } catch (cause) {
          // In front of the server the engine tells of its end as of any other error.
          if (child.gone) throw new Gone(reasonOf(cause))
          throw cause
        }
      },
      effectOf: (tool, input) => declaredEffect(plan.effects, tool, input),
      writes: (tool) => Object.hasOwn(plan.effects, tool),
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
    await front?.close()
    await child.close()
    throw cause
  }
}

/** Put the fault engine before a server. */
async function behindEngine(
  plan: ServerPlan,
  tools: Tool[],
  client: Client,
  upstream: Upstream,
): Promise<Front> {
  const backend = new ExternalBackend(upstream, tools)
  const front = await frontOf(plan.name, new FaultEngine(plan, backend))
  onRelisted(client, () => {
    backend.relisted()
    front.server.sendToolListChanged().catch(() => {})
  })
  return front
}

/** A call through the engine is timed by the agent's side of it. */
const LONGEST_MS = 86_400_000

/** The connection is gone. The code is the MCP SDK's for a closed connection. */
class Gone extends Error {
  readonly code = -32000
}

async function startChild(
  plan: ServerPlan,
  options: { signal?: AbortSignal | undefined },
): Promise<Child> {
  const folder = plan.files ? realpathSync(mkdtempSync(join(tmpdir(), 'touchstone-'))) : null
  try {
    if (folder && plan.files) fill(folder, plan.files)
    const transport = plan.stdio
      ? stdioTransport(plan.stdio, folder)
      : httpTransport(plan.http as NonNullable<ServerPlan['http']>)
    const client = await connectClient(transport, { timeoutMs: 15_000, signal: options.signal })
    const child: Child = {
      client,
      folder,
      gone: false,
      async close() {
        await client.close()
        if (folder) rmSync(folder, { recursive: true, force: true })
      },
    }
    client.onclose = () => {
      child.gone = true
    }
    return child
  } catch (cause) {
    if (folder) rmSync(folder, { recursive: true, force: true })
    throw cause
  }
}

function stdioTransport(stdio: NonNullable<ServerPlan['stdio']>, folder: string | null): Transport {
  const args = exchanged(stdio.args, WORKSPACE, folder)
  const PATH = [resolve('node_modules/.bin'), process.env['PATH'] ?? ''].join(delimiter)
  // Of this process's own variables a server that is not ours gets those that any program needs, and no key.
  const env = {
    ...getDefaultEnvironment(),
    PATH,
    ...filledIn(exchanged(stdio.env, WORKSPACE, folder), 'stdio.env'),
  }
  return new StdioClientTransport({
    command: stdio.command,
    args,
    env,
    ...(stdio.cwd !== undefined && { cwd: exchanged(stdio.cwd, WORKSPACE, folder) }),
    // What a child writes to its standard error is its own affair; the SDK would print it into a progress bar.
    stderr: 'ignore',
  })
}

function httpTransport(http: NonNullable<ServerPlan['http']>): Transport {
  const headers = filledIn(http.headers, 'http.headers')
  try {
    return new StreamableHTTPClientTransport(new URL(http.url), {
      requestInit: { headers },
    }) as Transport
  } catch (cause) {
    throw new TouchstoneError('argument_invalid', `expected a URL, got ${reasonOf(cause)}`, {
      where: 'http.url',
    })
  }
}

/** Make a folder hold these files and nothing else. */
function fill(folder: string, files: { [path: string]: string }): void {
  mkdirSync(folder, { recursive: true })
  for (const name of readdirSync(folder))
    rmSync(join(folder, name), { recursive: true, force: true })
  for (const [path, text] of Object.entries(files)) {
    const full = resolve(folder, path)
    const inside = relative(folder, full)
    if (isAbsolute(path) || inside.startsWith('..') || inside === '') {
      throw new TouchstoneError(
        'case_invalid',
        `expected a path inside the folder, got "${path}"`,
        { where: 'files' },
      )
    }
    mkdirSync(dirname(full), { recursive: true })
    writeFileSync(full, text)
  }
}

/** The files of a folder as a table, sorted by path. A folder that a tool deleted has none: that is what it did. */
function readFolder(folder: string): State {
  if (!existsSync(folder)) return { files: [] }
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) =>
    entry.isFile(),
  )
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
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [key, exchanged(item, from, to)]),
  ) as T
}

/** An effect said by the case: `$name` is the argument of that name; a path in the folder is relative to it. */
function declaredEffect(
  effects: { [tool: string]: Effect },
  tool: string,
  input: JsonObject,
): Effect | null {
  const effect = Object.hasOwn(effects, tool) ? effects[tool] : undefined
  if (!effect) return null
  // What a call or a claim leaves open is not asked for.
  const filled = (value: Json): Json | undefined => {
    const argument =
      typeof value === 'string' && value.startsWith('$') ? input[value.slice(1)] : value
    return typeof argument === 'string' && argument.startsWith(`${WORKSPACE}/`)
      ? argument.slice(WORKSPACE.length + 1)
      : argument
  }
  const where: Effect['where'] = Object.fromEntries(
    Object.entries(effect.where).map(([column, value]) => [column, filled(value as Json)]),
  )
  return { ...effect, where }
}
