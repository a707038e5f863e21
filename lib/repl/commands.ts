/** What a line that starts with a dot does at the prompt. */
import { dirname, join, resolve } from 'node:path'
import { gotWord } from '../choice.ts'
import type { Frame } from '../code/frames.ts'
import { duration, type Look, table, tone } from '../display.ts'
import { TouchstoneError } from '../errors.ts'
import { readText, writeNew } from '../files.ts'
import { parse } from '../notebook/parse.ts'
import type { SessionOptions } from './session.ts'
import { showTrace } from './show.ts'

/** A line for `.help`: what to type, and what it shows. */
export type Example = { code: string; says: string }

/** What commands need from the prompt. */
export type Desk = {
  look(): Look
  print(text: string): void
  /** Print a text that may be longer than the screen. */
  show(text: string): Promise<void>
  /** Run code as if it had been typed; false when it threw. Resolves with its time too. */
  run(code: string): Promise<{ ok: boolean; durationMs: number }>
  /** Code that ran without an error, in order. */
  session(): readonly string[]
  saving: SessionOptions
  has(name: string): boolean
  lastError(): unknown
  /** Where in the code of the session an error, or a line of its stack, comes from. */
  frames(error: unknown): Frame[]
  examples: readonly Example[]
  cwd: string
  leave(): void
}

type Command = { usage: string; does: string; run(rest: string, desk: Desk): Promise<void> | void }

export const COMMANDS: Record<string, Command> = {
  help: {
    usage: '.help',
    does: 'this page',
    run: (_, desk) => desk.print(helpText(desk)),
  },
  time: {
    usage: '.time CODE',
    does: 'run code and say how long it took',
    async run(rest, desk) {
      const { durationMs } = await desk.run(needed(rest, '.time CODE'))
      desk.print(
        tone(
          durationMs < 10 ? `${durationMs.toFixed(2)} ms` : duration(durationMs),
          'quiet',
          desk.look(),
        ),
      )
    },
  },
  plot: {
    usage: '.plot [NAME] [KIND]',
    does: 'draw the last value, or a named one',
    async run(rest, desk) {
      const words = rest.split(/\s+/).filter(Boolean)
      const name = words.find((word) => desk.has(word.split('.')[0]!))
      const kind = words.find((word) => word !== name)
      await desk.run(`await ${name ?? '_'}.plot(${kind ? JSON.stringify(kind) : ''})`)
    },
  },
  save: {
    usage: '.save FILE.ts',
    does: 'write this session as a notebook',
    async run(rest, desk) {
      const path = resolve(desk.cwd, needed(rest, '.save FILE.ts'))
      const { sessionNotebook } = await import('./session.ts')
      const session = desk.session()
      // A notebook that somebody edited is never overwritten.
      writeNew(path, sessionNotebook(session, desk.saving))
      desk.print(tone(`${session.length} cells in ${path}`, 'quiet', desk.look()))
    },
  },
  load: {
    usage: '.load FILE.ts',
    does: 'run the cells of a notebook, or a script, here',
    async run(rest, desk) {
      const path = resolve(desk.cwd, needed(rest, '.load FILE.ts'))
      for (const cell of parse(readText(path, 'a script or a notebook'))) {
        if (
          cell.kind === 'code' &&
          !(await desk.run(relativeImports(cell.source, dirname(path)))).ok
        )
          return
      }
    },
  },
  trace: {
    usage: '.trace',
    does: 'the whole stack of the last error',
    run: (_, desk) =>
      desk.print(
        desk.lastError() === undefined
          ? 'no error yet'
          : showTrace(desk.lastError(), desk.look(), desk.frames),
      ),
  },
  exit: {
    usage: '.exit',
    does: 'leave (or Ctrl-D)',
    run: (_, desk) => desk.leave(),
  },
}

/** Run a dot line. @throws `usage` for a command that does not exist or lacks its argument */
export async function runCommand(line: string, desk: Desk): Promise<void> {
  const [, name = '', rest = ''] = /^\.(\S*)\s*([\s\S]*)$/.exec(line.trim()) ?? []
  const command = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined
  if (!command)
    throw new TouchstoneError(
      'usage',
      `expected one of .${Object.keys(COMMANDS).join(' .')}, ${gotWord(name, Object.keys(COMMANDS))
        .replaceAll('"', '')
        .replace(/(got |mean )/g, '$1.')}`,
    )
  await command.run(rest, desk)
}

function needed(rest: string, usage: string): string {
  const given = rest.trim().replace(/^(['"])(.*)\1$/s, '$2')
  if (!given)
    throw new TouchstoneError('usage', `expected ${usage}, got nothing behind the command`)
  return given
}

/** A notebook's imports start from its own folder, the prompt's from where it was started. */
function relativeImports(code: string, folder: string): string {
  return code.replace(
    /(\bfrom\s*|\bimport\s*\(?\s*)(['"])(\.\.?\/[^'"]*)\2/g,
    (_, head: string, quote: string, path: string) =>
      `${head}${quote}${join(folder, path)}${quote}`,
  )
}

function helpText(desk: Desk): string {
  const look = desk.look()
  const rows = (pairs: [string, string][]) =>
    table([{ head: 'type' }, { head: 'to', min: 20 }], pairs, {
      ...look,
      width: (look.width ?? 100) - 2,
    })
      .split('\n')
      .slice(1)
      .join('\n')
      .replace(/^/gm, '  ')
  const keys: [string, string][] = [
    ['Tab', 'complete names, members, case ids, configurations and files'],
    ['Ctrl-R', 'search what was typed before; again: an older one; Ctrl-G leaves'],
    ['Ctrl-C', 'stop the line at work'],
    ['Ctrl-D', 'leave'],
    ['_ and __', 'the last value and the one before'],
    ['?name', 'what it does, with an example; ??name shows its source'],
  ]
  // Code is there to be typed again, so it is never cut: what it shows stands behind it, or in
  // front where it is long.
  const tries = desk.examples.flatMap(({ code, says }) =>
    code.length + says.length + 6 <= (look.width ?? 100)
      ? [`  ${code}  ${tone(`// ${says}`, 'quiet', look)}`]
      : [`  ${tone(`// ${says}`, 'quiet', look)}`, `  ${code}`],
  )
  return [
    tone('Try', 'strong', look),
    ...tries,
    tone('Keys', 'strong', look),
    rows(keys),
    tone('Commands', 'strong', look),
    rows(Object.values(COMMANDS).map(({ usage, does }) => [usage, does])),
  ].join('\n')
}
