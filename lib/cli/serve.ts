/** `touchstone serve`: the servers of one case for any MCP client, and the judgement at the end. */
import { existsSync } from 'node:fs'
import { dirname } from 'node:path'
import { foreign, lookOf, wrap } from '../display.ts'
import { TouchstoneError } from '../errors.ts'
import { makeFolder, writeNew, writing } from '../files.ts'
import {
  CONFIG_FORMATS,
  type ConfigFormat,
  configText,
} from '../harness/agent/program/mcp-config.ts'
import * as cases from '../harness/case/cases.ts'
import { type Case, type Judgement, type ServedCase, serve as serveCase } from '../harness/index.ts'
import { asker, requireTrusted } from './verb/trust.ts'
import { EXIT, JSON_OPTION, type Verb, type Words } from './verb/verb.ts'

/** Longest last words that are read. The servers' messages have the same limit. */
const MOST_WORDS_BYTES = 10 << 20

export const serve: Verb = {
  usage: 'touchstone serve FILE [ID] [options]',
  says: 'Serves one case to any MCP client, records each call, and judges what the servers hold at the end.',
  options: {
    stdio: {
      type: 'boolean',
      says: 'be the server: speak MCP on standard input and output. Judged when the client closes it',
    },
    http: {
      type: 'boolean',
      says: 'listen on loopback and print the configuration for clients (default). Judged when standard input ends, or at Ctrl-C',
    },
    format: {
      type: 'string',
      value: 'FORM',
      says: `the form of the printed configuration: ${CONFIG_FORMATS.join(', ')}. Default mcpServers`,
    },
    out: { type: 'string', value: 'FILE', says: 'write the judgement to a new file, as JSON' },
    seed: { type: 'string', value: 'N', says: 'where all draws come from. Default 1' },
    trust: {
      type: 'boolean',
      says: 'serve a case that starts commands, contacts addresses or uses variables of the environment without asking',
    },
    json: JSON_OPTION,
  },
  more: `ID names the case where the file holds several. Without --stdio the task and the configuration are printed first; what is
then written to standard input are the agent's last words, in which claims are looked for. With --stdio the tools of all
servers stand in one list, each behind its server's name where there are several, with "report" beside them; the judgement
goes to standard error, and as JSON to --out.`,
  exits: { 0: 'passed', 1: 'failed', 3: 'an error of the machinery', 4: 'cannot be judged' },
  examples: ['serve cases/lying_success/deploy-key.yaml lying_success/deploy-key'],
  takes: { least: 1, most: 2 },
  async run(words, signal) {
    const stdio = words.flag('stdio')
    const format = formatOf(words, stdio)
    const test = await chosen(words)
    const out = words.text('out')
    if (out !== undefined) requirePlace(out)
    // With --stdio nobody can be asked: the terminal is the client.
    const ask = stdio ? null : asker()
    await requireTrusted([test], { trust: words.flag('trust'), ask })
    const served = await serveCase(test, { seed: words.whole('seed', 0, 2 ** 40) ?? 1 })
    const said = stdio ? await client(served, signal) : await listening(served, format, signal)
    const judgement = await served.judge(said ?? '')
    const text = `${JSON.stringify(judgement, null, 2)}\n`
    // Printed first: a session cannot be had again where the file cannot be written.
    if (stdio) process.stderr.write(`${judgement.text(lookOf(process.stderr))}\n`)
    else
      process.stdout.write(
        words.flag('json') ? text : `\n${judgement.text(lookOf(process.stdout))}\n`,
      )
    if (out !== undefined) writeNew(out, text)
    if (said === null)
      throw new TouchstoneError(
        'usage',
        `expected last words of at most ${MOST_WORDS_BYTES} bytes on standard input, got more; none of them were read`,
      )
    return codeOf(judgement)
  },
}

/**
 * Make the folder of a file that is to be written at the end.
 *
 * @throws TouchstoneError `file_exists`, `file_unwritable`
 */
function requirePlace(file: string): void {
  if (existsSync(file))
    throw new TouchstoneError('file_exists', 'expected a path where nothing is yet, got a file', {
      where: file,
    })
  writing(file, () => makeFolder(dirname(file)))
}

function formatOf(words: Words, stdio: boolean): ConfigFormat {
  const format = words.text('format')
  if (stdio) {
    const other = ['http', 'format', 'json'].find((name) =>
      name === 'format' ? format !== undefined : words.flag(name),
    )
    if (other !== undefined)
      throw new TouchstoneError('usage', `expected --stdio without --${other}, got both`)
  }
  const found = CONFIG_FORMATS.find((one) => one === (format ?? 'mcpServers'))
  if (found) return found
  throw new TouchstoneError(
    'usage',
    `expected one of ${CONFIG_FORMATS.join(', ')}, got "${format}"`,
    {
      where: '--format',
    },
  )
}

async function chosen(words: Words): Promise<Case> {
  const [file, id] = words.positionals as [string, string?]
  const loaded = await cases.load(file)
  const found = id === undefined ? loaded : loaded.filter((one) => one.id === id)
  if (found.length === 1) return found[0] as Case
  const ids = loaded.map((one) => one.id).join(', ')
  throw new TouchstoneError(
    'usage',
    id === undefined
      ? `expected the id of one case (${ids}), got none`
      : `expected one of ${ids}, got "${id}"`,
    { where: file },
  )
}

/**
 * Print where the servers are, and wait for the end. Resolves to the agent's last words; null: they
 * are too long to be read.
 */
async function listening(
  served: ServedCase,
  format: ConfigFormat,
  signal: AbortSignal,
): Promise<string | null> {
  const look = lookOf(process.stderr)
  process.stdout.write(configText(format, served.mcpServers))
  const task = wrap(`Task: ${foreign(served.task, 2000)}`, look.width ?? 100)
  const end = process.stdin.isTTY
    ? 'When the agent is done, paste its last words and press Ctrl-D, or just press Ctrl-D.'
    : 'The case is judged when standard input ends.'
  process.stderr.write(`${task}\n${end}\n`)
  const over = AbortSignal.any([signal, served.signal])
  const parts: Buffer[] = []
  let sizeBytes = 0
  const { promise, resolve } = Promise.withResolvers<void>()
  const take = (part: Buffer) => {
    sizeBytes += part.length
    if (sizeBytes <= MOST_WORDS_BYTES) parts.push(part)
    else resolve()
  }
  process.stdin.on('data', take)
  process.stdin.once('end', resolve)
  process.once('SIGTERM', resolve)
  over.addEventListener('abort', () => resolve(), { once: true })
  if (over.aborted) resolve()
  await promise
  process.stdin.off('data', take).pause()
  if (sizeBytes > MOST_WORDS_BYTES) return null
  return Buffer.concat(parts).toString('utf8').trim()
}

/**
 * Be one server with the tools of all, for the client on standard input and output. Resolves when
 * it has gone.
 */
async function client(served: ServedCase, signal: AbortSignal): Promise<string> {
  const { serveStdio } = await import('../harness/agent/stdio-face.ts')
  const problem = await serveStdio(served, AbortSignal.any([signal, served.signal]))
  if (problem !== null) process.stderr.write(`${problem}\n`)
  return ''
}

function codeOf({ outcome }: Judgement): number {
  const codes = {
    pass: EXIT.asHoped,
    fail: EXIT.fellShort,
    error: EXIT.incomplete,
    unjudged: EXIT.undecided,
  }
  return codes[outcome]
}
