/** `touchstone probe`: the published connection test, from the command line. */
import { lookOf } from '../display.ts'
import { TouchstoneError } from '../errors.ts'
import * as probes from '../probe/index.ts'
import { EXIT, JSON_OPTION, print, type Verb } from './verb.ts'

const TRANSPORTS = ['streamable-http', 'sse'] as const

export const probe: Verb = {
  usage: 'touchstone probe URL... [options] | --stdio -- COMMAND [ARGS...]',
  says: 'Runs the published connection test (mcp-connection 1.0) against MCP servers. No tool is ever called.',
  options: {
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
    json: JSON_OPTION,
  },
  takes: { least: 1, most: Number.POSITIVE_INFINITY },
  async run(words, signal) {
    const transport = words.text('transport') as (typeof TRANSPORTS)[number] | undefined
    if (transport !== undefined && !TRANSPORTS.includes(transport)) {
      throw new TouchstoneError(
        'transport_unknown',
        `expected ${TRANSPORTS.join(' or ')}, got "${transport}"`,
        {
          where: '--transport',
        },
      )
    }
    const repeats = words.whole('repeat', 1, 1000)
    const file = words.text('receipt')
    if (file !== undefined && (words.positionals.length > 1 || (repeats ?? 1) > 1)) {
      throw new TouchstoneError('usage', 'expected one URL and one test for a receipt')
    }
    const [command, ...args] = words.positionals
    const stdio = words.flag('stdio') && command !== undefined
    if (stdio && (file !== undefined || transport !== undefined || words.flag('local')))
      throw new TouchstoneError(
        'usage',
        'expected --repeat or --json beside --stdio, got another option',
      )
    let answered = true
    let refused = false
    for (const target of stdio ? [{ command, args }] : words.positionals) {
      const connection = probes.connect(target, {
        signal,
        ...(transport && { transport }),
        ...(words.flag('local') && { local: true }),
      })
      const result = repeats === undefined ? await connection : await connection.repeat(repeats)
      print(result, words.flag('json'), result.text(lookOf(process.stdout)))
      if ('outcome' in result) {
        answered &&= result.outcome === 'answered'
        refused ||= result.outcome === 'refused'
        if (file !== undefined) result.receipt({ key: words.text('key') }).save(file)
      } else answered &&= Object.keys(result.outcomes).every((outcome) => outcome === 'answered')
    }
    if (refused && !words.flag('local'))
      process.stderr.write(
        'A server of your own is tried with --local (no published test, no receipt).\n',
      )
    return answered ? EXIT.asHoped : EXIT.fellShort
  },
}
