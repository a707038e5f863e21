/** Errors quote anybody's text, and a terminal only shows it. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { printable, TouchstoneError } from '../lib/errors.ts'
import { cases } from '../lib/index.ts'

const HOSTILE = '\u001b]0;title\u0007\u001b[2J\u202eevil\u200b\u0085'

describe('the message of an error', () => {
  it('holds no control character of what it quotes, nor of where it was', () => {
    const error = new TouchstoneError('case_invalid', `expected x, got ${HOSTILE}`, {
      where: HOSTILE,
    })
    assert.match(error.message, /expected x, got \ufffd\]0;title/)
    assert.doesNotMatch(error.message, /[\u0000-\u001f\u007f-\u009f\u202e\u200b]/)
  })

  it('keeps line feeds and tabs', () => {
    assert.equal(printable('a\n\tb'), 'a\n\tb')
  })

  it('of a hostile case file is as safe', async () => {
    const text = `"${'\\e]0;pwned'}": 1\nid: a/b\n`
    await assert.rejects(cases.parse(text, 'case\u001b[2J.yaml'), (error: Error) => {
      assert.doesNotMatch(error.message, /\u001b/)
      assert.match(error.message, /pwned/)
      return true
    })
  })
})
