import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, it } from 'node:test'
import { isAboutAuthentication } from '../../lib/probe/judge/authentication.ts'

type Row = { id: string; comment: string; input: string; expected: boolean }
const path = new URL('../../fixtures/probe/authentication.json', import.meta.url)
const { rows } = JSON.parse(readFileSync(path, 'utf8')) as { rows: Row[] }

/** Texts that the words alone do not tell, each with its reason in the fixture. */
const KNOWN = new Set(['asks-83', 'asks-84', 'other-111'])

describe('an error about authentication, by its words', () => {
  it(`${rows.length} texts of real servers: all but three are told right`, () => {
    const wrong = rows.filter(({ input, expected }) => isAboutAuthentication(input) !== expected)
    assert.deepEqual(
      wrong.map(({ id, input }) => [id, input]),
      rows.filter(({ id }) => KNOWN.has(id)).map(({ id, input }) => [id, input]),
    )
    assert.ok(rows.length >= 150)
    const asks = rows.filter(({ expected }) => expected).length
    const missed = wrong.filter(({ expected }) => expected).length
    console.log(
      `# asks for credentials: ${asks - missed} of ${asks} found; other errors: ${wrong.length - missed} of ${rows.length - asks} taken for one`,
    )
  })

  it('takes no longer for a text made to be slow', () => {
    const texts = [
      'missing or '.repeat(400),
      'send '.repeat(900),
      `${'a-'.repeat(2000)}b`,
      'x '.repeat(2048),
    ]
    for (const text of texts) assert.equal(isAboutAuthentication(text), false)
  })
})
