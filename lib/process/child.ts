/** Child processes that end with everything that they started, also when this process is killed. */
import { type ChildProcess, execFile, type SpawnOptions, spawn } from 'node:child_process'
import { TouchstoneError } from '../errors.ts'
import { MARK, ownMark, processes, type Sought, soughtIn } from './descendants.ts'
import { forget, watch } from './supervisor.ts'

/** Longest word or variable of a program on Linux, in bytes: MAX_ARG_STRLEN less its NUL. */
const MOST_BYTES = 131_071

const marks = new WeakMap<ChildProcess, string>()
const leaders = new Set<number>()
let children = 0

export type ChildOptions = SpawnOptions & {
  env: NodeJS.ProcessEnv
  /** What the words and variables belong to, for an error. */
  where: string
  /** What it starts may outlive it, such as a database that it starts anew. Default: it may not. */
  lasting?: boolean
}

/**
 * Start a program as the leader of a group of its own. `endChild` has to follow, also where the
 * program ends by itself.
 *
 * @throws TouchstoneError `argument_invalid` for a word or a variable that no program can be handed
 */
export function startChild(
  command: string,
  args: readonly string[],
  { env, where, lasting = false, ...options }: ChildOptions,
): ChildProcess {
  requireHanded([command, ...args], env, String(options.cwd ?? ''), where)
  const mark = `${ownMark()}${++children}`
  const outer = process.env[MARK]
  const all = [...(outer === undefined ? [] : [outer]), ...(lasting ? [] : [mark])].join(',')
  try {
    const child = spawn(command, [...args], {
      ...options,
      env: { ...env, ...(all && { [MARK]: all }) },
      detached: process.platform !== 'win32',
      windowsHide: true,
    })
    if (!lasting) marks.set(child, mark)
    if (child.pid !== undefined) remember(child.pid)
    return child
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== 'E2BIG') throw cause
    const bytes = sizeOf([command, ...args, ...Object.entries(env).flat()])
    throw notHanded(`${bytes} bytes in all`, where)
  }
}

/**
 * Why a text cannot be a word or a variable of a program: a NUL character would end it, and the
 * system takes no longer one. Null where it can.
 */
export function notHandedFor(text: string): string | null {
  if (text.includes('\0')) return 'a NUL character in it'
  const bytes = Buffer.byteLength(text)
  return process.platform === 'linux' && bytes > MOST_BYTES ? `one of ${bytes} bytes` : null
}

function requireHanded(
  words: string[],
  env: NodeJS.ProcessEnv,
  folder: string,
  where: string,
): void {
  const named = [
    ['a folder', folder] as const,
    ...words.map((word, i) => [i === 0 ? 'a program' : `argument ${i}`, word] as const),
    ...Object.entries(env).map(
      ([name, value]) => [`variable ${name.slice(0, 80)}`, `${name}=${value ?? ''}`] as const,
    ),
  ]
  for (const [what, text] of named) {
    const reason = notHandedFor(text)
    if (reason !== null) throw notHanded(`${what}: ${reason}`, where)
  }
}

function sizeOf(texts: (string | undefined)[]): number {
  return texts.reduce((sum, text) => sum + Buffer.byteLength(text ?? ''), 0)
}

function notHanded(got: string, where: string): TouchstoneError {
  return new TouchstoneError(
    'argument_invalid',
    `expected words and variables that a program can be handed, got ${got}`,
    { where },
  )
}

/**
 * End a child, and everything that it started, as far as it is found (see `descendants.ts`). Its
 * input is closed first where it `waits` for that; then comes SIGTERM, then SIGKILL.
 *
 * @param graceMs how long each of these may take
 */
export async function endChild(
  child: ChildProcess,
  { graceMs, waits = false }: { graceMs: number; waits?: boolean },
): Promise<void> {
  const { pid } = child
  if (pid === undefined) return
  const mark = marks.get(child)
  const sought = {
    leaders: new Set([pid]),
    marked: (text: string) => mark !== undefined && text.split(',').includes(mark),
  }
  try {
    if (mark === undefined && hasEnded(child)) return
    if (waits) {
      child.stdin?.end()
      await gone(async () => hasEnded(child), graceMs)
    }
    await endAll(sought, graceMs)
    if (!hasEnded(child)) child.kill('SIGKILL')
  } finally {
    leaders.delete(pid)
    forget(pid)
  }
}

/** End the processes that are sought, and those that they start meanwhile. */
export async function endAll(sought: Sought, graceMs: number): Promise<void> {
  if (process.platform === 'win32') {
    await Promise.all([...sought.leaders].map(endTree))
    return
  }
  let before = new Set<number>()
  const left = async () => {
    const all = await processes()
    // Where nothing can be seen of other processes there are still their groups.
    if (all.length === 0) return [...sought.leaders].map((one) => -one).filter(isThere)
    const found = soughtIn(all, sought, before)
    before = new Set(found)
    return found
  }
  if (signal(await left(), 'SIGTERM') === 0) return
  if (await gone(async () => (await left()).length === 0, graceMs)) return
  // What forks faster than it is ended is given up at some time.
  await gone(async () => signal(await left(), 'SIGKILL') === 0, 5 * graceMs)
}

function isThere(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

function signal(all: number[], name: NodeJS.Signals): number {
  for (const pid of all) {
    try {
      process.kill(pid, name)
    } catch {
      // It has ended by itself, or belongs to another user.
    }
  }
  return all.length
}

/** There are no groups on Windows: `taskkill` goes from parent to child. */
function endTree(pid: number): Promise<void> {
  return new Promise((ended) => {
    execFile('taskkill', ['/pid', String(pid), '/T', '/F'], () => ended())
  })
}

async function gone(is: () => Promise<boolean>, withinMs: number): Promise<boolean> {
  const until = performance.now() + withinMs
  for (let pause = 2; !(await is()); pause = Math.min(50, 2 * pause)) {
    if (performance.now() > until) return false
    await new Promise((resolve) => setTimeout(resolve, pause))
  }
  return true
}

function hasEnded({ exitCode, signalCode }: ChildProcess): boolean {
  return exitCode !== null || signalCode !== null
}

let watching = false

/** A process that ends before its children takes them with it, at once those of their groups. */
function remember(pid: number): void {
  leaders.add(pid)
  watch(pid)
  if (watching) return
  watching = true
  process.on('exit', () => {
    for (const leader of leaders) {
      try {
        process.kill(-leader, 'SIGKILL')
      } catch {
        // Nobody is left of it.
      }
    }
  })
}
