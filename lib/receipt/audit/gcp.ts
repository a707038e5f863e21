/**
 * Cloud Audit Logs of Google Cloud, as Cloud Logging writes its entries: Cloud Storage for the
 * provider `gcp`, and the API server of GKE clusters for the provider `kubernetes`.
 *
 * An entry of GKE does not carry the address of the request, where a dry run of everything but a
 * deletion is asked for. So only deletions count, whose options stand in the body.
 */
import { isObject, type JsonObject } from '../../json.ts'
import { at } from '../surface/classifier.ts'
import { harmless } from '../surface/target.ts'
import { kindOf, textAt } from './entry-members.ts'
import { type Effect, failed, type Importer, type Reading } from './importer.ts'
import { isoOf } from './time.ts'

const storage = {
  'storage.buckets.create': { action_class: 'gcp_bucket', verb: 'create' },
  'storage.objects.create': { action_class: 'gcp_object', verb: 'create' },
}

const serviceOf = (document: JsonObject) => textAt(document, 'protoPayload.serviceName')

export const gcp: Importer = {
  name: 'gcp',
  provider: 'gcp',
  kinds: storage,
  recognises: (document) => ![null, 'k8s.io'].includes(serviceOf(document)),
  entries: () => null,
  read(entry) {
    const method = textAt(entry, 'protoPayload.methodName')
    if (method === null) return { skipped: 'the entry has no methodName' }
    const kind = kindOf(storage, method)
    if (!kind) return { unmapped: harmless(method) }
    return endedBy(entry, objectOf(entry, kind))
  },
}

function objectOf(entry: JsonObject, kind: { action_class: string; verb: string }): Reading {
  const id = textAt(entry, 'insertId')
  if (id === null) return { skipped: 'the entry has no insertId' }
  const place = /^projects\/[^/]+\/buckets\/([^/]+)(?:\/objects\/(.+))?$/.exec(
    textAt(entry, 'protoPayload.resourceName') ?? '',
  )
  const isObjectKind = kind.action_class === 'gcp_object'
  if (!place || (place[2] !== undefined) !== isObjectKind)
    return { skipped: 'resourceName does not name the bucket, or the object in it' }
  return {
    ...kind,
    ...common(entry, id),
    values: { bucket_name: place[1] as string, object_name: place[2] ?? null },
  }
}

const kinds = { delete: { action_class: 'kubernetes_object', verb: 'delete' } }
const METHOD = /^io\.k8s\.(?:.+\.)?([a-z0-9]+)\.([a-z]+)$/
const RESOURCE =
  /^(core|[a-z0-9.-]+)\/v[a-z0-9]+\/(?:namespaces\/([^/]+)\/(?=[^/]+\/))?([^/]+)\/([^/]+)(?:\/([^/]+))?$/

export const gke: Importer = {
  name: 'gke',
  provider: 'kubernetes',
  kinds,
  recognises: (document) => serviceOf(document) === 'k8s.io',
  entries: () => null,
  read(entry) {
    const method = textAt(entry, 'protoPayload.methodName')
    const verb = METHOD.exec(method ?? '')?.[2]
    if (verb === undefined) return { unmapped: harmless(method ?? 'no methodName') }
    if (['create', 'update', 'patch'].includes(verb))
      return { skipped: 'the entry does not say whether it was a dry run' }
    const kind = kindOf(kinds, verb)
    if (!kind) return { unmapped: `verb ${harmless(verb)}` }
    return endedBy(entry, deletionOf(entry, kind))
  },
}

function deletionOf(entry: JsonObject, kind: { action_class: string; verb: string }): Reading {
  const id = textAt(entry, 'insertId')
  if (id === null) return { skipped: 'the entry has no insertId' }
  if (at(entry, 'operation.first') === true && at(entry, 'operation.last') !== true)
    return { skipped: 'the first entry of an operation that goes on' }
  const dry = at(entry, 'protoPayload.request.dryRun')
  if (dry !== undefined && dry !== null && !(Array.isArray(dry) && dry.length === 0))
    return { skipped: 'dry run: nothing was kept' }
  if (isPending(at(entry, 'protoPayload.response')))
    return { skipped: 'the deletion waits for a finalizer or a grace period' }
  const found = RESOURCE.exec(textAt(entry, 'protoPayload.resourceName') ?? '')
  if (!found) return { skipped: 'resourceName does not name one object' }
  const [, group, namespace, resource, name, subresource] = found
  return {
    ...kind,
    ...common(entry, id),
    values: {
      resource: resource as string,
      name: name as string,
      namespace: namespace ?? null,
      subresource: subresource ?? null,
      api_group: group === 'core' ? null : (group as string),
    },
  }
}

/**
 * What an entry is, by how its operation ended. A status without a code is no error. Only a code
 * says that the operation failed: what else may mean it keeps the entry from counting.
 */
function endedBy(entry: JsonObject, reading: Reading): Reading {
  const status = at(entry, 'protoPayload.status')
  const code = at(status, 'code')
  if (code !== undefined && code !== 0) return failed(`status code ${harmless(code)}`, reading)
  if (textAt(status, 'message') !== null && code !== 0)
    return { skipped: `failed: ${harmless(textAt(status, 'message')).slice(0, 60)}` }
  const severity = textAt(entry, 'severity')
  if (severity !== null && /^(ERROR|CRITICAL|ALERT|EMERGENCY)$/.test(severity))
    return { skipped: `failed: severity ${severity}` }
  const granted = at(entry, 'protoPayload.authorizationInfo')
  return Array.isArray(granted) && granted.some((one) => at(one, 'granted') === false)
    ? { skipped: 'failed: not authorised' }
    : reading
}

function common(
  entry: JsonObject,
  record_id: string,
): Pick<Effect, 'record_id' | 'object' | 'occurred_at' | 'actor'> {
  return {
    record_id,
    object: record_id,
    occurred_at: isoOf(textAt(entry, 'timestamp')),
    actor: textAt(entry, 'protoPayload.authenticationInfo.principalEmail'),
  }
}

function isPending(response: unknown): boolean {
  if (!isObject(response) || response['kind'] === 'Status') return false
  const finalizers = at(response, 'metadata.finalizers')
  return (
    typeof at(response, 'metadata.deletionTimestamp') === 'string' ||
    (Array.isArray(finalizers) && finalizers.length > 0)
  )
}
