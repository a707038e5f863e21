/** Runs of `disturbed-run.ts` in a shell, and in one with a mount namespace of its own. */
import { spawn, spawnSync } from 'node:child_process'
import { resolve } from 'node:path'
import type { Ended } from './disturbed-run.ts'

const root = resolve(import.meta.dirname, '../..')
const WORDS = [process.execPath, 'test/servers/disturbed-run.ts']

/** Why there is no mount namespace here; null when there is one. */
export function withoutMounts(): string | null {
  if (process.platform !== 'linux') return 'needs Linux'
  const tried = spawnSync('unshare', ['-m', 'mount', '-t', 'tmpfs', 'none', '/mnt'])
  return tried.status === 0 ? null : 'needs the right to a mount namespace'
}

export type Failed = Extract<Ended, { error: unknown }>
export const isFailed = (ended: Ended): ended is Failed => 'error' in ended

/** What came of runs in a shell, one line of JSON each. `eval "$RUN" DIR "$TRIALS" [HOOK...]` is such a run. */
export function inShell(script: string, trials: number, words: string[] = ['sh']): Ended[] {
  const [command = '', ...args] = [...words, '-ec', script]
  const run = WORDS.map((word) => `'${word}'`).join(' ')
  const env = { ...process.env, RUN: run, TRIALS: `${trials}` }
  const { stdout, stderr, status } = spawnSync(command, args, { cwd: root, encoding: 'utf8', env })
  if (status !== 0) throw new Error(`the shell ended with ${status}: ${stderr}`)
  const lines = stdout.trim().split('\n')
  return lines.map((line) => JSON.parse(line) as Ended)
}

/** The same in a mount namespace, where /mnt is free. */
export const mounted = (script: string, trials: number): Ended[] =>
  inShell(script, trials, ['unshare', '-m', 'sh'])

/** So many runs at once on one folder. */
export function atOnce(dir: string, trials: number, writers: number): Promise<Ended[]> {
  const one = () =>
    new Promise<Ended>((found) => {
      const [command = '', ...args] = [...WORDS, dir, `${trials}`]
      const child = spawn(command, args, { cwd: root, stdio: ['ignore', 'pipe', 'inherit'] })
      let out = ''
      child.stdout.on('data', (part) => {
        out += part
      })
      child.once('close', () => found(JSON.parse(out)))
    })
  return Promise.all(Array.from({ length: writers }, one))
}
