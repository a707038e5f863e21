/** The tasks of a test with a handshake (mcp-connection 1.0): initialize, then tools/list. */

import { shortfallOf } from '../judge/outcome.ts'
import type { ConnectionSet, Limits, TaskId } from '../judge/set.ts'
import { warmReader } from '../read/reader.ts'
import type { Wire } from '../wire/wire.ts'
import type { Course } from './course.ts'

const VERSION = /^\d{4}-\d{2}-\d{2}$/

/** Attempt the tasks in order. Whatever stops them is in the course. */
export async function legacyTasks(
  wire: Wire,
  course: Course,
  { limits, client }: { limits: Limits; client: ConnectionSet['client'] },
): Promise<void> {
  let task: TaskId = 'handshake'
  try {
    const { name, version, protocolVersion } = client
    const { outline, elapsedMs, stalledMs } = await wire.ask(1, 'initialize', {
      protocolVersion,
      capabilities: {},
      clientInfo: { name, version },
    })
    course.tasks.set(task, 'passed')
    course.answered = true
    course.latency = { ms: elapsedMs, stalledMs }
    course.greeting = outline
    warmReader()
    task = 'tool_list'
    // Any result passes. A version of no valid form is not sent back: ours is sent in its place.
    const offered = outline.protocolVersion
    if (offered !== null && VERSION.test(offered)) course.protocolVersion = offered
    wire.agreed(course.protocolVersion ?? protocolVersion)
    await wire.notify('notifications/initialized')

    let cursor: string | null = null
    for (let page = 0; page < limits.toolListPages; page++) {
      const params = cursor === null ? undefined : { cursor }
      const answer = await wire.ask(2 + page, 'tools/list', params)
      course.pages.push(answer.page)
      cursor = answer.outline.nextCursor
      course.more = cursor !== null
      if (cursor === null) break
    }
    course.tasks.set(task, 'passed')
  } catch (error) {
    course.tasks.set(task, shortfallOf(error))
  }
}
