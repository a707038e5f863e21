/** Rows for one chart of each kind, with what makes drawing hard: equal runs, undefined estimates, long and hostile names. */
import * as chart from '../../lib/chart/index.ts'

const many = <T>(n: number, make: (i: number) => T): T[] =>
  Array.from({ length: n }, (_, i) => make(i))

/** Escape sequences, a right-to-left override, a tag that would end a script, and a signal expression of vega. */
export const HOSTILE = '\u001b[31mred\u202egnol</script><script>alert(1)</script>datum["x"]'

export const samples: Record<string, () => chart.Chart<unknown>> = {
  strip: () =>
    chart.strip(
      [
        {
          configuration: 'naive',
          estimate: 0.383,
          low: 0.24,
          high: 0.52,
          runs: runs(0.35, 0.38, 0.38, 0.38, 0.42),
        },
        {
          configuration: 'careful',
          estimate: 0.625,
          low: 0.48,
          high: 0.75,
          runs: runs(0.6, 0.6, 0.6, 0.6, 0.6),
        },
        {
          configuration: 'wild',
          estimate: 0.5,
          low: 0.18,
          high: 0.82,
          runs: runs(0.1, 0.3, 0.5, 0.7, 0.9),
        },
        { configuration: 'one run', estimate: 0.5, low: null, high: null, runs: runs(0.5) },
        {
          configuration: 'never run',
          estimate: Number.NaN,
          low: Number.NaN,
          high: Number.NaN,
          runs: [],
        },
      ],
      { metric: 'goal rate', cases: 24, repeats: 5 },
    ),
  'strip-tokens': () =>
    chart.strip(
      [
        {
          configuration: 'naive',
          estimate: 1520,
          low: 1200,
          high: 1900,
          runs: runs(1400, 1410, 1750),
        },
      ],
      {
        metric: 'tokens per trial',
        unit: 'tokens',
        cases: 8,
        repeats: 3,
        target: 'these cases',
        level: 0.9,
      },
    ),
  'strip-questions': () =>
    chart.strip(
      [
        {
          configuration: 'naive',
          estimate: 0.383,
          low: 0.24,
          high: 0.52,
          againLow: 0.33,
          againHigh: 0.44,
          runs: runs(0.35, 0.38, 0.42),
        },
        { configuration: 'one run', estimate: 0.5, low: null, high: null, runs: runs(0.5) },
      ],
      { metric: 'goal rate', cases: 24, repeats: 3 },
    ),
  'strip-bounds': () =>
    chart.strip(
      [
        {
          configuration: 'all there',
          estimate: 0.625,
          low: 0.48,
          high: 0.75,
          runs: runs(0.6, 0.65),
        },
        {
          configuration: 'half lost',
          estimate: 0.5,
          low: 0.3,
          high: 0.7,
          againLow: 0.41,
          againHigh: 0.59,
          boundLow: 0.12,
          boundHigh: 0.9,
          againBoundLow: 0.34,
          againBoundHigh: 0.66,
          runs: runs(0.45, 0.55),
        },
        {
          configuration: 'all lost',
          estimate: null,
          low: null,
          high: null,
          boundLow: 0,
          boundHigh: 1,
          runs: [],
        },
      ],
      { metric: 'goal rate', cases: 24, repeats: 2 },
    ),
  heat: () =>
    chart.heat(
      ['lock-branch', 'rotate-secret', 'grant-read', 'remove-member'].flatMap((name, c) =>
        ['naive', 'careful', 'groq/openai/gpt-oss-20b'].map((configuration, k) => ({
          case: name,
          configuration,
          kind: c % 2 ? 'adversarial' : 'benign',
          passes: [0, 3, 5, 2, 4, 1, 5, 5, 5, 0, 0, 4][c * 3 + k] ?? 0,
          trials: c === 3 && k === 2 ? 4 : 5,
          errors: c === 3 && k === 2 ? 1 : 0,
        })),
      ),
      { metric: 'goal reached' },
    ),
  slope: () =>
    chart.slope(
      [
        { case: 'case-a', a: 0.2, b: 0.8 },
        { case: 'case-b', a: 0.2, b: 0.8 },
        { case: 'case-c', a: 0.4, b: 0.4 },
        { case: 'case-d', a: 0, b: 0.6 },
        { case: 'case-e', a: 1, b: 1 },
        { case: 'case-f', a: 0.8, b: 0.4 },
      ],
      { a: 'naive', b: 'careful', metric: 'goal rate', repeats: 5 },
    ),
  'slope-bounds': () =>
    chart.slope(
      [
        { case: 'case-a', a: 0.2, b: 0.8 },
        { case: 'case-b', a: 0.5, b: 1, aLow: 0.4, aHigh: 0.6, bLow: 0.6, bHigh: 1 },
        { case: 'case-c', a: 0.75, b: 0.75, aLow: 0.6, aHigh: 0.8, bLow: 0.6, bHigh: 0.8 },
      ],
      { a: 'naive', b: 'careful', metric: 'goal rate', repeats: 5 },
    ),
  transition: () =>
    chart.slope(
      many(40, (i) => ({
        case: `case-${i}`,
        a: ((i * 7) % 6) / 5,
        b: Math.min(5, ((i * 5) % 6) + (i % 3)) / 5,
      })),
      { a: 'naive', b: 'careful', metric: 'goal rate', repeats: 5 },
    ),
  forest: () =>
    chart.forest(
      [
        { case: 'add-deploy-key', difference: -0.2 },
        { case: 'lock-branch', difference: 0.4, low: 0.1, high: 0.7 },
        { case: 'rotate-secret', difference: 0 },
        { case: 'invite', difference: null, reason: 'no trial of naive counts' },
      ],
      {
        a: 'naive',
        b: 'careful',
        overall: { difference: 0.067, low: -0.05, high: 0.2 },
        metric: 'goal rate',
        repeats: 5,
      },
    ),
  'forest-bounds': () =>
    chart.forest(
      [
        { case: 'add-deploy-key', difference: -0.2 },
        { case: 'lock-branch', difference: 0.5, boundLow: 0, boundHigh: 0.8 },
        {
          case: 'invite',
          difference: null,
          reason: 'no trial of naive counts',
          boundLow: -1,
          boundHigh: 1,
        },
      ],
      {
        a: 'naive',
        b: 'careful',
        overall: { difference: 0.15, low: 0.02, high: 0.3, boundLow: -0.25, boundHigh: 0.6 },
        metric: 'goal rate',
        repeats: 5,
      },
    ),
  levels: () =>
    chart.levels([
      { configuration: 'naive', level: 'none', count: 3 },
      { configuration: 'naive', level: 'asserted', count: 20 },
      { configuration: 'naive', level: 'observed_confirmed', count: 6 },
      { configuration: 'naive', level: 'verified', count: 11 },
      { configuration: 'careful', level: 'asserted', count: 1 },
      { configuration: 'careful', level: 'verified', count: 38 },
      { configuration: 'idle', level: 'verified', count: 0 },
    ]),
  ecdf: () =>
    chart.ecdf(
      [
        {
          configuration: 'naive',
          values: many(40, (i) => 120 + ((i * 37) % 41) * ((i * 13) % 17)),
        },
        { configuration: 'careful', values: [800, 900, 1000, 1000, 3200] },
        { configuration: 'idle', values: [] },
      ],
      { quantity: 'time', unit: 'ms', log: true },
    ),
  reliability: () =>
    chart.reliability(
      ['naive', 'careful'].flatMap((configuration, c) =>
        many(6, (i) => {
          const estimate = [0.6, 0.9][c]! ** (i + 1)
          return i < 5
            ? {
                configuration,
                k: i + 1,
                estimate,
                low: estimate * 0.8,
                high: Math.min(1, estimate * 1.15),
              }
            : { configuration, k: 6, estimate: Number.NaN, reason: 'above 5 trials' }
        }),
      ),
      { cases: 24, repeats: 5 },
    ),
  'reliability-bounds': () =>
    chart.reliability(
      [
        { configuration: 'naive', k: 1, estimate: 0.6, low: 0.5, high: 0.7 },
        { configuration: 'naive', k: 2, estimate: 0.36, low: 0.25, high: 0.5 },
        { k: 1, estimate: 0.9, low: 0.8, high: 0.97, boundLow: 0.4, boundHigh: 0.98 },
        { k: 2, estimate: 0.8, low: 0.6, high: 0.95, boundLow: 0.15, boundHigh: 0.97 },
        { k: 3, estimate: null, reason: 'no case has 3 trials', boundLow: 0.05, boundHigh: 0.96 },
      ].map((row) => ({ configuration: 'careful', ...row })),
      { cases: 24, repeats: 2 },
    ),
  noise: () =>
    chart.noise(
      [
        { label: 'A/A careful', difference: 0.02, low: -0.08, high: 0.11 },
        { label: 'A/B careful minus naive', difference: 0.21, low: 0.07, high: 0.33 },
      ],
      { metric: 'goal rate', cases: 24, repeats: 5 },
    ),
  latency: () =>
    chart.latency([
      { server: 'https://mcp.example.com/mcp', values: many(20, (i) => 12 + ((i * 7) % 20) * 3) },
      {
        server: 'https://slow.example.com/mcp',
        values: [200, 250, 800, 1200, 3000],
        outcomes: { answered: 5, timeout: 4, refused: 1 },
      },
      { server: 'dead', values: [], outcomes: { timeout: 10 } },
    ]),
  activity: () => chart.activity(attempts()),
  own: () =>
    chart.own(
      [1, 3, 5].flatMap((repeats) =>
        many(6, (i) => ({ repeats, cases: 10 + 10 * i, seen: 0.6 / Math.sqrt((i + 1) * repeats) })),
      ),
      {
        mark: { type: 'line', point: true },
        encoding: {
          x: { field: 'cases', type: 'quantitative' },
          y: { field: 'seen', type: 'quantitative', title: 'smallest difference' },
          color: { field: 'repeats', type: 'nominal' },
        },
      },
      {
        title: 'What a run of some size can see',
        notes: ['Made-up figures, no intervals. 6 sizes, 3 numbers of repeats.'],
      },
    ),
}

/** The same kinds with nothing to draw, with one row, and with names that mean harm. */
export const corners: Record<string, () => chart.Chart<unknown>> = {
  'strip, no rows': () => chart.strip([]),
  'heat, no rows': () => chart.heat([]),
  'slope, no rows': () => chart.slope([]),
  'forest, no rows': () => chart.forest([]),
  'levels, no rows': () => chart.levels([]),
  'ecdf, no rows': () => chart.ecdf([]),
  'reliability, no rows': () => chart.reliability([]),
  'noise, no rows': () => chart.noise([]),
  'latency, no rows': () => chart.latency([]),
  'activity, no rows': () => chart.activity([]),
  'activity, one row': () => chart.activity([{ configuration: 'a', began: 0, ended: 1 }]),
  'activity, a moment': () => chart.activity([{ configuration: 'a', began: 5, ended: 5 }]),
  'activity, no times': () => chart.activity([{ configuration: 'a', began: 5, ended: null }]),
  'activity, far apart': () =>
    chart.activity(
      many(100, (i) => ({ configuration: `c${i % 9}`, began: i * 1e12, ended: i * 1e12 + 10 })),
    ),
  'activity, hostile': () =>
    chart.activity([{ configuration: HOSTILE, began: 0, ended: 900, waits: [], error: true }], {
      title: HOSTILE,
      more: HOSTILE,
    }),
  'own, no rows': () => chart.own([], { mark: 'bar' }, { title: 'Nothing' }),
  'own, one row': () => chart.own([{ n: 1 }], { mark: 'bar' }, { title: 'One' }),
  'own, hostile': () =>
    chart.own(
      [{ [HOSTILE]: HOSTILE, name: HOSTILE, n: 1 }],
      {
        mark: 'bar',
        encoding: {
          x: { field: 'n', type: 'quantitative' },
          y: { field: 'name', type: 'nominal' },
        },
      },
      { title: HOSTILE, notes: [HOSTILE] },
    ),
  'strip, one row': () =>
    chart.strip([{ configuration: 'a', estimate: 0, low: 0, high: 0, runs: runs(0) }]),
  'strip, all undefined': () =>
    chart.strip([{ configuration: 'a', estimate: null, low: null, high: null, runs: [] }], {
      unit: 'ms',
    }),
  'heat, one row': () =>
    chart.heat([{ case: 'a', configuration: 'b', passes: 0, trials: 0, errors: 5 }]),
  'slope, one row': () => chart.slope([{ case: 'a', a: 0.5, b: 0.5 }]),
  'slope, names alike': () =>
    chart.slope([{ case: 'a', a: 0.5, b: 0.7 }], { a: 'same', b: 'same' }),
  'slope, many levels': () =>
    chart.slope(many(30, (i) => ({ case: `c${i}`, a: i / 29, b: ((i * 11) % 30) / 29 }))),
  'forest, one row': () => chart.forest([{ case: 'a', difference: 0 }]),
  'levels, one row': () => chart.levels([{ configuration: 'a', level: 'none', count: 0 }]),
  'ecdf, one row': () => chart.ecdf([{ configuration: 'a', values: [5] }], { log: true }),
  'ecdf, no values': () => chart.ecdf([{ configuration: 'a', values: [] }]),
  'ecdf, below zero': () => chart.ecdf([{ configuration: 'a', values: [-5, 5] }]),
  'ecdf, many values': () =>
    chart.ecdf([{ configuration: 'a', values: many(5000, (i) => i * 1.5) }]),
  'reliability, one row': () => chart.reliability([{ configuration: 'a', k: 1, estimate: 1 }]),
  'noise, one row': () => chart.noise([{ label: 'A/A', difference: 0, low: 0, high: 0 }]),
  'latency, one row': () => chart.latency([{ server: 'a', values: [5] }]),
  'latency, nothing answered': () =>
    chart.latency([{ server: 'a', values: [], outcomes: { timeout: 3 } }]),
  'strip, hostile': () =>
    chart.strip([{ configuration: HOSTILE, estimate: 0.5, low: 0.4, high: 0.6, runs: runs(0.5) }], {
      metric: HOSTILE,
    }),
  'heat, hostile': () =>
    chart.heat([{ case: HOSTILE, configuration: HOSTILE, kind: HOSTILE, passes: 1, trials: 2 }], {
      metric: HOSTILE,
    }),
  'slope, hostile': () =>
    chart.slope([{ case: HOSTILE, a: 0, b: 1 }], { a: HOSTILE, b: HOSTILE, metric: HOSTILE }),
  'forest, hostile': () =>
    chart.forest([{ case: HOSTILE, difference: null, reason: HOSTILE }], {
      a: HOSTILE,
      metric: HOSTILE,
    }),
  'levels, hostile': () =>
    chart.levels([{ configuration: HOSTILE, level: 'asserted', count: 1 }], { noun: HOSTILE }),
  'ecdf, hostile': () =>
    chart.ecdf([{ configuration: HOSTILE, values: [1] }], { quantity: HOSTILE, unit: HOSTILE }),
  'reliability, hostile': () =>
    chart.reliability([{ configuration: HOSTILE, k: 1, estimate: null, reason: HOSTILE }]),
  'noise, hostile': () =>
    chart.noise([{ label: HOSTILE, difference: 0.1 }], { metric: HOSTILE, target: HOSTILE }),
  'latency, hostile': () =>
    chart.latency([{ server: HOSTILE, values: [1], outcomes: { [HOSTILE]: 1 } }]),
  'strip, long names': () =>
    chart.strip(
      many(3, (i) => ({
        configuration: `${'very-'.repeat(30)}long-${i}`,
        estimate: 0.5,
        low: 0.4,
        high: 0.6,
        runs: runs(0.5),
      })),
    ),
}

/** Four at a time; one configuration waits and slows down; the night lies between two sessions. */
function attempts(): chart.ActivityRow[] {
  const begin = Date.UTC(2026, 10, 30, 21)
  const rows = ['naive', 'careful'].flatMap((configuration, c) =>
    many(4, (lane) => {
      let at = begin + lane * 300
      return many(14, (i): chart.ActivityRow => {
        if (i === 8) at = Math.max(at, begin + 13 * 3_600_000)
        const took = (c === 0 ? 8000 : 7000 + 900 * i) + ((i * 7 + lane * 3) % 10) * 250
        const waited = c === 1 && i > 3 && i < 7 ? 4000 : 0
        const began = at
        at += took + waited + 50
        return {
          configuration,
          began,
          ended: began + took + waited,
          ...(c === 1 && { waits: waited ? [[began + 100, began + 100 + waited]] : [] }),
          error: (i * 5 + lane) % 13 === 0,
        }
      })
    }).flat(),
  )
  return [...rows, { configuration: 'naive', began: begin, ended: null }]
}

function runs(...values: number[]): { value: number; n: number }[] {
  return values.map((value) => ({ value, n: 24 }))
}
