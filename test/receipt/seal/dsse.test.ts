/** Envelopes, statements and keys, checked against openssl and @sigstore/core. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { generateKeyPairSync } from 'node:crypto'
import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { dsse } from '@sigstore/core'
import { digest } from '../../../lib/canonical.ts'
import * as receipt from '../../../lib/receipt/index.ts'
import fc from '../../property.ts'
import { opensslVerifies, withoutOpenssl } from '../../servers/openssl.ts'
import { temporaryFolder } from '../../temporary.ts'

const folder = temporaryFolder('dsse')
const pair = receipt.keys.generate()
const body = receipt.statement(
  [receipt.descriptor('thing', digest('thing'))],
  'https://example.com/run/v0',
  { n: 1 },
)

describe('envelope', () => {
  test('what is sealed opens with the public key, byte for byte', () => {
    const opened = receipt.open(receipt.seal(body, { key: pair.privateKey }), {
      key: pair.publicKey,
    })
    assert.equal(opened.signature, 'verified')
    assert.deepEqual(receipt.readStatement(opened.payload), body)
  })

  test('the pre-authentication encoding is @sigstore/core’s, for any type and bytes', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'binary' }),
        fc.uint8Array({ maxLength: 300 }),
        (type, bytes) => {
          const theirs = dsse.preAuthEncoding(type, Buffer.from(bytes))
          // Theirs counts the type in UTF-16 units; the protocol counts bytes, so only ASCII types can be compared.
          if (Buffer.byteLength(type) === type.length)
            assert.deepEqual(Buffer.from(receipt.pae(type, bytes)), theirs)
        },
      ),
    )
  })

  test('the protocol’s own example is encoded as it says', () => {
    assert.equal(
      Buffer.from(receipt.pae('http://example.com/HelloWorld', 'hello world')).toString(),
      'DSSEv1 29 http://example.com/HelloWorld 11 hello world',
    )
  })

  test('a length is counted in bytes, not in characters', () => {
    assert.equal(Buffer.from(receipt.pae('é', '😀')).toString(), 'DSSEv1 2 é 4 😀')
  })

  test('openssl verifies the signature over the encoded bytes', {
    skip: withoutOpenssl,
  }, () => {
    const envelope = receipt.seal(body, { key: pair.privateKey })
    const payload = Buffer.from(envelope.payload, 'base64')
    const signature = Buffer.from(envelope.signatures[0]?.sig ?? '', 'base64')
    opensslVerifies(pair.publicKey, signature, receipt.pae(envelope.payloadType, payload))
  })

  test('one flipped bit in payload, type or signature does not verify', () => {
    const envelope = receipt.seal(body, { key: pair.privateKey })
    const flip = (text: string) => {
      const bytes = Buffer.from(text, 'base64')
      bytes[3] = (bytes[3] ?? 0) ^ 1
      return bytes.toString('base64')
    }
    const sig = envelope.signatures[0]?.sig ?? ''
    for (const changed of [
      { ...envelope, payload: flip(envelope.payload) },
      { ...envelope, signatures: [{ keyid: pair.keyId, sig: flip(sig) }] },
    ])
      assert.equal(receipt.open(changed, { key: pair.publicKey }).signature, 'not_by_key')
    const typed = { ...envelope, payloadType: 'text/plain' }
    assert.equal(
      receipt.open(typed, { key: pair.publicKey, payloadType: 'text/plain' }).signature,
      'not_by_key',
    )
  })

  test('an envelope without signatures is unsigned, not failed; without a key nothing is verified', () => {
    assert.equal(receipt.open(receipt.seal(body), { key: pair.publicKey }).signature, 'unsigned')
    assert.equal(receipt.open(receipt.seal(body, { key: pair.privateKey })).signature, 'not_by_key')
  })

  test('any of several signatures may be the trusted one; the key id decides nothing', () => {
    const other = receipt.keys.generate()
    const envelope = receipt.seal(body, { key: [other.privateKey, pair.privateKey] })
    for (const one of envelope.signatures) one.keyid = 'forged'
    assert.equal(receipt.open(envelope, { key: pair.publicKey }).signature, 'verified')
    assert.equal(
      receipt.open(envelope, { key: receipt.keys.generate().publicKey }).signature,
      'not_by_key',
    )
  })

  test('base64 is read in both alphabets, padded or not', () => {
    const envelope = receipt.seal(new Uint8Array([251, 255, 254, 250]), { key: pair.privateKey })
    assert.match(envelope.payload, /[+/]/)
    const url = (text: string) => text.replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '')
    const changed = {
      ...envelope,
      payload: url(envelope.payload),
      signatures: envelope.signatures.map((one) => ({ ...one, sig: url(one.sig) })),
    }
    assert.equal(receipt.open(changed, { key: pair.publicKey }).signature, 'verified')
  })

  for (const [name, change] of Object.entries({
    'a blank in the payload': { payload: 'e30 =' },
    'mixed alphabets': { payload: '-+-+' },
    'half a padding': { payload: 'e30==' },
    'spare bits': { payload: 'e31=' },
    'a payload that is no text': { payload: 7 },
    'signatures that are no list': { signatures: {} },
    'a signature without sig': { signatures: [{ keyid: 'x' }] },
    'another payload type': { payloadType: 'application/json' },
  })) {
    test(`${name} is no envelope`, () => {
      const envelope = { ...receipt.seal('{}', { key: pair.privateKey }), ...change }
      assert.throws(() => receipt.open(envelope, { key: pair.publicKey }), {
        code: 'envelope_invalid',
      })
    })
  }

  test('an envelope with a key given twice is refused before anything is checked', () => {
    const text = '{"payloadType":"a","payload":"","payload":"e30=","signatures":[]}'
    assert.throws(() => receipt.open(text), { code: 'json_duplicate_key' })
  })

  test('arbitrary JSON never verifies and fails only with its code', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        assert.throws(() => receipt.open(value, { key: pair.publicKey }), {
          code: /^(envelope_invalid|json_.*)$/,
        })
      }),
    )
  })
})

describe('keys', () => {
  test('openssl reads both PEM files, and the private one is its owner’s alone', {
    skip: withoutOpenssl,
  }, () => {
    const path = join(folder, 'key.pem')
    receipt.keys.generate(path)
    for (const args of [
      ['pkey', '-in', path, '-noout', '-text'],
      ['pkey', '-pubin', '-in', `${path}.pub`, '-noout', '-text'],
    ]) {
      const made = spawnSync('openssl', args, { encoding: 'utf8' })
      assert.equal(made.status, 0, made.stderr)
      assert.match(made.stdout, /ED25519/i)
    }
    assert.equal(statSync(path).mode & 0o077, 0)
    assert.throws(() => receipt.keys.generate(path), { code: 'file_exists' })
    assert.match(readFileSync(path, 'utf8'), /BEGIN PRIVATE KEY/)
  })

  test('a key of another kind, a private one in place of a public one and rubbish are refused without being shown', () => {
    const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 })
    const pem = rsa.privateKey.export({ format: 'pem', type: 'pkcs8' }) as string
    const envelope = receipt.seal('{}')
    for (const run of [
      () => receipt.seal('{}', { key: pem }),
      () => receipt.seal('{}', { key: 'rubbish' }),
      () => receipt.open(envelope, { key: pair.privateKey }),
      () => receipt.open(envelope, { key: 'rubbish' }),
    ])
      assert.throws(
        run,
        (error: Error & { code: string }) =>
          error.code === 'key_invalid' && !error.message.includes('rubbish'),
      )
  })
})

describe('statement', () => {
  const subject = [receipt.descriptor('thing', digest('thing'))]

  test('a test result has in-toto’s type and needs a configuration', () => {
    const made = receipt.testResult(subject, {
      result: 'PASSED',
      configuration: [receipt.descriptor('set', digest('set'))],
    })
    assert.equal(made.predicateType, 'https://in-toto.io/attestation/test-result/v0.1')
    assert.equal(made._type, 'https://in-toto.io/Statement/v1')
    assert.throws(() => receipt.testResult(subject, { result: 'PASSED', configuration: [] }), {
      code: 'receipt_invalid',
    })
  })

  test('our digest and in-toto’s are the same hex', () => {
    assert.equal(receipt.digestOfDescriptor(receipt.descriptor('a', digest('a'))), digest('a'))
    assert.equal(receipt.digestOfDescriptor({ digest: { sha256: 'ABC' } }), null)
  })

  for (const [name, change] of Object.entries({
    'no subject': { subject: [] },
    'a subject without digest': { subject: [{ name: 'a' }] },
    'a digest in upper case': { subject: [{ digest: { sha256: 'AB'.repeat(32) } }] },
    'a name given twice': { subject: [...subject, ...subject] },
    'another type': { _type: 'https://in-toto.io/Statement/v0.1' },
    'a predicate type that is no URI': { predicateType: 'run' },
    'a predicate that is a list': { predicate: [] },
  })) {
    test(`${name} is no statement`, () => {
      assert.throws(() => receipt.readStatement(JSON.stringify({ ...body, ...change })), {
        code: 'receipt_invalid',
      })
    })
  }

  test('unknown members are left alone', () => {
    assert.deepEqual(receipt.readStatement(JSON.stringify({ ...body, extra: 1 })).predicate, {
      n: 1,
    })
  })
})
