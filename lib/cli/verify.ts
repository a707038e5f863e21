/** `touchstone verify`, `touchstone audit` and `touchstone scenarios`: evidence, from files. */
import { statSync } from 'node:fs'
import { lookOf, table } from '../display.ts'
import { TouchstoneError } from '../errors.ts'
import * as receipt from '../receipt/index.ts'
import * as scenarios from '../scenario.ts'
import { EXIT, JSON_OPTION, print, type Verb } from './verb.ts'

export const verify: Verb = {
  usage: 'touchstone verify FILE... [options]',
  says: 'Derives the level of every call from decisions (a surface, or NDJSON) and audit exports. Nothing is asked of any provider.',
  options: {
    audit: {
      type: 'string',
      multiple: true,
      value: 'PATH',
      says: 'an audit record or a provider export; may be given again',
    },
    ledger: { type: 'string', value: 'FILE', says: 'records that earlier receipts used' },
    'min-level': {
      type: 'string',
      value: 'LEVEL',
      says: 'asserted, observed_confirmed or verified: exit 1 unless every claiming call reaches it',
    },
    json: JSON_OPTION,
  },
  takes: { least: 1, most: Number.POSITIVE_INFINITY },
  async run(words) {
    const minLevel = words.text('min-level')
    if (minLevel !== undefined && !receipt.LEVELS.includes(minLevel as receipt.Level)) {
      throw new TouchstoneError('usage', `expected one of ${receipt.LEVELS.join(', ')}, got "${minLevel}"`, {
        where: '--min-level',
      })
    }
    let short = false
    for (const file of words.positionals) {
      const ledger = words.text('ledger')
      const report = await receipt.verifyStream(file, {
        audit: words.texts('audit'),
        ...(ledger !== undefined && { ledger }),
        ...(minLevel !== undefined && { minLevel: minLevel as receipt.Level }),
      })
      print(report, words.flag('json'), report.text(lookOf(process.stdout)))
      short ||= report.min_level?.met === false
    }
    return short ? EXIT.fellShort : EXIT.asHoped
  },
}

export const audit: Verb = {
  usage: 'touchstone audit import github|kubernetes|cloudtrail|stripe FILE [--json]',
  says: "Reads a provider's own audit export into audit records, and lists what was left out and why.",
  options: { json: JSON_OPTION },
  takes: { least: 3, most: 3 },
  async run(words) {
    const [action, provider = '', file = ''] = words.positionals
    if (action !== 'import') throw new TouchstoneError('usage', `expected "import", got "${action}"`)
    const imported = receipt.importAuditFile(provider, file)
    const rows = imported.records.map((record) => [
      record.record_id,
      String(record.subject.action_class),
      String(record.subject.verb),
      record.binding_digest.slice(0, 19),
    ])
    const look = lookOf(process.stdout)
    const text = [
      `${imported.records.length} records from ${file}, ${imported.skipped.length} entries left out`,
      ...(rows.length
        ? [
            '',
            table([{ head: 'record', min: 12 }, { head: 'class' }, { head: 'verb' }, { head: 'binding' }], rows, look),
          ]
        : []),
      ...(imported.skipped.length
        ? [
            '',
            table(
              [
                { head: 'line', align: 'right' },
                { head: 'left out because', min: 20 },
              ],
              imported.skipped.map((one) => [String(one.line), one.reason]),
              look,
            ),
          ]
        : []),
    ].join('\n')
    print({ toJSON: () => imported }, words.flag('json'), text)
    return EXIT.asHoped
  },
}

export const sets: Verb = {
  usage: 'touchstone scenarios list | show ID@VERSION | verify FILE',
  says: 'The published scenario sets: what there is, the text of one, and whether a file is one of them.',
  options: { json: JSON_OPTION },
  takes: { least: 1, most: 2 },
  async run(words) {
    const [action, what] = words.positionals
    const json = words.flag('json')
    if (action === 'list' && what === undefined) {
      const all = scenarios.list()
      const rows = all.map((set) => [`${set.id}@${set.version}`, set.released, set.digest, set.title])
      print(
        { toJSON: () => all },
        json,
        table([{ head: 'set' }, { head: 'released' }, { head: 'digest' }, { head: 'title', min: 10 }], rows, {
          ...lookOf(process.stdout),
          width: 160,
        }),
      )
      return EXIT.asHoped
    }
    if (action === 'show' && what !== undefined) {
      process.stdout.write(`${scenarios.get(what).text}\n`)
      return EXIT.asHoped
    }
    if (action === 'verify' && what !== undefined && statSync(what, { throwIfNoEntry: false })?.isFile()) {
      const set = scenarios.load(what)
      const published = scenarios.isPublished(`${set.id}@${set.version}`, set.digest)
      print(
        { toJSON: () => ({ id: set.id, version: set.version, digest: set.digest, published }) },
        json,
        `${set.id}@${set.version} ${set.digest}: ${published ? 'published' : 'not published here'}`,
      )
      return published ? EXIT.asHoped : EXIT.fellShort
    }
    throw new TouchstoneError('usage', `expected: ${this.usage}, got: ${words.positionals.join(' ')}`)
  },
}
