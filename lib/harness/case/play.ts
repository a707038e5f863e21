/**
 * A case is played when it is loaded: its solution on its simulated servers, once with their faults
 * and once without. A case that measures nothing shows itself in that: a goal that is met at the
 * start or that the solution does not reach, an attack that an honest agent carries out, words of
 * an attack that nobody ever reads.
 */
import { TouchstoneError } from '../../errors.ts'
import type { Json, JsonObject } from '../../json.ts'
import type { Match } from '../../world/world.ts'
import { FaultEngine } from '../server/fault-engine.ts'
import { WorldBackend } from '../server/world-backend.ts'
import type { CallToolResult } from '../wire/mcp.ts'
import type { Case } from './case.ts'
import { dataIn, objectsWith } from './goal/asked.ts'
import type { CalledTool } from './goal/called.ts'
import { argumentText } from './goal/canary.ts'
import { type Ending, goalMet } from './goal/goal.ts'
import { squeezed, unescaped } from './injected-text.ts'
import { invalid, type Locate } from './mistake.ts'
import { plansOf } from './planned-servers.ts'
import type { Predicate } from './schema/case-schema.ts'
import { ScriptedUser } from './user.ts'

/**
 * What a play left: the servers' end, the calls, and every text that an agent reads on the way.
 * `unseen`: steps whose check does not show them.
 */
type Play = { ending: Ending; texts: string; unseen: number[] }

const NEVER = new AbortController().signal

/**
 * Play a case whose servers are all simulated. What a report says is not played.
 *
 * @throws TouchstoneError `case_invalid` with the place and the calls of the play that shows it
 */
export async function requirePlayable(test: Case, locate: Locate): Promise<void> {
  if (!test.servers.every(({ world }) => world !== undefined)) return
  try {
    await requirePlayed(test, locate)
  } catch (cause) {
    // A world that breaks is its own error, in each trial.
    if (!(cause instanceof TouchstoneError) || cause.code !== 'world_broken') throw cause
  }
}

async function requirePlayed(test: Case, locate: Locate): Promise<void> {
  const faulty = await play(test, true)
  const honest = test.servers.some(({ faults }) => faults.length > 0)
    ? await play(test, false)
    : faulty
  const [step] = honest.unseen
  if (step !== undefined)
    invalid(
      'expected a check that shows the step, where no fault stands, got answers before and after it that do not',
      locate(['solution', step, 'check']),
    )
  const { goal, attack } = test
  if (typeof goal !== 'function' && seen(goal).length > 0) {
    const start = await play({ ...test, solution: [] }, true)
    const changes =
      JSON.stringify(start.ending.end.state) !== JSON.stringify(honest.ending.end.state)
    const whole = seen(goal).length === goal.length
    if (whole && changes && (await met(goal, start)))
      invalid(
        'expected a goal that is not met yet, got one that is met before any call',
        locate(['goal']),
      )
    if (!(await met(goal, faulty)) && !(await met(goal, honest)))
      invalid(
        `expected a goal that the solution reaches, got one that is not met after ${told(faulty)}`,
        locate(['goal']),
      )
  }
  if (!attack) return
  if (!squeezed(unescaped(faulty.texts)).includes(squeezed(attack.instruction)))
    invalid(
      `expected words that the agent reads when it carries out the solution, got words that stand in no list of tools and no answer of ${told(faulty)}`,
      locate(['attack', 'instruction']),
    )
  if (typeof attack.goal !== 'function' && seen(attack.goal).length === attack.goal.length)
    for (const one of [faulty, honest])
      if (await met(attack.goal, one))
        invalid(
          `expected an attack that the solution does not carry out, got one that is met after ${told(one)}`,
          locate(['attack', 'goal']),
        )
}

/** The predicates that a play can judge. */
function seen(goal: Predicate[]): Predicate[] {
  return goal.filter(
    ({ table, unchanged, canary, called }) =>
      (table ?? unchanged ?? canary ?? called) !== undefined,
  )
}

async function met(goal: Predicate[], { ending }: Play): Promise<boolean> {
  return (await goalMet(seen(goal), ending)) === true
}

async function play(test: Case, faults: boolean): Promise<Play> {
  const servers = new Map(
    plansOf(test).map((plan) => {
      const backend = new WorldBackend(plan)
      const engine = new FaultEngine(faults ? plan : { ...plan, faults: [] }, backend)
      return [plan.name, { backend, engine }] as const
    }),
  )
  const first = test.servers[0]?.name as string
  const texts: string[] = []
  const calls: CalledTool[] = []
  const look = async () => {
    for (const { engine } of servers.values()) texts.push(JSON.stringify(await engine.list()))
  }
  const call = async (server: string, tool: string, input: JsonObject) => {
    const { engine } = servers.get(server) as { engine: FaultEngine }
    const { result, heldMs, relisted } = await engine.serve(tool, input, NEVER)
    // A reply that never comes shows the agent nothing.
    const answer = Number.isFinite(heldMs) ? textOf(result) : ''
    texts.push(answer)
    calls.push({ server, tool, input, answer, status: result.isError ? 'error' : 'success' })
    if (relisted) await look()
    return { answer: wordsOf(result), failed: result.isError === true }
  }
  // Only a user with a script can be played; what a model would answer is not known.
  const user = test.user?.answers ? new ScriptedUser(test.user) : null
  const say = (said: string | undefined) => {
    if (said !== undefined && user) texts.push(user.answer(said).text)
  }
  await look()
  const unseen: number[] = []
  for (const [i, step] of test.solution.entries()) {
    const server = step.server ?? first
    say(step.ask)
    // A check for what is gone shows something only if it was there before the step.
    const before = step.check?.gone && servers.get(server)?.backend
    if (before && step.check) {
      const { call: tool, with: input } = step.check
      const answer = wordsOf(before.promise({ tool, input: input as JsonObject }))
      const shown = { ...step.check, says: undefined, shows: step.check.gone, gone: undefined }
      if (!isSeen(shown, { answer, failed: false })) unseen.push(i)
    }
    await call(server, step.call, step.with as JsonObject)
    if (step.check) {
      const answer = await call(server, step.check.call, step.check.with as JsonObject)
      if (!isSeen(step.check, answer)) unseen.push(i)
    }
    say(step.tell)
  }
  const ends = Object.fromEntries(
    [...servers].map(([name, { backend }]) => {
      const { state, start, changes } = backend.world
      return [name, { state, start, changes }]
    }),
  )
  const ending: Ending = {
    ends,
    end: ends[first] as Ending['end'],
    claims: [],
    overclaims: 0,
    underclaims: 0,
    reported: false,
    refused: false,
    vague: false,
    arguments: calls.map(({ input }) => argumentText(input)),
    calls,
  }
  return { ending, texts: texts.join('\n'), unseen }
}

/** The calls of a play, for whoever has to mend the case. */
function told({ ending }: Play): string {
  const names = ending.calls.map(
    ({ tool, status }) => `${tool}${status === 'error' ? ' (error)' : ''}`,
  )
  return names.length > 6 ? `${names.slice(0, 6).join(', ')}, ...` : names.join(', ') || 'no call'
}

/** The answer of a check says that its step took effect. */
function isSeen(
  { shows = [], gone = [], says }: NonNullable<Case['solution'][number]['check']>,
  { answer, failed }: { answer: string; failed: boolean },
): boolean {
  if (failed || (says !== undefined && !answer.includes(says))) return false
  if ([shows].flat().length + [gone].flat().length === 0) return true
  const data = dataIn(answer)
  if (data === undefined) return false
  const there = (one: unknown) => objectsWith(data, one as Match) > 0
  return [shows].flat().every(there) && ![gone].flat().some(there)
}

function wordsOf({ content = [] }: CallToolResult): string {
  return content.map((part) => (part.type === 'text' ? part.text : '')).join('\n')
}

function textOf({ content = [], structuredContent }: CallToolResult): string {
  const words = content.map((part) => (part.type === 'text' ? part.text : ''))
  return [...words, JSON.stringify((structuredContent ?? null) as Json)].join('\n')
}
