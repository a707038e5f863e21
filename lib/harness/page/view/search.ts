/** Search in everything that trials hold: what was asked, said, called and answered. */
import type { Details, TrialShown } from '../shape.ts'
import { partOf } from './data.ts'
import { h } from './dom.ts'

/** Characters on each side of what was found. */
const AROUND = 90

/** Where a text stands in a trial, and the text round it. */
export type Hit = { where: string; before: string; match: string; after: string; more: number }

/** The texts of a trial, each with where it stands. */
function* textsOf({ record, why, entries, exports }: Details): Generator<[string, string]> {
  for (const line of why) yield ['why', line]
  if (record.error) yield ['error', `${record.error.code}: ${record.error.message}`]
  for (const one of entries) {
    if (one.kind === 'call') {
      yield [`call ${one.seq}`, `${one.server} ${one.tool}`]
      yield [`call ${one.seq}`, JSON.stringify(one.input)]
      yield [`answer to call ${one.seq}`, one.answer]
    } else if (one.kind === 'tools') {
      for (const { name, description } of one.tools)
        yield ['tools offered', `${name}: ${description}`]
    } else if (one.kind === 'malformed')
      yield ['no call', `${one.tool} ${one.input} ${one.problem}`]
    else if (one.kind === 'report') {
      yield ['report', one.summary]
      for (const claim of one.claims)
        yield ['claim', `${claim.tool} ${JSON.stringify(claim.target)} ${claim.found ?? ''}`]
    } else if (one.kind === 'end') {
      yield ['end', one.how]
      if (one.stderr !== undefined) yield ['standard error', one.stderr]
    } else if (one.kind !== 'unread') yield [one.kind === 'said' ? 'agent' : one.kind, one.text]
  }
  for (const { server, text } of exports) yield [`export of ${server}`, text]
}

/** The first place of a text in a trial; null where it is not. Case does not count. */
function hitIn(details: Details, sought: string): Hit | null {
  let first: Hit | null = null
  let more = -1
  for (const [where, text] of textsOf(details)) {
    const at = text.toLowerCase().indexOf(sought)
    if (at < 0) continue
    more++
    first ??= {
      where,
      before: `${at > AROUND ? '…' : ''}${text.slice(Math.max(0, at - AROUND), at)}`,
      match: text.slice(at, at + sought.length),
      after: `${text.slice(at + sought.length, at + sought.length + AROUND)}${at + sought.length + AROUND < text.length ? '…' : ''}`,
      more: 0,
    }
  }
  return first && { ...first, more }
}

export function hitView({ where, before, match, after, more }: Hit): HTMLElement {
  return h(
    'div',
    { class: 'why' },
    h('span', { class: 'dim small' }, `${where}: `),
    before,
    h('mark', {}, match),
    after,
    more > 0 &&
      h(
        'span',
        { class: 'dim small' },
        more === 1 ? ' and 1 more place' : ` and ${more} more places`,
      ),
  )
}

/**
 * Read the texts of trials part by part, in their order.
 *
 * @param found is handed each trial that holds the text
 * @param on    is told how many are read; false ends the search
 * @returns how many trials have no texts that can be read
 */
export async function searchTrials(
  trials: readonly TrialShown[],
  text: string,
  found: (trial: TrialShown, hit: Hit) => void,
  on: (read: number) => boolean,
): Promise<number> {
  const sought = text.toLowerCase()
  let read = 0
  let without = 0
  for (const [part, some] of Map.groupBy(trials, (one) => one.part)) {
    let details: ReadonlyMap<string, Details> | null = null
    try {
      details = part < 0 ? null : await partOf(part)
    } catch {
      details = null
    }
    for (const trial of some) {
      const one = details?.get(trial.key)
      if (!one) without++
      const hit = one && hitIn(one, sought)
      if (hit) found(trial, hit)
    }
    read += some.length
    // The page stays at hand.
    await new Promise((resolve) => setTimeout(resolve))
    if (!on(read)) break
  }
  return without
}
