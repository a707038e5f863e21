/** Append-only files: whole lines, and what a crash leaves of the last one. */
import assert from 'node:assert/strict'
import { appendFileSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { gzipSync } from 'node:zlib'
import {
  cutTornTail,
  documentsIn,
  type Line,
  LineWriter,
  linesIn,
  linesOfFile,
  readLines,
  readLinesSync,
  streamLines,
} from '../lib/lines.ts'
import fc from './property.ts'
import { temporaryFolder } from './temporary.ts'

const made = temporaryFolder('lines')
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

  it('streamed, read at once and held in memory, a file has the same lines at the same bytes', async () => {
    const part = fc.oneof(
      fc.constantFrom('', '\n', '\r\n', '{}', '\ufeff{"a":1}', '\u2028'),
      fc.integer({ min: 0, max: 300_000 }).map((length) => 'é'.repeat(length)),
    )
    await fc.assert(
      fc.asyncProperty(fc.array(part, { maxLength: 12 }), async (parts) => {
        const path = fresh()
        const bytes = Buffer.from(parts.join('\n'))
        writeFileSync(path, bytes)
        writeFileSync(`${path}.gz`, gzipSync(bytes))
        const plain = (lines: Iterable<Line>) =>
          [...lines].map((line) => ({ ...line, bytes: Buffer.from(line.bytes).toString('hex') }))
        const expected = plain(linesIn(bytes))
        assert.equal(
          expected.map((line) => line.bytes + (line.whole ? '0a' : '')).join(''),
          bytes.toString('hex'),
        )
        assert.deepEqual(plain(linesOfFile(path)), expected)
        assert.deepEqual(plain(await Array.fromAsync(streamLines(path))), expected)
        assert.deepEqual(plain(await Array.fromAsync(streamLines(`${path}.gz`))), expected)
        const [first] = expected
        if (!first) return
        const rest = expected.slice(1).map((line) => ({ ...line, line: line.line - 1 }))
        assert.deepEqual(plain(linesOfFile(path, first.next)), rest)
        assert.deepEqual(
          plain(await Array.fromAsync(streamLines(path, { from: first.next }))),
          rest,
        )
      }),
      { numRuns: 15 },
    )
  })

  it('a file that cannot be read is named, streamed or at once, and so is a broken gzip file', async () => {
    const refused = { code: 'file_unreadable' }
    await assert.rejects(all(join(made, 'missing')), { ...refused, where: join(made, 'missing') })
    assert.throws(() => [...readLinesSync(join(made, 'missing'))], refused)
    assert.throws(() => [...readLinesSync(made)], { ...refused, where: made })
    const broken = join(made, 'broken.gz')
    writeFileSync(broken, 'not gzip')
    await assert.rejects(all(broken), { ...refused, where: broken })
  })

  it('documents: one on several lines, or one per line when the first line is whole and another follows', () => {
    const documents = (text: string) =>
      [...documentsIn(Buffer.from(text), 'x')].map(({ value, line }) => [line, value])
    assert.deepEqual(documents(' \n\n'), [])
    assert.deepEqual(documents('{"a":\n1}'), [[null, { a: 1 }]])
    assert.deepEqual(documents('{"a":1}\n\n'), [[null, { a: 1 }]])
    assert.deepEqual(documents('\n{"a":1}\r\n\n[2]'), [
      [2, { a: 1 }],
      [4, [2]],
    ])
    assert.throws(() => documents('{"a":1,"a":2}\n{}'), {
      code: 'json_duplicate_key',
      where: 'x:1:1:8',
    })
    assert.throws(() => documents('{}\n{"a":}'), { code: 'json_syntax', where: 'x:2:1:6' })
    assert.throws(() => documents('{\n"a":}'), { code: 'json_syntax', where: 'x:2:5' })
  })
})
