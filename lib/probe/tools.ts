/**
 * What a tool list named: distinct names, and descriptions read with the pattern set.
 *
 * A description that matches a rule is withheld: its rule ids, length and digest are kept, its text goes nowhere. A name is
 * read the same way, since it is as much the server's text as the description is.
 */
import { type Digest, digest, digestOf } from '../canonical.ts'
import type { PatternSet } from './patterns.ts'
import type { SetName } from './set.ts'

export type Tool = {
  /** As the server gave it; null when it is withheld. */
  name: string | null
  nameDigest: Digest
  /** Null when there is none, or when it is withheld. */
  description: string | null
  /** In UTF-16 units; 0 when there is none. */
  descriptionLength: number
  descriptionDigest: Digest | null
  /** Rules that the description matched, in order; not empty means withheld. */
  rules: string[]
  /** Rules that the name matched. */
  nameRules: string[]
}

export type ToolList = {
  /** Distinct names over the pages read. */
  named: number
  pages: number
  /** The last page read still had a cursor: there are more tools than were counted. */
  more: boolean
  list: Tool[]
  withheld: number
  patternSet: SetName
  /** Over names and description digests, in the order listed. */
  digest: Digest
}

type Entry = { name: string; descriptions: string[] }

/** Gathers pages as they come; keeps the server's text only until `read`. */
export class ToolPages {
  private readonly entries = new Map<string, Entry>()
  private pages = 0
  private cursor: string | null = null

  /** Take one `tools/list` result. @returns the cursor of the next page, or null at the end */
  add(result: unknown): string | null {
    this.pages++
    const { tools, nextCursor } = (typeof result === 'object' && result !== null ? result : {}) as {
      tools?: unknown
      nextCursor?: unknown
    }
    for (const each of Array.isArray(tools) ? tools : []) {
      const { name, description } = (
        typeof each === 'object' && each !== null ? each : {}
      ) as Record<string, unknown>
      if (typeof name !== 'string') continue
      const entry = this.entries.get(name) ?? { name, descriptions: [] }
      this.entries.set(name, entry)
      if (typeof description === 'string' && !entry.descriptions.includes(description)) {
        entry.descriptions.push(description)
      }
    }
    // An empty cursor is a cursor; null, absent or anything but text is the end.
    this.cursor = typeof nextCursor === 'string' ? nextCursor : null
    return this.cursor
  }

  /** What the pages named, read with the pattern set. Null when no page came. */
  async read(patterns: PatternSet): Promise<ToolList | null> {
    if (this.pages === 0) return null
    const names = new Set(this.entries.keys())
    const list: Tool[] = []
    let since = performance.now()
    for (const entry of this.entries.values()) {
      list.push(readTool(entry, names, patterns))
      // Megabytes of descriptions take a second or two; whatever else runs in this process gets its turn.
      if (performance.now() - since < 20) continue
      await new Promise((resolve) => setImmediate(resolve))
      since = performance.now()
    }
    return {
      named: list.length,
      pages: this.pages,
      more: this.cursor !== null,
      list,
      withheld: list.filter(({ rules }) => rules.length > 0).length,
      patternSet: patterns.set,
      digest: digestOf(
        list.map(({ nameDigest, descriptionDigest }) => [nameDigest, descriptionDigest]),
      ),
    }
  }
}

function readTool(
  { name, descriptions }: Entry,
  names: ReadonlySet<string>,
  patterns: PatternSet,
): Tool {
  const nameRules = patterns.match(name, names)
  // A name listed twice with two descriptions is read in both; one that matches speaks for it.
  const read = descriptions.map((text) => ({ text, rules: patterns.match(text, names) }))
  const told = read.find(({ rules }) => rules.length > 0) ?? read[0]
  const rules = [...new Set(read.flatMap((each) => each.rules))].sort()
  return {
    name: nameRules.length > 0 ? null : name.toWellFormed(),
    nameDigest: digest(name.toWellFormed()),
    description: told && rules.length === 0 ? told.text.toWellFormed() : null,
    descriptionLength: told?.text.length ?? 0,
    descriptionDigest: told ? digest(told.text.toWellFormed()) : null,
    rules,
    nameRules,
  }
}
