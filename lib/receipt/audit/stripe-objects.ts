/**
 * Stripe events about objects that are made, finalized or cancelled: customers, products, prices,
 * coupons, invoices, subscriptions. Each says what the call named, and a deletion takes back what
 * made the object.
 */
import type { JsonObject } from '../../json.ts'
import { at } from '../surface/classifier.ts'
import { textAt } from './entry-members.ts'
import type { Effect } from './importer.ts'

type Values = Effect['values']

export const objectKinds: { [type: string]: { action_class: string; verb: string } } = {
  'customer.created': { action_class: 'payment_customer', verb: 'create' },
  'product.created': { action_class: 'payment_product', verb: 'create' },
  'price.created': { action_class: 'payment_price', verb: 'create' },
  'coupon.created': { action_class: 'payment_coupon', verb: 'create' },
  'invoice.created': { action_class: 'payment_invoice', verb: 'create' },
  'invoice.finalized': { action_class: 'payment_invoice', verb: 'finalize' },
  'invoiceitem.created': { action_class: 'payment_invoice_item', verb: 'create' },
  'customer.subscription.deleted': { action_class: 'payment_subscription', verb: 'cancel' },
}

/** Types that take an object back, or say that it did not come about. */
const TAKEN_BACK =
  /^(customer|product|price|coupon|invoice|invoiceitem)\.(deleted|finalization_failed)$/

export function takenBack(type: string): boolean {
  return TAKEN_BACK.test(type)
}

/**
 * Why an event is nobody's call, or null: Stripe renews, bills and ends things by itself too, and
 * then names no request.
 */
export function byItself(entry: JsonObject, type: string): string | null {
  if (textAt(entry, 'request') === null && textAt(entry, 'request.id') === null)
    return 'no request: it happened by itself'
  const reason = textAt(entry, 'data.object.billing_reason')
  return type === 'invoice.created' && reason !== 'manual'
    ? `billing reason ${reason ?? 'missing'}: no call made this invoice`
    : null
}

/**
 * What an event says, by the names of a call's arguments. A reference may be an id or the object
 * itself.
 */
export function objectValues(entry: JsonObject, type: string): Values {
  const said = (name: string) => {
    const value = at(entry, `data.object.${name}`)
    return typeof value === 'string' || typeof value === 'number' ? value : null
  }
  const idOf = (name: string) =>
    textAt(entry, `data.object.${name}`) ?? textAt(entry, `data.object.${name}.id`)
  if (type === 'customer.created') return { name: said('name'), email: said('email') }
  if (type === 'product.created') return { name: said('name') }
  if (type === 'price.created')
    return {
      product: idOf('product'),
      unit_amount: said('unit_amount'),
      currency: said('currency'),
    }
  if (type === 'coupon.created')
    return {
      name: said('name'),
      amount_off: said('amount_off'),
      percent_off: said('percent_off'),
      currency: said('currency'),
      duration: said('duration'),
    }
  if (type === 'invoice.created') return { customer: idOf('customer') }
  if (type === 'invoice.finalized') return { invoice: said('id') }
  if (type === 'customer.subscription.deleted') return { subscription: said('id') }
  return {
    customer: idOf('customer'),
    invoice: idOf('invoice'),
    price: idOf('price') ?? textAt(entry, 'data.object.pricing.price_details.price'),
  }
}
