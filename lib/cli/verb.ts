/** What a verb of the command line is, and how its words are read. */
import { parseArgs } from 'node:util'
import { TouchstoneError } from '../errors.ts'

export type Option = {
  type: 'string' | 'boolean'
  multiple?: boolean
  short?: string
  /** What follows the option in the help, such as FILE. */
  value?: string
  says: string
}

/** The words behind a verb, read. */
export type Words = {
  positionals: string[]
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
  /** How many words without a dash it takes. */
  takes: { least: number; most: number }
  /** Returns the exit code. */
  run(words: Words, signal: AbortSignal): Promise<number>
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
  try {
    const options = Object.fromEntries(
      Object.entries(verb.options).map(([option, { type, multiple, short }]) => [
        option,
        { type, multiple: multiple ?? false, ...(short && { short }) },
      ]),
    )
    parsed = parseArgs({ args, options, allowPositionals: true, strict: true })
  } catch (cause) {
    const message = (cause as Error).message.split('. ')[0] ?? ''
    throw new TouchstoneError(
      'usage',
      `expected options of "touchstone ${name}" (${optionNames(verb)}), got: ${message}`,
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

function optionNames(verb: Verb): string {
  return [...Object.keys(verb.options), 'help'].map((option) => `--${option}`).join(' ')
}

/** The help of one verb. */
export function helpOf(verb: Verb): string {
  const rows = Object.entries(verb.options).map(
    ([option, { short, value, says }]) =>
      [`${short ? `-${short}, ` : ''}--${option}${value ? ` ${value}` : ''}`, says] as const,
  )
  const width = Math.max(0, ...rows.map(([left]) => left.length))
  return [
    `Usage: ${verb.usage}`,
    '',
    verb.says,
    ...(rows.length ? [''] : []),
    ...rows.map(([left, says]) => `  ${left.padEnd(width)}  ${says}`),
    ...(verb.more ? ['', verb.more] : []),
  ].join('\n')
}

/** Print a value for programs, or for people. */
export function print(value: { toJSON?(): unknown }, json: boolean, text: string): void {
  process.stdout.write(json ? `${JSON.stringify(value, null, 2)}\n` : `${text}\n`)
}
