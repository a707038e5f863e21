/** The words of `touchstone run` that say what is run: cases, configurations, repeats, limits. */
import { randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import { TouchstoneError } from '../errors.ts'
import { readBytes, readJson } from '../files.ts'
import * as cases from '../harness/case/cases.ts'
import {
  type Configuration,
  run as harnessRun,
  type Limits,
  open,
  RunBuilder,
} from '../harness/index.ts'
import { readPrices } from '../harness/model/cost.ts'
import { PROVIDERS } from '../harness/model/providers.ts'
import { MOST_AT_ONCE } from '../harness/trial/planned-run.ts'
import { decode, type JsonObject } from '../json.ts'
import { type Manifest, MOST_REPEATS } from '../log/index.ts'
import { agentConfiguration } from './verb/run-agent.ts'
import { asker, requireTrusted } from './verb/trust.ts'
import type { Verb, Words } from './verb/verb.ts'

/** What runs when nothing is named: two stand-ins, offline and without cost. */
const OFFLINE: { name: string; configuration: Configuration }[] = [
  { name: 'naive', configuration: { model: 'sim/naive' } },
  { name: 'careful', configuration: { model: 'sim/careful' } },
]

/** The run that the words describe. In a holder, since a promise of a plan would run it. */
export async function planned(words: Words): Promise<{ plan: RunBuilder }> {
  const from = words.positionals
  const loaded = await cases.load(from.length ? from : undefined)
  await requireTrusted(loaded, { trust: words.flag('trust'), ask: asker() })
  let builder = harnessRun(loaded)
  const configurations = [
    ...(await Promise.all(words.texts('config').map(readConfigurations))).flat(),
    ...words.texts('agent').map(agentConfiguration),
  ]
  for (const { name, configuration } of configurations.length ? configurations : OFFLINE)
    builder = builder.config(name, {
      ...(words.flag('dry-run') ? keyed(configuration) : configuration),
      ...(words.flag('uncached') && { cached: false as const }),
    })
  const resume = words.text('resume')
  const out = words.text('out')
  if (resume !== undefined && out !== undefined)
    throw new TouchstoneError(
      'usage',
      'expected --out for a new run or --resume for one that was begun, got both',
    )
  // What is not said again is as it was.
  const begun = resume === undefined ? undefined : (await open(resume)).manifest
  const repeats = words.whole('repeat', 1, MOST_REPEATS) ?? begun?.until?.first ?? begun?.repeats
  const seed = words.whole('seed', 0, Number.MAX_SAFE_INTEGER) ?? begun?.seed
  const concurrency = words.whole('concurrency', 1, MOST_AT_ONCE)
  const threads = words.whole('threads', 1, 256)
  const [record, replay] = [words.text('record'), words.text('replay')]
  const prices = words.text('prices')
  if (repeats !== undefined) builder = builder.repeat(repeats)
  if (seed !== undefined) builder = builder.seed(seed)
  if (concurrency !== undefined) builder = builder.concurrency(concurrency)
  if (threads !== undefined) builder = builder.threads(threads)
  if (out !== undefined) builder = builder.out(out)
  if (words.flag('add') && resume === undefined)
    throw new TouchstoneError('usage', 'expected --resume beside it, got none', { where: '--add' })
  if (resume !== undefined) builder = builder.resume(resume, { add: words.flag('add') })
  builder = untilKnown(words, builder, begun)
  if (record !== undefined) builder = builder.record(record)
  if (replay !== undefined) builder = builder.replay(replay)
  if (prices !== undefined) builder = builder.prices(await readPrices(prices))
  const judge = words.text('judge')
  if (judge !== undefined) builder = builder.judge(readJson(judge) as JsonObject)
  const queue = words.text('queue')
  const lease = words.whole('lease', 1, 86_400)
  if (queue) builder = builder.queue(queue, lease === undefined ? {} : { leaseMs: lease * 1000 })
  else if (lease !== undefined)
    throw new TouchstoneError('usage', 'expected --queue beside it, got none', { where: '--lease' })
  if (words.flag('quiet')) builder = builder.quiet()
  return { plan: builder.limits(limitsOf(words)) }
}

/** A configuration that asks nobody: it needs a key, and any will do. */
function keyed(configuration: Configuration): Configuration {
  const { model, apiKey } = configuration
  if (typeof model !== 'string') return configuration
  const provider = model.split('/')[0] as string
  if (!Object.hasOwn(PROVIDERS, provider) || !PROVIDERS[provider]?.needsKey) return configuration
  const variable = apiKey === undefined ? PROVIDERS[provider].keyVariable : apiKey.slice(1)
  const set = apiKey?.startsWith('$') === false || Boolean(process.env[variable])
  return set ? configuration : { ...configuration, apiKey: randomUUID() }
}

/** Repeats that are added until it is known: as the words say, or as the run was begun. */
function untilKnown(words: Words, builder: RunBuilder, begun: Manifest | undefined): RunBuilder {
  const text = words.text('until')
  const most = words.whole('max-repeats', 1, MOST_REPEATS)
  const gates = words.texts('gate')
  if (text === undefined && most === undefined)
    return begun?.until ? new RunBuilder({ ...builder.plan, until: begun.until }) : builder
  const rule =
    text ?? (gates.length > 0 ? 'gates' : builder.plan.configurations.length > 1 ? 'verdict' : '')
  const options = most === undefined ? {} : { most }
  if (rule === 'verdict') return builder.until('verdict', options)
  if (rule === 'gates') return builder.until({ gates }, options)
  const [, number, sign] = /^([0-9.]+)(%?)$/.exec(rule) ?? []
  const width = Number(number) / (sign ? 100 : 1)
  if (width > 0 && width < 1) return builder.until({ width }, options)
  throw new TouchstoneError(
    'usage',
    `expected verdict, gates or a width such as 5%, got ${rule === '' ? 'nothing' : `"${rule}"`}`,
    { where: '--until' },
  )
}

function limitsOf(words: Words): Partial<Limits> {
  const limits: Partial<Limits> = {}
  const steps = words.whole('max-steps', 1, 100_000)
  const calls = words.whole('max-calls', 1, 100_000)
  const tokens = words.whole('max-tokens', 1, 1e12)
  const seconds = words.whole('trial-timeout', 1, 86_400)
  const attempts = words.whole('attempts', 1, 1000)
  const cost = words.text('max-cost')
  if (steps !== undefined) limits.steps = steps
  if (calls !== undefined) limits.calls = calls
  if (tokens !== undefined) limits.tokens = tokens
  if (seconds !== undefined) limits.trialTimeoutMs = seconds * 1000
  if (attempts !== undefined) limits.attempts = attempts
  if (cost !== undefined) {
    if (!/^\d+(\.\d+)?$/.test(cost) || Number(cost) === 0)
      throw new TouchstoneError('usage', `expected US dollars above 0, got "${cost}"`, {
        where: '--max-cost',
      })
    limits.costUsd = Number(cost)
  }
  return limits
}

/**
 * Configurations from `NAME=MODEL` or `PROVIDER/MODEL`, or from a YAML file: a mapping of names to
 * `{ model, temperature, ... }` or to `{ agent: { command, args, ... } }` and `{ agent: { url, ...
 * } }`.
 */
async function readConfigurations(
  text: string,
): Promise<{ name: string; configuration: Configuration }[]> {
  const pair = /^([A-Za-z0-9][A-Za-z0-9_.-]*)=(.+)$/.exec(text)
  if (pair && !existsSync(text))
    return [{ name: pair[1] as string, configuration: { model: pair[2] as string } }]
  // What is no file, and has no file's ending, is a model without a name of its own.
  if (/^[a-z]+\/[^/].*$/.test(text) && !/\.(?:ya?ml|json)$/.test(text) && !existsSync(text)) {
    const name = (text.split('/').at(-1) ?? '').replace(/[^A-Za-z0-9_.-]/g, '-')
    return [{ name: name.replace(/^[^A-Za-z0-9]+/, '') || 'model', configuration: { model: text } }]
  }
  const { parse } = await import('yaml')
  let read: unknown
  try {
    read = parse(decode(readBytes(text), text))
  } catch (cause) {
    if (cause instanceof TouchstoneError) throw cause
    throw new TouchstoneError(
      'yaml_syntax',
      `expected YAML, got: ${(cause as Error).message.split('\n')[0]}`,
      {
        where: text,
        cause,
      },
    )
  }
  if (read === null || typeof read !== 'object' || Array.isArray(read)) {
    throw new TouchstoneError(
      'argument_invalid',
      'expected names with { model: ... } or { agent: ... }',
      {
        where: text,
      },
    )
  }
  return Object.entries(read).map(([name, configuration]) => ({
    name,
    configuration: configuration as Configuration,
  }))
}

export const PLAN_OPTIONS: Verb['options'] = {
  trust: {
    type: 'boolean',
    says: 'run cases that start commands, contact addresses or use variables of the environment without asking',
  },
  config: {
    type: 'string',
    multiple: true,
    value: '[NAME=]MODEL|FILE',
    says: 'a configuration, or a YAML file of them; may be given again. Default: naive=sim/naive and careful=sim/careful. See below',
  },
  agent: {
    type: 'string',
    multiple: true,
    value: '[NAME=]KNOWN|COMMAND|URL',
    says: 'an agent that is tested as it is: one that is known by name, a program or a service; may be given again. See below',
  },
  uncached: {
    type: 'boolean',
    says: 'state of each --config and --agent that no answer comes out of a cache (cached: false in a FILE): repeats that are byte for byte the same count as repeats then. Written into the run',
  },
  repeat: {
    type: 'string',
    value: 'N',
    says: 'trials per case and configuration, 1 to 1,000,000. Default 5',
  },
  until: {
    type: 'string',
    value: 'verdict|gates|WIDTH',
    says: 'add repeats, from --repeat on, until every configuration is told from the first, every --gate is met or missed, or every interval of goal met is at most WIDTH (such as 10%). The error is held over all looks',
  },
  'max-repeats': {
    type: 'string',
    value: 'N',
    says: 'repeats at most, for --until (default: gates where there is one, else verdict). Default 40',
  },
  seed: { type: 'string', value: 'N', says: 'where all draws come from. Default 1' },
  concurrency: { type: 'string', value: 'N', says: 'trials at once, 1 to 4,096. Default 4' },
  threads: {
    type: 'string',
    value: 'N',
    says: 'threads that run the trials, 1 to 256. Default: one per core for a run of simulated models with 2,000 trials or more, else 1',
  },
  queue: {
    type: 'string',
    value: 'URL',
    says: 'let workers run the trials (touchstone worker), over redis://… or postgres://…',
  },
  lease: {
    type: 'string',
    value: 'SECONDS',
    says: 'with --queue: how long a worker may give no sign of life before its trials are lost. Default 60',
  },
  out: {
    type: 'string',
    value: 'DIR',
    says: 'a new or empty folder for the run. Default runs/<id>',
  },
  resume: {
    type: 'string',
    value: 'DIR',
    says: 'go on with the run in a folder; cases and configurations as before. What is finished is not run again',
  },
  add: {
    type: 'boolean',
    says: 'with --resume: the run may have more repeats and cases than before. Its numbers are then given more strictly',
  },
  record: {
    type: 'string',
    value: 'DIR',
    says: 'keep what models are asked and answer in a folder, without keys',
  },
  replay: {
    type: 'string',
    value: 'DIR',
    says: 'answer from what was recorded, offline; nothing new is learnt about a model by it',
  },
  judge: {
    type: 'string',
    value: 'FILE',
    says: 'what touchstone agreement wrote of a model: it then reads claims in the prose of agents that report none',
  },
  prices: {
    type: 'string',
    value: 'FILE',
    says: 'YAML: MODEL: { input, output }, in US dollars per million tokens',
  },
  'max-cost': {
    type: 'string',
    value: 'USD',
    says: 'stop the run when so much is spent; each model needs a price',
  },
  'max-tokens': {
    type: 'string',
    value: 'N',
    says: 'tokens per trial, in and out, where they are known. Default: no limit',
  },
  'max-steps': {
    type: 'string',
    value: 'N',
    says: 'model calls per trial of our own loop. Default 24',
  },
  'max-calls': { type: 'string', value: 'N', says: 'tool calls per trial. Default 100' },
  'trial-timeout': {
    type: 'string',
    value: 'SECONDS',
    says: 'time per trial, without waits for limits. Default 120',
  },
  attempts: {
    type: 'string',
    value: 'N',
    says: 'attempts at a trial that ends in an error of the machinery. Default 2. A server of yours that never came up is given up after 8 starts in a row',
  },
  quiet: { type: 'boolean', short: 'q', says: 'no progress' },
}
