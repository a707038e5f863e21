/** A word of a list that was mistyped: what was given, and what was probably meant. */

/**
 * The word of a list that is most like another: a prefix that only one of them has, or else the one
 * at the least distance, where at most a third of its letters differ. Case does not count.
 *
 * @param most letters that may differ at most, in the place of a third; no prefix counts then
 * @returns null where none is like it
 * @example
 * nearest('rnu', ['run', 'probe']) // 'run'
 * nearest('scen', ['run', 'scenarios']) // 'scenarios'
 * nearest('xyz', ['run', 'probe']) // null
 */
export function nearest(word: string, known: Iterable<string>, most?: number): string | null {
  const typed = word.toLowerCase()
  const all = [...known]
  const begun =
    typed === '' || most !== undefined
      ? []
      : all.filter((one) => one.toLowerCase().startsWith(typed))
  if (begun.length === 1) return begun[0] as string
  let best: string | null = null
  let least = Number.POSITIVE_INFINITY
  for (const one of all) {
    const allowed = Math.min(most ?? Infinity, Math.max(1, Math.floor(one.length / 3)))
    if (Math.abs(one.length - typed.length) > allowed) continue
    const distance = editDistance(typed, one.toLowerCase())
    if (distance <= allowed && distance < least) [best, least] = [one, distance]
  }
  return best
}

/**
 * The second half of "expected X, got Y" for a word that is not among those there are.
 *
 * @example
 * gotWord('rnu', ['run', 'probe']) // 'got "rnu"; did you mean "run"?'
 * gotWord('xyz', ['run', 'probe']) // 'got "xyz"'
 */
export function gotWord(word: unknown, known: Iterable<string>): string {
  if (typeof word !== 'string') return `got ${typeof word}`
  const meant = nearest(word, known)
  return meant === null ? `got "${word}"` : `got "${word}"; did you mean "${meant}"?`
}

/**
 * "expected X, got Y" for a word that is not among those there are. What was probably meant stands
 * before the list, which may be long.
 *
 * @example
 * amongText('a verb', 'rnu', ['run', 'probe']) // 'expected a verb, got "rnu"; did you mean "run"? Others are probe'
 * amongText('a verb', 'xyz', ['run', 'probe']) // 'expected a verb (run, probe), got "xyz"'
 */
export function amongText(what: string, word: string, known: readonly string[]): string {
  const meant = nearest(word, known)
  if (meant === null) return `expected ${what} (${known.join(', ')}), got "${word}"`
  const others = known.filter((one) => one !== meant).join(', ')
  return `expected ${what}, ${gotWord(word, known)}${others === '' ? '' : ` Others are ${others}`}`
}

/**
 * Optimal string alignment distance: insertions, deletions, replacements, and neighbours that
 * changed places.
 */
function editDistance(a: string, b: string): number {
  let before: number[] = []
  let row = Array.from({ length: b.length + 1 }, (_, i) => i)
  for (let i = 1; i <= a.length; i++) {
    const next = [i]
    for (let j = 1; j <= b.length; j++) {
      const replaced = (row[j - 1] as number) + (a[i - 1] === b[j - 1] ? 0 : 1)
      const swapped =
        i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]
          ? (before[j - 2] as number) + 1
          : Number.POSITIVE_INFINITY
      next.push(Math.min(replaced, swapped, (row[j] as number) + 1, (next[j - 1] as number) + 1))
    }
    before = row
    row = next
  }
  return row[b.length] as number
}
