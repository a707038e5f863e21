/** `touchstone verify` and `touchstone audit`: evidence, from files. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { lookOf, table } from '../display.ts'
import { TouchstoneError } from '../errors.ts'
import * as receipt from '../receipt/index.ts'
import { EXIT, JSON_OPTION, print, type Verb, type Words } from './verb.ts'

export const verify: Verb = {
  usage: 'touchstone verify FILE|DIR|BUNDLE... [options]',
  more: `A bundle of one privileged action is checked with --profile ${receipt.PROFILES.join(' or ')}: whether it is whole, whether its records keep the profile, and what it then shows. Exit 1 unless it is valid.`,
  says: "Checks a receipt (a run's folder, or a receipt's file) step by step, holds a run's folder without a receipt against itself, or derives the level of every call from decisions (a surface, or NDJSON) and audit exports. Nothing is asked of any provider. Exit 1 when something failed, 3 when nothing did but a step of a receipt could not be checked.",
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
    key: {
      type: 'string',
      value: 'PEM',
      says: 'for a receipt: the Ed25519 public key that you trust',
    },
    set: {
      type: 'string',
      value: 'FILE',
      says: 'for a receipt: the text of the published set, or ID@VERSION',
    },
    sets: {
      type: 'string',
      value: 'DIR',
      says: 'for a receipt: the folder of published sets. Default: the one that ships',
    },
    profile: {
      type: 'string',
      value: 'PROFILE',
      says: `for a bundle: ${receipt.PROFILES.join(' or ')}. It is never guessed`,
    },
    decisions: {
      type: 'string',
      value: 'FILE',
      says: 'for a bundle: recorded calls; with --audit they show what the bundle leaves incomplete',
    },
    json: JSON_OPTION,
  },
  takes: { least: 1, most: Number.POSITIVE_INFINITY },
  async run(words, signal) {
    if (words.text('profile') !== undefined) return verifyBundle(words, signal)
    if (words.text('decisions') !== undefined)
      throw new TouchstoneError(
        'usage',
        'expected --profile and a bundle beside --decisions, got none',
      )
    const bundle = words.positionals.find((path) => /\.(tar\.gz|tgz)$/.test(path))
    if (bundle !== undefined)
      throw new TouchstoneError(
        'usage',
        `expected --profile ${receipt.PROFILES.join(' or ')} beside a bundle, got none`,
        { where: bundle },
      )
    const minLevel = words.text('min-level')
    if (minLevel !== undefined && !receipt.LEVELS.includes(minLevel as receipt.Level)) {
      throw new TouchstoneError(
        'usage',
        `expected one of ${receipt.LEVELS.join(', ')}, got "${minLevel}"`,
        {
          where: '--min-level',
        },
      )
    }
    const key = words.text('key') ?? null
    const set = words.text('set')
    const root = words.text('sets')
    const asked = key !== null || set !== undefined || root !== undefined
    let short = false
    let open = false
    for (const file of words.positionals) {
      const ledger = words.text('ledger')
      // Only a folder has this in it. What cannot be looked at at all is named when it is read.
      const folder = existsSync(`${file}/.`)
      const unsigned = folder && !existsSync(join(file, 'receipt.json'))
      if (unsigned && !existsSync(join(file, 'manifest.json')))
        throw new TouchstoneError(
          'file_unreadable',
          "expected a run's folder, a receipt's file or decisions, got a folder without manifest.json",
          { where: file },
        )
      if (unsigned && asked)
        throw new TouchstoneError(
          'file_unreadable',
          'expected a run with a receipt.json (touchstone run --receipt) for --key and --set, got a folder without',
          { where: file },
        )
      if (unsigned) {
        const result = await receipt.checkFolder(file)
        print(result, words.flag('json'), result.text(lookOf(process.stdout)))
        short ||= result.verdict === 'failed'
        continue
      }
      if (asked || receipt.isReceipt(file)) {
        for (const name of ['audit', 'ledger', 'min-level'])
          if (words.text(name) !== undefined)
            throw new TouchstoneError('usage', `expected decisions for --${name}, got a receipt`, {
              where: file,
            })
        const result = await receipt.verify(file, {
          key,
          ...(set !== undefined && { set }),
          ...(root !== undefined && { root }),
        })
        print(result, words.flag('json'), result.text(lookOf(process.stdout)))
        short ||= result.verdict === 'failed'
        open ||= result.verdict === 'could_not_check'
        continue
      }
      const report = await receipt.verifyStream(file, {
        audit: words.texts('audit'),
        ...(ledger !== undefined && { ledger }),
        ...(minLevel !== undefined && { minLevel: minLevel as receipt.Level }),
      })
      print(report, words.flag('json'), report.text(lookOf(process.stdout)))
      short ||= report.min_level?.met === false
    }
    return short ? EXIT.fellShort : open ? EXIT.incomplete : EXIT.asHoped
  },
}

/** Options that say nothing of a bundle. */
const NOT_OF_BUNDLES = ['min-level', 'key', 'set', 'sets']

/** `touchstone verify BUNDLE --profile PROFILE`. Whatever the bundle is, its report is the one thing that is printed. */
async function verifyBundle(words: Words, signal: AbortSignal): Promise<number> {
  const foreign = NOT_OF_BUNDLES.find((name) => words.text(name) !== undefined)
  if (foreign !== undefined)
    throw new TouchstoneError('usage', `expected a bundle alone beside --profile, got --${foreign}`)
  const [path = '', ...others] = words.positionals
  if (others.length > 0)
    throw new TouchstoneError('usage', `expected one bundle, got ${others.length + 1}`)
  const profile = receipt.PROFILES.find((one) => one === words.text('profile'))
  if (profile === undefined)
    throw new TouchstoneError(
      'usage',
      `expected ${receipt.PROFILES.join(' or ')}, got "${words.text('profile')}"`,
      { where: '--profile' },
    )
  const decisions = words.text('decisions')
  const [audit, ledger] = [words.texts('audit'), words.text('ledger')]
  if (decisions === undefined && (audit.length > 0 || ledger !== undefined))
    throw new TouchstoneError(
      'usage',
      'expected --decisions beside evidence for a bundle, got none',
    )
  const report = await receipt.verifyBundle(path, { profile, signal })
  if (decisions !== undefined) {
    const evidence = { audit, ...(ledger !== undefined && { ledger }) }
    const both = receipt.beside(report, decisions, evidence)
    print(both, words.flag('json'), both.text(lookOf(process.stdout)))
    return report.ok ? EXIT.asHoped : EXIT.fellShort
  }
  print(report, words.flag('json'), report.text(lookOf(process.stdout)))
  return report.ok ? EXIT.asHoped : EXIT.fellShort
}

export const audit: Verb = {
  usage: 'touchstone audit import github|kubernetes|cloudtrail|stripe|slack|okta FILE [--json]',
  says: "Reads a provider's own audit export into audit records, and lists what was left out and why.",
  options: { json: JSON_OPTION },
  takes: { least: 3, most: 3 },
  async run(words) {
    const [action, provider = '', file = ''] = words.positionals
    if (action !== 'import')
      throw new TouchstoneError('usage', `expected "import", got "${action}"`)
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
            table(
              [
                { head: 'record', min: 12 },
                { head: 'class' },
                { head: 'verb' },
                { head: 'binding' },
              ],
              rows,
              look,
            ),
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
