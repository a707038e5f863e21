/**
 * A program that runs for one trial: its standard input and output, and the end of its whole
 * process group.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'

export type ProgramOptions = {
  command: string
  args: readonly string[]
  input: string | null
  env: NodeJS.ProcessEnv
  cwd: string
  /** Ends the program, and all that it started, when it aborts. */
  signal: AbortSignal
}

/** How a program ended. `code` is null where a signal ended it. */
export type ProgramEnd = {
  code: number | null
  signal: NodeJS.Signals | null
  stdout: string
  stderr: string
  /** True when it wrote more than is kept. */
  cut: boolean
}

/** Kept of each stream, in bytes: of standard output the beginning, of standard error the end. */
const MOST_BYTES = 4_000_000
/**
 * How long a process group may take to end when it is asked to, and its pipes to close after it.
 */
const GRACE_MS = 1000

const groups = new Set<number>()
let watching = false

/** Run it to its end. Rejects with the system's error when it cannot be started. */
export async function runProgram(options: ProgramOptions): Promise<ProgramEnd> {
  const child = spawn(options.command, [...options.args], {
    cwd: options.cwd,
    env: options.env,
    stdio: [options.input === null ? 'ignore' : 'pipe', 'pipe', 'pipe'],
    // A group of its own, so that what it starts ends with it.
    detached: true,
  })
  const stdout: Buffer[] = []
  let stderr = ''
  let size = 0
  child.stdout?.on('data', (chunk: Buffer) => {
    if (size < MOST_BYTES) stdout.push(chunk)
    size += chunk.length
  })
  child.stderr?.on('data', (chunk: Buffer) => {
    stderr = (stderr + chunk.toString('utf8')).slice(-20_000)
  })
  // A program that does not read its input is no error.
  child.stdin?.on('error', () => {})
  child.stdin?.end(options.input ?? '')
  await once(child, 'spawn')
  const group = child.pid as number
  remember(group)
  const closed = once(child, 'close')
  const gone = once(child, 'exit')
  const stop = () => {
    void end(group, child)
  }
  if (options.signal.aborted) stop()
  else options.signal.addEventListener('abort', stop, { once: true })
  const [code, signal] = (await gone) as [number | null, NodeJS.Signals | null]
  options.signal.removeEventListener('abort', stop)
  // What it left behind holds its pipes open, and is ended too.
  await end(group, child)
  await Promise.race([closed, elapsed(GRACE_MS)])
  groups.delete(group)
  const text = Buffer.concat(stdout).subarray(0, MOST_BYTES).toString('utf8')
  return { code, signal, stdout: text, stderr, cut: size > MOST_BYTES }
}

/** Ask a process group to end, and end it when it does not. */
async function end(group: number, child: ChildProcess): Promise<void> {
  if (!kill(group, 'SIGTERM')) return
  for (let waited = 0; waited < GRACE_MS; waited += 20) {
    await elapsed(20)
    if (!kill(group, 0)) return
  }
  kill(group, 'SIGKILL')
  if (child.exitCode === null && child.signalCode === null) child.kill('SIGKILL')
}

/** Signal a process group. False when nobody of it is left. */
function kill(group: number, signal: NodeJS.Signals | 0): boolean {
  try {
    process.kill(-group, signal)
    return true
  } catch {
    return false
  }
}

/** A process that ends before its trials do takes their programs with it. */
function remember(group: number): void {
  groups.add(group)
  if (watching) return
  watching = true
  process.on('exit', () => {
    for (const one of groups) kill(one, 'SIGKILL')
  })
}

function elapsed(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms)
  })
}
