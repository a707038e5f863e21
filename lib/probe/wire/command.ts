/** A command under test: what it is given, and its end. */
import type { ChildProcess, ChildProcessWithoutNullStreams } from 'node:child_process'
import { endChild, startChild } from '../../process/child.ts'

/**
 * What to run. `env` is added to a small environment: `HOME`, `PATH` and the like, and nothing else
 * of this process.
 */
export type Command = {
  command: string
  args?: readonly string[]
  env?: Record<string, string>
  cwd?: string
}

/**
 * What a child gets of this process's environment unless told more; no secret has one of these
 * names.
 */
const PASSED_ON =
  process.platform === 'win32'
    ? [
        'APPDATA',
        'HOMEDRIVE',
        'HOMEPATH',
        'LOCALAPPDATA',
        'PATH',
        'PATHEXT',
        'PROCESSOR_ARCHITECTURE',
        'SYSTEMDRIVE',
        'SYSTEMROOT',
        'TEMP',
        'USERNAME',
        'USERPROFILE',
      ]
    : ['HOME', 'LANG', 'LC_ALL', 'LOGNAME', 'PATH', 'SHELL', 'TERM', 'TMPDIR', 'TZ', 'USER']

/** The environment that a command is given. */
export function environmentOf(named: Record<string, string> = {}): Record<string, string> {
  const passed = PASSED_ON.flatMap((name) => {
    const value = process.env[name]
    return value === undefined ? [] : [[name, value] as const]
  })
  return { ...Object.fromEntries(passed), ...named }
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
