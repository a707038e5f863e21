/** A child process with everything it starts: begun as a group of its own, and ended as one. */
import { type ChildProcess, spawn } from 'node:child_process'
import { setTimeout as pause } from 'node:timers/promises'

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
export function startGroup({ command, args = [], env, cwd }: Command) {
  return spawn(command, [...args], {
    stdio: ['pipe', 'pipe', 'pipe'],
    cwd,
    env: environmentOf(env),
    detached: process.platform !== 'win32',
    windowsHide: true,
  })
}

/**
 * End a child as the protocol says: its input is closed, then SIGTERM, then SIGKILL, each after
 * `waitMs`. The signals go to the whole group, since a server behind a shell or `npx` would live on
 * otherwise.
 */
export async function endGroup(child: ChildProcess, waitMs: number): Promise<void> {
  if (child.pid === undefined) return
  child.stdin?.end()
  const gone = () => (child.exitCode ?? child.signalCode) !== null && !signalGroup(child, 0)
  for (const signal of [null, 'SIGTERM', 'SIGKILL'] as const) {
    if (signal !== null) signalGroup(child, signal)
    const until = performance.now() + waitMs
    while (!gone() && performance.now() < until) await pause(5)
    if (gone()) break
  }
  child.stdout?.destroy()
  child.stderr?.destroy()
}

/** Send a signal to the group; 0 only asks. @returns whether there is anybody left */
function signalGroup(child: ChildProcess, signal: NodeJS.Signals | 0): boolean {
  try {
    if (process.platform === 'win32') return child.kill(signal || undefined)
    return process.kill(-(child.pid as number), signal)
  } catch {
    return false
  }
}
