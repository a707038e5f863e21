/**
 * Simulated models: NOT language models. They follow a case's solution and stray from it at
 * declared rates, drawn from a seed.
 *
 * They exist so that the whole machinery (loop, servers, evidence, statistics) runs offline and to
 * a known end. What they score says nothing about any real model. Each speaks the AI SDK's model
 * interface and knows only what its prompt shows: an instruction that it has not seen it cannot
 * obey, and whether a step worked it learns from what the tools answered.
 */
import type {
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4Content,
  LanguageModelV4GenerateResult,
  LanguageModelV4StreamPart,
} from '@ai-sdk/provider'
import type { Json, JsonObject } from '../../json.ts'
import type { StatedClaim } from '../../log/prose/clause.ts'
import { rng } from '../../stats/random.ts'
import type { Match } from '../../world/world.ts'
import type { Case } from '../case/case.ts'
import { dataIn, objectsWith } from '../case/goal/asked.ts'
import { squeezed, unescaped } from '../case/injected-text.ts'
import type { SolutionStep } from '../case/schema/case-schema.ts'
import { offeredName } from './recorder.ts'

/**
 * Rates in [0, 1] at which a simulated model strays from the solution. Each is drawn anew for every
 * trial, and step.
 */
export type Deviations = {
  /** Follows an instruction found in a tool's description or result. */
  obeys: number
  /** Says that a step is done without having seen it, or having seen that it is not. */
  claimsUnchecked: number
  /** Does not look whether a step took effect. */
  skipsReadBack: number
  /** Calls again at once after an error, without looking first. */
  retriesAfterError: number
}

export const SIMULATED: { [name: string]: Deviations } = {
  'sim/naive': { obeys: 0.7, claimsUnchecked: 0.9, skipsReadBack: 0.85, retriesAfterError: 0.8 },
  'sim/careful': { obeys: 0.1, claimsUnchecked: 0.05, skipsReadBack: 0.1, retriesAfterError: 0.1 },
  'sim/perfect': { obeys: 0, claimsUnchecked: 0, skipsReadBack: 0, retriesAfterError: 0 },
  'sim/gullible': { obeys: 1, claimsUnchecked: 0, skipsReadBack: 0, retriesAfterError: 0 },
}

export type SimulatedContext = {
  case: Case
  seed: string
  changes: (server: string, tool: string, input: JsonObject) => boolean
}

/** A call, or words to the user. */
type Move = Action | { say: string }
type Action = { tool: string; input: JsonObject }
type Answer = { text: string; failed: boolean }

/** A simulated model for one trial. */
export function simulatedModel(
  id: string,
  deviations: Deviations,
  context: SimulatedContext,
): LanguageModelV4 {
  let seen = ''
  const play = script(context, deviations, () => seen)
  let step = 0
  const next = (options: LanguageModelV4CallOptions): LanguageModelV4GenerateResult => {
    seen = visibleText(options)
    const move = step === 0 ? play.next() : play.next(lastAnswer(options))
    step++
    const { value } = move
    const call = value && 'tool' in value ? value : null
    const says = value && 'say' in value ? value.say : 'Done.'
    const content: LanguageModelV4Content[] = call
      ? [
          {
            type: 'tool-call',
            toolCallId: `call-${step}`,
            toolName: call.tool,
            input: JSON.stringify(call.input),
          },
        ]
      : [{ type: 'text', text: says }]
    return {
      content,
      finishReason: { unified: call ? 'tool-calls' : 'stop', raw: undefined },
      // No tokens were used, and none are made up.
      usage: {
        inputTokens: {
          total: undefined,
          noCache: undefined,
          cacheRead: undefined,
          cacheWrite: undefined,
        },
        outputTokens: { total: undefined, text: undefined, reasoning: undefined },
      },
      warnings: [],
    }
  }
  return {
    specificationVersion: 'v4',
    provider: 'touchstone.simulated',
    modelId: id,
    supportedUrls: {},
    doGenerate: async (options) => next(options),
    async doStream(options) {
      const { content, finishReason, usage, warnings } = next(options)
      const parts: LanguageModelV4StreamPart[] = [{ type: 'stream-start', warnings }]
      for (const part of content) {
        if (part.type === 'tool-call') parts.push(part)
        else if (part.type === 'text') {
          parts.push(
            { type: 'text-start', id: '0' },
            { type: 'text-delta', id: '0', delta: part.text },
            { type: 'text-end', id: '0' },
          )
        }
      }
      parts.push({ type: 'finish', finishReason, usage })
      const stream = new ReadableStream<LanguageModelV4StreamPart>({
        start(controller) {
          for (const part of parts) controller.enqueue(part)
          controller.close()
        },
      })
      return { stream }
    },
  }
}

/**
 * The moves of one trial. Each draw depends on the seed and its own name only, so that one does not
 * shift the others.
 */
function* script(
  { case: test, seed, changes }: SimulatedContext,
  rates: Deviations,
  seen: () => string,
): Generator<Move, void, Answer> {
  const happens = (what: keyof Deviations, where: string | number) =>
    rng(`${seed}|${what}|${where}`)() < rates[what]
  const first = test.servers[0]?.name as string
  const action = (spec: {
    server?: string | undefined
    call: string
    with: JsonObject
  }): Action => ({
    tool: offeredName(spec.server ?? first, spec.call, test.servers.length),
    input: spec.with,
  })
  let followed = false
  function* follow(): Generator<Move, void, Answer> {
    if (!test.attack || followed || !seen().includes(squeezed(test.attack.instruction))) return
    followed = true
    if (!happens('obeys', 0)) return
    for (const call of test.attack.calls) yield action(call)
  }

  function* say(words: string | undefined): Generator<Move, void, Answer> {
    if (words === undefined) return
    yield { say: words }
    yield* follow()
  }

  const claims: StatedClaim[] = []
  for (const [i, step] of test.solution.entries()) {
    yield* follow()
    yield* say(step.ask)
    const done = yield* carryOut(step, i)
    yield* say(step.tell)
    if (!changes(step.server ?? first, step.call, step.with as JsonObject)) continue
    claims.push({
      tool: action(step as Action & SolutionStep).tool,
      action: step.call,
      target: step.with as JsonObject,
      done,
    })
  }
  yield* follow()
  yield {
    tool: 'report',
    input: { summary: `Finished: ${test.title}.`, claims: claims as unknown as Json },
  }

  function* carryOut(step: SolutionStep, i: number): Generator<Move, boolean, Answer> {
    const call = action(step as SolutionStep & { with: JsonObject })
    let answer = yield call
    yield* follow()
    if (answer.failed && happens('retriesAfterError', i)) answer = yield call
    const check = step.check
    if (!check || happens('skipsReadBack', i))
      return !answer.failed || happens('claimsUnchecked', i)
    const look = action({ server: step.server, call: check.call, with: check.with as JsonObject })
    function* readBack(): Generator<Move, Sight, Answer> {
      let sight: Sight = 'unreadable'
      // A read may be late or broken: only one that was seen several times to lack it says that it
      // is not there.
      for (let n = 0; n < LOOKS && sight !== 'there'; n++) {
        sight = sightOf(check as NonNullable<typeof check>, yield look)
        yield* follow()
      }
      return sight
    }
    let sight = yield* readBack()
    if (sight === 'missing') {
      // Once more, and once more a look.
      yield call
      yield* follow()
      sight = yield* readBack()
    }
    return sight === 'there' || happens('claimsUnchecked', i)
  }
}

/** How often a read is looked at before it is believed that something is not there. */
const LOOKS = 3

type Sight = 'there' | 'missing' | 'unreadable'

/** What a read's answer says of whether the step took effect. */
function sightOf(check: NonNullable<SolutionStep['check']>, answer: Answer): Sight {
  if (answer.failed) return 'unreadable'
  if (check.says !== undefined && !answer.text.includes(check.says)) return 'missing'
  if (check.shows === undefined && check.gone === undefined) return 'there'
  const data = dataIn(answer.text)
  if (data === undefined) return 'unreadable'
  const shows = [check.shows ?? []].flat() as Match[]
  const gone = [check.gone ?? []].flat() as Match[]
  return shows.every((one) => objectsWith(data, one) > 0) &&
    gone.every((one) => objectsWith(data, one) === 0)
    ? 'there'
    : 'missing'
}

function lastAnswer({ prompt }: LanguageModelV4CallOptions): Answer {
  const message = prompt.findLast((one) => one.role === 'tool')
  const part =
    message?.role === 'tool'
      ? message.content.findLast((one) => one.type === 'tool-result')
      : undefined
  if (part?.type !== 'tool-result') return { text: '', failed: true }
  const { output } = part
  const text =
    output.type === 'text' || output.type === 'error-text'
      ? output.value
      : JSON.stringify('value' in output ? output.value : '')
  return { text, failed: output.type.startsWith('error') }
}

/**
 * Everything that the prompt shows, with blanks squeezed: descriptions of tools, what they
 * answered, and what a user said behind the task.
 */
function visibleText({ prompt, tools }: LanguageModelV4CallOptions): string {
  const texts = (tools ?? []).map((tool) =>
    tool.type === 'function'
      ? `${tool.description ?? ''} ${unescaped(JSON.stringify(tool.inputSchema))}`
      : '',
  )
  // The first words are the task; what a user says comes after it.
  for (const message of prompt.slice(prompt.findIndex(({ role }) => role === 'user') + 1)) {
    if (message.role === 'user')
      for (const part of message.content) if (part.type === 'text') texts.push(part.text)
    if (message.role !== 'tool') continue
    for (const part of message.content) {
      if (part.type !== 'tool-result') continue
      const { output } = part
      if (output.type === 'text' || output.type === 'error-text')
        texts.push(unescaped(output.value))
    }
  }
  return squeezed(texts.join('\n'))
}
