/**
 * A page on this machine that stays current: served on loopback, told of changes by server-sent
 * events.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { TouchstoneError } from '../errors.ts'

export type Served = {
  /** `http://127.0.0.1:<port>/` */
  url: string
  /** Tell open pages that the body changed. */
  changed(): void
  close(): Promise<void>
}

export type ServeOptions = {
  page(): Promise<string>
  body(): Promise<string>
  /** Somebody pressed "run all". */
  onRun(): void
  /** Default 0: any free port. */
  port?: number
}

/**
 * Serve a page.
 *
 * Only for this machine: it listens on 127.0.0.1 and answers only requests that name it so, since
 * any web page that the reader has open could otherwise have a name of its own point here. It runs
 * nothing that a request sends.
 */
export async function serve(options: ServeOptions): Promise<Served> {
  const open = new Set<ServerResponse>()
  const server = createServer((request, response) => {
    answer(request, response).catch((error: unknown) => {
      response.writeHead(500, { 'content-type': 'text/plain; charset=utf-8' })
      response.end(error instanceof Error ? error.message : 'failed')
    })
  })
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { port } = server.address() as AddressInfo
    const names = [`127.0.0.1:${port}`, `localhost:${port}`]
    const { host = '', origin } = request.headers
    const local =
      names.includes(host) &&
      (origin === undefined || names.some((name) => origin === `http://${name}`))
    if (!local) return void response.writeHead(403).end()
    const asked = `${request.method} ${request.url}`
    const headers = {
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
      // A page of somebody else's that frames this one could have its reader press "Run all". The
      // policy inside the page cannot say this: browsers ignore frame-ancestors there.
      'content-security-policy': "frame-ancestors 'none'",
      'x-frame-options': 'DENY',
    }
    if (asked === 'GET /') {
      const page = await options.page()
      response.writeHead(200, { ...headers, 'content-type': 'text/html; charset=utf-8' }).end(page)
    } else if (asked === 'GET /body') {
      response
        .writeHead(200, { ...headers, 'content-type': 'text/html; charset=utf-8' })
        .end(await options.body())
    } else if (asked === 'GET /events') {
      response.writeHead(200, { ...headers, 'content-type': 'text/event-stream' })
      // A page that comes back after a pause may have missed something.
      response.write('retry: 500\ndata: hello\n\n')
      open.add(response)
      response.on('close', () => open.delete(response))
    } else if (asked === 'POST /run' && origin !== undefined) {
      options.onRun()
      response.writeHead(202, headers).end()
    } else response.writeHead(404, headers).end()
  }
  const { promise: listening, resolve, reject } = Promise.withResolvers<void>()
  server.once('error', (cause) => {
    const { code } = cause as { code?: string }
    reject(
      new TouchstoneError('argument_invalid', `expected a free port, got ${code}`, {
        where: `port ${options.port}`,
        cause,
      }),
    )
  })
  server.listen(options.port ?? 0, '127.0.0.1', resolve)
  await listening
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    changed() {
      for (const response of open) response.write('data: changed\n\n')
    },
    async close() {
      for (const response of open) response.end()
      server.closeAllConnections()
      await new Promise<void>((done) => server.close(() => done()))
    },
  }
}

/**
 * What the page does: fetch the body when told, keep what did not change, draw what is new, stay
 * where the reader is.
 */
export const LIVE = `
const refresh = async () => {
  const fresh = document.createElement('template')
  fresh.innerHTML = await (await fetch('/body')).text()
  const main = fresh.content.querySelector('main')
  const old = document.querySelector('main')
  const kept = new Map([...old.querySelectorAll('section')].map((section) => [section.dataset.key, section]))
  for (const section of main.querySelectorAll('section')) {
    const same = kept.get(section.dataset.key)
    if (same) { kept.delete(section.dataset.key); section.replaceWith(same) }
  }
  const { scrollX, scrollY } = window
  old.replaceWith(main)
  await drawNew()
  window.scrollTo(scrollX, scrollY)
}
const drawNew = async () => {
  const drawn = [...document.querySelectorAll('.chart[data-drawn]')]
  for (const chart of drawn) chart.classList.remove('chart')
  try { await draw() } finally { for (const chart of drawn) chart.classList.add('chart') }
}
let last = Promise.resolve()
const events = new EventSource('/events')
events.onmessage = () => { last = last.then(refresh, refresh) }
addEventListener('click', (event) => {
  if (event.target.closest?.('[data-run]')) fetch('/run', { method: 'POST' })
})
`.trim()
