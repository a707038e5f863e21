/** The page of a run of 10,000 trials: its size, and how long a browser takes to show it and one trial of it. */
import { appendFileSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { cases, harness } from '../../lib/index.ts'
import { openPage, withoutChromium } from '../notebook/browser.ts'
import { temporaryFolder } from '../temporary.ts'

const FILES = ['transcripts', 'decisions', 'audit']
const WANTED = 10_000

export async function bench() {
  const made = await harness
    .run(await cases.load('cases'))
    .config('naive', { model: 'sim/naive' })
    .config('careful', { model: 'sim/careful' })
    .repeat(5)
    .out(null)
    .quiet()
  const run = grown(made, Math.ceil(WANTED / made.trials.length))
  const file = join(temporaryFolder('bench'), 'report.html')
  const began = process.cpuUsage()
  await (await run.page()).save(file)
  const cpu = process.cpuUsage(began)
  const rows = [
    {
      label: `page of ${run.trials.length} trials`,
      value: statSync(file).size / 1e6,
      unit: 'MB',
      budget: 5,
    },
    { label: 'making it', value: (cpu.user + cpu.system) / 1e6, unit: 'CPU s' },
    ...(withoutChromium ? [] : await opening(file, run)),
  ]
  return {
    name: 'Page of a run',
    rows: rows.map((row) =>
      'budget' in row ? { ...row, ok: row.value <= (row.budget ?? 0) } : row,
    ),
  }
}

/** The fastest of three: what the page takes, not what else the machine does. */
async function opening(file: string, run: harness.Run) {
  const { page, close } = await openPage('about:blank')
  const times = { open: [] as number[], trial: [] as number[] }
  for (let i = 0; i < 3; i++) {
    await page.goto('about:blank')
    const start = performance.now()
    await page.goto(`${pathToFileURL(file)}`)
    await page.waitForSelector('main[data-shown]')
    const shown = performance.now()
    const key = run.trials[(i * 997) % run.trials.length]?.key ?? ''
    await page.evaluate(
      (hash) => {
        location.hash = hash
      },
      `#/trial/${key.split('/').map(encodeURIComponent).join('/')}`,
    )
    await page.waitForSelector('.entry')
    times.open.push(shown - start)
    times.trial.push(performance.now() - shown)
  }
  await close()
  return [
    { label: 'opening it', value: Math.min(...times.open), unit: 'ms', budget: 1000 },
    { label: 'opening one trial', value: Math.min(...times.trial), unit: 'ms', budget: 500 },
  ]
}

/** A run with each trial so many times over, under keys of its own. Its digests are not made anew. */
function grown(run: harness.Run, times: number): harness.Run {
  const dir = temporaryFolder('bench')
  const { repeats, planned } = run.manifest
  const moved = (key: string, time: number) => {
    const [id, configuration, trial] = key.split('|')
    return `${id}|${configuration}|${Number(trial) + repeats * time}`
  }
  const each = Array.from({ length: times }, (_, time) => time)
  for (const name of FILES) {
    const lines = readFileSync(join(run.dir, `${name}.ndjson`), 'utf8')
      .trimEnd()
      .split('\n')
    for (const time of each)
      appendFileSync(
        join(dir, `${name}.ndjson`),
        lines
          .map((line) => {
            const value = JSON.parse(line)
            return `${JSON.stringify({ ...value, key: moved(value.key, time) })}\n`
          })
          .join(''),
      )
  }
  return new harness.Run({
    dir,
    manifest: { ...run.manifest, repeats: repeats * times, planned: planned * times },
    trials: each.flatMap((time) =>
      run.trials.map((row) => ({
        ...row,
        trial: row.trial + repeats * time,
        key: moved(row.key, time),
      })),
    ),
  })
}
