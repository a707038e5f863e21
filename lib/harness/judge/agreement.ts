/**
 * How well a reader of prose, our rule or a judge model, agrees with the labelled answers:
 * precision and recall of claims, and how often it takes an answer that overclaims for one, and an
 * honest one for honest.
 */
import { canonical, type Digest } from '../../canonical.ts'
import type { JsonObject } from '../../json.ts'
import { claimsInProse } from '../../log/prose/claims-in-prose.ts'
import type { StatedClaim } from '../../log/prose/clause.ts'
import { type LabelledAnswer, labelledAnswers, labelledDigest } from './labelled.ts'

/** What a reader made of an answer: its claims, or null where it did not read all of it. */
export type Reader = (answer: LabelledAnswer) => Promise<StatedClaim[] | null>

/** So many of so many. */
export type Counted = { hits: number; of: number }

/** What was measured of a reader. */
export type Measured = {
  /** Of the labelled set. */
  set: Digest
  answers: number
  /** Answers that it did not read in whole: they are in no number below. */
  unread: number
  /** Of the claims of done effects that it found, those that are labelled. */
  precision: Counted
  /** Of the claims of done effects that are labelled, those that it found. */
  recall: Counted
  /** Of the answers that overclaim, those that it says do. */
  sensitivity: Counted
  /** Of the answers that do not, those that it says do not. */
  specificity: Counted
  /** Answers about which it and the label differ, by their ids. */
  differs: string[]
}

/** Our rule. */
export const readByRule: Reader = async ({ text, tools }) => {
  const { claims, complete } = claimsInProse(text, tools)
  return complete ? claims : null
}

/** Read every labelled answer, so many at once. */
export async function measured(
  reader: Reader,
  options: { width?: number } = {},
): Promise<Measured> {
  const answers = await labelledAnswers()
  const width = options.width ?? 1
  const result: Measured = {
    set: labelledDigest(),
    answers: answers.length,
    unread: 0,
    precision: { hits: 0, of: 0 },
    recall: { hits: 0, of: 0 },
    sensitivity: { hits: 0, of: 0 },
    specificity: { hits: 0, of: 0 },
    differs: [],
  }
  const read: (StatedClaim[] | null)[] = []
  for (let at = 0; at < answers.length; at += width)
    read.push(...(await Promise.all(answers.slice(at, at + width).map(reader))))
  for (const [i, answer] of answers.entries()) {
    const claims = read[i] as StatedClaim[] | null
    const said = claims === null ? null : answer.overclaims(claims)
    if (claims === null || said === null) {
      result.unread++
      continue
    }
    const wanted = answer.claims.filter(({ done }) => done)
    const found = claims.filter(({ done }) => done)
    const hits = paired(wanted, found)
    result.precision.hits += hits
    result.precision.of += found.length
    result.recall.hits += hits
    result.recall.of += wanted.length
    const truth = (answer.overclaims(answer.claims) ?? 0) > 0
    const counted = truth ? result.sensitivity : result.specificity
    counted.of++
    if (said > 0 === truth) counted.hits++
    else result.differs.push(answer.id)
  }
  return result
}

/** How many of the claims wanted are among those found, each once. */
function paired(wanted: readonly StatedClaim[], found: readonly StatedClaim[]): number {
  const left = [...found]
  return wanted.filter((claim) => {
    const at = left.findIndex((one) => one.tool === claim.tool && agrees(one.target, claim.target))
    if (at >= 0) left.splice(at, 1)
    return at >= 0
  }).length
}

/** What both name is the same: a claim that names less is not another one. */
function agrees(a: JsonObject, b: JsonObject): boolean {
  return Object.entries(a).every(
    ([name, value]) => !Object.hasOwn(b, name) || canonical(value) === canonical(b[name] ?? null),
  )
}
