/** `touchstone verify` and `touchstone audit`: evidence, from files. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { gotWord } from '../choice.ts'
import { count, foreign, lookOf, table } from '../display.ts'
import { TouchstoneError } from '../errors.ts'
import { readText, unwritable } from '../files.ts'
import { holdLater, type Lock } from '../lock.ts'
import * as receipt from '../receipt/index.ts'
import { CLASSIFIERS_OPTION, registerGiven } from './classify.ts'
import { runOrPath } from './finished.ts'
import { EXIT, JSON_OPTION, print, type Verb, type Words } from './verb/verb.ts'

export const verify: Verb = {
  usage: 'touchstone verify FILE|DIR|BUNDLE... [options]',
  more: `A bundle of one privileged action is checked with --profile ${receipt.PROFILES.join(' or ')}: whether it is whole, whether its records keep the profile, and what it then shows.`,
  says: "Checks a receipt (a run's folder or its name in runs/, or a receipt's file) step by step, holds a run's folder without a receipt against itself, or derives the level of every call from decisions (a surface, or NDJSON) and audit exports. Nothing is asked of any provider.",
  options: {
    audit: {
      type: 'string',
      multiple: true,
      value: 'PATH',
      says: 'an audit record or a provider export; may be given again',
    },
    classifiers: CLASSIFIERS_OPTION,
    provider: {
      type: 'string',
      value: 'NAME',
      offers: providers,
      says: 'the importer for every export. Default: the one that knows its entries',
    },
    scope: {
      type: 'string',
      value: 'NAME',
      says: 'whose log an export is, where it does not say so itself, such as an Okta organisation',
    },
    server: {
      type: 'string',
      value: 'NAME',
      says: 'the server whose log every export is: its records are for calls to that server alone',
    },
    digests: {
      type: 'string',
      multiple: true,
      value: 'PATH',
      says: 'CloudTrail digest files, or a folder of them; FILE.signature beside one holds its signature in hex',
    },
    'public-key': {
      type: 'string',
      multiple: true,
      value: 'FILE',
      says: 'a public key of the digest files, as PEM or base64; may be given again',
    },
    window: {
      type: 'string',
      value: 'FROM..TO',
      says: 'days or ISO 8601 times: records of other times are refused. One side may be empty',
    },
    ledger: {
      type: 'string',
      value: 'FILE',
      says: 'records that earlier receipts used; those that are used now are added',
    },
    'min-level': {
      type: 'string',
      value: 'LEVEL',
      says: 'asserted, observed_confirmed or verified: exit 1 unless every claiming call reaches it',
      offers: () => receipt.LEVELS,
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
      offers: () => receipt.PROFILES,
    },
    decisions: {
      type: 'string',
      value: 'FILE',
      says: 'for a bundle: recorded calls; with --audit they show what the bundle leaves incomplete',
    },
    json: JSON_OPTION,
  },
  exits: {
    0: 'every step holds, every call reaches --min-level, the bundle is valid',
    1: 'something does not hold; of a bundle also: it is not whole',
    3: 'nothing failed, and a step of a receipt could not be checked, or a line of the decisions could not be read',
  },
  examples: [
    'verify checked',
    'verify decisions.ndjson --audit github-audit.json',
    'verify denied.tar.gz --profile privileged-mcp-action/v0',
  ],
  takes: { least: 1, most: Number.POSITIVE_INFINITY },
  async run(words, signal) {
    await registerGiven(words)
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
        `expected one of ${receipt.LEVELS.join(', ')}, ${gotWord(minLevel, receipt.LEVELS)}`,
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
    for (const file of words.positionals.map(runOrPath)) {
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
        for (const name of ONLY_DECISIONS)
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
      const options: receipt.VerifyOptions = {
        audit: words.texts('audit'),
        auditOptions: auditOptionsOf(words),
        ...windowOf(words),
        ...(minLevel !== undefined && { minLevel: minLevel as receipt.Level }),
      }
      const report = await withLedger(ledger, (used) =>
        receipt.verifyStream(file, { ...options, ...used }),
      )
      print(report, words.flag('json'), report.text(lookOf(process.stdout)))
      short ||= report.errors.length > 0 || report.min_level?.met === false
      open ||= report.unread.lines > 0
    }
    return short ? EXIT.fellShort : open ? EXIT.incomplete : EXIT.asHoped
  },
}

/** Options that say nothing of a bundle. */
const NOT_OF_BUNDLES = ['min-level', 'key', 'set', 'sets']

/**
 * `touchstone verify BUNDLE --profile PROFILE`. Whatever the bundle is, its report is the one thing
 * that is printed.
 */
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
  } else print(report, words.flag('json'), report.text(lookOf(process.stdout)))
  if (report.ok) return EXIT.asHoped
  // A path with nothing to read says nothing about any bundle.
  return report.toJSON().reason_code === 'bundle_unreadable' ? EXIT.badUsage : EXIT.fellShort
}

/** Options that say how levels are derived: a receipt's are derived from its own run. */
const ONLY_DECISIONS = [
  'audit',
  'provider',
  'scope',
  'server',
  'digests',
  'public-key',
  'window',
  'ledger',
  'min-level',
]

function auditOptionsOf(words: Words): receipt.AuditOptions {
  const [provider, scope] = [words.text('provider'), words.text('scope')]
  const server = words.text('server')
  return {
    ...(provider !== undefined && { provider }),
    ...(scope !== undefined && { scope }),
    ...(server !== undefined && { server }),
    digests: words.texts('digests'),
    publicKey: words.texts('public-key').map((path) => readText(path)),
  }
}

function windowOf(words: Words): { window?: receipt.Window } {
  const text = words.text('window')
  if (text === undefined) return {}
  const [from = '', to = '', ...more] = text.split('..')
  if (!text.includes('..') || more.length > 0 || (from === '' && to === ''))
    throw new TouchstoneError('usage', `expected FROM..TO, got "${text}"`, { where: '--window' })
  return { window: { ...(from !== '' && { from }), ...(to !== '' && { to }) } }
}

/** Milliseconds that a ledger is waited for. */
const LEDGER_WAIT_MS = 10_000

/** Verify with a ledger that nobody else writes meanwhile, and add the records that were used. */
async function withLedger(
  ledger: string | undefined,
  verify: (used: { ledger?: string }) => Promise<receipt.Report>,
): Promise<receipt.Report> {
  if (ledger === undefined) return verify({})
  const busy = (who: string) =>
    new TouchstoneError('file_unwritable', `expected a free ledger, got one that ${who} writes`, {
      where: ledger,
    })
  const held = await holding(ledger, busy)
  try {
    const report = await verify({ ledger })
    held.confirm()
    receipt.appendLedger(ledger, report)
    return report
  } finally {
    held.release()
  }
}

async function holding(ledger: string, busy: (who: string) => Error): Promise<Lock> {
  try {
    return await holdLater(`${ledger}.lock`, busy, { waitMs: LEDGER_WAIT_MS })
  } catch (cause) {
    throw cause instanceof TouchstoneError ? cause : unwritable(ledger, cause, 'a ledger')
  }
}

function providers(): string[] {
  return receipt.importers().map(({ name }) => name)
}

export const audit: Verb = {
  usage: 'touchstone audit import PROVIDER FILE [options]',
  says: `Reads a provider's own audit export into audit records, and lists what was left out and why. PROVIDER: ${providers().join(', ')}, or one of --classifiers.`,
  options: {
    classifiers: CLASSIFIERS_OPTION,
    scope: {
      type: 'string',
      value: 'NAME',
      says: 'whose log it is, where it does not say so itself, such as an Okta organisation',
    },
    json: JSON_OPTION,
  },
  exits: { 0: 'at least one entry is a record', 1: 'none is' },
  examples: ['audit import github github-audit.json'],
  takes: { least: 3, most: 3 },
  offers: (before) => [['import'], providers()][before.length] ?? [],
  async run(words) {
    await registerGiven(words)
    const [action, provider = '', file = ''] = words.positionals
    if (action !== 'import')
      throw new TouchstoneError('usage', `expected "import", got "${action}"`)
    const scope = words.text('scope')
    const imported = receipt.importAuditFile(provider, file, scope === undefined ? {} : { scope })
    const rows = imported.records.map((record) => [
      foreign(record.record_id),
      String(record.subject.action_class),
      String(record.subject.verb),
      record.binding_digest.slice(0, 19),
    ])
    const look = lookOf(process.stdout)
    const unmapped = Object.entries(imported.counts.unmapped)
    const others = unmapped.reduce((sum, [, n]) => sum + n, 0)
    const text = [
      `${count(imported.counts.entries, 'entry', 'entries')} in ${foreign(file)}: ${count(imported.records.length, 'record')}, ${imported.skipped.length} left out, ${others} of kinds that no call is compared with`,
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
              imported.skipped.map((one) => [String(one.line), foreign(one.reason)]),
              look,
            ),
          ]
        : []),
      ...(unmapped.length
        ? [
            '',
            table(
              [
                { head: 'entries', align: 'right' },
                { head: 'of another kind', min: 20 },
              ],
              unmapped.map(([kind, n]) => [String(n), foreign(kind)]),
              look,
            ),
          ]
        : []),
    ].join('\n')
    print({ toJSON: () => imported }, words.flag('json'), text)
    return imported.records.length > 0 ? EXIT.asHoped : EXIT.fellShort
  },
}
