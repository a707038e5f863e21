/** Workers of a queue for tests: processes of their own, as `touchstone worker` starts them. */
import { type ChildProcess, spawn } from 'node:child_process'
import { join, resolve } from 'node:path'

const program = join(resolve(import.meta.dirname, '../..'), 'repl.ts')

export type StartedWorker = {
  process: ChildProcess
  /** What it said so far. */
  said(): string
  /** Resolves once it has said something that matches. */
  says(pattern: RegExp): Promise<void>
  /** How it ended: its exit code, or null when it was killed. */
  ended: Promise<number | null>
  kill(signal?: NodeJS.Signals): void
}

export function startWorker(
  url: string,
  options: {
    concurrency?: number
    args?: string[]
    env?: { [name: string]: string }
    cwd?: string
    program?: string
  } = {},
): StartedWorker {
  const args = ['worker', '--queue', url, '--concurrency', `${options.concurrency ?? 4}`]
  const child = spawn(
    process.execPath,
    [options.program ?? program, ...args, ...(options.args ?? [])],
    {
      stdio: ['ignore', 'ignore', 'pipe'],
      env: { ...process.env, NODE_TEST_CONTEXT: undefined, ...options.env } as NodeJS.ProcessEnv,
      ...(options.cwd !== undefined && { cwd: options.cwd }),
    },
  )
  let text = ''
  const waiting = new Set<() => void>()
  const tell = () => {
    for (const one of waiting) one()
  }
  child.stderr?.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk
    tell()
  })
  const ended = new Promise<number | null>((done) => child.once('exit', (code) => done(code)))
  ended.then(tell)
  return {
    process: child,
    said: () => text,
    says: (pattern) =>
      new Promise((done, failed) => {
        const look = () => {
          if (pattern.test(text)) done()
          else if (child.exitCode !== null || child.signalCode !== null)
            failed(new Error(`the worker ended without saying ${pattern}: ${text}`))
          else return
          waiting.delete(look)
        }
        waiting.add(look)
        look()
      }),
    ended,
    kill: (signal = 'SIGKILL') => void child.kill(signal),
  }
}
