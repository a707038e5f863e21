/** Containers for tests, made of the kernel's namespaces: a process 1 of their own, a host name, and no network. */
import { type ChildProcess, spawnSync } from 'node:child_process'

const WORDS = ['-p', '-f', '-u', '--mount-proc', '--kill-child']

/** Why a test with containers cannot run here; false where it can. */
export const noContainers =
  spawnSync('unshare', [...WORDS, '-n', 'hostname', 'box']).status === 0
    ? false
    : 'this system lets us make no namespaces'

/**
 * The words that start a command as process 1 of a container with a host name.
 *
 * @param network it reaches what listens on this machine's loopback
 */
export function inContainer(
  host: string,
  command: readonly string[],
  { network = false } = {},
): string[] {
  const apart = network ? [] : ['-n']
  return [
    'unshare',
    ...WORDS,
    ...apart,
    'sh',
    '-c',
    `hostname ${host} && exec "$@"`,
    'sh',
    ...command,
  ]
}

/** Send a signal to process 1 of a container, and not to what started it. */
export function signalContainer(started: ChildProcess, signal: NodeJS.Signals): void {
  const words = ['-o', 'pid=', '--ppid', `${started.pid}`]
  process.kill(Number(spawnSync('ps', words, { encoding: 'utf8' }).stdout), signal)
}
