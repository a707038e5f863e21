/** Calls that claim success, of which the provider's own log says that they failed. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import type { Json, JsonObject } from '../../../lib/json.ts'
import * as receipt from '../../../lib/receipt/index.ts'

const root = join(import.meta.dirname, '../../..')

type Row = {
  id: string
  call: { server: string; tool: string; arguments: JsonObject }
  export: { importer: string; scope?: string; entries: JsonObject[] }
}

/** A call and the entry that verifies it, of the corpus of evidence. */
function done(provider: string, id: string): Row {
  const path = join(root, `fixtures/evidence/${provider}.json`)
  const rows = JSON.parse(readFileSync(path, 'utf8')).rows as Row[]
  const row = rows.find((one) => one.id === id)
  assert.ok(row, id)
  return row
}

const observed = ({ call }: Row, seq = 0, more: object = {}) =>
  receipt.observe({ ...call, status: 'success', runId: 'r1', seq, ...more })

const judged = (
  row: Row,
  entries: Json[],
  more: receipt.VerifyOptions = {},
  calls = [observed(row)],
) =>
  receipt.verify(calls, {
    audit: receipt.importAudit(
      row.export.importer,
      JSON.stringify(entries),
      row.export.scope === undefined ? {} : { scope: row.export.scope },
    ),
    ...more,
  })

const [REFUNDED] = done('stripe', 'create_refund-done').export.entries.map(
  ({ data }) => (data as { object: JsonObject }).object,
)

/** How each maker's log says that what was asked for failed. */
const DOCUMENTED: [
  source: string,
  provider: string,
  id: string,
  failed: JsonObject,
  code: string,
][] = [
  [
    'CloudTrail, record contents: errorCode and errorMessage',
    'aws',
    'create_user-done',
    {
      errorCode: 'AccessDenied',
      errorMessage:
        'User: arn:aws:iam::111122223333:user/ann is not authorized to perform: iam:CreateUser',
    },
    'AccessDenied',
  ],
  [
    'Azure activity log, as its REST API writes it',
    'azure',
    'compute_vm_delete-done',
    { status: { value: 'Failed' }, subStatus: { value: 'Forbidden' } },
    'Forbidden',
  ],
  [
    'Cloud Audit Logs, AuditLog.status as google.rpc.Status',
    'gcp',
    'create_bucket-done',
    {
      severity: 'ERROR',
      protoPayload: {
        ...(done('gcp', 'create_bucket-done').export.entries[0]?.['protoPayload'] as JsonObject),
        status: { code: 7, message: 'PERMISSION_DENIED' },
      },
    },
    'status code 7',
  ],
  [
    'Kubernetes audit, responseStatus as metav1.Status',
    'kubernetes',
    'pods_delete-done',
    { responseStatus: { metadata: {}, status: 'Failure', reason: 'Forbidden', code: 403 } },
    'response code 403',
  ],
  [
    'Okta System Log, outcome',
    'okta',
    'grant_admin-done',
    { outcome: { result: 'FAILURE', reason: 'Permission denied' } },
    'outcome FAILURE',
  ],
  [
    'Microsoft Graph, directoryAudit.result',
    'entra',
    'remove-group-member-done',
    { result: 'failure', resultReason: 'Insufficient privileges' },
    'result failure',
  ],
  [
    'Stripe, refund.failed',
    'stripe',
    'create_refund-done',
    {
      type: 'refund.failed',
      data: {
        object: {
          ...REFUNDED,
          status: 'failed',
          failure_reason: 'declined',
        },
      },
    },
    'refund.failed',
  ],
]

/** Members of an entry that say how the operation ended, in a log that writes it otherwise. */
const OTHERWISE: [what: string, provider: string, id: string, failed: JsonObject, code: string][] =
  [
    [
      'Azure, as a diagnostic setting writes it',
      'azure',
      'compute_vm_delete-done',
      { status: null, resultType: 'Failure', resultSignature: 'Failed.Forbidden' },
      'Failed.Forbidden',
    ],
    [
      'GKE, a deletion',
      'kubernetes',
      'gke-pods_delete-done',
      {
        protoPayload: {
          ...(done('kubernetes', 'gke-pods_delete-done').export.entries[0]?.[
            'protoPayload'
          ] as JsonObject),
          status: { code: 5, message: 'Not Found' },
        },
      },
      'status code 5',
    ],
    [
      'Okta, an outcome of DENY',
      'okta',
      'grant_admin-done',
      { outcome: { result: 'DENY', reason: null } },
      'outcome DENY',
    ],
    [
      'Stripe, refund.updated with its status',
      'stripe',
      'create_refund-done',
      { type: 'refund.updated', data: { object: { ...REFUNDED, status: 'failed' } } },
      'refund.updated with status failed',
    ],
  ]

describe('an entry that says that the very call failed', () => {
  for (const [source, provider, id, failed, code] of [...DOCUMENTED, ...OTHERWISE])
    it(`stands at the call with the provider’s code: ${source}`, () => {
      const row = done(provider, id)
      const entry = { ...row.export.entries[0], ...failed }
      const report = judged(row, [entry])
      const [call] = report.calls
      assert.equal(call?.level, 'asserted')
      assert.deepEqual(
        call?.contradictions.map(({ kind, seq }) => [kind, seq]),
        [['provider_says_failed', null]],
      )
      assert.match(call?.contradictions[0]?.detail ?? '', new RegExp(`failed: ${code} \\(entry `))
      assert.match(call?.why_not_higher ?? '', /^the provider’s log says that the call failed/)
      assert.equal(report.counts.contradicted, 1)
      assert.equal(report.ok, false)
      assert.match(report.text(), /^0 of 1 claimed effect is verified; 1 is contradicted\.\n/)
      assert.equal(judged(row, row.export.entries).calls[0]?.level, 'verified')
    })

  for (const [source, provider, id, failed] of DOCUMENTED)
    it(`says nothing where the same was done before or afterwards: ${source}`, () => {
      const row = done(provider, id)
      const [first] = row.export.entries as [JsonObject]
      // Another entry of the log, about another request and another object.
      const other = JSON.parse(
        JSON.stringify(first).replaceAll(
          /"(ins|evt|aud|ev|o|cor|req|tx|re|Directory)([-_])\w+"/g,
          '"$1$2other"',
        ),
      ) as JsonObject
      for (const entries of [
        [
          { ...other, ...failed, ...(provider === 'stripe' && { data: movedTo('re_2', failed) }) },
          first,
        ],
        [
          first,
          { ...other, ...failed, ...(provider === 'stripe' && { data: movedTo('re_2', failed) }) },
        ],
      ]) {
        const report = judged(row, entries)
        assert.deepEqual(report.calls[0]?.contradictions, [])
        assert.equal(report.calls[0]?.level, 'verified')
      }
    })

  it('is none where the log only does not say that it was done', () => {
    const silent: [provider: string, id: string, open: JsonObject][] = [
      ['entra', 'remove-group-member-done', { result: 'timeout' }],
      ['okta', 'grant_admin-done', { outcome: { result: 'SKIPPED', reason: null } }],
      ['azure', 'compute_vm_delete-done', { status: { value: 'Started' } }],
      ['kubernetes', 'pods_delete-done', { stage: 'Panic' }],
      ['kubernetes', 'pods_delete-done', { responseStatus: { metadata: {}, code: 202 } }],
      ['gcp', 'create_bucket-done', { severity: 'ERROR' }],
      [
        'stripe',
        'create_refund-done',
        { type: 'refund.updated', data: { object: { ...REFUNDED, status: 'canceled' } } },
      ],
    ]
    for (const [provider, id, open] of silent) {
      const row = done(provider, id)
      const [call] = judged(row, [{ ...row.export.entries[0], ...open }]).calls
      assert.deepEqual(
        [call?.level, call?.contradictions],
        ['asserted', []],
        `${provider} ${JSON.stringify(open)}`,
      )
    }
  })

  it('is told of an importer of one’s own by its member failed', () => {
    const name = 'said_failed_test'
    receipt.importer({
      name,
      provider: 'aws',
      recognises: ['what'],
      kind: 'what',
      id: 'id',
      kinds: {
        made: { action_class: 'aws_iam_user', verb: 'create', values: { user_name: 'who' } },
      },
      counts: [{ member: 'state', is: ['done'] }],
      failed: [{ member: 'state', is: ['refused'] }],
    })
    const { call } = done('aws', 'create_user-done')
    const of = (state: string) => {
      const entries = [{ what: 'made', id: 'e1', who: 'Bob', state }]
      return judged({ id: '', call, export: { importer: name, entries } }, entries)
    }
    assert.equal(of('done').calls[0]?.level, 'verified')
    assert.match(of('refused').calls[0]?.contradictions[0]?.detail ?? '', /state is refused/)
    assert.deepEqual(of('waiting').calls[0]?.contradictions, [])
  })
})

function movedTo(id: string, failed: JsonObject): JsonObject {
  const { object } = failed['data'] as { object: JsonObject }
  return { object: { ...object, id } }
}

describe('which call an entry that failed is about', () => {
  const row = done('aws', 'create_user-done')
  const entry = (more: JsonObject = {}): JsonObject => ({
    ...(row.export.entries[0] as JsonObject),
    errorCode: 'AccessDenied',
    errorMessage: 'no',
    ...more,
  })
  const kinds = (report: receipt.Report) =>
    report.calls.map((call) => call.contradictions.map(({ kind }) => kind).join())
  const AGAINST = 'provider_says_failed'

  it('binds as a record would: another target, actor, day or server is none', () => {
    assert.deepEqual(kinds(judged(row, [entry({ requestParameters: { userName: 'eve' } })])), [''])
    // A denied request of which the log kept no parameters names no target.
    assert.deepEqual(kinds(judged(row, [entry({ requestParameters: null })])), [''])
    const called = (more: object) => [observed(row, 0, more)]
    const by = (actor: string) => called({ actor: `arn:aws:iam::111122223333:user/${actor}` })
    assert.deepEqual(kinds(judged(row, [entry()], {}, by('eve'))), [''])
    assert.deepEqual(kinds(judged(row, [entry()], {}, by('ann'))), [AGAINST])
    const at = (time: string) => called({ at: time })
    assert.deepEqual(kinds(judged(row, [entry()], {}, at('2026-01-07T09:00:00Z'))), [''])
    assert.deepEqual(kinds(judged(row, [entry()], {}, at('2026-01-05T09:00:01Z'))), [AGAINST])
    const audit = (server: string) =>
      receipt.importAudit('cloudtrail', JSON.stringify([entry()]), { server })
    assert.deepEqual(kinds(judged(row, [], { audit: audit('other') })), [''])
    assert.deepEqual(kinds(judged(row, [], { audit: audit('aws-iam') })), [AGAINST])
  })

  it('is none outside the window, nor without a time where a window is given', () => {
    const day = (from: string) => judged(row, [entry()], { window: { from } })
    assert.deepEqual(kinds(day('2026-01-06')), [''])
    assert.deepEqual(kinds(day('2026-01-05')), [AGAINST])
    const timeless = judged(row, [entry({ eventTime: null })], { window: { from: '2026-01-05' } })
    assert.deepEqual(kinds(timeless), [''])
  })

  it('a success outside the window is no later attempt', () => {
    const {
      errorCode: _,
      errorMessage: __,
      ...success
    } = entry({ eventID: 'ev-6', eventTime: '2026-01-05T19:00:00Z' })
    const entries = [entry(), success]
    assert.deepEqual(kinds(judged(row, entries)), [''])
    const window = { from: '2026-01-05T08:00:00Z', to: '2026-01-05T10:00:00Z' }
    assert.deepEqual(kinds(judged(row, entries, { window })), [AGAINST])
  })

  it('of two equal calls none is named, and the report says that one of them failed', () => {
    const report = judged(row, [entry()], {}, [observed(row, 0), observed(row, 1)])
    assert.deepEqual(kinds(report), ['', ''])
    assert.equal(report.ok, true)
    const found = report.findings.find(({ kind }) => kind === 'provider_says_one_failed')
    assert.equal(found?.severity, 'warning')
    assert.deepEqual(found?.at, [{ run_id: null, seq: null, tool: 'create_user' }])
    assert.match(found?.detail ?? '', /one of 2 equal calls failed: AccessDenied \(entry ev-5\)/)
  })

  it('a call that did not claim success may be the one that is meant', () => {
    const honest = observed(row, 0, { status: 'error' })
    assert.deepEqual(judged(row, [entry()], {}, [honest]).findings, [])
    const both = judged(row, [entry()], {}, [honest, observed(row, 1)])
    assert.deepEqual(kinds(both), ['', ''])
    assert.equal(
      both.findings.some(({ kind }) => kind === 'provider_says_one_failed'),
      true,
    )
  })

  it('a request that both sides name tells which of equal calls it was', () => {
    const answered = (seq: number, request_id: string) =>
      observed(row, seq, { result: { content: [], structuredContent: { request_id } } })
    const calls = [answered(0, 'req-4'), answered(1, 'req-5')]
    assert.deepEqual(kinds(judged(row, [entry()], {}, calls)), ['', AGAINST])
  })

  it('an entry vouches for nothing, and adding it takes no level away', () => {
    const imported = receipt.importAudit('cloudtrail', JSON.stringify([entry()]))
    assert.equal(imported.records.length, 0)
    const [failed] = imported.failed
    assert.ok(failed)
    const given = receipt.verify([observed(row)], { audit: failed as never })
    assert.equal(given.calls[0]?.level, 'asserted')
    assert.equal(given.records.rejected[0]?.reason, 'schema_wrong')
  })

  it('the order of entries and calls does not change the report', () => {
    const entries = [entry({ eventID: 'b', errorCode: 'Throttling' }), entry({ eventID: 'a' })]
    const texts = [entries, entries.toReversed()].map((list) =>
      judged(row, list).calls.map((call) => call.contradictions),
    )
    assert.deepEqual(texts[0], texts[1])
  })

  it('thousands of equal calls and entries are counted, not tried out', () => {
    const calls = Array.from({ length: 3000 }, (_, seq) => observed(row, seq))
    const entries = Array.from({ length: 3000 }, (_, i) => entry({ eventID: `e${i}` }))
    const report = judged(row, entries, {}, calls)
    assert.equal(report.counts.contradicted, 0)
    const found = report.findings.find(({ kind }) => kind === 'provider_says_one_failed')
    assert.match(found?.detail ?? '', /one of 3000 equal calls/)
  })
})

it('failed entries beside the others change no level of the corpus', () => {
  const failedTo: { [importer: string]: JsonObject } = {
    cloudtrail: { errorCode: 'AccessDenied' },
    kubernetes: { responseStatus: { metadata: {}, status: 'Failure', code: 403 } },
    okta: { outcome: { result: 'FAILURE' } },
  }
  let held = 0
  for (const provider of ['aws', 'kubernetes', 'okta']) {
    const path = join(root, `fixtures/evidence/${provider}.json`)
    for (const row of JSON.parse(readFileSync(path, 'utf8')).rows as (Row & { again?: true })[]) {
      const failed = failedTo[row.export?.importer]
      if (!failed || row.again) continue
      const beside = row.export.entries.map((one, i) => ({
        ...one,
        ...failed,
        ...(provider === 'aws' && { eventID: `f${i}` }),
        ...(provider === 'kubernetes' && { auditID: `f${i}` }),
        ...(provider === 'okta' && { uuid: `f${i}` }),
      }))
      const levels = [row.export.entries, [...row.export.entries, ...beside]].map(
        (entries) => judged(row, entries).calls[0]?.level,
      )
      assert.equal(levels[1], levels[0], row.id)
      held++
    }
  }
  assert.ok(held >= 50, String(held))
})
