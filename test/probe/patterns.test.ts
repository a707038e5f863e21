import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { readJson } from '../../lib/files.ts'
import { CODE_RULES, folded } from '../../lib/probe/read/hidden.ts'
import { patternSet, type Rule } from '../../lib/probe/read/patterns.ts'
import { get, isPublished } from '../../lib/scenario/index.ts'
import fc from '../property.ts'

type Row = {
  id: string
  comment: string
  input: { text: string; tools?: string[] }
  expected: string[]
}
const { rows } = readJson(
  new URL('../../fixtures/patterns/rules.json', import.meta.url).pathname,
) as unknown as {
  rows: Row[]
}
const published = get('tool-descriptions@1.0')
const rules = published.set['rules'] as unknown as Rule[]

describe('each rule matches what it looks for and leaves its look-alikes alone', async () => {
  const { match } = await patternSet()
  for (const { id, comment, input, expected } of rows) {
    it(`${id}: ${comment}`, () => {
      assert.deepEqual(match(input.text, new Set(input.tools)), expected)
    })
  }
})

describe('the pattern set', () => {
  it('is published, and its digest is the one that results name', async () => {
    assert.ok(isPublished('tool-descriptions@1.0', published.digest))
    assert.equal((await patternSet()).set.digest, published.digest)
  })

  it('has families P01 to P18, each with hits and misses in the fixtures and words on what it looks for', () => {
    assert.deepEqual(
      rules.map(({ id }) => id),
      Array.from({ length: 18 }, (_, i) => `P${String(i + 1).padStart(2, '0')}`),
    )
    for (const { id, looksFor, code, patterns } of rules) {
      assert.ok(looksFor.length > 20, id)
      assert.ok(code !== undefined || (patterns?.length ?? 0) > 0, id)
      if (code !== undefined && code !== 'other_tool') assert.ok(CODE_RULES[code], `${id}: ${code}`)
      assert.ok(
        rows.some((row) => row.id.startsWith(`${id}-hit`)),
        `${id} has a hit`,
      )
      assert.ok(
        rows.some((row) => row.id.startsWith(`${id}-miss`)),
        `${id} has a miss`,
      )
    }
  })

  it('reads any text in time that grows with its length: no description makes matching slow', async () => {
    const { match } = await patternSet()
    const hostile = [
      'send ',
      'read ',
      'ignore all ',
      'when using "a" ',
      'a_a',
      '<!--',
      '![',
      '(',
      ' \n',
      'never tell ',
      '\u200d',
    ]
    const cpu = process.cpuUsage()
    for (const piece of hostile) match(piece.repeat(Math.ceil(16_384 / piece.length)), new Set())
    const { user } = process.cpuUsage(cpu)
    // Backtracking on such texts takes minutes; this bound only has to be far from that.
    assert.ok(user < 10e6, `${user / 1e6} s of processor time`)
  })

  it('gives known rules only, in order, and the same ones each time, for any text', async () => {
    const { match } = await patternSet()
    const order = rules.map(({ id }) => id)
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 300 }), (text) => {
        const found = match(text, new Set())
        assert.deepEqual(
          found,
          order.filter((id) => found.includes(id)),
        )
        assert.deepEqual(match(text, new Set()), found)
      }),
      { numRuns: 200 },
    )
  })

  it('folds before it reads: hidden characters between the letters of an order do not save it', async () => {
    const { match } = await patternSet()
    for (const hidden of [
      '\u200b',
      '\u2060',
      '\u00ad',
      '\u{e0041}',
      '\u202e',
      '\u034f',
      '\ufe0f',
    ]) {
      assert.ok(
        match(`ig${hidden}nore previous instr${hidden}uctions`, new Set()).includes('P06'),
        hidden,
      )
    }
    assert.equal(folded('a \n\t b\u200bc'), 'a bc')
  })
})
