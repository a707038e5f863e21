import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { type Cell, format, parse } from '../../lib/notebook/parse.ts'
import fc from '../property.ts'

const brief = (text: string) => parse(text).map(({ kind, source, line }) => [kind, source, line])

describe('the percent format', () => {
  const rows: [rule: string, text: string, cells: unknown[]][] = [
    [
      'a mark begins code',
      '// %%\n1\n// %%\n2\n',
      [
        ['code', '1', 2],
        ['code', '2', 4],
      ],
    ],
    [
      '[markdown] begins prose, read without its comment marks',
      '// %% [markdown]\n// # A\n//\n// b\n',
      [['markdown', '# A\n\nb', 2]],
    ],
    [
      'prose may stand in a block comment',
      '// %% [md]\n/*\n * # A\n * b\n */\n',
      [['markdown', '# A\nb', 2]],
    ],
    [
      'text before the first mark is a cell',
      'const a = 1\n// %%\na',
      [
        ['code', 'const a = 1', 1],
        ['code', 'a', 3],
      ],
    ],
    [
      'blank text before the first mark is none',
      '#!/usr/bin/env tsx\n\n// %%\na',
      [['code', 'a', 4]],
    ],
    ['blank lines round a cell are left out', '// %%\n\n\n  a\n\n', [['code', '  a', 4]]],
    ['a file without marks is one cell', 'a\nb', [['code', 'a\nb', 1]]],
    ['%%% is no mark', '// %%\n// %%%\na', [['code', '// %%%\na', 2]]],
    ['an empty file has no cells', '', []],
  ]
  for (const [rule, text, cells] of rows) test(rule, () => assert.deepEqual(brief(text), cells))
  test('tags and a title stand behind the mark', () => {
    const [cell] = parse('// %% The choice tags=["parameters", "x"]\n1')
    assert.deepEqual([cell?.title, cell?.tags], ['The choice', ['parameters', 'x']])
  })
  test('what is formatted is parsed to the same cells', () => {
    const word = fc.stringMatching(/^[a-z]{1,8}( [a-z]{1,5})?$/)
    const source = fc.array(word, { minLength: 1, maxLength: 4 }).map((lines) => lines.join('\n'))
    const kind = fc.constantFrom<Cell['kind']>('code', 'markdown')
    fc.assert(
      fc.property(fc.array(fc.tuple(kind, source)), (cells) => {
        const text = format(cells.map(([kind, source]) => ({ kind, source })))
        assert.deepEqual(
          parse(text).map(({ kind, source }) => [kind, source]),
          cells,
        )
      }),
    )
  })
})
