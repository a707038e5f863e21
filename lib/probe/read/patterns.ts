/**
 * The published pattern set for tool descriptions, compiled once, matched in time linear in the
 * text.
 *
 * Patterns run on re2js, so that no description can make matching slow. Rules that need context are
 * code (`hidden.ts`).
 */
import { TouchstoneError } from '../../errors.ts'
import { get } from '../../scenario/index.ts'
import { nameOf, type SetName } from '../judge/set.ts'
import { CODE_RULES, folded } from './hidden.ts'

export type Rule = {
  id: string
  name: string
  on: 'raw' | 'folded'
  looksFor: string
  code?: string
  patterns?: string[]
}

export type PatternSet = {
  set: SetName
  rules: Rule[]
  /**
   * Ids of the rules that a text matches, in order.
   *
   * @param text a description, of which at most 16,384 characters are read; a longer one matches
   *   P15
   * @param tools the names of this server's own tools
   */
  match(text: string, tools: ReadonlySet<string>): string[]
  /** The same in small steps: each `yield` stands behind one pattern. */
  matching(text: string, tools: ReadonlySet<string>): Generator<void, string[], unknown>
}

type PatternDocument = { rules: Rule[]; reads: { maxCharacters: number } }

const PATTERNS = 'tool-descriptions@1.0'

let compiled: Promise<PatternSet> | undefined

/**
 * The pattern set `tool-descriptions 1.0`, compiled on first use. @throws TouchstoneError
 * `pattern_invalid`
 */
export function patternSet(): Promise<PatternSet> {
  compiled ??= compile(PATTERNS)
  return compiled
}

/** Names of the rules, by id, without compiling anything. */
export function ruleNames(): Map<string, string> {
  const { rules } = get(PATTERNS).set as unknown as PatternDocument
  return new Map(rules.map(({ id, name }) => [id, name]))
}

async function compile(name: string): Promise<PatternSet> {
  const { RE2JS } = await import('re2js')
  const published = get(name)
  const { rules, reads } = published.set as unknown as PatternDocument
  const compiled = rules.map((rule) => ({ ...rule, patterns: (rule.patterns ?? []).map(read) }))

  function read(pattern: string) {
    try {
      return RE2JS.compile(pattern)
    } catch (cause) {
      throw new TouchstoneError('pattern_invalid', 'expected RE2 syntax, got another', {
        where: pattern,
        cause,
      })
    }
  }

  /**
   * The pattern finds the place; here it is asked whether the tool named is one of this server's
   * own.
   */
  const ordersAboutOther = (
    pattern: ReturnType<typeof read>,
    text: string,
    tools: ReadonlySet<string>,
  ): boolean => {
    const matcher = pattern.matcher(text)
    while (matcher.find()) {
      const tool = matcher.group(1) ?? matcher.group(2) ?? ''
      if (!tools.has(tool) && ORDER.test(text.slice(matcher.end(), matcher.end() + 160)))
        return true
    }
    return false
  }

  function* matching(text: string, tools: ReadonlySet<string>): Generator<void, string[], unknown> {
    const cut = text.length > reads.maxCharacters ? text.slice(0, reads.maxCharacters) : text
    const plain = folded(cut)
    const matched: string[] = []
    for (const { id, code, on, patterns } of compiled) {
      const seen = on === 'raw' ? cut : plain
      if (code !== undefined && code !== 'other_tool') {
        // What is not read is not stored.
        const found = CODE_RULES[code]?.(seen) ?? false
        if (found || (code === 'padding' && cut.length < text.length)) matched.push(id)
        yield
        continue
      }
      for (const pattern of patterns) {
        const found =
          pattern.test(seen) && (code === undefined || ordersAboutOther(pattern, seen, tools))
        yield
        if (!found) continue
        matched.push(id)
        break
      }
    }
    return matched
  }

  return {
    set: nameOf(published),
    rules,
    matching,
    match(text, tools) {
      const steps = matching(text, tools)
      for (;;) {
        const { value, done } = steps.next()
        if (done) return value
      }
    },
  }
}

const ORDER = /\b(?:must|always|instead|change|replace|append|redirect|modify|set|bcc)\b/i
