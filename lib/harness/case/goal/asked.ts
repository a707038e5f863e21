/**
 * Goals that are asked of a server: what its answer to a call shows, what its database holds, how a
 * program in its folder ends.
 */
import type { Json, JsonObject } from '../../../json.ts'
import { type Match, matches } from '../../../world/world.ts'
import type { Judge } from '../../server/judge-asks.ts'
import { dataOf, textOf } from '../../server/tables.ts'
import type { Predicate } from '../schema/case-schema.ts'
import { type Hidden, shownText, shownValue } from './found.ts'
import type { Answer } from './goal.ts'

/**
 * A server's answer to the judge. `data`: its structured content, or the JSON of its text;
 * undefined where it has none.
 */
export type JudgesAnswer = { data: Json | undefined; text: string; isError: boolean }

/**
 * Ask a server a call, behind its faults. @throws TouchstoneError `state_unreadable` when it gives
 * no answer
 */
export async function answerTo(
  judge: Judge,
  tool: string,
  input: JsonObject = {},
): Promise<JudgesAnswer> {
  const result = await judge.ask(tool, input)
  return { data: dataOf(result), text: textOf(result), isError: result.isError ?? false }
}

/**
 * True or false as a predicate that asks a server holds or not; null when the answer does not say.
 *
 * @throws TouchstoneError `state_unreadable` when there is no answer
 */
export async function askedHolds(predicate: Predicate, judge: Judge): Promise<Answer> {
  if (predicate.command !== undefined) {
    const { exit, output } = await judge.run(predicate.command, predicate.args ?? [])
    const says = predicate.says === undefined || output.includes(predicate.says)
    return {
      met: exit === (predicate.exit ?? 0) && says,
      found: (hidden) => `exit code ${exit ?? 'none'}, output ${shownText(output, hidden)}`,
    }
  }
  const answer =
    predicate.query !== undefined
      ? { data: await judge.query(predicate.query), text: '', isError: false }
      : await answerTo(judge, predicate.call as string, predicate.with as JsonObject | undefined)
  return { met: shown(predicate, answer), found: (hidden) => answerText(answer, hidden) }
}

function answerText({ data, text, isError }: JudgesAnswer, hidden: Hidden): string {
  if (isError) return `an error: ${shownText(text, hidden)}`
  return data === undefined ? shownText(text, hidden) : shownValue(data, hidden, 400)
}

function shown(predicate: Predicate, { data, text, isError }: JudgesAnswer): boolean | null {
  const { says, count } = predicate
  const shows = listOf(predicate.shows)
  const absent = listOf(predicate.absent)
  if (says !== undefined && !text.includes(says)) return false
  const looks = shows.length + absent.length > 0 || count !== undefined
  if (!looks) return true
  // An error shows nothing. Whether something is absent it does not say.
  if (isError) return shows.length > 0 || (count ?? 0) > 0 ? false : null
  if (data === undefined) return null
  if (count !== undefined) {
    const [wanted = {}] = shows
    if (objectsWith(data, wanted) !== count) return false
  } else if (!shows.every((one) => objectsWith(data, one) > 0)) return false
  return absent.every((one) => objectsWith(data, one) === 0)
}

function listOf(value: Predicate['shows']): Match[] {
  return (value === undefined ? [] : [value].flat()) as Match[]
}

/** How many objects inside a value have the members. */
export function objectsWith(value: Json, members: Match): number {
  if (Array.isArray(value))
    return value.reduce<number>((n, one) => n + objectsWith(one, members), 0)
  if (value === null || typeof value !== 'object') return 0
  // An object that has the members is one, whatever stands inside it.
  if (matches(value as never, members)) return 1
  return Object.values(value).reduce<number>((n, one) => n + objectsWith(one, members), 0)
}

/** An answer's data: its text, or the first line of it where a server has added words. */
export function dataIn(text: string): Json | undefined {
  for (const part of [text, text.split('\n', 1)[0] ?? '']) {
    try {
      return JSON.parse(part) as Json
    } catch {
      // The next part, or none.
    }
  }
  return undefined
}
