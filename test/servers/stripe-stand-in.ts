/**
 * A stand-in of Stripe's API on the loopback interface, as far as the agent toolkit's tools need it. It keeps objects, and writes an
 * event for each one that it makes, in the shape that Stripe documents. It knows nothing of tools, calls or agents.
 */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

type Made = { id: string; object: string; [member: string]: unknown }

/** Prefix of ids and event type by the path that makes the object. */
const KINDS: { [path: string]: { object: string; prefix: string; event: string } } = {
  customers: { object: 'customer', prefix: 'cus', event: 'customer.created' },
  products: { object: 'product', prefix: 'prod', event: 'product.created' },
  prices: { object: 'price', prefix: 'price', event: 'price.created' },
  coupons: { object: 'coupon', prefix: 'coup', event: 'coupon.created' },
  refunds: { object: 'refund', prefix: 're', event: 'refund.created' },
}

/** @param refundStatus what becomes of a refund: `succeeded`, or a status by which no money has moved */
export async function startStripe(refundStatus = 'succeeded') {
  const kept: Made[] = []
  const events: object[] = []
  const http = createServer(async (request, response) => {
    let body = ''
    for await (const chunk of request) body += chunk
    const url = new URL(request.url ?? '', 'http://x')
    const [, , path = ''] = url.pathname.split('/')
    const requestId = `req_${String(events.length + kept.length).padStart(14, '0')}`
    const send = (status: number, value: object) => {
      response.writeHead(status, { 'content-type': 'application/json', 'request-id': requestId })
      response.end(JSON.stringify(value))
    }
    const kind = KINDS[path]
    if (!kind) return send(404, { error: { type: 'invalid_request_error', message: path } })
    if (request.method === 'GET') {
      const data = kept.filter(({ object }) => object === kind.object).toReversed()
      return send(200, { object: 'list', url: `/v1/${path}`, has_more: false, data })
    }
    const created = Math.floor(Date.now() / 1000)
    const made: Made = {
      id: `${kind.prefix}_${String(kept.length + 1).padStart(14, '0')}`,
      object: kind.object,
      created,
      livemode: true,
      ...fields(new URLSearchParams(body)),
      ...(path === 'refunds' && { charge: 'ch_3', currency: 'usd', status: refundStatus }),
    }
    if (path === 'refunds') made['amount'] ??= 2000
    kept.push(made)
    events.push({
      id: `evt_${String(events.length + 1).padStart(14, '0')}`,
      object: 'event',
      api_version: '2025-03-31.basil',
      created,
      data: { object: made },
      livemode: true,
      pending_webhooks: 0,
      request: { id: requestId, idempotency_key: request.headers['idempotency-key'] ?? null },
      type: kind.event,
    })
    send(200, made)
  })
  await new Promise<void>((listening) => http.listen(0, '127.0.0.1', listening))
  return {
    url: `http://127.0.0.1:${(http.address() as AddressInfo).port}`,
    /** The list of events, newest first, as the API gives it. */
    events: () =>
      JSON.stringify({
        object: 'list',
        url: '/v1/events',
        has_more: false,
        data: events.toReversed(),
      }),
    close: () => http.close(),
  }
}

/** Form fields as Stripe keeps them: whole numbers are numbers, metadata is an object. */
function fields(form: URLSearchParams): { [name: string]: unknown } {
  const made: { [name: string]: unknown } = {}
  for (const [name, value] of form) {
    const [, of, member] = /^(\w+)\[(\w+)\]$/.exec(name) ?? []
    if (of !== undefined && member !== undefined)
      made[of] = { ...(made[of] as object | undefined), [member]: value }
    else made[name] = /^\d+$/.test(value) ? Number(value) : value
  }
  return made
}
