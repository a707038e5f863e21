/** The names of a run's charts, apart from what draws them. */

/** Kinds of chart that a run can be drawn as. */
export const PLOT_KINDS = [
  'strip',
  'heat',
  'slope',
  'forest',
  'levels',
  'ecdf',
  'reliability',
  'noise',
  'activity',
] as const
export type PlotKind = (typeof PLOT_KINDS)[number]
