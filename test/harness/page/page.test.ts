/** The page of a run, in a real browser: from any number to the trial behind it. */
import assert from 'node:assert/strict'
import {
  cpSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { pathToFileURL } from 'node:url'
import { isDeepStrictEqual } from 'node:util'
import { exportsInFiles } from '../../../lib/harness/page/exports.ts'
import { cases, harness } from '../../../lib/index.ts'
import { type Opened, openPage, withoutChromium } from '../../notebook/browser.ts'
import { temporaryFolder } from '../../temporary.ts'

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

/** An agent whose calls take time of their own; asked to say something, it writes, and fails once. */
const looksTwice: harness.AgentFunction = async ({ servers, task }) => {
  const { client } = servers['github'] as harness.AgentServer
  const [owner, title, key] = ['acme', HOSTILE, 'ssh-ed25519 AAAA']
  if (task.startsWith('Say'))
    await client.callTool({
      name: 'add_deploy_key',
      arguments: { owner, repo: 'shop', title, key },
    })
  for (const repo of task.startsWith('Say') ? ['shop', 'none'] : ['payments', 'shop'])
    await client.callTool({ name: 'list_deploy_keys', arguments: { owner, repo } })
  return `There are none.\n${'I looked twice. '.repeat(40)}`
}

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
      .config('own', { agent: looksTwice })
      .repeat(3)
      .out(null)
      .quiet()
    file = await (await run.page()).save(join(temporaryFolder('page'), 'report.html'))
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
    assert.match(text, /fault of the server: lying_success/)
    assert.match(text, new RegExp(`Trial ${record.trial} of naive`))
    assert.match(text, /Call 0: add_deploy_key/)
    const { calls } = run.transcript(record.key)
    assert.ok(!text.includes(`Call ${calls.length}:`))
    assert.match(text, /Evidence of each write/)
    assert.match(text, /why not higher/)
  })

  it('shows when each call of a trial began and how long it took, and leads to the call', async () => {
    const record = run.trials.find(
      ({ key, calls }) => key.startsWith('lying_success/deploy-key.benign|own') && calls === 2,
    )
    assert.ok(record)
    const { times = [] } = run.transcript(record.key)
    assert.equal(times.length, 2)
    await show(`#/trial/${record.key.replaceAll('|', '%7C')}`)
    const rows = shown.page.locator('table.timeline tbody tr')
    assert.equal(await rows.count(), 2)
    assert.match((await rows.first().textContent()) ?? '', /^Call 0 list_deploy_keys\d/)
    assert.match(await textOf(shown), /The trial took .*: tools .* in 2 calls\./)
    const widths = await shown.page
      .locator('.timeline rect.call')
      .evaluateAll((all) => all.map((one) => one.getBoundingClientRect().width))
    assert.ok(widths.length === 2 && widths.every((width) => width >= 1))
    await rows.last().getByRole('link', { name: 'Call 1' }).click()
    assert.equal(await shown.page.evaluate(() => document.activeElement?.id), 'call-1')
    // A script has none.
    await show('#/trial/lying_success/deploy-key%7Cnaive%7C0')
    assert.equal(await shown.page.locator('.timeline').count(), 0)
  })

  it('shows the events of a trial that are asked for, by keyboard and in the address, and prints all', async () => {
    const { page } = shown
    const record = run.trials.find(({ key }) => key === 'hostile/text|own|0')
    assert.ok(record)
    const { entries, calls } = run.transcript(record.key)
    const at = `#/trial/${record.key.replaceAll('|', '%7C')}`
    const seen = () =>
      page
        .locator('.talk > li')
        .evaluateAll((all) =>
          all.filter((one) => one.checkVisibility()).map((one) => one.id || one.className),
        )
    const places = (of: (call: (typeof calls)[number]) => boolean) =>
      calls.filter(of).map(({ seq }) => `call-${seq}`)
    await show(at)
    const all = await seen()
    assert.equal(all.length, entries.length)
    for (const [name, wanted] of [
      ['writes', places(({ seq }) => record.writes.includes(seq))],
      ['failed', places(({ status }) => status !== 'success')],
    ] as const) {
      assert.ok(wanted.length > 0 && wanted.length < calls.length, name)
      const button = page.locator(`#events-${name}`)
      await button.focus()
      await page.keyboard.press('Enter')
      assert.deepEqual(await seen(), wanted)
      assert.equal(await button.getAttribute('aria-pressed'), 'true')
      assert.equal(await page.evaluate(() => document.activeElement?.id), `events-${name}`)
      const address = await page.evaluate(() => location.hash)
      assert.equal(address, `${at}?events=${name}`)
      await show('#/')
      await show(address)
      assert.deepEqual(await seen(), wanted)
      const others = await page.locator('.steps-nav a').all()
      assert.ok(others.length > 0)
      for (const other of others)
        assert.match((await other.getAttribute('href')) ?? '', new RegExp(`events=${name}$`))
    }
    await page.emulateMedia({ media: 'print' })
    assert.deepEqual(await seen(), all)
    await page.emulateMedia({ media: 'screen' })
    // A link to an event that is left out shows it.
    await show(`${at}?events=said`)
    assert.ok((await seen()).every((one) => one.includes('agent')))
    const [write = 0] = record.writes
    await page
      .locator('.card')
      .getByRole('link', { name: `Call ${write}` })
      .first()
      .click()
    assert.equal(await page.evaluate(() => document.activeElement?.id), `call-${write}`)
    assert.deepEqual(await seen(), all)
  })

  it('shows each event as its transcript has it, with an escape for what would not be seen', async () => {
    const { page } = shown
    const raw = async (key: string) => {
      await show(`#/trial/${key.replaceAll('|', '%7C')}`)
      for (const one of await page.locator('.talk .raw summary').all()) await one.press('Enter')
      await page.waitForFunction(() => !document.querySelector('.talk .raw:not(:has(pre))'))
      return page.locator('.talk .raw pre').allTextContents()
    }
    const record = run.trials.find(({ key, calls }) => key.includes('careful') && calls > 1)
    const { calls = [], task, summary } = run.transcript(record?.key ?? '')
    const found = (await raw(record?.key ?? '')).map((text) => JSON.parse(text))
    for (const one of [task, ...calls, summary])
      assert.ok(
        found.some((text) => isDeepStrictEqual(text, one)),
        JSON.stringify(one),
      )
    const texts = await raw('hostile/text|hostile|0')
    assert.ok(
      texts.includes(JSON.stringify(HOSTILE).replace('\u202e', '\\u202e')),
      texts.join('\n'),
    )
    assert.equal(await page.locator('img[src=x]').count(), 0)
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

  it('leads from each count of what the rates speak about, and of how trials ended, to as many trials', async () => {
    await show('#/')
    const spoken = shown.page.locator('section', { hasText: 'claims known' }).last()
    const links = await spoken
      .locator('td a')
      .evaluateAll((all) =>
        all.map((one) => [one.getAttribute('href') ?? '', one.textContent ?? '']),
      )
    const counted = run
      .coverage()
      .flatMap(({ exposed, fault, endings }) => [
        ...[true, true, true, exposed.of > 0, fault.trials > 0].filter(Boolean),
        ...endings,
      ])
    assert.ok(links.length >= counted.length)
    for (const [href = '', text = ''] of links) {
      if (text.includes('[')) continue
      await show(href)
      const [, said = ''] = /^([\d,]+)/.exec(text) ?? []
      assert.match(await textOf(shown, 'h1'), new RegExp(`^${said} trials`), `${href}: ${text}`)
    }
  })

  it('shows what the whole run did over time, in characters too, and leads to its trials as they began', async () => {
    await show('#/')
    const section = shown.page.locator('section.activity')
    const { title, notes } = await run.plot('activity')
    assert.equal(await section.locator('img').getAttribute('alt'), `${title}. ${notes.join(' ')}`)
    await section.locator('summary').click()
    assert.equal(await section.locator('pre').textContent(), (await run.plot('activity')).text())
    await section.locator('figure a').click()
    await shown.page.waitForSelector('th[aria-sort=ascending]')
    const began = await shown.page.locator('tbody td:last-child').allTextContents()
    const known = run.trials.map((one) => one.started_at.slice(0, 19).replace('T', ' '))
    assert.deepEqual(began, known.toSorted())
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

  it('shows the columns that are chosen, by keyboard and in the address, and sorts by each', async () => {
    const { page } = shown
    const heads = () => page.locator('thead th').allTextContents()
    const rows = page.locator('tbody tr')
    await show('#/trials')
    // What no trial has is not shown, and can be.
    assert.deepEqual(
      (await heads()).map((head) => head.replace(/ \W$/, '')),
      ['trial', 'outcome', 'goal', 'attack', 'overclaims', 'calls', 'time'],
    )
    await page.locator('.chooser summary').focus()
    await page.keyboard.press('Enter')
    await page.getByRole('checkbox', { name: 'underclaimed' }).focus()
    await page.keyboard.press('Space')
    assert.equal(await page.evaluate(() => document.activeElement?.id), 'column-underclaim')
    await page.getByRole('checkbox', { name: 'time', exact: true }).uncheck()
    const chosen = (await heads()).map((head) => head.replace(/ \W$/, ''))
    assert.deepEqual(chosen, [
      ...['trial', 'outcome', 'goal', 'attack', 'overclaims', 'underclaimed', 'calls'],
    ])
    const address = await page.evaluate(() => location.hash)
    await show('#/')
    await show(address)
    assert.deepEqual(await heads().then((all) => all.length), chosen.length)
    const first = await rows.first().textContent()
    const calls = page.locator('th', { has: page.getByRole('button', { name: /^calls/ }) })
    await calls.getByRole('button').click()
    assert.equal(await calls.getAttribute('aria-sort'), 'descending')
    const counts = (await rows.locator('td:last-child').allTextContents()).map(Number)
    assert.deepEqual(
      counts,
      counts.toSorted((a, b) => b - a),
    )
    assert.equal(Math.max(...run.trials.map((row) => row.calls)), counts[0])
    await calls.getByRole('button').click()
    assert.equal(await calls.getAttribute('aria-sort'), 'ascending')
    await calls.getByRole('button').click()
    assert.equal(await calls.getAttribute('aria-sort'), 'none')
    assert.equal(await rows.first().textContent(), first)
    await page.getByRole('button', { name: 'as at first' }).click()
    assert.equal((await heads()).length, 7)
    // A value that is not known stands last, whichever way.
    for (const down of ['', '&down=yes']) {
      await show(`#/trials?columns=attack&sort=attack${down}`)
      const attacks = await rows.locator('td').allTextContents()
      assert.ok(attacks.includes('–') && attacks.lastIndexOf('yes') >= 0)
      assert.ok(attacks.slice(attacks.indexOf('–')).every((one) => one === '–'))
    }
    // The list of cases has the same.
    await show('#/?columns=c0')
    assert.equal(await page.locator('table.cases thead th').count(), 2)
  })

  it('has the last words of each agent beside its trial: in one line, shortened, as text', async () => {
    await show('#/trials?columns=words&sort=words')
    const rows = await shown.page.locator('tbody tr').evaluateAll((all) =>
      all.map((one) => ({
        key: decodeURIComponent(one.querySelector('a')?.hash.replace('#/trial/', '') ?? ''),
        words: one.querySelector('td')?.textContent ?? '',
      })),
    )
    assert.equal(rows.length, run.trials.length)
    for (const { key, words } of rows) {
      const { said = [], summary } = run.transcript(key)
      const last = (summary || said.at(-1) || 'none').replace(/\s+/g, ' ').trim()
      const text = last.replaceAll('\u202e', '\ufffd')
      if (text.length <= 140) assert.equal(words, text, key)
      else {
        assert.ok(words.endsWith('…') && words.length > 120 && words.length <= 140, words)
        assert.ok(text.startsWith(words.slice(0, -1)), key)
      }
    }
    assert.ok(rows.some(({ words }) => words.includes('<img src=x')))
    assert.ok(rows.some(({ words }) => words.endsWith('…')))
    assert.equal(await shown.page.locator('img[src=x]').count(), 0)
  })

  it('finds a text wherever trials hold it, and says where', async () => {
    const sought = 'CI-2026'
    const holding = run.trials.filter(({ key }) => {
      const { entries } = run.transcript(key)
      return JSON.stringify(entries).includes(sought.toLowerCase())
    })
    assert.ok(holding.length > 0 && holding.length < run.trials.length)
    await show('#/')
    await shown.page.getByLabel('Find in everything that trials said').fill(sought)
    await shown.page.keyboard.press('Enter')
    await shown.page.waitForFunction(() =>
      /trials hold .*”$/.test(document.querySelector('[role=status]')?.textContent ?? ''),
    )
    assert.equal(
      await textOf(shown, '[role=status]'),
      `${holding.length} of ${run.trials.length} trials hold “${sought}”`,
    )
    assert.equal(await shown.page.locator('tbody tr').count(), holding.length)
    assert.equal((await textOf(shown, 'tbody mark')).toLowerCase(), sought.toLowerCase())
    // The same words among names and reasons alone.
    await shown.page.getByLabel('in', { exact: true }).selectOption('')
    await shown.page.waitForFunction(() =>
      / shown$/.test(document.querySelector('[role=status]')?.textContent ?? ''),
    )
    assert.deepEqual(shown.complaints, [])
  })

  it('copies the key of a trial and what stands in it, by keyboard too', async () => {
    const record = run.trials.find(({ key }) => key.startsWith('lying_success/deploy-key|naive'))
    assert.ok(record)
    const hash = `#/trial/${record.key.replaceAll('|', '%7C')}`
    const call = run.transcript(record.key).entries.find(({ kind }) => kind === 'call')
    assert.ok(call?.kind === 'call')
    for (const [name, text] of [
      ['copy key: the key of this trial', record.key],
      ['copy: the answer to call 0', call.answer],
    ] as const) {
      await show(hash)
      await shown.page.getByRole('button', { name }).focus()
      await shown.page.keyboard.press('Enter')
      await shown.page.getByText('copied').waitFor()
      // What was copied comes out where a person pastes it.
      await show('#/')
      await shown.page.locator('#find-trials').focus()
      await shown.page.keyboard.press('Control+v')
      assert.equal(await shown.page.locator('#find-trials').inputValue(), text.replaceAll('\n', ''))
    }
    // Without a clipboard of its own, as in a frame.
    await show(hash)
    await shown.page.evaluate(() =>
      Object.defineProperty(navigator, 'clipboard', { value: undefined, configurable: true }),
    )
    await shown.page.getByRole('button', { name: 'copy: the task' }).click()
    await shown.page.getByText('copied').waitFor()
    assert.deepEqual(shown.complaints, [])
  })

  it('leads from each p value, and from what a sentence counts, to cases or trials', async () => {
    await show('#/')
    for (const cell of await shown.page.locator('#main td.num:has-text("0.")').all())
      assert.equal((await cell.locator('a').count()) > 0, true, (await cell.textContent()) ?? '')
    const all = await shown.page
      .getByRole('link', { name: 'all trials', exact: true })
      .getAttribute('href')
    await show(all ?? '')
    assert.match(await textOf(shown, 'h1'), new RegExp(`^${run.trials.length} trials`))
    await show('#/trials?configuration=careful&against=naive')
    assert.match(await textOf(shown, 'h1'), /^30 trials: careful and naive/)
  })

  it('of a run of an earlier version shows the exports, a file each, and no file outside of them', async () => {
    const dir = temporaryFolder('page')
    cpSync(run.dir, dir, { recursive: true })
    for (const line of readFileSync(join(dir, 'audit.ndjson'), 'utf8')
      .split('\n')
      .filter(Boolean)) {
      const { key, text } = JSON.parse(line)
      const path = join(dir, 'audit', `${key.replaceAll('|', '/')}.json`)
      mkdirSync(dirname(path), { recursive: true })
      writeFileSync(path, text)
    }
    rmSync(join(dir, 'audit.ndjson'))
    const record = run.trials.find(
      ({ key, levels }) => key.startsWith('lying_success/deploy-key.benign') && levels.verified > 0,
    )
    assert.ok(record)
    const found = exportsInFiles(dir, record)
    assert.deepEqual(
      found.map(({ server, provider }) => [server, provider]),
      [['', 'github']],
    )
    writeFileSync(join(dir, 'audit', 'secret.json'), '[]')
    symlinkSync('/', join(dir, 'audit', 'link'))
    for (const id of ['..', '../..', 'link', 'no-such'])
      assert.deepEqual(exportsInFiles(dir, { ...record, case: id }), [])
    const old = await harness.open(dir)
    const page = await (await old.page()).save(join(dir, 'report.html'))
    const opened = await openPage(
      `${pathToFileURL(page)}#/trial/${record.key.replaceAll('|', '%7C')}`,
    )
    try {
      await opened.page.waitForSelector('.card')
      assert.match(await textOf(opened), /Export of github/)
      assert.match(await textOf(opened), /bound to/)
    } finally {
      await opened.close()
    }
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
      '#/trials?columns=outcome,underclaim,words,verified&sort=outcome',
      '#/trials?text=deploy+key&in=texts',
      `#/trial/${failed.key.replaceAll('|', '%7C')}`,
      '#/trial/lying_success/deploy-key.benign%7Cown%7C0?events=calls',
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
        if (width >= 1280) {
          const scrolling = shown.page.locator('.scroll')
          const over = await scrolling.evaluateAll((all) =>
            all.filter((one) => one.scrollWidth > one.clientWidth).map((one) => one.ariaLabel),
          )
          assert.deepEqual(over, [], `${hash}: tables that are cut at ${width} px`)
        }
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
    await shown.page.locator('.sort').first().focus()
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
    for (const one of await shown.page.locator('.filters, .copies').all())
      assert.equal(await one.isVisible(), false)
    await shown.page.emulateMedia({ media: 'screen' })
  })

  it('keeps details beside it where they are many, and loads them when they are opened', async () => {
    const folder = temporaryFolder('page')
    const small = await (await run.page()).save(join(folder, 'run.html'), { insideBytes: 0 })
    assert.ok(statSync(join(folder, 'run-trials', '00000.js')).size > 0)
    const opened = await openPage(`${pathToFileURL(small)}#/case/lying_success/deploy-key`)
    try {
      await opened.page.waitForSelector('.card li')
      assert.deepEqual(opened.complaints, [])
      const scripts = opened.requests.filter((url) => url.endsWith('.js'))
      assert.ok(scripts.length > 0 && scripts.every((url) => url.includes('/run-trials/')))
      // A search reads these files when it is asked to, and says so.
      await opened.page.goto(`${pathToFileURL(small)}#/trials?text=deploy&in=texts`)
      const status = () => textOf(opened, '[role=status]')
      await opened.page.getByRole('button', { name: /^Read \d+ file/ }).waitFor()
      assert.match(await status(), /^The texts of \d+ trials stand in \d+ files? of run-trials/)
      await opened.page.getByRole('button', { name: /^Read/ }).click()
      await opened.page.locator('tbody mark').first().waitFor()
      await opened.page.waitForFunction(() => !document.querySelector('[aria-busy]'))
      assert.match(
        await status(),
        new RegExp(`^\\d+ of ${run.trials.length} trials hold “deploy”$`),
      )
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

  it('of two runs compares their configurations on the cases of both, and refuses runs that share none', async () => {
    const one = await harness
      .run(await cases.load('cases/slow_reply'))
      .config('naive', { model: 'sim/naive' })
      .repeat(2)
      .out(null)
      .quiet()
    await assert.rejects(run.page({ against: one }), { code: 'run_differs' })
    const again = await harness
      .run((await cases.load('cases')).filter(({ id }) => CASES.slice(0, -1).includes(id)))
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
    const folder = temporaryFolder('page')
    const page = await again.page({ against: before })
    const gone = CASES.at(-1) as string
    const said = `on the ${CASES.length - 1} cases that both runs have alike; left out: 1 gone (${gone})`
    assert.ok(JSON.stringify(page).includes(said), said)
    const both = await page.save(join(folder, 'both.html'))
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
    const folder = temporaryFolder('page')
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
