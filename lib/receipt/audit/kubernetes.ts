/**
 * Kubernetes audit events (audit.k8s.io/v1): one per line, or an EventList.
 *
 * An auditID names a request and is repeated per stage, so only the stage `ResponseComplete`
 * counts; a `Panic` of the same request takes it back. The caller may choose the auditID (header
 * `Audit-ID`), which makes it a nonce for binding to one request, and makes it no proof of
 * uniqueness.
 */
import { isObject, type JsonObject } from '../../json.ts'
import { at } from '../surface/classifier.ts'
import { harmless } from '../surface/target.ts'
import { kindOf, textAt } from './entry-members.ts'
import { failed, type Importer, type Reading } from './importer.ts'
import { isoOf } from './time.ts'

const VERSION = /^audit\.k8s\.io\/v1(alpha1|beta1)?$/

const kinds = Object.fromEntries(
  ['create', 'update', 'patch', 'delete'].map((verb) => [
    verb,
    { action_class: 'kubernetes_object', verb },
  ]),
)

export const kubernetes: Importer = {
  name: 'kubernetes',
  provider: 'kubernetes',
  kinds,
  recognises: (document) =>
    textAt(document, 'apiVersion')?.startsWith('audit.k8s.io/') === true || 'auditID' in document,
  entries: (document) => (Array.isArray(document['items']) ? document['items'] : null),
  read(entry) {
    const version = entry['apiVersion'] ?? 'audit.k8s.io/v1'
    if (typeof version !== 'string' || !VERSION.test(version))
      return { unmapped: `apiVersion ${harmless(version)}` }
    const verb = textAt(entry, 'verb')
    if (verb === null) return { skipped: 'the event has no verb' }
    const kind = kindOf(kinds, verb)
    if (!kind) return { unmapped: `verb ${harmless(verb)}` }
    const id = textAt(entry, 'auditID')
    const stage = textAt(entry, 'stage')
    if (stage === 'Panic')
      return {
        skipped: 'stage Panic: the request did not end',
        ...(id !== null && { refutes: { object: id, because: 'stage Panic' } }),
      }
    if (stage !== 'ResponseComplete')
      return { skipped: `stage ${harmless(stage ?? 'missing')}: not the end of the request` }
    const code = at(entry, 'responseStatus.code')
    if (typeof code !== 'number') return { skipped: 'no response code' }
    if (code >= 400) return failed(`response code ${code}`, effectOf(entry, kind, id))
    if (code < 200 || code > 299) return { skipped: `failed: response code ${code}` }
    if (textAt(entry, 'responseStatus.status') === 'Failure')
      return failed('response status Failure', effectOf(entry, kind, id))
    // 202 means that the API server began and did not finish, such as a deletion in the foreground.
    if (code === 202) return { skipped: 'response code 202: accepted, not done' }
    return effectOf(entry, kind, id)
  },
}

function effectOf(
  entry: JsonObject,
  kind: { action_class: string; verb: string },
  id: string | null,
): Reading {
  if (id === null) return { skipped: 'the event has no auditID' }
  if (isDryRun(entry)) return { skipped: 'dry run: nothing was kept' }
  if (kind.verb === 'delete' && isPending(entry))
    return { skipped: 'the deletion waits for a finalizer or a grace period' }
  const resource = textAt(entry, 'objectRef.resource')
  if (resource === null) return { skipped: 'no objectRef.resource' }
  // With generateName the name is known only to the response, which is there at level
  // RequestResponse alone.
  const name = textAt(entry, 'objectRef.name') ?? textAt(entry, 'responseObject.metadata.name')
  if (name === null)
    return { skipped: 'no object name: generateName at a level that keeps no response' }
  return {
    ...kind,
    record_id: id,
    values: {
      resource,
      name,
      namespace: textAt(entry, 'objectRef.namespace'),
      subresource: textAt(entry, 'objectRef.subresource'),
      api_group: textAt(entry, 'objectRef.apiGroup'),
    },
    occurred_at: isoOf(
      textAt(entry, 'stageTimestamp') ?? textAt(entry, 'requestReceivedTimestamp'),
    ),
    request_ids: [id],
    actor: textAt(entry, 'impersonatedUser.username') ?? textAt(entry, 'user.username'),
    object: id,
  }
}

/**
 * `dryRun` stands in the address, in the options that are the body of a deletion, and in those of a
 * response.
 */
function isDryRun(entry: JsonObject): boolean {
  const uri = textAt(entry, 'requestURI')
  if (uri !== null) {
    try {
      if (/[?&]dryRun(=|&|$)/i.test(decodeURIComponent(uri))) return true
    } catch {
      // An address that does not decode may hide anything.
      return true
    }
  }
  return ['requestObject.dryRun', 'responseObject.dryRun', 'requestObject.spec.dryRun'].some(
    (path) => !isNothing(at(entry, path)),
  )
}

/** The object is still there and has a time of deletion: a finalizer or a grace period holds it. */
function isPending(entry: JsonObject): boolean {
  const object = at(entry, 'responseObject')
  if (!isObject(object)) return false
  if (object['kind'] === 'Status') return false
  return (
    !isNothing(at(object, 'metadata.deletionTimestamp')) ||
    !isNothing(at(object, 'metadata.finalizers'))
  )
}

function isNothing(value: unknown): boolean {
  return (
    value === undefined ||
    value === null ||
    value === '' ||
    value === false ||
    (Array.isArray(value) && value.length === 0)
  )
}
