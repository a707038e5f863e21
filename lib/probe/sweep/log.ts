/** The log of a sweep: one line per result and per skip, which a later sweep goes on with. */
import { closeSync, existsSync, openSync, writeSync } from 'node:fs'
import { TouchstoneError } from '../../errors.ts'
import { unwritable, writing } from '../../files.ts'
import { cutTornTail, streamLines, textOf } from '../../lines.ts'
import { holdLater } from '../../lock.ts'
import type { ProbeData, ProbeResult } from '../connect/result.ts'
import type { Candidate, Skip } from './candidates.ts'

/**
 * One result in a sweep's log. Descriptions' text is left out, which would make the log as large as
 * the servers wish.
 */
export type SweepLine = ProbeData & {
  /** Name of the entry, when it had one. */
  name: string | null
  /** What was run: the set as `id@version`, or `own` and the era that was asked for. */
  test: string
  /** The URL as declared, when defaults of its variables were filled in. */
  template: string | null
}

/** One entry that was not tested. */
export type SkipLine = { schema: 'touchstone.sweep.skip.v0'; test: string } & Skip

/** The line of a result. */
export function lineOf(result: ProbeResult, candidate: Candidate, test: string): SweepLine {
  const data = result.toJSON()
  const tools = data.tools && {
    ...data.tools,
    list: data.tools.list.map((tool) => ({ ...tool, description: null })),
  }
  const { name, template } = candidate
  return { ...data, tools, name, test, template }
}

/**
 * A result is of one server under one test: another set, another transport or another mode is
 * another result.
 */
export function keyOf(test: string, transport: string, subject: string): string {
  return `${test} ${transport} ${subject}`
}

/**
 * The results in a sweep's log, one at a time. @throws TouchstoneError `file_unreadable` for a line
 * that is not one of a sweep
 */
export async function* readSweep(log: string): AsyncGenerator<SweepLine> {
  for await (const line of readLog(log)) if (line.schema === 'touchstone.probe.v0') yield line
}

async function* readLog(log: string): AsyncGenerator<SweepLine | SkipLine> {
  for await (const one of streamLines(log)) {
    const line = lineIn(textOf(one, log))
    if (line === null) {
      throw new TouchstoneError(
        'file_unreadable',
        'expected a line of a sweep, got something else',
        { where: `${log}:${one.line}` },
      )
    }
    yield line
  }
}

function lineIn(text: string): SweepLine | SkipLine | null {
  let line: Partial<SweepLine | SkipLine> | null
  try {
    line = JSON.parse(text)
  } catch {
    return null
  }
  if (typeof line?.test !== 'string') return null
  if (line.schema === 'touchstone.sweep.skip.v0') return line as SkipLine
  const whole =
    line.schema === 'touchstone.probe.v0' &&
    typeof line.outcome === 'string' &&
    typeof line.detail === 'string' &&
    typeof line.subject === 'string' &&
    typeof line.transport === 'string'
  return whole ? (line as SweepLine) : null
}

/** A log that is open for appending, by this process alone. */
export type OpenLog = {
  append(line: SweepLine | SkipLine): void
  close(): void
}

/**
 * Take a log, read what it holds, and open it for more.
 *
 * @param hear called with each line that is there
 * @throws TouchstoneError `file_unwritable` when another process writes it; `file_unreadable`
 */
export async function openLog(
  log: string,
  hear: (line: SweepLine | SkipLine) => void,
): Promise<OpenLog> {
  const lock = `${log}.lock`
  const busy = (who: string) =>
    new TouchstoneError(
      'file_unwritable',
      `expected a log that no other process writes, got one held by ${who}`,
      {
        where: log,
      },
    )
  const held = await holdLater(lock, busy).catch((cause) => {
    throw cause instanceof TouchstoneError ? cause : unwritable(lock, cause)
  })
  try {
    if (existsSync(log)) {
      cutTornTail(log)
      for await (const line of readLog(log)) hear(line)
    }
    const file = writing(log, () => openSync(log, 'a'))
    return {
      append(line) {
        held.confirm()
        writing(log, () => writeSync(file, `${JSON.stringify(line)}\n`))
      },
      close() {
        closeSync(file)
        held.release()
      },
    }
  } catch (error) {
    held.release()
    throw error
  }
}
