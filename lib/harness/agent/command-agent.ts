/** One trial of an agent that is a program: its files, its words, and what it said. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { TouchstoneError } from '../../errors.ts'
import { removeFolder, temporaryFolder } from '../../process/temporary.ts'
import { keepSecrets, redacted } from '../../secrets.ts'
import { filledIn } from '../server/variables.ts'
import {
  addressesOf,
  type Ended,
  filler,
  httpServers,
  read,
  stdioServers,
  type Trial,
} from './agent-trial.ts'
import { type Answer, answerIn, answerOf } from './answer.ts'
import type { AgentEnd } from './ending.ts'
import { type AnswerPaths, type CommandAgent, searchPath } from './program/command.ts'
import { crashReason } from './program/crash-reason.ts'
import { jsonOutput, textAt } from './program/json-output.ts'
import { CONFIG_FILES, configText, inlineConfig } from './program/mcp-config.ts'
import { runProgram } from './program/run-program.ts'

/** Longest text that a transcript keeps of a program's output, in characters. */
const MOST_KEPT = 4000
/** EX_TEMPFAIL of sysexits.h: the program says that it failed for a reason that passes. */
const TEMPORARY_FAILURE = 75
/** What this machine has too little of for another process, whichever program it would be. */
const WANTING = new Set(['EAGAIN', 'EMFILE', 'ENFILE', 'ENOBUFS', 'ENOMEM'])

export async function runCommand(options: CommandAgent, trial: Trial): Promise<Ended> {
  const { output = 'text' } = options
  const paths = output === 'text' ? null : typeof output === 'string' ? { text: output } : output
  const folder = temporaryFolder('agent')
  try {
    const format = options.format ?? 'mcpServers'
    const work = join(folder, 'work')
    mkdirSync(work)
    const addresses = await addressesOf(trial.gateway)
    const servers = options.transport === 'stdio' ? stdioServers(addresses) : httpServers(addresses)
    const config = options.configFile
      ? join(work, options.configFile)
      : join(folder, CONFIG_FILES[format])
    mkdirSync(dirname(config), { recursive: true })
    writeFileSync(config, configText(format, servers, options.settings), { mode: 0o600 })
    const taskFile = join(folder, 'task.txt')
    writeFileSync(taskFile, trial.task)
    const fill = filler({
      task: trial.task,
      task_file: taskFile,
      mcp_config: config,
      mcp_config_dir: dirname(config),
      mcp_servers: inlineConfig(format, servers),
      mcp_names: Object.keys(servers).join(','),
      url: addresses[0]?.[1] ?? '',
      seed: String(trial.seed),
      folder: work,
    })
    const own = filledIn(options.env ?? {}, 'agent env')
    // The program inherits the environment, so it can print each key in it.
    keepSecrets(process.env)
    const env = Object.fromEntries(Object.entries(own).map(([name, value]) => [name, fill(value)]))
    const program = fill(options.command)
    const end = await runProgram({
      command: /[\\/]/.test(program) ? resolve(program) : program,
      args: (options.args ?? []).map(fill),
      input: options.input === undefined ? null : fill(options.input),
      env: { ...process.env, PATH: searchPath(), ...env },
      cwd: options.cwd === undefined ? process.cwd() : resolve(fill(options.cwd)),
      signal: trial.signal,
      where: 'agent',
      keep: paths === null ? 'start' : 'end',
    }).catch((cause: NodeJS.ErrnoException) => cause)
    if (end instanceof TouchstoneError)
      return {
        end: { how: 'agent_error', code: 'agent_missing', message: end.message, final: true },
      }
    if (end instanceof Error && WANTING.has(end.code ?? '')) throw end
    if (end instanceof Error) {
      const message = `expected a program that can be started, got ${end.code ?? end.message} (${options.from ? `${program} of ${options.from}` : program})`
      return { end: { how: 'agent_error', code: 'agent_missing', message, final: true } }
    }
    const { code, signal } = end
    const stdout = redacted(end.stdout)
    const notes = {
      exit_code: code,
      exit_signal: signal,
      stdout: stdout.slice(0, MOST_KEPT).toWellFormed(),
      stderr: redacted(end.stderr).slice(-MOST_KEPT).toWellFormed(),
      output_cut: end.cut,
    }
    const gone = options.unavailable?.some((text) => `${end.stdout}\n${end.stderr}`.includes(text))
    if (code !== 0) {
      const stderr = redacted(end.stderr)
      const said =
        reasonIn(stdout, paths) ||
        reasonIn(stderr.slice(stderr.lastIndexOf('\n{') + 1), paths) ||
        crashReason(stderr) ||
        crashReason(stdout.slice(-MOST_KEPT))
      return { end: exitOf(code, signal, said, gone), notes }
    }
    const answer = read(() => outputOf(stdout, paths, end.cut), notes)
    // A program may say that its model is not to be had, and exit with 0.
    if (gone && 'end' in answer && answer.end.how === 'answer_invalid')
      return { end: unavailableBy(answer.end.message), notes }
    return answer
  } finally {
    await removeFolder(folder)
  }
}

/** Why it failed, in its own words, where it prints that as JSON that can be read. */
function reasonIn(text: string, paths: AnswerPaths | null): string | undefined {
  try {
    const output = paths?.error === undefined ? undefined : jsonOutput(text)
    return output && textAt(output, paths?.error as string)
  } catch {
    return undefined
  }
}

/**
 * An exit code other than 0: the agent's own doing, unless it says that it is a failure that
 * passes, or that its model is not to be had.
 *
 * @param said why, in its own words
 */
function exitOf(
  code: number | null,
  signal: NodeJS.Signals | null,
  said: string,
  unavailable = false,
): AgentEnd {
  const how = code === null ? `signal ${signal}` : `exit code ${code}`
  const message =
    `expected exit code 0, got ${how}${said ? `: ${said.slice(0, 200)}` : ''}`.toWellFormed()
  if (code === TEMPORARY_FAILURE || unavailable) return unavailableBy(message)
  return { how: 'agent_crashed', message, by: how, words: said.slice(0, 200).toWellFormed() }
}

function unavailableBy(message: string): AgentEnd {
  return { how: 'agent_error', code: 'agent_unavailable', message, final: false }
}

function outputOf(stdout: string, paths: AnswerPaths | null, cut: boolean): Answer {
  if (paths === null) return answerOf(stdout.trim())
  const output = jsonOutput(stdout, cut)
  if (output === undefined)
    throw new Error(`expected JSON on standard output, got "${stdout.slice(0, 80).toWellFormed()}"`)
  return answerIn(output, paths)
}
