/** How long charts take: the first one in a fresh process, which loads vega, and those after it. */
import { execFile } from 'node:child_process'
import { performance } from 'node:perf_hooks'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { samples } from '../chart/samples.ts'

type Row = { label: string; value: number; unit: string; budget?: number; ok?: boolean }

/** Best of several, since other work on the machine can only make it slower. */
const ROUNDS = 5

/** Run as a program, this file draws one chart and prints the milliseconds from before the import of the charts on. */
async function first(): Promise<number> {
  const child = `
    const start = performance.now()
    const { strip } = await import(${JSON.stringify(new URL('../../lib/chart/index.ts', import.meta.url).href)})
    const chart = strip([{ configuration: 'a', estimate: 0.5, low: 0.4, high: 0.6, runs: [{ value: 0.5 }] }])
    await chart.svg()
    console.log(performance.now() - start)
  `
  const tsx = fileURLToPath(import.meta.resolve('tsx'))
  const { stdout } = await promisify(execFile)(process.execPath, [
    '--import',
    tsx,
    '--input-type=module',
    '-e',
    child,
  ])
  return Number(stdout)
}

async function best(rounds: number, work: () => Promise<unknown>): Promise<number> {
  let least = Number.POSITIVE_INFINITY
  for (let round = 0; round < rounds; round++) {
    const start = performance.now()
    await work()
    least = Math.min(least, performance.now() - start)
  }
  return least
}

/** Measure charts. Budgets: the first within 1 s, each later one within 100 ms. */
export async function bench(): Promise<{ name: string; rows: Row[] }> {
  let firstMs = Number.POSITIVE_INFINITY
  for (let round = 0; round < ROUNDS; round++) firstMs = Math.min(firstMs, await first())
  const rows: Row[] = [within('first chart in a process, svg', firstMs, 1000)]
  await samples['strip']!().png()
  let slowest = { name: '', ms: 0 }
  for (const [name, make] of Object.entries(samples)) {
    const ms = await best(ROUNDS, () => make().svg())
    if (ms > slowest.ms) slowest = { name, ms }
  }
  rows.push(within(`later chart, svg, slowest kind (${slowest.name})`, slowest.ms, 100))
  rows.push(
    within('later chart, svg, strip', await best(ROUNDS, () => samples['strip']!().svg()), 100),
  )
  rows.push({
    label: 'later chart, png at 2x, strip',
    value: await best(ROUNDS, () => samples['strip']!().png()),
    unit: 'ms',
  })
  rows.push({
    label: 'text, strip',
    value: await best(ROUNDS, async () => samples['strip']!().text()),
    unit: 'ms',
  })
  return { name: 'charts', rows }
}

function within(label: string, value: number, budget: number): Row {
  return { label, value, unit: 'ms', budget, ok: value <= budget }
}
