import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { run } from '../../lib/notebook/index.ts'
import { openHistory } from '../../lib/repl/line-history.ts'
import { sessionNotebook } from '../../lib/repl/session.ts'
import { temporaryFolder } from '../temporary.ts'

const options = { given: new Set(['posix', 'sep']), from: 'node:path' }

describe('a saved session runs again as a module, to the same values', () => {
  const rows: [rule: string, entries: string[], shown: string[]][] = [
    ['names from the start are imported', ["posix.join('a', 'b')"], ["'a/b'"]],
    [
      'a name declared again becomes an assignment',
      ['const a: number = 1', 'const a = 2', 'a'],
      ['2'],
    ],
    [
      'a function declared again too',
      ['function f() { return 1 }', 'f()', 'function f() { return 2 }', 'f()'],
      ['1', '2'],
    ],
    [
      'a pattern that declares old and new names',
      ['const a = 1', 'const { a, b } = { a: 3, b: 4 }', '[a, b]'],
      ['[ 3, 4 ]'],
    ],
    ['_ becomes a name', ['2', '_ + 1', '_ * 2'], ['2', '3', '6']],
    ['a parameter called _ stays', ['[1].map((_) => _)'], ['[ 1 ]']],
    ['a class declared again', ['class A { n = 1 }', 'class A { n = 2 }', 'new A().n'], ['2']],
    ['types stay', ['type N = number', 'const n: N = 5', 'n as N'], ['5']],
  ]
  for (const [rule, entries, shown] of rows) {
    test(rule, async () => {
      const file = join(temporaryFolder(), 'session.ts')
      writeFileSync(file, sessionNotebook(entries, options))
      const result = await run(file)
      const values = result.cells.flatMap((cell) =>
        cell.outputs.map((output) =>
          output.kind === 'value' ? output.bundle['text/plain'] : JSON.stringify(output),
        ),
      )
      assert.deepEqual(values, shown, readFileSync(file, 'utf8'))
    })
  }
})

describe('history', () => {
  test('an entry of many lines comes back as one, in order', () => {
    const path = join(temporaryFolder(), 'deep', 'history')
    const first = openHistory(path)
    first.add('a')
    first.add('for (const x of y) {\n  x\n}')
    first.add('for (const x of y) {\n  x\n}')
    assert.deepEqual(openHistory(path).entries, ['for (const x of y) {\n  x\n}', 'a'])
  })
  test('lines that are no entries are passed over', () => {
    const path = join(temporaryFolder(), 'history')
    writeFileSync(path, '"a"\nnot json\n5\n"b"\n')
    assert.deepEqual(openHistory(path).entries, ['b', 'a'])
  })
})
