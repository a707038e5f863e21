/** A process that calls a provider through the limiter, as a worker does: with a queue's address at a pace that all share. Says `waits`, `said ...` and at its end what it counted. */
import { Limiters } from '../../lib/harness/model/limiter.ts'
import { paceServer } from '../../lib/harness/queue/pace-server.ts'
import { PaceOverServer } from '../../lib/harness/queue/shared-pace.ts'

const { PROVIDER = '', QUEUE, CALLS = '', AT_ONCE = '', TOKENS = '', GUESS = TOKENS } = process.env
const limiters = new Limiters()
let round = 0
let last: string | null = null
let pace: PaceOverServer | null = null
if (QUEUE) {
  const open = (changed: Parameters<typeof paceServer>[1]) => {
    const server = paceServer(QUEUE, changed)
    return {
      ...server,
      close: () => server.close(),
      ask: (...asked: Parameters<typeof server.ask>) => {
        round++
        return server.ask(...asked)
      },
    }
  }
  pace = new PaceOverServer(open, (text) => {
    if (text !== last) process.stdout.write(`said ${text ?? 'again'}\n`)
    last = text
  })
  limiters.share(pace)
}
const limiter = limiters.of('a', { baseURL: PROVIDER, key: 'k', model: 'm' })
let left = Number(CALLS)
// A guess is never right: it is spread round what a call uses.
const used = () => Math.round(Number(TOKENS) * (0.75 + Math.random() / 2))
const one = async () => {
  while (left-- > 0) {
    const tokens = used()
    await limiter.call(
      { tokens: Math.ceil((tokens * Number(GUESS)) / Number(TOKENS)) },
      async () => {
        const answer = await fetch(PROVIDER, { method: 'POST', body: JSON.stringify({ tokens }) })
        const responseBody = await answer.text()
        const responseHeaders = Object.fromEntries(answer.headers)
        if (answer.status === 200) return responseHeaders
        const { status: statusCode } = answer
        throw Object.assign(new Error('refused'), { statusCode, responseHeaders, responseBody })
      },
      (headers) => ({ headers, tokens }),
    )
    process.stdout.write('.\n')
  }
}
await Promise.all(Array.from({ length: Number(AT_ONCE) }, one))
process.stdout.write(
  `${JSON.stringify({ answered: limiters.answers, refused: limiters.refusals, round })}\n`,
)
await pace?.close()
