/** What a verb of the command line is, and how its words are read. */
import { parseArgs } from 'node:util'
import { gotWord } from '../../choice.ts'
import { coloured, jsonText, wrap } from '../../display.ts'
import { TouchstoneError } from '../../errors.ts'

export type Option = {
  type: 'string' | 'boolean'
  multiple?: boolean
  short?: string
  /** What follows the option in the help, such as FILE. */
  value?: string
  says: string
  /** What a shell offers for its value, given the words before. Default: files. */
  offers?: (given: readonly string[]) => readonly string[] | Promise<readonly string[]>
}

/** The words behind a verb, read. */
export type Words = {
  positionals: string[]
  /** Names of the options that were given. */
  given: string[]
  text(name: string): string | undefined
  texts(name: string): string[]
  flag(name: string): boolean
  whole(name: string, low: number, high: number): number | undefined
}

export type Verb = {
  /** `touchstone run [CASES...]` without the options. */
  usage: string
  says: string
  options: { [name: string]: Option }
  /** What the options do not say by themselves, behind them in the help. */
  more?: string
  /** What each exit code means here. Bad usage is 2 everywhere. */
  exits: { [code in 0 | 1 | 3 | 4 | 130]?: string }
  /** Command lines behind `touchstone`. A test runs each as it is printed. */
  examples: readonly string[]
  /** How many words without a dash it takes. */
  takes: { least: number; most: number }
  /**
   * What a shell offers for a word without a dash, given those before it, and all words. Default:
   * files.
   */
  offers?: (
    before: readonly string[],
    given: readonly string[],
  ) => readonly string[] | Promise<readonly string[]>
  /** Returns the exit code. */
  run(words: Words, signal: AbortSignal): Promise<number>
  /** What is left to do where its words, or what they name, were refused. */
  refused?(args: string[], error: unknown): void
}

/** Standard exit codes. */
export const EXIT = { asHoped: 0, fellShort: 1, badUsage: 2, incomplete: 3, undecided: 4 } as const

export const JSON_OPTION: Option = {
  type: 'boolean',
  says: 'print exactly what the call returns, as JSON',
}

/** Read the words of a verb. @throws TouchstoneError `usage` naming the word and what there is */
export function readWords(name: string, verb: Verb, args: string[]): Words {
  let parsed: { values: { [name: string]: unknown }; positionals: string[] }
  requireKnown(name, verb, args)
  try {
    const options = Object.fromEntries(
      Object.entries(verb.options).map(([option, { type, multiple, short }]) => [
        option,
        { type, multiple: multiple ?? false, ...(short && { short }) },
      ]),
    )
    parsed = parseArgs({ args, options, allowPositionals: true, strict: true })
  } catch (cause) {
    const said = (cause as Error).message
    const [, option] = /^Option '(?:-\w, )?(--[\w-]+).*' argument is ambiguous/.exec(said) ?? []
    if (option)
      throw new TouchstoneError(
        'usage',
        `expected a value behind ${option}, got a word that begins with "-" (${option}=-VALUE gives such a value)`,
        { cause },
      )
    const message = said.split('. ')[0] ?? ''
    throw new TouchstoneError(
      'usage',
      `expected options as touchstone ${name} --help lists them, got: ${message}`,
      { cause },
    )
  }
  const { values, positionals } = parsed
  const { least, most } = verb.takes
  if (positionals.length < least || positionals.length > most) {
    const number =
      least === most
        ? String(least)
        : most === Number.POSITIVE_INFINITY
          ? `${least} or more`
          : `${least} to ${most}`
    throw new TouchstoneError(
      'usage',
      `expected ${number} of: ${verb.usage}, got ${positionals.length}`,
    )
  }
  const text = (option: string) => values[option] as string | undefined
  return {
    positionals,
    given: Object.keys(values),
    text,
    texts: (option) => (values[option] as string[] | undefined) ?? [],
    flag: (option) => values[option] === true,
    whole(option, low, high) {
      const given = text(option)
      if (given === undefined) return undefined
      const value = Number(given)
      if (!/^\d+$/.test(given) || value < low || value > high) {
        throw new TouchstoneError(
          'usage',
          `expected a whole number from ${low} to ${high}, got "${given}"`,
          {
            where: `--${option}`,
          },
        )
      }
      return value
    },
  }
}

/** @throws TouchstoneError `usage` for an option that the verb does not take */
function requireKnown(name: string, verb: Verb, args: readonly string[]): void {
  const end = args.indexOf('--')
  const names = [...Object.keys(verb.options), 'help']
  for (const [i, word] of args.slice(0, end < 0 ? undefined : end).entries()) {
    const [, option] = /^--([^=]+)/.exec(word) ?? []
    const before = /^--([^=]+)$/.exec(args[i - 1] ?? '')?.[1]
    // What follows an option that wants a value is that value, or a mistake of another kind.
    if (option === undefined || names.includes(option)) continue
    if (before !== undefined && verb.options[before]?.type === 'string') continue
    const got = gotWord(
      `--${option}`,
      names.map((one) => `--${one}`),
    ).replaceAll('"', '')
    throw new TouchstoneError(
      'usage',
      `expected an option of touchstone ${name}, ${got}${got.endsWith('?') ? '' : ';'} touchstone ${name} --help lists them`,
    )
  }
}

/** The help of one verb. @param width columns, default 100 */
export function helpOf(verb: Verb, width = 100): string {
  const rows = Object.entries(verb.options).map(
    ([option, { short, value, says }]) =>
      [`${short ? `-${short}, ` : ''}--${option}${value ? ` ${value}` : ''}`, says] as const,
  )
  const left = Math.min(28, Math.max(0, ...rows.map(([words]) => words.length)))
  const indent = ' '.repeat(left + 4)
  return [
    `Usage: ${verb.usage}`,
    '',
    wrap(verb.says, width),
    ...(rows.length ? [''] : []),
    ...rows.map(([words, says]) => {
      const text = wrap(says, width, indent)
      return words.length > left
        ? `  ${words}\n${text}`
        : `  ${words.padEnd(left)}  ${text.slice(indent.length)}`
    }),
    ...(verb.more ? ['', ...verb.more.split('\n').map((line) => fitted(line, width))] : []),
    '',
    'Exit codes:',
    ...Object.entries({ ...verb.exits, 2: 'bad usage, or input that cannot be read' }).map(
      ([code, means]) => `${code.padStart(3)}  ${wrap(means, width, '     ').slice(5)}`,
    ),
    '',
    verb.examples.length > 1 ? 'Examples:' : 'Example:',
    ...verb.examples.map((words) => `  touchstone ${words}`),
  ].join('\n')
}

/**
 * A line broken where it is too wide. Its parts stand under its text: of a row of two columns,
 * under the second.
 */
function fitted(line: string, width: number): string {
  if (line.length <= width) return line
  const [head = ''] = /^ +\S.*? {2,}(?=\S)/.exec(line) ?? /^ */.exec(line) ?? []
  // In a narrow terminal the second column has no room.
  const hang = width - head.length < 24 ? 4 : head.length
  const text = wrap(line.slice(Math.min(hang, head.length)), width, ' '.repeat(hang))
  return line.slice(0, Math.min(hang, head.length)) + text.slice(hang)
}

/** Print a value for programs, or for people. */
export function print(value: { toJSON?(): unknown }, json: boolean, text: string): void {
  process.stdout.write(json ? `${jsonText(value, 2)}\n` : `${coloured(text)}\n`)
}
