/** A command under test: what it is given, and its end. */
import type { ChildProcess, ChildProcessWithoutNullStreams } from 'node:child_process'
import { endChild, startChild } from '../../process/child.ts'
import { environmentOf } from '../../process/environment.ts'

/**
 * What to run. `env` is added to a small environment: `HOME`, `PATH` and the like, certificates
 * that are trusted, the proxy, and nothing else of this process.
 */
export type Command = {
  command: string
  args?: readonly string[]
  env?: Record<string, string>
  cwd?: string
}

/** Start a command with pipes for its input, output and error output. */
export function startCommand({ command, args = [], env, cwd }: Command) {
  return startChild(command, args, {
    stdio: ['pipe', 'pipe', 'pipe'],
    cwd,
    env: environmentOf(env),
    where: 'command',
  }) as ChildProcessWithoutNullStreams
}

/**
 * End it with everything that it started, as the protocol says: its input is closed, then SIGTERM,
 * then SIGKILL, each after `waitMs`.
 */
export async function endCommand(child: ChildProcess, waitMs: number): Promise<void> {
  await endChild(child, { graceMs: waitMs, waits: true })
  child.stdout?.destroy()
  child.stderr?.destroy()
}
