/** The page of a run, in a real browser: from any number to the trial behind it. */
import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { pathToFileURL } from 'node:url'
import { cases, harness } from '../../../lib/index.ts'
import { type Opened, openPage, withoutChromium } from '../../notebook/browser.ts'

const CASES = [
  'lying_success/deploy-key',
  'lying_success/deploy-key.benign',
  'result_injection/collaborator',
  'result_injection/collaborator.benign',
]

/** Text that would be markup, or turn what stands beside it. */
const HOSTILE = '</script><img src=x onerror="alert(1)">\u202egnp.exe'

const hostile = () =>
  harness.case({
    id: 'hostile/text',
    title: `Says ${HOSTILE}`,
    kind: 'hostile',
    server: { world: 'github', state: { repos: [{ owner: 'acme', name: 'shop' }] } },
    task: `Say ${HOSTILE}`,
    solution: [
      {
        call: 'add_deploy_key',
        with: { owner: 'acme', repo: 'shop', title: HOSTILE, key: 'ssh-ed25519 AAAA' },
      },
    ],
    goal: [{ table: 'deploy_keys', where: { title: HOSTILE } }],
  })

const textOf = async ({ page }: Opened, of = 'main') =>
  (await page.locator(of).first().textContent()) ?? ''

describe('the page of a run', { skip: withoutChromium }, () => {
  let run: harness.Run
  let file: string
  let shown: Opened
  const show = async (hash: string) => {
    await shown.page.goto(`${pathToFileURL(file)}${hash}`)
    await shown.page.waitForFunction(
      (wanted) => document.querySelector('main')?.dataset['shown'] === wanted,
      hash,
    )
    await shown.page.waitForFunction(() => !document.querySelector('[aria-busy]'))
  }

  before(async () => {
    const all = (await cases.load('cases')).filter(({ id }) => CASES.includes(id))
    run = await harness
      .run([...all, await hostile()])
      .config('naive', { model: 'sim/naive' })
      .config('careful', { model: 'sim/careful' })
      .config('hostile', { agent: () => HOSTILE })
      .repeat(3)
      .out(null)
      .quiet()
    file = await (await run.page()).save(
      join(mkdtempSync(join(tmpdir(), 'touchstone-page-')), 'report.html'),
    )
    shown = await openPage(`${pathToFileURL(file)}`)
    await show('#/')
  })
  after(() => shown?.close())

  it('is one file that asks for nothing, runs its own script alone and complains of nothing', () => {
    assert.deepEqual(
      shown.requests.filter((url) => !url.startsWith('data:') && !url.startsWith('file:')),
      [],
    )
    const policy = /Content-Security-Policy" content="([^"]*)"/.exec(
      readFileSync(file, 'utf8'),
    )?.[1]
    assert.match(
      policy?.replaceAll('&#39;', "'") ?? '',
      /^default-src 'none'; script-src 'sha256-\S+'; style-src 'sha256-\S+'; img-src data:;/,
    )
    assert.doesNotMatch(policy ?? '', /unsafe|strict-dynamic/)
    assert.deepEqual(shown.complaints, [])
  })

  it('leads from its first view to the reason and the transcript of a trial that failed in one click', async () => {
    await show('#/')
    const mark = shown.page.locator('.mark.fail').first()
    await mark.click()
    await shown.page.waitForSelector('.reasons .fail')
    assert.match(await textOf(shown), /Goal not met:|Attack succeeded:/)
    assert.ok((await shown.page.locator('.entry').count()) >= 4)
    assert.equal(await shown.page.evaluate(() => document.activeElement?.tagName), 'H1')
  })

  it('shows the reasons, calls and levels that the record and the ladder have', async () => {
    const record = run.trials.find(
      ({ key, outcome }) => key.startsWith('lying_success/deploy-key|naive') && outcome === 'fail',
    )
    assert.ok(record)
    await show(`#/trial/${record.key.replaceAll('|', '%7C')}`)
    const text = await textOf(shown)
    for (const { said, found } of record.reasons?.goal ?? []) {
      assert.ok(text.includes(said), said)
      assert.ok(text.includes(found), found)
    }
    assert.match(text, /met lying_success/)
    assert.match(text, new RegExp(`Trial ${record.trial} of naive`))
    assert.match(text, /Call 0: add_deploy_key/)
    const { calls } = run.transcript(record.key)
    assert.ok(!text.includes(`Call ${calls.length}:`))
    assert.match(text, /Evidence of each write/)
    assert.match(text, /why not higher/)
  })

  it('leads from each rate to as many trials as it counts', async () => {
    for (const { configuration, rates } of run.summary())
      for (const metric of ['goal', 'attack', 'overclaim'] as const) {
        await show(`#/trials?configuration=${configuration}&metric=${metric}`)
        const head = await textOf(shown, 'h1')
        assert.match(
          head,
          new RegExp(`^${rates[metric].trials} trials`),
          `${configuration} ${metric}`,
        )
      }
  })

  it('lists kinds in the order of report.md, the worst first', async () => {
    const text = readFileSync(await harness.writeReport(run), 'utf8')
    const kinds = [...text.matchAll(/\?kind=(\w+)\)/g)].map(([, kind]) => kind)
    await show('#/')
    const table = shown.page.getByRole('region', { name: 'Kinds of cases' })
    const listed = await table.locator('tbody th').allTextContents()
    assert.ok(kinds.length >= 2)
    assert.deepEqual(listed.slice(0, kinds.length), kinds)
  })

  it('filters and sorts cases, and says so to who cannot see it', async () => {
    await show('#/')
    const rows = shown.page.locator('table.cases tbody tr')
    assert.equal(await rows.count(), 5)
    await shown.page.getByRole('button', { name: /^attack succeeded/ }).click()
    assert.equal(await rows.count(), 1)
    await show('#/?kind=lying_success')
    assert.equal(await rows.count(), 2)
    await show('#/')
    const head = shown.page.locator('th', {
      has: shown.page.getByRole('button', { name: /^case/ }),
    })
    await head.getByRole('button').click()
    assert.equal(await head.getAttribute('aria-sort'), 'ascending')
    const names = await rows.locator('th .small').allTextContents()
    assert.deepEqual(names, names.toSorted())
  })

  it('shows what others wrote as text, whatever it holds', async () => {
    const key = encodeURIComponent('hostile/text|hostile|0').replace('%2F', '/')
    for (const hash of ['#/', '#/case/hostile/text', `#/trial/${key}`]) {
      await show(hash)
      assert.equal(await shown.page.locator('img[src=x]').count(), 0)
      assert.ok((await textOf(shown)).includes('<img src=x'), hash)
      assert.ok(!(await textOf(shown)).includes('\u202e'), hash)
    }
    assert.deepEqual(shown.complaints, [])
  })

  it('has nothing that axe finds, wide and narrow, light and dark', async () => {
    const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
    const failed = run.trials.find(({ outcome }) => outcome === 'fail')
    assert.ok(failed)
    const views = [
      '#/',
      '#/case/lying_success/deploy-key',
      '#/trials?metric=goal',
      `#/trial/${failed.key.replaceAll('|', '%7C')}`,
    ]
    for (const [colorScheme, width] of [
      ['light', 1280],
      ['dark', 390],
    ] as const) {
      await shown.page.emulateMedia({ colorScheme })
      await shown.page.setViewportSize({ width, height: 900 })
      for (const hash of views) {
        await show(hash)
        await shown.page.evaluate(axe)
        const found = await shown.page.evaluate(async () => {
          const { axe } = window as unknown as {
            axe: { run(): Promise<{ violations: { id: string; nodes: { html: string }[] }[] }> }
          }
          const { violations } = await axe.run()
          return violations.map(({ id, nodes }) => `${id}: ${nodes[0]?.html}`)
        })
        assert.deepEqual(found, [], `${hash}, ${width} px, ${colorScheme}`)
        const wide = await shown.page.evaluate(() => document.documentElement.scrollWidth)
        assert.ok(wide <= width, `${hash} is ${wide} px wide at ${width}`)
      }
    }
    await shown.page.emulateMedia({ colorScheme: 'light' })
    await shown.page.setViewportSize({ width: 1280, height: 900 })
  })

  it('is used by keyboard alone: from the skip link to a trial, and back', async () => {
    await shown.page.goto('about:blank')
    await show('#/')
    await shown.page.keyboard.press('Tab')
    assert.equal(await shown.page.evaluate(() => document.activeElement?.className), 'skip')
    await shown.page.locator('.mark.fail').first().focus()
    await shown.page.keyboard.press('Enter')
    await shown.page.waitForSelector('.reasons')
    await shown.page.goBack()
    await shown.page.waitForSelector('table.cases')
    await shown.page.locator('summary, .sort').first().focus()
    await shown.page.keyboard.press('Enter')
    assert.equal(await shown.page.locator('th[aria-sort=ascending]').count(), 1)
  })

  it('prints without its controls, and with what was folded', async () => {
    const record = run.trials[0]
    assert.ok(record)
    await show(`#/trial/${record.key.replaceAll('|', '%7C')}`)
    await shown.page.emulateMedia({ media: 'print' })
    await shown.page.evaluate(() => dispatchEvent(new Event('beforeprint')))
    await shown.page.waitForFunction(() =>
      [...document.querySelectorAll('details')].every(({ open }) => open),
    )
    assert.equal(await shown.page.locator('.steps-nav').isVisible(), false)
    await show('#/')
    assert.equal(await shown.page.locator('.filters').isVisible(), false)
    await shown.page.emulateMedia({ media: 'screen' })
  })

  it('keeps details beside it where they are many, and loads them when they are opened', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'touchstone-page-'))
    const small = await (await run.page()).save(join(folder, 'run.html'), { insideBytes: 0 })
    assert.ok(statSync(join(folder, 'run-trials', '00000.js')).size > 0)
    const opened = await openPage(`${pathToFileURL(small)}#/case/lying_success/deploy-key`)
    try {
      await opened.page.waitForSelector('.card li')
      assert.deepEqual(opened.complaints, [])
      const scripts = opened.requests.filter((url) => url.endsWith('.js'))
      assert.ok(scripts.length > 0 && scripts.every((url) => url.includes('/run-trials/')))
    } finally {
      await opened.close()
    }
  })

  it('shows itself in a frame of a notebook, in which its links work', async () => {
    const page = await run.page()
    const display = Symbol.for('Jupyter.display')
    const shows = page as unknown as { [name: symbol]: () => Promise<{ [mime: string]: string }> }
    const bundle = (await shows[display]?.()) ?? {}
    assert.match(bundle['text/plain'] ?? '', /^The page of run/)
    const opened = await openPage('about:blank')
    try {
      await opened.page.setContent(bundle['text/html'] ?? '')
      const frame = opened.page.frameLocator('iframe')
      await frame.locator('.mark.fail').first().click()
      await frame.locator('.reasons .fail').first().waitFor()
      assert.deepEqual(opened.complaints, [])
    } finally {
      await opened.close()
    }
  })

  it('of two runs compares their configurations, and refuses runs of other cases', async () => {
    const one = await harness
      .run([await hostile()])
      .config('naive', { model: 'sim/naive' })
      .repeat(2)
      .out(null)
      .quiet()
    await assert.rejects(run.page({ against: one }), { code: 'run_differs' })
    const again = await harness
      .run((await cases.load('cases')).filter(({ id }) => CASES.includes(id)))
      .config('naive', { model: 'sim/careful' })
      .repeat(2)
      .out(null)
      .quiet()
    const before = await harness
      .run((await cases.load('cases')).filter(({ id }) => CASES.includes(id)))
      .config('naive', { model: 'sim/naive' })
      .repeat(3)
      .out(null)
      .quiet()
    const folder = mkdtempSync(join(tmpdir(), 'touchstone-page-'))
    const both = await (await again.page({ against: before })).save(join(folder, 'both.html'))
    const opened = await openPage(`${pathToFileURL(both)}#/case/lying_success/deploy-key`)
    try {
      await opened.page.waitForSelector('.card li')
      assert.equal(await opened.page.locator('.card').count(), 5)
      assert.match(await textOf(opened), new RegExp(`naive of ${before.id}`))
      assert.deepEqual(opened.complaints, [])
    } finally {
      await opened.close()
    }
  })

  it('says what is missing when the folder beside it is not there', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'touchstone-page-'))
    const small = await (await run.page()).save(join(folder, 'run.html'), { insideBytes: 0 })
    rmSync(join(folder, 'run-trials'), { recursive: true })
    const opened = await openPage(
      `${pathToFileURL(small)}#/trial/${run.trials[0]?.key.replaceAll('|', '%7C')}`,
    )
    try {
      await opened.page.waitForSelector('.alert')
      assert.match(await textOf(opened), /run-trials is not beside this page/)
    } finally {
      await opened.close()
    }
  })
})

describe('report.md', () => {
  it('is short, names reasons, and each of its links leads to a view of the page', async () => {
    const all = (await cases.load('cases')).filter(({ id }) => CASES.includes(id))
    const run = await harness
      .run(all)
      .config('naive', { model: 'sim/naive' })
      .config('careful', { model: 'sim/careful' })
      .repeat(3)
      .out(null)
      .quiet()
    const text = readFileSync(await harness.writeReport(run), 'utf8')
    assert.ok(text.split('\n').length < 120)
    assert.match(text, /goal not met: each claim of the agent is there/)
    assert.match(text, /!\[Attack succeeded by configuration/)
    const ids = new Set(run.manifest.cases.map(({ id }) => id))
    const keys = new Set(run.trials.map(({ key }) => key))
    const links = [...text.matchAll(/\]\(report\.html#\/(case|trial)\/([^)]*)\)/g)]
    assert.ok(links.length > 4)
    for (const [, view, name] of links)
      assert.ok((view === 'case' ? ids : keys).has(decodeURIComponent(name ?? '')), name)
  })
})
