/** What every chart offers: PNG, files, JSON, a notebook bundle. */
import assert from 'node:assert/strict'
import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { isAbsolute, join } from 'node:path'
import { describe, test } from 'node:test'
import { temporaryFolder } from '../temporary.ts'
import { samples } from './samples.ts'

const folder = temporaryFolder('chart')

/** Width and height from a PNG's header, which has to be one. */
function size(png: Uint8Array): [number, number] {
  const bytes = Buffer.from(png)
  assert.equal(bytes.toString('latin1', 0, 8), '\x89PNG\r\n\x1a\n')
  return [bytes.readUInt32BE(16), bytes.readUInt32BE(20)]
}

describe('chart', () => {
  test('png has the size of the svg times the scale, and the same bytes each time', async () => {
    const strip = samples['strip']!()
    const svg = await strip.svg()
    const [width, height] = ['width', 'height'].map((name) =>
      Number(new RegExp(`${name}="(\\d+)"`).exec(svg)?.[1]),
    )
    assert.deepEqual(size(await strip.png({ scale: 1 })), [width, height])
    assert.deepEqual(size(await strip.png()), [2 * width!, 2 * height!])
    assert.deepEqual(await strip.png(), await samples['strip']!().png())
  })

  test('png holds text, which needs the fonts', async () => {
    const strip = samples['strip']!()
    const full = await strip.png({ scale: 1 })
    const { toPng } = await import('../../lib/chart/draw/render.ts')
    const mute = await toPng((await strip.svg()).replace(/<text.*?<\/text>/g, ''), 1)
    assert.ok(
      full.byteLength > 1.5 * mute.byteLength,
      `${full.byteLength} against ${mute.byteLength} without text`,
    )
  })

  for (const scale of [0, -1, Number.NaN, 8.1]) {
    test(`png refuses a scale of ${scale}`, async () => {
      await assert.rejects(samples['levels']!().png({ scale }), { code: 'argument_invalid' })
    })
  }

  test('save writes by extension, makes folders, replaces, and says where', async () => {
    const levels = samples['levels']!()
    for (const extension of ['svg', 'png', 'html', 'json', 'txt', 'SVG']) {
      const file = await levels.save(join(folder, 'deep', 'er', `levels.${extension}`))
      assert.ok(isAbsolute(file) && statSync(file).size > 100, file)
    }
    assert.equal(readFileSync(join(folder, 'deep/er/levels.svg'), 'utf8'), await levels.svg())
    assert.deepEqual(
      JSON.parse(readFileSync(join(folder, 'deep/er/levels.json'), 'utf8')),
      levels.spec,
    )
    assert.equal(readFileSync(join(folder, 'deep/er/levels.txt'), 'utf8'), `${levels.text()}\n`)
    await samples['noise']!().save(join(folder, 'deep/er/levels.txt'))
    assert.equal(
      readFileSync(join(folder, 'deep/er/levels.txt'), 'utf8'),
      `${samples['noise']!().text()}\n`,
    )
  })

  test('save refuses an extension that it does not know, and writes nothing', async () => {
    for (const name of ['chart.pdf', 'chart', 'chart.svg.gz']) {
      await assert.rejects(samples['levels']!().save(join(folder, name)), {
        code: 'argument_invalid',
      })
      assert.throws(() => statSync(join(folder, name)))
    }
  })

  test('save says where it could not write', async () => {
    writeFileSync(join(folder, 'a-file'), '')
    await assert.rejects(samples['levels']!().save(join(folder, 'a-file', 'x.txt')), {
      code: 'file_unwritable',
      message: /a-file/,
    })
  })

  test('toJSON is plain and whole', () => {
    for (const [name, make] of Object.entries(samples)) {
      const made = make()
      const plain = JSON.parse(JSON.stringify(made))
      assert.deepEqual(Object.keys(plain), ['kind', 'title', 'notes', 'rows', 'spec'], name)
      assert.equal(plain.kind, made.kind)
      assert.ok(plain.title && plain.notes.length, name)
    }
  })

  test('a notebook gets Vega-Lite v5, a picture and text', async () => {
    const levels = samples['levels']!()
    const display = (levels as unknown as Record<symbol, () => Promise<Record<string, unknown>>>)[
      Symbol.for('Jupyter.display')
    ]!
    const bundle = await display.call(levels)
    assert.deepEqual(Object.keys(bundle), [
      'application/vnd.vegalite.v5+json',
      'image/png',
      'text/plain',
    ])
    const spec = bundle['application/vnd.vegalite.v5+json'] as { $schema: string }
    assert.equal(spec.$schema, 'https://vega.github.io/schema/vega-lite/v5.json')
    assert.equal(levels.spec['$schema'], 'https://vega.github.io/schema/vega-lite/v6.json')
    assert.deepEqual(
      size(Buffer.from(bundle['image/png'] as string, 'base64')),
      size(await levels.png()),
    )
    assert.equal(bundle['text/plain'], levels.text())
  })

  test('titles and notes say n, metric, target and interval, or that there is none', () => {
    for (const [name, make] of Object.entries(samples)) {
      const { title, notes } = make()
      const said = [title, ...notes].join(' ')
      assert.match(said, /\d|n behind the name|of all probes/, `${name} has no n`)
      assert.match(
        said,
        /% interval for \S+|[Nn]o interval|Digit: passes/,
        `${name} does not speak of intervals`,
      )
    }
  })
})
