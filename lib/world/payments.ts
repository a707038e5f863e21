/**
 * A simulated payment account in Stripe's manner: charges, refunds, and idempotency keys that are
 * honoured.
 *
 * Its log is the list of events as Stripe hands it out. Amounts are in the smallest unit of their
 * currency, as everywhere there.
 */
import { hash } from 'node:crypto'
import { z } from 'zod'
import type { JsonObject } from '../json.ts'
import type { AuditEntry, Change, Clock, Row, Step, WorldDefinition } from './world.ts'

const key = z.string().min(1).max(255)
const customer = z.strictObject({
  id: z.string().describe('Such as cus_ines.'),
  name: z.string(),
  email: z.string().default(''),
  note: z.string().default(''),
})
const charge = z.strictObject({
  id: z.string(),
  customer: z.string(),
  amount: z.number().int().min(1),
  currency: z.string().default('eur'),
  description: z.string().default(''),
  idempotency_key: key.nullable().default(null),
})
const refund = z.strictObject({
  id: z.string(),
  charge: z.string(),
  amount: z.number().int().min(1),
  idempotency_key: key.nullable().default(null),
})
const state = z.strictObject({
  customers: z.array(customer).default([]),
  charges: z.array(charge).default([]),
  refunds: z.array(refund).default([]),
})
type Payments = z.output<typeof state>
type Charge = Payments['charges'][number]
type Refund = Payments['refunds'][number]

const idempotency_key = key
  .optional()
  .describe(
    'The same key with the same arguments gives the first answer again and does nothing twice.',
  )
const fail = (error: string): Step<Payments> => ({ reply: { ok: false, error }, isError: true })
const refunded = (account: Payments, id: string) =>
  account.refunds.filter((row) => row.charge === id).reduce((sum, row) => sum + row.amount, 0)
/** Stripe's lists say `has_more`; the next page begins behind the id of the last item. */
const paged = {
  limit: z.number().int().min(1).max(100).default(10).describe('Items a page.'),
  starting_after: z.string().optional().describe('Id of the last item of the page before.'),
}
function listOf<T extends { id: string }>(
  name: string,
  rows: readonly T[],
  { limit, starting_after }: { limit: number; starting_after?: string },
  shown: (row: T) => JsonObject,
): Step<Payments> {
  const newest = rows.toReversed()
  const at = newest.findIndex((row) => row.id === starting_after) + 1
  if (starting_after !== undefined && at === 0) return fail(`No such object: ${starting_after}`)
  const data = newest.slice(at, at + limit).map(shown)
  const has_more = newest.length > at + limit
  return { reply: { object: 'list', url: `/v1/${name}`, has_more, data } }
}
const chargeShown = (account: Payments, row: Charge) => ({
  id: row.id,
  customer: row.customer,
  amount: row.amount,
  currency: row.currency,
  description: row.description,
  amount_refunded: refunded(account, row.id),
})
const echoed = (used: string | null): JsonObject => (used === null ? {} : { idempotency_key: used })
const CONFLICT =
  'Keys for idempotent requests can only be used with the same parameters they were first used with.'

export const payments: WorldDefinition<Payments> = {
  name: 'payments',
  provider: 'stripe',
  summary: 'A payment account with customers, charges, refunds and idempotency keys.',
  state,
  tools: {
    list_customers: {
      description: 'List the customers.',
      input: z.strictObject({}),
      run: (account) => ({ reply: { ok: true, customers: account.customers } }),
    },
    list_charges: {
      description: 'List the charges.',
      input: z.strictObject(paged),
      run: (account, input) =>
        listOf('charges', account.charges, input, (row) => chargeShown(account, row)),
    },
    get_charge: {
      description: 'Get a charge.',
      input: z.strictObject({ charge: z.string().describe('Id of the charge.') }),
      run(account, input) {
        const row = account.charges.find((one) => one.id === input.charge)
        return row
          ? { reply: { ok: true, charge: chargeShown(account, row) } }
          : fail(`No such charge: ${input.charge}`)
      },
    },
    create_charge: {
      description: 'Charge a customer.',
      input: z.strictObject({
        customer: z.string().describe('Id of the customer.'),
        amount: z
          .number()
          .int()
          .min(1)
          .describe('In the smallest unit of the currency, such as cents.'),
        currency: z
          .string()
          .regex(/^[a-z]{3}$/)
          .describe('Three small letters, such as eur.'),
        description: z.string().default(''),
        idempotency_key,
      }),
      run(account, { idempotency_key: given, ...asked }, clock) {
        const used = given ?? null
        if (!account.customers.some((row) => row.id === asked.customer))
          return fail(`No such customer: ${asked.customer}`)
        const known =
          used === null ? undefined : account.charges.find((row) => row.idempotency_key === used)
        if (known) {
          const isSame =
            known.customer === asked.customer &&
            known.amount === asked.amount &&
            known.currency === asked.currency
          if (!isSame) return fail(CONFLICT)
          return { reply: { ok: true, charge: chargeShown(account, known), ...echoed(used) } }
        }
        const row: Charge = { id: `ch_${clock.nextId()}`, ...asked, idempotency_key: used }
        const next = { ...account, charges: [...account.charges, row] }
        return { state: next, reply: { ok: true, charge: chargeShown(next, row), ...echoed(used) } }
      },
      effect: ({ customer, amount, currency }) => ({
        op: 'create',
        table: 'charges',
        where: { customer, amount, currency },
      }),
    },
    list_refunds: {
      description: 'List the refunds.',
      input: z.strictObject(paged),
      run: (account, input) =>
        listOf('refunds', account.refunds, input, ({ id, charge, amount }) => ({
          object: 'refund',
          id,
          charge,
          amount,
          status: 'succeeded',
        })),
    },
    create_refund: {
      description: 'Refund a charge, in whole or in part.',
      input: z.strictObject({
        charge: z.string().describe('Id of the charge.'),
        amount: z.number().int().min(1).describe('In the smallest unit of the currency.'),
        idempotency_key,
      }),
      run(account, { charge, amount, idempotency_key: given }, clock) {
        const used = given ?? null
        const paid = account.charges.find((row) => row.id === charge)
        if (!paid) return fail(`No such charge: ${charge}`)
        const known =
          used === null ? undefined : account.refunds.find((row) => row.idempotency_key === used)
        if (known) {
          if (known.charge !== charge || known.amount !== amount) return fail(CONFLICT)
          return { reply: { ok: true, refund: { id: known.id, charge, amount }, ...echoed(used) } }
        }
        const left = paid.amount - refunded(account, charge)
        if (amount > left)
          return fail(
            `Refund amount (${amount}) is greater than unrefunded amount on charge (${left})`,
          )
        const row: Refund = { id: `re_${clock.nextId()}`, charge, amount, idempotency_key: used }
        return {
          state: { ...account, refunds: [...account.refunds, row] },
          reply: { ok: true, refund: { id: row.id, charge, amount }, ...echoed(used) },
        }
      },
      effect: ({ charge, amount }) => ({
        op: 'create',
        table: 'refunds',
        where: { charge, amount },
      }),
    },
  },
  audit: (changes, clock) =>
    changes.map((change) => event(change, clock)).filter((made) => made !== null),
  exportAudit: (entries) =>
    `${JSON.stringify({ object: 'list', url: '/v1/events', has_more: false, data: entries.toReversed() }, null, 1)}\n`,
}

/** An Event object. `request` names the API request and the caller's key, as Stripe keeps them. */
function event({ op, table, after }: Change, clock: Clock): AuditEntry | null {
  if (op !== 'create' || after === null || (table !== 'charges' && table !== 'refunds')) return null
  const created = Math.floor(clock.now().getTime() / 1000)
  const n = clock.nextId()
  const name = (prefix: string) =>
    `${prefix}_${hash('sha256', `${prefix}:${created}:${n}`, 'hex').slice(0, 24)}`
  const { idempotency_key: used = null, ...row } = after as Row
  return {
    id: name('evt'),
    object: 'event',
    api_version: '2025-03-31.basil',
    created,
    type: table === 'charges' ? 'charge.succeeded' : 'refund.created',
    livemode: true,
    pending_webhooks: 0,
    request: { id: name('req'), idempotency_key: used },
    data: {
      object: {
        ...row,
        object: table === 'charges' ? 'charge' : 'refund',
        status: 'succeeded',
        created,
      },
    },
  }
}
