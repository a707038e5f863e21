/**
 * What the owner of a server is told beside the findings: how it names itself, its own words in
 * errors, and its process.
 */

import type { TaskId } from '../judge/set.ts'
import type { Outline } from '../read/outline.ts'
import { rulesOf } from '../read/reader.ts'
import type { ProcessTold } from '../wire/process-told.ts'
import type { Transport } from '../wire/wire.ts'
import type { Course } from './course.ts'

/** How a server named itself. Reported by itself, so it proves nothing. */
export type Greeting = {
  /** Null when it told none, or when it is withheld. */
  name: string | null
  version: string | null
  /**
   * Rules that the name or the version matched; of a stranger's server, not empty means withheld.
   */
  rules: string[]
  /** Names of the capabilities it declared; null when it declared none at all. */
  capabilities: string[] | null
  /** Only of a server of one's own. */
  instructions: string | null
}

export type Own = {
  /** What the server itself said of each error, in the order of the tasks. */
  errors: { task: TaskId; code: number | null; message: string }[]
  /** Where a redirect pointed. */
  location: string | null
  /** A way of connecting that the server answers, tried when the one asked for did not. */
  worksOver: { transport: Transport; url: string; era: 'legacy' | 'modern' } | null
  /** Of a stdio server. */
  process: ProcessTold | null
}

/** What is told of the greeting. A stranger's texts are read with the pattern set first. */
export async function greetingOf(outline: Outline | null, own: boolean): Promise<Greeting | null> {
  if (outline === null) return null
  const { server, instructions } = outline
  const texts = [server?.name, server?.version].filter((text) => typeof text === 'string')
  const rules = texts.length > 0 && !own ? await rulesOf(texts) : []
  const kept = own || rules.length === 0
  const capabilities =
    outline.capabilities?.filter((name) => own || /^[\w./-]{1,64}$/.test(name)) ?? null
  return {
    name: kept ? (server?.name ?? null) : null,
    version: kept ? (server?.version ?? null) : null,
    rules,
    capabilities,
    instructions: own ? instructions : null,
  }
}

/** What the owner is told of a course. `worksOver` is found out later, by trying. */
export function ownOf(course: Course, process: ProcessTold | null): Own {
  const errors: Own['errors'] = []
  let location: string | null = null
  for (const [task, state] of course.tasks) {
    if (state === 'passed') continue
    location ??= state.location
    const message = state.rpc?.message
    if (message) errors.push({ task, code: state.rpc?.code ?? null, message })
  }
  return { errors, location, worksOver: null, process }
}
