/** `touchstone run` and `touchstone start`: cases against configurations. */
import { existsSync } from 'node:fs'
import { relative } from 'node:path'
import { decode, readBytes } from '../canonical.ts'
import { lookOf } from '../display.ts'
import { TouchstoneError } from '../errors.ts'
import * as cases from '../harness/cases.ts'
import { type Configuration, run as harnessRun, type Run, type RunBuilder, writeReport } from '../harness/index.ts'
import { EXIT, JSON_OPTION, print, type Verb, type Words } from './verb.ts'

/** What runs when no configuration is named: two stand-ins, offline and without cost. */
const OFFLINE: { name: string; configuration: Configuration }[] = [
  { name: 'naive', configuration: { model: 'sim/naive' } },
  { name: 'careful', configuration: { model: 'sim/careful' } },
]

/** The run that the words describe. In a holder, since a promise of a plan would run it. */
export async function planned(words: Words): Promise<{ plan: RunBuilder }> {
  const from = words.positionals
  let builder = harnessRun(await cases.load(from.length ? from : undefined))
  const configurations = (await Promise.all(words.texts('config').map(readConfigurations))).flat()
  for (const { name, configuration } of configurations.length ? configurations : OFFLINE)
    builder = builder.config(name, configuration)
  const repeats = words.whole('repeat', 1, 10_000)
  const seed = words.whole('seed', 0, Number.MAX_SAFE_INTEGER)
  const concurrency = words.whole('concurrency', 1, 256)
  const out = words.text('out')
  if (repeats !== undefined) builder = builder.repeat(repeats)
  if (seed !== undefined) builder = builder.seed(seed)
  if (concurrency !== undefined) builder = builder.concurrency(concurrency)
  if (out !== undefined) builder = builder.out(out)
  if (words.flag('quiet')) builder = builder.quiet()
  return { plan: builder }
}

/**
 * Configurations from `NAME=MODEL`, or from a YAML file: a mapping of names to `{ model, temperature, ... }`.
 */
async function readConfigurations(text: string): Promise<{ name: string; configuration: Configuration }[]> {
  const pair = /^([A-Za-z0-9][A-Za-z0-9_.-]*)=(.+)$/.exec(text)
  if (pair && !existsSync(text)) return [{ name: pair[1] as string, configuration: { model: pair[2] as string } }]
  const { parse } = await import('yaml')
  let read: unknown
  try {
    read = parse(decode(readBytes(text), text))
  } catch (cause) {
    if (cause instanceof TouchstoneError) throw cause
    throw new TouchstoneError('yaml_syntax', `expected YAML, got: ${(cause as Error).message.split('\n')[0]}`, {
      where: text,
      cause,
    })
  }
  if (read === null || typeof read !== 'object' || Array.isArray(read)) {
    throw new TouchstoneError('argument_invalid', 'expected names with { model: ... }', { where: text })
  }
  return Object.entries(read).map(([name, configuration]) => ({ name, configuration: configuration as Configuration }))
}

const OPTIONS: Verb['options'] = {
  config: {
    type: 'string',
    multiple: true,
    value: 'NAME=MODEL|FILE',
    says: 'a configuration, or a YAML file of them; may be given again. Default: naive=sim/naive careful=sim/careful (simulated)',
  },
  repeat: { type: 'string', value: 'N', says: 'trials per case and configuration, 1 to 10,000. Default 5' },
  seed: { type: 'string', value: 'N', says: 'where all draws come from. Default 1' },
  concurrency: { type: 'string', value: 'N', says: 'trials at once, 1 to 256. Default 4' },
  out: { type: 'string', value: 'DIR', says: 'a new or empty folder for the run. Default runs/<id>' },
  receipt: { type: 'boolean', says: 'write receipt.json into the run’s folder. Only for the cases of a published set' },
  key: { type: 'string', value: 'PEM', says: 'sign the receipt with this Ed25519 private key. Without: unsigned' },
  set: {
    type: 'string',
    value: 'ID@VERSION',
    says: 'the set that the receipt names. Default: the newest with these cases',
  },
  quiet: { type: 'boolean', short: 'q', says: 'no progress' },
  json: JSON_OPTION,
}

export const run: Verb = {
  usage: 'touchstone run [CASES...] [options]',
  says: 'Runs cases (files, folders or globs; default: those that come with Touchstone) several times per configuration and compares.',
  options: OPTIONS,
  takes: { least: 0, most: Number.POSITIVE_INFINITY },
  async run(words, signal) {
    for (const name of ['key', 'set'])
      if (words.text(name) !== undefined && !words.flag('receipt'))
        throw new TouchstoneError('usage', 'expected --receipt beside it, got none', { where: `--${name}` })
    const { plan } = await planned(words)
    const result = await plan.signal(signal)
    await finish(result, words.flag('json'))
    if (words.flag('receipt')) {
      const receipt = await result.receipt({ key: words.text('key'), set: words.text('set') })
      const path = relative(process.cwd(), receipt.save(result.dir))
      if (!words.flag('json')) process.stdout.write(`Receipt: ${path} (${receipt.signed ? 'signed' : 'unsigned'})\n`)
    }
    return result.complete ? EXIT.asHoped : EXIT.incomplete
  },
}

/** Print a run and write its report. */
async function finish(result: Run, json: boolean): Promise<void> {
  const report = await writeReport(result)
  const look = lookOf(process.stdout)
  const strip = json ? '' : (await result.plot('strip')).text(look)
  print(result, json, `${result.text(look)}\n\n${strip}\n\nReport: ${near(report)}`)
}

/** A path as it is shortest from here, unless that would lead upwards. */
function near(path: string): string {
  const short = relative(process.cwd(), path)
  return short.startsWith('..') ? path : short
}

export const start: Verb = {
  usage: 'touchstone start',
  says: 'Runs the cases that come with Touchstone on two offline configurations, 5 trials each; on a terminal the prompt follows.',
  options: {},
  takes: { least: 0, most: 0 },
  async run(_, signal) {
    const words: Words = {
      positionals: [],
      text: () => undefined,
      texts: () => [],
      flag: () => false,
      whole: () => undefined,
    }
    const { plan } = await planned(words)
    const result = await plan.signal(signal)
    await finish(result, false)
    if (process.stdin.isTTY && process.stdout.isTTY && !signal.aborted) {
      const { openPrompt } = await import('./prompt.ts')
      await openPrompt(
        { run: result },
        `The run above is in scope as "run": try run.compare('naive', 'careful') or run.plot('heat').`,
      )
    }
    return result.complete ? EXIT.asHoped : EXIT.incomplete
  },
}
