/** Pages: everything inside, drawn in both themes by a real browser, no request, and nobody's text is run. */
import assert from 'node:assert/strict'
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { mount, POLICY, STYLE, scriptJson, scripts } from '../../lib/chart/page.ts'
import { temporaryFolder } from '../temporary.ts'
import { corners, samples } from './samples.ts'

const CHROMIUM = '/usr/bin/chromium'

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

  const why = existsSync(CHROMIUM) ? false : `no ${CHROMIUM}`
  test('Chromium draws every kind in both themes, asks for nothing, and complains of nothing', {
    skip: why,
  }, async () => {
    const folder = temporaryFolder('page')
    const { chromium } = await import('playwright-core')
    const browser = await chromium.launch({
      executablePath: CHROMIUM,
      args: [
        '--no-sandbox',
        '--disable-gpu',
        '--disable-quic',
        '--no-first-run',
        '--disable-background-networking',
        '--disable-component-update',
        '--disable-sync',
      ],
    })
    try {
      const all = { ...samples, ...corners }
      const mounted: string[] = []
      for (const make of Object.values(all)) {
        const made = make()
        mounted.push(mount(made.spec, made.title, await made.svg()))
      }
      const file = join(folder, 'all.html')
      const head = `<!doctype html><meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="${POLICY}"><style>${STYLE}</style>`
      writeFileSync(file, `${head}${mounted.join('\n')}${await scripts()}`)
      const page = await browser.newPage({ colorScheme: 'light' })
      const asked: string[] = []
      const complaints: string[] = []
      page.on('request', (request) => asked.push(request.url()))
      page.on('console', (message) => complaints.push(message.text()))
      page.on('pageerror', (error) => complaints.push(String(error)))
      page.on('dialog', (dialog) => {
        complaints.push(`a dialog: ${dialog.message()}`)
        void dialog.dismiss()
      })
      const url = pathToFileURL(file).href
      await page.goto(url)
      const drawn = (theme: string) =>
        page.waitForFunction(
          ([name, n]) =>
            document.querySelectorAll(`.chart[data-drawn="${name}"] .stage svg.marks`).length === n,
          [theme, Object.keys(all).length] as const,
          { timeout: 15_000 },
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
      assert.deepEqual(asked, [url])
    } finally {
      await browser.close()
    }
  })
})
