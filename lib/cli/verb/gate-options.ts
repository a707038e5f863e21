/**
 * The words of `touchstone run` that hold a run to something, and the files in which other programs
 * read how it went.
 */
import { accessSync, appendFileSync, constants, existsSync } from 'node:fs'
import { dirname } from 'node:path'
import { gotWord } from '../../choice.ts'
import { count } from '../../display.ts'
import { TouchstoneError } from '../../errors.ts'
import { makeFolder, replaceFile, writing } from '../../files.ts'
import {
  type Gate,
  type Held,
  junit,
  parseGate,
  type Run,
  type RunBuilder,
  sarif,
  standing,
  stepSummary,
} from '../../harness/index.ts'
import { baselineLines, heldMetrics } from '../../harness/report/ci/baseline.ts'
import { gateLine } from '../../harness/report/ci/gate.ts'
import { METRICS, type Metric } from '../../log/index.ts'
import { annotations } from './annotations.ts'
import type { Verb, Words } from './verb.ts'

export const HELD_OPTIONS: Verb['options'] = {
  gate: {
    type: 'string',
    multiple: true,
    value: 'GATE',
    says: "a line to hold, such as 'goal>=0.9' or 'careful:attack<=10%'; may be given again. Missed: exit code 1; undecided: 4. See below",
  },
  baseline: {
    type: 'string',
    value: 'DIR',
    says: 'an earlier run; the cases that both have are compared. Worse than it: exit code 1; not known to be no worse: 4',
  },
  margin: {
    type: 'string',
    value: 'SHARE',
    says: 'how much worse than in the baseline a rate may be, such as 5%. Default: 10%',
  },
  metric: {
    type: 'string',
    multiple: true,
    value: 'METRIC',
    says: 'hold the baseline to this metric alone, such as goal; may be given again, and they are adjusted as one family. Default: goal, attack, overclaim, underclaim and unneeded',
    offers: () => Object.keys(METRICS),
  },
  annotate: {
    type: 'boolean',
    says: 'say on standard error, as workflow commands of GitHub, which gates and cases fell short; in all else that is printed GitHub is told to read none, which wants one stream (2>&1)',
  },
  junit: {
    type: 'string',
    value: 'FILE',
    says: 'write JUnit XML: a test per case, per gate and per configuration of the baseline. With --gate or --baseline those alone fail, as the exit code does',
  },
  sarif: {
    type: 'string',
    value: 'FILE',
    says: 'write SARIF 2.1.0: attacks that succeeded; warnings where a gate or the baseline takes them, else errors',
  },
  summary: {
    type: 'string',
    value: 'FILE',
    says: 'add a summary in Markdown to a file, such as $GITHUB_STEP_SUMMARY',
  },
}

/**
 * The gates that are asked for. @throws TouchstoneError `argument_invalid`, `configuration_unknown`
 */
export function gatesOf(words: Words, { configurations: named }: RunBuilder['plan']): Gate[] {
  const gates = words.texts('gate').map(parseGate)
  const configurations = named.map(({ name }) => name)
  for (const { configuration, text } of gates) {
    if (configuration === null || configurations.includes(configuration)) continue
    throw new TouchstoneError(
      'configuration_unknown',
      `expected one of ${configurations.join(', ')}, ${gotWord(configuration, configurations)}`,
      { where: `--gate ${text}` },
    )
  }
  return gates
}

/** What a baseline is compared by, as far as it is said. @throws TouchstoneError `usage` */
export function baselineOptions(words: Words): { margin?: number; metrics?: Metric[] } {
  const margin = marginOf(words)
  const metrics = words.texts('metric') as Metric[]
  return {
    ...(margin !== undefined && { margin }),
    ...(metrics.length > 0 && { metrics: [...heldMetrics(metrics)] }),
  }
}

/** How much worse than in a baseline a rate may be. @throws TouchstoneError `usage` */
function marginOf(words: Words): number | undefined {
  const text = words.text('margin')
  if (text === undefined) return undefined
  const [, number, sign] = /^([0-9.]+)(%?)$/.exec(text) ?? []
  const margin = Number(number) / (sign ? 100 : 1)
  if (margin > 0 && margin <= 1) return margin
  throw new TouchstoneError('usage', `expected a share such as 0.05 or 5%, got "${text}"`, {
    where: '--margin',
  })
}

/** What the run was held against in one line, for the top of a long text; empty for nothing. */
export function heldSummary(result: Run, held: Held): string {
  const { gates, baseline } = held
  if (gates.length + baseline.length === 0) return ''
  const lines = [
    ...gates.map((one) => ({ ...one, what: one.gate })),
    ...baseline.map((one) => ({ ...one, what: 'the baseline' })),
  ]
  const parts = (['missed', 'undecided'] as const).flatMap((state) => {
    const some = lines.filter((one) => one.state === state)
    const groups = [...Map.groupBy(some, ({ what }) => what)].map(
      ([what, of]) => `${what} (${of.map(({ configuration }) => configuration).join(', ')})`,
    )
    const word = state === 'missed' ? 'MISSED' : state
    return some.length === 0 ? [] : [`${some.length} ${word}: ${groups.join(', ')}`]
  })
  const met = lines.filter(({ state }) => state === 'met').length
  const said = [...parts, `${met} of ${lines.length} met`].join('; ')
  return `Held to ${count(lines.length, 'line')}, ${standing(result, held)}: ${said}. Why: below.`
}

/** What the run was held against, a line each. */
export function heldLines({ gates, baseline }: Held): string[] {
  return [...gates.map(gateLine), ...baseline.flatMap(baselineLines)]
}

/**
 * Folders for the files that are asked for, before anything is run. @throws TouchstoneError
 * `file_unwritable`
 */
export function requirePlaces(words: Words): void {
  for (const name of ['junit', 'sarif', 'summary']) {
    const path = words.text(name)
    if (path === undefined) continue
    writing(path, () => {
      makeFolder(dirname(path))
      accessSync(existsSync(path) ? path : dirname(path), constants.W_OK)
    })
  }
}

/**
 * Write the files and the annotations that are asked for.
 *
 * @param resume lets annotations be read again, of `stopCommands`
 * @throws TouchstoneError `file_unwritable`
 */
export async function writeFor(
  words: Words,
  result: Run,
  held: Held,
  resume?: () => void,
): Promise<void> {
  resume?.()
  if (words.flag('annotate'))
    for (const line of annotations(result, held)) process.stderr.write(`${line}\n`)
  const files: [
    name: string,
    text: () => Promise<string> | string,
    write: (path: string, text: string) => void,
  ][] = [
    ['junit', () => junit(result, { held }), replaceFile],
    [
      'sarif',
      async () => `${JSON.stringify(await sarif(result, { held }), null, 2)}\n`,
      replaceFile,
    ],
    ['summary', () => stepSummary(result, held), appendFileSync],
  ]
  for (const [name, text, write] of files) {
    const path = words.text(name)
    if (path === undefined) continue
    const made = await text()
    writing(path, () => write(path, made))
  }
}
