import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createEvaluator } from '../../lib/code/evaluate.ts'
import { drawInline, showError, showTrace } from '../../lib/repl/show.ts'

/** Run lines, of which the last one throws. */
async function thrown(lines: string[]) {
  const evaluator = createEvaluator()
  let error: unknown
  for (const [i, line] of lines.entries())
    await evaluator.evaluate(line, { filename: `prompt-${i + 1}` }).catch((cause: unknown) => {
      error = cause
    })
  return { error, frames: evaluator.frames }
}

describe('an error', () => {
  const rows: [rule: string, lines: string[], shown: string[]][] = [
    [
      'points at the column that was typed',
      ['const a = { b: 1 }; a.b.c()'],
      [
        'TypeError: a.b.c is not a function',
        '  1 │ const a = { b: 1 }; a.b.c()',
        '    │                         ^',
      ],
    ],
    [
      'in braces alone too',
      ['{ a: nosuch }'],
      ['ReferenceError: nosuch is not defined', '  1 │ { a: nosuch }', '    │      ^'],
    ],
    [
      'of syntax points at its place',
      ['const a = 1\nconst b = ;'],
      ['SyntaxError: Unexpected token (prompt-1:2:11)', '  2 │ const b = ;', '    │           ^'],
    ],
    [
      'in a function of an earlier line shows both',
      ['function f() {\n  throw new Error("x")\n}', 'f()'],
      [
        'Error: x',
        '  f, prompt-1',
        '  2 │   throw new Error("x")',
        '    │         ^',
        '  prompt-2',
        '  1 │ f()',
        '    │  ^',
      ],
    ],
  ]
  for (const [rule, lines, shown] of rows) {
    test(rule, async () => {
      const { error, frames } = await thrown(lines)
      assert.deepEqual(showError(error, { width: 80 }, frames(error)).split('\n'), shown)
    })
  }
  test('of a long line shows the part round its place, within the width', async () => {
    const { error, frames } = await thrown([`const a = "${'x'.repeat(200)}"; nosuch`])
    const shown = showError(error, { width: 60 }, frames(error)).split('\n')
    assert.ok(
      shown.every((line) => line.length <= 60),
      shown.join('\n'),
    )
    assert.equal(shown[1]?.slice(shown[2]?.indexOf('^')), 'nosuch')
  })
  test('in .trace has no frame of what ran the code', async () => {
    const { error, frames } = await thrown([
      'const f = () => [1].map(() => { throw new Error("x") })',
      'f()',
    ])
    assert.deepEqual(showTrace(error, {}, frames).split('\n'), [
      'Error: x',
      '    at prompt-1:1:39',
      '    at Array.map (<anonymous>)',
      '    at f prompt-1:1:21',
      '    at prompt-2:1:2',
    ])
  })
})

test('a chart is drawn where the terminal shows pictures, and nothing else is', async () => {
  let said = ''
  const stream = { isTTY: true, write: (text: string) => (said += text) }
  const chart = { png: async () => new Uint8Array([1]) }
  assert.equal(await drawInline(chart, stream, { TERM_PROGRAM: 'iTerm.app' }), true)
  assert.match(said, /^\x1b\]1337;File=inline=1/)
  assert.equal(await drawInline(chart, stream, { TERM: 'xterm' }), false)
  assert.equal(await drawInline({ svg: 1 }, stream, { TERM_PROGRAM: 'iTerm.app' }), false)
})
