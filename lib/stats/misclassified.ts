/**
 * A share that an imperfect reader counted, corrected for how often it is wrong, with what is not
 * known of that carried into the interval.
 */
import { inside, named, number, whole } from './domain.ts'
import { clopperPearson, type Interval } from './interval.ts'

/** So many of so many. */
export type Hits = { hits: number; of: number }

/** How a reader did where the truth is known. */
export type ReaderMeasured = {
  /** Of those that are so, those that it says are. */
  sensitivity: Hits
  /** Of those that are not, those that it says are not. */
  specificity: Hits
}

/**
 * The confidence of each of the three intervals that `trueShare` puts together, so that all of them
 * hold at once at the level that is asked for (Bonferroni).
 *
 * @param level confidence in (0, 1)
 * @throws `argument_invalid`
 * @example
 * readLevel(0.95) // 0.9833
 */
export function readLevel(level: number): number {
  return 1 - (1 - inside(level, 'level')) / 3
}

/**
 * Rogan and Gladen's estimate of a true share from the share that a reader with errors counted.
 *
 * Its interval is that of the counted share, moved to where the reader's sensitivity and
 * specificity would have it at the ends of their own exact intervals. It holds for any interval of
 * the counted share, such as one over cases; for independent draws Lang and Reiczigel's is
 * narrower.
 *
 * @param counted          the share counted, in [0, 1], with its interval at `readLevel(level)`
 * @param reader           counts on answers whose truth is known, each `of` at least 1
 * @param options.level    confidence of the result in (0, 1), default 0.95
 * @param options.read     where only some were read by it and the others are known: the `share`
 *   that was, in (0, 1], and the share counted among those, `estimate`. Default: all
 * @returns                `estimate` in [0, 1], NaN with a `reason` where the reader tells nothing;
 *   `low` and `high` in [0, 1], 0 and 1 where it may tell nothing
 * @throws                 `argument_invalid`
 * @see                    Rogan & Gladen 1978 (Am J Epidemiol 107:71); Lang & Reiczigel 2014 (Prev
 *   Vet Med 113:13); known answers: fixtures/stats/misclassified.json
 * @example
 * const reader = { sensitivity: { hits: 80, of: 85 }, specificity: { hits: 140, of: 153 } }
 * const counted = { estimate: 0.3, low: 0.2, high: 0.42 }
 * trueShare(counted, reader) // { estimate: 0.2511, low: 0.0552, high: 0.4692 }
 */
export function trueShare(
  counted: Interval & { estimate: number },
  reader: ReaderMeasured,
  options: { level?: number; read?: { share: number; estimate: number } } = {},
): Interval & { estimate: number; reason?: string } {
  for (const end of ['estimate', 'low', 'high'] as const)
    number(named(counted, 'counted')[end], `counted.${end}`)
  named(reader, 'reader')
  named(reader.sensitivity, 'reader.sensitivity')
  named(reader.specificity, 'reader.specificity')
  named(options, 'options')
  const level = inside(options.level ?? 0.95, 'options.level')
  const share = options.read?.share ?? 1
  const among = options.read?.estimate ?? counted.estimate
  const each = readLevel(level)
  const [se, sp] = [reader.sensitivity, reader.specificity].map(({ hits, of }, i) => {
    const where = i === 0 ? 'reader.sensitivity' : 'reader.specificity'
    whole(of, 1, Number.MAX_SAFE_INTEGER, `${where}.of`)
    whole(hits, 0, of, `${where}.hits`)
    return { at: hits / of, ...clopperPearson(hits, of, each) }
  }) as [Interval & { at: number }, Interval & { at: number }]
  // The share counted is the known part and, of the part that was read, the share counted there.
  const moved = (total: number, read: number, one: number, other: number) =>
    total + share * (corrected(read, one, other) - read)
  const known = 1 - share
  const least = clipped((counted.low - known) / share)
  const most = clipped(counted.high / share)
  const low = se.high + sp.low > 1 ? clipped(moved(counted.low, least, se.high, sp.low)) : 0
  const high = se.low + sp.high > 1 ? clipped(moved(counted.high, most, se.low, sp.high)) : 1
  if (!(se.at + sp.at > 1))
    return {
      estimate: Number.NaN,
      low: 0,
      high: 1,
      reason: 'the reader says it as often where it is not so as where it is',
    }
  return { estimate: clipped(moved(counted.estimate, among, se.at, sp.at)), low, high }
}

/** Rogan and Gladen's estimator. */
function corrected(counted: number, sensitivity: number, specificity: number): number {
  return (counted + specificity - 1) / (sensitivity + specificity - 1)
}

function clipped(share: number): number {
  return Math.min(1, Math.max(0, share))
}
