/** Canonical JSON against RFC 8785's own vectors, an independent number table, and what must be refused. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, test } from 'node:test'
import { canonical, digest, digestOf, domainDigest, isDigest } from '../lib/canonical.ts'
import { readJson } from '../lib/files.ts'
import { type Json, MAX_DEPTH, parse } from '../lib/json.ts'
import fc from './property.ts'

type Row<I, E> = { id: string; comment: string; input: I; expected: E }
function rowsOf<I, E>(name: string): Row<I, E>[] {
  return JSON.parse(
    readFileSync(new URL(`../fixtures/canonical/${name}.json`, import.meta.url), 'utf8'),
  ).rows
}

const double = (hex: string) => Buffer.from(hex, 'hex').readDoubleBE()

describe('numbers are written as RFC 8785 says', () => {
  const rows = rowsOf<string, string | null>('numbers')
  for (const { id, input, expected } of rows.filter((row) => row.id.startsWith('rfc-'))) {
    test(id, () => {
      if (expected === null) assert.throws(() => canonical(double(input)), { code: 'json_value' })
      else assert.equal(canonical(double(input)), expected)
    })
  }

  test('and so are 435 doubles that Python wrote', () => {
    const others = rows.filter((row) => !row.id.startsWith('rfc-'))
    assert.equal(others.length, 435)
    for (const { id, input, expected } of others)
      assert.equal(canonical(double(input)), expected, id)
  })
})

describe('texts are written byte for byte', () => {
  for (const { id, comment, input, expected } of rowsOf<string, string>('texts')) {
    test(`${id}: ${comment}`, () => {
      assert.equal(Buffer.from(canonical(parse(input))).toString('hex'), expected)
    })
  }
})

describe('reading refuses with code and place', () => {
  for (const { id, comment, input, expected } of rowsOf<string, { code: string; where: string }>(
    'refusals',
  )) {
    test(`${id}: ${comment}`, () => {
      assert.throws(() => parse(Buffer.from(input, 'hex'), 'x'), expected)
    })
  }

  test('the largest safe integers and the deepest nesting are read', () => {
    assert.deepEqual(
      parse('[9007199254740991,-9007199254740991]'),
      [9007199254740991, -9007199254740991],
    )
    const deep = '['.repeat(MAX_DEPTH) + ']'.repeat(MAX_DEPTH)
    assert.equal(canonical(parse(deep)), deep)
  })

  test('a large number with an exponent or a fraction is a double, and read as one', () => {
    assert.deepEqual(parse('[1e300,9007199254740993.0]'), [1e300, 9007199254740992])
  })

  test('a byte order mark is skipped at the start only', () => {
    assert.equal(parse('\ufeff1'), 1)
    assert.equal(parse(Buffer.from('efbbbf31', 'hex')), 1)
  })

  test('a missing file is named', () => {
    assert.throws(() => readJson('/nowhere/at/all.json'), {
      code: 'file_unreadable',
      where: '/nowhere/at/all.json',
    })
  })
})

describe('writing refuses what JSON cannot say', () => {
  class Point {
    x = 1
  }
  const cycle: unknown[] = []
  cycle.push(cycle)
  for (const [name, value] of Object.entries({
    undefined: undefined,
    'an undefined member': { a: undefined },
    'a hole in an array': new Array(1),
    NaN: Number.NaN,
    Infinity: Number.POSITIVE_INFINITY,
    'a BigInt': 1n,
    'a function': () => 1,
    'a symbol': Symbol('a'),
    'a Date': new Date(0),
    'a Map': new Map([['a', 1]]),
    'a Set': new Set([1]),
    bytes: new Uint8Array(1),
    'an instance': new Point(),
    'a cycle': cycle,
    'half a pair': '\ud800',
    'half a pair in a key': { '\ud800': 1 },
  })) {
    test(name, () => assert.throws(() => canonical(value), { code: 'json_value' }))
  }

  test('a member named toJSON is a member', () => {
    assert.equal(canonical(parse('{"toJSON":1}')), '{"toJSON":1}')
  })
})

describe('laws', () => {
  // Doubles of 2^53 and more are written without an exponent up to 1e21, and reading refuses such integers by policy.
  const unsafe = (_: string, value: unknown) => {
    if (typeof value === 'number' && Number.isInteger(value) && !Number.isSafeInteger(value))
      throw value
    return value
  }
  const json = fc.jsonValue({ stringUnit: 'binary' }).filter((value) => {
    try {
      return JSON.stringify(value, unsafe).isWellFormed()
    } catch {
      return false
    }
  })

  test('canonical text is a fixed point of reading and writing', () => {
    fc.assert(
      fc.property(json, (value) => {
        const text = canonical(value)
        assert.equal(canonical(parse(text)), text)
      }),
    )
  })

  test('the order of members changes nothing', () => {
    const shuffled = (value: Json): Json =>
      Array.isArray(value)
        ? value.map(shuffled)
        : value !== null && typeof value === 'object'
          ? Object.fromEntries(
              Object.entries(value)
                .toReversed()
                .map(([key, one]) => [key, shuffled(one)]),
            )
          : value
    fc.assert(
      fc.property(
        json,
        (value) => canonical(shuffled(parse(canonical(value)))) === canonical(value),
      ),
    )
  })

  test('reading agrees with JSON.parse wherever it does not refuse', () => {
    fc.assert(
      fc.property(
        fc.jsonValue({ stringUnit: 'binary' }),
        fc.constantFrom(undefined, 1, '\t'),
        (value, space) => {
          const text = JSON.stringify(value, null, space)
          let mine: Json
          try {
            mine = parse(text)
          } catch (error) {
            assert.match((error as { code: string }).code, /^json_(unsafe_number|lone_surrogate)$/)
            return
          }
          assert.equal(JSON.stringify(mine), JSON.stringify(JSON.parse(text)))
        },
      ),
    )
  })

  test('arbitrary bytes are read or refused with a code, never otherwise', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 60 }), (bytes) => {
        try {
          parse(bytes)
        } catch (error) {
          assert.match((error as { code: string }).code, /^json_/)
        }
      }),
    )
  })
})

describe('digests', () => {
  test('SHA-256 of the empty text, and of "abc" (FIPS 180-4)', () => {
    assert.equal(
      digest(''),
      'sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
    )
    assert.equal(
      digest('abc'),
      'sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad',
    )
  })

  test('bytes and their text have one digest; a value has that of its canonical text', () => {
    assert.equal(digest(new TextEncoder().encode('é')), digest('é'))
    assert.equal(digestOf({ b: 1, a: 2 }), digest('{"a":2,"b":1}'))
  })

  test('a domain is one line before the text', () => {
    assert.equal(domainDigest('d/v1', 'x'), digest('d/v1\nx'))
    assert.notEqual(domainDigest('d/v1', 'x'), domainDigest('d/v2', 'x'))
  })

  test('only "sha256:" and 64 lower-case hex digits are a digest', () => {
    assert.equal(isDigest(digest('')), true)
    for (const text of [
      '',
      digest('').slice(7),
      digest('').toUpperCase(),
      `${digest('')}0`,
      `${digest('')}\n`,
      7,
    ])
      assert.equal(isDigest(text), false)
  })
})
