/**
 * `npm run bench [-- NAME...] [-- --soak] [-- full]`: every measurement against its budget, ratios taken within one run. `full`
 * simulates the tables of README.md instead, which takes half an hour. `model`, a real small model, runs only when it is named.
 */
import { globSync } from 'node:fs'
import { basename, join } from 'node:path'
import { table } from '../../lib/display.ts'

type Measured = {
  name: string
  rows: { label: string; value: number; unit: string; budget?: string | number; ok?: boolean }[]
}

const words = process.argv.slice(2)
const [soak, full] = [words.includes('--soak'), words.includes('full')]
const wanted = words.filter((word) => !word.startsWith('-') && word !== 'full')
const here = import.meta.dirname
const modules = soak
  ? ['soak.ts']
  : globSync('*.ts', { cwd: here })
      .filter((file) => !['index.ts', 'soak.ts'].includes(file))
      .filter((file) => file !== 'model.ts' || wanted.includes('model'))
      .sort()

let missed = 0
for (const file of modules) {
  if (wanted.length && !wanted.includes(basename(file, '.ts'))) continue
  const {
    bench,
    soak: long,
    full: tables,
  } = (await import(join(here, file))) as {
    bench?: () => Promise<Measured>
    soak?: () => Promise<Measured>
    full?: () => void
  }
  if (full) {
    tables?.()
    continue
  }
  const measure = soak ? long : bench
  if (!measure) continue
  const { name, rows } = await measure()
  missed += rows.filter(({ ok }) => ok === false).length
  const cells = rows.map(({ label, value, unit, budget, ok }) => [
    label,
    number(value),
    unit,
    budget === undefined ? '' : typeof budget === 'number' ? `<= ${budget}` : budget,
    ok === undefined ? '' : ok ? 'ok' : 'MISSED',
  ])
  const columns = [
    { head: 'what' },
    { head: 'value', align: 'right' as const },
    { head: 'unit' },
    { head: 'budget' },
    { head: '' },
  ]
  process.stdout.write(`\n${name}\n${table(columns, cells, { width: 160 })}\n`)
}
if (!full)
  process.stdout.write(missed ? `\n${missed} budgets missed on this machine at this load.\n` : '\n')

function number(value: number): string {
  if (!Number.isFinite(value)) return '-'
  const size = Math.abs(value)
  return size >= 1000
    ? Math.round(value).toLocaleString('en-US')
    : size >= 10
      ? value.toFixed(1)
      : value.toPrecision(3)
}
