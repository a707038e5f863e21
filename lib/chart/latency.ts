/**
 * Latency: how long servers took to answer probes, as the share of all probes that were answered
 * within each time.
 *
 * A probe that was never answered has no time, and still counts in the share: a server that times
 * out every second probe levels off at one half, rather than looking as quick as its better half.
 */
import { onlyOptions } from '../arguments.ts'
import { foreign } from '../display.ts'
import type { Chart } from './chart.ts'
import { curveChart } from './curve.ts'
import { ABOVE_ZERO, readRows } from './rows/rows.ts'

export type LatencyRow = {
  server: string
  /** Milliseconds of each answered probe, above zero. */
  values: number[]
  /**
   * How many probes ended in each way, the answered ones among them; at least as many in all as
   * there are values.
   */
  outcomes?: Record<string, number>
}

export type LatencyOptions = { title?: string }

/**
 * Latency chart on a logarithmic axis, one step curve per server.
 *
 * @throws TouchstoneError `chart_invalid` naming row and field
 * @example
 * const c = latency([{ server: 'a', values: [12, 15], outcomes: { answered: 2, timeout: 2 } }])
 * c.title // 'Time to answer a probe'
 * latency([{ server: 'a', values: [12, 15], outcomes: { answered: 1 } }]) // throws chart_invalid
 */
export function latency(
  rows: readonly LatencyRow[],
  options: LatencyOptions = {},
): Chart<LatencyRow> {
  onlyOptions(options, 'title')
  const read = readRows(rows, (row): LatencyRow => {
    const server = row.text('server')
    row.once('server')
    const values = [...row.numbers('values', ABOVE_ZERO)]
    if (!row.has('outcomes')) return { server, values }
    const outcomes = row.counts('outcomes')
    const all = Object.values(outcomes).reduce((sum, n) => sum + n, 0)
    if (all < values.length)
      row.fail('outcomes', `at least ${values.length} probes, as many as there are values`)
    return { server, values, outcomes }
  })
  const curves = read.map(({ server, values, outcomes }) => {
    const total = outcomes ? Object.values(outcomes).reduce((sum, n) => sum + n, 0) : values.length
    const parts = Object.entries(outcomes ?? {}).filter(([, n]) => n > 0)
    const said = parts.map(([outcome, n]) => `${n} ${foreign(outcome, 24)}`).join(', ')
    return {
      name: server,
      values,
      total,
      remark: said || (total ? `n = ${total}` : 'undefined: no probes'),
    }
  })
  const title = options.title ?? 'Time to answer a probe'
  const notes = [
    'Each step is an answered probe; the share is of all probes, so unanswered ones hold a curve down. No interval.',
  ]
  const drawing = {
    title,
    notes,
    curves,
    quantity: 'time',
    unit: 'ms',
    log: true,
    what: 'share of probes answered',
  }
  return curveChart('latency', read, drawing, 'No servers.')
}
