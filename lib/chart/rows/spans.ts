/**
 * Attempts over wall time: stretches in which something was at work, what lies between them cut
 * out, and counts for each part of a stretch.
 */

/** One attempt, in ms since 1970; `waits` are within it, in order. */
export type Span = {
  began: number
  ended: number
  waits: readonly (readonly [from: number, to: number])[]
  error: boolean
}

/** Wall time that is drawn: from one moment to another, and where it begins on the axis, in ms. */
export type Stretch = { from: number; to: number; at: number }

/** A gap is cut out where it is longer than this share of all time in which something ran. */
const LONG = 0.1
/** More are drawn as they are: in a narrow terminal each takes a column. */
const MOST_GAPS = 12
/** What stands for a gap, as a share of the time that is drawn. */
const GAP = 0.02

/**
 * The time that is drawn. Where nothing was at work for long, one stretch ends and the next begins.
 */
export function stretchesOf(spans: readonly Span[]): Stretch[] {
  const sorted = spans.toSorted((a, b) => a.began - b.began)
  const runs: { from: number; to: number }[] = []
  for (const { began, ended } of sorted) {
    const last = runs.at(-1)
    if (last && began <= last.to) last.to = Math.max(last.to, ended)
    else runs.push({ from: began, to: ended })
  }
  const covered = runs.reduce((sum, { from, to }) => sum + to - from, 0)
  const gaps = runs.slice(1).map(({ from }, i) => from - (runs[i]?.to ?? from))
  const order = gaps.map((_, i) => i).sort((i, j) => (gaps[j] as number) - (gaps[i] as number))
  const least = Math.max(covered * LONG, 1)
  const cut = new Set(order.slice(0, MOST_GAPS).filter((i) => (gaps[i] as number) > least))
  const kept: { from: number; to: number }[] = []
  for (const [i, run] of runs.entries()) {
    const last = kept.at(-1)
    if (last && !cut.has(i - 1)) last.to = run.to
    else kept.push({ ...run })
  }
  const drawn = kept.reduce((sum, { from, to }) => sum + to - from, 0)
  let at = 0
  return kept.map(({ from, to }) => {
    // A moment has no width, and still a place.
    const stretch = { from, to: Math.max(to, from + 1), at }
    at += stretch.to - from + drawn * GAP
    return stretch
  })
}

/** A part of a stretch: wall time, and its place on the axis. */
export type Bin = { stretch: number; from: number; to: number; at: number }

/** About `n` parts of equal length; each stretch has at least one, and none lies in two. */
export function binsOf(stretches: readonly Stretch[], n: number): Bin[] {
  const drawn = stretches.reduce((sum, { from, to }) => sum + to - from, 0)
  const free = Math.max(0, n - stretches.length)
  return stretches.flatMap(({ from, to, at }, stretch) => {
    const parts = 1 + Math.floor((free * (to - from)) / drawn)
    const width = (to - from) / parts
    return Array.from({ length: parts }, (_, i) => ({
      stretch,
      from: from + i * width,
      to: from + (i + 1) * width,
      at: at + i * width,
    }))
  })
}

/** What lies in each part. */
export type Counts = {
  /** How many were at work, waiting ones not among them, and how many waited: means over time. */
  working: Float64Array
  waiting: Float64Array
  /** How many ended in an error. */
  errors: Int32Array
  /** Lengths without waiting, in ms ascending, of those that ended here and in no error. */
  took: number[][]
}

/** What is drawn: the time, its parts, and a panel for each configuration. */
export type Activity = {
  stretches: readonly Stretch[]
  bins: readonly Bin[]
  panels: readonly Panel[]
}
/** `said`: the configuration in words, behind its name. */
export type Panel = { name: string; said: string; counts: Counts }

export function countsIn(spans: readonly Span[], bins: readonly Bin[]): Counts {
  const first = new Map<number, number>()
  for (const [i, { stretch }] of bins.entries()) if (!first.has(stretch)) first.set(stretch, i)
  const starts = [...first.values()]
  const fromOf = (i: number) => bins[i]?.from ?? 0
  /** The part that holds a moment; one on a border is in the later, and the end in the last. */
  const place = (moment: number) => {
    let stretch = starts.length - 1
    while (stretch > 0 && fromOf(starts[stretch] as number) > moment) stretch--
    const start = starts[stretch] as number
    const last = (starts[stretch + 1] ?? bins.length) - 1
    const { from, to } = bins[start] as Bin
    return Math.min(last, Math.max(start, start + Math.floor((moment - from) / (to - from))))
  }
  const [all, waiting] = [new Float64Array(bins.length), new Float64Array(bins.length)]
  const [allSteps, waitSteps] = [
    new Float64Array(bins.length + 1),
    new Float64Array(bins.length + 1),
  ]
  const add = (into: Float64Array, steps: Float64Array, from: number, to: number) => {
    const [i, j] = [place(from), place(to)]
    if (i === j) {
      into[i] = (into[i] as number) + to - from
      return
    }
    into[i] = (into[i] as number) + (bins[i]?.to ?? 0) - from
    into[j] = (into[j] as number) + to - fromOf(j)
    steps[i + 1] = (steps[i + 1] as number) + 1
    steps[j] = (steps[j] as number) - 1
  }
  const errors = new Int32Array(bins.length)
  const took: number[][] = bins.map(() => [])
  for (const { began, ended, waits, error } of spans) {
    add(all, allSteps, began, ended)
    let waited = 0
    for (const [from, to] of waits) {
      add(waiting, waitSteps, from, to)
      waited += to - from
    }
    const end = place(ended)
    if (error) errors[end] = (errors[end] as number) + 1
    else took[end]?.push(ended - began - waited)
  }
  let [atWork, atWait] = [0, 0]
  for (const [i, { from, to }] of bins.entries()) {
    atWork += allSteps[i] as number
    atWait += waitSteps[i] as number
    const width = to - from
    waiting[i] = (waiting[i] as number) / width + atWait
    // Rounding leaves no less than none.
    all[i] = Math.max(0, (all[i] as number) / width + atWork - (waiting[i] as number))
  }
  for (const list of took) list.sort((a, b) => a - b)
  return { working: all, waiting, errors, took }
}

/** The middle one of a list in order; of an even number the lower. */
export function middleOf(list: readonly number[]): number {
  return list[Math.ceil(list.length / 2) - 1] as number
}

/** The most that were at work or waiting at one moment. One that ends makes room for the next. */
export function mostAtOnce(spans: readonly Span[]): number {
  const begins = Float64Array.from(spans, ({ began }) => began).sort()
  const ends = Float64Array.from(spans, ({ ended }) => ended).sort()
  let [most, over] = [0, 0]
  for (const [i, began] of begins.entries()) {
    while (over < i && (ends[over] as number) <= began) over++
    most = Math.max(most, i + 1 - over)
  }
  return most
}

const [SECOND, MINUTE, HOUR, DAY] = [1000, 60_000, 3_600_000, 86_400_000]
const STEPS = [
  ...[1, 2, 5, 10, 20, 50, 100, 200, 500],
  ...[1, 2, 5, 10, 20, 30].map((n) => n * SECOND),
  ...[1, 2, 5, 10, 20, 30].map((n) => n * MINUTE),
  ...[1, 2, 6, 12].map((n) => n * HOUR),
  ...[1, 2, 7, 14, 30, 90, 365].map((n) => n * DAY),
]

export const MOST_TICKS = 6

/** Ticks of the axis: round times since the beginning, at least one for each stretch. */
export function ticksOf(stretches: readonly Stretch[], n: number): { at: number; label: string }[] {
  const begin = stretches[0]?.from ?? 0
  const drawn = stretches.reduce((sum, { from, to }) => sum + to - from, 0)
  const step = STEPS.find((one) => one >= drawn / n) ?? Math.ceil(drawn / n / DAY) * DAY
  return stretches.flatMap(({ from, to, at }) => {
    const ticks: { at: number; label: string }[] = []
    for (let i = Math.ceil((from - begin) / step); begin + i * step <= to; i++)
      ticks.push({ at: at + begin + i * step - from, label: elapsed(i * step) })
    return ticks.length > 0 ? ticks : [{ at, label: elapsed(from - begin) }]
  })
}

/** Round times within bounds, on a logarithmic axis: about `n` of them. */
export function roundTimes(low: number, high: number, n: number): number[] {
  const inside = STEPS.filter((one) => one >= low && one <= high)
  const every = Math.max(1, Math.ceil(inside.length / n))
  return inside.filter((_, i) => i % every === 0)
}

/**
 * A time in the two largest of its units: `850 ms`, `20 s`, `1 min 30 s`, `14 h`, `2 d 3 h`.
 *
 * @example
 * elapsed(90_000) // '1 min 30 s'
 */
export function elapsed(ms: number): string {
  if (ms === 0) return '0 s'
  if (ms < SECOND) return `${Math.round(ms)} ms`
  if (ms < 10 * SECOND) return `${Number((ms / SECOND).toFixed(1))} s`
  if (ms < MINUTE - SECOND / 2) return `${Math.round(ms / SECOND)} s`
  const units: [number, string, number, string][] = [
    [DAY, 'd', HOUR, 'h'],
    [HOUR, 'h', MINUTE, 'min'],
    [MINUTE, 'min', SECOND, 's'],
  ]
  const [large, name, small, part] = units.find(([unit, , of]) => ms >= unit - of / 2) ?? [
    MINUTE,
    'min',
    SECOND,
    's',
  ]
  const rounded = Math.round(ms / small) * small
  const rest = (rounded % large) / small
  return `${Math.floor(rounded / large)} ${name}${rest > 0 ? ` ${rest} ${part}` : ''}`
}
