/** A page in headless Chromium, with every request that it makes written down. */
import { existsSync } from 'node:fs'
import { setTimeout as wait } from 'node:timers/promises'
import { type Browser, chromium, type Page } from 'playwright-core'

const CHROMIUM = '/usr/bin/chromium'
const FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
]

/** Why pages cannot be opened here, if they cannot. */
export const withoutChromium: string | false = existsSync(CHROMIUM)
  ? false
  : `${CHROMIUM} is not installed`

export type Opened = {
  page: Page
  requests: string[]
  complaints: string[]
  close(): Promise<void>
}

let started: Promise<Browser> | undefined
let open = 0

/** A page of its own, in one browser for all that are open at a time. */
export async function openPage(url: string, theme: 'light' | 'dark' = 'light'): Promise<Opened> {
  open++
  started ??= chromium.launch({ executablePath: CHROMIUM, headless: true, args: FLAGS })
  const browser = await started
  const context = await browser.newContext({
    colorScheme: theme,
    viewport: { width: 1000, height: 900 },
  })
  const page = await context.newPage()
  const requests: string[] = []
  const complaints: string[] = []
  page.on('request', (request) => requests.push(request.url()))
  page.on('console', (message) => complaints.push(message.text()))
  page.on('pageerror', (error) => complaints.push(error.message))
  page.on('dialog', (dialog) => {
    complaints.push(`a dialog: ${dialog.message()}`)
    void dialog.dismiss()
  })
  await page.goto(url)
  return {
    page,
    requests,
    complaints,
    async close() {
      await context.close()
      if (--open > 0) return
      started = undefined
      await browser.close()
    },
  }
}

/** Wait until something in the page is true. Fails when it is not within the bound. */
export async function until(
  page: Page,
  what: string,
  test: () => boolean,
  boundMs = 60_000,
): Promise<void> {
  const end = performance.now() + boundMs
  while (!(await page.evaluate(test))) {
    if (performance.now() > end)
      throw new Error(
        `expected ${what}, got:\n${await page.evaluate(() => document.body.textContent)}`,
      )
    await wait(20)
  }
}
