/**
 * A program that runs for one trial: its standard input and output, and the end of everything that
 * it started.
 */
import { once } from 'node:events'
import { endChild, startChild } from '../../../process/child.ts'

export type ProgramOptions = {
  command: string
  args: readonly string[]
  input: string | null
  env: NodeJS.ProcessEnv
  cwd: string
  /** Which part of a standard output that is too long is kept. */
  keep: 'start' | 'end'
  /** What the words are, for an error. */
  where: string
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

/** Kept of each stream, in bytes: of standard error the end. */
const MOST_BYTES = 4_000_000
const MOST_STDERR = 20_000
/** How long it may take to end when it is asked to, and its pipes to close after it. */
const GRACE_MS = 1000

/**
 * Run it to its end. Rejects with the system's error when it cannot be started.
 *
 * @throws TouchstoneError `argument_invalid` for a word that no program can be handed
 */
export async function runProgram(options: ProgramOptions): Promise<ProgramEnd> {
  const child = startChild(options.command, options.args, {
    cwd: options.cwd,
    env: options.env,
    where: options.where,
    stdio: [options.input === null ? 'ignore' : 'pipe', 'pipe', 'pipe'],
  })
  const stdout: Buffer[] = []
  let stderr = Buffer.alloc(0)
  let size = 0
  let kept = 0
  child.stdout?.on('data', (chunk: Buffer) => {
    size += chunk.length
    if (options.keep === 'start' && kept >= MOST_BYTES) return
    stdout.push(chunk)
    kept += chunk.length
    while (options.keep === 'end' && kept - (stdout[0] as Buffer).length >= MOST_BYTES)
      kept -= (stdout.shift() as Buffer).length
  })
  child.stderr?.on('data', (chunk: Buffer) => {
    stderr = Buffer.concat([stderr, chunk.subarray(-MOST_STDERR)]).subarray(-MOST_STDERR)
  })
  // A program that does not read its input is no error.
  child.stdin?.on('error', () => {})
  child.stdin?.end(options.input ?? '')
  await once(child, 'spawn')
  const closed = once(child, 'close')
  const gone = once(child, 'exit')
  const stop = () => {
    void endChild(child, { graceMs: GRACE_MS })
  }
  if (options.signal.aborted) stop()
  else options.signal.addEventListener('abort', stop, { once: true })
  const [code, signal] = (await gone) as [number | null, NodeJS.Signals | null]
  options.signal.removeEventListener('abort', stop)
  // What it left behind holds its pipes open, and is ended too.
  await endChild(child, { graceMs: GRACE_MS })
  if (!(await Promise.race([closed, elapsed(GRACE_MS)]))) {
    child.stdout?.destroy()
    child.stderr?.destroy()
  }
  const whole = Buffer.concat(stdout)
  const part = options.keep === 'end' ? whole.subarray(-MOST_BYTES) : whole.subarray(0, MOST_BYTES)
  const text = part.toString('utf8')
  return { code, signal, stdout: text, stderr: stderr.toString('utf8'), cut: size > MOST_BYTES }
}

function elapsed(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms)
  })
}
