/** Reading a file through one buffer: the same lines as from all its bytes, and lines that are kept lie together. */
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { linesIn } from '../lib/lines.ts'
import { LineWindow } from '../lib/window.ts'
import fc from './property.ts'
import { temporaryFolder } from './temporary.ts'

const made = temporaryFolder('window')
const path = join(made, 'lines')

const part = fc.oneof(
  fc.constantFrom('', '\n', '\r\n', '{}', 'a'),
  fc.integer({ min: 0, max: 30 }).map((length) => 'é'.repeat(length)),
  // Beside the size of the buffer, and beyond it.
  fc.integer({ min: (1 << 20) - 3, max: (1 << 20) + 3 }).map((length) => 'x'.repeat(length)),
  fc.constant('y'.repeat(5 << 20)),
)

describe('a window', () => {
  it('gives the lines that all bytes of the file have, where they stand', () => {
    fc.assert(
      fc.property(fc.array(part, { maxLength: 8 }), (parts) => {
        const bytes = Buffer.from(parts.join('\n'))
        writeFileSync(path, bytes)
        const seen: Buffer[] = []
        const window = new LineWindow(path, (chunk) => seen.push(Buffer.from(chunk)))
        const lines = []
        while (window.next()) {
          const { line, whole, place } = window
          lines.push({ text: window.bytes.toString('hex'), line, whole, place })
        }
        window.close()
        const expected = [...linesIn(bytes)].map(({ bytes, line, whole, next }) => ({
          text: Buffer.from(bytes).toString('hex'),
          line,
          whole,
          place: next - bytes.length - (whole ? 1 : 0),
        }))
        assert.deepEqual(lines, expected)
        assert.deepEqual(Buffer.concat(seen), bytes)
      }),
      { numRuns: 20 },
    )
  })

  it('keeps lines together, up to the line at hand or with it', () => {
    fc.assert(
      fc.property(fc.array(part, { minLength: 3, maxLength: 8 }), fc.nat(), (parts, nth) => {
        const bytes = Buffer.from(`${parts.join('\n')}\n`)
        writeFileSync(path, bytes)
        const window = new LineWindow(path)
        const count = bytes.reduce((sum, byte) => sum + (byte === 10 ? 1 : 0), 0)
        const [first, last] = [nth % count, count - 1]
        for (let i = 0; i <= last; i++) {
          assert.ok(window.next())
          if (i === first) window.keep()
        }
        const through = window.stretch(true)
        assert.equal(through.line, first + 1)
        assert.deepEqual(through.bytes, bytes.subarray(through.from))
        const before = window.stretch(false)
        assert.equal(before.bytes.length, window.place - through.from)
        assert.equal(window.next(), false)
        window.close()
      }),
      { numRuns: 20 },
    )
  })

  it('names a file that cannot be read', () => {
    const missing = join(made, 'missing')
    assert.throws(() => new LineWindow(missing), { code: 'file_unreadable', where: missing })
    const window = new LineWindow(made)
    assert.throws(() => window.next(), { code: 'file_unreadable', where: made })
    window.close()
  })
})
