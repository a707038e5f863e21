/** The integrity of a bundle: each step broken alone, each trick of an archive by its name. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import { crc32, gzipSync } from 'node:zlib'
import { receipt } from '../../../lib/index.ts'
import {
  bundle,
  contentHash,
  decision,
  END,
  type Event,
  entry,
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
  V0,
} from './made.ts'

const folder = mkdtempSync(join(tmpdir(), 'bundle-'))
after(() => rmSync(folder, { recursive: true }))

type Options = Parameters<typeof receipt.verifyBundle>[1]
const check = (bytes: string | Uint8Array, limits?: Options['limits']) =>
  receipt.verifyBundle(bytes, { profile: V0, ...(limits && { limits }) })

/** `pass`, or the one reason why not. */
async function integrity(bytes: string | Uint8Array, limits?: Options['limits']): Promise<string> {
  const report = await check(bytes, limits)
  assert.equal(report.bundle_integrity, report.verdict === undefined ? 'fail' : 'pass')
  if (report.verdict !== undefined) return 'pass'
  assert.equal(report.findings.length, 1)
  assert.equal(report.claims, undefined)
  return report.findings[0]?.code as string
}

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
const [MANIFEST, EVENTS] = filesOf({})
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
const good = tar(...filesOf({}))
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

const plain = { name: 'note.txt', body: 'x' }
const header = (flags: number, more: number[] = []) =>
  Buffer.from([0x1f, 0x8b, 8, flags, 0, 0, 0, 0, 0, 255, ...more])
const summed = (bytes: Buffer) =>
  Buffer.concat([bytes, Buffer.from([crc32(bytes) & 0xff, (crc32(bytes) >> 8) & 0xff])])
const filled = (at: number) => {
  const bytes = Buffer.from(good)
  bytes[at] = 0x41
  return bytes
}
const behindManifest = 512 + (MANIFEST.body as string).length

const TRICKS: Row[] = [
  // Gzip.
  ['no bytes', () => Buffer.alloc(0), 'gzip_header'],
  ['a bare tar', () => good, 'gzip_header'],
  [
    'another method',
    () => gzip(good, { header: Buffer.from('1f8b07000000000000ff', 'hex') }),
    'gzip_header',
  ],
  ['a reserved flag', () => gzip(good, { header: header(0x20) }), 'gzip_header'],
  [
    'a name and a comment in the header',
    () => gzip(good, { header: header(8 | 16, [97, 0, 98, 0]) }),
    'pass',
  ],
  ['an extra field in the header', () => gzip(good, { header: header(4, [2, 0, 1, 2]) }), 'pass'],
  ['a header with its checksum', () => gzip(good, { header: summed(header(2)) }), 'pass'],
  [
    'a header with another checksum',
    () => gzip(good, { header: header(2, [0, 0]) }),
    'gzip_header',
  ],
  [
    'a name without an end',
    () => Buffer.concat([header(8), Buffer.alloc(70_000, 97)]),
    'gzip_header',
  ],
  ['a header that is cut', () => header(4, [9]), 'gzip_truncated'],
  [
    'compressed data that is none',
    () => Buffer.concat([header(0), Buffer.alloc(64, 0xff)]),
    'gzip_data',
  ],
  ['compressed data that is cut', () => bundle().subarray(0, -100), 'gzip_truncated'],
  ['a trailer that is cut', () => bundle().subarray(0, -1), 'gzip_truncated'],
  ['no trailer', () => bundle().subarray(0, -8), 'gzip_truncated'],
  ['a wrong CRC', () => gzip(good, { crc: 1 }), 'gzip_crc'],
  ['a wrong size', () => gzip(good, { size: 1 }), 'gzip_size'],
  ['a second member', () => Buffer.concat([bundle(), bundle()]), 'gzip_second_member'],
  [
    'a second member that is empty',
    () => Buffer.concat([bundle(), gzipSync('')]),
    'gzip_second_member',
  ],
  [
    'the archive cut into two members',
    () => Buffer.concat([gzipSync(good.subarray(0, 1024)), gzipSync(good.subarray(1024))]),
    'gzip_second_member',
  ],
  [
    'bytes behind the trailer',
    () => Buffer.concat([bundle(), Buffer.from('x')]),
    'gzip_trailing_data',
  ],
  [
    'zeros behind the trailer',
    () => Buffer.concat([bundle(), Buffer.alloc(9)]),
    'gzip_trailing_data',
  ],
  // Tar.
  ['no archive in it', () => gzip(Buffer.alloc(0)), 'entry_missing'],
  ['an archive of nothing', () => gzip(END), 'entry_missing'],
  ['other bytes in place of an archive', () => gzip(Buffer.alloc(2048, 0x41)), 'tar_header'],
  ['a header with a wrong checksum', () => gzip(filled(100)), 'tar_header'],
  ['the manifest alone', () => gzip(tar(MANIFEST)), 'entry_missing'],
  ['the events alone', () => gzip(tar(EVENTS)), 'entry_order'],
  ['the two in the other order', () => gzip(tar(EVENTS, MANIFEST)), 'entry_order'],
  ['a third file', () => gzip(tar(MANIFEST, EVENTS, plain)), 'entry_unknown'],
  ['a third file between', () => gzip(tar(MANIFEST, plain, EVENTS)), 'entry_unknown'],
  ['the manifest twice', () => gzip(tar(MANIFEST, MANIFEST, EVENTS)), 'entry_twice'],
  ['the events twice', () => gzip(tar(MANIFEST, EVENTS, EVENTS)), 'entry_twice'],
  [
    'another name',
    () => gzip(tar({ ...MANIFEST, name: 'Manifest.json' }, EVENTS)),
    'entry_unknown',
  ],
  [
    'a name behind ./',
    () => gzip(tar({ ...MANIFEST, name: './manifest.json' }, EVENTS)),
    'entry_unknown',
  ],
  ['a name in a folder', () => gzip(tar({ ...MANIFEST, prefix: 'a' }, EVENTS)), 'entry_unknown'],
  [
    'a name with ..',
    () => gzip(tar({ ...MANIFEST, name: '../manifest.json' }, EVENTS)),
    'entry_parent',
  ],
  [
    'a name with .. by its prefix',
    () => gzip(tar({ ...MANIFEST, prefix: '..' }, EVENTS)),
    'entry_parent',
  ],
  [
    'a name with .. and back slashes',
    () => gzip(tar({ ...MANIFEST, name: 'a\\..\\manifest.json' }, EVENTS)),
    'entry_parent',
  ],
  [
    'an absolute name',
    () => gzip(tar({ ...MANIFEST, name: '/manifest.json' }, EVENTS)),
    'entry_absolute',
  ],
  [
    'a name with a drive',
    () => gzip(tar({ ...MANIFEST, name: 'C:manifest.json' }, EVENTS)),
    'entry_absolute',
  ],
  ...(
    [
      ['a hard link', '1'],
      ['a symbolic link', '2'],
      ['a character device', '3'],
      ['a block device', '4'],
      ['a folder', '5'],
      ['a pipe', '6'],
      ['a contiguous file', '7'],
    ] as const
  ).map(
    ([what, type]): Row => [
      `${what} by that name`,
      () => gzip(tar(MANIFEST, { name: 'events.ndjson', type, link: 'manifest.json' })),
      'entry_type',
    ],
  ),
  [
    'a plain file that has a link’s target',
    () => gzip(tar({ ...MANIFEST, link: '/etc/passwd' }, EVENTS)),
    'entry_type',
  ],
  ['an unknown type', () => gzip(tar(MANIFEST, { ...EVENTS, type: 'Z' })), 'entry_type'],
  [
    'a pax header in front',
    () => gzip(tar({ name: 'pax', type: 'x', body: '22 path=manifest.json\n' }, MANIFEST, EVENTS)),
    'tar_hidden_header',
  ],
  [
    'a pax header for all',
    () => gzip(tar({ name: 'pax', type: 'g', body: '11 mtime=1\n' }, MANIFEST, EVENTS)),
    'tar_hidden_header',
  ],
  [
    'a long name of GNU',
    () =>
      gzip(
        tar(
          { name: 'long', type: 'L', body: 'manifest.json\0' },
          { ...MANIFEST, name: 'x' },
          EVENTS,
        ),
      ),
    'tar_hidden_header',
  ],
  [
    'a block of zeros in front',
    () => gzip(Buffer.concat([Buffer.alloc(512), good])),
    'tar_hidden_header',
  ],
  [
    'blocks of zeros between',
    () => gzip(Buffer.concat([entry(MANIFEST), END, entry(EVENTS), END])),
    'tar_hidden_header',
  ],
  ['bytes behind a file, in its last block', () => gzip(filled(behindManifest)), 'tar_padding'],
  [
    'bytes behind the end',
    () => gzip(Buffer.concat([good, Buffer.alloc(512, 0x41)])),
    'tar_trailing_data',
  ],
  ['a byte in the last block of zeros', () => gzip(filled(good.length - 1)), 'tar_trailing_data'],
  [
    'a byte where a checksum would be',
    () => gzip(filled(good.length - 1024 + 150)),
    'tar_trailing_data',
  ],
  [
    'a third file behind the end',
    () => gzip(Buffer.concat([good, entry(plain), END])),
    'tar_hidden_header',
  ],
  [
    'zeros up to a record of 10240 bytes',
    () => gzip(Buffer.concat([good, Buffer.alloc(10240)])),
    'pass',
  ],
  [
    'zeros without an end',
    () => gzip(Buffer.concat([good, Buffer.alloc(2 << 20)])),
    'tar_trailing_data',
  ],
  ['no blocks of zeros at the end', () => gzip(good.subarray(0, -1024)), 'tar_truncated'],
  ['one block of zeros at the end', () => gzip(good.subarray(0, -512)), 'tar_truncated'],
  ['a part of a block at the end', () => gzip(good.subarray(0, -1)), 'tar_truncated'],
  ['a file that is cut', () => gzip(good.subarray(0, -2048)), 'tar_truncated'],
  [
    'a size that is larger than the file',
    () => gzip(tar(MANIFEST, { ...EVENTS, size: 1 << 20 })),
    'tar_truncated',
  ],
]

describe('an archive is two plain files and nothing else', () => {
  for (const [id, bytes, expected] of TRICKS)
    it(`${id} -> ${expected}`, async () => {
      assert.equal(await integrity(bytes()), expected)
    })

  it('it may come in chunks of any size', async () => {
    const bytes = bundle({ events: three() })
    for (const size of [1, 2, 7, 511, 513]) {
      const path = join(folder, `chunks-${size}`)
      writeFileSync(path, bytes)
      const cut = receipt.verifyBundle(path, { profile: V0 })
      assert.equal((await cut).verdict, 'valid')
    }
  })
})

describe('what is read is bounded', () => {
  const zeros = Buffer.alloc(1 << 20)
  const rows: [string, Options['limits'], string][] = [
    ['bytes of the file', { packedBytes: 100 }, 'bundle_too_large'],
    ['bytes that it unpacks to', { unpackedBytes: 3000 }, 'unpacked_too_large'],
    ['bytes of the manifest', { manifestBytes: 100 }, 'entry_too_large'],
    ['bytes of a line', { lineBytes: 100 }, 'line_too_long'],
    ['events', { events: 2 }, 'events_too_many'],
  ]
  for (const [what, limits, expected] of rows)
    it(`${what} -> ${expected}`, async () => {
      const bytes = bundle({ events: three() })
      assert.equal(await integrity(bytes), 'pass')
      assert.equal(await integrity(bytes, limits), expected)
    })

  it('a small file that unpacks to much is refused by what its header says, before it is unpacked', async () => {
    const bomb = gzip(Buffer.concat([entry({ ...MANIFEST, body: '', size: 2 ** 33 - 1 }), zeros]))
    assert.equal(await integrity(bomb), 'entry_too_large')
    const events = gzip(
      Buffer.concat([entry(MANIFEST), entry({ ...EVENTS, body: '', size: 2 ** 33 - 1 }), zeros]),
    )
    assert.equal(await integrity(events), 'entry_too_large')
  })

  it('a limit that is none is a bad call', async () => {
    await assert.rejects(check(bundle(), { bytes: 1 } as never), { code: 'argument_invalid' })
  })
})

describe('a path', () => {
  it('that cannot be read, or is a folder, is a bundle that is not whole', async () => {
    for (const path of [folder, join(folder, 'none'), '', 'a\0b', '/dev/null'])
      assert.equal(await integrity(path), 'bundle_unreadable', path)
  })

  it('is read like bytes are, and nothing is written', async () => {
    const path = join(folder, 'one.tar.gz')
    writeFileSync(path, bundle())
    const before = readdirSync(folder)
    assert.deepEqual((await check(path)).toJSON(), (await check(bundle())).toJSON())
    assert.deepEqual(readdirSync(folder), before)
  })

  it('what is neither path nor bytes is a bad call', async () => {
    for (const wrong of [5, null, undefined, {}, []])
      await assert.rejects(check(wrong as never), { code: 'argument_invalid' })
  })

  it('a signal ends the reading', async () => {
    const signal = AbortSignal.abort(new Error('enough'))
    await assert.rejects(receipt.verifyBundle(bundle(), { profile: V0, signal }), /enough/)
  })
})

describe('other programs', () => {
  it('an archive of GNU tar in the format ustar is read', async () => {
    const [manifest, events] = filesOf({ events: three() })
    writeFileSync(join(folder, 'manifest.json'), manifest.body)
    writeFileSync(join(folder, 'events.ndjson'), events.body)
    const path = join(folder, 'gnu.tar.gz')
    execFileSync('tar', ['--format=ustar', '-czf', path, 'manifest.json', 'events.ndjson'], {
      cwd: folder,
    })
    assert.equal((await check(path)).verdict, 'valid')
  })
})
