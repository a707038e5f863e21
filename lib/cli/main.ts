/** The command line: verbs over the SDK, the prompt, and scripts. */
import { gotWord } from '../choice.ts'
import { lookOf } from '../display.ts'
import { printable, TouchstoneError } from '../errors.ts'
import { endWell } from './process-end.ts'
import { EXIT, helpOf, readWords } from './verb/verb.ts'
import { VERBS } from './verbs.ts'

/**
 * Run the command line.
 *
 * @returns exit code: 0 as hoped; 1 the thing under test fell short; 2 bad usage or unreadable
 *   input; 3 the run is incomplete; 4 undecided
 */
export async function main(args: string[]): Promise<number> {
  // When nobody reads the output any more a script ends; a verb goes on: it may write files.
  endWell(() => Object.hasOwn(VERBS, args[0] ?? '') || process.exit())
  try {
    const code = await dispatch(args)
    // A script may have said itself that it fell short.
    if (code === EXIT.asHoped) return Number(process.exitCode ?? code)
    // Timers and servers of code that failed are not waited for.
    return args[0] === 'notebook' || !Object.hasOwn(VERBS, args[0] ?? '')
      ? process.exit(code)
      : code
  } catch (error) {
    if (error instanceof TouchstoneError) {
      process.stderr.write(`${error.code}: ${error.message}\n`)
      return EXIT.badUsage
    }
    process.stderr.write(
      `${printable(error instanceof Error ? (error.stack ?? error.message) : String(error))}\n`,
    )
    return EXIT.badUsage
  }
}

async function dispatch(args: string[]): Promise<number> {
  const [first, ...rest] = args
  if (first === undefined) return process.stdin.isTTY ? prompt() : script({ stdin: process.stdin })
  if (['--version', '-v', '-V', 'version'].includes(first)) return say(await ownVersion())
  if (first === 'help' && rest[0] !== undefined) return dispatch([...rest, '--help'])
  if (first === '--help' || first === '-h' || first === 'help') return say(await overview())
  if (first === 'repl' && rest.length === 0) return prompt()
  if (first === '-e' || first === '--eval') {
    if (rest.length !== 1)
      throw new TouchstoneError('usage', `expected code behind ${first}, got ${rest.length} words`)
    return script({ code: rest[0] as string })
  }
  const verb = Object.hasOwn(VERBS, first) ? await VERBS[first]?.() : undefined
  if (verb) {
    const options = rest.includes('--') ? rest.slice(0, rest.indexOf('--')) : rest
    if (options.includes('--help') || options.includes('-h'))
      return say(helpOf(verb, lookOf(process.stdout).width))
    try {
      return await verb.run(readWords(first, verb, rest), interrupted())
    } catch (error) {
      verb.refused?.(rest, error)
      throw error
    }
  }
  if (/\.[cm]?[jt]s$/.test(first)) return script({ file: first })
  throw new TouchstoneError(
    'usage',
    `expected one of ${Object.keys(VERBS).join(', ')}, -e CODE or FILE.ts, ${gotWord(first, Object.keys(VERBS))}`,
  )
}

/** Aborts on the first Ctrl-C, so that what runs can end well; the second ends the process. */
function interrupted(): AbortSignal {
  const controller = new AbortController()
  process.once('SIGINT', () => {
    process.stderr.write('\nStopping after what is running; once more stops now.\n')
    controller.abort(new DOMException('stopped by Ctrl-C', 'AbortError'))
    process.once('SIGINT', () => process.exit(130))
  })
  return controller.signal
}

async function ownVersion(): Promise<string> {
  return (await import('../harness/run/packages.ts')).ownVersion()
}

async function prompt(): Promise<number> {
  const { openPrompt } = await import('./prompt.ts')
  await openPrompt()
  return EXIT.asHoped
}

async function script(what: {
  code?: string
  file?: string
  stdin?: NodeJS.ReadStream
}): Promise<number> {
  const [{ runScript }, { scope }] = await Promise.all([
    import('../repl/script.ts'),
    import('./prompt.ts'),
  ])
  return runScript({ ...what, scope: await scope() })
}

function say(text: string): number {
  process.stdout.write(`${text}\n`)
  return EXIT.asHoped
}

async function overview(): Promise<string> {
  const verbs = await Promise.all(
    Object.entries(VERBS).map(async ([name, load]) => [name, (await load()).says] as const),
  )
  const lines = verbs.map(
    ([name, says]) => `  ${name.padEnd(10)} ${says.split('. ')[0]?.replace(/\.$/, '')}.`,
  )
  return [
    'Usage: touchstone [VERB]        without a verb: the prompt; piped text is run',
    '       touchstone -e CODE | FILE.ts',
    '',
    ...lines,
    '',
    'touchstone VERB --help says more. Exit codes: 0 as hoped, 1 it fell short, 2 bad usage, 3 incomplete, 4 undecided.',
  ].join('\n')
}
