/**
 * `touchstone probe`: the published connection test, and the test of a server of one's own, from
 * the command line.
 */
import { foreign, jsonText, lookOf } from '../display.ts'
import { TouchstoneError } from '../errors.ts'
import * as probes from '../probe/index.ts'
import { conformanceTargets, isGiven, PROBE_USAGE, targetsOf } from './probe-targets.ts'
import { EXIT, JSON_OPTION, type Verb, type Words } from './verb/verb.ts'
import { changesIn } from './watch.ts'

export const probe: Verb = {
  usage: PROBE_USAGE,
  says: 'Runs the published connection test (mcp-connection 1.0) against MCP servers. No tool is ever called.',
  options: {
    set: {
      type: 'string',
      value: 'ID@VERSION',
      says: 'another published set: mcp-connection-stateless@1.0 is for revision 2026-07-28; with --local, mcp-stateless-conformance@1.0',
    },
    transport: {
      type: 'string',
      value: 'NAME',
      says: 'streamable-http (default) or sse, as the server declares',
      offers: () => ['streamable-http', 'sse'],
    },
    repeat: {
      type: 'string',
      value: 'N',
      says: 'run it several times: latency as a distribution, and whether the outcome holds',
    },
    local: {
      type: 'boolean',
      says: 'a server of your own, such as http://127.0.0.1:8080/mcp: not the published test, and no receipt',
    },
    stdio: {
      type: 'boolean',
      says: 'the words are a command that speaks MCP on its standard input and output: probe --stdio -- npx -y SERVER',
    },
    config: {
      type: 'string',
      value: 'FILE',
      says: 'servers of your own from an mcp.json: those named, or all',
    },
    era: {
      type: 'string',
      value: 'NAME',
      says: 'your own server: legacy (default, with initialize), modern (2026-07-28), or auto',
      offers: () => ['legacy', 'modern', 'auto'],
    },
    timeout: {
      type: 'string',
      value: 'SECONDS',
      says: 'your own server: time for the whole test, default 60',
    },
    header: {
      type: 'string',
      multiple: true,
      value: '"NAME: VALUE"',
      says: 'your own server: a header of every request, such as a key',
    },
    env: {
      type: 'string',
      multiple: true,
      value: 'NAME[=VALUE]',
      says: 'your own command: a variable of its environment, which is small (SECURITY.md lists it); without a value, as it is here',
    },
    cwd: { type: 'string', value: 'FOLDER', says: 'your own command: where it is run' },
    ca: {
      type: 'string',
      value: 'PEM',
      says: 'your own server: a file with an authority to trust beside the system’s',
    },
    schemas: { type: 'boolean', says: 'your own server: keep each tool’s input schema (--json)' },
    receipt: {
      type: 'string',
      value: 'FILE',
      says: 'write a receipt that names the set by id, version and digest (one URL, one test)',
    },
    key: {
      type: 'string',
      value: 'PEM',
      says: 'sign the receipt with this Ed25519 private key. Without: unsigned',
    },
    watch: {
      type: 'string',
      value: 'FOLDER',
      says: 'your own server: test it again after each change in a folder, and say what changed in its tools',
    },
    json: {
      ...JSON_OPTION,
      says: `${JSON_OPTION.says}; of several servers, one line of JSON each`,
    },
  },
  exits: {
    0: 'every task passed',
    1: 'it answered and fell short',
    3: 'it could not be tested: it asked for credentials, gave no answer, or was refused; standard error has the word',
  },
  examples: [
    'probe --stdio -- npx -y @modelcontextprotocol/server-everything',
    'probe https://mcp.example.com/mcp --json',
  ],
  takes: { least: 0, most: Number.POSITIVE_INFINITY },
  async run(words, signal) {
    const own = conformanceTargets(words)
    if (own) return conform(own, words.flag('json'), signal)
    const repeats = words.whole('repeat', 1, 1000)
    const receipt = receiptOf(words, repeats)
    // All of them are made before the first is run, so that a slip in the last one stops nothing
    // half-way.
    const connections = targetsOf(words).map(({ target, options }) =>
      probes.connect(target, { ...options, signal }),
    )
    const json = words.flag('json')
    const folder = words.text('watch')
    if (folder !== undefined) return watch(connections, folder, signal)
    const codes: number[] = []
    for (const connection of connections) {
      let result: probes.ProbeResult | probes.ProbeRuns
      try {
        result = repeats === undefined ? await connection : await connection.repeat(repeats)
      } catch (error) {
        if (signal.aborted) return 130
        throw error
      }
      const text = json
        ? jsonText(result, connections.length > 1 ? 0 : 2)
        : result.text(lookOf(process.stdout))
      process.stdout.write(`${text}\n`)
      if (receipt && 'outcome' in result) result.receipt(receipt.options).save(receipt.file)
      codes.push(...('results' in result ? result.results : [result]).map(codeOf))
    }
    return Math.max(...codes)
  },
}

/** What each server refuses, by the set mcp-stateless-conformance. */
async function conform(
  { urls, options }: { urls: string[]; options: probes.ConformanceOptions },
  json: boolean,
  signal: AbortSignal,
): Promise<number> {
  const codes: number[] = []
  for (const url of urls) {
    let found: probes.Conformance
    try {
      found = await probes.conformance(url, { ...options, signal })
    } catch (error) {
      if (signal.aborted) return 130
      throw error
    }
    const text = json
      ? jsonText(found, urls.length > 1 ? 0 : 2)
      : found.text(lookOf(process.stdout))
    process.stdout.write(`${text}\n`)
    const must = found.checks.filter(({ demand }) => demand === 'MUST')
    const silent = found.checks.every(({ httpStatus }) => httpStatus === null)
    if (silent) codes.push(EXIT.incomplete)
    else codes.push(must.every(({ passed }) => passed) ? EXIT.asHoped : EXIT.fellShort)
  }
  return Math.max(...codes)
}

/** Test a server again and again, until Ctrl-C ends it. */
async function watch(
  connections: probes.Connection[],
  folder: string,
  signal: AbortSignal,
): Promise<number> {
  const [connection] = connections
  if (connection === undefined || connections.length > 1)
    throw new TouchstoneError('usage', 'expected one server beside --watch, got several')
  let before: probes.ProbeResult | null = null
  try {
    for await (const _ of changesIn(folder, signal)) {
      const result = await connection.run()
      process.stdout.write(`${result.text(lookOf(process.stdout))}\n`)
      if (before) {
        const { tools } = probes.compare(before, result)
        const parts = tools
          ? [
              ...tools.added.map((name) => `+ ${name}`),
              ...tools.removed.map((name) => `- ${name}`),
              ...tools.changed.map(({ tool }) => `~ ${tool}`),
            ]
          : []
        process.stdout.write(
          `changed: ${parts.map((part) => foreign(part)).join(', ') || 'no tool'}\n`,
        )
      }
      process.stdout.write('\n')
      before = result
    }
  } catch (error) {
    if (!signal.aborted) throw error
  }
  return 130
}

/** Says on standard error why a server could not be tested. */
function codeOf(result: probes.ProbeResult): number {
  const { outcome, attempted, passed, subject, set } = result
  if (outcome === 'answered' || outcome === 'error') {
    return passed === attempted && attempted > 0 ? EXIT.asHoped : EXIT.fellShort
  }
  process.stderr.write(`${outcome}: ${foreign(subject, 300)}\n`)
  if (outcome === 'refused' && set)
    process.stderr.write(
      'A server of your own is tried with --local (no published test, no receipt).\n',
    )
  return EXIT.incomplete
}

function receiptOf(words: Words, repeats = 1) {
  const file = words.text('receipt')
  if (file === undefined) return null
  if (words.positionals.length !== 1 || repeats > 1)
    throw new TouchstoneError('usage', 'expected one URL and one test for a receipt')
  const own = (['local', 'stdio', 'config'] as const).find((name) => isGiven(words, name))
  if (own)
    throw new TouchstoneError('usage', `expected a published test for a receipt, got --${own}`)
  return { file, options: { key: words.text('key') } }
}
