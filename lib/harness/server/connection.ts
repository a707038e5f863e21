/**
 * A connection to a server that is not ours, and what is known of its end: its exit, its standard
 * error, the cause at its address.
 */
import { delimiter, resolve } from 'node:path'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { TouchstoneError } from '../../errors.ts'
import { startChild } from '../../process/child.ts'
import { environmentOf } from '../../process/environment.ts'
import { removeFolder, temporaryFolder } from '../../process/temporary.ts'
import { redacted, shownAddress } from '../../secrets.ts'
import { ChildTransport } from '../wire/child-transport.ts'
import { type Client, connectClient, reasonOf, type Transport } from '../wire/mcp.ts'
import { isModernOnly, ModernTransport, modernHttp, type Wire } from '../wire/modern.ts'
import { exchanged, fill, WORKSPACE } from './server-folder.ts'
import type { ServerPlan } from './server-plan.ts'
import { filledIn, headersFilledIn } from './variables.ts'

/** Standard error in an error's message, in characters: the last of it. */
const TOLD_STDERR = 300

const SMALL_ENVIRONMENT = 'a variable that it needs is named under env'

/** How long a server may take to answer the first request. */
const START_MS = 15_000

/** A connection with a client. */
export type Connection = {
  client: Client
  folder: string | null
  gone: boolean
  /**
   * What is known of the server beside its answers: how it ended, and what it wrote to its standard
   * error.
   */
  log(): string | null
  /** The same error, saying what is known of the server's end. */
  explained(error: TouchstoneError): TouchstoneError
  /** The error of a call to a server that is gone. */
  goneFor(cause: unknown): Error
  close(): Promise<void>
}

/** The connection is gone. The code is the MCP SDK's for a closed connection. */
class Gone extends Error {
  readonly code = -32000
}

type Options = { signal?: AbortSignal | undefined; era: 'legacy' | 'modern' }

/**
 * Connect in the era that the plan names. Where it names none: in the earlier one, and in that of
 * 2026-07-28 when the server says that it knows no `initialize`.
 *
 * @throws TouchstoneError `server_unreachable` with the address or the program, its exit and the
 *   end of its standard error
 */
export async function connect(
  plan: ServerPlan,
  options: { signal?: AbortSignal | undefined },
): Promise<Connection> {
  const named = (plan.stdio ?? plan.http)?.era
  const open = (era: Options['era']) =>
    plan.stdio
      ? connectChild(plan, plan.stdio, { ...options, era })
      : connectHttp(plan, { ...options, era })
  try {
    return await open(named ?? 'legacy')
  } catch (cause) {
    if (named !== undefined || !isModernOnly((cause as Error).cause)) throw cause
    return open('modern')
  }
}

async function connectChild(
  plan: ServerPlan,
  stdio: NonNullable<ServerPlan['stdio']>,
  options: Options,
): Promise<Connection> {
  const folder = plan.files ? temporaryFolder('server') : null
  const leave = async () => {
    if (folder) await removeFolder(folder)
  }
  try {
    if (folder && plan.files) fill(folder, plan.files)
    const secret = filledIn(exchanged(stdio.env, WORKSPACE, folder), 'stdio.env')
    const PATH = [resolve('node_modules/.bin'), process.env['PATH'] ?? ''].join(delimiter)
    const child = startChild(stdio.command, exchanged(stdio.args, WORKSPACE, folder), {
      env: environmentOf({ PATH, ...secret }),
      stdio: ['pipe', 'pipe', 'pipe'],
      where: `server ${plan.name}`,
      ...(stdio.cwd !== undefined && { cwd: exchanged(stdio.cwd, WORKSPACE, folder) }),
    })
    const transport = new ChildTransport(child)
    const clean = (text: string) => redacted(text).toWellFormed()
    const facts = (atStart = false) => {
      const words = clean(transport.stderr).trim().slice(-TOLD_STDERR)
      return [
        `${stdio.command}: ${transport.ending ?? 'still running'}`,
        ...(words ? [`standard error: ${words}`] : []),
        ...(atStart && child.pid !== undefined ? [SMALL_ENVIRONMENT] : []),
      ].join('; ')
    }
    const log = () => {
      const words = clean(transport.takeStderr()).trimEnd()
      if (words === '' && transport.ending === null) return null
      return [`${stdio.command}: ${transport.ending ?? 'still running'}`, words, ''].join('\n')
    }
    const spoken = options.era === 'modern' ? new ModernTransport(transport as Wire) : transport
    return await connected(plan, spoken, { folder, facts, log, leave }, options)
  } catch (cause) {
    await leave()
    throw cause
  }
}

async function connectHttp(plan: ServerPlan, options: Options): Promise<Connection> {
  const http = plan.http as NonNullable<ServerPlan['http']>
  const headers = headersFilledIn(http.headers, 'http.headers')
  const url = ((): URL => {
    try {
      return new URL(http.url)
    } catch (cause) {
      throw new TouchstoneError('argument_invalid', `expected a URL, got ${reasonOf(cause)}`, {
        where: 'http.url',
      })
    }
  })()
  const known = { folder: null, facts: () => shownAddress(url.href), log: () => null }
  if (options.era === 'modern') {
    const transport = new ModernTransport(await modernHttp(url, headers))
    return connected(plan, transport, { ...known, leave: () => {} }, options)
  }
  const transport = new StreamableHTTPClientTransport(url, { requestInit: { headers } })
  return connected(
    plan,
    transport as Transport,
    {
      ...known,
      // A session that is not ended stays in the server's memory, and a server of one session takes
      // no other.
      leave: () => transport.terminateSession().catch(() => {}),
    },
    options,
  )
}

async function connected(
  plan: ServerPlan,
  transport: Transport,
  known: {
    folder: string | null
    facts(atStart?: boolean): string
    log(): string | null
    leave(): void | Promise<void>
  },
  options: { signal?: AbortSignal | undefined },
): Promise<Connection> {
  const { folder, facts, log, leave } = known
  const explained = (error: TouchstoneError) =>
    error.code === 'server_unreachable'
      ? new TouchstoneError(error.code, `${error.message} (${facts(true)})`, {
          where: `server ${plan.name}`,
          cause: error.cause,
        })
      : error
  let client: Client
  try {
    client = await connectClient(transport, { timeoutMs: START_MS, signal: options.signal })
  } catch (cause) {
    throw cause instanceof TouchstoneError ? explained(cause) : cause
  }
  const connection: Connection = {
    client,
    folder,
    gone: false,
    log,
    explained,
    goneFor: (cause) => new Gone(`${reasonOf(cause)} (${facts()})`),
    async close() {
      // The session is ended while there is still a connection to end it by, the folder when
      // nothing uses it.
      if (plan.http) await leave()
      await client.close()
      if (!plan.http) await leave()
    },
  }
  client.onclose = () => {
    connection.gone = true
  }
  return connection
}
