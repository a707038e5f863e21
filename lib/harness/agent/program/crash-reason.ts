/**
 * The line of a program's standard error that says why it ended. Of what Python, Node, Go, Rust and
 * Java print when they crash, that is the line that names the exception.
 */

/** @returns the last line where nothing is known of what stands there; `''` for none */
export function crashReason(stderr: string): string {
  const lines = stderr.split(/\r?\n/).map((line) => line.trimEnd())
  // `go run` tells the exit code of what it ran last.
  while (lines.length > 0 && /^(exit status \d+)?$/.test(lines.at(-1) as string)) lines.pop()
  const last = lines.at(-1) ?? ''
  return (ofPython(lines, last) ?? ofGo(lines) ?? ofRust(lines) ?? ofFrames(lines) ?? last).trim()
}

const TRACEBACK = /^(?: {2}\+ )?(?:Exception Group )?Traceback \(most recent call last\):$/

/** Of exceptions that follow from each other, Python prints the one last that was raised last. */
function ofPython(lines: readonly string[], last: string): string | null {
  const from = lines.findLastIndex((line) => TRACEBACK.test(line))
  const isGroup = from < 0 ? /^\s*\+-{8,}$/.test(last) : lines[from]?.startsWith('  +')
  if (isGroup) return ofGroup(lines.slice(from + 1))
  if (from < 0) return null
  const named = lines.slice(from + 1).find((line) => /^\S/.test(line))
  // Lines behind it are the rest of its message, its notes, or the program's own last words.
  return named === undefined || named === last ? (named ?? null) : `${named} … ${last}`
}

/** The first exception of a group that is no group itself, and how many others there are. */
function ofGroup(lines: readonly string[]): string | null {
  const found: string[] = []
  // The frames of the group itself come first.
  let isNext = true
  let place = 0
  for (const line of lines) {
    if (/^\s*\+[-+]/.test(line)) {
      place = found.length
      isNext = true
      continue
    }
    const text = /^\s*\| (\S.*)$/.exec(line)?.[1]
    if (text === undefined) continue
    if (/^(Exception Group )?Traceback \(/.test(text)) isNext = true
    else if (isNext) {
      // What follows from another exception stands behind it.
      found.splice(place, 1, text)
      isNext = false
    }
  }
  const single = found.filter((text) => !/\(\d+ sub-exceptions?\)$/.test(text))
  const [first = found[0] ?? null, ...more] = single
  if (first === null || more.length === 0) return first
  return `${first}, and ${more.length} more`
}

function ofGo(lines: readonly string[]): string | null {
  const stack = lines.findIndex((line) => /^goroutine \d+ .*\]:$/.test(line))
  if (stack < 0) return null
  return lines.slice(0, stack).findLast((line) => /^(panic|fatal error): /.test(line)) ?? null
}

function ofRust(lines: readonly string[]): string | null {
  const at = lines.findLastIndex((line) => /^thread '.*' (\(\d+\) )?panicked at /.test(line))
  const [head = '', message = '', ...rest] = at < 0 ? [] : lines.slice(at)
  const isEnd = rest.every((line) => /^(\s|note: |stack backtrace:|$)/.test(line))
  if (at < 0 || !isEnd) return null
  return head.endsWith(':') ? message : head
}

/** Node and Java: a message, then frames that begin with `at`. */
function ofFrames(lines: readonly string[]): string | null {
  // Node shows the line of code that threw before it says what was thrown.
  const shown = lines.at(-1)?.startsWith('Node.js v')
    ? lines.findLastIndex((line) => /^\s*\^+$/.test(line))
    : -1
  if (shown >= 0) return lines.slice(shown + 1).find((line) => line !== '') ?? null
  const at = lines.findLastIndex(
    (line, i) =>
      /^[^\s}\]]/.test(line) &&
      !/^(Caused by|Suppressed): /.test(line) &&
      /^\s+at /.test(lines[i + 1] ?? ''),
  )
  const isEnd = lines
    .slice(at + 1)
    .every((line) => /^(\s|[}\]]|Caused by: |Suppressed: |Node\.js v|$)/.test(line))
  return at < 0 || !isEnd ? null : (lines[at] as string).replace(/^Exception in thread ".*?" /, '')
}
