/** `touchstone cases`: the cases that there are, with their files. */
import { readdirSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { count, type Look, listLook, lookOf, table, tone, wrap } from '../display.ts'
import * as cases from '../harness/case/cases.ts'
import type { Case } from '../harness/index.ts'
import { SHIPPED } from '../world/own.ts'
import { requireOne } from './list.ts'
import { EXIT, JSON_OPTION, print, type Verb } from './verb/verb.ts'

export const caseList: Verb = {
  usage: 'touchstone cases [CASES...] [options]',
  says: 'Lists cases (files, folders or globs; default: those that come with Touchstone) with their files. Every mistake in a case is named by file, line and column.',
  options: {
    kind: {
      type: 'string',
      value: 'KIND',
      says: 'cases of one kind',
      // The cases that ship stand in a folder per kind.
      offers: async () => {
        const { shippedCases } = await import('../harness/case/load.ts')
        return readdirSync(shippedCases(), { withFileTypes: true })
          .filter((entry) => entry.isDirectory())
          .map(({ name }) => name)
      },
    },
    json: { ...JSON_OPTION, says: 'print the cases as JSON' },
  },
  exits: { 0: 'every case can be read' },
  examples: ['cases --kind lying_success', 'cases my-cases --json'],
  takes: { least: 0, most: Number.POSITIVE_INFINITY },
  async run(words) {
    const { filesOf, shippedCases } = await import('../harness/case/load.ts')
    const { CASE_COLUMNS, caseCells } = await import('../harness/case/case-text.ts')
    const from = words.positionals.length > 0 ? words.positionals : [shippedCases()]
    const all = await cases.load(from)
    const kind = words.text('kind')
    requireOne('kind', kind, [...new Set(all.map((one) => one.kind))])
    const wanted = all.filter((one) => kind === undefined || one.kind === kind)
    const files = from.flatMap(filesOf).map((path) => ({ path, text: readFileSync(path, 'utf8') }))
    const shipped = shippedCases()
    const fileOf = ({ id }: Case) => {
      const held = files.find(({ text }) =>
        text
          .split('\n')
          .some((line) => /^\uFEFF?id:\s*(\S+)/.exec(line)?.[1]?.replace(/['"]/g, '') === id),
      )
      const path = held?.path ?? ''
      return path.startsWith(shipped) ? join('cases', relative(shipped, path)) : path
    }
    const [look, wide] = [lookOf(process.stdout), listLook(process.stdout)]
    // The file of a case stands once, above the first of its cases.
    const rows: string[][] = []
    const heads = new Map<number, string>()
    for (const one of wanted) {
      const file = fileOf(one)
      if ([...heads.values()].at(-1) !== file) heads.set(rows.length, file)
      rows.push(caseCells(one))
    }
    const notes = [
      `${count(wanted.length, 'case')}; touchstone run FILE runs them.`,
      `Worlds that come with Touchstone: ${SHIPPED.join(', ')}.`,
    ]
    const text = [
      listed(table(CASE_COLUMNS, rows, { ...look, width: wide.width - 2 }), heads, look),
      ...notes.map((note) => tone(wrap(note, look.width), 'quiet', look)),
    ].join('\n')
    print({ toJSON: () => wanted }, words.flag('json'), text)
    return EXIT.asHoped
  },
}

/** A table with a line above some of its rows. Each row is one line: no cell can be broken. */
function listed(text: string, heads: ReadonlyMap<number, string>, look: Look): string {
  const [head = '', ...rows] = text.split('\n')
  return [
    `  ${head}`,
    ...rows.flatMap((row, i) => {
      const above = heads.get(i)
      return [...(above === undefined ? [] : [tone(above, 'quiet', look)]), `  ${row}`]
    }),
  ].join('\n')
}
