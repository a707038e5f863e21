/**
 * Colours on the line that readline edits. Readline measures and keeps the plain text; colour is
 * put into what it writes, and into nothing else.
 */
import type { Interface } from 'node:readline'
import { methodNamed, symbolNamed } from './inner.ts'
import { painted } from './paint.ts'

type Line = Interface & { line: string; cursor: number }

/**
 * Colour the line whenever readline draws it.
 *
 * @returns draws it anew where a key changed its colours; call it after each key
 */
export function painter(
  rl: Line,
  prompt: string,
  output: { rows?: number; columns?: number },
): () => void {
  const [write, refresh, place] = ['_writeToOutput', '_refreshLine', '_getDisplayPos'].map((name) =>
    methodNamed(rl, name),
  )
  if (!write || !refresh || !place) return () => {}
  // Readline reads these two by their old names, where others may put their own.
  const inner = rl as unknown as { [name: string | symbol]: unknown }
  // What readline is about to write, line by line, with what is written instead.
  let due = new Map<string, string>()
  // The line as it stands on the screen.
  let drawn = ''
  inner['_writeToOutput'] = (text: string) => write.call(rl, due.get(text) ?? text)
  const draw = () => {
    const [plain, coloured] = [rl.line.split('\n'), painted(rl.line).split('\n')]
    due = new Map(
      plain.map((text, i) => {
        const head = i === 0 ? rl.getPrompt() : '\n| '
        return [head + text, head + coloured[i]]
      }),
    )
    drawn = coloured.join('\n')
    try {
      refresh.call(rl)
    } finally {
      due = new Map()
    }
  }
  inner['_refreshLine'] = draw
  const fits = () => {
    // What is taller than the screen cannot be drawn anew: its top is out of reach.
    const { rows } = place.call(rl, prompt + rl.line) as { rows: number }
    return rows + 1 < (output.rows ?? 0)
  }
  const paint = () => {
    const now = painted(rl.line)
    // A character at the end that has no colour and changes none is on the screen already.
    const plainEnd = now.startsWith(drawn) && !now.slice(drawn.length).includes('\u001b')
    if (now === drawn || rl.line === '') drawn = now
    else if (plainEnd && rl.cursor === rl.line.length) drawn = now
    else if (fits()) draw()
  }
  const completing = symbolNamed(rl, '_tabCompleter')
  const complete = methodNamed(rl, '_tabCompleter')
  if (completing && complete)
    inner[completing] = (...args: unknown[]) => {
      complete.call(rl, ...args)
      paint()
    }
  return paint
}
