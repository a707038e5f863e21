/** How long it takes to the prompt, beside node and IPython, and how long a small notebook takes. */
import { spawn, spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { html, run } from '../../lib/notebook/index.ts'
import { temporaryFolder } from '../temporary.ts'

export type Row = { label: string; value: number; unit: string; budget?: number; ok?: boolean }

const at = (path: string) => fileURLToPath(new URL(`../../${path}`, import.meta.url))
const TIMES = 7

/** Milliseconds from the start of a program in a terminal (made by script(1)) until its output shows a text. Median of several. */
async function timeUntil(command: string, text: string): Promise<number> {
  const times: number[] = []
  for (let i = 0; i < TIMES; i++) {
    const started = performance.now()
    const child = spawn('script', ['-qec', command, '/dev/null'], {
      env: { ...process.env, TERM: 'xterm', TOUCHSTONE_HISTORY: '/dev/null' },
    })
    let seen = ''
    const { promise, resolve, reject } = Promise.withResolvers<number>()
    child.stdout.on('data', (chunk: Buffer) => {
      seen += chunk.toString()
      if (seen.includes(text)) resolve(performance.now() - started)
    })
    child.on('close', () => reject(new Error(`expected a prompt from ${command}, got:\n${seen}`)))
    times.push(await promise.finally(() => child.kill('SIGKILL')))
  }
  return times.sort((a, b) => a - b)[TIMES >> 1]!
}

export async function bench(): Promise<{ name: string; rows: Row[] }> {
  const rows: Row[] = []
  const add = (label: string, value: number, budget?: number) =>
    rows.push({
      label,
      value,
      unit: 'ms',
      ...(budget === undefined ? {} : { budget, ok: value <= budget }),
    })
  const node = process.execPath
  if (spawnSync('script', ['--version']).error === undefined && existsSync(at('repl.ts'))) {
    const cache = temporaryFolder('cache')
    // The cache is written when a process ends by itself.
    spawnSync(node, [at('repl.ts'), '-e', 'import("node:readline")'], {
      env: { ...process.env, NODE_COMPILE_CACHE: cache },
    })
    const cached = `NODE_COMPILE_CACHE=${cache} ${node} ${at('repl.ts')}`
    add('prompt, node repl.ts, compile cache filled', await timeUntil(cached, '> '), 300)
    add('prompt, node repl.ts, no cache', await timeUntil(`${node} ${at('repl.ts')}`, '> '))
    add('prompt, tsx repl.ts', await timeUntil(`${node} --import tsx ${at('repl.ts')}`, '> '))
    add("prompt, node's own", await timeUntil(node, '> '))
    if (existsSync('/usr/bin/ipython3'))
      add('prompt, IPython', await timeUntil('/usr/bin/ipython3 --no-banner', 'In ['))
  }
  const file = at('fixtures/notebook/small.ts')
  const started = performance.now()
  const result = await run(file)
  add('small notebook, first run', performance.now() - started)
  const page = performance.now()
  await html(result)
  add('its page', performance.now() - page)
  const again = performance.now()
  await run(file)
  add('small notebook, again', performance.now() - again)
  return { name: 'repl', rows }
}
