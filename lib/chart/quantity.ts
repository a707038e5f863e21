/**
 * Numbers as charts say them: rounded to what an interval supports, with their unit, and never a
 * number where there is none.
 */

import { foreign } from '../display.ts'
import type { JsonObject } from '../json.ts'

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
 * @param widthOf the width of its interval in the same unit, which decides on the digits of a share
 * @example
 * say(0.625, 'share') // '63%'
 * say(0.625, 'share', 0.01) // '62.5%'
 * say(1234.5, 'ms') // '1,230 ms'
 * say(null, 'ms') // 'undefined'
 */
export function say(value: number | null, unit: Unit, widthOf = 1): string {
  if (value === null) return UNDEFINED
  if (unit === 'share') return `${(value * 100).toFixed(shareDigits(value, widthOf))}%`
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
export function sayDifference(value: number | null, unit: Unit, widthOf = 1): string {
  if (value === null) return UNDEFINED
  const text = say(Math.abs(value), unit, widthOf).replace(/%$/, ' pp')
  return /[1-9]/.test(text) ? `${value < 0 ? '-' : '+'}${text}` : text
}

/** An interval as `[48, 75]`, the unit left to the value before it; empty where there is none. */
export function sayInterval(
  low: number | null,
  high: number | null,
  unit: Unit,
  signed = false,
): string {
  if (low === null || high === null) return ''
  const ends = [low, high].map((end) => {
    const text = signed ? sayDifference(end, unit, high - low) : say(end, unit, high - low)
    return text.replace(/(%| pp| \S+)$/, '').replace('$', '')
  })
  return `[${ends.join(', ')}]`
}

/**
 * Full digits where the interval is narrower than two points, and where rounding would make a share
 * 0 or 1 that is not.
 */
function shareDigits(value: number, widthOf: number): number {
  if (widthOf > 0 && widthOf < 0.02) return 1
  const rounded = Math.round(value * 100)
  return (rounded === 0 && value !== 0) || (rounded === 100 && value !== 1) ? 1 : 0
}

function plain(value: number, least: number): string {
  if (value === 0) return '0'
  const digits = Math.max(0, 2 - Math.floor(Math.log10(Math.abs(value))))
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
