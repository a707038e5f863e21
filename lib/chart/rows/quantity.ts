/**
 * Numbers as charts say them: rounded to what an interval supports, with their unit, and never a
 * number where there is none.
 */

import { foreign } from '../../display.ts'
import type { JsonObject } from '../../json.ts'
import { digitsFor, percentage, pointsText } from '../../rounding.ts'

/**
 * `share` is a rate in [0, 1] and shown in percent; anything else is a unit as it is written: `ms`,
 * `tokens`, `USD`.
 */
export type Unit = string

/** Undefined is not zero, so it has a word of its own. */
const UNDEFINED = 'undefined'

/**
 * One value.
 *
 * @param digits decimals of a share; default: as many as keep it from 0 and 100
 * @example
 * say(0.625, 'share') // '63%'
 * say(0.625, 'share', 1) // '62.5%'
 * say(1234.5, 'ms') // '1,230 ms'
 * say(null, 'ms') // 'undefined'
 */
export function say(value: number | null, unit: Unit, digits?: number): string {
  if (value === null) return UNDEFINED
  if (unit === 'share') return `${percentage(value, digits ?? digitsFor(NaN, value))}%`
  const number = plain(value, unit === 'USD' ? 2 : 0)
  return unit === 'USD'
    ? `${value < 0 ? '-' : ''}$${number.replace('-', '')}`
    : unit
      ? `${number} ${foreign(unit, 20)}`
      : number
}

/**
 * A difference, with its sign; of shares in percentage points.
 *
 * @example
 * sayDifference(0.25, 'share') // '+25 pp'
 * sayDifference(-3, 'ms') // '-3 ms'
 */
export function sayDifference(value: number | null, unit: Unit, digits?: number): string {
  if (value === null) return UNDEFINED
  if (unit === 'share') return `${pointsText(value, digits ?? digitsFor(NaN, value))} pp`
  return `${value < 0 ? '-' : value > 0 ? '+' : ''}${say(Math.abs(value), unit)}`
}

/**
 * A value with its interval, such as `63% [48, 75]`: one number of digits for all three, and no end
 * that rounding makes 0 or 100. Without an interval the value alone.
 *
 * @param signed a difference, with its sign
 */
export function sayWithin(
  value: number | null,
  low: number | null,
  high: number | null,
  unit: Unit,
  signed = false,
): string {
  if (value === null) return UNDEFINED
  const known = low !== null && high !== null
  const digits = known ? digitsFor(high - low, value, low, high) : digitsFor(NaN, value)
  const said = signed ? sayDifference(value, unit, digits) : say(value, unit, digits)
  return known ? `${said} ${sayInterval(low, high, unit, signed, digits)}` : said
}

/** An interval as `[48, 75]`, the unit left to the value before it. */
export function sayInterval(
  low: number,
  high: number,
  unit: Unit,
  signed = false,
  digits = digitsFor(high - low, low, high),
): string {
  const ends = [low, high].map((end) => {
    const text = signed ? sayDifference(end, unit, digits) : say(end, unit, digits)
    return text.replace(/(%| pp| \S+)$/, '').replace('$', '')
  })
  return `[${ends.join(', ')}]`
}

/** What bounds add to a value with its interval: `, of all [12, 70]`; nothing without bounds. */
export function sayBounds(
  { boundLow: low, boundHigh: high }: { boundLow?: number | null; boundHigh?: number | null },
  unit: Unit,
  signed = false,
): string {
  return low == null || high == null ? '' : `, of all ${sayInterval(low, high, unit, signed)}`
}

function plain(value: number, least: number): string {
  if (value === 0) return '0'
  const size = Math.abs(value)
  if (size >= 1e12 || size < 1e-9) return value.toExponential(2)
  const digits = Math.max(0, 2 - Math.floor(Math.log10(size)))
  const rounded = Number(value.toPrecision(3))
  const most = Math.min(20, Math.max(digits, least))
  return rounded.toLocaleString('en-US', {
    minimumFractionDigits: least,
    maximumFractionDigits: most,
  })
}

/** Ticks of an axis from 0 to 100 %. */
export const SHARE_TICKS = [0, 0.25, 0.5, 0.75, 1]

/**
 * The axis of a quantity: title with unit, and labels in that unit.
 *
 * @param signed labels carry their sign, and shares are percentage points
 */
export function axis(name: string, unit: Unit, ticks: number[], signed = false): JsonObject {
  const what = foreign(name, 80)
  const shown = unit === 'share' ? (signed ? 'percentage points' : '%') : unit
  const number = unit === 'share' ? 'datum.value * 100' : 'datum.value'
  // Digits in full while they are few; `500m` for half a dollar would be read as millions.
  const format = unit === 'share' ? '.0f' : ',.6~g'
  return {
    title: shown ? `${what} (${foreign(shown, 20)})` : what,
    values: ticks,
    // Vega drops every other one of `values` when there are more of them than this.
    tickCount: ticks.length,
    labelExpr: signed
      ? `datum.value === 0 ? '0' : format(${number}, '+${format}')`
      : `format(${number}, '${format}')${unit === 'share' ? " + '%'" : ''}`,
  }
}
