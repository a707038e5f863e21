/**
 * A developer's own server as a child process: one JSON-RPC message per line on its standard input and output.
 *
 * Not part of the published set. Lines that are not JSON-RPC are read past (many servers log there); standard error is not read.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { untilAborted } from '../abort.ts'
import type { Deadline } from './deadline.ts'
import { answerIn, jsonOf, messageText, type RpcAnswer } from './frame.ts'
import { isAboutAuthentication, Shortfall } from './outcome.ts'
import type { Limits } from './set.ts'
import { rpcShortfall, type Wire } from './wire.ts'

/** What to run. `env` is added to the environment of this process. */
export type Command = {
  command: string
  args?: readonly string[]
  env?: Record<string, string>
  cwd?: string
}

/** Start the process. @throws Shortfall `command_failed` when it cannot be started */
export async function openStdio(target: Command, clock: Deadline, limits: Limits): Promise<Wire> {
  const child = spawn(target.command, [...(target.args ?? [])], {
    stdio: ['pipe', 'pipe', 'ignore'],
    cwd: target.cwd,
    env: { ...process.env, ...target.env },
  })
  const counted = { bytesRead: 0 }
  const sent: string[] = []
  let waiting: {
    id: number
    resolve(answer: RpcAnswer): void
    reject(error: unknown): void
  } | null = null
  let ended: Shortfall | null = null
  const fall = (fault: Shortfall) => {
    ended ??= fault
    waiting?.reject(ended)
  }
  const started = new Promise<void>((resolve, reject) => {
    child.once('spawn', resolve)
    child.once('error', (cause) => reject(new Shortfall('command_failed', { cause })))
  })
  child.once('close', () => fall(new Shortfall('connection_dropped')))
  child.stdin.on('error', () => {})

  let parts: Buffer[] = []
  let sizeBytes = 0
  child.stdout.on('data', (chunk: Buffer) => {
    counted.bytesRead += chunk.length
    let from = 0
    for (let at = chunk.indexOf(10); at >= 0; at = chunk.indexOf(10, from)) {
      parts.push(chunk.subarray(from, at))
      line(Buffer.concat(parts))
      parts = []
      sizeBytes = 0
      from = at + 1
    }
    sizeBytes += chunk.length - from
    if (sizeBytes <= limits.maxResponseBytes) parts.push(chunk.subarray(from))
    else {
      fall(new Shortfall('answer_too_large'))
      child.stdout.destroy()
    }
  })
  const line = (bytes: Buffer) => {
    if (bytes.length > limits.maxResponseBytes) fall(new Shortfall('answer_too_large'))
    const answer = waiting && !ended ? answerIn(jsonOf(bytes), waiting.id, false) : null
    if (answer) waiting?.resolve(answer)
  }
  try {
    await untilAborted(started, clock.signal)
  } catch (error) {
    child.kill('SIGKILL')
    throw error
  }

  return {
    sent,
    counted,
    async ask(id, method, params) {
      if (ended) throw ended
      const answered = new Promise<RpcAnswer>((resolve, reject) => {
        waiting = { id, resolve, reject }
      })
      const sentAt = performance.now()
      sent.push(method)
      child.stdin.write(`${messageText(method, id, params)}\n`)
      try {
        const answer = await untilAborted(answered, clock.signal)
        if (answer.error) throw rpcShortfall(answer.error, isAboutAuthentication)
        return { result: answer.result, elapsedMs: performance.now() - sentAt }
      } finally {
        waiting = null
        answered.catch(() => {})
      }
    },
    async notify(method) {
      sent.push(method)
      child.stdin.write(`${messageText(method)}\n`)
    },
    agreed() {},
    close: () => end(child, limits.sessionCloseWaitMs),
  }
}

/** Close its input, and kill it when it has not ended in time. */
async function end(child: ChildProcess, waitMs: number): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const closed = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  child.stdin?.end()
  const kill = setTimeout(() => child.kill('SIGKILL'), waitMs)
  await closed
  clearTimeout(kill)
  child.stdout?.destroy()
}
