/** Stripe: charges and refunds. Stripe compares its ids byte for byte. */
import type { Answer, Classifier } from '../classifier.ts'
import { amount, hashed, MONEY, text } from '../fields.ts'

/**
 * A Stripe list: `{ object: 'list', data, has_more, url }`. The agent toolkit answers with the bare
 * `data`, a page of 10.
 */
const answers = (from: Answer['from'] & {}): Answer[] => [
  {
    items: 'data',
    from,
    beside: ['url'],
    whole: [
      { member: 'object', is: 'list' },
      { member: 'has_more', is: false },
    ],
  },
  { items: '', from },
]

export const charge: Classifier = {
  ...MONEY,
  category: 'payment_charge',
  provider: 'stripe',
  resource_type: 'payment_charge',
  servers: ['stripe', 'payments'],
  scope: 'charges:write',
  reason_code: 'classified_payment_charge',
  tools: { create_charge: 'create' },
  effects: {
    create: {
      shown: { by: 'presence', reads: ['list_charges'] },
      recorded: ['charge.succeeded'],
    },
  },
  fields: [
    amount('amount'),
    text('currency'),
    hashed('customer_hash', 'payment_customer', 'customer', 'customer_id'),
    hashed('idempotency_key_hash', 'payment_idempotency_key', 'idempotency_key'),
  ],
  required: [
    { fields: ['amount'], detail: 'missing_payment_amount' },
    { fields: ['currency'], detail: 'missing_payment_currency' },
  ],
  // Amount, currency and customer say which charge; the idempotency key, where both sides have one,
  // says which attempt.
  binding: { all: ['amount', 'currency', 'customer_hash'], agree: ['idempotency_key_hash'] },
  scoped: [],
  reads: {
    list_charges: {
      verb: 'list',
      answers: answers({ customer_hash: ['customer', 'customer.id'] }),
      arguments: ['limit'],
    },
  },
}

export const refund: Classifier = {
  ...MONEY,
  category: 'payment_refund',
  provider: 'stripe',
  resource_type: 'payment_refund',
  servers: ['stripe', 'payments'],
  scope: 'refunds:write',
  reason_code: 'classified_payment_refund',
  tools: { create_refund: 'create' },
  effects: {
    create: {
      shown: { by: 'presence', reads: ['list_refunds'] },
      recorded: [
        'refund.created',
        'refund.updated',
        'charge.refund.created',
        'charge.refund.updated',
      ],
    },
  },
  fields: [
    hashed('charge_hash', 'payment_charge', 'charge', 'charge_id'),
    amount('amount'),
    hashed('idempotency_key_hash', 'payment_idempotency_key', 'idempotency_key'),
  ],
  required: [{ fields: ['charge_hash'], detail: 'missing_payment_charge' }],
  // A call without an amount refunds the whole charge. The entry does not say what is the whole.
  binding: { all: ['charge_hash'], any: ['amount'], agree: ['idempotency_key_hash'] },
  scoped: [],
  reads: {
    list_refunds: {
      verb: 'list',
      answers: answers({ charge_hash: ['charge', 'charge.id'] }),
      arguments: ['limit'],
    },
  },
}
