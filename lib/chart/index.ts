/** Charts: rows with their estimates in, a chart out. Nothing here computes a statistic. */
export { Chart, type ChartKind, type MimeBundle } from './chart.ts'
export { type HeatOptions, type HeatRow, heat } from './heat.ts'
export type { TextLook } from './plot.ts'
export { type StripOptions, type StripRow, strip } from './strip.ts'
