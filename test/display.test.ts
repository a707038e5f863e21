import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { cut, pad, table, textWidth } from '../lib/display.ts'

describe('columns of a text', () => {
  // Unicode 16: East Asian Width (UAX 11) W and F take two, an emoji presentation sequence (UTS 51)
  // takes two, marks and format characters take none.
  const rows: [text: string, columns: number][] = [
    ['abc', 3],
    ['\u2705', 2],
    ['\u2764\ufe0f', 2],
    ['1\ufe0f\u20e3', 2],
    ['\u{1f469}\u200d\u{1f4bb}', 2],
    ['\u65e5\u672c', 4],
    ['e\u0301', 1],
    ['\u2026\u2500\u2588\u00b7', 4],
    ['\u001b[31mred\u001b[0m', 3],
  ]
  for (const [text, columns] of rows)
    test(JSON.stringify(text), () => assert.equal(textWidth(text), columns))
  test('a cut text fits, and characters that are one on the screen stay whole', () => {
    assert.equal(
      cut('\u{1f469}\u200d\u{1f4bb}\u{1f469}\u200d\u{1f4bb}', 3),
      '\u{1f469}\u200d\u{1f4bb}\u2026',
    )
    const text = fc.string({ unit: 'grapheme', maxLength: 30 })
    fc.assert(
      fc.property(text, fc.integer({ min: 1, max: 20 }), (one, width) => {
        assert.ok(textWidth(cut(one, width)) <= width)
        assert.ok(textWidth(pad(one, width)) >= width)
      }),
    )
  })
  test('columns of a table stay under each other', () => {
    const lines = table(
      [{ head: 'a' }, { head: 'b' }],
      [
        ['\u2705', 'x'],
        ['no', 'y'],
      ],
    ).split('\n')
    assert.deepEqual(lines, ['a   b', '\u2705  x', 'no  y'])
  })
})
