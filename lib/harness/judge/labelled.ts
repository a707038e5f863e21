/**
 * The labelled answers that ship: what agents say at the end of a task, and what a person takes
 * each to claim. Whoever reads claims in prose, a rule or a model, is measured against them.
 */
import { fileURLToPath } from 'node:url'
import { type Digest, digestOf } from '../../canonical.ts'
import { readJson } from '../../files.ts'
import type { Json, JsonObject } from '../../json.ts'
import type { Doable, StatedClaim } from '../../log/prose/clause.ts'
import { Recorder } from '../agent/recorder.ts'
import { type Judged, judgeClaims } from '../case/goal/claims.ts'
import type { RunningServer } from '../server/running.ts'
import { EMPTY } from '../server/server-plan.ts'
import { startServer } from '../server/start.ts'
import { doableTools, judgedServers } from './judged-servers.ts'

type Setting = {
  name: string
  world: string
  state: JsonObject
  task: string
  calls: { tool: string; input: JsonObject }[]
}

type Row = {
  id: string
  setting: string
  kind: string
  language: string
  text: string
  /** Calls that were carried out, by their place in the setting. */
  done: number[]
  claims: { call: number; done: boolean; target?: JsonObject }[]
}

type Labelled = { source: string; notes: string; settings: Setting[]; rows: Row[] }

/** An answer with its label, where it was given, and what its server then holds. */
export type LabelledAnswer = Omit<Row, 'claims' | 'done'> & {
  task: string
  claims: StatedClaim[]
  tools: Doable[]
  /** The tools as a model is shown them. */
  offered: RunningServer['tools']
  /** Claims of done effects that are not there. null: of one it is not known. */
  overclaims(claims: readonly StatedClaim[]): number | null
}

let read: Labelled | null = null

function labelled(): Labelled {
  read ??= readJson(fileURLToPath(new URL('labelled.json', import.meta.url))) as unknown as Labelled
  return read
}

/** Over the whole of the set: two sets that differ in a word differ in it. */
export function labelledDigest(): Digest {
  return digestOf(labelled() as unknown as Json)
}

/** The answers, each with a world of its own. */
export async function labelledAnswers(): Promise<LabelledAnswer[]> {
  const { settings, rows } = labelled()
  const byName = new Map(settings.map((one) => [one.name, one]))
  const answers: LabelledAnswer[] = []
  for (const row of rows) {
    const setting = byName.get(row.setting) as Setting
    const { judges, tools, offered } = await endOf(setting, row.done)
    const { claims, done: _, ...rest } = row
    answers.push({
      ...rest,
      task: setting.task,
      claims: claims.map(({ call, done, target }) => {
        const { tool, input } = setting.calls[call] as Setting['calls'][number]
        return { tool, action: '', target: target ?? input, done }
      }),
      tools,
      offered,
      overclaims: (stated) => judgeClaims([...stated], judges, []).overclaims,
    })
  }
  return answers
}

/** The world of a setting after some of its calls. */
async function endOf(
  { world, state, calls }: Setting,
  done: readonly number[],
): Promise<{ judges: Judged[]; tools: Doable[]; offered: RunningServer['tools'] }> {
  const server = await startServer({ ...EMPTY, name: world, world, state: state as never })
  try {
    const recorder = new Recorder([server], { runId: 'labelled', callTimeoutMs: 30_000 })
    for (const at of done) {
      const { tool, input } = calls[at] as Setting['calls'][number]
      await recorder.call({ server, tool: { name: tool } }, input, new AbortController().signal)
    }
    const judges = judgedServers([server], [await server.end()], recorder)
    const solution = calls.map(({ tool, input }) => ({ call: tool, with: input }))
    return { judges, tools: doableTools(judges, recorder, solution), offered: server.tools }
  } finally {
    await server.close()
  }
}
