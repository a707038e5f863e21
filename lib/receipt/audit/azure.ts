/**
 * Azure: the activity log of a subscription, as its REST API and as diagnostic settings write it,
 * and the directory audits of Entra ID.
 *
 * The activity log writes an operation once when it starts and once when it ends. Only the end
 * counts, and an end that failed takes back what another entry of the same correlation says.
 * Resource names are not case-sensitive in Azure.
 */
import { isObject, type JsonObject } from '../../json.ts'
import { at } from '../surface/classifier.ts'
import { harmless } from '../surface/target.ts'
import { kindOf, textAt, texts } from './entry-members.ts'
import { failed, type Importer, type Reading } from './importer.ts'
import { isoOf } from './time.ts'

const kinds = {
  write: { action_class: 'azure_resource', verb: 'write' },
  delete: { action_class: 'azure_resource', verb: 'delete' },
}

/** A text, or the `value` of an object that also has it for people. */
const valueAt = (entry: unknown, path: string) =>
  textAt(entry, path) ?? textAt(entry, `${path}.value`)

const RESOURCE =
  /^\/subscriptions\/([^/]+)\/resourcegroups\/([^/]+)\/providers\/([^/]+\/[^/]+)\/([^/]+)$/i

export const azure: Importer = {
  name: 'azure',
  provider: 'azure',
  kinds,
  recognises: (document) =>
    valueAt(document, 'operationName') !== null &&
    textAt(document, 'resourceId')?.toLowerCase().startsWith('/subscriptions/') === true,
  entries: () => null,
  read(entry) {
    const operation = valueAt(entry, 'operationName')
    if (operation === null) return { skipped: 'the event has no operationName' }
    const [, type = '', verb = ''] = /^(.+)\/([a-z]+)$/i.exec(operation) ?? []
    const kind = kindOf(kinds, verb.toLowerCase())
    if (!kind) return { unmapped: harmless(operation) }
    const category = valueAt(entry, 'category')
    if (category !== null && category !== 'Administrative')
      return { unmapped: `category ${harmless(category)}` }
    const correlation = textAt(entry, 'correlationId')
    const status = (valueAt(entry, 'status') ?? textAt(entry, 'resultType'))?.toLowerCase()
    const result = valueAt(entry, 'subStatus') ?? textAt(entry, 'resultSignature')
    const code = result === null ? undefined : harmless(result).slice(0, 60)
    if (status === 'failed' || status === 'failure')
      return {
        ...failed(status, effectOf(entry, kind, type), code),
        ...(correlation !== null && {
          refutes: { object: correlation, because: `status ${status}` },
        }),
      }
    if (status !== 'succeeded' && status !== 'success')
      return { skipped: `status ${harmless(status ?? 'missing')}: not the end of the operation` }
    // A long operation that was only taken in answers with 202.
    if (valueAt(entry, 'subStatus')?.toLowerCase() === 'accepted')
      return { skipped: 'sub-status Accepted: taken in, not done' }
    return effectOf(entry, kind, type)
  },
}

function effectOf(
  entry: JsonObject,
  kind: { action_class: string; verb: string },
  type: string,
): Reading {
  const correlation = textAt(entry, 'correlationId')
  const id = textAt(entry, 'eventDataId') ?? correlation
  if (id === null) return { skipped: 'the event has neither eventDataId nor correlationId' }
  const found = RESOURCE.exec(textAt(entry, 'resourceId') ?? '')
  if (!found) return { skipped: 'resourceId does not name one resource of a group' }
  const [, subscription, group, resourceType, name] = found as unknown as [string, ...string[]]
  if (resourceType?.toLowerCase() !== type.toLowerCase())
    return { skipped: 'the operation is on a part of the resource' }
  return {
    ...kind,
    record_id: id,
    values: {
      subscription: subscription as string,
      'resource-group': group as string,
      type,
      name: name as string,
    },
    occurred_at: isoOf(textAt(entry, 'eventTimestamp') ?? textAt(entry, 'time')),
    request_ids: texts(correlation, textAt(entry, 'httpRequest.clientRequestId')),
    actor: textAt(entry, 'caller'),
    object: correlation,
  }
}

const activities = {
  'Remove member from group': { action_class: 'entra_group_member', verb: 'remove' },
  'Delete group': { action_class: 'entra_group', verb: 'delete' },
}

export const entra: Importer = {
  name: 'entra',
  provider: 'entra',
  kinds: activities,
  recognises: (document) =>
    'activityDisplayName' in document && Array.isArray(document['targetResources']),
  entries: () => null,
  read(entry) {
    const activity = textAt(entry, 'activityDisplayName')
    if (activity === null) return { skipped: 'the entry has no activityDisplayName' }
    const kind = kindOf(activities, activity)
    if (!kind) return { unmapped: harmless(activity) }
    const result = textAt(entry, 'result')
    if (result === 'failure') return failed('result failure', changeOf(entry, kind))
    if (result !== 'success') return { skipped: `failed: result ${harmless(result ?? 'missing')}` }
    return changeOf(entry, kind)
  },
}

function changeOf(entry: JsonObject, kind: { action_class: string; verb: string }): Reading {
  const id = textAt(entry, 'id')
  if (id === null) return { skipped: 'the entry has no id' }
  const group = oneOf(entry, 'Group')
  const person = kind.verb === 'remove' ? oneOf(entry, 'User') : null
  if (group === null) return { skipped: 'the entry does not name one group' }
  if (kind.verb === 'remove' && person === null)
    return { skipped: 'the entry does not name one person' }
  return {
    ...kind,
    record_id: id,
    values: { groupId: group, directoryObjectId: person },
    occurred_at: isoOf(textAt(entry, 'activityDateTime')),
    request_ids: texts(textAt(entry, 'correlationId')),
    actor:
      textAt(entry, 'initiatedBy.user.userPrincipalName') ??
      textAt(entry, 'initiatedBy.app.servicePrincipalId'),
    object: id,
  }
}

/** The id of the one target of a type, or null where there is none or several. */
function oneOf(entry: JsonObject, type: string): string | null {
  const targets = at(entry, 'targetResources')
  const found = Array.isArray(targets)
    ? targets.filter(isObject).filter((one) => textAt(one, 'type') === type)
    : []
  return found.length === 1 ? textAt(found[0], 'id') : null
}
