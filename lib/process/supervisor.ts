/**
 * The supervisor of this process's children: a process of its own that ends them when this process
 * is gone, however it went. It is started with the first child, told of each, and leaves by itself.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { extname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { ownMark } from './descendants.ts'

const watched = new Set<number>()
let supervisor: ChildProcess | null = null

/** Have a process group ended when this process is gone. */
export function watch(leader: number): void {
  watched.add(leader)
  if (supervisor) tell(`+${leader}`)
  else start()
}

/** The group has ended. */
export function forget(leader: number): void {
  watched.delete(leader)
  tell(`-${leader}`)
}

function tell(line: string): void {
  supervisor?.stdin?.write(`${line}\n`)
}

function start(): void {
  const entry = fileURLToPath(
    new URL(`./supervisor-main${extname(import.meta.url)}`, import.meta.url),
  )
  // It outlives what ends this process's group, and takes part in nothing else of it.
  const { PATH, TMPDIR, TEMP, TMP, SystemRoot } = process.env
  let child: ChildProcess
  try {
    child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', entry, ownMark()], {
      cwd: '/',
      env: JSON.parse(JSON.stringify({ PATH, TMPDIR, TEMP, TMP, SystemRoot })),
      stdio: ['pipe', 'ignore', 'ignore'],
      detached: true,
      windowsHide: true,
    })
  } catch {
    // Too little of the machine is left for it. The next child is another occasion.
    return
  }
  supervisor = child
  const leave = () => {
    if (supervisor === child) supervisor = null
  }
  child.once('error', leave)
  child.once('exit', leave)
  child.stdin?.on('error', leave)
  child.unref()
  const pipe = child.stdin as unknown as { unref?(): void } | null
  pipe?.unref?.()
  for (const leader of watched) tell(`+${leader}`)
}
