/**
 * A trial's record held against its transcript: the calls, how it ended, what the agent said it
 * did, and which model answered.
 */
import { isObject, type Json } from '../../json.ts'
import {
  claimsSaid,
  type Manifest,
  requireTranscript,
  type TranscriptLine,
  type TrialRecord,
  textOfClaims,
} from '../../log/index.ts'
import { attempt, type Problem } from './step.ts'

/** What an attempt's transcript shows of its record. */
export type Told = {
  problems: Problem[]
  /**
   * Whether the claims could be read from it again; `otherwise`: by another version of the rule,
   * and ours reads others.
   */
  claims: 'read' | 'none' | 'otherwise'
  /** Names by which the provider's answers call their model. */
  models: string[]
}

/**
 * @param value       the transcript's line, as JSON
 * @param decisions   the attempt's decisions, in their order
 * @param configuration as the manifest has it; null where it has none of that name
 * @param sameRule    the record's claims were read by our version of the rule
 */
export function toldBy(
  record: TrialRecord,
  value: Json,
  decisions: readonly Json[],
  configuration: Manifest['configurations'][number] | null,
  where: string,
  sameRule: boolean,
): Told {
  const { value: line, problem } = attempt(() => requireTranscript(value, () => where))
  if (line === null) {
    const problems = [{ code: 'transcript_unreadable', where, detail: problem ?? 'unreadable' }]
    return { problems, claims: 'none', models: [] }
  }
  const problems: Problem[] = []
  const add = (code: string, detail: string | null) => {
    if (detail !== null) problems.push({ code, where, detail })
  }
  add('calls_differ', callsProblem(record, line, decisions))
  add('ending_differs', endingProblem(record, line))
  // What a model read in the words, no rule can read again.
  const byJudge = record.claims_from === 'judge'
  if (byJudge) add('claims_differ', judgeProblem(record, line))
  const readAgain = line.end !== undefined && !byJudge
  const said = readAgain ? claimsSaid(line) : null
  const claims = said && claimsProblem(record, said)
  const unknown = said && unknownProblem(record, said)
  const byRule = !sameRule && said?.from !== 'report' && !record.reported
  const otherwise = byRule && (claims ?? unknown) !== null
  if (!otherwise) {
    add('claims_differ', claims)
    add('overclaims_differ', unknown)
  }
  if (line.malformed && record.malformed !== null && line.malformed.length !== record.malformed)
    add(
      'calls_differ',
      `the transcript has ${line.malformed.length} calls that were none, the record says ${record.malformed}`,
    )
  const models = modelsIn(line)
  if (configuration) add('model_differs', modelProblem(configuration, record, line))
  const could = said !== null || line.end === undefined
  return { problems, claims: otherwise ? 'otherwise' : could ? 'read' : 'none', models }
}

/** The calls of a transcript and the decisions are two accounts of the same. */
function callsProblem(
  { calls }: TrialRecord,
  line: TranscriptLine,
  decisions: readonly Json[],
): string | null {
  if (line.calls.length !== calls || decisions.length !== calls)
    return `the record counts ${calls} calls, the transcript has ${line.calls.length}, the decisions ${decisions.length}`
  const inTranscript = new Map(line.calls.map((call) => [call.seq, call]))
  for (const decision of decisions) {
    const { seq, server, tool, status } = callOf(decision)
    const call = inTranscript.get(seq as number)
    if (call?.server !== server || call?.tool !== tool)
      return `call #${seq} is ${tool} of ${server} in the decisions, and ${call ? `${call.tool} of ${call.server}` : 'none'} in the transcript`
    if (call?.status !== status)
      return `call #${seq} ended with ${status} in the decisions, with ${call?.status} in the transcript`
  }
  return null
}

function callOf(decision: Json) {
  const member = (value: Json | undefined, name: string) => (isObject(value) ? value[name] : null)
  const of = isObject(decision) ? decision : {}
  return {
    seq: member(of['observation'], 'seq'),
    server: member(of['server'], 'id'),
    tool: member(of['tool'], 'name'),
    status: member(of['response'], 'status'),
  }
}

/** Ends of an agent that are an error in its record by their own word: is it the machinery's? */
const ENDS: { [end: string]: { error: boolean; machinery: boolean } } = {
  finished: { error: false, machinery: false },
  no_answer: { error: false, machinery: false },
  length: { error: false, machinery: false },
  content_filter: { error: false, machinery: false },
  step_limit: { error: true, machinery: false },
  call_limit: { error: true, machinery: false },
  token_limit: { error: true, machinery: false },
  turn_limit: { error: true, machinery: false },
  agent_crashed: { error: true, machinery: false },
  answer_invalid: { error: true, machinery: false },
  server_gone: { error: true, machinery: true },
  user_error: { error: true, machinery: true },
}
/** Ends by a call of a model that are its own doing. */
const OWN_DOING = ['tool_use_failed', 'context_exceeded']

/** Whether a record can have come of the end that the transcript tells. */
function endingProblem(
  { outcome, error, ending }: TrialRecord,
  line: TranscriptLine,
): string | null {
  const { end } = line
  const code = error?.code ?? null
  const says = `the record says ${ending}, outcome ${outcome}${code === null ? '' : `, error ${code}`}`
  const told = `the transcript ends with ${end ?? 'no word of the agent'}`
  const fits = (machinery: boolean, codes: readonly (string | null)[]) =>
    (outcome === 'error') === machinery && codes.includes(code) ? null : `${told}, ${says}`
  // The machinery failed before the agent had ended: nothing of it is kept but its calls.
  if (end === undefined) {
    if (line.said || line.summary !== undefined || line.report_claims || line.order)
      return `the transcript has the agent’s words and not how it ended, ${says}`
    return ending === 'harness_failed' && code !== null ? fits(true, [code]) : `${told}, ${says}`
  }
  const own = Object.hasOwn(ENDS, end) ? ENDS[end] : undefined
  if (own)
    return ending === end ? fits(own.machinery, [own.error ? end : null]) : `${told}, ${says}`
  if (end === 'timeout') {
    if (ending !== end) return `${told}, ${says}`
    const waits = outcome === 'error' ? ['model_timeout', 'user_timeout'] : ['trial_timeout']
    return fits(outcome === 'error', waits)
  }
  if (end === 'model_error' || end === 'agent_error') {
    if (code === null || ending !== code) return `${told}, ${says}`
    return fits(!(end === 'model_error' && OWN_DOING.includes(code)), [code])
  }
  return `the transcript ends with a word that no trial has, ${says}`
}

type Said = NonNullable<ReturnType<typeof claimsSaid>>

function claimsProblem(record: TrialRecord, { from, claims }: Said): string | null {
  if (record.reported !== (from === 'report'))
    return `the transcript has ${from === 'report' ? 'a' : 'no'} report, the record says ${record.reported ? 'one' : 'none'}`
  if (record.claims_from !== from)
    return `the transcript’s claims are from ${from ?? 'nowhere'}, the record says ${record.claims_from ?? 'nowhere'}`
  if (textOfClaims(record.claims) === textOfClaims(claims)) return null
  if (record.claims.length !== claims.length)
    return `the transcript has ${claims.length} claims, the record ${record.claims.length}`
  const at = claims.findIndex(
    (claim, i) => textOfClaims([claim]) !== textOfClaims(record.claims.slice(i, i + 1)),
  )
  return `claim ${at} is another than the one in the transcript`
}

/** A judge model reads words, and only where no claims were handed over. */
function judgeProblem({ judge }: TrialRecord, line: TranscriptLine): string | null {
  if (line.report_claims || line.answer_claims)
    return 'the agent handed over its claims, and the record says that a judge model read them'
  return judge === undefined
    ? 'the record says that a judge model read the claims, and none did'
    : null
}

/** Words that may hold unread claims tell of no honesty. */
function unknownProblem(
  { overclaims, underclaims, claims, one_sided }: TrialRecord,
  { from, complete }: Said,
): string | null {
  const over = overclaims === null
  const under = underclaims === null
  if (from === null && !(over && under))
    return 'what the agent claims is not known, and the record counts it'
  if (complete) return null
  const false_ = claims.some(({ matched }) => matched === false)
  const sided = one_sided?.includes('overclaim') === true
  return under && (over || (false_ && sided))
    ? null
    : 'its words may hold claims that were not read, and the record counts none'
}

function modelsIn(line: TranscriptLine): string[] {
  const responses = Array.isArray(line['responses']) ? line['responses'] : []
  const names = responses.flatMap((one) =>
    isObject(one) && typeof one['model'] === 'string' ? [one['model']] : [],
  )
  return [...new Set(names)]
}

/** A script is no model, and a model leaves the answers of its provider. */
function modelProblem(
  { name, model, simulated }: Manifest['configurations'][number],
  { steps }: TrialRecord,
  line: TranscriptLine,
): string | null {
  const answered = typeof line.model === 'string' ? line.model : null
  const responses = line['responses']
  if (simulated) {
    if (answered !== null && answered !== model)
      return `${name} is the script ${model}, and ${answered} answered`
    return responses === undefined
      ? null
      : `${name} is the script ${model}, and a provider answered`
  }
  if (answered?.startsWith('sim/'))
    return `${name} is ${model}, and the script ${answered} answered`
  if (model.startsWith('agent/') || line.end === undefined) return null
  const count = Array.isArray(responses) ? responses.length : 0
  return count === steps
    ? null
    : `${name} is ${model} and made ${steps} calls of it, and ${count} answers of its provider are there`
}
