import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { type NotebookResult, run } from '../../lib/notebook/index.ts'
import { temporaryFolder } from '../temporary.ts'

const SMALL = fileURLToPath(new URL('../../fixtures/notebook/small.ts', import.meta.url))

function notebook(text: string): string {
  const file = join(temporaryFolder(), 'a.ts')
  writeFileSync(file, text)
  return file
}
const texts = (result: NotebookResult) =>
  result.cells.map((cell) =>
    cell.outputs.map((output) => {
      if (output.kind === 'value') return output.bundle['text/plain']
      return output.kind === 'stream'
        ? `${output.name}: ${output.text.trimEnd()}`
        : `${output.name}: ${output.message} @${output.line}`
    }),
  )

describe('a notebook is run as one module', () => {
  test('each cell has its console output, then its last value', async () => {
    const result = await run(SMALL)
    assert.equal(result.ok, true)
    assert.equal(result.title, 'Small *things*')
    assert.deepEqual(texts(result), [
      [],
      [],
      [
        'stdout: rows: 3',
        'stderr: careful',
        "[ { name: 'ab0', n: 0 }, { name: 'ab1', n: 1 }, { name: 'ab2', n: 2 } ]",
      ],
      ["'a/ab'"],
      ['three bars\nab0\nab1'],
      [],
      ['6'],
    ])
    assert.deepEqual(
      result.cells.map((cell) => cell.count),
      [null, 1, 2, 3, 4, null, 5],
    )
    assert.deepEqual(
      result.cells.map((cell) => cell.state),
      ['prose', 'ran', 'ran', 'ran', 'ran', 'empty', 'ran'],
    )
  })
  test('the same file runs twice in one process', async () => {
    assert.deepEqual(texts(await run(SMALL)), texts(await run(SMALL)))
  })
  test('runs at the same time do not mix their outputs', async () => {
    const one = notebook(
      '// %%\nconsole.log(1)\nawait new Promise((go) => setTimeout(go, 5))\nconsole.log(1)',
    )
    const two = notebook(
      '// %%\nconsole.log(2)\nawait new Promise((go) => setTimeout(go, 1))\nconsole.log(2)',
    )
    const results = await Promise.all([run(one), run(two)])
    assert.deepEqual(results.map(texts), [[['stdout: 1\n1']], [['stdout: 2\n2']]])
  })
  test('a function may be used above its cell, as in any module', async () => {
    assert.deepEqual(texts(await run(notebook('// %%\nf()\n// %%\nfunction f() { return 3 }'))), [
      ['3'],
      [],
    ])
  })
  test('an assignment is not shown', async () => {
    assert.deepEqual(texts(await run(notebook('// %%\nlet a = 1\na = 2\n// %%\na'))), [[], ['2']])
  })
  test('a semicolon that begins a cell ends the one before, so that a style without them works', async () => {
    for (const mark of ['// %%', '//%%', '// %% A title']) {
      const file = notebook(
        `// %%\nconst a = [3]\na // kept\n${mark}\n;[4].concat(a)\n${mark}\n// Why.\n\n;(5)\n`,
      )
      assert.deepEqual(texts(await run(file)), [['[ 3 ]'], ['[ 4, 3 ]'], ['5']])
    }
  })
  test('a thenable last value is shown, not awaited', async () => {
    const file = notebook(
      '// %%\nlet started = false\nconst builder = { then() { started = true } }\nbuilder\n// %%\nstarted',
    )
    assert.equal(texts(await run(file))[1]?.[0], 'false')
  })
  test('this package can be imported from anywhere', async () => {
    assert.deepEqual(
      texts(
        await run(
          notebook("// %%\nimport { TouchstoneError } from 'touchstone'\nTouchstoneError.name"),
        ),
      ),
      [["'TouchstoneError'"]],
    )
  })
  test('console is given back', async () => {
    const { log } = console
    await run(SMALL)
    assert.equal(console.log, log)
  })
})

describe('a failing cell', () => {
  test('ends the run: it says its line, cells above keep what they showed, cells below are not run', async () => {
    const result = await run(
      notebook(
        "// %%\n1\n// %%\n\nconsole.log('so far')\nfunction f(): never {\n  throw new TypeError('no')\n}\n f()\n// %%\n2",
      ),
    )
    assert.equal(result.ok, false)
    assert.deepEqual(texts(result), [['1'], ['stdout: so far', 'TypeError: no @7'], []])
    assert.deepEqual(
      result.cells.map((cell) => cell.state),
      ['ran', 'failed', 'not_run'],
    )
    const failure = result.cells[1]?.outputs.at(-1)
    assert.deepEqual(failure?.kind === 'error' && failure.stack, ['at f a.ts:7', 'at a.ts:9'])
  })
  test('that imports what is not there is the one that imports it', async () => {
    const result = await run(notebook("// %%\n1\n// %%\nimport { a } from './nowhere.ts'\na"))
    assert.deepEqual(
      result.cells.map((cell) => cell.state),
      ['not_run', 'failed'],
    )
  })
  test('may throw anything', async () => {
    assert.deepEqual(texts(await run(notebook('// %%\nthrow 5'))), [['thrown: 5 @null']])
    assert.deepEqual(texts(await run(notebook('// %%\nthrow { a: 1 }'))), [
      ['thrown: { a: 1 } @null'],
    ])
    const bare = texts(await run(notebook('// %%\nthrow Object.create(null)')))
    assert.deepEqual(bare, [['thrown: [Object: null prototype] {} @null']])
  })
  test('that is stopped says so', async () => {
    const controller = new AbortController()
    const done = run(notebook("// %%\nconsole.log('on')\nawait new Promise(() => {})\n// %%\n2"), {
      signal: controller.signal,
    })
    setImmediate(() => controller.abort())
    const result = await done
    assert.equal(result.ok, false)
    assert.equal(
      result.cells
        .flatMap((cell) => cell.outputs)
        .some((output) => output.kind === 'error' && output.name === 'stopped'),
      true,
    )
  })
})

describe('parameters', () => {
  const file = notebook(
    '// %% tags=["parameters"]\nconst n: number = 3\nconst word = "a"\nexport const on = true, list = [1]\n// %%\nconst all = [n, word, on, list]\nall',
  )
  test('have their own values unless set', async () =>
    assert.deepEqual(texts(await run(file))[1], ["[ 3, 'a', true, [ 1 ] ]"]))
  test('are set as what their default is', async () => {
    const result = await run(file, { set: { n: '5', word: '7', on: 'false', list: '[2, 3]' } })
    assert.deepEqual(texts(result)[1], ["[ 5, '7', false, [ 2, 3 ] ]"])
    assert.deepEqual(result.set, { n: 5, word: '7', on: false, list: [2, 3] })
  })
  test('of another kind fail the cell', async () => {
    assert.match(
      texts(await run(file, { set: { n: 'many' } }))[0]?.[0] ?? '',
      /^argument_invalid: expected a number, got "many"/,
    )
  })
  test('that no cell declares are a bad call', async () => {
    await assert.rejects(run(file, { set: { m: '1' } }), {
      code: 'argument_invalid',
      message: /expected a parameter \(n, word, on, list\), got m/,
    })
  })
})

describe('a bad notebook is a bad call', () => {
  const rows: [rule: string, text: string, where: RegExp][] = [
    [
      'a statement that runs across a mark',
      '// %%\nconst f = (x: unknown) => x\nf\n// %%\n({ a: 1 })',
      /runs across it: what begins with \( goes on .* unless a ; stands before it \(.*a\.ts:3\)$/,
    ],
    ['a mark inside a template', '// %%\nconst a = `\n// %%\n`', /runs across it/],
    ['a syntax error', '// %%\n1\n// %%\nconst = 2', /a\.ts:4:7\)$/],
    ['code among prose', '// %% [markdown]\nconst a = 1', /a\.ts:2\)$/],
    ['an enum', '// %%\nenum A { B }', /enum is not supported/],
  ]
  for (const [rule, text, message] of rows) {
    test(rule, () => assert.rejects(run(notebook(text)), { code: 'notebook_invalid', message }))
  }
  test('a file that is not there', () =>
    assert.rejects(run('/nowhere.ts'), { code: 'file_unreadable' }))
})
