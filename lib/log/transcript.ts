/**
 * The transcript of a trial: what an agent was told and offered, what it said, called and was
 * answered, in order.
 */
import { TouchstoneError } from '../errors.ts'
import { isObject, type JsonObject } from '../json.ts'
import type { StatedClaim } from './prose/clause.ts'
import { type Changing, wordsUnread } from './stated.ts'
import type { Claim } from './trial.ts'

/** One call: arguments without secrets, the answer as text. */
export type TranscriptCall = {
  /** The place in the sequence of calls, from 0, by their start. */
  seq: number
  server: string
  tool: string
  input: JsonObject
  /** `success`, `error`, `timeout` or `denied`. */
  status: string
  answer: string
  /** The client that called, where the agent is one of its own. */
  client?: string
  /**
   * Beginning and end on a clock that counts both: two calls ran at once when each began before the
   * other ended.
   */
  began: number
  ended: number
}

/** A call that was none: no tool of that name, or arguments that cannot be read. */
export type TranscriptMalformed = { tool: string; input: string; problem: string; after?: number }

/** When a part of the trial began and ended, in ms from the trial's start. */
export type TranscriptTime = {
  /** A call of the model, of a tool, or of the model that plays the user. */
  what: 'model' | 'call' | 'user'
  /** The number of the tool's call. */
  call?: number
  from_ms: number
  /** The end of the trial, where the part had none of its own. */
  to_ms: number
  /** Of it, how long it waited for a provider's limit. Left out where it did not. */
  waited_ms?: number
  /** Of a call of the agent's model, where its provider says. */
  tokens?: { input: number; output: number }
}

/** What was offered, from the call of that number on. */
export type OfferedTools = {
  after: number
  tools: { name: string; server: string; description: string }[]
}

/** One thing that happened, and its place in the list that holds it. */
type Step = ['tools' | 'said' | 'user' | 'call' | 'malformed', number]

/** A line of `transcripts.ndjson`. What runs of earlier versions do not hold is left out. */
export type TranscriptLine = {
  key: string
  attempt: number
  /** What the provider says the model was. */
  model?: string | null
  /** What the agent was told besides its task; none for an agent of its own. */
  instructions?: string
  task?: string
  tools?: OfferedTools[]
  calls: TranscriptCall[]
  malformed?: TranscriptMalformed[]
  said?: string[]
  /** What the simulated user answered. */
  user?: string[]
  /** The order of what the lists hold. */
  order?: Step[]
  /** When its parts began and ended. Left out where the configuration is simulated. */
  times?: TranscriptTime[]
  /** The summary of the agent's report. */
  summary?: string
  /** The claims of its report; else see the others. Secrets are taken out. */
  report_claims?: StatedClaim[]
  /** Claims that it handed over beside its answer. */
  answer_claims?: StatedClaim[]
  /** The tools that its last words, or its report's summary, may be about. */
  can_change?: Changing[]
  /** Claims found in its words, where those hold something that is written nowhere. */
  prose_claims?: StatedClaim[]
  /** Beside them: no sentence may hold another one. */
  prose_complete?: boolean
  /** How it ended. */
  end?: string
  seed?: number
  /** Calls that came after the agent had answered; they were refused. */
  late_calls?: number
  /** What else is known of an agent or its model's answers. */
  [note: string]: unknown
}

/** One entry of the ordered list. */
export type Entry =
  | { kind: 'instructions'; text: string }
  | { kind: 'task'; text: string }
  | { kind: 'tools'; tools: OfferedTools['tools'] }
  | { kind: 'said'; text: string }
  | { kind: 'user'; text: string }
  | ({ kind: 'call' } & TranscriptCall)
  | ({ kind: 'malformed' } & TranscriptMalformed)
  | { kind: 'report'; summary: string; claims: readonly Claim[] }
  /** The words that left open what the agent claims: the rule for prose does not read them. */
  | { kind: 'unread'; text: string }
  /** `stderr`: the last that a program wrote there which ended in another way than it should. */
  | { kind: 'end'; how: string; stderr?: string }

/** A trial as it went. */
export type Transcript = TranscriptLine & {
  /** Everything in one list, from the instructions to the end. */
  entries: Entry[]
  /**
   * False for a run of an earlier version: what the agent said stands before its calls, wherever it
   * was said.
   */
  ordered: boolean
}

/** The order of what lists hold, by the number of calls that had begun before. */
export function orderOf(parts: {
  offers: readonly { after: number }[]
  /** What the agent said and, where it is by the user, what the user answered. */
  said: readonly { after: number; by?: 'user' }[]
  malformed: readonly { after: number }[]
  calls: readonly { seq: number }[]
}): Step[] {
  const spoken = { said: 0, user: 0 }
  const placed: { at: number; step: Step }[] = [
    ...parts.offers.map(({ after }, i) => ({ at: after, step: ['tools', i] as Step })),
    ...parts.said.map(({ after, by }) => {
      const kind = by ?? 'said'
      return { at: after, step: [kind, spoken[kind]++] as Step }
    }),
    ...parts.malformed.map(({ after }, i) => ({ at: after, step: ['malformed', i] as Step })),
    // A call stands behind what came before it began.
    ...parts.calls.map(({ seq }, i) => ({ at: seq + 0.5, step: ['call', i] as Step })),
  ]
  return placed.sort((a, b) => a.at - b.at).map(({ step }) => step)
}

/**
 * Check a line read back: what readers take from it has its shape.
 *
 * @param where the file and the line, asked for when the line is damaged
 * @throws TouchstoneError `run_damaged` naming the member that is not as it should be
 */
export function requireTranscript(value: unknown, where: () => string): TranscriptLine {
  const line = isObject(value) ? value : null
  const wrong = line === null ? 'the line' : wrongMember(line)
  if (line !== null && wrong === null) return line as unknown as TranscriptLine
  throw new TouchstoneError(
    'run_damaged',
    `expected a transcript as a run writes it, got ${wrong} of another shape`,
    { where: where() },
  )
}

const isText = (value: unknown) => typeof value === 'string'
const isCount = (value: unknown) => Number.isSafeInteger(value) && (value as number) >= 0
const isNumber = (value: unknown): value is number => typeof value === 'number'
const isMaybeText = (value: unknown) => value === undefined || isText(value)
const isMaybeAmount = (value: unknown) =>
  value === undefined || (Number.isFinite(value) && (value as number) >= 0)
const isTokens = (value: unknown) =>
  isObject(value) && isCount(value['input']) && isCount(value['output'])
const all = (value: unknown, check: (one: unknown) => boolean) =>
  Array.isArray(value) && value.every(check)

/** What each member of a line is, where it is there. */
const MEMBERS: { [name: string]: (value: unknown) => boolean } = {
  key: isText,
  attempt: isCount,
  model: (value) => value === null || isText(value),
  instructions: isText,
  task: isText,
  tools: (value) =>
    all(
      value,
      (one) => isObject(one) && all(one['tools'], (tool) => isObject(tool) && isText(tool['name'])),
    ),
  calls: (value) => all(value, isCall),
  malformed: (value) =>
    all(
      value,
      (one) => isObject(one) && ['tool', 'input', 'problem'].every((member) => isText(one[member])),
    ),
  said: (value) => all(value, isText),
  user: (value) => all(value, isText),
  order: (value) => all(value, (one) => Array.isArray(one) && KINDS.has(one[0]) && isCount(one[1])),
  times: (value) =>
    all(
      value,
      (one) =>
        isObject(one) &&
        TIMED.has(one['what']) &&
        (one['call'] === undefined || isCount(one['call'])) &&
        ['from_ms', 'to_ms', 'waited_ms'].every((member) => isMaybeAmount(one[member])) &&
        (one['tokens'] === undefined || isTokens(one['tokens'])) &&
        isNumber(one['from_ms']) &&
        isNumber(one['to_ms']) &&
        one['from_ms'] <= one['to_ms'],
    ),
  summary: isText,
  report_claims: (value) => all(value, isClaim),
  answer_claims: (value) => all(value, isClaim),
  prose_claims: (value) => all(value, isClaim),
  prose_complete: (value) => typeof value === 'boolean',
  can_change: (value) =>
    all(
      value,
      (one) =>
        isObject(one) &&
        isText(one['server']) &&
        isText(one['tool']) &&
        all(one['inputs'], isObject),
    ),
  end: isText,
}
const TIMED: ReadonlySet<unknown> = new Set(['model', 'call', 'user'])
const KINDS: ReadonlySet<unknown> = new Set(['tools', 'said', 'user', 'call', 'malformed'])

function isCall(value: unknown): boolean {
  return (
    isObject(value) &&
    ['server', 'tool', 'status', 'answer'].every((member) => isText(value[member])) &&
    isCount(value['seq']) &&
    isObject(value['input']) &&
    ['began', 'ended'].every((member) => value[member] === undefined || isNumber(value[member])) &&
    isMaybeText(value['client'])
  )
}

function isClaim(value: unknown): boolean {
  return (
    isObject(value) &&
    isText(value['tool']) &&
    isText(value['action']) &&
    isObject(value['target']) &&
    typeof value['done'] === 'boolean' &&
    isMaybeText(value['quote'])
  )
}

function wrongMember(line: JsonObject): string | null {
  for (const [name, check] of Object.entries(MEMBERS)) {
    const value = line[name]
    const needed = name === 'key' || name === 'attempt' || name === 'calls'
    if (value === undefined ? needed : !check(value)) return name
  }
  return null
}

/** A line with its entries in order. */
export function transcriptOf(line: TranscriptLine, claims: readonly Claim[] = []): Transcript {
  const { instructions, task, summary, end, order } = line
  const unread = end === undefined ? null : wordsUnread(line)
  const lists = {
    tools: line.tools ?? [],
    said: line.said ?? [],
    user: line.user ?? [],
    call: line.calls ?? [],
    malformed: line.malformed ?? [],
  }
  const steps: Step[] =
    order ??
    (['tools', 'said', 'user', 'malformed', 'call'] as const).flatMap((kind) =>
      lists[kind].map((_, i): Step => [kind, i]),
    )
  const entries = steps.flatMap(([kind, i]): Entry[] => {
    if (lists[kind]?.[i] === undefined) return []
    if (kind === 'said' || kind === 'user') return [{ kind, text: lists[kind][i] as string }]
    if (kind === 'tools') return [{ kind, tools: lists.tools[i]?.tools ?? [] }]
    if (kind === 'call') return [{ kind, ...(lists.call[i] as TranscriptCall) }]
    return [{ kind: 'malformed', ...(lists.malformed[i] as TranscriptMalformed) }]
  })
  return {
    ...line,
    entries: [
      ...(instructions === undefined
        ? []
        : [{ kind: 'instructions' as const, text: instructions }]),
      ...(task === undefined ? [] : [{ kind: 'task' as const, text: task }]),
      ...entries,
      ...(summary || claims.length > 0
        ? [{ kind: 'report' as const, summary: summary ?? '', claims }]
        : []),
      ...(unread === null ? [] : [{ kind: 'unread' as const, text: unread }]),
      ...(end === undefined ? [] : [endOf(end, line['stderr'])]),
    ],
    ordered: order !== undefined,
  }
}

function endOf(how: string, stderr: unknown): Entry {
  const isTold = how !== 'finished' && typeof stderr === 'string' && stderr.trim() !== ''
  return { kind: 'end', how, ...(isTold && { stderr }) }
}
