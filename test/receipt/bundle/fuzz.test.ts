/** Bundles changed at random: the verifier always comes to an end with a report, and never takes another meaning for whole. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { isDeepStrictEqual } from 'node:util'
import { gunzipSync } from 'node:zlib'
import { receipt } from '../../../lib/index.ts'
import fc from '../../property.ts'
import {
  bundle,
  decision,
  entry,
  establish,
  event,
  filesOf,
  gzip,
  jcs,
  observation,
  tar,
  V0,
} from './made.ts'

const events = [decision(), observation(), establish(), { schema: 'other', text: 'é' }].map(
  (data, seq) => event(data, seq),
)
const [MANIFEST, EVENTS] = filesOf({ events })
const ARCHIVE = tar(MANIFEST, EVENTS)
const PACKED = bundle({ events })
/** What the bundle says. It is whole only as long as it says this. */
const MEANING = jcs(events)

/** The events of an archive as GNU tar would take them out. Null when there are none to read. */
function meaningOf(packed: Uint8Array): string | null {
  try {
    const bytes = gunzipSync(packed)
    const from = 1024 + Math.ceil((MANIFEST.body as string).length / 512) * 512
    const size = Number.parseInt(bytes.toString('latin1', from - 512 + 124, from - 512 + 135), 8)
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes.subarray(from, from + size))
    return jcs(
      text
        .split('\n')
        .slice(0, -1)
        .map((line) => JSON.parse(line)),
    )
  } catch {
    return null
  }
}

/** One change of bytes at a place between 0 and 1. */
const change = fc.record({
  at: fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
  how: fc.constantFrom('flip', 'set', 'insert', 'delete', 'repeat', 'cut'),
  byte: fc.integer({ min: 0, max: 255 }),
  length: fc.integer({ min: 1, max: 40 }),
})
type Change = { at: number; how: string; byte: number; length: number }

function changed(bytes: Uint8Array, { at, how, byte, length }: Change): Uint8Array {
  const place = Math.floor(at * bytes.length)
  const [before, here, behind] = [
    bytes.subarray(0, place),
    bytes.subarray(place, place + length),
    bytes.subarray(place + length),
  ]
  if (how === 'flip' || how === 'set') {
    const made = Uint8Array.from(bytes)
    made[place] = how === 'set' ? byte : (made[place] as number) ^ (1 << (byte % 8))
    return made
  }
  if (how === 'insert') return Buffer.concat([before, Buffer.alloc(length, byte), here, behind])
  if (how === 'delete') return Buffer.concat([before, behind])
  if (how === 'repeat') return Buffer.concat([before, here, here, behind])
  return before
}
const allOf = (bytes: Uint8Array, changes: Change[]) => changes.reduce(changed, bytes)

/** Where the change is made: the file, the archive, one of the two texts, or the events with a manifest that fits them. */
const LAYERS: { [layer: string]: (changes: Change[]) => Uint8Array } = {
  file: (changes) => allOf(PACKED, changes),
  archive: (changes) => gzip(allOf(ARCHIVE, changes)),
  manifest: (changes) =>
    gzip(tar({ ...MANIFEST, body: allOf(Buffer.from(MANIFEST.body as string), changes) }, EVENTS)),
  events: (changes) =>
    gzip(tar(MANIFEST, { ...EVENTS, body: allOf(Buffer.from(EVENTS.body), changes) })),
  events_with_their_digest: (changes) =>
    bundle({ events, text: allOf(Buffer.from(EVENTS.body), changes) }),
}

/** Per layer. `npm run test:long` makes 20 times 100 times 5: 10,000. */
const CASES = 20

describe('a bundle changed at random', () => {
  for (const [layer, make] of Object.entries(LAYERS))
    it(`in its ${layer.replaceAll('_', ' ')}: a report comes, and whole means unchanged`, async () => {
      await fc.assert(
        fc.asyncProperty(fc.array(change, { minLength: 1, maxLength: 3 }), async (changes) => {
          const bytes = make(changes)
          const report = await receipt.verifyBundle(bytes, { profile: V0 })
          if (report.bundle_integrity === 'fail') {
            assert.equal(report.findings.length, 1)
            assert.equal(report.verdict, undefined)
            return
          }
          // A change that the content hashes do not cover (a time, a source) leaves what was said as it was.
          const after = meaningOf(bytes)
          const said = (text: string | null) =>
            text === null ? null : (JSON.parse(text) as { [member: string]: unknown }[]).map(SAID)
          assert.ok(isDeepStrictEqual(said(after), said(MEANING)))
        }),
        { numRuns: CASES },
      )
    })

  it('an archive of random blocks is no bundle', async () => {
    const blocks = fc.array(fc.uint8Array({ minLength: 512, maxLength: 512 }), { maxLength: 6 })
    await fc.assert(
      fc.asyncProperty(blocks, fc.boolean(), async (parts, led) => {
        const bytes = Buffer.concat([...(led ? [entry(MANIFEST)] : []), ...parts])
        const report = await receipt.verifyBundle(gzip(bytes), { profile: V0 })
        assert.equal(report.bundle_integrity, 'fail')
      }),
      { numRuns: CASES },
    )
  })
})

/** What an event's content hash, id and place cover. */
const SAID = ({ type, subject, data, id, assayseq }: { [member: string]: unknown }) => ({
  type,
  subject,
  data,
  id,
  assayseq,
})
