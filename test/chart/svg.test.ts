/** Pictures: every kind against its checked-in SVG, and the same bytes each time. */
import assert from 'node:assert/strict'
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { describe, test } from 'node:test'
import { toSvg } from '../../lib/chart/draw/render.ts'
import { corners, HOSTILE, samples } from './samples.ts'

/** Digits beyond the second say nothing about a picture, and a tag a line makes a difference readable. */
function normalised(svg: string): string {
  const rounded = svg.replace(/-?\d+\.\d{3,}/g, (number) =>
    String(Number(Number(number).toFixed(2))),
  )
  return `${rounded.replaceAll('><', '>\n<')}\n`
}

describe('chart svg', () => {
  for (const [name, make] of Object.entries(samples)) {
    test(`${name} looks as it was looked at`, async () => {
      const file = new URL(`../../fixtures/chart/${name}.svg`, import.meta.url)
      const changed = new URL(`../../fixtures/chart/${name}-changed.svg`, import.meta.url)
      const actual = normalised(await make().svg())
      const expected = existsSync(file) ? readFileSync(file, 'utf8') : ''
      if (actual === expected) return rmSync(changed, { force: true })
      writeFileSync(changed, actual)
      assert.fail(
        `${name}.svg differs: look at fixtures/chart/${name}-changed.svg, and rename it when it is right`,
      )
    })
  }

  for (const [name, make] of Object.entries({ ...samples, ...corners })) {
    test(`${name} compiles without a warning and draws nothing out of place`, async () => {
      const warnings: string[] = []
      const svg = await toSvg(make().spec, (message) => warnings.push(message))
      assert.deepEqual(warnings, [])
      assert.ok(/^<svg [^>]*width="\d+/.test(svg))
      for (const wrong of [/NaN|Infinity|undefined"/, /<script/, /[\u0000-\u0008\u001b\u202e]/]) {
        assert.equal(wrong.exec(svg), null, `${wrong} in the picture`)
      }
    })
  }

  test('charts drawn at once come out as charts drawn alone, byte for byte', async () => {
    const names = Object.keys(samples)
    const alone: string[] = []
    for (const name of names) alone.push(await samples[name]!().svg())
    const atOnce = await Promise.all(names.map((name) => samples[name]!().svg()))
    assert.deepEqual(atOnce, alone)
  })

  test('ids inside a picture count from its own start, also when pictures are drawn at once', async () => {
    const clipped = () => {
      const chart = samples['ecdf']!()
      const [line] = chart.spec['layer'] as { mark: Record<string, unknown> }[]
      line!.mark['clip'] = true
      return chart.svg()
    }
    const alone = await clipped()
    assert.match(alone, /id="clip\d/)
    assert.deepEqual(await Promise.all([clipped(), clipped(), clipped()]), [alone, alone, alone])
  })

  test('an edited spec is drawn as edited, and drawing leaves it as it is', async () => {
    const chart = samples['strip']!()
    chart.spec['width'] = 300
    const before = JSON.stringify(chart.spec)
    const narrow = await chart.svg()
    assert.equal(JSON.stringify(chart.spec), before)
    assert.ok(
      Number(/width="(\d+)/.exec(narrow)?.[1]) <
        Number(/width="(\d+)/.exec(await samples['strip']!().svg())?.[1]),
    )
  })

  test('a spec that does not compile is refused by code', async () => {
    const chart = samples['strip']!()
    chart.spec = { mark: 'no such mark', encoding: { x: { field: HOSTILE, type: 'quantitative' } } }
    await assert.rejects(chart.svg(), { code: 'chart_invalid' })
  })

  test('a spec is plain JSON with its data inside', () => {
    for (const make of Object.values({ ...samples, ...corners })) {
      const { spec } = make()
      assert.deepEqual(JSON.parse(JSON.stringify(spec)), spec)
      assert.doesNotMatch(JSON.stringify(spec).replace(/"\$schema":"[^"]*"/, ''), /"url"/)
    }
  })
})
