/** What a program under test is told, and the check of it. */
import { existsSync } from 'node:fs'
import { delimiter, isAbsolute, join, relative, resolve } from 'node:path'
import { TouchstoneError } from '../../../errors.ts'
import type { JsonObject } from '../../../json.ts'
import { CONFIG_FORMATS, type ConfigFormat } from './mcp-config.ts'

/** Where an answer stands in a JSON text: paths such as `result` or `messages[-1].content`. */
export type AnswerPaths = {
  text: string
  claims?: string
  inputTokens?: string
  outputTokens?: string
  steps?: string
  model?: string
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
   * Its answer: all of its standard output (default), or paths into the JSON there, the last line
   * of it where there are several.
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
  'from',
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
]

/** @throws TouchstoneError `argument_invalid` naming the member that is not right */
export function requireCommand(how: CommandAgent): void {
  if (typeof how.command !== 'string' || how.command === '')
    invalid('a program', how.command, 'agent.command: command')
  if (how.format !== undefined && !CONFIG_FORMATS.includes(how.format))
    invalid(`one of ${CONFIG_FORMATS.join(', ')}`, how.format, 'agent.command: format')
  if (how.configFile !== undefined && !isInside(how.configFile))
    invalid('a path inside {folder}', how.configFile, 'agent.command: configFile')
  if (how.settings !== undefined && (!isObject(how.settings) || how.format === 'codex'))
    invalid('an object, for a format in JSON', how.settings, 'agent.command: settings')
  if (how.transport !== undefined && !['http', 'stdio'].includes(how.transport))
    invalid('http or stdio', how.transport, 'agent.command: transport')
  if (how.args !== undefined && !isTexts(how.args))
    invalid('a list of texts', how.args, 'agent.command: args')
  if (how.env !== undefined && !isTexts(Object.values(how.env)))
    invalid('texts by name', how.env, 'agent.command: env')
  if (how.unavailable !== undefined && !isTexts(how.unavailable))
    invalid('a list of texts', how.unavailable, 'agent.command: unavailable')
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

function isObject(value: unknown): boolean {
  return value !== null && typeof value === 'object' && !Array.isArray(value)
}

/** A path that stays below the folder that it starts from. */
function isInside(path: unknown): boolean {
  if (typeof path !== 'string' || path === '' || isAbsolute(path)) return false
  return !relative('.', path).startsWith('..') && relative('.', path) !== ''
}

/** A list of texts. */
export function isTexts(values: unknown): boolean {
  return Array.isArray(values) && values.every((one) => typeof one === 'string')
}

/** What an option of an agent should have been. */
export function invalid(expected: string, got: unknown, where: string): never {
  const shown = typeof got === 'object' && got !== null ? 'an object' : JSON.stringify(got)
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
