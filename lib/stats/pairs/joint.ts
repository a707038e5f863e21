/**
 * Several differences over the same cases, tested together: configurations by metrics, one family.
 */
import { drawCount, list, numbers, optionsOf, source, whole } from '../domain.ts'
import { type Rng, rng as seeded } from '../random.ts'

/** Up to so many moved cases every sign pattern is counted: 2^13 of them. */
const ENUMERATED = 14
const TIE = 1e-9

/**
 * Adjusted p values of several sign-flip tests over the same cases: each may be read against the
 * level alone, and the chance of any false alarm stays below it.
 *
 * A case's sign is flipped in all columns at once, which keeps their correlation: metrics that say
 * the same cost nothing. Each column is scaled by the root of its sum of squares; step-down, with
 * mid-p, so that a single column gives `signFlip`'s.
 *
 * @param columns       one per comparison; in each the difference of every case (or family), 0
 *   where it has none
 * @param options.rng   source for the sampling beyond 14 cases; default a fixed seed
 * @param options.draws whole, >= 100, default 10,000
 * @returns             one p value per column; 1 for a column in which nothing moved
 * @throws              `argument_invalid` for columns of different length or a number that is not
 *   finite
 * @see                 Westfall & Young 1993, step-down max-T; Romano & Wolf 2005; known answers:
 *   fixtures/stats/multiple.json
 * @example
 * jointSignFlip([[1, 1, 1, 1, 1, 1], [1, 1, 1, 1, 1, 1]]) // [0.015625, 0.015625]
 * jointSignFlip([[1, 1, 1, 1, 1, 1], [1, -1, 1, 1, -1, 1]]) // [0.03125, 0.453125]
 */
export function jointSignFlip(
  columns: readonly (readonly number[])[],
  options: { rng?: Rng; draws?: number } = {},
): number[] {
  optionsOf(options, ['rng', 'draws'])
  list(columns, 'differences, one list per comparison', 'columns')
  const size = columns[0]?.length ?? 0
  const scaled = columns.map((column, c) => {
    whole(numbers(column, `columns[${c}]`).length, size, size, `columns[${c}].length`)
    const length = Math.sqrt(column.reduce((sum, d) => sum + d * d, 0))
    return { c, values: length > 0 ? column.map((d) => d / length) : null }
  })
  const out = columns.map(() => 1)
  const seenOf = (values: readonly number[]) => Math.abs(values.reduce((sum, d) => sum + d, 0))
  // From the smallest statistic to the largest: a column is held against the largest of those at or
  // below it.
  const tested = scaled
    .flatMap(({ c, values }) => (values ? [{ c, values, seen: seenOf(values) }] : []))
    .sort((x, y) => x.seen - y.seen)
  if (tested.length === 0) return out
  const moved = Array.from({ length: size }, (_, i) => i).filter((i) =>
    tested.some(({ values }) => values[i] !== 0),
  )
  const rows = tested.map(({ values }) => Float64Array.from(moved, (i) => values[i] as number))
  const all = moved.length <= ENUMERATED
  const draws = all ? 2 ** (moved.length - 1) : drawCount(options.draws ?? 10_000, 'options.draws')
  const random = source(options.rng ?? seeded('joint sign-flip'), 'options.rng')
  const atLeast = new Float64Array(tested.length)
  const signs = new Float64Array(moved.length)
  for (let draw = 0; draw < draws; draw++) {
    let bits = all ? draw : 0
    for (let j = 0; j < signs.length; j++) {
      if (!all && j % 30 === 0) bits = Math.floor(random() * 1073741824)
      signs[j] = bits & 1 ? -1 : 1
      bits >>= 1
    }
    let most = 0
    for (let t = 0; t < rows.length; t++) {
      const row = rows[t] as Float64Array
      let sum = 0
      for (let j = 0; j < row.length; j++) sum += (signs[j] as number) * (row[j] as number)
      most = Math.max(most, Math.abs(sum))
      const gap = most - (tested[t]?.seen as number)
      // Ties count half (mid-p).
      if (Math.abs(gap) <= TIE) atLeast[t] = (atLeast[t] as number) + 0.5
      else if (gap > 0) atLeast[t] = (atLeast[t] as number) + 1
    }
  }
  let floor = 0
  for (let t = tested.length - 1; t >= 0; t--) {
    // Drawn at random, what was seen counts among the draws, so that no p is 0.
    const p = all ? (atLeast[t] as number) / draws : ((atLeast[t] as number) + 0.5) / (draws + 1)
    floor = Math.max(floor, Math.min(1, p))
    out[tested[t]?.c as number] = floor
  }
  return out
}

/**
 * Which of several things cannot be told apart, as letters: two that share a letter are not told
 * apart.
 *
 * @param count how many things there are, whole, >= 0; they are numbered from 0, best first
 * @param apart pairs of numbers that were told apart
 * @returns     a text of letters for each, in the same order
 * @throws      `argument_invalid` for a number outside 0..count-1
 * @see         Piepho 2004 (insert and absorb)
 * @example
 * letters(3, [[0, 2]]) // ['a', 'ab', 'b']
 * letters(3, []) // ['a', 'a', 'a']
 */
export function letters(count: number, apart: readonly (readonly [number, number])[]): string[] {
  whole(count, 0, 10_000, 'count')
  let groups: Set<number>[] = count === 0 ? [] : [new Set(Array.from({ length: count }).keys())]
  for (const [at, pair] of list(apart, 'pairs of numbers', 'apart').entries()) {
    const [i, j] = list(pair, 'two numbers', `apart[${at}]`) as readonly [number, number]
    whole(i, 0, count - 1, `apart[${at}][0]`)
    whole(j, 0, count - 1, `apart[${at}][1]`)
    const split = groups.flatMap((group) => {
      if (!group.has(i) || !group.has(j)) return [group]
      return [j, i].map((out) => new Set([...group].filter((one) => one !== out)))
    })
    groups = split.filter(
      (group, g) =>
        !split.some(
          (other, o) => o !== g && group.isSubsetOf(other) && (group.size < other.size || o < g),
        ),
    )
  }
  const ordered = groups
    .map((group) => [...group].sort((x, y) => x - y))
    .sort((x, y) => firstDifference(x, y))
  return Array.from({ length: count }, (_, i) =>
    ordered.map((group, g) => (group.includes(i) ? letter(g) : '')).join(''),
  )
}

function firstDifference(x: readonly number[], y: readonly number[]): number {
  const at = x.findIndex((value, i) => value !== y[i])
  return at < 0 ? x.length - y.length : (x[at] as number) - (y[at] ?? -1)
}

/** a to z, then a2, b2 and so on. */
function letter(n: number): string {
  const round = Math.floor(n / 26)
  return String.fromCharCode(97 + (n % 26)) + (round > 0 ? String(round + 1) : '')
}
