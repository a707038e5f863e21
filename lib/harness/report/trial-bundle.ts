/** The bundle of one call of a trial. */
import { TouchstoneError } from '../../errors.ts'
import type { Profile } from '../../receipt/bundle/profile.ts'
import { writeBundle } from '../../receipt/bundle/write.ts'
import type { Run } from './result.ts'

/** See `Run.bundle`. */
export async function bundleOf(
  run: Run,
  key: string,
  { profile, call }: { profile: Profile; call?: number },
): Promise<Uint8Array> {
  const trial = run.record(key)
  const decided = [...run.eachDecision(key)].filter(({ observation }) => observation?.policy)
  const wanted = decided.filter(
    ({ observation }) => call === undefined || observation?.seq === call,
  )
  const [decision] = wanted
  if (!decision || wanted.length > 1) {
    const places = decided.map(({ observation }) => observation?.seq).join(', ') || 'none'
    throw new TouchstoneError(
      'argument_invalid',
      `expected the place of a call that a policy decided on (${places}), got ${call ?? 'none'}`,
      { where: 'call' },
    )
  }
  const { touchstone: version = 'unknown' } = run.manifest.versions
  return writeBundle(decision, {
    profile,
    at: trial.started_at,
    producer: { name: 'touchstone', version },
  })
}
