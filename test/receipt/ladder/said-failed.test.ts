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

/** The call, by the actor and at the time of the entry; by its request where it names no actor. */
function tied(row: Row, entry: JsonObject): receipt.Decision {
  const { importer, scope } = row.export
  const options = scope === undefined ? {} : { scope }
  const [failed] = receipt.importAudit(importer, JSON.stringify([entry]), options).failed
  assert.ok(failed?.occurred_at, row.id)
  const made = observed(row, 0, { at: failed.occurred_at })
  const { actor_hash, request_ids } = failed
  assert.ok(actor_hash ?? request_ids, row.id)
  Object.assign(made.observation ?? {}, actor_hash ? { actor_hash } : { request_ids })
  return made
}

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
      const report = judged(row, [entry], {}, [tied(row, entry)])
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
    it(`says nothing where the same was done at that time, in any order of entries: ${source}`, () => {
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
      occurred_at: 'at',
      actor: 'by',
      kinds: {
        made: { action_class: 'aws_iam_user', verb: 'create', values: { user_name: 'who' } },
      },
      counts: [{ member: 'state', is: ['done'] }],
      failed: [{ member: 'state', is: ['refused'] }],
    })
    const { call } = done('aws', 'create_user-done')
    const of = (state: string) => {
      const [at, by] = ['2026-01-05T09:00:00Z', 'ann']
      const entries = [{ what: 'made', id: 'e1', who: 'Bob', state, at, by }]
      const row = { id: '', call, export: { importer: name, entries } }
      return judged(row, entries, {}, [observed(row, 0, { at, actor: by })])
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

  const ANN = 'arn:aws:iam::111122223333:user/ann'
  const called = (more: object = {}, seq = 0) =>
    observed(row, seq, { actor: ANN, at: '2026-01-05T09:00:00Z', ...more })
  const success = (more: JsonObject = {}): JsonObject => {
    const { errorCode: _, errorMessage: __, ...done } = entry()
    return { ...done, eventID: 'ev-ok', requestID: 'req-ok', ...more }
  }
  /** ISO time, this many seconds from that of the call. */
  const after = (seconds: number) =>
    new Date(Date.parse('2026-01-05T09:00:00Z') + seconds * 1000).toISOString()
  const NEAR = 15 * 60
  const names = (report: receipt.Report) => report.findings.map(({ kind }) => kind)
  const against = (entries: Json[], call = called(), more: receipt.VerifyOptions = {}) => {
    const report = judged(row, entries, more, [call])
    const told = names(report).includes('provider_says_one_failed')
    return [report.calls[0]?.level, kinds(report)[0] || (told ? 'told' : '')]
  }

  it('binds as a record would: another target, actor, day or server is none', () => {
    const other = { requestParameters: { userName: 'eve' } }
    assert.deepEqual(against([entry(other)]), ['asserted', ''])
    // A denied request of which the log kept no parameters names no target.
    assert.deepEqual(against([entry({ requestParameters: null })]), ['asserted', ''])
    const eve = called({ actor: 'arn:aws:iam::111122223333:user/eve' })
    assert.deepEqual(against([entry()], eve), ['asserted', ''])
    assert.deepEqual(against([entry()]), ['asserted', AGAINST])
    assert.deepEqual(against([entry()], called({ at: '2026-01-07T09:00:00Z' })), ['asserted', ''])
    const audit = (server: string) => ({
      audit: receipt.importAudit('cloudtrail', JSON.stringify([entry()]), { server }),
    })
    assert.deepEqual(against([], called(), audit('other')), ['asserted', ''])
    assert.deepEqual(against([], called(), audit('aws-iam')), ['asserted', AGAINST])
  })

  it('names a call by its actor and time, and only tells of itself where one is unknown', () => {
    const unknown: object[] = [{ actor: undefined }, { at: undefined }]
    for (const more of unknown) {
      assert.deepEqual(against([entry()], called(more)), ['asserted', 'told'])
      // Whoever it was, another account's success is no retry of the failure.
      const elsewhere = {
        eventTime: after(2),
        recipientAccountId: '999999999999',
        userIdentity: { type: 'IAMUser', arn: 'arn:aws:iam::999999999999:user/mallory' },
      }
      const found = against([entry(), success(elsewhere)], called(more))
      assert.equal(found[1], 'told')
    }
    const report = judged(row, [entry()], {}, [called({ actor: undefined })])
    assert.equal(report.ok, true)
    const told = report.findings.find(({ kind }) => kind === 'provider_says_one_failed')
    assert.deepEqual(told?.at, [{ run_id: null, seq: null, tool: 'create_user' }])
    assert.match(told?.detail ?? '', /such a request failed: AccessDenied \(entry ev-5\)/)
  })

  it('counts within a quarter of an hour of the answer; before it says nothing, later it is told', () => {
    const at = (seconds: number) => against([entry({ eventTime: after(seconds) })])[1]
    assert.equal(at(-NEAR - 1), '')
    assert.equal(at(-NEAR), AGAINST)
    assert.equal(at(NEAR), AGAINST)
    assert.equal(at(NEAR + 1), 'told')
    assert.equal(at(24 * 3600), 'told')
    assert.equal(at(24 * 3600 + 1), '')
    const strict = { toleranceMs: 1000 }
    const late = (seconds: number) =>
      against([entry({ eventTime: after(seconds) })], called(), strict)[1]
    assert.deepEqual([late(-2), late(-1), late(1), late(2)], ['', AGAINST, AGAINST, ''])
  })

  it('of an earlier equal call it says nothing where only one was answered near it', () => {
    const calls = [called({ at: after(-2 * NEAR) }, 0), called({}, 1)]
    assert.deepEqual(kinds(judged(row, [entry()], {}, calls)), ['', AGAINST])
  })

  it('a success after it is the retry; an older one neither hides it nor verifies the call', () => {
    const failed = entry({ eventTime: after(1) })
    const with_ = (seconds: number) => against([failed, success({ eventTime: after(seconds) })])
    // Yesterday’s: too early to be of the call.
    assert.deepEqual(with_(-20 * 3600), ['asserted', AGAINST])
    assert.deepEqual(with_(-NEAR - 1), ['asserted', AGAINST])
    // It may be the call’s own, and so may the failure.
    assert.deepEqual(with_(-NEAR), ['asserted', 'told'])
    assert.deepEqual(with_(0), ['asserted', 'told'])
    assert.deepEqual(with_(1), ['verified', ''])
    assert.deepEqual(with_(NEAR), ['verified', ''])
    assert.deepEqual(with_(NEAR + 1), ['asserted', AGAINST])
    const older = [failed, success({ eventTime: after(-60) })]
    const report = judged(row, older, { minLevel: 'verified' }, [called()])
    assert.deepEqual([report.min_level?.met, report.records.used], [false, 0])
    assert.equal(report.records.rejected[0]?.reason, 'ambiguous')
    const later = [failed, success({ eventTime: after(NEAR + 1) })]
    assert.equal(judged(row, later, {}, [called()]).records.rejected[0]?.reason, 'call_failed')
  })

  it('the request of the answer proves it, and only that request’s own success hides it', () => {
    const answered = (id: string, more: object = {}) =>
      called({ ...more, result: { content: [], structuredContent: { requestId: id } } })
    const failed = entry({ eventTime: after(1), requestID: 'req-f' })
    for (const seconds of [-20 * 3600, 0, 1, 60])
      for (const more of [{}, { actor: undefined, at: undefined }] as object[])
        assert.deepEqual(
          against([failed, success({ eventTime: after(seconds) })], answered('req-f', more)),
          ['asserted', AGAINST],
        )
    // A request that lasted longer is still the one that the answer names.
    const long = entry({ eventTime: after(-NEAR - 1), requestID: 'req-f' })
    assert.deepEqual(against([long], answered('req-f')), ['asserted', AGAINST])
    const same = success({ eventTime: after(2), requestID: 'req-f' })
    assert.deepEqual(against([failed, same], answered('req-f')), ['verified', ''])
    const before = success({ eventTime: after(0), requestID: 'req-f' })
    assert.deepEqual(against([failed, before], answered('req-f')), ['asserted', AGAINST])
    // The failure of another request is none of this one.
    assert.deepEqual(against([failed, success()], answered('req-ok')), ['verified', ''])
    const unnamed = entry({ eventTime: after(1), requestID: null })
    assert.deepEqual(against([unnamed, success()], answered('req-ok')), ['verified', ''])
  })

  it('an equal call that failed honestly accounts for it beside a success', () => {
    const honest = called({ status: 'error', at: after(60) }, 1)
    const entries = [success(), entry({ eventTime: after(60) })]
    const report = judged(row, entries, {}, [called(), honest])
    assert.equal(report.calls[0]?.level, 'verified')
    assert.deepEqual(names(report), ['bound_by_action'])
  })

  it('is none outside the window, nor without a time where a window is given', () => {
    const day = (from: string) => against([entry()], called(), { window: { from } })[1]
    assert.deepEqual(day('2026-01-06'), '')
    assert.deepEqual(day('2026-01-05'), AGAINST)
    const timeless = entry({ eventTime: null })
    assert.deepEqual(against([timeless], called(), { window: { from: '2026-01-05' } })[1], '')
  })

  it('a success outside the window is no later attempt', () => {
    const entries = [entry(), success({ eventTime: after(600) })]
    assert.deepEqual(against(entries), ['verified', ''])
    const window = { from: '2026-01-05T08:00:00Z', to: '2026-01-05T09:05:00Z' }
    assert.deepEqual(against(entries, called(), { window }), ['asserted', AGAINST])
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
