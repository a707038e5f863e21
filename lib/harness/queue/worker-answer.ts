/**
 * What a worker hands in of an attempt, and the attempt's result made of it again. Whatever a queue
 * hands out is checked: anybody who reaches the server can write into it.
 */

import { isObject, type JsonObject } from '../../json.ts'
import { linesOf, type Manifest } from '../../log/index.ts'
import { requireTrialRecord } from '../../log/records.ts'
import { writtenProblems } from '../../receipt/recompute/written-trial.ts'
import { redactedJson } from '../../secrets.ts'
import { RunHalted } from '../model/provider-refusal.ts'
import type { Task } from '../trial/executor.ts'
import { keyOf, type TrialResult } from '../trial/judge-trial.ts'
import { pack, unpack } from './messages.ts'

/** An attempt's result, and who had it when. */
export type Answer = { worker: string; startedAt: string; result: TrialResult }

/** A result as plain data. */
export type PlainResult = Omit<TrialResult, 'halt'> & {
  halt: { code: string; message: string } | null
}

/** A result as it travels to another process: the worker's own secrets stay with it. */
export function answerText(worker: string, result: TrialResult): string {
  const { record, logs, transcript, halt, ...rest } = plainOf(result)
  const open = JSON.parse(
    redactedJson({ record: { ...record, worker }, logs, transcript, halt }),
  ) as object
  return pack({ worker, startedAt: record.started_at, ...rest, ...open })
}

export function plainOf({ halt, ...result }: TrialResult): PlainResult {
  return { ...result, halt: halt && { code: halt.code, message: halt.message } }
}

export function resultIn({ halt, ...result }: PlainResult): TrialResult {
  return { ...result, halt: halt && new RunHalted(String(halt.code), String(halt.message)) }
}

/** What can be read of an answer without believing it: whose it is. */
export function whoseAnswer(text: string): { worker: string; startedAt: string } | null {
  try {
    const { worker, startedAt } = unpack(text) as { [name: string]: unknown }
    return typeof worker === 'string' && typeof startedAt === 'string'
      ? { worker, startedAt }
      : null
  } catch {
    return null
  }
}

/**
 * @param configuration the task's, as the manifest has it
 * @throws Error when it is no result of this task, or the reader of the run's folder would find
 *   something wrong with it
 */
export function readAnswer(
  task: Task,
  text: string,
  configuration?: Manifest['configurations'][number],
): Answer {
  const value = unpack(text) as { [name: string]: unknown }
  const { worker, startedAt, decisions, audits, transcript, logs, stopped, final, halt } = value
  const record = requireTrialRecord(value['record'], 'record')
  const expected = {
    key: keyOf(task),
    case: task.case.id,
    configuration: task.configuration,
    trial: task.trial,
    attempt: task.attempt,
    seed: task.seed,
    worker,
    started_at: startedAt,
  }
  for (const [name, is] of Object.entries(expected))
    if (record[name as keyof typeof record] !== is)
      throw new Error(`expected ${name} ${String(is)}, got ${String(record[name as 'key'])}`)
  const texts = (list: unknown, names: string[]) =>
    Array.isArray(list) &&
    list.every((one) => isObject(one) && names.every((name) => typeof one[name] === 'string'))
  const held = transcript as { key?: unknown; attempt?: unknown }
  const wrong = [
    !Array.isArray(decisions) || !decisions.every(isObject) ? 'decisions' : null,
    !texts(audits, ['server', 'provider', 'text']) ? 'audits' : null,
    !texts(logs, ['server', 'text']) ? 'logs' : null,
    !isObject(transcript) || held.key !== record.key || held.attempt !== record.attempt
      ? 'transcript'
      : null,
    typeof stopped !== 'boolean' || typeof final !== 'boolean' ? 'stopped' : null,
  ].filter((one) => one !== null)
  if (wrong.length > 0) throw new Error(`expected a result, got another ${wrong.join(', ')}`)
  const made = {
    record,
    decisions: decisions as TrialResult['decisions'],
    // Further members would stand in the folder's lines, in the place of the attempt's own.
    audits: (audits as TrialResult['audits']).map(({ server, provider, text }) => ({
      server,
      provider,
      text,
    })),
    logs: (logs as TrialResult['logs']).map(({ server, text }) => ({ server, text })),
    // A line is found by the members that it begins with.
    transcript: { key: record.key, attempt: record.attempt, ...(transcript as JsonObject) },
  }
  if (!stopped) {
    const lines = linesOf(record, made)
    const [problem] = writtenProblems(lines, task.case.attack !== null, configuration)
    if (problem) throw new Error(`${problem.code}: ${problem.detail}`)
  }
  return {
    worker: worker as string,
    startedAt: startedAt as string,
    result: resultIn({
      ...made,
      stopped: stopped as boolean,
      final: final as boolean,
      halt: halt as PlainResult['halt'],
    }),
  }
}
