/** The words behind `touchstone probe`, as what is tested and how. */
import { gotWord } from '../choice.ts'
import { TouchstoneError } from '../errors.ts'
import { readText } from '../files.ts'
import * as probes from '../probe/index.ts'
import type { Words } from './verb/verb.ts'

type Transport = 'streamable-http' | 'sse'
type Era = 'legacy' | 'modern' | 'auto'

export const PROBE_USAGE =
  'touchstone probe URL... [options] | --stdio -- COMMAND [ARGS...] | --config FILE [NAME...]'

/** What options of one's own server need beside them. */
const OF_OWN = ['era', 'timeout', 'header', 'env', 'cwd', 'ca', 'schemas', 'watch'] as const

const CONFORMANCE = 'mcp-stateless-conformance@1.0'
/** What a test by that set takes beside URLs. */
const OF_CONFORMANCE = ['set', 'local', 'header', 'ca', 'json']

/** What is to be tested by the conformance set; null when another set is asked for. */
export function conformanceTargets(
  words: Words,
): { urls: string[]; options: probes.ConformanceOptions } | null {
  if (words.text('set') !== CONFORMANCE) return null
  if (!words.flag('local') || words.positionals.length === 0)
    throw new TouchstoneError(
      'usage',
      `expected --local and a URL beside ${CONFORMANCE}: it is for servers of your own`,
    )
  const stray = words.given.find((name) => !OF_CONFORMANCE.includes(name))
  if (stray !== undefined)
    throw new TouchstoneError('usage', `expected no --${stray} beside ${CONFORMANCE}`)
  const { headers, ca } = ownOptions(words)
  const options = { ...(headers ? { headers } : {}), ...(ca === undefined ? {} : { ca }) }
  return { urls: words.positionals, options }
}

/** Was an option given at all? */
export function isGiven(words: Words, name: string): boolean {
  return words.given.includes(name)
}

type Wanted = { target: string | probes.Command; options: probes.ConnectOptions }

export function targetsOf(words: Words): Wanted[] {
  const { positionals } = words
  const [stdio, local, config] = [words.flag('stdio'), words.flag('local'), words.text('config')]
  if ([stdio, local, config !== undefined].filter(Boolean).length > 1)
    throw new TouchstoneError('usage', 'expected one of --local, --stdio and --config, got several')
  if (positionals.length === 0 && config === undefined)
    throw new TouchstoneError('usage', `expected 1 or more of: ${PROBE_USAGE}, got 0`)
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
    const message = `expected one of ${known.join(', ')}, ${gotWord(missing, known)}`
    throw new TouchstoneError('usage', message, { where: path })
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
