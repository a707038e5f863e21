/** Text is measured as the shipped fonts set it, and the fonts are there. */
import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { describe, test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { fontFiles, measure } from '../../lib/chart/draw/font.ts'

/** Advance widths as the file has them, read from its tables: cmap (format 4) and hmtx. */
function advances(path: string): Map<number, number> {
  const file = readFileSync(path)
  const at = (tag: string): number => {
    for (let i = 0; i < file.readUInt16BE(4); i++) {
      const record = 12 + 16 * i
      if (file.toString('latin1', record, record + 4) === tag) return file.readUInt32BE(record + 8)
    }
    assert.fail(`no ${tag} in ${path}`)
  }
  const [cmap, hmtx, metrics] = [at('cmap'), at('hmtx'), file.readUInt16BE(at('hhea') + 34)]
  let table = -1
  for (let i = 0; i < file.readUInt16BE(cmap + 2); i++) {
    const offset = cmap + file.readUInt32BE(cmap + 4 + 8 * i + 4)
    if (file.readUInt16BE(offset) === 4) table = offset
  }
  assert.notEqual(table, -1)
  const segments = file.readUInt16BE(table + 6) / 2
  const out = new Map<number, number>()
  for (let s = 0; s < segments; s++) {
    const end = file.readUInt16BE(table + 14 + 2 * s)
    const start = file.readUInt16BE(table + 16 + 2 * (segments + s))
    const delta = file.readUInt16BE(table + 16 + 2 * (2 * segments + s))
    const place = table + 16 + 2 * (3 * segments + s)
    const range = file.readUInt16BE(place)
    for (let code = start; code <= end && code !== 0xffff; code++) {
      const glyph =
        range === 0
          ? (code + delta) & 0xffff
          : file.readUInt16BE(place + range + 2 * (code - start))
      if (glyph) out.set(code, file.readUInt16BE(hmtx + 4 * Math.min(glyph, metrics - 1)))
    }
  }
  return out
}

/** Characters by advance, ascending: how `advances.json` holds them. */
function byAdvance(path: string): [advance: number, text: string][] {
  const groups = Map.groupBy(
    [...advances(path)].sort(([a], [b]) => a - b),
    ([, advance]) => advance,
  )
  return [...groups]
    .sort(([a], [b]) => a - b)
    .map(([advance, codes]) => [advance, String.fromCodePoint(...codes.map(([code]) => code))])
}

describe('chart font', () => {
  test('the table of advances is what the font files say, for every character in them', () => {
    const [regular, bold] = fontFiles() as [string, string]
    const made = { regular: byAdvance(regular), bold: byAdvance(bold) }
    // `npm run advances` writes the table anew.
    const path = new URL('../../lib/chart/draw/fonts/advances.json', import.meta.url)
    if (process.env['WRITE_ADVANCES'] === '1') writeFileSync(path, `${JSON.stringify(made)}\n`)
    assert.deepEqual(JSON.parse(readFileSync(path, 'utf8')), made)
    assert.ok(made.regular.flatMap(([, text]) => [...text]).length > 500)
  })

  test('bold is wider than regular, and size scales', () => {
    assert.ok(measure('goal rate', 11, 'bold') > measure('goal rate', 11))
    assert.equal(measure('goal rate', 22), 2 * measure('goal rate', 11))
    assert.equal(measure('', 11), 0)
  })

  test('a character the font does not have takes an em rather than nothing', () => {
    assert.equal(measure('\u4e2d', 10), 10)
  })

  test('a missing font file is an error that names it', () => {
    const folder = pathToFileURL(`${import.meta.dirname}/no-fonts/`)
    assert.throws(() => fontFiles(folder), {
      code: 'dependency_missing',
      message: /DejaVuSans\.ttf/,
    })
  })
})
