/** `touchstone sweep`: the published connection test of every server in a list. */
import { closeSync, openSync, renameSync, rmSync, writeSync } from 'node:fs'
import { lookOf } from '../display.ts'
import { TouchstoneError } from '../errors.ts'
import { readText, writing } from '../files.ts'
import * as probes from '../probe/index.ts'
import { CSV_HEAD, csvLine } from '../probe/sweep/csv.ts'
import { listIn } from '../probe/sweep/list.ts'
import { EXIT, JSON_OPTION, print, type Verb } from './verb/verb.ts'

export const sweep: Verb = {
  usage: 'touchstone sweep FILE|- [options]',
  says: 'Runs the published connection test against every server in a list, and goes on where it was stopped.',
  options: {
    set: {
      type: 'string',
      value: 'ID@VERSION',
      says: 'another published set: mcp-connection-stateless@1.0 is for revision 2026-07-28',
    },
    out: {
      type: 'string',
      value: 'FILE',
      says: 'one line of JSON per result; what an existing file holds of this set is not tested again',
    },
    csv: {
      type: 'string',
      value: 'FILE',
      says: 'the results as a table, all that --out holds included',
    },
    concurrency: { type: 'string', value: 'N', says: 'tests at a time, 1 to 512, default 16' },
    json: JSON_OPTION,
  },
  more: 'FILE is JSON (a list, a registry’s page { "servers" }, server.json files, an mcp.json), one JSON value per line, or one\nURL per line. Every entry ends as a result or as a skip with a reason.',
  exits: { 0: 'the list was worked through, whatever the servers did', 130: 'stopped by Ctrl-C' },
  examples: ['sweep servers.json --out sweep.ndjson --csv sweep.csv'],
  takes: { least: 1, most: 1 },
  async run(words, signal) {
    const [path = '-'] = words.positionals
    const concurrency = words.whole('concurrency', 1, 512)
    const [set, out, csv] = [words.text('set'), words.text('out'), words.text('csv')]
    const entries = listIn(path === '-' ? await standardInput() : readText(path))
    const table = csv === undefined ? null : newTable(csv)
    try {
      const swept = await probes.sweep(entries as probes.SweepEntry[], {
        signal,
        log: out,
        set,
        ...(concurrency === undefined ? {} : { concurrency }),
        onResult: (result, name) => out === undefined && table?.add(csvLine(result, name)),
      })
      if (out !== undefined && table) {
        for await (const line of probes.readSweep(out)) {
          if (line.set?.digest === swept.set?.digest) table.add(csvLine(line, line.name))
        }
      }
      table?.done()
      print(swept, words.flag('json'), swept.text(lookOf(process.stdout)))
      return EXIT.asHoped
    } catch (error) {
      if (!signal.aborted) throw error
      if (out !== undefined) process.stderr.write(`the same command goes on from ${out}\n`)
      return 130
    } finally {
      table?.close()
    }
  },
}

/** A table that takes its place when it is whole: until then what was there stays. */
function newTable(path: string) {
  const draft = `${path}.${process.pid}.draft`
  const file = writing(draft, () => openSync(draft, 'w'))
  const add = (text: string) => void writing(draft, () => writeSync(file, text))
  add(CSV_HEAD)
  let whole = false
  return {
    add,
    done() {
      whole = true
    },
    close() {
      closeSync(file)
      if (whole) writing(path, () => renameSync(draft, path))
      else rmSync(draft, { force: true })
    },
  }
}

async function standardInput(): Promise<string> {
  if (process.stdin.isTTY)
    throw new TouchstoneError('usage', 'expected a list on standard input, got a terminal')
  const chunks: Buffer[] = []
  for await (const chunk of process.stdin) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString('utf8')
}
