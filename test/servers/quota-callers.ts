/** Eight processes under one quota: each calls a provider through the limiter, with a queue's server at a pace that all share. */
import { type ChildProcess, spawn } from 'node:child_process'
import { join } from 'node:path'
import { type EngineName, type QueueServer, startQueueServer } from './queue-server.ts'
import { type QuotaForm, type QuotaOptions, startQuota } from './quota.ts'

const CALLER = join(import.meta.dirname, 'quota-caller.ts')
export const PROCESSES = 8
const [AT_ONCE, TOKENS] = [32, 250]

export type Caller = {
  process: ChildProcess
  answered: number
  said: string[]
  rounds: number
  ended: Promise<void>
}

function startCaller(env: { [name: string]: string }): Caller {
  const child = spawn(process.execPath, [CALLER], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, NODE_TEST_CONTEXT: undefined, ...env } as NodeJS.ProcessEnv,
  })
  const caller: Caller = {
    ...{ process: child, answered: 0, said: [], rounds: 0 },
    ended: new Promise((done) => child.once('close', () => done())),
  }
  let text = ''
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    const lines = `${text}${chunk}`.split('\n')
    text = lines.pop() as string
    for (const line of lines)
      if (line === '.') caller.answered++
      else if (line.startsWith('said ')) caller.said.push(line.slice(5))
      else caller.rounds = (JSON.parse(line) as { round: number }).round
  })
  return caller
}

/** What eight processes come to that call one provider. `meanwhile` is done once a third of the calls are answered. */
export async function underQuota(
  engine: EngineName | null,
  options: QuotaOptions & { calls: number },
  meanwhile: (server: QueueServer, callers: Caller[]) => Promise<void> = async () => {},
) {
  const server = engine && (await startQueueServer(engine, { durable: false }))
  const provider = await startQuota(options)
  const { calls } = options
  const callers = Array.from({ length: PROCESSES }, () =>
    startCaller({
      ...(server && { QUEUE: server.url }),
      ...{ PROVIDER: provider.url, CALLS: `${calls / PROCESSES}` },
      ...{ AT_ONCE: `${AT_ONCE}`, TOKENS: `${TOKENS}` },
    }),
  )
  try {
    const third = new Promise<void>((done) => {
      const look = setInterval(() => {
        if (provider.counts.answered < calls / 3) return
        clearInterval(look)
        done()
      }, 20)
    })
    await third
    if (server) await meanwhile(server, callers)
    await Promise.all(callers.map(({ ended }) => ended))
    const { answered, refused } = provider.counts
    const rounds = callers.reduce((sum, one) => sum + one.rounds, 0) / provider.counts.calls
    const told = `${engine ?? 'each for itself'}, ${options.form}: ${refused} refused of ${answered} answered (${(refused / answered).toFixed(4)}), ${rounds.toFixed(2)} round trips a call`
    return { told, callers, answered, ratio: refused / answered, rounds }
  } finally {
    for (const one of callers) one.process.kill('SIGKILL')
    await provider.close()
    await server?.close()
  }
}

export const CALLS = 960
/** A burst of 600 calls of 250 tokens, and then 600 a minute; or as many requests. */
export const quota = (form: QuotaForm) => ({
  ...{ form, calls: CALLS },
  ...(form === 'ietf' ? { requests: 600 } : { tokens: 600 * TOKENS }),
})
