import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { stripVTControlCharacters } from 'node:util'
import { painted } from '../../lib/repl/paint.ts'
import fc from '../property.ts'

/** Coloured parts of a code, each with the number of its colour. */
const parts = (code: string) =>
  [...painted(code).matchAll(/\u001b\[(\d+)m([^\u001b]*)\u001b\[39m/g)].map(
    ([, colour, text]) => `${colour} ${text}`,
  )

describe('code with colours', () => {
  const rows: [rule: string, code: string, expected: string[]][] = [
    ['keywords', 'const a = await b', ['35 const', '35 await']],
    ['no member that is called like one', 'a.class, a?.of, [...of]', ['35 of']],
    [
      'texts of each quote, also unfinished ones',
      '"a" + \'b\' + `c',
      ['32 "a"', "32 'b'", '32 `c'],
    ],
    ['an escaped quote', '"a\\"b" + c', ['32 "a\\"b"']],
    ['each line of a text of several', '`a\nb`', ['32 `a', '32 b`']],
    [
      'numbers, and no digits of a name',
      '0xff + 1_000.5e3 + 2n + a1',
      ['33 0xff', '33 1_000.5e3', '33 2n'],
    ],
    ['comments', 'a // b "c"\n/* d', ['90 // b "c"', '90 /* d']],
    [
      'an expression after =, and no division',
      "x = /a'[/]/g; 4 / b / 2",
      ["32 /a'[/]/g", '33 4', '33 2'],
    ],
    ['nothing of a command', '.load const', []],
    ['nothing of a question', '?const', []],
    ['nothing where a character combines', '"a"\u0301', []],
  ]
  for (const [rule, code, expected] of rows)
    test(rule, () => assert.deepEqual(parts(code), expected))

  const bits = fc.constantFrom(
    ...[
      '"',
      "'",
      '`',
      '/',
      '*',
      '\\',
      '\n',
      '${',
      '}',
      '[',
      ']',
      '//',
      '/*',
      '*/',
      'const ',
      '1',
      'n',
      '.',
    ],
    ...['日', '\u0301', '👩‍🚀', ' ', '=', 'é', '\u200d', '$', 'of'],
  )
  test('without its colours a code is what it was', () => {
    const codes = fc.array(bits, { maxLength: 40 }).map((all) => all.join(''))
    fc.assert(
      fc.property(fc.oneof(codes, fc.string({ unit: 'binary' })), (code) => {
        const seen = painted(code)
        if (/(?!\n)\p{Cc}/u.test(code)) assert.equal(seen, code)
        else assert.equal(stripVTControlCharacters(seen), code)
        for (const line of seen.split('\n')) {
          const [on, off] = [/\u001b\[(?!39)/g, /\u001b\[39m/g].map(
            (one) => line.match(one)?.length,
          )
          assert.equal(on, off)
        }
      }),
    )
  })
  test('a code of any form is coloured in time linear in its length', () => {
    for (const unit of ['"', '/', '`${', "'\\", '/*', '= /', '[', 'a.', ' ', '1_', '(        /'])
      assert.equal(
        painted(unit.repeat(50_000)).replace(/\u001b\[\d+m/g, '').length,
        unit.length * 50_000,
      )
  })
})
