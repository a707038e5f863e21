/** The whole way over each simulated provider: its tools' answers become decisions, its own export becomes records, and they meet. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import * as receipt from '../../lib/receipt/index.ts'
import { World, worldNamed } from '../../lib/world/index.ts'

type Call = [tool: string, input: Record<string, unknown>]

/** Carry out calls in a fresh world. A lying world answers as if it had kept the change, and keeps nothing. */
function carry(name: string, state: object, calls: Call[], lying = false) {
  const world = new World(worldNamed(name), state)
  const decisions = calls.map(([tool, input], seq) => {
    const { reply, isError } = world.call(tool, input, lying ? { keep: (present) => present } : {})
    const status = isError ? 'error' : 'success'
    return receipt.observe({
      server: name,
      tool,
      arguments: input,
      status,
      result: Array.isArray(reply)
        ? { content: [{ type: 'text', text: JSON.stringify(reply) }] }
        : { structuredContent: reply },
      runId: 'r',
      seq,
    })
  })
  return { decisions, bytes: world.audit() }
}

const place = { owner: 'org', repo: 'prod-repo' }
const github = { repos: [{ owner: 'org', name: 'prod-repo' }] }
const slack = { channels: [{ id: 'C1', name: 'general' }], users: [{ id: 'U1', name: 'Dana' }] }
const workspace = { people: [{ id: 'bob@acme.example', name: 'Bob' }] }
const payments = {
  customers: [{ id: 'cus_1', name: 'Ines' }],
  charges: [{ id: 'ch_1', customer: 'cus_1', amount: 900, currency: 'eur' }],
}
const bob = { workspace: 'acme', principal: 'bob@acme.example', role: 'user_admin' }

const ways: [provider: string, world: string, state: object, write: Call, read: Call][] = [
  [
    'github',
    'github',
    github,
    ['add_deploy_key', { ...place, title: 'ci', key: 'ssh-ed25519 AAAA', read_only: true }],
    ['list_deploy_keys', place],
  ],
  [
    'github',
    'github',
    github,
    ['add_collaborator', { ...place, username: 'bob', permission: 'push' }],
    ['list_collaborators', place],
  ],
  [
    'slack',
    'slack',
    slack,
    ['add_member', { channel: 'C1', user: 'U1' }],
    ['list_members', { channel: 'C1' }],
  ],
  ['okta', 'workspace', workspace, ['grant_admin', bob], ['list_roles', { workspace: 'acme' }]],
  [
    'stripe',
    'payments',
    payments,
    ['create_charge', { customer: 'cus_1', amount: 500, currency: 'eur', idempotency_key: 'k-1' }],
    ['list_charges', {}],
  ],
  [
    'stripe',
    'payments',
    payments,
    ['create_refund', { charge: 'ch_1', amount: 100, idempotency_key: 'k-2' }],
    ['list_refunds', {}],
  ],
]

for (const [provider, world, state, write, read] of ways) {
  describe(`${world}: ${write[0]}`, () => {
    test('the world’s own export verifies the call', () => {
      const { decisions, bytes } = carry(world, state, [write])
      assert.equal(decisions[0]?.response.status, 'success')
      const [row] = receipt.verify(decisions, { audit: { provider, bytes } }).calls
      assert.equal(row?.level, 'verified', row?.why_not_higher ?? '')
    })

    test('a later read confirms it without any export', () => {
      const [row] = receipt.verify(carry(world, state, [write, read]).decisions).calls
      assert.equal(
        row?.level,
        'observed_confirmed',
        JSON.stringify(row?.contradictions) + row?.why_not_higher,
      )
    })

    test('a lying success stays asserted, and the read contradicts it', () => {
      const { decisions, bytes } = carry(world, state, [write, read], true)
      const [row] = receipt.verify(decisions, { audit: { provider, bytes } }).calls
      assert.equal(row?.level, 'asserted')
      assert.equal(row?.contradictions[0]?.kind, 'read_does_not_show')
    })
  })
}

test('one charge under one idempotency key, asked twice, is one effect: of which call cannot be told', () => {
  const charge: Call = [
    'create_charge',
    { customer: 'cus_1', amount: 500, currency: 'eur', idempotency_key: 'k-1' },
  ]
  const { decisions, bytes } = carry('payments', payments, [charge, charge])
  const { calls, counts } = receipt.verify(decisions, { audit: { provider: 'stripe', bytes } })
  assert.equal(counts.levels.verified, 0)
  assert.deepEqual(
    calls.map((row) => row.allocation),
    ['ambiguous', 'ambiguous'],
  )
})
