/** What a program under test is told, and the check of it. */
import { existsSync } from 'node:fs'
import { delimiter, isAbsolute, join, relative, resolve } from 'node:path'
import { onlyMembers } from '../../../arguments.ts'
import { canonical } from '../../../canonical.ts'
import { TouchstoneError } from '../../../errors.ts'
import { isObject, type JsonObject } from '../../../json.ts'
import { notHandedFor } from '../../../process/child.ts'
import { CONFIG_FORMATS, type ConfigFormat, SERVERS_MEMBER } from './mcp-config.ts'

/**
 * Where an answer stands in what was printed as JSON, one value or one on each line: paths such as
 * `result`, `messages[-1].content`, `stats.models.*.tokens.prompt`, or of the lines that have a
 * member `[type=text].part.text`. Counts are added up: where a path leads to several, and over
 * paths with ` + ` between them. A count of which a part is not there is unknown.
 */
export type AnswerPaths = {
  text: string
  claims?: string
  inputTokens?: string
  outputTokens?: string
  steps?: string
  model?: string
  /** Why a program ended with an exit code other than 0. Default: found in its standard error. */
  error?: string
}

/**
 * A program under test. In its texts `{task}`, `{task_file}`, `{mcp_config}`, `{mcp_servers}` (what
 * that file says of the servers, in one argument), `{mcp_names}` (`a,b`), `{url}`, `{seed}` and
 * `{folder}` are filled in.
 */
export type CommandAgent = {
  command: string
  /** The package that brings the program, named where it is missing. */
  from?: string
  args?: readonly string[]
  /** Written to its standard input. Default: nothing. */
  input?: string
  /** Laid over the environment of this process; `$NAME` is that variable of it. */
  env?: { readonly [name: string]: string }
  /**
   * Its working folder. Default: this process's. `{folder}` is one that is made for the trial and
   * deleted after it.
   */
  cwd?: string
  /**
   * The form of the file `{mcp_config}`. Default `mcpServers`, which Claude Code, Cursor and many
   * others read; `gemini` is the same with `httpUrl` for addresses (Gemini CLI, Qwen Code).
   */
  format?: ConfigFormat
  /**
   * Where in `{folder}` that file lies, for a program that looks for it itself, such as
   * `.cursor/mcp.json`. Default: outside of it.
   */
  configFile?: string
  /** Members of that file beside the servers, for the forms in JSON. */
  settings?: JsonObject
  /** How that file hands over the servers. Default `http`. */
  transport?: 'http' | 'stdio'
  /**
   * Its answer: all of its standard output (default), or paths into the JSON there: of several
   * lines into the last, unless the path begins with `[`.
   */
  output?: 'text' | string | AnswerPaths
  /**
   * Texts in what it prints that say, beside an exit code other than 0, that its model could not be
   * reached or refused it: an error of the machinery, not of the agent.
   */
  unavailable?: readonly string[]
  /** What of it is tested: told apart by it, beside the words above. */
  version?: string
}

export const COMMAND_MEMBERS = [
  'name',
  'version',
  'command',
  'args',
  'input',
  'env',
  'cwd',
  'format',
  'configFile',
  'settings',
  'transport',
  'output',
  'unavailable',
  'from',
]

const PATH_MEMBERS = ['text', 'claims', 'inputTokens', 'outputTokens', 'steps', 'model', 'error']

/** @throws TouchstoneError `argument_invalid` naming the member that is not right */
export function requireCommand(how: CommandAgent): void {
  const at = (member: keyof CommandAgent) => `agent.command: ${member}`
  const { format = 'mcpServers', command, configFile, settings, transport, output } = how
  if (!isHanded(command) || command === '') invalid('a program', command, at('command'))
  if (!CONFIG_FORMATS.includes(format))
    invalid(`one of ${CONFIG_FORMATS.join(', ')}`, format, at('format'))
  if (configFile !== undefined && !isInside(configFile))
    invalid('a path of a file inside {folder}', configFile, at('configFile'))
  if (settings !== undefined) requireSettings(settings, format)
  if (transport !== undefined && !['http', 'stdio'].includes(transport))
    invalid('http or stdio', transport, at('transport'))
  if (how.args !== undefined) requireTexts(how.args, at('args'))
  if (how.env !== undefined) requireVariables(how.env, at('env'))
  for (const member of ['input', 'from'] as const)
    if (how[member] !== undefined && typeof how[member] !== 'string')
      invalid('a text', how[member], at(member))
  if (how.cwd !== undefined && (!isHanded(how.cwd) || how.cwd === ''))
    invalid('a folder', how.cwd, at('cwd'))
  if (output !== undefined) requireOutput(output)
  if (how.unavailable !== undefined && !(isTexts(how.unavailable) && !how.unavailable.includes('')))
    invalid('a list of texts that are not empty', how.unavailable, at('unavailable'))
}

/** @throws TouchstoneError `argument_invalid` for a version that is no text */
export function requireVersion(version: unknown, where: string): void {
  if (version !== undefined && typeof version !== 'string') invalid('a text', version, where)
}

/** @throws TouchstoneError `argument_invalid` for what is no list of words of a command line */
export function requireTexts(values: unknown, where: string): void {
  if (!Array.isArray(values) || !values.every(isHanded)) invalid('a list of texts', values, where)
}

/** @throws TouchstoneError `argument_invalid` for what are no variables of an environment */
export function requireVariables(values: unknown, where: string): void {
  if (
    !isObject(values) ||
    !Object.entries(values as object)
      .flat()
      .every(isHanded)
  )
    invalid('texts by name', values, where)
}

/**
 * The task of a case has to fit into each word that it is a part of.
 *
 * @throws TouchstoneError `argument_invalid` naming the case
 */
export function requireTask({ args = [], env = {} }: CommandAgent, task: string, of: string): void {
  for (const word of [...args, ...Object.values(env)]) {
    const reason = word.includes('{task}')
      ? notHandedFor(word.replaceAll('{task}', () => task))
      : null
    if (reason !== null)
      throw new TouchstoneError(
        'argument_invalid',
        `expected a task that a program can be handed in its words, got ${reason}; {task_file} and input: '{task}' take any task`,
        { where: `agent.command, ${of}` },
      )
  }
}

function requireSettings(settings: JsonObject, format: ConfigFormat): void {
  const where = 'agent.command: settings'
  if (!isObject(settings) || format === 'codex')
    invalid('an object, for a format in JSON', settings, where)
  const own = SERVERS_MEMBER[format]
  if (own !== null && Object.hasOwn(settings, own))
    invalid(`members beside ${own}, where the servers of the trial stand`, own, where)
  try {
    canonical(settings)
  } catch (cause) {
    const got = (cause as Error).message.replace(/^.*, got /, '')
    throw new TouchstoneError('argument_invalid', `expected values of JSON, got ${got}`, {
      where,
      cause,
    })
  }
}

function requireOutput(output: NonNullable<CommandAgent['output']>): void {
  const where = 'agent.command: output'
  if (typeof output === 'string' && output !== '') return
  if (!isObject(output)) invalid('text, a path, or paths by name', output, where)
  onlyMembers(output, PATH_MEMBERS, where)
  const { text, ...rest } = output as AnswerPaths
  if (text === undefined) invalid('a path to the text', text, `${where}.text`)
  for (const [name, path] of Object.entries({ text, ...rest }))
    if (path !== undefined && (typeof path !== 'string' || path === ''))
      invalid('a path', path, `${where}.${name}`)
}

/** A text that a program can be handed: the system ends each at its first NUL. */
function isHanded(value: unknown): value is string {
  return typeof value === 'string' && !value.includes('\0')
}

/** Programs that run a script, or another program, which is what a person calls the agent. */
const RUNNERS =
  /^(python|pypy|node|deno|bun|ruby|perl|php|java|tsx|npx|bunx|uvx?|pipx|env|(ba|z)?sh)[\d.]*(\.exe)?$/

/** `python3 my_agent.py` is my_agent; `npx -y @acme/agent@2` is agent. */
export function nameOfProgram(command: string, args: readonly string[]): string {
  const baseOf = (path: string) => path.split(/[\\/]/).at(-1) ?? ''
  const words = args.filter((word) => !/^-|[{}\s=]|^(run|exec)$/.test(word))
  // An option before the script may have a value of its own.
  const script =
    RUNNERS.test(baseOf(command)) && !args.some((word) => /^-[ce]$|^--eval$/.test(word))
      ? (words.find((word) => /\.([cm]?[jt]s|py|rb|pl|php|sh|jar)$/.test(word)) ?? words[0])
      : undefined
  const named = script?.replace(/(?<=.)@[^/]*$/, '').replace(/\.[A-Za-z]+$/, '')
  const safe = (text: string) =>
    baseOf(text)
      .replace(/[^A-Za-z0-9_.-]/g, '-')
      .replace(/^[^A-Za-z0-9]+/, '')
  return safe(named ?? '') || safe(command) || 'agent'
}

/** A path that stays below the folder that it starts from. */
function isInside(path: unknown): boolean {
  if (!isHanded(path) || path === '' || isAbsolute(path) || /[\\/]$/.test(path)) return false
  return !relative('.', path).startsWith('..') && relative('.', path) !== ''
}

/** A list of texts. */
export function isTexts(values: unknown): boolean {
  return Array.isArray(values) && values.every((one) => typeof one === 'string')
}

/** What an option of an agent should have been. */
export function invalid(expected: string, got: unknown, where: string): never {
  const shown = Array.isArray(got)
    ? 'a list'
    : typeof got === 'object' && got !== null
      ? 'an object'
      : typeof got === 'bigint'
        ? `${got}n`
        : typeof got === 'number'
          ? String(got)
          : JSON.stringify(got)
  throw new TouchstoneError(
    'argument_invalid',
    `expected ${expected}, got ${shown ?? String(got)}`,
    {
      where,
    },
  )
}

/** The program's own search path: what the project has installed comes first. */
export function searchPath(): string {
  return [resolve('node_modules/.bin'), process.env['PATH'] ?? ''].join(delimiter)
}

/**
 * What is missing where a program cannot be found, as `claude of @anthropic-ai/claude-code`; null
 * where it is there, or where a trial says which one it is.
 */
export function missingProgram({ command, from }: CommandAgent): string | null {
  if (command.includes('{')) return null
  const places = /[\\/]/.test(command)
    ? [resolve(command)]
    : searchPath()
        .split(delimiter)
        .filter(Boolean)
        .map((folder) => join(folder, command))
  const endings = process.platform === 'win32' ? ['', '.exe', '.cmd', '.bat'] : ['']
  if (places.some((place) => endings.some((ending) => existsSync(place + ending)))) return null
  return from === undefined ? command : `${command} of ${from}`
}
