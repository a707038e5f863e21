/** Append-only files: whole lines, and what a crash leaves of the last one. */
import assert from 'node:assert/strict'
import { appendFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import fc from 'fast-check'
import { cutTornTail, LineWriter, readLines } from '../../lib/log/index.ts'

const made = mkdtempSync(join(tmpdir(), 'touchstone-lines-'))
after(() => rmSync(made, { recursive: true, force: true }))
let next = 0
const fresh = () => join(made, `${next++}.ndjson`)
const all = async (path: string) => {
  const values: unknown[] = []
  for await (const { value } of readLines(path)) values.push(value)
  return values
}

describe('lines', () => {
  it('what was appended is read back in order, with its line number', async () => {
    const path = fresh()
    const writer = new LineWriter(path)
    writer.append(['{"a":1}', '{"a":2}'])
    writer.append([])
    writer.append(['{"a":"é\u2028"}'])
    writer.close()
    const lines: [number, unknown][] = []
    for await (const { value, line } of readLines(path)) lines.push([line, value])
    assert.deepEqual(lines, [
      [1, { a: 1 }],
      [2, { a: 2 }],
      [3, { a: 'é\u2028' }],
    ])
  })

  it('a torn tail is cut to the last line feed, wherever the crash came', () => {
    const whole = '{"n":1}\n{"n":"züri"}\n'
    const last = Buffer.from('{"n":"\u{1f600}"}\n')
    for (let bytes = 0; bytes < last.length; bytes++) {
      const path = fresh()
      writeFileSync(path, Buffer.concat([Buffer.from(whole), last.subarray(0, bytes)]))
      assert.equal(cutTornTail(path), bytes)
      assert.equal(readFileSync(path, 'utf8'), whole)
    }
  })

  it('a file that is one torn line becomes empty, and a file that is not there is left so', () => {
    const path = fresh()
    writeFileSync(path, 'x'.repeat(200_000))
    assert.equal(cutTornTail(path), 200_000)
    assert.equal(readFileSync(path, 'utf8'), '')
    assert.equal(cutTornTail(fresh()), 0)
  })

  it('a writer goes on behind the last whole line', async () => {
    const path = fresh()
    writeFileSync(path, '{"n":1}\n{"n":')
    const writer = new LineWriter(path)
    writer.append(['{"n":2}'])
    writer.close()
    assert.deepEqual(await all(path), [{ n: 1 }, { n: 2 }])
  })

  it('reading leaves out a torn last line and names the place of a broken one', async () => {
    const path = fresh()
    writeFileSync(path, '{"n":1}\n{"n":')
    assert.deepEqual(await all(path), [{ n: 1 }])
    appendFileSync(path, '}\n')
    await assert.rejects(
      all(path),
      (error: { code: string; where: string }) =>
        error.code === 'json_syntax' && error.where.includes(':2'),
    )
  })

  it('lines survive any chunking: values with long texts come back as they were', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.string({ unit: 'grapheme', maxLength: 2000 }), { minLength: 1, maxLength: 20 }),
        async (texts) => {
          const path = fresh()
          const writer = new LineWriter(path)
          writer.append(texts.map((text) => JSON.stringify(text.toWellFormed())))
          writer.close()
          assert.deepEqual(
            await all(path),
            texts.map((text) => text.toWellFormed()),
          )
        },
      ),
      { numRuns: 30 },
    )
  })
})
