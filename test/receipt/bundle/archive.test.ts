/** The archive of a bundle: each trick by its name, every bound, and what is no archive at all. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { crc32, gzipSync } from 'node:zlib'
import { receipt } from '../../../lib/index.ts'
import { readArchive } from '../../../lib/receipt/bundle/archive.ts'
import { gunzip } from '../../../lib/receipt/bundle/gunzip.ts'
import { LIMITS } from '../../../lib/receipt/bundle/not-whole.ts'
import { temporaryFolder } from '../../temporary.ts'
import { check, integrity, type Limits } from './checked.ts'
import {
  bundle,
  decision,
  END,
  entry,
  establish,
  event,
  filesOf,
  gzip,
  observation,
  tar,
  V0,
} from './made.ts'

const folder = temporaryFolder('bundle')

const three = () => [decision(), observation(), establish()].map((data, i) => event(data, i))
const [MANIFEST, EVENTS] = filesOf({})
const good = tar(...filesOf({}))

type Row = [id: string, bytes: () => Uint8Array, expected: string]

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
  [
    'a name that is too long',
    () =>
      gzip(good, { header: Buffer.concat([header(8), Buffer.alloc(2000, 97), Buffer.alloc(1)]) }),
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
  [
    'a part of a block behind the end',
    () => gzip(Buffer.concat([good, Buffer.alloc(100)])),
    'tar_truncated',
  ],
  ['a manifest that is cut', () => gzip(good.subarray(0, 1024)), 'tar_truncated'],
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
    async function* chunks(bytes: Uint8Array, size: number) {
      for (let from = 0; from < bytes.length; from += size) yield bytes.subarray(from, from + size)
    }
    for (const size of [1, 2, 7, 511, 513, 4096]) {
      const unpacked: Uint8Array[] = []
      for await (const part of gunzip(chunks(gzip(good), size), LIMITS)) unpacked.push(part)
      assert.deepEqual(Buffer.concat(unpacked), good)
      const taken: string[] = []
      await readArchive(chunks(good, size), LIMITS, {
        manifest: (bytes) => taken.push(Buffer.from(bytes).toString()),
        events: (sizeBytes) => taken.push(`${sizeBytes}:`),
        chunk: (bytes) => taken.push(Buffer.from(bytes).toString('latin1')),
      })
      const events = Buffer.from(EVENTS.body).toString('latin1')
      assert.equal(taken.join(''), `${MANIFEST.body}${events.length}:${events}`)
    }
  })
})

describe('what is read is bounded', () => {
  const zeros = Buffer.alloc(1 << 20)
  const rows: [string, Limits, string][] = [
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
