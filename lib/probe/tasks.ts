/**
 * One run of the set's two tasks against one server, over any transport: what leaves, in which order, and what it came to.
 */
import { type Deadline, deadline } from './deadline.ts'
import { openLine, type Seams } from './dial.ts'
import { openHttp } from './http.ts'
import { type Detail, type Outcome, Shortfall, shortfallOf } from './outcome.ts'
import { patternSet } from './patterns.ts'
import { connectionTest, type Limits } from './set.ts'
import { openSse } from './sse.ts'
import { type Command, openStdio } from './stdio.ts'
import { type ToolList, ToolPages } from './tools.ts'
import { checkLocalUrl, checkUrl, dialled, type Reason } from './url.ts'
import type { Wire } from './wire.ts'

export type Target =
  | { url: string; transport: 'streamable-http' | 'sse'; local: boolean }
  | { command: Command }

export type TaskFinding = {
  id: 'handshake' | 'tool_list'
  label: string
  attempted: boolean
  passed: boolean
  /** Why it did not pass; null when it passed or was not attempted. */
  detail: Detail | null
  httpStatus: number | null
  rpcCode: number | null
}

/** Everything that one test found, as plain data. */
export type Findings = {
  outcome: Outcome
  detail: Detail
  /** Why the address check refused; null for every outcome but `refused`. */
  reason: Reason | null
  tasks: TaskFinding[]
  /** From the true sending of initialize to the reading of its answer; null unless the handshake was answered. */
  latencyMs: number | null
  /** The version the server chose, when it has the form of one. */
  protocolVersion: string | null
  tools: ToolList | null
  /** Every request that left, in order. */
  sent: string[]
  bytesRead: number
  startedAt: string
  durationMs: number
}

/**
 * Run the tasks once. Whatever the server does comes back as findings.
 *
 * @param seams what tests put in the place of the world outside
 * @throws the caller's own reason when `signal` aborts; nothing else
 */
export async function runTest(
  target: Target,
  seams: Seams = {},
  signal?: AbortSignal,
): Promise<Findings> {
  signal?.throwIfAborted()
  const limits: Limits = { ...connectionTest().limits, ...seams.limits }
  const startedAt = new Date().toISOString()
  const begun = performance.now()
  const clock = deadline(limits.timeoutMs, signal)
  const state: State = {
    handshake: null,
    toolList: null,
    latencyMs: null,
    protocolVersion: null,
    pages: new ToolPages(),
  }
  const wire: { open: Wire | null; sent: readonly string[] } = { open: null, sent: [] }
  let stopped: Shortfall | null = null
  try {
    wire.open = await openWire(target, clock, limits, seams, (sent) => {
      wire.sent = sent
    })
    await attempt(wire.open, state, limits)
  } catch (error) {
    stopped = shortfallOf(error)
  }
  await wire.open?.close()
  clock.stop()
  signal?.throwIfAborted()
  const durationMs = performance.now() - begun
  // Patterns are matched after the connection is gone: reading them is ours and takes none of the server's time.
  const tools = state.toolList === 'answered' ? await state.pages.read(await patternSet()) : null
  const answered = state.handshake === 'answered'
  return {
    outcome: answered ? 'answered' : (stopped?.outcome ?? 'error'),
    detail: answered ? 'handshake_complete' : (stopped?.detail ?? 'other'),
    reason: answered ? null : (stopped?.reason ?? null),
    tasks: taskFindings(state, stopped),
    latencyMs: state.latencyMs,
    protocolVersion: state.protocolVersion,
    tools,
    sent: [...wire.sent],
    bytesRead: wire.open?.counted.bytesRead ?? 0,
    startedAt,
    durationMs,
  }
}

type State = {
  handshake: 'answered' | null
  toolList: 'answered' | null
  latencyMs: number | null
  protocolVersion: string | null
  pages: ToolPages
}

async function openWire(
  target: Target,
  clock: Deadline,
  limits: Limits,
  seams: Seams,
  watch: (sent: readonly string[]) => void,
): Promise<Wire> {
  if ('command' in target) {
    const wire = await openStdio(target.command, clock, limits)
    watch(wire.sent)
    return wire
  }
  const { reason } = target.local ? checkLocalUrl(target.url) : checkUrl(target.url)
  if (reason !== 'ok') throw new Shortfall('url_refused', { reason })
  const url = dialled(target.url)
  const line = await openLine({ local: target.local, signal: clock.signal, seams })
  watch(line.sent)
  if (target.transport === 'streamable-http') return openHttp(url, line, clock, limits)
  try {
    return await openSse(url, line, clock, limits, target.local)
  } catch (error) {
    await line.close()
    throw error
  }
}

const VERSION = /^\d{4}-\d{2}-\d{2}$/

async function attempt(wire: Wire, state: State, limits: Limits): Promise<void> {
  const { name, version, protocolVersion } = connectionTest().set.client
  const { result, elapsedMs } = await wire.ask(1, 'initialize', {
    protocolVersion,
    capabilities: {},
    clientInfo: { name, version },
  })
  state.handshake = 'answered'
  state.latencyMs = elapsedMs
  // Any result passes. What cannot be a version is not sent back: the one we asked for stands in.
  const offered = (result as { protocolVersion?: unknown } | null)?.protocolVersion
  if (typeof offered === 'string' && VERSION.test(offered)) state.protocolVersion = offered
  wire.agreed(state.protocolVersion ?? protocolVersion)
  await wire.notify('notifications/initialized')

  let cursor: string | null = null
  for (let page = 0; page < limits.toolListPages; page++) {
    const answer = await wire.ask(2 + page, 'tools/list', cursor === null ? undefined : { cursor })
    cursor = state.pages.add(answer.result)
    if (cursor === null) break
  }
  state.toolList = 'answered'
}

/** A task that an earlier failure kept from being reached counts as attempted; a refusal attempts nothing. */
function taskFindings(state: State, stopped: Shortfall | null): TaskFinding[] {
  const attempted = stopped?.outcome !== 'refused' || state.handshake === 'answered'
  return connectionTest().set.tasks.map(({ id, label }) => {
    const passed = (id === 'handshake' ? state.handshake : state.toolList) === 'answered'
    const here = id === 'handshake' ? state.handshake === null : state.handshake === 'answered'
    const why = passed || !attempted ? null : here ? stopped : null
    return {
      id,
      label,
      attempted,
      passed,
      detail: passed || !attempted ? null : (why?.detail ?? 'not_reached'),
      httpStatus: why?.httpStatus ?? null,
      rpcCode: why?.rpcCode ?? null,
    }
  })
}
