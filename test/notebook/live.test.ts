import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { request } from 'node:http'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { type Watching, watchNotebook } from '../../lib/notebook/live.ts'
import { temporaryFolder } from '../temporary.ts'
import { type Opened, openPage, until, withoutChromium } from './browser.ts'

const file = join(temporaryFolder(), 'live.ts')
const edit = (from: string, to: string) =>
  writeFileSync(file, readFileSync(file, 'utf8').replace(from, to))
writeFileSync(
  file,
  [
    '// %% tags=["parameters"]\nconst n: number = 1',
    'let sum = n',
    "sum += 10\n'sum ' + sum",
    "const chart = { spec: { data: { values: [{ a: 1 }] }, mark: 'bar', encoding: { x: { field: 'a', type: 'quantitative' } } }, svg: () => '<svg/>' }\nchart",
    "'last ' + sum",
  ].join('\n// %%\n'),
)

describe('a page that follows its notebook', { skip: withoutChromium }, () => {
  const ran: { from: number; cells: number }[] = []
  let watching: Watching
  let opened: Opened
  const shows = (text: string) =>
    until(
      opened.page,
      text,
      new Function(
        `return document.body.textContent.includes(${JSON.stringify(text)})`,
      ) as () => boolean,
    )
  before(async () => {
    watching = await watchNotebook(file, { set: { n: '2' }, onRun: (_, what) => ran.push(what) })
    await watching.idle()
    opened = await openPage(watching.url)
  })
  after(async () => {
    await opened?.close()
    await watching?.close()
  })

  test('runs every cell, with what was set', async () => {
    await shows('sum 12')
    await shows('last 12')
    assert.deepEqual(ran.splice(0), [{ from: 0, cells: 5 }])
  })
  test('after a save runs again from the first changed cell, and keeps charts above it', async () => {
    await until(
      opened.page,
      'a chart',
      () => document.querySelector<HTMLElement>('.chart')?.dataset['drawn'] !== undefined,
    )
    await opened.page.evaluate(() =>
      document.querySelector('.chart')?.setAttribute('data-seen', ''),
    )
    edit("'last '", "'final '")
    await shows('final 12')
    await shows('4 cells kept')
    await watching.idle()
    assert.deepEqual(ran.splice(0), [{ from: 4, cells: 1 }])
    assert.equal(
      await opened.page.evaluate(() => document.querySelector('.chart')?.hasAttribute('data-seen')),
      true,
    )
  })
  test('names are put back to what they were before the changed cell', async () => {
    edit('sum += 10', 'sum += 100')
    await shows('final 102')
    assert.deepEqual(ran.splice(0), [{ from: 2, cells: 3 }])
  })
  test('a syntax error is shown above the run before it', async () => {
    edit('let sum = n', 'let sum = ')
    await shows('Below: the run before this change')
    await shows('final 102')
    edit('let sum = \n', 'let sum = n\n')
  })
  test('Run all starts afresh', async () => {
    await watching.idle()
    ran.splice(0)
    await opened.page.click('[data-run]')
    await until(
      opened.page,
      'no kept cells',
      () => !document.body.textContent.includes('kept from'),
    )
    await watching.idle()
    assert.deepEqual(ran.at(-1), { from: 0, cells: 5 })
  })
  test('the page asks nobody but its server, and complains of nothing', () => {
    assert.deepEqual(
      [...new Set(opened.requests.map((url) => new URL(url).origin))],
      [new URL(watching.url).origin],
    )
    assert.deepEqual(opened.complaints, [])
  })
  test('no other page can frame it', async () => {
    const outer = await opened.page.context().newPage()
    const refused = outer.waitForEvent('console', (message) => /frame/i.test(message.text()))
    await outer.setContent(`<iframe src="${watching.url}"></iframe>`)
    assert.match((await refused).text(), /frame-ancestors 'none'/)
    const { headers } = await fetch(watching.url)
    assert.equal(headers.get('x-frame-options'), 'DENY')
    await outer.close()
  })
  test('a request under another name, or from another page, is refused', async () => {
    const status = (headers: Record<string, string>, method = 'GET', path = '/') =>
      new Promise<number | undefined>((done, fail) => {
        request(new URL(path, watching.url), { method, headers }, (response) => {
          response.resume()
          done(response.statusCode)
        })
          .on('error', fail)
          .end()
      })
    assert.equal(await status({}), 200)
    assert.equal(await status({ host: 'evil.example' }), 403)
    assert.equal(await status({ origin: 'https://evil.example' }, 'POST', '/run'), 403)
    assert.equal(await status({}, 'POST', '/run'), 404)
  })
})

test('a notebook that is not there is a bad call', () =>
  assert.rejects(watchNotebook('/nowhere.ts'), { code: 'file_unreadable' }))
