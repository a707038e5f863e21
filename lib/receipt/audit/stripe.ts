/**
 * Stripe events, as the events list and webhooks write them.
 *
 * `charge.succeeded` is a charge, `refund.created` (or `charge.refund.created`) a refund. The older `charge.refunded` carries
 * the whole charge, and says neither which refund nor how much of it is new, so it is skipped. `request` names the API request and
 * the caller's idempotency key; API versions before 2017-05-25 write it as a bare text.
 */
import type { Json, JsonObject } from '../../json.ts'
import { at } from '../surface/classifier.ts'
import { harmless, targetHash } from '../surface/target.ts'
import type { Mapped, ProviderImporter } from './import.ts'

export const stripe: ProviderImporter = {
  provider: 'stripe',
  unwrap: (document) => (Array.isArray(document['data']) ? (document['data'] as Json[]) : null),
  map(entry) {
    const type = textAt(entry, 'type')
    if (type === null) return { skipped: 'the event has no type' }
    if (type === 'charge.failed' || type === 'refund.failed') return { skipped: `failed: ${type}` }
    if (type === 'charge.refunded')
      return { skipped: 'charge.refunded does not say which refund; refund.created does' }
    const charge = type === 'charge.succeeded'
    if (!charge && type !== 'refund.created' && type !== 'charge.refund.created')
      return { unmapped: harmless(type) }
    const id = textAt(entry, 'id')
    if (id === null) return { skipped: 'the event has no id' }
    const amount = at(entry, 'data.object.amount')
    if (typeof amount !== 'number' || !Number.isSafeInteger(amount))
      return { skipped: 'no whole amount' }
    const created = entry['created']
    const common = {
      record_id: id,
      occurred_at:
        typeof created === 'number' && Math.abs(created) < 1e11
          ? new Date(created * 1000).toISOString()
          : null,
      request_ids: idsOf(entry),
    }
    return charge ? chargeOf(entry, common, amount) : refundOf(entry, common, amount)
  },
}

type Common = { record_id: string; occurred_at: string | null; request_ids: string[] }

function chargeOf(entry: JsonObject, common: Common, amount: number): Mapped {
  const status = textAt(entry, 'data.object.status')
  if (status !== null && status !== 'succeeded')
    return { skipped: `failed: charge status ${harmless(status)}` }
  const currency = textAt(entry, 'data.object.currency')
  const customer = textAt(entry, 'data.object.customer') ?? textAt(entry, 'data.object.customer.id')
  if (currency === null) return { skipped: 'no currency' }
  if (customer === null) return { skipped: 'no customer: the event does not say whose charge' }
  const key = textAt(entry, 'request.idempotency_key')
  return {
    ...common,
    subject: {
      action_class: 'payment_charge',
      verb: 'create',
      target: {
        amount: String(amount),
        currency: harmless(currency),
        customer_hash: targetHash('payment_customer', customer),
      },
    },
    ...(key !== null && {
      attributes: { idempotency_key_hash: targetHash('payment_idempotency_key', key) },
    }),
  }
}

function refundOf(entry: JsonObject, common: Common, amount: number): Mapped {
  const status = textAt(entry, 'data.object.status')
  if (status === 'failed' || status === 'canceled')
    return { skipped: `failed: refund status ${status}` }
  const charge = textAt(entry, 'data.object.charge') ?? textAt(entry, 'data.object.charge.id')
  if (charge === null) return { skipped: 'no charge: the event does not say what was refunded' }
  return {
    ...common,
    subject: {
      action_class: 'payment_refund',
      verb: 'create',
      target: { charge_hash: targetHash('payment_charge', charge) },
    },
    attributes: { amount: String(amount) },
  }
}

function idsOf(entry: JsonObject): string[] {
  const ids = [
    textAt(entry, 'request'),
    textAt(entry, 'request.id'),
    textAt(entry, 'request.idempotency_key'),
  ]
  return ids.filter((id) => id !== null)
}

function textAt(entry: JsonObject, path: string): string | null {
  const value = at(entry, path)
  return typeof value === 'string' && value !== '' ? value : null
}
