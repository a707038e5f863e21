/**
 * What a child process told beside its answers: how it ended, its error output, and lines that were
 * no messages.
 */
import type { ChildProcess } from 'node:child_process'
import { accessSync, constants } from 'node:fs'
import { delimiter, isAbsolute, join, resolve } from 'node:path'
import { environmentOf } from '../../process/environment.ts'
import type { Command } from './command.ts'

export type ProcessTold = {
  /** Why it could not be started, with what was looked for and where; null when it started. */
  notStarted: string | null
  /** Null while it ran: it was ended by the test then. */
  exitCode: number | null
  signal: string | null
  /** The last lines of its error output, at most 20 of at most 500 characters. */
  stderr: string[]
  stderrBytes: number
  /** Lines of its standard output that were no JSON-RPC messages: how many, and the first five. */
  strayLines: number
  stray: string[]
  /** A way of writing messages that is not the protocol's, as far as the stray lines show one. */
  framing: 'content_length' | 'pretty_printed' | 'text_before_message' | null
}

const MAX_LINES = 20
const MAX_LINE = 500
const MAX_STRAY = 5

/** Listens to a child from its start. */
export class ProcessWatch {
  private notStarted: string | null = null
  private exitCode: number | null = null
  private signal: string | null = null
  private tail = ''
  private stderrBytes = 0
  private strayLines = 0
  private readonly strays: string[] = []
  private framing: ProcessTold['framing'] = null

  constructor(command: Command, child: ChildProcess) {
    child.once('error', (error) => {
      this.notStarted = whyNot(command, error as NodeJS.ErrnoException)
    })
    // Once its input was closed, the test ends it: that exit says nothing of the server.
    child.once('exit', (code, signal) => {
      if (child.stdin?.writableEnded) return
      this.exitCode = code
      this.signal = signal
    })
    child.stderr?.on('data', (chunk: Buffer) => {
      this.stderrBytes += chunk.length
      this.tail = (this.tail + chunk.toString('utf8')).slice(-MAX_LINES * MAX_LINE)
    })
    child.stderr?.on('error', () => {})
  }

  /** Note a line that is no message. */
  stray(bytes: Buffer): void {
    const text = bytes.subarray(0, MAX_LINE).toString('utf8').replace(/\r$/, '')
    if (text.trim() === '') return
    this.strayLines++
    if (this.strays.length < MAX_STRAY) this.strays.push(text)
    this.framing ??= framingOf(text)
  }

  told(): ProcessTold {
    const lines = this.tail.split('\n').map((line) => line.replace(/\r$/, '').slice(0, MAX_LINE))
    return {
      notStarted: this.notStarted,
      exitCode: this.exitCode,
      signal: this.signal,
      stderr: lines.filter((line) => line.trim() !== '').slice(-MAX_LINES),
      stderrBytes: this.stderrBytes,
      strayLines: this.strayLines,
      stray: [...this.strays],
      framing: this.framing,
    }
  }
}

function framingOf(text: string): ProcessTold['framing'] {
  if (/^content-length:/i.test(text)) return 'content_length'
  if (/^\s*\{\s*$/.test(text)) return 'pretty_printed'
  return /^[^{]+\{\s*"jsonrpc"/.test(text) ? 'text_before_message' : null
}

/**
 * `spawn` says ENOENT for a missing command and for a missing folder alike; the person is told
 * which one it was.
 */
function whyNot({ command, env, cwd }: Command, error: NodeJS.ErrnoException): string {
  if (cwd !== undefined && !reachable(cwd)) return `the folder ${cwd} is not there`
  if (error.code === 'EACCES') return `${command} may not be run (EACCES)`
  if (error.code !== 'ENOENT') return `${command}: ${error.code ?? error.message}`
  if (command.includes('/') || isAbsolute(command)) {
    return `${resolve(cwd ?? '.', command)} is not there (ENOENT)`
  }
  const path = environmentOf(env)['PATH'] ?? ''
  const tried = path.split(delimiter).filter((folder) => folder !== '')
  const found = tried.find((folder) => reachable(join(folder, command)))
  return found
    ? `${join(found, command)} is there, but the interpreter in its first line is not (ENOENT)`
    : `${command} is in none of the folders of PATH (ENOENT): ${tried.join(delimiter)}`
}

function reachable(path: string): boolean {
  try {
    accessSync(path, constants.F_OK)
    return true
  } catch {
    return false
  }
}
