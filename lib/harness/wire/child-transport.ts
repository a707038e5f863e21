/**
 * MCP's stdio framing over a child process that is ours to watch: what it writes to its standard
 * error, and how it ends, which the SDK's transport does not tell.
 */
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { ReadBuffer, serializeMessage } from '@modelcontextprotocol/sdk/shared/stdio.js'
import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js'
import { endChild } from '../../process/child.ts'

/** Standard error that is kept of a child, in characters: the last of it. */
const MAX_STDERR = 64_000

/** How long a child may take to end by itself, and then to end on a signal. */
const LEAVE_MS = 2000

export class ChildTransport {
  onclose?: () => void
  onerror?: (error: Error) => void
  onmessage?: (message: JSONRPCMessage) => void
  /** What the child wrote to its standard error, or the last of it. */
  stderr = ''
  private untold = ''
  private readonly child: ChildProcess
  private readonly buffer = new ReadBuffer()
  private failure: Error | null = null
  private ended = false

  constructor(child: ChildProcess) {
    this.child = child
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      this.stderr = (this.stderr + text).slice(-MAX_STDERR)
      this.untold = (this.untold + text).slice(-MAX_STDERR)
    })
    child.on('error', (error) => this.fail(error))
    child.stdin?.on('error', (error) => this.onerror?.(error))
    // `close` comes after the last of its output, so the reason of its end is known with its end.
    child.on('close', () => this.end())
    // What it started and left holds its pipes open.
    child.once('exit', () => void endChild(child, { graceMs: LEAVE_MS }))
  }

  /** How the child ended, such as `exit code 3`; null while it runs. */
  get ending(): string | null {
    if (this.failure) return this.failure.message
    if (this.child.signalCode !== null) return `ended by ${this.child.signalCode}`
    return this.child.exitCode === null ? null : `exit code ${this.child.exitCode}`
  }

  /** What it wrote to its standard error since this was asked last. */
  takeStderr(): string {
    const text = this.untold
    this.untold = ''
    return text
  }

  async start(): Promise<void> {
    this.child.stdout?.on('data', (chunk: Buffer) => {
      try {
        this.buffer.append(chunk)
      } catch (cause) {
        // The rest of the message cannot be told from the next one: this server is done.
        this.fail(new Error('expected messages of at most 10 MiB, got a longer one', { cause }))
        this.child.kill('SIGKILL')
        return
      }
      for (;;) {
        try {
          const message = this.buffer.readMessage()
          if (message === null) return
          this.onmessage?.(message)
        } catch (error) {
          this.onerror?.(error as Error)
        }
      }
    })
    if (this.ended) throw this.failure ?? new Error('the program has ended')
  }

  async send(message: JSONRPCMessage): Promise<void> {
    this.child.stdin?.write(serializeMessage(message))
  }

  /** End the child: close its input, and where that is not enough, end it by signals. */
  async close(): Promise<void> {
    if (this.ended) return
    const gone = once(this.child, 'close')
    await endChild(this.child, { graceMs: LEAVE_MS, waits: true })
    this.child.stdout?.destroy()
    this.child.stderr?.destroy()
    await gone
  }

  private fail(error: Error): void {
    this.failure ??= error
    this.onerror?.(error)
    // A program that could not be started has no end of its own.
    if (this.child.pid === undefined) this.end()
  }

  private end(): void {
    if (this.ended) return
    this.ended = true
    this.onclose?.()
  }
}
