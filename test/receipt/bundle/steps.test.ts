/** The integrity of a bundle: each step broken alone. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { integrity } from './checked.ts'
import {
  bundle,
  contentHash,
  decision,
  type Event,
  establish,
  event,
  filesOf,
  gzip,
  linesOf,
  type Manifest,
  manifestOf,
  observation,
  sha256,
  tar,
} from './made.ts'

const three = () => [decision(), observation(), establish()].map((data, i) => event(data, i))
/** Three events, one of them changed after its hash was made. */
const altered = (at: number, change: Event) =>
  three().map((one, i) => (i === at ? { ...one, ...change } : one))
const withManifest = (manifest: Manifest) => bundle({ manifest })
/** Events whose hashes, manifest and root fit, but whose lines are these. */
const withText = (text: string | Uint8Array, events: Event[] = [event(decision(), 0)]) =>
  bundle({ events, text })
const line = () => linesOf([event(decision(), 0)])
const rehashed = (one: Event) => ({ ...one, assaycontenthash: contentHash(one) })
const [MANIFEST] = filesOf({})
const A = `sha256:${'a'.repeat(64)}`
const files = (change: object) => ({
  files: { 'events.ndjson': { ...manifestFile(), ...change } },
})
const manifestFile = () =>
  (manifestOf([event(decision(), 0)], line()).files as { [name: string]: object })['events.ndjson']
const withDigest = (right: Manifest, digest: string) => {
  const { 'events.ndjson': file } = right['files'] as { [name: string]: object }
  return { files: { 'events.ndjson': { ...file, sha256: digest } } }
}
const algorithms = (change: object) => ({
  algorithms: { ...manifestOf([], '').algorithms, ...change },
})
/** A good bundle's manifest as text, changed. */
const manifestText = (change: (text: string) => string) =>
  bundle({ manifestText: change(MANIFEST.body as string) })

type Row = [id: string, bytes: () => Uint8Array, expected: string]

const STEPS: Row[] = [
  ['a bundle that is whole', () => bundle(), 'pass'],
  ['three events', () => bundle({ events: three() }), 'pass'],
  ['no events', () => bundle({ payloads: [] }), 'pass'],
  ['a subject', () => bundle({ events: [event(decision(), 0, { subject: 'a' })] }), 'pass'],
  [
    'members that nobody needs',
    () => bundle({ events: [event(decision(), 0, { assaygit: 'x', assaypii: false })] }),
    'pass',
  ],
  ['a manifest with more members', () => withManifest({ more: [1] }), 'pass'],
  ['a manifest without its producer', () => withManifest({ producer: undefined }), 'pass'],
  [
    'the file’s digest in bare hex',
    () => withManifest(files({ sha256: sha256(line()).slice(7) })),
    'pass',
  ],
  // The manifest.
  ['schema_version 2', () => withManifest({ schema_version: 2 }), 'manifest_member'],
  ['schema_version "1"', () => withManifest({ schema_version: '1' }), 'manifest_member'],
  ['no schema_version', () => withManifest({ schema_version: undefined }), 'manifest_member'],
  [
    'a bundle_id in upper case',
    () => withManifest({ bundle_id: `sha256:${'A'.repeat(64)}` }),
    'manifest_member',
  ],
  [
    'a run_root without its prefix',
    () => withManifest({ run_root: 'a'.repeat(64) }),
    'manifest_member',
  ],
  ['no run_id', () => withManifest({ run_id: undefined }), 'manifest_member'],
  ['an empty run_id', () => withManifest({ run_id: '' }), 'manifest_member'],
  ['event_count "1"', () => withManifest({ event_count: '1' }), 'manifest_member'],
  ['event_count -1', () => withManifest({ event_count: -1 }), 'manifest_member'],
  ['event_count 1.5', () => withManifest({ event_count: 1.5 }), 'manifest_member'],
  ['another canon', () => withManifest(algorithms({ canon: 'jcs' })), 'manifest_algorithms'],
  ['another hash', () => withManifest(algorithms({ hash: 'sha512' })), 'manifest_algorithms'],
  [
    'a root with a real line feed',
    () => withManifest(algorithms({ root: 'sha256(concat(content_hash + "\n"))' })),
    'manifest_algorithms',
  ],
  ['no algorithms', () => withManifest({ algorithms: undefined }), 'manifest_member'],
  ['no files', () => withManifest({ files: {} }), 'manifest_member'],
  [
    'two files',
    () => withManifest({ files: { 'events.ndjson': manifestFile(), other: {} } }),
    'manifest_member',
  ],
  [
    'a file at another path',
    () => withManifest(files({ path: '../events.ndjson' })),
    'manifest_member',
  ],
  ['a file of "1" bytes', () => withManifest(files({ bytes: '1' })), 'manifest_member'],
  [
    'a file’s digest in upper case',
    () => withManifest(files({ sha256: `sha256:${'A'.repeat(64)}` })),
    'manifest_member',
  ],
  ['a manifest that is null', () => manifestText(() => 'null'), 'manifest_member'],
  ['a manifest that is a list', () => manifestText(() => '[]'), 'manifest_member'],
  [
    'a manifest that is cut',
    () => manifestText((text) => text.slice(0, -1)),
    'manifest_json_syntax',
  ],
  [
    'a manifest with a key twice',
    () => manifestText((text) => `{"schema_version":1,${text.slice(1)}`),
    'manifest_json_duplicate_key',
  ],
  [
    'a manifest with a key twice, escaped',
    () => manifestText((text) => String.raw`{"schema_versio\u006e":1,${text.slice(1)}`),
    'manifest_json_duplicate_key',
  ],
  [
    'a manifest with 2^53',
    () => manifestText((text) => `{"more":9007199254740992,${text.slice(1)}`),
    'manifest_json_unsafe_number',
  ],
  [
    'a manifest with 2^53 - 1',
    () => manifestText((text) => `{"more":9007199254740991,${text.slice(1)}`),
    'pass',
  ],
  [
    'a manifest with half a pair',
    () => manifestText((text) => String.raw`{"more":"\ud800",${text.slice(1)}`),
    'manifest_json_lone_surrogate',
  ],
  [
    'a manifest that is nested without end',
    () => manifestText((text) => `{"more":${'['.repeat(600)}${']'.repeat(600)},${text.slice(1)}`),
    'manifest_json_depth',
  ],
  [
    'a manifest in bad UTF-8',
    () =>
      bundle({
        manifestText: Buffer.concat([
          Buffer.from('{"more":"'),
          Buffer.from([0xff]),
          Buffer.from(`",${(MANIFEST.body as string).slice(1)}`),
        ]),
      }),
    'manifest_json_utf8',
  ],
  [
    'a manifest behind a byte order mark',
    () => manifestText((text) => `\ufeff${text}`),
    'manifest_byte_order_mark',
  ],
  ['an empty manifest', () => manifestText(() => ''), 'manifest_json_syntax'],
  // The file.
  ['another size', () => withManifest(files({ bytes: line().length + 1 })), 'file_size'],
  ['another digest', () => withManifest(files({ sha256: A })), 'file_digest'],
  // Each event.
  [
    'a content hash of other content',
    () => bundle({ events: [event(decision(), 0, { assaycontenthash: A })] }),
    'content_hash',
  ],
  [
    'other data under the hash',
    () => bundle({ events: altered(2, { data: decision() }) }),
    'content_hash',
  ],
  [
    'another type under the hash',
    () => bundle({ events: altered(1, { type: 'x' }) }),
    'content_hash',
  ],
  [
    'a subject that the hash lacks',
    () => bundle({ events: altered(1, { subject: 'x' }) }),
    'content_hash',
  ],
  [
    'another time, source and producer',
    () => bundle({ events: altered(0, { time: 'x', source: 'y', assayproducer: 'z' }) }),
    'pass',
  ],
  [
    'another specversion',
    () => bundle({ events: [event(decision(), 0, { specversion: '1.1' })] }),
    'event_member',
  ],
  [
    'another datacontenttype',
    () => bundle({ events: [event(decision(), 0, { datacontenttype: 'text/plain' })] }),
    'event_member',
  ],
  [
    'a subject that is null',
    () => bundle({ events: [rehashed({ ...event(decision(), 0), subject: null })] }),
    'event_member',
  ],
  ...[
    'type',
    'source',
    'id',
    'time',
    'assayrunid',
    'assayseq',
    'assaycontenthash',
    'data',
    'specversion',
    'datacontenttype',
  ].map(
    (name): Row => [
      `an event without ${name}`,
      () =>
        bundle({ events: [event(decision(), 0), { ...event(establish(), 1), [name]: undefined }] }),
      'event_member',
    ],
  ),
  [
    'a content hash in upper case',
    () => bundle({ events: altered(0, { assaycontenthash: A.toUpperCase() }) }),
    'event_member',
  ],
  ['a seq that is a text', () => bundle({ events: altered(0, { assayseq: '0' }) }), 'event_member'],
  ['a seq below 0', () => bundle({ events: altered(0, { assayseq: -1 }) }), 'event_member'],
  ['an id of another run', () => bundle({ events: altered(0, { id: 'run-2:0' }) }), 'event_id'],
  ['an id of another place', () => bundle({ events: altered(1, { id: 'run-1:0' }) }), 'event_id'],
  [
    'an id with zeros in front',
    () => bundle({ events: altered(1, { id: 'run-1:01' }) }),
    'event_id',
  ],
  ['a gap', () => bundle({ events: altered(2, { assayseq: 3, id: 'run-1:3' }) }), 'sequence'],
  ['a start at 1', () => bundle({ events: [event(decision(), 1)] }), 'sequence'],
  [
    'a place twice',
    () => bundle({ events: altered(2, { assayseq: 1, id: 'run-1:1' }) }),
    'sequence',
  ],
  ['events out of order', () => bundle({ events: three().toReversed() }), 'sequence'],
  [
    'two runs',
    () => bundle({ events: altered(1, { assayrunid: 'run-2', id: 'run-2:1' }) }),
    'run_id',
  ],
  ['a run that is not the manifest’s', () => withManifest({ run_id: 'run-2' }), 'run_id'],
  ['an event less than told', () => withManifest({ event_count: 2 }), 'event_count'],
  [
    'an event more than told',
    () => bundle({ events: three(), manifest: { event_count: 2 } }),
    'event_count',
  ],
  ['another root', () => withManifest({ run_root: A }), 'run_root'],
  [
    'a root without line feeds',
    () => withManifest({ run_root: sha256(contentHash(event(decision(), 0))) }),
    'run_root',
  ],
  ['another bundle_id', () => withManifest({ bundle_id: A }), 'bundle_id'],
  [
    'another bundle_id and root alike',
    () => withManifest({ bundle_id: A, run_root: A }),
    'run_root',
  ],
  // Lines.
  ['no line feed at the end', () => withText(line().slice(0, -1)), 'line_feed_missing'],
  ['lines that end with CR LF', () => withText(line().replace('\n', '\r\n')), 'carriage_return'],
  [
    'a carriage return between tokens',
    () => withText(line().replace(',', ',\r')),
    'carriage_return',
  ],
  ['an empty line in front', () => withText(`\n${line()}`), 'line_empty'],
  ['an empty line at the end', () => withText(`${line()}\n`), 'line_empty'],
  ['a line of white space', () => withText(`${line()} \n`), 'event_json_syntax'],
  ['two events in a line', () => withText(line().replace('\n', line())), 'event_json_syntax'],
  ['a line that is null', () => withText('null\n'), 'event_member'],
  ['a line that is a list', () => withText('[]\n'), 'event_member'],
  [
    'a key twice',
    () => withText(line().replace('{', '{"id":"run-1:0",')),
    'event_json_duplicate_key',
  ],
  [
    'a key twice, deep inside',
    () => withText(line().replace('"tool":{', '"tool":{"name":"x",')),
    'event_json_duplicate_key',
  ],
  [
    'an integer of 2^53',
    () => withText(line().replace('{', '{"more":9007199254740992,')),
    'event_json_unsafe_number',
  ],
  [
    'a number beyond a double',
    () => withText(line().replace('{', '{"more":1e400,')),
    'event_json_unsafe_number',
  ],
  [
    'half a surrogate pair',
    () => withText(line().replace('{', String.raw`{"more":"\udc00",`)),
    'event_json_lone_surrogate',
  ],
  [
    'nesting without end',
    () => withText(line().replace('{', `{"more":${'['.repeat(600)}${']'.repeat(600)},`)),
    'event_json_depth',
  ],
  [
    'bad UTF-8',
    () => withText(Buffer.from(line().replace('run-1:0', 'run\xff'), 'latin1')),
    'event_json_utf8',
  ],
  ['a byte order mark', () => withText(`\ufeff${line()}`), 'byte_order_mark'],
  ['a NaN', () => withText(line().replace('{', '{"more":NaN,')), 'event_json_syntax'],
]

describe('a bundle is whole, or the first step that fails is told', () => {
  for (const [id, bytes, expected] of STEPS)
    it(`${id} -> ${expected}`, async () => {
      assert.equal(await integrity(bytes()), expected)
    })

  it('the steps count in their order, whichever a stream shows first', async () => {
    const first = (change: Event) => event(decision(), 0, change)
    const rows: [string, Event[], (right: Manifest) => Manifest][] = [
      ['file_size', [first({ id: 'x' })], () => ({ ...files({ bytes: 1 }), event_count: 9 })],
      ['file_digest', [first({ id: 'x' }), { x: 1 }], (right) => withDigest(right, A)],
      ['event_member', [first({ assaycontenthash: A, id: 'x' }), { x: 1 }], () => ({})],
      [
        'content_hash',
        [first({ id: 'x' }), event(establish(), 1, { assaycontenthash: A })],
        () => ({}),
      ],
      ['event_id', [first({ assayseq: 1 }), event(establish(), 1, { id: 'x' })], () => ({})],
      ['sequence', [first({ assayrunid: 'z', id: 'z:0' }), event(establish(), 2)], () => ({})],
      ['run_id', [first({ assayrunid: 'z', id: 'z:0' })], () => ({ event_count: 3 })],
      ['event_count', [first({})], () => ({ event_count: 3, run_root: A })],
      ['run_root', [first({})], () => ({ run_root: A, bundle_id: sha256('') })],
    ]
    for (const [expected, events, change] of rows) {
      const right = manifestOf(events, linesOf(events))
      assert.equal(await integrity(bundle({ events, manifest: change(right) })), expected)
    }
  })

  it('an archive that is broken behind the events outranks what is wrong with them', async () => {
    const parts = filesOf({ manifest: { event_count: 7 } })
    assert.equal(await integrity(gzip(tar(...parts), { crc: 1 })), 'gzip_crc')
  })
})
