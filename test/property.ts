/**
 * fast-check as the tests use it. `npm run test:long` runs each property on 100 times as many cases.
 *
 * `PROPERTY_TIMES` multiplies the cases (default 1); `PROPERTY_SEED` repeats a run. `npm test` tries the same cases each time, so
 * that it fails for what was changed and not by chance; a long run draws a seed, and prints it.
 */
import { basename } from 'node:path'
import fc from 'fast-check'

const times = Number(process.env['PROPERTY_TIMES'] ?? 1)
const given = process.env['PROPERTY_SEED']
if (!(Number.isInteger(times) && times >= 1))
  throw new Error(`expected PROPERTY_TIMES to be a whole number >= 1, got ${times}`)
const drawn = times > 1 ? (Date.now() ^ (process.pid << 8)) | 0 : 1
const seed = given === undefined ? drawn : Number(given) | 0
if (times > 1)
  console.log(`${basename(process.argv[1] ?? '')}: cases x${times}, PROPERTY_SEED=${seed}`)

const RUNS = 100

/** `fc.assert` with the cases and the seed of this run. */
const assert = ((property: fc.IRawProperty<unknown>, parameters: fc.Parameters<unknown> = {}) =>
  fc.assert(property, {
    seed,
    ...parameters,
    numRuns: (parameters.numRuns ?? RUNS) * times,
  })) as typeof fc.assert

export default { ...fc, assert }
