import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { describe, test } from 'node:test'
import { runScript, type ScriptOptions } from '../../lib/repl/script.ts'
import { temporaryFolder } from '../temporary.ts'

async function ran(options: ScriptOptions): Promise<{ code: number; out: string; err: string }> {
  const said = { out: '', err: '' }
  const code = await runScript({
    ...options,
    output: { write: (text) => (said.out += text) },
    errors: { write: (text) => (said.err += text) },
  })
  return { code, ...said }
}
const file = (text: string) => {
  const path = join(temporaryFolder(), 'script.ts')
  writeFileSync(path, text)
  return path
}

describe('a script', () => {
  test('given as text prints its last value', async () => {
    assert.deepEqual(await ran({ code: 'const n: number = 2; n * seven', scope: { seven: 7 } }), {
      code: 0,
      out: '14\n',
      err: '',
    })
  })
  test('prints text as it is, and nothing for undefined', async () => {
    assert.equal((await ran({ code: '"a\\nb"' })).out, 'a\nb\n')
    assert.equal((await ran({ code: 'undefined' })).out, '')
  })
  test('that is a question alone is answered as at the prompt', async () => {
    const { stats } = await import('../../lib/index.ts')
    for (const given of [
      { code: '?stats.wilson' },
      { stdin: Readable.from(['stats.wilson?\n']) },
    ]) {
      const { code, out } = await ran({ ...given, scope: { stats } })
      assert.equal(code, 0)
      assert.match(out, /function wilson\(successes: number, trials: number/)
      assert.match(out, /Wilson/)
    }
    assert.match(
      (await ran({ code: '??stats.wilson', scope: { stats } })).out,
      /export function wilson/,
    )
    const unknown = await ran({ code: '?nowhere_at_all' })
    assert.deepEqual([unknown.code, unknown.out], [1, ''])
    assert.match(unknown.err, /expected a name in scope, got nowhere_at_all/)
  })
  test('piped is read to its end and run once', async () => {
    const stdin = Readable.from([
      'const a = 1\nconst b',
      ' = await Promise.resolve(2)\n',
      'a + b\n',
    ])
    assert.deepEqual(await ran({ stdin }), { code: 0, out: '3\n', err: '' })
  })
  test('in a file does not print its last value, and imports from its own folder', async () => {
    const path = file(
      "import { n } from './other.mts'\nconsole.assert(n === 4)\nif (n !== 4) throw new Error('wrong')\nn\n",
    )
    writeFileSync(join(path, '..', 'other.mts'), 'export const n: number = 4\n')
    assert.deepEqual(await ran({ file: path }), { code: 0, out: '', err: '' })
  })
  test('that throws ends with 1 and says where', async () => {
    assert.deepEqual(await ran({ code: '1\n\nmissing()' }), {
      code: 1,
      out: '',
      err: 'ReferenceError: missing is not defined\n  3 │ missing()\n    │ ^\n',
    })
  })
  test('with a syntax error ends with 1 and says where', async () => {
    const { code, err } = await ran({ code: 'const = 1' })
    assert.equal(code, 1)
    assert.match(
      err,
      /^SyntaxError: Unexpected token \(-e:1:7\)\n {2}1 │ const = 1\n {4}│ {7}\^\n$/,
    )
  })
  test('that is stopped ends with 130', async () => {
    const controller = new AbortController()
    const scope = { stop: () => controller.abort(), forever: new Promise(() => {}) }
    assert.deepEqual(
      await ran({ code: 'stop(); await forever', scope, signal: controller.signal }),
      {
        code: 130,
        out: '',
        err: 'stopped\n',
      },
    )
  })
  test('disposes what it used', async () => {
    const closed: string[] = []
    await ran({
      code: 'using a = thing',
      scope: { thing: { [Symbol.dispose]: () => closed.push('thing') } },
    })
    assert.deepEqual(closed, ['thing'])
  })
  test('that is not there is a bad call', async () => {
    await assert.rejects(ran({ file: '/nowhere/script.ts' }), { code: 'file_unreadable' })
    await assert.rejects(ran({}), { code: 'argument_invalid' })
  })
})
