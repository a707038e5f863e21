/** Pages: everything inside, drawn in both themes by a real browser, no request, and nobody's text is run. */
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { mount, POLICY, STYLE, scriptJson, scripts } from '../../lib/chart/chart-page.ts'
import { openPage, withoutChromium } from '../notebook/browser.ts'
import { temporaryFolder } from '../temporary.ts'
import { corners, samples } from './samples.ts'

describe('chart page', () => {
  test('a page names no other place that a browser would load', async () => {
    const html = await samples['strip']!().html()
    const markup = html.replace(/<script>.*?<\/script>/gs, '')
    assert.ok(markup.length < 100_000)
    for (const load of [/<[^>]*\s(?:src|href)=/, /@import/, /url\(/])
      assert.equal(load.exec(markup), null)
    assert.equal(/sourceMappingURL/.exec(html), null)
    assert.ok(html.includes(`content="${POLICY}"`))
  })

  test('a page holds the licences of the code in it', async () => {
    const html = await samples['strip']!().html()
    assert.equal(html.match(/Redistribution and use in source and binary forms/g)?.length, 3)
  })

  test('the same chart is the same page', async () => {
    assert.equal(await samples['levels']!().html(), await samples['levels']!().html())
  })

  test('JSON in a script element can neither end it nor start another', () => {
    const text = scriptJson({ a: '</script><!--<script>&\u2028' })
    assert.doesNotMatch(text, /[<>&\u2028]/)
    assert.deepEqual(JSON.parse(text), { a: '</script><!--<script>&\u2028' })
  })

  test('Chromium draws every kind in both themes, asks for nothing, and complains of nothing', {
    skip: withoutChromium,
  }, async () => {
    const all = { ...samples, ...corners }
    const mounted: string[] = []
    for (const make of Object.values(all)) {
      const made = make()
      mounted.push(mount(made.spec, made.title, await made.svg()))
    }
    const file = join(temporaryFolder('page'), 'all.html')
    const head = `<!doctype html><meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="${POLICY}"><style>${STYLE}</style>`
    writeFileSync(file, `${head}${mounted.join('\n')}${await scripts()}`)
    const url = pathToFileURL(file).href
    const { page, requests, complaints, close } = await openPage(url)
    try {
      const drawn = (theme: string) =>
        page.waitForFunction(
          ([name, n]) =>
            document.querySelectorAll(`.chart[data-drawn="${name}"] .stage svg.marks`).length === n,
          [theme, Object.keys(all).length] as const,
          { timeout: 60_000 },
        )
      await drawn('light')
      const ink = () =>
        page.evaluate(() =>
          document.querySelector('.stage svg.marks .role-title-text text')?.getAttribute('fill'),
        )
      assert.equal(await ink(), '#1f2428')
      await page.emulateMedia({ colorScheme: 'dark' })
      await drawn('dark')
      assert.equal(await ink(), '#e8ebed')
      assert.deepEqual(complaints, [])
      assert.deepEqual(requests, [url])
    } finally {
      await close()
    }
  })
})
