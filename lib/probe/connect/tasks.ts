/**
 * One test of one server, over any transport and in either era of the protocol: from the address
 * check to plain findings.
 */

import { untilAborted } from '../../abort.ts'
import { type Deadline, deadline } from '../judge/deadline.ts'
import { Shortfall, shortfallOf } from '../judge/outcome.ts'
import { connectionSet, DEFAULT_SET, type Era, type Limits, setOfEra } from '../judge/set.ts'
import { checkLocalUrl, checkUrl, dialled } from '../judge/url.ts'
import { toolsFrom } from '../read/reader.ts'
import type { ToolList } from '../read/tools.ts'
import type { Command } from '../wire/command.ts'
import { openLine, type Seams } from '../wire/dial.ts'
import { openHttp } from '../wire/http.ts'
import { type ModernWire, modernStdio, openModernHttp } from '../wire/modern-http.ts'
import { openSse } from '../wire/sse.ts'
import { openStdio, type StdioWire } from '../wire/stdio.ts'
import { type Course, latencyOf, newCourse } from './course.ts'
import {
  speaksModern,
  type TaskFinding,
  taskFindings,
  type Verdict,
  verdict,
  versionsOf,
} from './course-outcome.ts'
import { legacyTasks } from './legacy-tasks.ts'
import type { StatelessMeasures } from './modern-findings.ts'
import { modernTasks } from './modern-tasks.ts'
import { type Greeting, greetingOf, type Own, ownOf } from './own.ts'

/** A stranger's server by a published set, or a server of one's own. */
export type Target =
  | { url: string; transport: 'streamable-http' | 'sse'; local: false; set?: string }
  | ({ url: string; transport: 'streamable-http' | 'sse'; local: true } & OwnOptions)
  | ({ command: Command } & OwnOptions)

/** What only the owner of a server may set. */
export type OwnOptions = {
  /**
   * Which protocol to speak. `auto`: 2026-07-28 first, and the earlier one when the server does not
   * know it. Default legacy.
   */
  era?: Era | 'auto' | undefined
  /** Headers that every request carries. */
  headers?: Record<string, string> | undefined
  /** An authority to trust beside the system's, PEM. */
  ca?: string | undefined
  /** Default 60,000. */
  timeoutMs?: number | undefined
  /** Keep each tool's input schema. */
  schemas?: boolean | undefined
}

/** Everything that one test found, as plain data. */
export type Findings = Verdict & {
  /** The protocol that was spoken: `legacy` has initialize, `modern` is revision 2026-07-28. */
  era: Era
  tasks: TaskFinding[]
  /**
   * From the true sending of the first request to the arrival of its answer, in ms; null unless
   * that task passed.
   */
  latencyMs: number | null
  /**
   * `loop_blocked`: the first task passed, but this process stood still meanwhile, so that its
   * latency is not told.
   */
  latencyNote: 'loop_blocked' | null
  /** The version the server chose, when it has the form of one. */
  protocolVersion: string | null
  /** Revisions that the server said it supports, at most eight. Empty when it named none. */
  supportedVersions: string[]
  /** How the server named itself, in the sets that measure it and of a server of one's own. */
  greeting: Greeting | null
  tools: ToolList | null
  /**
   * Of revision 2026-07-28: what results said of themselves, and findings. Null in the other era.
   */
  stateless: StatelessMeasures | null
  /** Every request that left, in order. */
  sent: string[]
  bytesRead: number
  startedAt: string
  durationMs: number
  /** What only the server's owner is told; null for a stranger's server. */
  own: Own | null
}

/** A developer's own server may be slow to start, and may have many pages. */
const OWN_LIMITS = { timeoutMs: 60_000, toolListPages: 100, maxResponseBytes: 16_000_000 }
/**
 * How long a stdio server may take to answer a request of 2026-07-28 before it counts as one that
 * does not know it.
 */
const SILENCE_MS = 5_000

/** Reading a tool list has what is left of the test's time, and never less than this. */
const READ_MS = 2_000

/**
 * Run the tasks once. Whatever the server does comes back as findings.
 *
 * @param seams what tests put in the place of the world outside
 * @throws the caller's own reason when `signal` aborts; TouchstoneError `set_unknown`; nothing else
 */
export async function runTest(
  target: Target,
  seams: Seams = {},
  signal?: AbortSignal,
): Promise<Findings> {
  signal?.throwIfAborted()
  const own: OwnOptions | null = 'command' in target || target.local ? target : null
  const published = own ? null : connectionSet(setAsked(target))
  const wanted = published?.era ?? own?.era ?? 'legacy'
  const limits: Limits = {
    ...(published ?? setOfEra('legacy')).limits,
    ...(own ? OWN_LIMITS : {}),
    ...(own?.timeoutMs === undefined ? {} : { timeoutMs: own.timeoutMs }),
    ...seams.limits,
  }
  const startedAt = new Date().toISOString()
  const begun = performance.now()
  const clock = deadline(limits.timeoutMs, signal)
  const test: Test = {
    clock,
    limits,
    era: wanted === 'legacy' ? 'legacy' : 'modern',
    course: newCourse(),
    stateless: null,
    sent: [],
    counted: [],
    closing: [],
    stdio: null,
  }
  try {
    await (wanted === 'auto' ? bothEras(target, test, seams) : oneEra(target, test, seams))
  } catch (error) {
    const [first] = setOfEra(test.era).set.tasks
    test.course.tasks.set(first?.id ?? 'handshake', shortfallOf(error))
  }
  // The list is read by the thread while the connection ends.
  const left = limits.timeoutMs - (performance.now() - begun)
  const reading = toolsOf(target, test, Math.max(READ_MS, left), signal)
  for (const close of test.closing) await close()
  clock.stop()
  const durationMs = performance.now() - begun
  const tools = await reading
  signal?.throwIfAborted()
  const { course, era } = test
  const measured = own || era === 'modern'
  return {
    ...verdict(course, era),
    era,
    tasks: taskFindings(course, era),
    ...latencyOf(course),
    protocolVersion: course.protocolVersion,
    supportedVersions: versionsOf(course),
    greeting: measured ? await greetingOf(course.greeting, own !== null) : null,
    tools,
    stateless: test.stateless,
    sent: test.sent.flat(),
    bytesRead: test.counted.reduce((sum, { bytesRead }) => sum + bytesRead, 0),
    startedAt,
    durationMs,
    own: own ? ownOf(course, test.stdio?.told() ?? null) : null,
  }
}

/** The set that a stranger's server is tested by. */
export function setAsked(target: Target): string {
  return ('set' in target ? target.set : undefined) ?? DEFAULT_SET
}

/** A test under way. */
type Test = {
  clock: Deadline
  limits: Limits
  era: Era
  course: Course
  stateless: StatelessMeasures | null
  /** What left, by connection or process, in order. */
  sent: (readonly string[])[]
  counted: { bytesRead: number }[]
  closing: (() => Promise<void>)[]
  stdio: StdioWire | null
}

async function oneEra(target: Target, test: Test, seams: Seams): Promise<void> {
  if ('command' in target) {
    const wire = await startedStdio(target.command, test)
    if (test.era === 'modern') await runModern(modernStdio(wire), test)
    else await legacyTasks(wire, test.course, tasksOf(test))
    return
  }
  const { url, line } = await opened(target, test, seams)
  const extra = target.local ? (target.headers ?? {}) : {}
  const options = { ...tasksOf(test), extra }
  if (test.era === 'modern') {
    const wire = openModernHttp(url, line, test.clock, options)
    track(test, wire)
    await runModern(wire, test)
    return
  }
  const wire =
    target.transport === 'sse'
      ? await openSse(url, line, test.clock, { ...options, local: target.local })
      : openHttp(url, line, test.clock, options)
  track(test, wire)
  await legacyTasks(wire, test.course, tasksOf(test))
}

/**
 * The specification's rule for a client that speaks both: 2026-07-28 first, the earlier era when
 * that is not known.
 */
async function bothEras(target: Target, test: Test, seams: Seams): Promise<void> {
  const again = () => {
    test.era = 'legacy'
    test.course = newCourse()
    test.stateless = null
  }
  if ('command' in target) {
    const wire = await startedStdio(target.command, test)
    const modern = modernStdio(wire)
    const impatient: ModernWire = {
      ...modern,
      request: (...asked) => untilAborted(modern.request(...asked), test.clock.within(SILENCE_MS)),
    }
    await runModern(impatient, test)
    if (speaksModern(test.course) || wire.ended()) return
    again()
    await legacyTasks(wire, test.course, tasksOf(test))
    return
  }
  if (target.transport === 'sse') again()
  await oneEra(target, test, seams)
  if (test.era === 'legacy' || speaksModern(test.course)) return
  again()
  await oneEra(target, test, seams)
}

async function runModern(wire: ModernWire, test: Test): Promise<void> {
  test.stateless = await modernTasks(wire, test.course, tasksOf(test))
}

const tasksOf = ({ era, limits }: Test) => ({ limits, client: setOfEra(era).set.client })

function track(test: Test, wire: { close(): Promise<void>; counted: { bytesRead: number } }): void {
  test.counted.push(wire.counted)
  // The wire closes its line; one that never came to be open is closed by `opened`.
  test.closing.unshift(() => wire.close())
}

async function startedStdio(command: Command, test: Test): Promise<StdioWire> {
  const wire = await openStdio(command, test.clock, test.limits)
  test.stdio = wire
  test.sent.push(wire.sent)
  track(test, wire)
  return wire
}

async function opened(target: Extract<Target, { url: string }>, test: Test, seams: Seams) {
  const { reason } = target.local ? checkLocalUrl(target.url) : checkUrl(target.url)
  if (reason !== 'ok') throw new Shortfall('url_refused', { reason })
  const { signal } = test.clock
  const ca = target.local ? target.ca : undefined
  const line = await openLine({ local: target.local, signal, seams, ca })
  test.sent.push(line.sent)
  test.closing.push(() => line.close())
  return { url: dialled(target.url), line }
}

/**
 * Read the tool list behind the last answer: reading is ours and takes none of the server's time.
 */
async function toolsOf(
  target: Target,
  test: Test,
  mostMs: number,
  signal: AbortSignal | undefined,
): Promise<ToolList | null> {
  const { course } = test
  if (course.tasks.get('tool_list') !== 'passed') return null
  const own = 'command' in target || target.local
  const schemas = ('command' in target || target.local) && target.schemas === true
  const clock = deadline(mostMs, signal)
  try {
    return await toolsFrom(course.pages, { own, schemas, more: course.more }, clock.signal)
  } finally {
    clock.stop()
  }
}
