/**
 * ECDF: for times, tokens and cost, which share of the runs stayed at or below each value. Every
 * value is in the picture.
 */
import { onlyOptions } from '../arguments.ts'
import { foreign } from '../display.ts'
import type { Chart } from './chart.ts'
import { curveChart } from './curve.ts'
import { capital } from './rows/notes.ts'
import type { Unit } from './rows/quantity.ts'
import { ABOVE_ZERO, FINITE, readRows } from './rows/rows.ts'

export type EcdfRow = {
  configuration: string
  /** One per trial, in the chart's unit; finite, and above zero on a logarithmic axis. */
  values: number[]
}

export type EcdfOptions = {
  /** What was measured. Default `value`. */
  quantity?: string
  /** `ms`, `tokens`, `USD`. Default none. */
  unit?: Unit
  /** Logarithmic axis. Default false. */
  log?: boolean
  title?: string
}

/**
 * Empirical distribution per configuration, as steps.
 *
 * @param rows a configuration without values is named and not drawn
 * @throws TouchstoneError `chart_invalid` naming row and field
 * @example
 * ecdf([{ configuration: 'naive', values: [120, 80, 300] }], { quantity: 'time', unit: 'ms' }).title // 'Time per trial'
 * ecdf([{ configuration: 'naive', values: [0, 80] }], { log: true }) // throws chart_invalid
 */
export function ecdf(rows: readonly EcdfRow[], options: EcdfOptions = {}): Chart<EcdfRow> {
  onlyOptions(options, 'quantity unit log title')
  const log = options.log ?? false
  const read = readRows(rows, (row): EcdfRow => {
    const configuration = row.text('configuration')
    row.once('configuration')
    return { configuration, values: [...row.numbers('values', log ? ABOVE_ZERO : FINITE)] }
  })
  const quantity = foreign(options.quantity ?? 'value', 60)
  const title =
    options.title ?? `${capital(quantity)}${/ per trial$/.test(quantity) ? '' : ' per trial'}`
  const notes = [
    'Each step is a trial (n behind the name): the share of trials at or below the value. No interval.',
  ]
  const curves = read.map(({ configuration, values }) => ({
    name: configuration,
    values,
    total: values.length,
    remark: values.length ? `n = ${values.length.toLocaleString('en-US')}` : 'undefined: no values',
  }))
  const drawing = {
    title,
    notes,
    curves,
    quantity,
    unit: options.unit ?? '',
    log,
    what: 'share of trials',
  }
  return curveChart('ecdf', read, drawing, 'No configurations.')
}
