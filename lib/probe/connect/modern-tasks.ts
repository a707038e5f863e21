/**
 * The tasks of the test for revision 2026-07-28 (mcp-connection-stateless 1.0): server/discover and
 * tools/list.
 */

import { credentialsAsked, MODERN_CODES, Shortfall, shortfallOf } from '../judge/outcome.ts'
import type { ConnectionSet, Limits, TaskId } from '../judge/set.ts'
import type { Outline } from '../read/outline.ts'
import { warmReader } from '../read/reader.ts'
import type { ModernReply, ModernWire } from '../wire/modern-http.ts'
import type { Course } from './course.ts'
import { Noticed, type StatelessMeasures } from './modern-findings.ts'

const META = 'io.modelcontextprotocol'

/** The envelope that every request carries. */
export function envelope({ name, version, protocolVersion }: ConnectionSet['client']) {
  return {
    [`${META}/protocolVersion`]: protocolVersion,
    [`${META}/clientInfo`]: { name, version },
    [`${META}/clientCapabilities`]: {},
  }
}

/**
 * Attempt both tasks, which do not depend on each other. The second is left out when the first got
 * no answer at all or was refused.
 */
export async function modernTasks(
  wire: ModernWire,
  course: Course,
  { limits, client }: { limits: Limits; client: ConnectionSet['client'] },
): Promise<StatelessMeasures> {
  const noticed = new Noticed()
  const meta = { _meta: envelope(client) }
  const attempt = async (task: TaskId, work: () => Promise<void>): Promise<Shortfall | null> => {
    try {
      await work()
      course.tasks.set(task, 'passed')
      return null
    } catch (error) {
      const fault = shortfallOf(error)
      course.tasks.set(task, fault)
      return fault
    }
  }
  const stopped = await attempt('discover', async () => {
    const reply = await wire.request(1, 'server/discover', meta)
    noticed.reply('server/discover', reply)
    const outline = resultOf(reply)
    course.greeting = outline
    warmReader()
    if (!outline.supportedVersions?.includes(client.protocolVersion)) {
      throw new Shortfall('version_not_listed', { httpStatus: reply.httpStatus })
    }
    course.protocolVersion = client.protocolVersion
    course.answered = true
    course.latency = { ms: reply.elapsedMs, stalledMs: reply.stalledMs }
  })
  if (stopped?.outcome === 'no_answer' || stopped?.outcome === 'refused') return noticed.measures()

  await attempt('tool_list', async () => {
    let cursor: string | null = null
    for (let page = 0; page < limits.toolListPages; page++) {
      const params = { ...meta, ...(cursor === null ? {} : { cursor }) }
      const reply = await wire.request(2 + page, 'tools/list', params)
      noticed.reply('tools/list', reply)
      const outline: Outline = resultOf(reply)
      if (outline.resultType !== 'complete' && outline.resultType !== 'absent') {
        throw new Shortfall('result_type', { httpStatus: reply.httpStatus })
      }
      course.answered = true
      if (reply.page) course.pages.push(reply.page)
      cursor = outline.nextCursor
      course.more = cursor !== null
      if (cursor === null) break
    }
    noticed.listed(course.greeting)
  })
  return noticed.measures()
}

/** The result in a reply. @throws Shortfall for every reply without one */
function resultOf(reply: ModernReply): Outline {
  if (reply.answer?.error === null) return reply.answer.outline
  throw judgeModern(reply)
}

/**
 * What a reply without a result means, in the set's order: credentials asked for, then the
 * revision's own error codes, then the HTTP status.
 */
function judgeModern(reply: ModernReply): Shortfall {
  const { httpStatus, header, fault } = reply
  const rpc = reply.answer?.error ?? null
  const status = httpStatus ?? 200
  const location = header('location') ?? null
  const more = { httpStatus, rpc, location, cause: fault ?? undefined }
  const asked = credentialsAsked({ httpStatus: status, header, rpc, fault })
  if (asked) return new Shortfall(asked, more)
  switch (rpc?.code) {
    case MODERN_CODES.version:
      return new Shortfall('version_unsupported', more)
    case MODERN_CODES.headerMismatch:
      return new Shortfall('header_mismatch', more)
    case MODERN_CODES.capability:
      return new Shortfall('capability_required', more)
    case -32601:
      return new Shortfall('method_not_found', more)
    case -32602:
      return new Shortfall('meta_rejected', more)
  }
  if (status >= 300 && status < 400) return new Shortfall('redirect', more)
  if (status >= 400 && status < 500) return new Shortfall('legacy_only', more)
  if (status >= 500) return new Shortfall('http_status', more)
  if (rpc) return new Shortfall('rpc_error', more)
  return new Shortfall(fault?.detail ?? 'not_an_answer', { ...more, reason: fault?.reason ?? null })
}
