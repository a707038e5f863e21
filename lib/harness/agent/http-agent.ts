/** One trial of an agent that is a service: what is posted to it, and what it answered. */
import { TouchstoneError } from '../../errors.ts'
import type { Json } from '../../json.ts'
import { redacted, shownAddress } from '../../secrets.ts'
import { headersFilledIn } from '../server/variables.ts'
import { reasonOf } from '../wire/mcp.ts'
import type { HttpAgent } from './agent.ts'
import { addressesOf, type Ended, filler, httpServers, read, type Trial } from './agent-trial.ts'
import { answerIn } from './answer.ts'
import { jsonOutput } from './program/json-output.ts'

/** Longest answer that is read, as of a server or a program. */
const MOST_BYTES = 10 << 20

/** The text of an answer. @throws Error for one that is too long, of which the rest is not read */
async function textOf({ body }: Response): Promise<string> {
  const parts: Uint8Array[] = []
  let sizeBytes = 0
  for await (const part of body ?? []) {
    sizeBytes += part.length
    if (sizeBytes > MOST_BYTES) throw new Error(`more than ${MOST_BYTES} bytes`)
    parts.push(part)
  }
  return new TextDecoder().decode(Buffer.concat(parts))
}

export async function runHttp(options: HttpAgent, trial: Trial): Promise<Ended> {
  const addresses = await addressesOf(trial.gateway)
  const template = options.request ?? {
    task: '{task}',
    mcpServers: '{mcp_servers}',
    seed: '{seed}',
  }
  const fill = filler({
    task: trial.task,
    url: addresses[0]?.[1] ?? '',
    seed: String(trial.seed),
    mcp_servers: JSON.stringify(httpServers(addresses)),
  })
  const whole: { [text: string]: Json } = {
    '{mcp_servers}': httpServers(addresses) as unknown as Json,
    '{seed}': trial.seed,
  }
  const filled = (value: Json): Json => {
    if (typeof value === 'string') return whole[value] ?? fill(value)
    if (Array.isArray(value)) return value.map(filled)
    if (value === null || typeof value !== 'object') return value
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, filled(item)]))
  }
  const failed = (code: string, message: string, final: boolean): Ended => ({
    end: { how: 'agent_error', code, message: `${message} (${shownAddress(options.url)})`, final },
  })
  let response: Response
  let text: string
  try {
    response = await fetch(options.url, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        ...headersFilledIn(options.headers ?? {}, 'agent headers'),
      },
      body: JSON.stringify(filled(template)),
      signal: trial.signal,
    })
    text = await textOf(response)
  } catch (cause) {
    if (cause instanceof TouchstoneError) throw cause
    const { cause: inner } = cause as { cause?: { code?: string } }
    const why = inner?.code ?? reasonOf(inner ?? cause)
    return failed('agent_unreachable', `expected an answer, got ${why}`, false)
  }
  const { status } = response
  if (!response.ok) {
    const passes = status >= 500 || status === 429 || status === 408
    return failed('agent_unreachable', `expected an answer, got HTTP ${status}`, !passes)
  }
  const value = jsonOutput(text)
  const paths = options.response ?? { text: 'text', claims: 'claims' }
  // A page of a proxy, or of another service.
  if (value === undefined) {
    const got = redacted(text).slice(0, 80).toWellFormed()
    return failed('agent_unreachable', `expected JSON, got "${got}"`, true)
  }
  return read(() => answerIn(value, typeof paths === 'string' ? { text: paths } : paths), {
    status,
  })
}
