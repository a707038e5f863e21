/**
 * What a child process started, found although it left the child's process group.
 *
 * - Linux: the group, the session (jobs of a shell), and what left both (`setsid`), also behind a
 *   double fork: by a mark in its environment, or by a parent that is found.
 * - macOS: the same by `ps`, which shows no environment of programs that the system protects. The
 *   session is not looked at.
 * - Windows: the tree of the child's children, by `taskkill`.
 *
 * - Elsewhere, and where there is no /proc: the group.
 *
 * Not found is a process that left group and session, whose parent is gone, and that cleared or
 * overwrote its environment; nor is one of another user.
 */
import { execFile } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { setImmediate as turn } from 'node:timers/promises'
import { isGone, LOADED, OWNER, ownToken } from './owner.ts'

/** The variable that holds the marks of everybody who started a process, outermost first. */
export const MARK = 'TOUCHSTONE_STARTED_BY'

export type Process = {
  pid: number
  parent: number
  group: number
  /** 0 where it is not known. */
  session: number
  /** What `MARK` says in its environment. */
  marks: string
}

/** What begins the mark of each child of this load of the package. */
export function ownMark(): string {
  return `${ownToken()}.${LOADED}.`
}

/** Processes that are to end: by the leaders of their groups, and by a text in their marks. */
export type Sought = { leaders: ReadonlySet<number>; marked(marks: string): boolean }

/**
 * Those of all processes that are sought, and what they started.
 *
 * @param before found at the look before: still sought, also where its parent has ended since
 */
export function soughtIn(
  all: readonly Process[],
  { leaders, marked }: Sought,
  before: ReadonlySet<number> = new Set(),
): number[] {
  const found = new Set<number>()
  for (const { pid, group, session, marks } of all)
    if (leaders.has(group) || leaders.has(session) || marked(marks) || before.has(pid))
      found.add(pid)
  for (let size = -1; size !== found.size; ) {
    size = found.size
    for (const { pid, parent } of all) if (found.has(parent)) found.add(pid)
  }
  found.delete(process.pid)
  return [...found]
}

/** Whether the marks of a process name an owner that is gone. */
export function isLeftOver(marks: string): boolean {
  return marks.split(',').some((mark) => {
    const [owner] = OWNER.exec(mark) ?? []
    return owner !== undefined && mark.startsWith(owner) && isGone(owner)
  })
}

/** All processes of this machine that can be seen, zombies apart; none where nothing can. */
export async function processes(): Promise<Process[]> {
  if (process.platform === 'linux') return fromProc()
  if (process.platform === 'win32') return []
  // With a process of these in front of it a line says its environment behind its words.
  const words = ['-axEww', '-o', 'pid=,ppid=,pgid=,stat=,command=']
  return new Promise((found) => {
    execFile('ps', words, { maxBuffer: 1 << 28 }, (_, stdout) => found(fromPs(stdout)))
  })
}

/** The processes of a text of `ps -axEww -o pid=,ppid=,pgid=,stat=,command=`. */
export function fromPs(text: string): Process[] {
  return text.split('\n').flatMap((line) => {
    const fields = /^\s*(\d+)\s+(\d+)\s+(\d+)\s+(\S+)/.exec(line)
    if (!fields || fields[4]?.startsWith('Z')) return []
    const at = line.lastIndexOf(` ${MARK}=`)
    const marks = at < 0 ? '' : (line.slice(at + MARK.length + 2).split(' ', 1)[0] ?? '')
    const [pid, parent, group] = fields.slice(1, 4).map(Number) as [number, number, number]
    return [{ pid, parent, group, session: 0, marks }]
  })
}

/** Processes that are looked at before the event loop has its turn. */
const AT_ONCE = 100

async function fromProc(): Promise<Process[]> {
  const found: Process[] = []
  let names: string[]
  try {
    names = readdirSync('/proc').filter((name) => /^[0-9]/.test(name))
  } catch {
    return []
  }
  for (const [i, name] of names.entries()) {
    if (i % AT_ONCE === AT_ONCE - 1) await turn()
    const fields = fieldsOf(name)
    if (fields === null || fields[0] === 'Z' || fields[0] === 'X') continue
    const [parent, group, session] = fields.slice(1, 4).map(Number) as [number, number, number]
    found.push({ pid: Number(name), parent, group, session, marks: marksOf(name) })
  }
  return found
}

/** The fields of a process behind its name, which may hold spaces: state, parent, group, ... */
function fieldsOf(pid: string): string[] | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  } catch {
    return null
  }
}

function marksOf(pid: string): string {
  try {
    const text = `\0${readFileSync(`/proc/${pid}/environ`, 'latin1')}`
    const at = text.indexOf(`\0${MARK}=`)
    return at < 0 ? '' : (text.slice(at + MARK.length + 2).split('\0', 1)[0] as string)
  } catch {
    // Of another user, or gone.
    return ''
  }
}
