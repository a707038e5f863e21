/** The frames of an error that lie in code that was typed, with its source. */

/** Code as it was typed, and where a place in the code that really ran is in it. */
export type Typed = {
  /** The name that the code was given, such as `prompt-3`. */
  file: string
  source: string
  /** The column in the source of a place in the code that ran. Lines are the same. */
  columnOf(line: number, column: number): number
}

export type Frame = {
  /** Function; null at the top of the code. */
  name: string | null
  file: string
  line: number
  column: number
  /** The whole code that the frame is in. */
  source: string
}

/**
 * Frames in typed code, innermost first. Everything between them is left out. One behind the last
 * line of the code is the call that started it.
 *
 * @param stack the stack of an error, or a line of one
 * @param typed code by the path that it ran under
 */
export function framesOf(stack: string, typed: ReadonlyMap<string, Typed>): Frame[] {
  return stack.split('\n').flatMap((text): Frame[] => {
    const where = /^\s+at (?:async )?(?:(.*) \()?(.*):(\d+):(\d+)\)?$/.exec(text)
    const code = where && typed.get(where[2] as string)
    if (!code) return []
    const [line, column] = [Number(where[3]), Number(where[4])]
    const { file, source } = code
    return [{ name: where[1] ?? null, file, line, column: code.columnOf(line, column), source }]
  })
}
