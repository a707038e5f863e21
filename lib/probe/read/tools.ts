/**
 * What a tool list named: distinct names, and descriptions read with the pattern set.
 *
 * A description that matches a rule is withheld: its rule ids, length and digest are kept, its text
 * goes nowhere. A name is read the same way, since it is as much the server's text as the
 * description is. A server of one's own hides nothing from its maker: its texts are marked and
 * kept.
 */
import { type Digest, digest, digestOf } from '../../canonical.ts'
import { isObject } from '../../json.ts'
import type { SetName } from '../judge/set.ts'
import { answerIn, jsonOf } from './frame.ts'
import { leftOut } from './header-schema.ts'
import type { PatternSet } from './patterns.ts'

export type Tool = {
  /** As the server gave it; null when it is withheld. */
  name: string | null
  nameDigest: Digest
  /** Null when there is none, or when it is withheld. */
  description: string | null
  /** In UTF-16 units; 0 when there is none. */
  descriptionLength: number
  descriptionDigest: Digest | null
  /**
   * Rules that the description matched, in order. Of a stranger's server: not empty means withheld.
   */
  rules: string[]
  /** Rules that the name matched. */
  nameRules: string[]
  /** `inputSchema` as given; only of a server of one's own, and only when asked for. */
  inputSchema?: unknown
}

export type ToolList = {
  /** Distinct names over the pages read. */
  named: number
  pages: number
  /** The last page read still had a cursor: there are more tools than were counted. */
  more: boolean
  /** In the order listed, at most 2,000. */
  list: Tool[]
  /** Tools whose description matched a rule, so that its text is not kept. */
  withheld: number
  /** Tools whose description matched a rule, whether or not its text is kept. */
  marked: number
  /**
   * Named tools that were not read before the test's time was over. Nothing of them is in `list`.
   */
  unread: number
  /**
   * Tools that a client of revision 2026-07-28 must leave out, because an `x-mcp-header` in their
   * schema is not valid.
   */
  leftOut: number
  patternSet: SetName
  /** Over the digests of names and of all their descriptions, in the order listed. */
  digest: Digest
}

/** One page as it came: the text of an answer, and how the answer is found in it. */
export type Page = { text: Uint8Array | string; id: number; alone: boolean }

export type ReadOptions = {
  /** The server is one's own: texts that match are kept. */
  own: boolean
  /** Keep each tool's `inputSchema`. */
  schemas: boolean
  /** The last page had a cursor. */
  more: boolean
}

const MAX_KEPT = 2_000

type Entry = { name: string; descriptions: Set<string>; tool: Record<string, unknown> }

/**
 * Read the pages of a tool list. Each `yield` is a place to stop for a moment; between two of them
 * the work is small, whatever the server sent. `return(...)` is not used to end it early: pass
 * `true` to `next` and it returns what it has.
 */
export function* readTools(
  pages: readonly Page[],
  patterns: PatternSet,
  options: ReadOptions,
): Generator<void, ToolList, boolean> {
  const entries = new Map<string, Entry>()
  for (const { text, id, alone } of pages) {
    const result = answerIn(jsonOf(text), id, alone)?.result
    yield
    yield* gather(isObject(result) ? result['tools'] : null, entries)
  }
  const names = new Set(entries.keys())
  const digests: (Digest | null)[][] = []
  let left = 0
  let n = 0
  for (const { name, descriptions, tool } of entries.values()) {
    const read = [...descriptions].map((text) => digest(text.toWellFormed()))
    digests.push([digest(name.toWellFormed()), ...(read.length > 0 ? read : [null])])
    if (leftOut(tool)) left++
    if (++n % 64 === 0) yield
  }
  const list: Tool[] = []
  let read = 0
  let marked = 0
  let over = false
  for (const entry of entries.values()) {
    const rules = new Set<string>()
    let told: string | null = null
    const nameRules = yield* matching(patterns, entry.name, names)
    if (nameRules === null) break
    // A name that is listed with several descriptions is read in all of them; one that matches
    // speaks for it.
    for (const text of entry.descriptions) {
      const matched = yield* matching(patterns, text, names)
      over = matched === null
      if (matched === null) break
      if (told === null || (rules.size === 0 && matched.length > 0)) told = text
      for (const rule of matched) rules.add(rule)
    }
    if (over) break
    read++
    if (rules.size > 0) marked++
    if (list.length < MAX_KEPT)
      list.push(toolOf(entry, told, [...rules].sort(), nameRules, options))
  }
  return {
    named: entries.size,
    pages: pages.length,
    more: options.more,
    list,
    withheld: options.own ? 0 : marked,
    marked,
    unread: entries.size - read,
    leftOut: left,
    patternSet: patterns.set,
    digest: digestOf(digests),
  }
}

function* gather(tools: unknown, entries: Map<string, Entry>): Generator<void, void, boolean> {
  let n = 0
  for (const tool of Array.isArray(tools) ? tools : []) {
    if (++n % 512 === 0) yield
    if (!isObject(tool) || typeof tool['name'] !== 'string') continue
    const { name, description } = tool as { name: string; description?: unknown }
    const entry = entries.get(name) ?? { name, descriptions: new Set(), tool }
    entries.set(name, entry)
    if (typeof description === 'string') entry.descriptions.add(description)
  }
}

/** Rules that a text matches; null when the time was over first. */
function* matching(
  patterns: PatternSet,
  text: string,
  names: ReadonlySet<string>,
): Generator<void, string[] | null, boolean> {
  const steps = patterns.matching(text, names)
  for (;;) {
    const { value, done } = steps.next()
    if (done) return value
    if (yield) return null
  }
}

function toolOf(
  { name, tool }: Entry,
  told: string | null,
  rules: string[],
  nameRules: string[],
  { own, schemas }: ReadOptions,
): Tool {
  return {
    name: nameRules.length > 0 && !own ? null : name.toWellFormed(),
    nameDigest: digest(name.toWellFormed()),
    description: told !== null && (rules.length === 0 || own) ? told.toWellFormed() : null,
    descriptionLength: told?.length ?? 0,
    descriptionDigest: told === null ? null : digest(told.toWellFormed()),
    rules,
    nameRules,
    ...(schemas && tool['inputSchema'] !== undefined ? { inputSchema: tool['inputSchema'] } : {}),
  }
}
