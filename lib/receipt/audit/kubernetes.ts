/**
 * Kubernetes audit events (audit.k8s.io/v1): one per line, or an EventList.
 *
 * An auditID names a request and is repeated per stage, so only the stage `ResponseComplete` counts. The caller may choose the
 * auditID (header `Audit-ID`), which makes it a nonce for binding to one request, and makes it no proof of uniqueness.
 */
import type { Json, JsonObject } from '../../json.ts'
import { at } from '../surface/classifier.ts'
import { harmless } from '../surface/target.ts'
import type { ProviderImporter } from './import.ts'
import { isoOf } from './time.ts'

const VERSION = /^audit\.k8s\.io\/v1(alpha1|beta1)?$/
const VERBS = new Set(['create', 'update', 'patch', 'delete'])

export const kubernetes: ProviderImporter = {
  provider: 'kubernetes',
  unwrap: (document) => (Array.isArray(document['items']) ? (document['items'] as Json[]) : null),
  map(entry) {
    const version = entry['apiVersion'] ?? 'audit.k8s.io/v1'
    if (typeof version !== 'string' || !VERSION.test(version))
      return { unmapped: `apiVersion ${harmless(version)}` }
    const verb = textAt(entry, 'verb')
    if (verb === null) return { skipped: 'the event has no verb' }
    if (!VERBS.has(verb)) return { unmapped: `verb ${harmless(verb)}` }
    const stage = textAt(entry, 'stage')
    if (stage !== 'ResponseComplete')
      return { skipped: `stage ${harmless(stage ?? 'missing')}: not the end of the request` }
    const code = at(entry, 'responseStatus.code')
    if (typeof code !== 'number') return { skipped: 'no response code' }
    if (code < 200 || code > 299) return { skipped: `failed: response code ${code}` }
    const id = textAt(entry, 'auditID')
    if (id === null) return { skipped: 'the event has no auditID' }
    if (isDryRun(textAt(entry, 'requestURI'))) return { skipped: 'dry run: nothing was kept' }
    const resource = textAt(entry, 'objectRef.resource')
    if (resource === null) return { skipped: 'no objectRef.resource' }
    // With generateName the name is known only to the response, which is there at level RequestResponse alone.
    const name = textAt(entry, 'objectRef.name') ?? textAt(entry, 'responseObject.metadata.name')
    if (name === null)
      return { skipped: 'no object name: generateName at a level that keeps no response' }
    const target: { [field: string]: string } = {
      resource: harmless(resource),
      name: harmless(name),
    }
    for (const [field, path] of [
      ['namespace', 'objectRef.namespace'],
      ['subresource', 'objectRef.subresource'],
      ['api_group', 'objectRef.apiGroup'],
    ] as const) {
      const value = textAt(entry, path)
      if (value !== null) target[field] = harmless(value)
    }
    return {
      record_id: id,
      subject: { action_class: 'kubernetes_object', verb, target },
      occurred_at: isoOf(
        textAt(entry, 'stageTimestamp') ?? textAt(entry, 'requestReceivedTimestamp'),
      ),
      request_ids: [id],
    }
  },
}

function textAt(entry: JsonObject, path: string): string | null {
  const value = at(entry, path)
  return typeof value === 'string' && value !== '' ? value : null
}

function isDryRun(uri: string | null): boolean {
  return uri !== null && /[?&]dryRun=/.test(uri)
}
