/** `touchstone run` and `touchstone start`: cases against configurations. */
import { join, relative } from 'node:path'
import { foreign, lookOf } from '../display.ts'
import { TouchstoneError } from '../errors.ts'
import { KNOWN_AGENTS } from '../harness/agent/program/known-agents.ts'
import { CONFIG_FORMATS } from '../harness/agent/program/mcp-config.ts'
import {
  against,
  gate,
  type Held,
  open,
  type Run,
  standing,
  writeReport,
} from '../harness/index.ts'
import { PROVIDERS } from '../harness/model/providers.ts'
import { requireBaseline } from '../harness/report/ci/baseline.ts'
import { requireDecidable } from '../harness/report/ci/gate.ts'
import { prepare } from '../harness/run/prepare.ts'
import { requireIssuable } from '../receipt/attest/issue.ts'
import { CLASSIFIERS_OPTION, registerGiven } from './classify.ts'
import { runName, runNames } from './finished.ts'
import { PLAN_OPTIONS, planned } from './run-plan.ts'
import { stopCommands } from './verb/annotations.ts'
import {
  baselineOptions,
  gatesOf,
  HELD_OPTIONS,
  heldLines,
  heldSummary,
  requirePlaces,
  writeFor,
} from './verb/gate-options.ts'
import { ownName, quoted } from './verb/own-name.ts'
import { writeRefused } from './verb/refused.ts'
import { EXIT, JSON_OPTION, print, type Verb, type Words } from './verb/verb.ts'

const OPTIONS: Verb['options'] = {
  ...PLAN_OPTIONS,
  classifiers: CLASSIFIERS_OPTION,
  'dry-run': {
    type: 'boolean',
    says: 'show the plan: trials, calls, bounds of cost, and how likely each --gate and --baseline is to hold with so many repeats; run nothing',
  },
  ...HELD_OPTIONS,
  receipt: {
    type: 'boolean',
    says: 'write receipt.json into the run’s folder. Only for cases published before: touchstone scenarios publish',
  },
  key: {
    type: 'string',
    value: 'PEM',
    says: 'sign the receipt with this Ed25519 private key. Without: unsigned',
  },
  set: {
    type: 'string',
    value: 'ID@VERSION',
    says: 'the set that the receipt names. Default: the newest with these cases',
  },
  sets: {
    type: 'string',
    value: 'DIR',
    says: 'the folder of published sets. Default: the one that ships',
  },
  json: JSON_OPTION,
}

/** A line per provider: how a model of it is named, and the variable with the key. */
function providerLines(): string {
  return Object.entries(PROVIDERS)
    .map(([name, { says, keyVariable, urlVariable, needsKey }]) => {
      const variable = needsKey ? `${keyVariable}` : urlVariable
      return `  ${`${name}/NAME`.padEnd(47)}  ${says}${needsKey ? `, with ${variable} set` : `; ${variable} names another address`}`
    })
    .join('\n')
}

const MORE = `MODEL:
  sim/naive sim/careful sim/perfect sim/gullible   simulated: scripts, offline, no language model
${providerLines()}

FILE, a YAML mapping of names to a model with its settings (instructions, temperature, topP, maxOutputTokens, \
providerOptions, baseURL, apiKey: $NAME, headers), or to an agent; beside either, cached: false:
  warm: { model: groq/openai/gpt-oss-20b, temperature: 0.7 }
  own:  { model: local/qwen3, baseURL: "http://127.0.0.1:11434/v1" }
  mine: { agent: { command: my-agent, args: ["{mcp_config}", "{task}"], output: result } }
  far:  { agent: { url: "http://127.0.0.1:8000/run", response: output.text } }
  opus: { agent: { known: claude-code, args: ["--model", "opus"] } }

KNOWN is an agent that is known by its name, with more words for its command line, such as \
'opus=claude-code --model opus': ${KNOWN_AGENTS.join(', ')}. It must be installed; its own tools for files and \
the shell are off.

COMMAND is started anew for each trial, without a shell. In its words these are filled in:
  {task} {task_file}    what the agent is asked to do, as text and as a file
  {mcp_config}          a file with the case's MCP servers, as Claude Code, Cursor and others read it; in a FILE \
format: ${CONFIG_FORMATS.slice(1).join(' | ')} and transport: stdio choose other forms, and configFile: .cursor/mcp.json lays it \
there in {folder}
  {mcp_servers}         the same in one word; {mcp_names} the names alone, as a,b
  {url}                 the first server's address
  {seed}                a number for the agent's draws
  {folder}              a folder that is deleted afterwards
  Its standard output is its answer. It may call the tool "report" of the server "report" to say what it did.

GATE: [CONFIGURATION:]METRIC OPERATOR VALUE[@BOUND][@QUESTION]
  METRIC is goal, attack, overclaim, underclaim, unneeded, refused or pass; OPERATOR >= > <= <; VALUE 0.9 or 90%.
  Held is the cautious end of the 95% interval, @lower for >= and @upper for <=; @estimate holds the rate itself.
  Asked is @again: these cases, run again (default); or @others: other cases like these, with a wider interval.
  Three ends: met (0), MISSED (1: even the kinder end does not hold), undecided (4: the interval holds the value).
  4 cases x 5 that all pass have a lower end of 85% again, and of 44% for others.`

export const run: Verb = {
  usage: 'touchstone run [CASES...] [options]',
  says: 'Runs cases (files, folders, globs, or a kind of those that come with Touchstone, such as lying_success; default: all that come) several times per configuration and compares.',
  options: OPTIONS,
  more: MORE,
  exits: {
    0: 'the run is complete; every gate is met, and no rate is worse than in the baseline by more than the margin',
    1: 'a gate is missed for sure, or a rate is worse than in the baseline for sure; also of a run that is not complete',
    3: 'the run is not complete: trials ended in an error, or did not run. Standard error says how to go on',
    4: 'undecided: the run is too small to say',
  },
  examples: [
    "run my-cases --agent 'my-agent --mcp-config {mcp_config} {task}' --repeat 1",
    'run my-cases --config a=sim/naive --config b=sim/careful --repeat 3',
    'run my-cases --config a=groq/openai/gpt-oss-20b --config b=openai/gpt-5 --dry-run',
    "run my-cases --config own.yaml --gate 'goal>=50%@estimate' --junit junit.xml --out checked",
  ],
  takes: { least: 0, most: Number.POSITIVE_INFINITY },
  refused: (args, error) => writeRefused(args, OPTIONS, error),
  async run(words, signal) {
    for (const name of ['key', 'set', 'sets'])
      if (words.text(name) !== undefined && !words.flag('receipt'))
        throw new TouchstoneError('usage', 'expected --receipt beside it, got none', {
          where: `--${name}`,
        })
    requireNamed(words)
    await registerGiven(words)
    const { plan } = await planned(words)
    // Whatever is wrong with these is said before anything is run.
    const gates = gatesOf(words, plan.plan)
    requirePlaces(words)
    const baseline = words.text('baseline')
    const compared = baselineOptions(words)
    const [stray] = ['margin', 'metric'].filter((name) => words.given.includes(name))
    if (stray !== undefined && baseline === undefined)
      throw new TouchstoneError('usage', 'expected --baseline beside it, got none', {
        where: `--${stray}`,
      })
    const before = baseline === undefined ? null : await open(baseline)
    const sealing = { key: words.text('key'), set: words.text('set'), root: words.text('sets') }
    if (gates.length > 0) requireDecidable(gates, (await prepare(plan.plan)).manifest.cases)
    if (words.flag('receipt')) requireIssuable(plan.plan.cases, sealing)
    if (words.flag('dry-run')) {
      const forecast = await plan.forecast({
        gates,
        ...(before && { baseline: before }),
        ...compared,
      })
      print(forecast, words.flag('json'), forecast.text(lookOf(process.stdout)))
      return EXIT.asHoped
    }
    if (before) requireBaseline((await prepare(plan.plan)).manifest, before, compared.metrics)
    const resume = words.flag('annotate') ? stopCommands() : undefined
    const result = await plan.signal(signal)
    const sound = result.unsound.length === 0
    const held: Held = {
      gates: sound ? gates.flatMap((one) => gate(result, one)) : [],
      baseline: sound && before ? against(result, before, compared) : [],
    }
    // The text may fill screens: what decides stands at its top in short, and at its end in full.
    const summary = words.flag('json') ? '' : heldSummary(result, held)
    if (summary) process.stderr.write(`${summary}\n`)
    await finish(result, words.flag('json'), held)
    result.requireSound()
    for (const line of heldLines(held)) process.stderr.write(`${line}\n`)
    await writeFor(words, result, held, resume)
    if (!result.complete) process.stderr.write(`${howToGoOn(result)}\n`)
    if (words.flag('receipt')) {
      const receipt = await result.receipt(sealing)
      const path = relative(process.cwd(), receipt.save(result.dir))
      if (!words.flag('json'))
        process.stdout.write(`Receipt: ${path} (${receipt.signed ? 'signed' : 'unsigned'})\n`)
    }
    const codes = {
      'as hoped': EXIT.asHoped,
      'fell short': EXIT.fellShort,
      undecided: EXIT.undecided,
      incomplete: EXIT.incomplete,
    }
    return codes[standing(result, held)]
  },
}

/** A gate needs configurations that were named: without any, simulated ones are run. */
function requireNamed(words: Words): void {
  if (words.texts('config').length > 0 || words.texts('agent').length > 0) return
  const asked = ['gate', 'baseline', 'junit', 'sarif'].filter(
    (name) => words.text(name) !== undefined,
  )
  if (asked.length > 0)
    throw new TouchstoneError(
      'usage',
      `expected --config or --agent beside ${asked.map((name) => `--${name}`).join(' and ')}, got none (naive=sim/naive names a simulated one)`,
    )
}

/** Why a run is not complete, and the words that go on with it. */
function howToGoOn(result: Run): string {
  const [verb, ...rest] = process.argv.slice(2)
  const words = verb === 'run' ? rest : []
  const end = words.includes('--') ? words.indexOf('--') : words.length
  const kept = words
    .slice(0, end)
    .filter(
      (word, i) =>
        !/^--(out|resume)(=|$)/.test(word) && !/^--(out|resume)$/.test(words[i - 1] ?? ''),
    )
  const again = ['run', ...kept, '--resume', near(result.dir), ...words.slice(end)]
  const command = `${ownName()} ${quoted(again)}`
  return `${result.halted === null ? '' : `The run stopped: ${foreign(result.halted, 300)}\n`}Go on with it: ${command}`
}

/**
 * Print a run and write its report. @param held what it was held against, which its JSON has beside
 * what it came to so
 */
async function finish(
  result: Run,
  json: boolean,
  held: Held = { gates: [], baseline: [] },
): Promise<void> {
  const report = await writeReport(result)
  const look = lookOf(process.stdout)
  const strip = json || result.unsound.length > 0 ? '' : (await result.plot('strip')).text(look)
  const page = near(join(result.dir, 'report.html'))
  const lines = [`Report: ${near(report)}`, `Page, from each number to its trials: ${page}`]
  if (result.trials.some(({ outcome }) => outcome !== 'pass'))
    lines.push(`Why one did not pass: ${oneTrial(result)}`)
  const all = {
    toJSON: () => ({
      ...result.toJSON(),
      standing: result.unsound.length > 0 ? null : standing(result, held),
      ...held,
    }),
  }
  print(all, json, [result.text(look), strip, lines.join('\n')].filter(Boolean).join('\n\n'))
}

/** The command that shows the first trial that did not pass. */
function oneTrial({ dir }: Run): string {
  const name = runName(dir)
  const words = runNames()[0] === name ? [] : ['--run', name]
  return `${ownName()} ${quoted(['show', ...words])}`
}

/**
 * Write the receipt of a run whose cases are a published set; other runs have none, and a run that
 * was stopped has none yet.
 */
async function sealed(result: Run, json: boolean): Promise<void> {
  if (!result.complete) return
  try {
    const receipt = await result.receipt()
    const path = receipt.save(result.dir)
    if (json) return
    process.stdout.write(
      `Receipt: ${near(path)} (unsigned; ${ownName()} verify ${near(result.dir)})\n`,
    )
  } catch (cause) {
    if (!(cause instanceof TouchstoneError) || cause.code !== 'set_unpublished') throw cause
  }
}

/** A path as it is shortest from here, unless that would lead upwards. */
function near(path: string): string {
  const short = relative(process.cwd(), path)
  return short.startsWith('..') ? path : short
}

export const start: Verb = {
  usage: 'touchstone start',
  says: 'Runs the cases that come with Touchstone on two offline configurations, 5 trials each; on a terminal the prompt follows.',
  options: { json: JSON_OPTION },
  exits: { 0: 'the run is complete', 3: 'it is not: it was stopped, or trials ended in an error' },
  examples: ['start'],
  takes: { least: 0, most: 0 },
  async run(asked, signal) {
    const json = asked.flag('json')
    const words: Words = {
      positionals: [],
      given: [],
      text: () => undefined,
      texts: () => [],
      flag: () => false,
      whole: () => undefined,
    }
    const { plan } = await planned(words)
    const result = await plan.signal(signal)
    await finish(result, json)
    await sealed(result, json)
    if (!json && process.stdin.isTTY && process.stdout.isTTY && !signal.aborted) {
      const { openPrompt, RUN_HINTS } = await import('./prompt.ts')
      await openPrompt(
        { run: result },
        `The run above is in scope as "run". Try:\n${RUN_HINTS.map((code) => `  ${code}`).join('\n')}`,
      )
    }
    return result.complete ? EXIT.asHoped : EXIT.incomplete
  },
}
