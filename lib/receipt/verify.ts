/**
 * `receipt.verify`: levels from decisions and evidence, or a receipt from its file or its run's
 * folder.
 */

import { closeSync, openSync, readSync, statSync } from 'node:fs'
import { onlyMembers } from '../arguments.ts'
import { TouchstoneError } from '../errors.ts'
import type { Verification } from './attest/verification.ts'
import { type CheckOptions, checkReceipt } from './attest/verify-receipt.ts'
import { type Decisions, type VerifyOptions, verify as verifyDecisions } from './ladder/levels.ts'
import type { Report } from './ladder/report.ts'

/**
 * Check a receipt, offline and step by step: the signature by your key, the published set, every
 * file, every level, every number.
 *
 * The same files give the same bytes of report, wherever the folder lies.
 *
 * @param path a run's folder with its `receipt.json`, a receipt's file, or a trial's proof
 * @param options `key`: your public key as PEM or a path, null for none; `set`: the set's text as a
 *   path, or `id@version`
 * @throws TouchstoneError `file_unreadable` when there is no receipt, `key_invalid`, `set_unknown`.
 *   A receipt that does not hold is a result
 * @example
 * const { privateKey, publicKey } = receipt.keys.generate()
 * const file = `${process.env.TMPDIR ?? '/tmp'}/touchstone-${crypto.randomUUID()}.json`
 * const tested = await probe.connect('https://localhost/mcp')
 * tested.receipt({ key: privateKey }).save(file)
 * const checked = await verify(file, { key: publicKey })
 * checked.verdict // 'verified'
 */
export function verify(
  path: string,
  options: CheckOptions & ({ key: string | null } | { set: string }),
): Promise<Verification>
/**
 * Derive each call's level from scratch, from decisions and audit evidence.
 *
 * A call is `verified` only when it asserted success, an imported record's digest recomputes, and
 * the same digest comes from the call's own action. It is `observed_confirmed` only by a later read
 * of the same run that shows the effect. One record serves one call. Everything that did not count
 * is listed with its reason. The same inputs in any order give the same report.
 *
 * @throws TouchstoneError `surface_invalid`, `record_invalid`, `export_invalid`,
 *   `argument_invalid`, `file_unreadable` and the `json_*` codes for input that cannot be read;
 *   never for evidence that is only bad
 * @example
 * const call = receipt.observe({
 *   server: 'github', tool: 'add_deploy_key', status: 'success', runId: 'run-1', seq: 0,
 *   arguments: { owner: 'org', repo: 'prod-repo', title: 'ci-key' },
 * })
 * verify([call]).weakest // { state: 'rung', level: 'asserted' }
 * const bytes = '[{"action":"public_key.create","_document_id":"e1","repo":"org/prod-repo","title":"ci-key"}]'
 * verify([call], { audit: { provider: 'github', bytes } }).weakest // { state: 'rung', level: 'verified' }
 */
export function verify(decisions: Decisions, options?: VerifyOptions): Report
export function verify(
  what: Decisions,
  options: CheckOptions | VerifyOptions = {},
): Report | Promise<Verification> {
  if (typeof what !== 'string') return verifyDecisions(what, options as VerifyOptions)
  onlyMembers(
    options,
    [
      'key',
      'set',
      'root',
      'audit',
      'window',
      'ledger',
      'minLevel',
      'toleranceMs',
      'auditOptions',
      'signal',
    ],
    'options',
  )
  const asked = 'key' in options || 'set' in options
  if (!asked && isReceipt(what))
    throw new TouchstoneError(
      'argument_invalid',
      'expected { key } beside a receipt (null for none), got no key',
      {
        where: what,
      },
    )
  if (!asked) return verifyDecisions(what, options as VerifyOptions)
  const foreign = ['audit', 'window', 'ledger', 'minLevel', 'toleranceMs', 'auditOptions'].find(
    (name) => Object.hasOwn(options, name),
  )
  if (foreign !== undefined)
    throw new TouchstoneError(
      'argument_invalid',
      `expected key and set for a receipt, got ${foreign}`,
      { where: what },
    )
  return checkReceipt(what, options as CheckOptions)
}

/**
 * True for a folder, and for a file that begins like an envelope or a proof of a trial. What cannot
 * be read is none: reading it says why.
 */
export function isReceipt(path: string): boolean {
  let fd: number | undefined
  try {
    const stat = statSync(path)
    if (!stat.isFile()) return stat.isDirectory()
    fd = openSync(path, 'r')
    const start = Buffer.alloc(256)
    const text = start.toString('utf8', 0, readSync(fd, start, 0, start.length, 0))
    return /^\s*\{\s*"(payloadType|payload|signatures)"\s*:|^\s*\{\s*"schema"\s*:\s*"touchstone\.trial_proof\./.test(
      text,
    )
  } catch {
    return false
  } finally {
    if (fd !== undefined) closeSync(fd)
  }
}
