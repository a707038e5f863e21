/**
 * `receipt.verifyBundle`: is a bundle of one privileged action whole, is it as its profile says,
 * and what does it then show?
 *
 * The bundle comes from somebody else, so everything in it may be hostile. It is read as a stream
 * in bounded memory. Nothing is written, and nobody is asked.
 */
import { createReadStream, statSync } from 'node:fs'
import { gotShape, onlyMembers } from '../../arguments.ts'
import type { Digest } from '../../canonical.ts'
import { TouchstoneError } from '../../errors.ts'
import { readArchive } from './archive.ts'
import { BundleReport, type Outcome } from './bundle-report.ts'
import { bind, claimsOf, isMarker } from './claims.ts'
import { EventReader } from './events.ts'
import { gunzip } from './gunzip.ts'
import { type Manifest, readManifest } from './manifest.ts'
import { LIMITS, type Limits, NotWhole } from './not-whole.ts'
import { type Profile, requireProfile } from './profile.ts'
import { type Found, memberAt, Records } from './records.ts'

export type BundleOptions = {
  /** A bundle does not say which profile it was made for, and it is not guessed. */
  profile: Profile
  /**
   * Bounds on what is read. Default: 256 MiB packed, 1 GiB unpacked, a manifest of 1 MiB, lines of
   * 16 MiB, 5,000,000 events.
   */
  limits?: Partial<Limits>
  signal?: AbortSignal
}

/**
 * Verify a bundle of one privileged action.
 *
 * First whether it is whole (`bundle_integrity`): the archive, the file's size and digest, each
 * event's content hash, id, place and run, the number of events, the digest over all of them, the
 * bundle's id. The first failure ends the check. Then whether its records keep the profile
 * (`verdict`), with every violation. A valid bundle has four `claims`.
 *
 * A bundle that is bad is a result. So is a path that cannot be read.
 *
 * @param bundle a path, or the bytes of a `.tar.gz`
 * @throws TouchstoneError `argument_invalid` for an unknown profile or option; the signal's reason
 * @example
 * const decision = receipt.observe({
 *   server: 'github', tool: 'add_deploy_key', status: 'denied', effect: 'deny', runId: 'run-1', seq: 0,
 *   arguments: { owner: 'org', repo: 'prod-repo', title: 'ci-key' },
 *   policy: { reason: 'no_declared_allowance', drift_state: 'not_evaluated' },
 * })
 * const bytes = await receipt.bundle(decision, { profile: 'privileged-mcp-action/v0', at: '2026-01-01T00:00:00Z' })
 * const report = await verifyBundle(bytes, { profile: 'privileged-mcp-action/v0' })
 * report.verdict // 'valid'
 * report.claims.caller_visible_denial // { status: 'incomplete' }
 */
export async function verifyBundle(
  bundle: string | Uint8Array,
  options: BundleOptions,
): Promise<BundleReport> {
  onlyMembers(options, ['profile', 'limits', 'signal'], 'options')
  const profile = requireProfile(options.profile)
  const limits = { ...LIMITS, ...options.limits }
  onlyMembers(limits, Object.keys(LIMITS), 'limits')
  try {
    return new BundleReport(profile, await judge(bundle, profile, limits, options.signal))
  } catch (cause) {
    options.signal?.throwIfAborted()
    if (!(cause instanceof NotWhole)) throw cause
    return new BundleReport(profile, { integrity: 'fail', failure: cause })
  }
}

/** @throws NotWhole */
async function judge(
  bundle: string | Uint8Array,
  profile: Profile,
  limits: Limits,
  signal: AbortSignal | undefined,
): Promise<Outcome> {
  const records = new Records(profile)
  let manifest: Manifest | null = null
  let events: EventReader | null = null
  await readArchive(gunzip(chunksOf(bundle, signal), limits), limits, {
    manifest(bytes) {
      manifest = readManifest(bytes)
      events = new EventReader(manifest, limits, (event) => records.take(event))
    },
    events: (sizeBytes) => events?.size(sizeBytes),
    chunk: (bytes) => events?.chunk(bytes),
  })
  // Both are there: an archive without the manifest has been refused.
  const reader = events as EventReader | null
  reader?.end()
  const runId = (manifest as Manifest | null)?.runId ?? ''
  return verdictOf(records, profile, runId, reader?.count ?? 0)
}

function verdictOf(records: Records, profile: Profile, runId: string, events: number): Outcome {
  const whole = { integrity: 'pass', events } as const
  const counted = records.counted()
  const marker = counted && isMarker(records.one('observation'), profile)
  if (counted) records.check()
  if (marker) bind(records)
  const decision = records.one('decision')
  const findings = records.violations.all()
  if (decision === null || findings.length > 0) return { ...whole, verdict: 'invalid', findings }
  const { claims, contradictions } = claimsOf(records, marker)
  const action = actionOf(decision, runId)
  return { ...whole, verdict: 'valid', findings: contradictions, claims, action }
}

function actionOf({ data }: Found, runId: string) {
  return {
    runId,
    decision: data['decision'] as 'allow' | 'deny',
    reason: data['reason'] as string,
    tool: memberAt(data, 'tool.name') as string,
    targetDigest: memberAt(data, 'action.target_digest') as Digest,
  }
}

async function* chunksOf(
  bundle: string | Uint8Array,
  signal: AbortSignal | undefined,
): AsyncGenerator<Uint8Array> {
  if (bundle instanceof Uint8Array) return yield* partsOf(bundle, signal)
  if (typeof bundle !== 'string')
    throw new TouchstoneError('argument_invalid', `expected a path or bytes, ${gotShape(bundle)}`, {
      where: 'bundle',
    })
  try {
    // A pipe or a device need not have an end, and to open one may wait for ever.
    const stat = statSync(bundle)
    if (!stat.isFile())
      throw unreadable(stat.isDirectory() ? 'a folder' : 'a pipe or a device', bundle)
    yield* createReadStream(bundle, { highWaterMark: PART_BYTES, ...(signal && { signal }) })
  } catch (cause) {
    if (cause instanceof NotWhole || signal?.aborted) throw cause
    throw unreadable((cause as NodeJS.ErrnoException).code ?? String(cause), bundle)
  }
}

const PART_BYTES = 1 << 16

function* partsOf(bytes: Uint8Array, signal: AbortSignal | undefined): Generator<Uint8Array> {
  for (let from = 0; from < bytes.length; from += PART_BYTES) {
    signal?.throwIfAborted()
    yield bytes.subarray(from, from + PART_BYTES)
  }
}

function unreadable(got: string, path: string): NotWhole {
  return new NotWhole('archive', 'bundle_unreadable', `expected a readable file, got ${got}`, path)
}
