/**
 * Stripe events, as the events list and webhooks write them: charges and refunds; the rest stands
 * in `stripe-objects.ts`.
 *
 * `charge.succeeded` is a charge. A refund is an object of its own, `refund.created` or
 * `refund.updated` (older: `charge.refund.created`, `charge.refund.updated`); it counts once its
 * status is `succeeded`. The older `charge.refunded` carries the whole charge, and says neither
 * which refund nor how much of it is new, so it is skipped. `request` names the API request and the
 * caller's idempotency key; API versions before 2017-05-25 write it as a bare text.
 */
import type { JsonObject } from '../../json.ts'
import { at } from '../surface/classifier.ts'
import { harmless } from '../surface/target.ts'
import { kindOf, secondsAt, textAt, texts } from './entry-members.ts'
import { failed, type Importer, type Reading } from './importer.ts'
import { byItself, objectKinds, objectValues, takenBack } from './stripe-objects.ts'

const charge = { action_class: 'payment_charge', verb: 'create' }
const refund = { action_class: 'payment_refund', verb: 'create' }
const kinds: { [type: string]: { action_class: string; verb: string } } = {
  ...objectKinds,
  'charge.succeeded': charge,
  'refund.created': refund,
  'refund.updated': refund,
  'charge.refund.created': refund,
  'charge.refund.updated': refund,
}

export const stripe: Importer = {
  name: 'stripe',
  provider: 'stripe',
  kinds,
  recognises: (document) =>
    document['object'] === 'event' ||
    (document['object'] === 'list' && Array.isArray(document['data'])),
  entries: (document) =>
    document['object'] === 'list' && Array.isArray(document['data']) ? document['data'] : null,
  read(entry) {
    const type = textAt(entry, 'type')
    if (type === null) return { skipped: 'the event has no type' }
    const id = textAt(entry, 'id')
    const object = textAt(entry, 'data.object.id')
    const status = textAt(entry, 'data.object.status')
    const because = failureOf(type, status)
    if (because !== null)
      return {
        ...(because.endsWith('failed')
          ? failed(because, attemptOf(entry, id, object))
          : { skipped: `failed: ${because}` }),
        ...(object !== null && { refutes: { object, because } }),
      }
    if (takenBack(type))
      return {
        skipped: `taken back: ${type}`,
        ...(object !== null && { refutes: { object, because: type } }),
      }
    if (type === 'charge.refunded')
      return { skipped: 'charge.refunded does not say which refund; refund.created does' }
    const kind = kindOf(kinds, type)
    if (!kind) return { unmapped: harmless(type) }
    if (id === null) return { skipped: 'the event has no id' }
    if (object === null) return { skipped: 'the event does not name its object' }
    if (entry['livemode'] !== true) return { skipped: 'test mode: no money has moved' }
    const itself = Object.hasOwn(objectKinds, type) ? byItself(entry, type) : null
    if (itself !== null) return { skipped: itself }
    if (Object.hasOwn(objectKinds, type))
      return {
        ...kind,
        record_id: id,
        object,
        values: objectValues(entry, type),
        ...requestOf(entry),
      }
    return kind === charge
      ? chargeOf(entry, id, object, status)
      : refundOf(entry, id, object, status)
  },
}

/** A status or type by which no money moves, or moves back. */
function failureOf(type: string, status: string | null): string | null {
  if (/^(charge|refund|charge\.refund)\.(failed|canceled|expired)$/.test(type)) return type
  const isMoney = type.startsWith('charge.') || type.startsWith('refund.')
  return isMoney && (status === 'failed' || status === 'canceled')
    ? `${type} with status ${status}`
    : null
}

/** The charge or the refund that an event says failed. */
function attemptOf(entry: JsonObject, id: string | null, object: string | null): Reading {
  if (id === null || object === null) return { skipped: 'the event does not name its object' }
  if (entry['livemode'] !== true) return { skipped: 'test mode: no money has moved' }
  const what = textAt(entry, 'data.object.object')
  if (what === 'charge') return chargedIn(entry, id, object)
  return what === 'refund'
    ? refundedIn(entry, id, object)
    : { skipped: 'neither charge nor refund' }
}

function chargeOf(entry: JsonObject, id: string, object: string, status: string | null): Reading {
  if (status !== 'succeeded')
    return { skipped: `charge status ${harmless(status ?? 'missing')}: no money has moved` }
  for (const member of ['paid', 'captured'])
    if (at(entry, `data.object.${member}`) === false)
      return { skipped: `the charge is not ${member}: no money has moved` }
  return chargedIn(entry, id, object)
}

function chargedIn(entry: JsonObject, id: string, object: string): Reading {
  const currency = textAt(entry, 'data.object.currency')
  const customer = textAt(entry, 'data.object.customer') ?? textAt(entry, 'data.object.customer.id')
  if (customer === null) return { skipped: 'no customer: the event does not say whose charge' }
  return made(entry, id, object, charge, { currency, customer })
}

function refundOf(entry: JsonObject, id: string, object: string, status: string | null): Reading {
  if (status !== 'succeeded')
    return { skipped: `refund status ${harmless(status ?? 'missing')}: no money has moved` }
  return refundedIn(entry, id, object)
}

function refundedIn(entry: JsonObject, id: string, object: string): Reading {
  const paid = textAt(entry, 'data.object.charge') ?? textAt(entry, 'data.object.charge.id')
  if (paid === null) return { skipped: 'no charge: the event does not say what was refunded' }
  const reading = made(entry, id, object, refund, { charge: paid })
  const intent =
    textAt(entry, 'data.object.payment_intent') ?? textAt(entry, 'data.object.payment_intent.id')
  if (intent === null || !('values' in reading)) return reading
  // A call names the charge or the intent. Both records are about one refund, so that they verify
  // one call.
  const values = { ...reading.values, charge: null, payment_intent: intent }
  const also = { ...reading, record_id: `${id}:payment_intent`, verb: 'create_for_intent', values }
  return { ...reading, also: [also] }
}

function made(
  entry: JsonObject,
  record_id: string,
  object: string,
  kind: { action_class: string; verb: string },
  values: { [field: string]: string | null },
): Reading {
  const amount = at(entry, 'data.object.amount')
  if (typeof amount !== 'number' || !Number.isSafeInteger(amount))
    return { skipped: 'no whole amount' }
  const idempotency_key = textAt(entry, 'request.idempotency_key')
  return {
    ...kind,
    record_id,
    object,
    values: { ...values, amount, idempotency_key },
    ...requestOf(entry),
  }
}

function requestOf(entry: JsonObject): { occurred_at: string | null; request_ids: string[] } {
  const key = textAt(entry, 'request.idempotency_key')
  return {
    occurred_at: secondsAt(entry, 'created'),
    request_ids: texts(textAt(entry, 'request'), textAt(entry, 'request.id'), key),
  }
}
