import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { before, describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { temporaryFolder } from '../temporary.ts'
import { openTerminal, withoutTmux } from './terminal.ts'

const MAIN = fileURLToPath(new URL('../../repl.ts', import.meta.url))
const folder = temporaryFolder()

/** A server that keeps every request waiting until it is told to answer them all. */
async function startServer() {
  const paths: string[] = []
  const waiting: ServerResponse[] = []
  let open = false
  let arrived = Promise.withResolvers<void>()
  const server = createServer((request, response) => {
    paths.push(request.url ?? '')
    arrived.resolve()
    if (open) response.writeHead(503).end()
    else waiting.push(response)
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    paths,
    async gets(requests: number): Promise<void> {
      while (paths.length < requests) {
        await arrived.promise
        arrived = Promise.withResolvers()
      }
    },
    answer() {
      open = true
      for (const response of waiting.splice(0)) response.writeHead(503).end()
    },
    close() {
      server.closeAllConnections()
      server.close()
    },
  }
}

describe('Ctrl-C at the prompt', { skip: withoutTmux(), concurrency: 2 }, () => {
  const file = join(folder, 'probes.ts')
  before(() =>
    writeFileSync(
      file,
      [
        "// %%\nimport { probe } from 'touchstone'",
        'const { url } = globalThis as unknown as { url: string }',
        'for (let n = 0; n < 9; n++)',
        '  await probe.connect(url + n, { local: true }).then(null, () => {})',
      ].join('\n'),
    ),
  )
  /** What the prompt is given before each row's line. */
  const given = [
    'const urls = [1, 2, 3, 4, 5].map((n) => url + n)',
    'const one = () => probe.connect(url, { local: true })',
    'const sweep = () => probe.sweep(urls, { local: true, concurrency: 2 })',
    'const loop = async () => { for (const _ of urls) await one().then(null, () => {}) }',
    'const model = { model: "local/none", baseURL: url }',
    'const plan = harness.run((await cases.load()).slice(0, 1)).config("a", model).repeat(9)',
    'const told = (work) => Promise.resolve(work).finally(() => console.log("it ended"))',
    '"all " + "given"',
  ]
  const rows: [rule: string, line: string, atOnce?: number][] = [
    ['a probe', 'await told(one())'],
    ['a repeated probe', 'await told(one().repeat(9))'],
    ['a sweep', 'await told(sweep())', 2],
    ['a sweep that nobody awaits', 'void told(sweep())', 2],
    ['a loop of probes that swallows errors', 'await told(loop())'],
    ['a notebook', `await told(notebook.run("${file}"))`],
    ['a run', 'await told(plan.concurrency(1))'],
  ]
  for (const [rule, line, atOnce = 1] of rows) {
    test(`ends ${rule}: its server gets no further request`, async () => {
      const server = await startServer()
      const terminal = openTerminal(
        `cd ${folder} && TOUCHSTONE_HISTORY=/dev/null TERM=xterm-256color ${process.execPath} ${MAIN}`,
      )
      try {
        await terminal.shows(/^>$/m)
        for (const code of [`globalThis.url = "${server.url}/"`, ...given]) terminal.enter(code)
        await terminal.shows(/^'all given'$/m)
        const isAwaited = line.startsWith('await')
        terminal.enter(line)
        await server.gets(atOnce)
        if (!isAwaited) await terminal.shows(/> void .*\n>/)
        terminal.press('C-c')
        await terminal.shows(isAwaited ? /^stopped$/m : /again, Ctrl-D/)
        server.answer()
        await terminal.shows(/^(> )?it ended$/m)
        terminal.enter('await fetch(url + "mark").then((response) => response.status)')
        await terminal.shows(/^503$/m)
        assert.deepEqual(server.paths.slice(atOnce), ['/mark'])
      } finally {
        terminal.close()
        server.close()
      }
    })
  }
})
