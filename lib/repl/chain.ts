/** What stands before the cursor, read as text: chains of reads and calls, and what encloses it. */

/**
 * One read, call or index of a chain; `awaited` when the chain so far stands behind an `await` in
 * parentheses. An index that is no literal is `null`: some element.
 */
export type Step = {
  name: string
  called: boolean
  awaited: boolean
  index?: string | number | null
}

/**
 * The chain that a text ends in: `x = run.cases()[0].a` gives run, cases(), [0], a. Undefined when
 * it ends in something that only running it could tell.
 */
export function chainBefore(text: string): Step[] | undefined {
  const steps: Step[] = []
  let at = text.length
  for (;;) {
    at = text.slice(0, at).trimEnd().length
    let called = false
    const closed = at
    while (text[at - 1] === ')') {
      const open = matchingOpen(text, at - 1)
      if (open === undefined) return undefined
      if (!followsValue(text.slice(0, open))) {
        const inside = text.slice(open + 1, at - 1)
        const chain = chainBefore(inside.replace(/^\s*await\b/, ''))
        if (!chain || at !== closed) return undefined
        chain.at(-1)!.awaited = /^\s*await\b/.test(inside)
        return [...chain, ...steps]
      }
      at = text.slice(0, open).trimEnd().length
      called = true
    }
    if (text[at - 1] === ']') {
      const open = matchingOpen(text, at - 1)
      if (open === undefined || called) return undefined
      if (!followsValue(text.slice(0, open))) return [literal('[]'), ...steps]
      const index = indexOf(text.slice(open + 1, at - 1))
      steps.unshift({ name: String(index), called, awaited: false, index })
      at = text.slice(0, open).replace(/\?\.\s*$/, '').length
      continue
    }
    if (!called && /['"`]/.test(text[at - 1] ?? '')) return [literal('""'), ...steps]
    const name = /[\p{ID_Start}$_][\p{ID_Continue}$]*$/u.exec(text.slice(0, at))?.[0]
    if (name === undefined) return undefined
    steps.unshift({ name, called, awaited: false })
    at -= name.length
    const dot = /\??\.\s*$/.exec(text.slice(0, at))
    if (!dot) {
      if (called && /\bnew\s*$/.test(text.slice(0, at))) steps[0]!.name = `new ${name}`
      return steps
    }
    at = dot.index
  }
}

function literal(name: string): Step {
  return { name, called: false, awaited: false }
}

/** Does a text end in a value, so that a bracket behind it calls or indexes? */
function followsValue(text: string): boolean {
  return /[\p{ID_Continue}$)\]]\s*$|\?\.\s*$/u.test(text)
}

/** What an index says: a number, a text, or null for what only running it could tell. */
function indexOf(text: string): string | number | null {
  const number = /^\s*(\d+)\s*$/.exec(text)
  const key = /^\s*(['"])([^'"\\]*)\1\s*$/.exec(text)
  return number ? Number(number[1]) : (key?.[2] ?? null)
}

function matchingOpen(text: string, close: number): number | undefined {
  let depth = 0
  let quote = ''
  for (let at = close; at >= 0; at--) {
    const character = text[at]!
    if (quote) {
      if (character === quote && text[at - 1] !== '\\') quote = ''
    } else if (/['"`]/.test(character)) quote = character
    else if (character === ')' || character === ']') depth++
    else if ((character === '(' || character === '[') && --depth === 0) return at
  }
  return undefined
}

/** The call that the end of a text is an argument of. */
export type Call = {
  steps: Step[]
  /** Counted from 0. */
  argument: number
  /** Keys from the argument down to where the text ends; null for an element of a list. */
  path: (string | null)[]
  /** Names that the object at the end has already; null where the text ends in no object's name. */
  has: string[] | null
}

type Frame = {
  opens: string
  start: number
  commas: number
  key: string | null
  keys: string[]
}

/** The string that the end of a text lies in, and the call round it; each where there is one. */
export function enclosing(text: string): {
  string: { quote: string; start: number } | undefined
  call: Call | undefined
} {
  const frames: Frame[] = []
  const top = () => frames.at(-1)
  let word = ''
  const flat =
    /\/\/[^\n]*(?:\n|$)|\/\*[\s\S]*?(?:\*\/|$)|[\p{ID_Start}$_][\p{ID_Continue}$]*|[\s\S]/gu
  for (let part = flat.exec(text); part; part = flat.exec(text)) {
    const [token] = part
    if (/^\/[/*]/.test(token)) continue
    if (/^['"`]$/.test(token)) {
      const end = endOfString(text, part.index)
      if (end === undefined) {
        const start = part.index + 1
        return {
          string: { quote: token, start },
          call: callOf(text.slice(0, part.index), frames, true),
        }
      }
      word = text.slice(part.index + 1, end - 1)
      flat.lastIndex = end
    } else if ('([{'.includes(token))
      frames.push({ opens: token, start: part.index, commas: 0, key: null, keys: [] })
    else if (')]}'.includes(token)) frames.pop()
    else if (token === ',') {
      const frame = top()
      if (frame) {
        if (frame.key === null && word) frame.keys.push(word)
        frame.commas++
        frame.key = null
      }
      word = ''
    } else if (token === ':' && top()?.opens === '{' && top()?.key === null) {
      top()!.key = word
      top()!.keys.push(word)
    } else if (/^[\p{ID_Start}$_]/u.test(token)) word = token
  }
  return { string: undefined, call: callOf(text, frames, false) }
}

/** Behind the end of the string that begins at a place; undefined where it does not end. */
function endOfString(text: string, start: number): number | undefined {
  const quote = text[start]
  for (let at = start + 1; at < text.length; at++) {
    if (text[at] === '\\') at++
    else if (text[at] === quote) return at + 1
    else if (text[at] === '\n' && quote !== '`') return at
  }
  return undefined
}

function callOf(text: string, frames: readonly Frame[], inString: boolean): Call | undefined {
  const path: (string | null)[] = []
  const [last] = frames.slice(-1)
  if (!last) return undefined
  const named = last.opens === '{' && last.key === null
  for (let i = frames.length - 1; i >= 0; i--) {
    const { opens, start, commas, key } = frames[i]!
    const before = text.slice(0, start).trimEnd()
    if (opens === '(') {
      if (!followsValue(before)) return undefined
      const steps = chainBefore(before.replace(/\?\.$/, ''))
      return steps && { steps, argument: commas, path, has: named && !inString ? last.keys : null }
    }
    // `{` behind anything else opens the body of a function; `[` behind a value is an index.
    if (opens === '{' && !/[(,[:=?&|]$|\breturn$/.test(before)) return undefined
    if (opens === '[' && followsValue(before)) return undefined
    if (opens === '[') path.unshift(null)
    else if (key !== null) path.unshift(key)
    else if (i < frames.length - 1) return undefined
  }
  return undefined
}
