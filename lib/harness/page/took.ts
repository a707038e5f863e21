/** What the parts of a trial took, in words that the page and the prompt share. */
import { count, duration } from '../../display.ts'
import type { TranscriptTime } from '../../log/index.ts'

const NAMES = { model: 'model', call: 'tools', user: 'the user’s model' } as const

/**
 * How long the model, the tools and the user took. What ran at once counts once, and waiting for a
 * provider's limit counts apart.
 *
 * @returns null where no part is known
 */
export function tookText(times: readonly TranscriptTime[]): string | null {
  const kinds = Object.keys(NAMES) as TranscriptTime['what'][]
  const said = kinds.flatMap((what) => {
    const parts = times.filter((one) => one.what === what)
    if (parts.length === 0) return []
    const waited = parts.reduce((sum, { waited_ms: ms = 0 }) => sum + ms, 0)
    const apart = waited > 0 ? `, and ${duration(waited)} of waiting for a limit` : ''
    const took = Math.max(0, covered(parts) - waited)
    return [`${NAMES[what]} ${duration(took)} in ${count(parts.length, 'call')}${apart}`]
  })
  return said.length > 0 ? said.join(', ') : null
}

/** The time in which at least one of them ran, in ms. */
function covered(parts: readonly TranscriptTime[]): number {
  let [sum, end] = [0, 0]
  for (const { from_ms: from, to_ms: to } of parts.toSorted((a, b) => a.from_ms - b.from_ms)) {
    sum += Math.max(0, to - Math.max(from, end))
    end = Math.max(end, to)
  }
  return sum
}
