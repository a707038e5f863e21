/** Entries are read wherever they were delivered: what wraps them changes nothing about what they say. */
import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { gzipSync } from 'node:zlib'
import type { Json, JsonObject } from '../../../lib/json.ts'
import { evidenceOf } from '../../../lib/receipt/audit/evidence.ts'
import { importAudit } from '../../../lib/receipt/audit/import.ts'
import { temporaryFolder } from '../../temporary.ts'

const folder = temporaryFolder('containers')

/** A documented entry of a provider that becomes a record. */
function entryOf(provider: string): JsonObject {
  const url = new URL(`../../../fixtures/audit/${provider}.json`, import.meta.url)
  const { rows } = JSON.parse(readFileSync(url, 'utf8'))
  const { input } = rows.find((row: { expected: object }) => 'record' in row.expected)
  return input.data?.events?.[0] ?? input
}
const text = (value: Json) => JSON.stringify(value)
const line = (value: Json) => `${text(value)}\n`

/** Each row: the importer, where the container comes from, and the export that holds one entry. */
const CONTAINERS: [string, string, (entry: JsonObject) => string | Uint8Array][] = [
  ['github', 'gh api --paginate --slurp', (one) => text([[], [one]])],
  ['github', 'gh api --paginate', (one) => `[${text(one)}][]`],
  ['github', 'gh api --paginate, pretty', (one) => `[\n  ${text(one)}\n]\n[\n]\n`],
  ['github', 'NDJSON, gzipped', (one) => gzipSync(line(one))],
  ['cloudtrail', 'a log file', (one) => text({ Records: [one] })],
  ['cloudtrail', 'a log file, gzipped', (one) => gzipSync(text({ Records: [one] }))],
  [
    'cloudtrail',
    'aws cloudtrail lookup-events',
    (one) =>
      text({
        Events: [{ EventId: 'x', EventName: 'y', Username: 'ann', CloudTrailEvent: text(one) }],
        NextToken: 'abc',
      }),
  ],
  [
    'cloudtrail',
    'EventBridge',
    (one) =>
      line({
        version: '0',
        id: 'b1',
        'detail-type': 'AWS API Call via CloudTrail',
        source: 'aws.iam',
        account: '111122223333',
        time: '2026-01-05T09:00:00Z',
        region: 'us-east-1',
        resources: [],
        detail: one,
      }),
  ],
  [
    'kubernetes',
    'EKS through a subscription of CloudWatch Logs',
    (one) =>
      text({
        messageType: 'DATA_MESSAGE',
        owner: '111122223333',
        logGroup: '/aws/eks/prod/cluster',
        logStream: 'kube-apiserver-audit-1',
        subscriptionFilters: ['f'],
        logEvents: [{ id: '1', timestamp: 1767603600000, message: text(one) }],
      }),
  ],
  [
    'kubernetes',
    'aws logs filter-log-events',
    (one) =>
      text({
        events: [
          { logStreamName: 's', timestamp: 1, message: text(one), ingestionTime: 2, eventId: '3' },
        ],
        searchedLogStreams: [],
      }),
  ],
  [
    'kubernetes',
    'AKS diagnostics in a storage account',
    (one) =>
      line({
        time: '2026-01-05T09:00:00Z',
        category: 'kube-audit',
        operationName: 'Microsoft.ContainerService/managedClusters/diagnosticLogs/Read',
        properties: { log: text(one), stream: 'stdout', pod: 'kube-apiserver-1' },
      }),
  ],
  [
    'kubernetes',
    'AKS diagnostics through an event hub',
    (one) =>
      text({
        records: [
          {
            category: 'kube-audit',
            operationName: 'Microsoft.ContainerService/managedClusters/diagnosticLogs/Read',
            properties: { log: text(one) },
          },
        ],
      }),
  ],
  [
    'kubernetes',
    'an EventList',
    (one) => text({ kind: 'EventList', apiVersion: 'audit.k8s.io/v1', items: [one] }),
  ],
  [
    'okta',
    'an event hook',
    (one) =>
      text({
        eventType: 'com.okta.event_hook',
        source: 'https://acme.okta.com/api/v1/eventHooks/x',
        data: { events: [one] },
      }),
  ],
  [
    'stripe',
    'a list of events',
    (one) => text({ object: 'list', url: '/v1/events', has_more: false, data: [one] }),
  ],
  [
    'stripe',
    'webhooks, one per line',
    (one) => line(one) + line({ ...one, id: 'evt_other', type: 'ping' }),
  ],
  [
    'stripe',
    'EventBridge',
    (one) =>
      line({ 'detail-type': 'charge.succeeded', source: 'aws.partner/stripe.com/x', detail: one }),
  ],
  [
    'slack',
    'a page of the API',
    (one) => text({ entries: [one], response_metadata: { next_cursor: '' } }),
  ],
  ['gke', 'gcloud logging read', (one) => text([one])],
  ['gke', 'a page of entries.list', (one) => text({ entries: [one], nextPageToken: 'x' })],
  ['azure', 'a page of the REST API', (one) => text({ value: [one], nextLink: 'https://x' })],
  ['azure', 'an event hub', (one) => text({ records: [one] })],
  [
    'entra',
    'a page of Microsoft Graph',
    (one) =>
      text({
        '@odata.context': 'https://graph.microsoft.com/v1.0/$metadata#auditLogs/directoryAudits',
        value: [one],
      }),
  ],
  [
    'entra',
    'diagnostic settings',
    (one) =>
      line({
        time: '2026-01-05T09:00:00Z',
        resourceId: '/tenants/t1/providers/Microsoft.aadiam',
        operationName: one['activityDisplayName'] as Json,
        category: 'AuditLogs',
        properties: one,
      }),
  ],
  [
    'google',
    'a page of the Reports API',
    (one) => text({ kind: 'admin#reports#activities', etag: 'x', items: [one] }),
  ],
  ['gitlab', 'a page of the API', (one) => text([one])],
]

describe('containers', () => {
  for (const [provider, name, wrap] of CONTAINERS) {
    it(`${provider}: ${name}`, () => {
      const entry = entryOf(provider)
      const scope = provider === 'okta' ? { scope: 'acme' } : {}
      const [plain] = importAudit(provider, line(entry), scope).records
      const bytes = wrap(entry)
      const { records } = importAudit(provider, bytes, scope)
      assert.ok(plain)
      assert.deepEqual(
        records.map(({ record_id, binding_digest }) => ({ record_id, binding_digest })),
        [{ record_id: plain.record_id, binding_digest: plain.binding_digest }],
      )
      const path = join(folder, `${provider}.json`)
      writeFileSync(path, bytes)
      assert.equal(evidenceOf(path, scope).records.length, 1, 'read without the provider’s name')
    })
  }

  it('a text that is no JSON inside a container is one entry that is left out, and costs no other', () => {
    const one = entryOf('kubernetes')
    const made = importAudit(
      'kubernetes',
      text({ logEvents: [{ message: 'I0105 started' }, { message: text(one) }] }),
    )
    assert.equal(made.records.length, 1)
    assert.deepEqual(
      made.skipped.map(({ reason }) => reason),
      ['the entry is no object'],
    )
  })

  it('brackets and quotes inside texts do not end a page', () => {
    const one = { ...entryOf('github'), note: '][ \\" ] "' }
    const { counts } = importAudit(
      'github',
      `[${text(one)}] [${text({ ...one, _document_id: 'z' })}]`,
    )
    assert.equal(counts.entries, 2)
  })

  it('a page that is cut off is an error, not a shorter log', () => {
    const one = text(entryOf('github'))
    assert.throws(() => importAudit('github', `[${one}][${one}`), { code: 'json_syntax' })
  })

  it('containers without end are not followed', () => {
    let document: Json = entryOf('github')
    for (let i = 0; i < 50; i++) document = [document]
    assert.equal(importAudit('github', text(document)).records.length, 0)
  })
})
