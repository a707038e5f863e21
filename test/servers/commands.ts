/**
 * Command lines of Touchstone in one process, one after the other: what stands on each stream, and the exit code. For tests of
 * what a verb says; a process of its own for each line takes several times as long. What ends its process itself (`-e`, a file,
 * `notebook`) has to be started.
 */
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'

export type Said = { status: number; stdout: string; stderr: string }
export type Commands = {
  run(...words: string[]): Promise<Said>
  /** Ends the process; gives what was written past its streams, by a child for instance. */
  close(): Promise<string>
}

export function startCommands(options: { cwd: string; env?: NodeJS.ProcessEnv }): Commands {
  const child: ChildProcess = fork(fileURLToPath(import.meta.url), {
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    execArgv: [],
    cwd: options.cwd,
    env: { ...process.env, ...options.env },
  })
  const past = Promise.all([child.stdout, child.stderr].map((stream) => text(stream as never)))
  const gone = once(child, 'exit')
  // A test file whose tests are all left out never closes it, and is not held by it.
  const parts = [child, child.channel, child.stdout, child.stderr] as {
    ref?(): void
    unref?(): void
  }[]
  const hold = () => {
    for (const part of parts) part?.ref?.()
  }
  const letGo = () => {
    for (const part of parts) part?.unref?.()
  }
  letGo()
  let before: Promise<unknown> = Promise.resolve()
  const one = async (words: string[]): Promise<Said> => {
    const ended = gone.then(async () => {
      throw new Error(`${words.join(' ')} ended the process: ${(await past).join('')}`)
    })
    const answer = once(child, 'message').then(([said]) => said as Said)
    hold()
    child.send(words)
    return Promise.race([answer, ended]).finally(letGo)
  }
  return {
    run(...words) {
      const said = before.then(() => one(words))
      before = said.catch(() => {})
      return said
    },
    async close() {
      hold()
      if (child.connected) child.disconnect()
      // One that stands still hears nothing.
      const late = setTimeout(() => child.kill('SIGKILL'), 30_000)
      await gone
      clearTimeout(late)
      return (await past).join('')
    },
  }
}

if (process.send !== undefined && process.argv[1] === fileURLToPath(import.meta.url)) {
  const program = fileURLToPath(new URL('../../repl.ts', import.meta.url))
  const { main } = await import('../../lib/cli/main.ts')
  let told = { stdout: '', stderr: '' }
  for (const name of ['stdout', 'stderr'] as const)
    process[name].write = ((chunk: string | Uint8Array, ...rest: unknown[]) => {
      told[name] += Buffer.from(chunk as Uint8Array).toString()
      const done = rest.at(-1)
      if (typeof done === 'function') process.nextTick(done)
      return true
    }) as typeof process.stdout.write
  process.on('message', async (words: string[]) => {
    told = { stdout: '', stderr: '' }
    process.exitCode = undefined
    process.argv = [process.execPath, program, ...words]
    const status = await main(words)
    process.removeAllListeners('SIGINT')
    for (const event of ['uncaughtException', 'unhandledRejection'])
      process.removeAllListeners(event)
    for (const stream of [process.stdout, process.stderr]) stream.removeAllListeners('error')
    process.send?.({ status, ...told })
  })
  process.on('disconnect', () => process.exit(0))
}
