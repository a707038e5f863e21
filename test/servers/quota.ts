/** A provider that lets through what its bucket holds, and tells of it in the form of one that there is. The bucket is a true one: it refills all the time, and a call counts when it arrives. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

/** As fixtures/harness/rate-limits.json has them. `silent` refuses without a word of when. */
export type QuotaForm = 'openai' | 'anthropic' | 'ietf' | 'retry-after' | 'gemini' | 'silent'

export type QuotaOptions = {
  form: QuotaForm
  /** Per minute, and at once. */
  requests?: number
  tokens?: number
  /** How long a call takes, in ms. */
  takesMs?: number
}

export async function startQuota(options: QuotaOptions) {
  const { form, requests = 1e9, tokens = 1e9, takesMs = 100 } = options
  const level = { requests, tokens, at: performance.now() }
  const counts = { answered: 0, refused: 0, calls: 0 }
  const refill = () => {
    const now = performance.now()
    const passed = (now - level.at) / 60_000
    level.requests = Math.min(requests, level.requests + passed * requests)
    level.tokens = Math.min(tokens, level.tokens + passed * tokens)
    level.at = now
  }
  const left = () => ({
    requests: Math.max(0, Math.floor(level.requests)),
    tokens: Math.max(0, Math.floor(level.tokens)),
  })
  const told = (): { [name: string]: string } => {
    const { requests: r, tokens: t } = left()
    const full = (limit: number, is: number) => `${(((limit - is) / limit) * 60).toFixed(3)}s`
    const at = new Date(Date.now() + 60_000).toISOString().replace(/\.\d+/, '')
    if (form === 'openai')
      return {
        'x-ratelimit-limit-requests': `${requests}`,
        'x-ratelimit-remaining-requests': `${r}`,
        'x-ratelimit-reset-requests': full(requests, level.requests),
        'x-ratelimit-limit-tokens': `${tokens}`,
        'x-ratelimit-remaining-tokens': `${t}`,
        'x-ratelimit-reset-tokens': full(tokens, level.tokens),
      }
    if (form === 'anthropic')
      return {
        'anthropic-ratelimit-requests-limit': `${requests}`,
        'anthropic-ratelimit-requests-remaining': `${r}`,
        'anthropic-ratelimit-requests-reset': at,
        'anthropic-ratelimit-tokens-limit': `${tokens}`,
        // Rounded to thousands, as it does.
        'anthropic-ratelimit-tokens-remaining': `${Math.round(t / 1000) * 1000}`,
        'anthropic-ratelimit-tokens-reset': at,
      }
    if (form === 'ietf')
      return {
        'ratelimit-policy': `"default";q=${requests};w=60`,
        ratelimit: `"default";r=${r};t=${Math.ceil(60 - (60 * r) / requests)}`,
      }
    return {}
  }
  const server = createServer(async (request, response) => {
    let text = ''
    for await (const chunk of request) text += chunk
    const n = (JSON.parse(text) as { tokens: number }).tokens
    counts.calls++
    refill()
    if (level.requests < 1 || level.tokens < n) {
      counts.refused++
      const minutes = Math.max((1 - level.requests) / requests, (n - level.tokens) / tokens)
      const seconds = Math.max(0, minutes * 60)
      const after =
        form === 'silent' || form === 'gemini' ? {} : { 'retry-after': `${Math.ceil(seconds)}` }
      const type = 'type.googleapis.com/google.rpc.RetryInfo'
      const details = [{ '@type': type, retryDelay: `${seconds.toFixed(3)}s` }]
      response.writeHead(429, { 'content-type': 'application/json', ...told(), ...after })
      const error = { code: 429, message: 'too many', ...(form === 'gemini' && { details }) }
      response.end(JSON.stringify({ error }))
      return
    }
    level.requests -= 1
    level.tokens -= n
    counts.answered++
    response.writeHead(200, { 'content-type': 'application/json', ...told() })
    response.flushHeaders()
    setTimeout(() => response.end('{}'), takesMs * (0.5 + Math.random()))
  })
  // A connection that is closed while a call is on its way is none of this.
  server.keepAliveTimeout = 600_000
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}/`,
    counts,
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}
