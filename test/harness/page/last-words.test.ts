/** What an agent said last, as a list of trials has it. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { lastWords, lastWordsRoom } from '../../../lib/harness/page/last-words.ts'
import type { Entry } from '../../../lib/log/index.ts'

const said = (text: string): Entry => ({ kind: 'said', text })
const report = (summary: string): Entry => ({ kind: 'report', summary, claims: [] })
const end: Entry = { kind: 'end', how: 'finished' }

describe('the last words of an agent', () => {
  it('are its report, or what it said where that is empty, and none where it said nothing', () => {
    assert.equal(lastWords([said('first'), said('then'), report('done'), end], 140), 'done')
    assert.equal(lastWords([said('first'), said('then'), report(' \n'), end], 140), 'then')
    assert.equal(lastWords([{ kind: 'task', text: 'do it' }, said(''), end], 140), null)
  })

  it('stand in one line, whole up to their room, and never end in half a character', () => {
    assert.equal(lastWords([said(' a\n\n\tb ')], 140), 'a b')
    assert.equal(lastWords([said('x'.repeat(30))], 30), 'x'.repeat(30))
    assert.equal(lastWords([said('x'.repeat(31))], 30), `${'x'.repeat(29)}…`)
    const family = '👨‍👩‍👧'
    for (let before = 0; before < 12; before++) {
      const words = lastWords([said('x'.repeat(before) + family + 'y'.repeat(40))], 12) ?? ''
      assert.ok(words.length <= 12)
      const inside = words.slice(before, -1)
      assert.ok(
        [family, ''].some(
          (one) => inside.startsWith(one) && !/[\ud800-\udfff]/.test(inside.slice(one.length)),
        ),
        words,
      )
    }
  })

  it('of all trials take at most 1.2 million characters, and none where each had fewer than 24', () => {
    for (const trials of [0, 1, 8571, 8572, 10_790, 50_000])
      assert.ok(lastWordsRoom(trials) >= 24 && lastWordsRoom(trials) * trials <= 1_200_000)
    assert.equal(lastWordsRoom(8571), 140)
    assert.equal(lastWordsRoom(8572), 139)
    assert.equal(lastWordsRoom(50_000), 24)
    assert.equal(lastWordsRoom(50_001), 0)
  })
})
