/** `observed_confirmed`: which later reads count, which contradict, and which show nothing. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as receipt from '../../../lib/receipt/index.ts'

type Step = {
  tool: string
  args: Record<string, unknown>
  reply?: Record<string, unknown>
  failed?: boolean
  run?: string
}

const place = { owner: 'org', repo: 'prod-repo' }
const add = (title = 'ci-key', more = {}): Step => ({
  tool: 'add_deploy_key',
  args: { ...place, title, key: 'ssh', ...more },
})
const remove = (id: number): Step => ({ tool: 'delete_deploy_key', args: { ...place, key_id: id } })
const list = (...keys: (string | [number, string, boolean?])[]): Step => ({
  tool: 'list_deploy_keys',
  args: place,
  reply: {
    result: keys.map((key, i) => {
      const [id, title, read_only = true] = typeof key === 'string' ? [i + 1, key] : key
      return { id, title, read_only, fingerprint: 'SHA256:x' }
    }),
  },
})

function rows(steps: Step[]) {
  const decisions = steps.map(
    ({ tool, args, reply = { ok: true }, failed = false, run = 'run' }, seq) =>
      receipt.observe({
        server: 'github',
        tool,
        arguments: args,
        status: failed ? 'error' : 'success',
        result: { content: [], structuredContent: reply },
        runId: run,
        seq,
      }),
  )
  return receipt.verify(decisions).calls.toSorted((a, b) => (a.seq ?? 0) - (b.seq ?? 0))
}

const cases: [title: string, steps: Step[], level: string, contradiction?: string][] = [
  ['a later list that shows the key confirms', [add(), list('ci-key')], 'observed_confirmed'],
  [
    'a title is compared byte for byte',
    [add('CI-Key'), list('ci-key')],
    'asserted',
    'read_shows_other_value',
  ],
  [
    'the write’s own echo confirms nothing',
    [{ ...add(), reply: { result: [{ id: 1, title: 'ci-key' }] } }],
    'asserted',
  ],
  [
    'an earlier list confirms nothing',
    [add('other'), list('other', 'ci-key'), add()].slice(1),
    'asserted',
  ],
  [
    'a list of another run confirms nothing',
    [add(), { ...list('ci-key'), run: 'other' }],
    'asserted',
  ],
  ['a list that failed confirms nothing', [add(), { ...list('ci-key'), failed: true }], 'asserted'],
  [
    'a list that says ok: false confirms nothing',
    [add(), { ...list('ci-key'), reply: { message: 'Not Found', items: [{ title: 'ci-key' }] } }],
    'asserted',
  ],
  [
    'a list of another repository confirms nothing',
    [add(), { ...list('ci-key'), args: { owner: 'org', repo: 'other' } }],
    'asserted',
  ],
  [
    'a whole list without the key contradicts',
    [add(), list('other')],
    'asserted',
    'read_does_not_show',
  ],
  ['an empty whole list contradicts', [add(), list()], 'asserted', 'read_does_not_show'],
  [
    'a page without the key shows nothing',
    [add(), { ...list('other'), args: { ...place, page: 2 } }],
    'asserted',
  ],
  [
    'a list with a next cursor shows nothing by absence',
    [add(), { ...list('other'), reply: { items: [], next_cursor: 'x' } }],
    'asserted',
  ],
  [
    'a page with the key confirms',
    [add(), { ...list('ci-key'), args: { ...place, page: 2 } }],
    'observed_confirmed',
  ],
  [
    'a key that was there before shows nothing',
    [list('ci-key'), add(), list('ci-key')],
    'asserted',
    'already_there',
  ],
  [
    'a second key of the same title beside the first confirms',
    [list('ci-key'), add(), list('ci-key', 'ci-key')],
    'observed_confirmed',
  ],
  [
    'a list before without the key and a list after with it confirms',
    [list(), add(), list('ci-key')],
    'observed_confirmed',
  ],
  [
    'a removal before the read is a contradiction',
    [add(), remove(1), list()],
    'asserted',
    'undone_before_read',
  ],
  [
    'a removal of an unknown id before the read leaves it open which key is shown',
    [add(), remove(9), list('ci-key')],
    'asserted',
    'undone_before_read',
  ],
  [
    'a removal that a list links to another title undoes nothing',
    [list([9, 'old']), add(), remove(9), list('ci-key')],
    'observed_confirmed',
  ],
  [
    'a removal that failed undoes nothing',
    [add(), { ...remove(1), failed: true }, list('ci-key')],
    'observed_confirmed',
  ],
  [
    'a removal after the confirming read takes nothing back',
    [add(), list('ci-key'), remove(1), list()],
    'observed_confirmed',
  ],
  [
    'a removal and a second write: the second is confirmed',
    [list('ci-key'), remove(1), add(), list([2, 'ci-key'])],
    'observed_confirmed',
  ],
  [
    'shown, then gone without a removal: confirmed, and contradicted',
    [add(), list('ci-key'), list()],
    'observed_confirmed',
    'later_read_does_not_show',
  ],
  [
    'a late read confirms, with the earlier one reported',
    [add(), list(), list('ci-key')],
    'observed_confirmed',
    'earlier_read_does_not_show',
  ],
  [
    'another read_only is a contradiction',
    [add('ci-key', { read_only: true }), list([1, 'ci-key', false])],
    'asserted',
    'read_shows_other_value',
  ],
  [
    'the same read_only confirms',
    [add('ci-key', { read_only: false }), list([1, 'ci-key', false])],
    'observed_confirmed',
  ],
  ['prose is no evidence', [add(), { ...list(), reply: undefined as never }], 'asserted'],
]

for (const [title, steps, level, contradiction] of cases) {
  test(title, () => {
    const write = rows(steps)
      .filter((row) => row.tool === 'add_deploy_key')
      .at(-1)
    assert.equal(write?.level, level)
    assert.deepEqual(
      write?.contradictions.map((one) => one.kind),
      contradiction ? [contradiction] : [],
    )
    assert.equal(write?.verification_source, level === 'asserted' ? null : 'observed_read_followup')
  })
}

test('two equal writes and one shown key: neither is confirmed, since which it is cannot be told', () => {
  const [first, second] = rows([add(), add(), list('ci-key')])
  assert.equal(first?.level, 'asserted')
  assert.equal(second?.level, 'asserted')
  assert.equal(second?.contradictions[0]?.kind, 'too_few_shown')
})

test('a removal is confirmed by a whole list without the key, contradicted by one with it', () => {
  const level = (steps: Step[]) => rows(steps).find((row) => row.tool === 'delete_deploy_key')
  assert.equal(level([list([7, 'old']), remove(7), list()])?.level, 'observed_confirmed')
  assert.equal(level([remove(7), list([8, 'old'])])?.level, 'observed_confirmed')
  assert.equal(level([remove(7), list([7, 'old'])])?.contradictions[0]?.kind, 'read_still_shows')
  assert.equal(level([list(), remove(7), list()])?.contradictions[0]?.kind, 'already_absent')
  assert.equal(level([remove(7)])?.level, 'asserted')
})

test('two decisions at one place of a run: neither is confirmed, and both say why', () => {
  const [a] = rows([add()])
  assert.ok(a)
  const write = receipt.observe({
    server: 's',
    tool: 'add_deploy_key',
    arguments: add().args,
    status: 'success',
    runId: 'run',
    seq: 0,
  })
  const read = receipt.observe({
    server: 's',
    tool: 'list_deploy_keys',
    arguments: place,
    status: 'success',
    result: { structuredContent: list('ci-key').reply },
    runId: 'run',
    seq: 1,
  })
  const calls = receipt.verify([write, write, read]).calls.filter((row) => row.kind === 'write')
  assert.deepEqual(
    calls.map((row) => row.level),
    ['asserted', 'asserted'],
  )
  assert.ok(calls.every((row) => row.findings.some((one) => one.kind === 'sequence_repeated')))
})

test('a read verb that no classifier declares is no read: its level is its own', () => {
  const fake = {
    ...receipt.observe({
      server: 's',
      tool: 'list_deploy_keys',
      arguments: place,
      status: 'success',
      result: { structuredContent: list('ci-key').reply },
      runId: 'run',
      seq: 1,
    }),
  }
  const write = receipt.observe({
    server: 's',
    tool: 'add_deploy_key',
    arguments: add().args,
    status: 'success',
    runId: 'run',
    seq: 0,
  })
  fake.action = { ...fake.action, verb: 'create' }
  assert.equal(receipt.verify([write, fake]).calls[0]?.level, 'asserted')
})

for (const [name, steps] of Object.entries({
  collaborator: [
    { tool: 'add_collaborator', args: { ...place, username: 'Bob', permission: 'push' } },
    {
      tool: 'list_collaborators',
      args: place,
      reply: { ok: true, collaborators: [{ username: 'bob', permission: 'push' }] },
    },
  ],
  'slack member': [
    { tool: 'slack.invite', args: { channel: 'C1', user: 'U1' } },
    { tool: 'slack.list_members', args: { channel: 'C1' }, reply: { members: ['U1', 'U2'] } },
  ],
  'workspace role': [
    { tool: 'change_role', args: { workspace: 'acme', user: 'bob', role: 'admin' } },
    {
      tool: 'list_roles',
      args: { workspace: 'acme' },
      reply: { roles: [{ user: 'bob', role: 'admin' }] },
    },
  ],
  charge: [
    {
      tool: 'create_charge',
      args: { amount: 500, currency: 'usd', customer: 'cus_1', idempotency_key: 'k1' },
    },
    {
      tool: 'list_charges',
      args: {},
      reply: { object: 'list', data: [{ amount: 500, currency: 'usd', customer: 'cus_1' }] },
    },
  ],
  refund: [
    { tool: 'create_refund', args: { charge: 'ch_1', amount: 500 } },
    {
      tool: 'list_refunds',
      args: {},
      reply: { object: 'list', data: [{ charge: 'ch_1', amount: 500 }] },
    },
  ],
} satisfies Record<string, Step[]>)) {
  test(`a ${name} is confirmed by its own read, and not by one that shows something else`, () => {
    assert.equal(rows(steps)[0]?.level, 'observed_confirmed')
    const other = structuredClone(steps)
    const reply = other[1]?.reply as Record<string, unknown[]>
    const items = Object.entries(reply).find(([, value]) => Array.isArray(value)) as [
      string,
      unknown[],
    ]
    reply[items[0]] = []
    assert.equal(rows(other)[0]?.level, 'asserted')
  })
}

test('what another run reads neither confirms nor contradicts', () => {
  const own = { ...list(), args: { ...place, page: 2 } }
  const [write] = rows([
    add(),
    own,
    { ...list('ci-key'), run: 'other' },
    { ...add('x'), run: 'other' },
  ])
  assert.equal(write?.level, 'asserted')
  assert.deepEqual(write?.contradictions, [])
  const [second] = rows([
    add(),
    list('ci-key'),
    { ...list(), run: 'other' },
    { ...add('x'), run: 'other' },
  ])
  assert.equal(second?.level, 'observed_confirmed')
})

test('two reads at one place of a run confirm nothing', () => {
  const observed = (tool: string, seq: number, args: object, reply: object) =>
    receipt.observe({
      server: 's',
      tool,
      arguments: args,
      status: 'success',
      result: { structuredContent: reply },
      runId: 'run',
      seq,
    })
  const read = observed('list_deploy_keys', 1, place, list('ci-key').reply ?? {})
  const write = observed('add_deploy_key', 0, add().args, {})
  assert.equal(receipt.verify([write, read]).calls[0]?.level, 'observed_confirmed')
  assert.equal(receipt.verify([write, read, read]).calls[0]?.level, 'asserted')
})

test('a stored observed_confirmed without such a read is an overclaim', () => {
  const write = receipt.observe({
    server: 's',
    tool: 'add_deploy_key',
    arguments: add().args,
    status: 'success',
    runId: 'run',
    seq: 0,
  })
  write.response.side_effect.level = 'observed_confirmed'
  assert.ok(receipt.verify([write]).calls[0]?.findings.some((one) => one.kind === 'overclaim'))
})

test('a read of another provider shows nothing, on the same server too', () => {
  const [write, read] = [add(), list('ci-key')].map(({ tool, args, reply }, seq) =>
    receipt.observe({
      server: 's',
      tool,
      arguments: args,
      status: 'success',
      ...(reply && { result: { structuredContent: reply } }),
      runId: 'run',
      seq,
    }),
  ) as [receipt.Decision, receipt.Decision]
  const level = (one: receipt.Decision) => receipt.verify([write, one]).calls[0]?.level
  assert.equal(level(read), 'observed_confirmed')
  const target = { ...(read.action.target as object), provider: 'gitlab' }
  assert.equal(level({ ...read, action: { ...read.action, target } }), 'asserted')
})

test('a call that does not say the value that a read would show is confirmed by none', () => {
  const lamp: receipt.Classifier = {
    category: 'lamp',
    provider: 'lamps',
    resource_type: 'lamp',
    class: 'change',
    scope: 'lamps:write',
    irreversibility: 'two_way',
    reason_code: 'classified_lamp',
    tools: { set_lamp: 'set' },
    fields: [
      { name: 'lamp', kind: 'text', from: ['lamp'] },
      { name: 'colour', kind: 'text', from: ['colour'] },
    ],
    required: [{ fields: ['lamp'], detail: 'missing_lamp' }],
    binding: { all: ['lamp'], any: ['colour'] },
    scoped: [],
    effects: {
      set: {
        shown: { by: 'value', reads: ['list_lamps'], member: 'colour' },
        recorded: { none: 'no log' },
      },
    },
    reads: { list_lamps: { verb: 'list', answers: [{ items: 'lamps' }] } },
  }
  receipt.classifier(lamp)
  assert.throws(
    () => receipt.classifier({ ...lamp, binding: { all: ['lamp'], agree: ['colour'] } }),
    { code: 'classifier_invalid', message: /enters the digest.*shown\.member/ },
  )
  const level = (args: object) =>
    rows([
      { tool: 'set_lamp', args: { lamp: 'a', ...args } },
      { tool: 'list_lamps', args: {}, reply: { lamps: [{ lamp: 'a', colour: 'red' }] } },
    ])[0]?.level
  assert.equal(level({}), 'asserted')
  assert.equal(level({ colour: 'green' }), 'asserted')
  assert.equal(level({ colour: 'red' }), 'observed_confirmed')
})

test('a call that was not handed in is a finding of its run, whether or not a level rests on it', () => {
  const call = (seq: number, runId: string) =>
    receipt.observe({
      server: 's',
      tool: 'add_deploy_key',
      arguments: add().args,
      status: 'success',
      runId,
      seq,
    })
  const missing = (calls: receipt.Decision[]) =>
    receipt.verify(calls).findings.find(({ kind }) => kind === 'calls_missing')
  assert.equal(missing([call(0, 'a'), call(1, 'a'), call(0, 'b')]), undefined)
  const found = missing([call(0, 'a'), call(2, 'a'), call(1, 'b')])
  assert.deepEqual(
    [found?.severity, found?.at.map(({ run_id, seq }) => [run_id, seq])],
    [
      'warning',
      [
        ['a', 1],
        ['b', 0],
      ],
    ],
  )
})
