/**
 * Evidence that looks like proof and is none: in providers' own shapes, one row each. No row raises a level, and each row's
 * twin, the same with the one thing changed that is wrong with it, does. So a row cannot pass because nothing is promoted.
 */
import assert from 'node:assert/strict'
import { createSign, generateKeyPairSync } from 'node:crypto'
import { describe, test } from 'node:test'
import type { JsonObject } from '../../../lib/json.ts'
import * as receipt from '../../../lib/receipt/index.ts'

type Step = {
  tool: string
  args?: JsonObject
  /** What the tool answered: text of JSON, as most servers send it. */
  reply?: unknown
  server?: string
  status?: receipt.CallStatus
  at?: string
  actor?: string
  effect?: 'allow' | 'deny'
  seq?: number
}
type Told = { steps: Step[]; audit?: receipt.Audit; options?: receipt.VerifyOptions }
type Row = [what: string, wrong: Told, right: Told, finding?: string | RegExp]

const log = (provider: string, ...entries: unknown[]): receipt.Export => ({
  provider,
  bytes: JSON.stringify(entries),
})

function reportOf({ steps, audit, options }: Told): receipt.Report {
  const calls = steps.map((step, i) =>
    receipt.observe({
      server: step.server ?? 'one',
      tool: step.tool,
      arguments: step.args ?? {},
      status: step.status ?? 'success',
      ...(step.effect && { effect: step.effect }),
      ...(step.at && { at: step.at }),
      ...(step.actor && { actor: step.actor }),
      ...(step.reply !== undefined && {
        result: { content: [{ type: 'text', text: JSON.stringify(step.reply) }] },
      }),
      runId: 'run',
      seq: step.seq ?? i,
    }),
  )
  return receipt.verify(calls, { ...options, ...(audit && { audit }) })
}

/** The best level of any write. */
function best(report: receipt.Report): string {
  const { levels } = report.counts
  return levels.verified ? 'verified' : levels.observed_confirmed ? 'observed_confirmed' : 'none'
}

function prove(level: string, rows: Row[]): void {
  for (const [what, wrong, right, finding] of rows)
    test(`${what} raises nothing`, () => {
      const report = reportOf(wrong)
      assert.equal(best(report), 'none', report.text())
      if (finding !== undefined)
        assert.ok(
          [...report.calls.flatMap((row) => [...row.findings, ...row.rejections])]
            .map((one) => ('kind' in one ? one.kind : one.reason))
            .some((kind) => (finding instanceof RegExp ? finding.test(kind) : finding === kind)),
          report.text(),
        )
      assert.equal(best(reportOf(right)), level, 'the twin is to be promoted')
    })
}

const pod = (name: string, more: object = {}) => ({
  metadata: { name, namespace: 'x', uid: `uid-${name}`, ...more },
  spec: { containers: [] },
  status: { phase: 'Running' },
})
const pods = (items: unknown[], metadata: object = { resourceVersion: '812' }) => ({
  kind: 'PodList',
  apiVersion: 'v1',
  metadata,
  items,
})
const k8s = { namespace: 'x', resource: 'pods' }
const kill: Step = { tool: 'delete_object', args: { ...k8s, name: 'p9' }, server: 'k8s' }
const make: Step = { tool: 'create_object', args: { ...k8s, name: 'p9' }, server: 'k8s' }
const podList = (reply: unknown, args: JsonObject = {}, server = 'k8s'): Step => ({
  tool: 'list_objects',
  args: { ...k8s, ...args },
  reply,
  server,
})
const gone = { steps: [kill, podList(pods([pod('p1')]))] }
const made = { steps: [make, podList(pods([pod('p9')]))] }

const channel = { channel: 'C024BE91L' }
const kick: Step = { tool: 'remove_member', args: { ...channel, user: 'U023BECGF' } }
const join: Step = { tool: 'add_member', args: { ...channel, user: 'U023BECGF' } }
const slackList = (reply: unknown): Step => ({ tool: 'list_members', args: channel, reply })
const kicked = {
  steps: [
    kick,
    slackList({ ok: true, members: ['U061F7AUR'], response_metadata: { next_cursor: '' } }),
  ],
}

const repo = { owner: 'org', repo: 'prod-repo' }
const leave: Step = { tool: 'remove_collaborator', args: { ...repo, username: 'bob' } }
const people = (reply: unknown, args: JsonObject = {}): Step => ({
  tool: 'list_collaborators',
  args: { ...repo, ...args },
  reply,
})
const person = (login: string) => ({ login, id: 7, type: 'User', site_admin: false })
const left = { steps: [leave, people([person('ann')])] }

const key: Step = {
  tool: 'add_deploy_key',
  args: { ...repo, title: 'ci-key', key: 'ssh-ed25519 AAAA', read_only: true },
}
const keys = (reply: unknown, args: JsonObject = {}): Step => ({
  tool: 'list_deploy_keys',
  args: { ...repo, ...args },
  reply,
})
const listedKey = (title: string, more: object = {}) => ({
  id: 1,
  key: 'ssh-ed25519 AAAA',
  url: 'https://api.github.com/repos/org/prod-repo/keys/1',
  title,
  verified: true,
  created_at: '2026-01-05T09:00:00Z',
  read_only: true,
  ...more,
})
const keyed = { steps: [key, keys([listedKey('ci-key')])] }

const token: Step = {
  tool: 'create_workspace_token',
  args: { workspace: 'acme', principal: 'bob', name: 'ci' },
}
const tokens: Step = {
  tool: 'list_tokens',
  args: { workspace: 'acme' },
  reply: { ok: true, tokens: [{ id: 't1', principal: 'bob', name: 'ci' }] },
}
const noTokens: Step = { ...tokens, reply: { ok: true, tokens: [] } }
const revoke: Step = {
  tool: 'revoke_workspace_token',
  args: { workspace: 'acme', principal: 'bob', token_id: 't1' },
}
const roles = (list: object[]): Step => ({
  tool: 'list_roles',
  args: { workspace: 'acme' },
  reply: { ok: true, roles: list },
})
const promote: Step = {
  tool: 'change_role',
  args: { workspace: 'acme', user: 'bob', role: 'admin' },
}
const promoted = { steps: [promote, roles([{ user: 'bob', role: 'admin' }])] }

/** The write and reads that show it, answered at these times. */
const dated = (write: string, ...reads: string[]): Told => ({
  steps: [{ ...key, at: write }, ...reads.map((at) => ({ ...keys([listedKey('ci-key')]), at }))],
})

describe('what was not understood is not absent', () => {
  prove('observed_confirmed', [
    [
      'a PodList that still holds the pod under metadata.name',
      { steps: [kill, podList(pods([pod('p9')]))] },
      gone,
      'read_still_shows',
    ],
    [
      'a PodList with metadata.continue',
      {
        steps: [kill, podList(pods([pod('p1')], { continue: 'eyJ2', remainingItemCount: 500 }))],
      },
      gone,
    ],
    [
      'a PodList with remainingItemCount alone',
      { steps: [kill, podList(pods([pod('p1')], { remainingItemCount: 3 }))] },
      gone,
    ],
    [
      'a list that a label selected',
      { steps: [kill, podList(pods([]), { labelSelector: 'app=web' })] },
      gone,
    ],
    [
      'a Status in place of a list',
      { steps: [kill, podList({ kind: 'Status', code: 403 })] },
      gone,
    ],
    ['an empty object', { steps: [kill, podList({})] }, gone],
    ['prose', { steps: [kill, podList('No resources found in x namespace.')] }, gone],
    ['a Table in place of a list', { steps: [kill, podList({ kind: 'Table', rows: [] })] }, gone],
    [
      'an item without metadata.name',
      { steps: [kill, podList(pods([{ name: 'p1' }, { metadata: {} }]))] },
      gone,
    ],
    [
      'a list with a warning below a member',
      { steps: [kill, podList({ ...pods([]), metadata: { warnings: ['partial result'] } })] },
      gone,
    ],
    ['a list inside a list', { steps: [kill, podList({ items: [pods([pod('p1')])] })] }, gone],
    [
      'a Slack list with a cursor',
      {
        steps: [
          kick,
          slackList({
            ok: true,
            members: ['U061F7AUR'],
            response_metadata: { next_cursor: 'dXNlcjpVMDYx' },
          }),
        ],
      },
      kicked,
    ],
    [
      'a Slack list with ok: false',
      { steps: [kick, slackList({ ok: false, error: 'channel_not_found', members: [] })] },
      kicked,
    ],
    ['a Slack list that does not say ok', { steps: [kick, slackList({ members: [] })] }, kicked],
    [
      'a Slack list with a warning',
      {
        steps: [
          kick,
          slackList({ ok: true, members: [], warning: 'superfluous_charset', more: true }),
        ],
      },
      kicked,
    ],
    [
      'a list of nodes that still hold the login',
      { steps: [leave, people([{ node: { login: 'bob' } }])] },
      left,
    ],
    [
      'a GraphQL connection',
      { steps: [leave, people({ nodes: [], pageInfo: { hasNextPage: false } })] },
      left,
    ],
    [
      'a full page of 30',
      { steps: [leave, people(Array.from({ length: 30 }, (_, i) => person(`u${i}`)))] },
      left,
    ],
    ['the second page', { steps: [leave, people([person('ann')], { page: 2 })] }, left],
    [
      'a page of 1, asked for with per_page 1',
      { steps: [leave, people([person('ann')], { per_page: 1 })] },
      left,
    ],
    [
      'a list of one affiliation',
      { steps: [leave, people([person('ann')], { affiliation: 'outside' })] },
      left,
    ],
    [
      'an error document with an empty list',
      { steps: [leave, people({ message: 'Bad credentials', status: '401', collaborators: [] })] },
      left,
    ],
    ['logins under another name', { steps: [leave, people([{ user_name: 'bob', id: 7 }])] }, left],
  ])
})

describe('a read that shows something else confirms nothing', () => {
  prove('observed_confirmed', [
    [
      'the list of roles, for a token that was revoked',
      { steps: [revoke, roles([])] },
      { steps: [revoke, noTokens] },
    ],
    [
      'the list of roles, for a token that was made',
      { steps: [token, roles([{ user: 'bob', role: 'viewer' }])] },
      { steps: [token, tokens] },
    ],
    [
      'a token of another name',
      { steps: [{ ...token, args: { ...token.args, name: 'other' } }, tokens] },
      { steps: [token, tokens] },
    ],
    [
      'the object of an update, which was there before',
      { steps: [{ ...make, tool: 'update_object' }, podList(pods([pod('p9')]))] },
      made,
    ],
    [
      'the object of a patch',
      { steps: [{ ...make, tool: 'patch_object' }, podList(pods([pod('p9')]))] },
      made,
    ],
    [
      'a role that a read before the call showed too',
      {
        steps: [
          roles([{ user: 'bob', role: 'admin' }]),
          promote,
          roles([{ user: 'bob', role: 'admin' }]),
        ],
      },
      promoted,
      'already_there',
    ],
    [
      'a role that a list before the call may have shown, which could not be read',
      {
        steps: [
          {
            ...roles([]),
            reply: { ok: true, roles: [{ member: { user: 'bob', role: 'admin' } }] },
          },
          promote,
          roles([{ user: 'bob', role: 'admin' }]),
        ],
      },
      { steps: [roles([]), promote, roles([{ user: 'bob', role: 'admin' }])] },
    ],
    [
      'a removal of what the list before the call did not show',
      { steps: [people([person('ann')]), leave, people([person('ann')])] },
      { steps: [people([person('bob'), person('ann')]), leave, people([person('ann')])] },
      'already_absent',
    ],
    [
      'a removal of what the page before the call did not show',
      { steps: [people([person('ann')], { per_page: 1 }), leave, people([person('ann')])] },
      { steps: [people([person('bob')], { per_page: 1 }), leave, people([person('ann')])] },
    ],
    [
      'another role than the one that was set',
      { steps: [promote, roles([{ user: 'bob', role: 'viewer' }])] },
      promoted,
      'read_does_not_show',
    ],
    [
      'a key of the same title that may write',
      { steps: [key, keys([listedKey('ci-key', { read_only: false })])] },
      keyed,
    ],
    [
      'a list that says ok: false and shows the person',
      { steps: [join, slackList({ ok: false, members: ['U023BECGF'] })] },
      { steps: [join, slackList({ ok: true, members: ['U023BECGF'] })] },
    ],
    ['a title in another case', { steps: [key, keys([listedKey('CI-key')])] }, keyed],
    ['the write’s own answer', { steps: [{ ...key, reply: [listedKey('ci-key')] }] }, keyed],
    ['a read before the write', { steps: [keys([listedKey('ci-key')]), key] }, keyed],
    [
      'a read behind a gap',
      { steps: [key, { ...keys([listedKey('ci-key')]), seq: 2 }] },
      keyed,
      'sequence_gap',
    ],
    [
      'a read that is numbered after the write and dated a millisecond before it',
      dated('2026-01-01T00:10:00.000Z', '2026-01-01T00:09:59.999Z'),
      dated('2026-01-01T00:10:00.000Z', '2026-01-01T00:10:00.000Z'),
      'order_disputed',
    ],
    [
      'such a read, whatever a later one shows: the target may have been there already',
      dated('2026-01-01T00:10:00Z', '2026-01-01T00:00:00Z', '2026-01-01T00:11:00Z'),
      dated('2026-01-01T00:10:00Z', '2026-01-01T00:10:30Z', '2026-01-01T00:11:00Z'),
      'order_disputed',
    ],
    [
      'a list without the person that is dated before the removal',
      {
        steps: [
          { ...leave, at: '2026-01-01T00:10:00Z' },
          { ...people([person('ann')]), at: '2026-01-01T00:00:00Z' },
        ],
      },
      // Where one of them has no time, the numbers alone say what came later.
      { steps: [leave, { ...people([person('ann')]), at: '2026-01-01T00:00:00Z' }] },
      'order_disputed',
    ],
  ])
})

describe('a read of another place confirms nothing', () => {
  prove('observed_confirmed', [
    [
      'the same pod on another cluster',
      { steps: [{ ...make, server: 'k8s-prod' }, podList(pods([pod('p9')]), {}, 'k8s-test')] },
      {
        steps: [{ ...make, server: 'k8s-prod' }, podList(pods([pod('p9')]), {}, 'k8s-prod')],
      },
    ],
    [
      'an empty list of another cluster',
      { steps: [{ ...kill, server: 'k8s-prod' }, podList(pods([]), {}, 'k8s-test')] },
      { steps: [{ ...kill, server: 'k8s-prod' }, podList(pods([]), {}, 'k8s-prod')] },
    ],
    [
      'the list of another namespace',
      { steps: [kill, podList(pods([]), { namespace: 'y' })] },
      gone,
    ],
    [
      'an item of another namespace in a list of all',
      { steps: [make, podList(pods([pod('p9', { namespace: 'y' })]))] },
      made,
    ],
    ['another repository', { steps: [key, keys([listedKey('ci-key')], { repo: 'r2' })] }, keyed],
  ])
})

// Kubernetes audit events, as the API server writes them.
const event = (more: object = {}) => ({
  kind: 'Event',
  apiVersion: 'audit.k8s.io/v1',
  level: 'RequestResponse',
  auditID: 'a1b2',
  stage: 'ResponseComplete',
  requestURI: '/api/v1/namespaces/x/pods/p9',
  verb: 'delete',
  user: { username: 'ann', groups: ['system:authenticated'] },
  objectRef: { resource: 'pods', namespace: 'x', name: 'p9', apiVersion: 'v1' },
  responseStatus: { metadata: {}, code: 200 },
  stageTimestamp: '2026-01-05T09:00:01.000000Z',
  ...more,
})
const deleted = { steps: [kill], audit: log('kubernetes', event()) }
const k8sLog = (more: object): Told => ({ steps: [kill], audit: log('kubernetes', event(more)) })

// Stripe events.
const stripe = (type: string, object: object, more: object = {}) => ({
  id: `evt_${type}_${(more as { id?: string }).id ?? '1'}`,
  object: 'event',
  api_version: '2025-03-31.basil',
  created: 1767603600,
  livemode: true,
  type,
  request: { id: 'req_1', idempotency_key: null },
  data: { object },
  ...more,
})
const re = (status: string, more: object = {}) => ({
  id: 're_1',
  object: 'refund',
  amount: 500,
  charge: 'ch_1',
  currency: 'usd',
  status,
  ...more,
})
const ch = (more: object = {}) => ({
  id: 'ch_1',
  object: 'charge',
  amount: 500,
  currency: 'usd',
  customer: 'cus_AbC',
  paid: true,
  captured: true,
  status: 'succeeded',
  ...more,
})
const refund: Step = { tool: 'create_refund', args: { charge: 'ch_1', amount: 500 } }
const refunded = {
  steps: [refund],
  audit: log('stripe', stripe('refund.created', re('succeeded'))),
}
const charge = (more: JsonObject = {}): Step => ({
  tool: 'create_charge',
  args: { amount: 500, currency: 'usd', customer: 'cus_AbC', ...more },
})
const charged = { steps: [charge()], audit: log('stripe', stripe('charge.succeeded', ch())) }
const refundLog = (...entries: unknown[]): Told => ({
  steps: [refund],
  audit: log('stripe', ...entries),
})
const chargeLog = (object: object, more: object = {}): Told => ({
  steps: [charge()],
  audit: log('stripe', stripe('charge.succeeded', object, more)),
})

// GitHub's audit log.
const entry = (more: object = {}) => ({
  action: 'public_key.create',
  '@timestamp': Date.parse('2026-01-05T09:00:01Z'),
  _document_id: 'xJJFlFOhQ6b-5vaAFy9Rjw',
  actor: 'ann',
  repo: 'org/prod-repo',
  title: 'ci-key',
  read_only: 'true',
  fingerprint: 'SHA256:n',
  request_id: 'REQ-MINE',
  ...more,
})
const at = '2026-01-05T09:00:00Z'
const mine = { ...key, at, actor: 'ann', reply: { id: 1, request_id: 'REQ-MINE' } }
const logged = { steps: [mine], audit: log('github', entry()) }
const keyEntry = log('github', entry({ request_id: null }))
const keyLog = (more: object): Told => ({ steps: [mine], audit: log('github', entry(more)) })

describe('an entry’s type is not its outcome', () => {
  prove('verified', [
    ['a dry run in the body', k8sLog({ requestObject: { dryRun: ['All'] } }), deleted],
    [
      'a dry run in the address',
      k8sLog({ requestURI: '/api/v1/namespaces/x/pods/p9?gracePeriodSeconds=0&dryRun=All' }),
      deleted,
    ],
    [
      'a dry run in the address, percent-encoded',
      k8sLog({ requestURI: '/api/v1/namespaces/x/pods/p9?dry%52un=All' }),
      deleted,
    ],
    ['a refused request', k8sLog({ responseStatus: { status: 'Failure', code: 403 } }), deleted],
    [
      'a status Failure with a code 200',
      k8sLog({ responseStatus: { status: 'Failure', code: 200 } }),
      deleted,
    ],
    ['a deletion that was accepted', k8sLog({ responseStatus: { code: 202 } }), deleted],
    ['a request that was received', k8sLog({ stage: 'RequestReceived' }), deleted],
    [
      'a request that ended in a panic',
      { steps: [kill], audit: log('kubernetes', event(), event({ stage: 'Panic' })) },
      deleted,
    ],
    [
      'a deletion that waits for a finalizer',
      k8sLog({
        responseObject: pod('p9', {
          deletionTimestamp: '2026-01-05T09:00:01Z',
          finalizers: ['example.com/hold'],
        }),
      }),
      deleted,
    ],
    ['a pending refund', refundLog(stripe('refund.created', re('pending'))), refunded],
    [
      'a refund that needs an action',
      refundLog(stripe('refund.created', re('requires_action'))),
      refunded,
    ],
    [
      'a refund that failed later',
      refundLog(stripe('refund.created', re('succeeded')), stripe('refund.failed', re('failed'))),
      refunded,
    ],
    [
      'a refund that failed in another export',
      {
        steps: [refund],
        audit: [
          log('stripe', stripe('refund.created', re('succeeded'))),
          log('stripe', stripe('charge.refund.updated', re('failed'))),
        ],
      },
      refunded,
    ],
    [
      'a refund in test mode',
      refundLog(stripe('refund.created', re('succeeded'), { livemode: false })),
      refunded,
    ],
    ['a charge that was not captured', chargeLog(ch({ captured: false })), charged],
    ['a charge that was not paid', chargeLog(ch({ paid: false })), charged],
    ['a pending charge', chargeLog(ch({ status: 'pending' })), charged],
    ['a charge in test mode', chargeLog(ch(), { livemode: false }), charged],
    [
      'one refund that two exports name, for two calls',
      {
        steps: [refund, refund],
        audit: [
          log('stripe', stripe('refund.created', re('succeeded'))),
          log('stripe', stripe('refund.updated', re('succeeded'))),
        ],
      },
      {
        steps: [refund, refund],
        audit: [
          log('stripe', stripe('refund.created', re('succeeded'))),
          log('stripe', stripe('refund.updated', re('succeeded', { id: 're_2' }))),
        ],
      },
      'ambiguous',
    ],
    [
      'one refund that two events name, for two calls',
      {
        steps: [refund, refund],
        audit: log(
          'stripe',
          stripe('refund.created', re('succeeded')),
          stripe('refund.updated', re('succeeded')),
        ),
      },
      {
        steps: [refund, refund],
        audit: log(
          'stripe',
          stripe('refund.created', re('succeeded')),
          stripe('refund.created', re('succeeded', { id: 're_2' }), { id: 'evt_2' }),
        ),
      },
      'ambiguous',
    ],
  ])
})

describe('a record of another call is not this call’s', () => {
  prove('verified', [
    ['another request', keyLog({ request_id: 'REQ-OTHER' }), logged, 'request_differs'],
    ['another actor', keyLog({ actor: 'eve', request_id: null }), logged, 'actor_differs'],
    [
      'a year earlier',
      keyLog({ '@timestamp': Date.parse('2025-01-05T09:00:00Z'), request_id: null }),
      logged,
      'time_differs',
    ],
    [
      'a token of another name',
      {
        steps: [{ ...token, args: { ...token.args, name: 'other' } }],
        audit: tokenLog(),
      },
      { steps: [token], audit: tokenLog() },
    ],
    [
      'the log of another server',
      { steps: [{ ...key, server: 'one' }], audit: { ...keyEntry, server: 'two' } },
      { steps: [{ ...key, server: 'two' }], audit: { ...keyEntry, server: 'two' } },
      'server_differs',
    ],
    [
      'one entry that is given once with its server and once without, for two equal calls',
      { steps: [key, key], audit: [keyEntry, { ...keyEntry, server: 'one' }] },
      {
        steps: [key, { ...key, server: 'two' }],
        audit: [
          { ...keyEntry, server: 'two' },
          { ...keyEntry, server: 'one' },
        ],
      },
      'ambiguous',
    ],
    [
      'a refund that failed in the log of its server',
      {
        steps: [refund],
        audit: [
          { ...log('stripe', stripe('refund.created', re('succeeded'))), server: 'one' },
          { ...log('stripe', stripe('refund.failed', re('failed'))), server: 'one' },
        ],
      },
      {
        steps: [refund],
        audit: [
          { ...log('stripe', stripe('refund.created', re('succeeded'))), server: 'one' },
          { ...log('stripe', stripe('refund.failed', re('failed'))), server: 'two' },
        ],
      },
    ],
    ['another repository', keyLog({ repo: 'org/test-repo' }), logged],
    ['a key that may write', keyLog({ read_only: 'false' }), logged, 'attribute_differs'],
    [
      'a customer whose id differs in case',
      { steps: [charge({ customer: 'cus_aBc' })], audit: charged.audit },
      charged,
    ],
    [
      'an idempotency key that differs in case',
      {
        steps: [charge({ idempotency_key: 'Key-A' })],
        audit: log('stripe', stripe('charge.succeeded', ch(), idempotent('key-a'))),
      },
      {
        steps: [charge({ idempotency_key: 'key-a' })],
        audit: log('stripe', stripe('charge.succeeded', ch(), idempotent('key-a'))),
      },
    ],
    [
      'one cent, for a call without an amount',
      {
        steps: [{ tool: 'create_refund', args: { charge: 'ch_1' } }],
        audit: log('stripe', stripe('refund.created', re('succeeded', { amount: 1 }))),
      },
      refunded,
    ],
    [
      'half a surrogate pair',
      {
        steps: [charge({ customer: 'cus_\ud800' })],
        audit: log('stripe', stripe('charge.succeeded', ch({ customer: 'cus_\ufffd' }))),
      },
      charged,
    ],
    [
      'one record for two equal calls',
      { steps: [key, key], audit: keyEntry },
      { steps: [key], audit: keyEntry },
      'ambiguous',
    ],
    [
      'a record of a call that failed',
      { steps: [{ ...key, status: 'error' }], audit: keyEntry },
      { steps: [key], audit: keyEntry },
      'happened_although_failed',
    ],
    [
      'a record of a call that was denied',
      {
        steps: [{ ...key, status: 'denied', effect: 'deny' }],
        audit: keyEntry,
      },
      { steps: [key], audit: keyEntry },
      'happened_although_denied',
    ],
  ])

  test('a log whose signature was checked and does not hold raises nothing, and is the first finding', () => {
    const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
    const bytes = JSON.stringify({
      Records: [
        {
          eventVersion: '1.11',
          eventTime: '2026-01-05T09:00:00Z',
          eventSource: 'iam.amazonaws.com',
          eventName: 'CreateAccessKey',
          eventID: 'e1',
          requestParameters: { userName: 'ci' },
          responseElements: { accessKey: { userName: 'ci', status: 'Active' } },
        },
      ],
    })
    const steps = [{ tool: 'create_access_key', args: { user_name: 'ci' } }]
    const bare = { provider: 'cloudtrail', bytes }
    assert.equal(best(reportOf({ steps, audit: bare })), 'verified')
    const digest = JSON.stringify({
      digestEndTime: '2026-01-05T10:00:00Z',
      digestS3Bucket: 'b',
      digestS3Object: 'd',
      previousDigestSignature: null,
      logFiles: [{ s3Bucket: 'b', s3Object: 'l', hashValue: 'ab', hashAlgorithm: 'SHA-256' }],
    })
    const signature = createSign('sha256').update('other').sign(privateKey).toString('hex')
    const publicPem = publicKey.export({ format: 'pem', type: 'spki' }) as string
    const report = reportOf({
      steps,
      audit: { ...bare, digests: [{ bytes: digest, signature }], publicKey: publicPem },
    })
    assert.equal(best(report), 'none', report.text())
    assert.deepEqual(
      [report.findings[0]?.severity, report.findings[0]?.kind, report.ok],
      ['error', 'authenticity_failed', false],
    )
  })
})

function tokenLog(): receipt.Export {
  const made = {
    uuid: 'u1',
    published: '2026-01-05T09:00:00.000Z',
    eventType: 'system.api_token.create',
    outcome: { result: 'SUCCESS', reason: null },
    actor: { id: '00u1', type: 'User', alternateId: 'bob', displayName: 'Bob' },
    target: [{ id: '00T1', type: 'Token', alternateId: 'unknown', displayName: 'ci' }],
    transaction: { type: 'WEB', id: 'unknown', detail: {} },
  }
  const bytes = JSON.stringify({
    eventType: 'com.okta.event_hook',
    source: 'https://acme.okta.com/api/v1/eventHooks/who8vt36qfNpCGz9H1e6',
    data: { events: [made] },
  })
  return { provider: 'okta', bytes }
}

function idempotent(idempotency_key: string) {
  return { request: { id: 'req_1', idempotency_key } }
}
