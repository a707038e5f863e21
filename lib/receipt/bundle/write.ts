/**
 * Writing a bundle of one recorded call that a policy decided on. The same call gives the same
 * bytes.
 */

import { gzipSync } from 'node:zlib'
import { onlyMembers } from '../../arguments.ts'
import { canonical, digest, digestOf } from '../../canonical.ts'
import { TouchstoneError } from '../../errors.ts'
import type { JsonObject } from '../../json.ts'
import type { Decision } from '../surface/decision.ts'
import { EVENTS, MANIFEST } from './archive.ts'
import { contentHash } from './events.ts'
import { ALGORITHMS, SCHEMA_VERSION } from './manifest.ts'
import {
  DECISION_NON_CLAIMS,
  DECISION_SCHEMA,
  ESTABLISH_SCHEMA,
  NOT_PERFORMED,
  OBSERVATION_NON_CLAIMS,
  type Profile,
  RULES,
  requireProfile,
} from './profile.ts'

export type WriteOptions = {
  profile: Profile
  /** ISO 8601 time that the events carry. A recorded call that has its own time keeps it. */
  at: string
  /** Who wrote the bundle. Default `touchstone`, of a version that is not known. */
  producer?: { name: string; version: string }
}

/**
 * Write the bundle of one recorded call: the policy's decision, the error that the caller was shown
 * when it was denied, and how the policy came to a listing of the tool, where it compares one.
 *
 * The target is kept as its digest: SHA-256 over the RFC 8785 text of the decision's
 * `action.target`.
 *
 * @returns the bytes of a `.tar.gz`
 * @throws TouchstoneError `argument_invalid` for a call that no policy decided on, or whose target
 *   is not known
 * @example
 * const decision = receipt.observe({
 *   server: 'github', tool: 'add_deploy_key', status: 'success', runId: 'run-1', seq: 0,
 *   arguments: { owner: 'org', repo: 'prod-repo', title: 'ci-key' },
 *   policy: { reason: 'allow', drift_state: 'not_evaluated' },
 * })
 * const bytes = await writeBundle(decision, { profile: 'privileged-mcp-action/v0', at: '2026-01-01T00:00:00Z' })
 * bytes[0] // 31
 */
export async function writeBundle(decision: Decision, options: WriteOptions): Promise<Uint8Array> {
  onlyMembers(options, ['profile', 'at', 'producer'], 'options')
  const profile = requireProfile(options.profile)
  const { observation, tool, action } = decision
  if (!observation?.policy)
    throw new TouchstoneError(
      'argument_invalid',
      `expected a call that a policy decided on, got one of ${tool.name} without a policy`,
      { where: 'decision.observation.policy' },
    )
  if (action.target === null)
    throw new TouchstoneError(
      'argument_invalid',
      `expected a call whose target is known, got ${decision.classification} (${tool.name})`,
      { where: 'decision.action.target' },
    )
  const payloads = payloadsOf(decision, profile, digestOf(action.target))
  const runId = observation.run_id
  const at = observation.at ?? options.at
  const source = `touchstone:${decision.server.id}`
  const hashes: string[] = []
  const lines = payloads.map((data, seq) => {
    const type = data['schema'] as string
    const hash = contentHash({ type, data })
    hashes.push(hash)
    return canonical({
      specversion: '1.0',
      type,
      source,
      id: `${runId}:${seq}`,
      time: at,
      datacontenttype: 'application/json',
      assayrunid: runId,
      assayseq: seq,
      assaycontenthash: hash,
      data,
    })
  })
  const events = Buffer.from(`${lines.join('\n')}\n`)
  const root = digest(hashes.map((hash) => `${hash}\n`).join(''))
  const manifest = canonical({
    schema_version: SCHEMA_VERSION,
    bundle_id: root,
    run_root: root,
    run_id: runId,
    event_count: lines.length,
    producer: options.producer ?? { name: 'touchstone', version: 'unknown' },
    algorithms: ALGORITHMS,
    files: { [EVENTS]: { path: EVENTS, bytes: events.length, sha256: digest(events) } },
  })
  return pack([
    [MANIFEST, Buffer.from(manifest)],
    [EVENTS, events],
  ])
}

function payloadsOf(decision: Decision, profile: Profile, targetDigest: string): JsonObject[] {
  const { tool, action, observation } = decision
  const policy = observation?.policy as NonNullable<NonNullable<typeof observation>['policy']>
  const { reason, drift_state, establish, denial } = policy
  const denies = decision.decision.effect === 'deny'
  const payloads: JsonObject[] = [
    {
      schema: DECISION_SCHEMA,
      decision: denies ? 'deny' : 'allow',
      reason,
      drift_state,
      tool: { name: tool.name },
      action: { class: action.class, verb: action.verb, target_digest: targetDigest },
      fail_closed: denies,
      non_claims: [...DECISION_NON_CLAIMS],
    },
  ]
  if (denial)
    payloads.push({
      schema: RULES[profile].observation,
      call: { tool_name: tool.name, target_digest: targetDigest },
      caller_visible_error: { code: denial.code, origin: denial.origin, reason: denial.reason },
      caller_visible_response_digest: denial.response_digest,
      non_claims: [...OBSERVATION_NON_CLAIMS],
    })
  if (establish)
    payloads.push({
      schema: ESTABLISH_SCHEMA,
      tool: { name: tool.name },
      establish_path: establish.path,
      run_outcome: establish.outcome,
      establish_attempted: establish.outcome !== NOT_PERFORMED,
    })
  return payloads
}

/** A `.tar.gz` of plain files, with nothing in it of when and where it was made. */
async function pack(files: [name: string, bytes: Uint8Array][]): Promise<Uint8Array> {
  const tar = await import('tar-stream')
  const archive = tar.pack()
  for (const [name, bytes] of files)
    archive.entry({ name, mode: 0o644, uid: 0, gid: 0, mtime: new Date(0), type: 'file' }, bytes)
  archive.finalize()
  const parts: Uint8Array[] = []
  for await (const part of archive) parts.push(part as Uint8Array)
  const packed = gzipSync(Buffer.concat(parts), { level: 9 })
  // The byte at 9 names the operating system. 255: not told.
  packed[OS_BYTE] = 255
  return packed
}

const OS_BYTE = 9
