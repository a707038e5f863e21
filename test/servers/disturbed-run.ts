/**
 * A run in a process of its own, or what goes on with it: `disturbed-run.ts DIR TRIALS [HOOK...]`. It prints what came of it as
 * one line of JSON.
 *
 * A hook makes the n-th and every later call of a function of `node:fs` fail with a code, as `fdatasyncSync=EIO:3` says. It
 * stands in for what cannot be had without a device that fails; `clock=1` sets the system's clock back and forth instead.
 */
import { createHash } from 'node:crypto'
import fs, { existsSync } from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { join } from 'node:path'

export type Ended =
  | { error: { code: string; message: string } }
  /** Digests of trials apart from times, of decisions, and of the texts of exports. */
  | { end: { trials: string; decisions: string; exports: string }; problems: number }

const YEAR_MS = 365 * 24 * 3600 * 1000

/** Each call says another year, up to ten back or ahead. */
function jumpingClock(): void {
  const real = Date
  let calls = 0
  const now = () => real.now() + ((calls++ % 21) - 10) * YEAR_MS
  class Jumping extends real {
    constructor(...given: []) {
      if (given.length > 0) super(...given)
      else super(now())
    }
    static override now = now
  }
  globalThis.Date = Jumping as DateConstructor
}

function hook(word: string): void {
  const [, name = '', code = '', from = '1'] = /^(\w+)=(\w+)(?::(\d+))?$/.exec(word) ?? []
  if (name === 'clock') {
    jumpingClock()
    return
  }
  const functions = fs as unknown as { [name: string]: (...given: unknown[]) => unknown }
  const own = functions[name] as (...given: unknown[]) => unknown
  let calls = 0
  functions[name] = (...given) => {
    if (++calls < Number(from)) return own(...given)
    throw Object.assign(new Error(`${code}: hooked, ${name}`), { code, syscall: name })
  }
  syncBuiltinESMExports()
}

const sha = (value: unknown) => createHash('sha256').update(JSON.stringify(value)).digest('hex')

/** The end of a run apart from times. */
async function endOf(dir: string): Promise<Ended> {
  const { harness } = await import('../../lib/index.ts')
  const run = await harness.open(dir)
  const trials = run.trials.map(({ started_at, duration_ms, ...row }) => row)
  // Exports tell the world's own clock, so that their bytes are the same each time.
  const exports = fs.readFileSync(join(dir, 'audit.ndjson'), 'utf8').trimEnd().split('\n').sort()
  const end = { trials: sha(trials), decisions: sha(run.decisions), exports: sha(exports) }
  return { end, problems: run.problems.length }
}

async function main(dir: string, trials: number, hooks: string[]): Promise<Ended> {
  const { soakPlan } = await import('../bench/soak.ts')
  const { plan } = await soakPlan(trials)
  for (const word of hooks) hook(word)
  try {
    await (existsSync(join(dir, 'manifest.json')) ? plan.resume(dir) : plan.out(dir))
    return await endOf(dir)
  } catch (cause) {
    const { code = 'none', message } = cause as { code?: string; message: string }
    return { error: { code, message } }
  }
}

const [dir = '', trials = '0', ...hooks] = process.argv.slice(2)
process.stdout.write(`${JSON.stringify(await main(dir, Number(trials), hooks))}\n`)
