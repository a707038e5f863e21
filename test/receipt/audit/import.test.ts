/** Importers over the documented shapes of every provider, and over what is no export at all. */
import assert from 'node:assert/strict'
import { createHash, createSign, generateKeyPairSync } from 'node:crypto'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import type { JsonObject } from '../../../lib/json.ts'
import * as receipt from '../../../lib/receipt/index.ts'
import fc from '../../property.ts'
import { temporaryFolder } from '../../temporary.ts'

const folder = temporaryFolder('audit')

type Row = {
  id: string
  comment: string
  input: JsonObject
  expected: { record?: JsonObject; skipped?: string; unmapped?: string }
}
const rowsOf = (provider: string): Row[] =>
  JSON.parse(
    readFileSync(new URL(`../../../fixtures/audit/${provider}.json`, import.meta.url), 'utf8'),
  ).rows
const PROVIDERS = receipt.importers().map(({ name }) => name)
const NAMES = Object.fromEntries(receipt.importers().map((one) => [one.name, one.provider]))

for (const provider of PROVIDERS) {
  describe(provider, () => {
    for (const { id, comment, input, expected } of rowsOf(provider)) {
      test(`${id}: ${comment}`, () => {
        const made = receipt.importAudit(provider, JSON.stringify([input]))
        if (expected.record) {
          const [record] = made.records
          assert.ok(record, `skipped: ${made.skipped[0]?.reason}`)
          const {
            record_id,
            subject,
            occurred_at = null,
            attributes = null,
            request_ids = [],
          } = record
          assert.deepEqual(
            { record_id, subject, occurred_at, attributes, request_ids },
            expected.record,
          )
          assert.equal(record.binding_digest, receipt.bindingDigest(expected.record['subject']))
        } else assert.deepEqual(made.records, [])
        assert.deepEqual(made.counts.unmapped, expected.unmapped ? { [expected.unmapped]: 1 } : {})
        if (expected.skipped)
          assert.match(made.skipped[0]?.reason ?? '', new RegExp(expected.skipped))
        else assert.deepEqual(made.skipped, [])
        assert.equal(made.counts.entries, 1)
      })
    }

    test('every entry ends as a record, as skipped, or is counted as not mapped', () => {
      const entries = rowsOf(provider).map((row) => row.input)
      const { counts, records, skipped } = receipt.importAudit(provider, JSON.stringify(entries))
      const unmapped = Object.values(counts.unmapped).reduce((sum, n) => sum + n, 0)
      // One entry may be several records: a refund is named by its charge and by its payment intent.
      const told = new Set([
        ...records.map(({ source }) => source?.line),
        ...skipped.map(({ line }) => line),
      ])
      assert.equal(told.size + unmapped, entries.length)
    })

    test('a member of another kind than documented never crashes the importer', () => {
      const { input } = rowsOf(provider)[0] as Row
      for (const name of Object.keys(input)) {
        for (const value of [null, 1, '', [], {}, { toString: '' }, { toString: { a: 1 } }]) {
          const text = JSON.stringify([{ ...input, [name]: value }])
          assert.equal(receipt.importAudit(provider, text).counts.entries, 1, name)
        }
      }
    })

    test('arbitrary JSON never crashes the importer', () => {
      const [first] = rowsOf(provider)
      fc.assert(
        fc.property(fc.array(fc.jsonValue()), fc.string(), fc.jsonValue(), (list, name, value) => {
          const own = {
            ...(first as Row).input,
            [Object.keys((first as Row).input)[name.length % 6] as string]: value,
          }
          const text = JSON.stringify([...list, own])
          try {
            receipt.importAudit(provider, text)
          } catch (error) {
            assert.match((error as { code: string }).code, /^json_/)
          }
        }),
      )
    })
  })
}

describe('forms of an export', () => {
  const entries = [
    rowsOf('github')[0]?.input,
    rowsOf('github').find(({ id }) => id === 'add-member')?.input,
    { action: 'hook.create' },
  ] as JsonObject[]
  const lines = entries.map((entry) => JSON.stringify(entry)).join('\n')
  const subjects = (made: receipt.Imported) => made.records.map((record) => record.subject)

  test('a JSON array, NDJSON, and both gzipped give the same records', () => {
    const array = receipt.importAudit('github', JSON.stringify(entries, null, 2))
    assert.equal(array.counts.records, 2)
    for (const bytes of [
      lines,
      `${lines}\n`,
      lines.replaceAll('\n', '\r\n'),
      gzipSync(lines),
      gzipSync(JSON.stringify(entries)),
    ])
      assert.deepEqual(subjects(receipt.importAudit('github', bytes)), subjects(array))
  })

  test('an entry that a later one of the same export takes back, or says again, is no record, and says by which', () => {
    const event = (type: string, status: string) => ({
      id: `evt_${type}`,
      object: 'event',
      created: 1767603600,
      livemode: true,
      type,
      data: { object: { id: 're_1', charge: 'ch_1', amount: 500, currency: 'usd', status } },
    })
    const made = receipt.importAudit(
      'stripe',
      JSON.stringify([event('refund.created', 'succeeded'), event('refund.failed', 'failed')]),
    )
    assert.deepEqual([made.counts.records, made.counts.skipped], [0, 2])
    assert.match(made.skipped[0]?.reason ?? '', /taken back at line 2: refund\.failed/)
    const twice = receipt.importAudit(
      'stripe',
      JSON.stringify([event('refund.created', 'succeeded'), event('refund.updated', 'succeeded')]),
    )
    assert.equal(twice.counts.records, 1)
    assert.match(twice.skipped[0]?.reason ?? '', /the same object as at line 1/)
  })

  test('a record holds the digest of its export, its line, and the digest of its entry', () => {
    const made = receipt.importAudit('github', `\n${lines}`.trimStart(), { source: 'log.ndjson' })
    const hex = createHash('sha256').update(lines).digest('hex')
    assert.deepEqual(
      made.records.map((record) => record.source?.line),
      [1, 2],
    )
    assert.ok(
      made.records.every(
        (record) =>
          record.source?.digest === `sha256:${hex}` && record.source.name === 'log.ndjson',
      ),
    )
    assert.notEqual(made.records[0]?.source?.entry_digest, made.records[1]?.source?.entry_digest)
  })

  test('one entry alone, an empty export and an EventList are exports', () => {
    assert.equal(receipt.importAudit('github', JSON.stringify(entries[0])).counts.records, 1)
    assert.equal(receipt.importAudit('github', '').counts.entries, 0)
    assert.equal(receipt.importAudit('github', '[]').counts.entries, 0)
    const items = [rowsOf('kubernetes')[0]?.input]
    assert.equal(
      receipt.importAudit('kubernetes', JSON.stringify({ kind: 'EventList', items })).counts
        .records,
      1,
    )
    const Records = [rowsOf('cloudtrail')[0]?.input]
    assert.equal(
      receipt.importAudit('cloudtrail', gzipSync(JSON.stringify({ Records }))).counts.records,
      1,
    )
    const data = [rowsOf('stripe')[0]?.input]
    assert.equal(
      receipt.importAudit('stripe', JSON.stringify({ object: 'list', data })).counts.records,
      1,
    )
  })

  for (const [name, bytes, code] of [
    ['a key given twice', '[{"action":"a","action":"b"}]', 'json_duplicate_key'],
    ['bytes that are not UTF-8', Buffer.from('5b22ff225d', 'hex'), 'json_utf8'],
    [
      'an integer that a double cannot hold',
      '[{"@timestamp":17676036000000000000}]',
      'json_unsafe_number',
    ],
    ['text that is cut', lines.slice(0, -5), 'json_syntax'],
    ['a number', '7', 'export_invalid'],
    ['broken gzip', gzipSync(lines).subarray(0, 40), 'export_invalid'],
  ] as const) {
    test(`${name} is an error with the place, and nothing is imported`, () => {
      assert.throws(
        () => receipt.importAudit('github', bytes, { source: 'log' }),
        (error: Error & { code: string; where: string }) => {
          assert.equal(error.code, code)
          assert.match(error.where, /^log/)
          return true
        },
      )
    })
  }

  test('the line of an error in NDJSON is named', () => {
    assert.throws(
      () => receipt.importAudit('github', `${lines}\n{"a":1,"a":2}`, { source: 'log' }),
      {
        where: 'log:4:1:8',
      },
    )
  })

  test('an unknown provider is an error that names the known ones', () => {
    for (const name of ['gitea', '__proto__', ''])
      assert.throws(() => receipt.importAudit(name, '[]'), {
        code: 'argument_invalid',
        message: /github, kubernetes, cloudtrail, stripe, slack, okta/,
      })
  })

  test('verify takes an export’s path, a folder of exports, or bytes, and tells the provider by the entries', () => {
    const call = receipt.observe({
      server: 's',
      tool: 'add_deploy_key',
      arguments: { owner: 'org', repo: 'prod-repo', title: 'ci-key' },
      status: 'success',
      runId: 'r',
      seq: 0,
    })
    const path = join(folder, 'github.ndjson')
    writeFileSync(path, lines)
    for (const audit of [
      path,
      folder,
      [path],
      { provider: 'github', bytes: lines },
      receipt.importAudit('github', lines),
    ])
      assert.equal(receipt.verify([call], { audit }).calls[0]?.level, 'verified')
    for (const provider of PROVIDERS) {
      const other = join(folder, `${provider}.json.gz`)
      const entry = rowsOf(provider)[0]?.input
      writeFileSync(
        other,
        gzipSync(JSON.stringify(provider === 'cloudtrail' ? { Records: [entry] } : [entry])),
      )
      assert.equal(
        receipt.verify([], { audit: other }).imports[0]?.provider,
        NAMES[provider] ?? provider,
      )
    }
    const strange = join(folder, 'strange.json')
    writeFileSync(strange, '[{"x":1}]')
    assert.throws(() => receipt.verify([call], { audit: strange }), { code: 'export_invalid' })
    assert.throws(() => receipt.verify([call], { audit: join(folder, 'none.json') }), {
      code: 'file_unreadable',
    })
    rmSync(strange)
  })
})

describe('CloudTrail digest files', () => {
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const der = publicKey.export({ format: 'der', type: 'pkcs1' }).toString('base64')
  const pem = publicKey.export({ format: 'pem', type: 'spki' }) as string
  const sha = (bytes: string) => createHash('sha256').update(bytes).digest('hex')
  const sign = (text: string) => createSign('sha256').update(text).sign(privateKey).toString('hex')
  const log = JSON.stringify({ Records: [rowsOf('cloudtrail')[0]?.input] })

  /** Digest files as AWS documents them, oldest first; the log is listed in the first. */
  function chain(hours: number, { listed = sha(log), region = 'us-east-1', signer = sign } = {}) {
    const object = (hour: number) =>
      `AWSLogs/123456789012/CloudTrail-Digest/${region}/2026/01/05/123456789012_CloudTrail-Digest_${region}_trail_${region}_20260105T${hour + 10}0000Z.json.gz`
    const files: { bytes: string; signature: string }[] = []
    for (let hour = 0; hour < hours; hour++) {
      const before = files[hour - 1]
      const end = `2026-01-05T${String(hour + 10).padStart(2, '0')}:00:00Z`
      const bytes = JSON.stringify({
        awsAccountId: '123456789012',
        digestStartTime: end,
        digestEndTime: end,
        digestS3Bucket: 'bucket',
        digestS3Object: object(hour),
        digestPublicKeyFingerprint: 'ab',
        digestSignatureAlgorithm: 'SHA256withRSA',
        newestEventTime: end,
        oldestEventTime: end,
        previousDigestS3Bucket: before ? 'bucket' : null,
        previousDigestS3Object: before ? object(hour - 1) : null,
        previousDigestHashValue: before ? sha(before.bytes) : null,
        previousDigestHashAlgorithm: before ? 'SHA-256' : null,
        previousDigestSignature: before ? before.signature : null,
        logFiles:
          hour === 0
            ? [
                {
                  s3Bucket: 'bucket',
                  s3Object: 'log.json.gz',
                  hashValue: listed,
                  hashAlgorithm: 'SHA-256',
                },
              ]
            : [],
      })
      files.push({
        bytes,
        signature: signer(
          `${end}\nbucket/${object(hour)}\n${sha(bytes)}\n${before?.signature ?? 'null'}`,
        ),
      })
    }
    return files
  }
  const check = (
    digests: { bytes: string; signature?: string }[],
    bytes: string | Uint8Array = log,
    key = der,
  ) => receipt.importAudit('cloudtrail', bytes, { digests, publicKey: key })
  /** Only the newest digest's signature comes from outside. */
  const given = (files: { bytes: string; signature: string }[]) =>
    files.map(({ bytes, signature }, i) =>
      i === files.length - 1 ? { bytes, signature } : { bytes },
    )

  test('a whole chain verifies, and every record says so', () => {
    for (const hours of [1, 3]) {
      const made = check(given(chain(hours)).toReversed())
      assert.equal(made.authenticity.verified, true, made.authenticity.detail)
      assert.deepEqual(made.records[0]?.authenticity, made.authenticity)
    }
    assert.equal(check(given(chain(2)), gzipSync(log)).authenticity.verified, true)
    assert.equal(check(given(chain(2)), log, pem).authenticity.verified, true)
  })

  const three = given(chain(3))
  const altered = (i: number, from: string, to: string) =>
    three.map((file, at) => (at === i ? { ...file, bytes: file.bytes.replace(from, to) } : file))
  for (const [name, digests, reason, bytes] of [
    ['a changed log file', three, /lists this log/, log.replace('ci-bot', 'ci-bat')],
    ['a changed middle link', altered(1, '123456789012', '123456789013'), /was changed/],
    ['a changed oldest link', altered(0, '123456789012', '123456789013'), /was changed/],
    ['a changed newest link', altered(2, '123456789012', '123456789013'), /does not verify/],
    ['a missing link', [three[0], three[2]], /missing/],
    ['no newest signature', three.map(({ bytes: text }) => ({ bytes: text })), /no signature/],
    [
      'a signature that is no hex',
      [...three.slice(0, 2), { ...three[2], signature: 'zz' }],
      /does not verify/,
    ],
    ['a digest file that is no JSON', [{ bytes: 'x' }], /could not be read/],
    ['a digest file of another shape', [{ bytes: '{}' }], /could not be read/],
    ['no digest files', [], /no digest files/],
    [
      'another algorithm',
      [{ bytes: (three[0]?.bytes ?? '').replace('SHA256withRSA', 'MD5withRSA') }],
      /could not be read/,
    ],
  ] as const) {
    test(`${name} is reported, the records stay and are not called authentic`, () => {
      const made = check(digests as { bytes: string }[], bytes)
      assert.equal(made.authenticity.verified, false)
      assert.match(made.authenticity.detail, reason)
      assert.equal(made.records[0]?.authenticity?.verified, false)
    })
  }

  test('chains of other regions and trails say nothing about a log that they do not list', () => {
    const third = JSON.stringify({ Records: [] })
    const other = chain(2, { region: 'eu-west-1', listed: sha('another log') })
    const [broken] = chain(1, { region: 'ap-south-2', listed: sha(third) })
    assert.ok(broken)
    const beside = [...given(other), { bytes: broken.bytes }]
    assert.equal(check([...beside, ...three]).authenticity.verified, true)
    assert.match(check([...beside, ...three], third).authenticity.detail, /no signature/)
    assert.match(check(beside).authenticity.detail, /no digest file lists/)
  })

  test('a chain over a change of keys verifies with both keys, and with neither alone', () => {
    const next = generateKeyPairSync('rsa', { modulusLength: 2048 })
    const later = next.publicKey.export({ format: 'pem', type: 'spki' }) as string
    const signed = (text: string) =>
      text.startsWith('2026-01-05T12')
        ? createSign('sha256').update(text).sign(next.privateKey).toString('hex')
        : sign(text)
    const links = given(chain(3, { signer: signed }))
    const verified = (publicKey: string | string[]) =>
      receipt.importAudit('cloudtrail', log, { digests: links, publicKey }).authenticity.verified
    assert.equal(verified([der, later]), true)
    assert.equal(verified(der), false)
    assert.equal(verified(later), false)
  })

  test('another key does not verify; what is no RSA key is a wrong call', () => {
    const other = generateKeyPairSync('rsa', { modulusLength: 2048 }).publicKey.export({
      format: 'der',
      type: 'pkcs1',
    })
    assert.equal(check(three, log, other.toString('base64')).authenticity.verified, false)
    const ed = generateKeyPairSync('ed25519').publicKey.export({
      format: 'pem',
      type: 'spki',
    }) as string
    for (const key of ['rubbish', ed])
      assert.throws(() => check(three, log, key), { code: 'key_invalid' })
  })
})
