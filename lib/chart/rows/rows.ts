/** Rows as charts take them, checked field by field. */
import { gotShape } from '../../arguments.ts'
import { foreign } from '../../display.ts'
import { TouchstoneError } from '../../errors.ts'

/** Where a value stands, for an error: `rows[2].estimate`. */
type Field = { of: string; row: number; field: string }

function refuse(expected: string, got: unknown, { of, row, field }: Field): never {
  const shown =
    typeof got === 'string'
      ? `"${foreign(got, 40)}"`
      : Array.isArray(got)
        ? 'an array'
        : String(got)
  throw new TouchstoneError('chart_invalid', `expected ${expected}, got ${shown}`, {
    where: `${of}[${row}].${field}`,
  })
}

/**
 * Reads one row. Each method returns the checked field or throws `chart_invalid` naming row and
 * field.
 */
export class RowReader {
  private readonly row: Record<string, unknown>
  private readonly number: number
  private readonly of: string

  private readonly seen: Set<string>

  constructor(row: unknown, number: number, of: string, seen = new Set<string>()) {
    if (typeof row !== 'object' || row === null || Array.isArray(row)) {
      const got = row === null ? 'null' : Array.isArray(row) ? 'an array' : typeof row
      throw new TouchstoneError('chart_invalid', `expected a row object, got ${got}`, {
        where: `${of}[${number}]`,
      })
    }
    this.row = row as Record<string, unknown>
    this.number = number
    this.of = of
    this.seen = seen
  }

  fail(field: string, expected: string): never {
    refuse(expected, this.row[field], { of: this.of, row: this.number, field })
  }

  text(field: string): string {
    const value = this.row[field]
    return typeof value === 'string' && value !== ''
      ? value
      : this.fail(field, 'a text that is not empty')
  }

  /**
   * Refuse this row when one before it has the same value, or values, in these fields: marks would
   * cover each other.
   */
  once(...fields: string[]): void {
    const id = JSON.stringify(fields.map((field) => this.row[field]))
    if (this.seen.has(id)) this.fail(fields.at(-1) ?? '', `each ${fields.join(' and ')} once`)
    this.seen.add(id)
  }

  /** A text; undefined where it is not there or empty. */
  optionalText(field: string): string | undefined {
    return this.has(field) && this.row[field] !== '' ? this.text(field) : undefined
  }

  /** One of some words; undefined where the field is not there. */
  oneOf<T extends string>(field: string, words: readonly T[]): T | undefined {
    const value = this.row[field]
    if (value === undefined || value === null) return undefined
    return words.find((word) => word === value) ?? this.fail(field, `one of ${words.join(', ')}`)
  }

  /** A whole number >= 0. */
  count(field: string): number {
    const value = this.row[field]
    return Number.isSafeInteger(value) && (value as number) >= 0
      ? (value as number)
      : this.fail(field, 'a whole number >= 0')
  }

  /**
   * A finite number within bounds; NaN, null and nothing mean "undefined" and come back as null.
   */
  maybe(field: string, bounds: Bounds): number | null {
    const value = this.row[field]
    if (value === undefined || value === null || Number.isNaN(value)) return null
    return typeof value === 'number' && within(value, bounds)
      ? value
      : this.fail(field, bounds.expected)
  }

  /** A finite number within bounds. */
  needed(field: string, bounds: Bounds): number {
    return this.maybe(field, bounds) ?? this.fail(field, bounds.expected)
  }

  /** Both ends of an interval, or neither. */
  interval(
    bounds: Bounds,
    [lowField, highField]: readonly [string, string] = ['low', 'high'],
  ): { low: number | null; high: number | null } {
    const low = this.maybe(lowField, bounds)
    const high = this.maybe(highField, bounds)
    if ((low === null) !== (high === null))
      this.fail(low === null ? lowField : highField, 'both ends of an interval or neither')
    if (low !== null && high !== null && low > high)
      this.fail(lowField, `an end at or below ${highField} (${high})`)
    return { low, high }
  }

  /** `boundLow` and `boundHigh`, both or neither; nothing where they are not there. */
  bounds(bounds: Bounds): { boundLow?: number; boundHigh?: number } {
    const { low, high } = this.interval(bounds, ['boundLow', 'boundHigh'])
    return low === null || high === null ? {} : { boundLow: low, boundHigh: high }
  }

  /** A record of whole numbers >= 0. */
  counts(field: string): Record<string, number> {
    const value = this.row[field]
    if (typeof value !== 'object' || value === null || Array.isArray(value))
      this.fail(field, 'counts by name')
    for (const [name, n] of Object.entries(value)) {
      if (!Number.isSafeInteger(n) || n < 0)
        this.fail(field, `a whole number >= 0 for ${foreign(name, 40)}`)
    }
    return { ...value } as Record<string, number>
  }

  /** true or false; false where it is not there. */
  flag(field: string): boolean {
    const value = this.row[field] ?? false
    return typeof value === 'boolean' ? value : this.fail(field, 'true or false')
  }

  /** Pairs of numbers, ascending, that do not overlap and lie within two ends. */
  pairsWithin(field: string, from: number, to: number): [number, number][] {
    const value = this.row[field]
    if (!Array.isArray(value)) this.fail(field, 'an array of pairs')
    let last = from
    for (const pair of value) {
      const [a, b] = Array.isArray(pair) && pair.length === 2 ? (pair as unknown[]) : []
      if (typeof a !== 'number' || typeof b !== 'number' || !(a >= last && b >= a && b <= to))
        this.fail(field, `pairs [from, to] in order, each within ${from} and ${to}`)
      last = b
    }
    return value as [number, number][]
  }

  has(field: string): boolean {
    return this.row[field] !== undefined && this.row[field] !== null
  }

  /** A reader for each row of a list inside this row. */
  list(field: string): RowReader[] {
    const value = this.row[field]
    if (!Array.isArray(value)) this.fail(field, 'an array')
    return value.map((member, i) => new RowReader(member, i, `${this.of}[${this.number}].${field}`))
  }

  numbers(field: string, bounds: Bounds): number[] {
    const value = this.row[field]
    if (!Array.isArray(value)) this.fail(field, 'an array of numbers')
    for (const [i, member] of value.entries()) {
      if (typeof member !== 'number' || !within(member, bounds)) {
        refuse(bounds.expected, member, { of: this.of, row: this.number, field: `${field}[${i}]` })
      }
    }
    return value as number[]
  }
}

export type Bounds = { low: number; high: number; lowOpen?: boolean; expected: string }

export const SHARE: Bounds = { low: 0, high: 1, expected: 'a share in [0, 1]' }
export const SHARE_DIFFERENCE: Bounds = {
  low: -1,
  high: 1,
  expected: 'a difference of shares in [-1, 1]',
}
export const FINITE: Bounds = {
  low: -Number.MAX_VALUE,
  high: Number.MAX_VALUE,
  expected: 'a finite number',
}
export const ABOVE_ZERO: Bounds = {
  low: 0,
  high: Number.MAX_VALUE,
  lowOpen: true,
  expected: 'a finite number > 0',
}

function within(value: number, bounds: Bounds): boolean {
  return value >= bounds.low && value <= bounds.high && !(bounds.lowOpen && value === bounds.low)
}

/** Check an array of rows with one reader each. @throws TouchstoneError `chart_invalid` */
export function readRows<T>(rows: unknown, read: (row: RowReader) => T, of = 'rows'): T[] {
  if (!Array.isArray(rows)) {
    throw new TouchstoneError('chart_invalid', `expected an array of rows, ${gotShape(rows)}`, {
      where: of,
    })
  }
  const seen = new Set<string>()
  return rows.map((row, i) => read(new RowReader(row, i, of, seen)))
}
