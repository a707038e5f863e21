/** `touchstone probe`: the published connection test, and the test of a server of one's own, from the command line. */
import { gotWord } from '../choice.ts'
import { foreign, lookOf } from '../display.ts'
import { TouchstoneError } from '../errors.ts'
import { readText } from '../files.ts'
import * as probes from '../probe/index.ts'
import { changesIn } from './changes.ts'
import { EXIT, JSON_OPTION, type Verb, type Words } from './verb.ts'

type Transport = 'streamable-http' | 'sse'
type Era = 'legacy' | 'modern' | 'auto'

/** What options of one's own server need beside them. */
const OF_OWN = ['era', 'timeout', 'header', 'env', 'cwd', 'ca', 'schemas', 'watch'] as const

export const probe: Verb = {
  usage:
    'touchstone probe URL... [options] | --stdio -- COMMAND [ARGS...] | --config FILE [NAME...]',
  says: 'Runs the published connection test (mcp-connection 1.0) against MCP servers. No tool is ever called.',
  options: {
    set: {
      type: 'string',
      value: 'ID@VERSION',
      says: 'another published set: mcp-connection-stateless@1.0 is for revision 2026-07-28',
    },
    transport: {
      type: 'string',
      value: 'NAME',
      says: 'streamable-http (default) or sse, as the server declares',
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
      says: 'your own command: a variable of its environment; without a value, as it is here',
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
    const repeats = words.whole('repeat', 1, 1000)
    const receipt = receiptOf(words, repeats)
    // All of them are made before the first is run, so that a slip in the last one stops nothing half-way.
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
        ? JSON.stringify(result, null, connections.length > 1 ? 0 : 2)
        : result.text(lookOf(process.stdout))
      process.stdout.write(`${text}\n`)
      if (receipt && 'outcome' in result) result.receipt(receipt.options).save(receipt.file)
      codes.push(...('results' in result ? result.results : [result]).map(codeOf))
    }
    return Math.max(...codes)
  },
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
  process.stderr.write(`${outcome}: ${subject}\n`)
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

function isGiven(words: Words, name: string): boolean {
  return words.flag(name) || words.text(name) !== undefined || words.texts(name).length > 0
}

type Wanted = { target: string | probes.Command; options: probes.ConnectOptions }

function targetsOf(words: Words): Wanted[] {
  const { positionals } = words
  const [stdio, local, config] = [words.flag('stdio'), words.flag('local'), words.text('config')]
  if ([stdio, local, config !== undefined].filter(Boolean).length > 1)
    throw new TouchstoneError('usage', 'expected one of --local, --stdio and --config, got several')
  if (positionals.length === 0 && config === undefined)
    throw new TouchstoneError('usage', `expected 1 or more of: ${probe.usage}, got 0`)
  const own = stdio || local || config !== undefined
  const stray = OF_OWN.find((name) => isGiven(words, name))
  if (!own && stray)
    throw new TouchstoneError('usage', `expected --local, --stdio or --config beside --${stray}`)
  if (stdio) {
    const [command = '', ...args] = positionals
    if (words.text('transport') !== undefined)
      throw new TouchstoneError('usage', 'expected no --transport beside --stdio')
    return [{ target: commandOf(words, { command, args }), options: ownOptions(words) }]
  }
  if (config !== undefined) return fromConfig(words, config)
  const transport = words.text('transport') as Transport | undefined
  const set = words.text('set')
  const options: probes.ConnectOptions = {
    ...(transport === undefined ? {} : { transport }),
    ...(set === undefined ? {} : { set }),
    ...(local ? { local, ...ownOptions(words) } : {}),
  }
  return positionals.map((target) => ({ target, options }))
}

function fromConfig(words: Words, path: string): Wanted[] {
  const servers = probes.configured(path)
  const names = words.positionals
  const missing = names.find((name) => !servers.some((server) => server.name === name))
  if (missing !== undefined) {
    const known = servers.map(({ name }) => name)
    throw new TouchstoneError(
      'usage',
      `expected one of ${known.join(', ')}, ${gotWord(missing, known)}`,
      {
        where: path,
      },
    )
  }
  return servers
    .filter(({ name }) => names.length === 0 || names.includes(name))
    .map(({ target, options }) => {
      const given = ownOptions(words)
      const headers = { ...options.headers, ...given.headers }
      if (typeof target !== 'string') return { target: commandOf(words, target), options: given }
      return { target, options: { ...options, ...given, headers } }
    })
}

function commandOf(words: Words, command: probes.Command): probes.Command {
  const cwd = words.text('cwd')
  const env = Object.fromEntries(
    words.texts('env').map((text): [string, string] => {
      const [name = '', ...rest] = text.split('=')
      const value = text.includes('=') ? rest.join('=') : process.env[name]
      if (name === '' || value === undefined)
        throw new TouchstoneError(
          'usage',
          `expected NAME=VALUE or a variable that is set, got ${name}`,
          {
            where: '--env',
          },
        )
      return [name, value]
    }),
  )
  return { ...command, env: { ...command.env, ...env }, ...(cwd === undefined ? {} : { cwd }) }
}

function ownOptions(words: Words): probes.ConnectOptions {
  const era = words.text('era') as Era | undefined
  const seconds = words.whole('timeout', 1, 3600)
  const ca = words.text('ca')
  const headers = words.texts('header').map((text): [string, string] => {
    const at = text.indexOf(':')
    if (at < 1) throw new TouchstoneError('usage', 'expected "Name: value"', { where: '--header' })
    return [text.slice(0, at).trim(), text.slice(at + 1).trim()]
  })
  return {
    ...(era === undefined ? {} : { era }),
    ...(seconds === undefined ? {} : { timeoutMs: seconds * 1000 }),
    ...(ca === undefined ? {} : { ca: readText(ca) }),
    ...(headers.length > 0 ? { headers: Object.fromEntries(headers) } : {}),
    ...(words.flag('schemas') ? { schemas: true } : {}),
  }
}
