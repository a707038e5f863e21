/** Why a bundle is not whole: the one failure that ends the check of its integrity. */

/**
 * What may be wrong, in the order in which the checks count: the first that failed is reported,
 * whichever was seen first.
 */
export const STEPS = [
  'archive',
  'manifest',
  'file_size',
  'file_digest',
  'event',
  'content_hash',
  'event_id',
  'sequence',
  'run_id',
  'event_count',
  'run_root',
  'bundle_id',
] as const
export type Step = (typeof STEPS)[number]

/** Bounds on what is read, so that a small file cannot take all memory or time. */
export type Limits = {
  /** Bytes of the file itself. */
  packedBytes: number
  /** Bytes that it unpacks to. */
  unpackedBytes: number
  manifestBytes: number
  lineBytes: number
  events: number
}

export const LIMITS: Limits = {
  packedBytes: 1 << 28,
  unpackedBytes: 1 << 30,
  manifestBytes: 1 << 20,
  lineBytes: 1 << 24,
  events: 5_000_000,
}

/** Thrown while a bundle is read, and turned into a report. Nobody outside of this room sees it. */
export class NotWhole extends Error {
  readonly step: Step
  /** A stable word for what is wrong, such as `gzip_crc`. */
  readonly reason: string
  readonly where: string

  constructor(step: Step, reason: string, detail: string, where: string) {
    super(detail)
    this.name = 'NotWhole'
    this.step = step
    this.reason = reason
    this.where = where
  }
}
