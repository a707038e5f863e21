/**
 * Okta's System Log: privileges and API tokens, for calls of the provider `workspace`.
 *
 * An entry has several targets; the one of type `User` is the person, the one of type `ROLE` the
 * role that was given or taken. `privilegeGranted` in the debug data lists every role that the
 * person now has, so it names no effect. The log writes a new privilege and a changed one alike, so
 * it can vouch for a grant and not for a change of role. An API token is a target of type `Token`
 * and belongs to the person who made it, the actor. No entry names its organisation: a delivery of
 * an event hook does, in `source`, and so may the reader of the export, as `scope`.
 */
import { isObject, type JsonObject } from '../../json.ts'
import { at } from '../surface/classifier.ts'
import { harmless } from '../surface/target.ts'
import { kindOf, textAt, texts } from './entry-members.ts'
import { failed, type Importer, type Reading } from './importer.ts'
import { isoOf } from './time.ts'

const kinds = {
  'user.account.privilege.grant': { action_class: 'workspace_role', verb: 'grant' },
  'user.account.privilege.revoke': { action_class: 'workspace_role', verb: 'revoke' },
  'system.api_token.create': { action_class: 'workspace_role', verb: 'create' },
  'system.api_token.revoke': { action_class: 'workspace_role', verb: 'revoke_token' },
}

export const okta: Importer = {
  name: 'okta',
  provider: 'workspace',
  kinds,
  recognises: (document) =>
    ('eventType' in document && 'published' in document) ||
    Array.isArray(at(document, 'data.events')),
  entries(document) {
    const events = at(document, 'data.events')
    return Array.isArray(events) ? events : null
  },
  // "https://acme.okta.com/api/v1/eventHooks/who8vt36qfNpCGz9H1e6"
  scopeOf: (document) =>
    /^https:\/\/([a-z0-9-]+)\.okta(?:-emea|preview)?\.com\//.exec(
      textAt(document, 'source') ?? '',
    )?.[1] ?? null,
  read(entry, scope) {
    const event = textAt(entry, 'eventType')
    if (event === null) return { skipped: 'the event has no eventType' }
    const kind = kindOf(kinds, event)
    if (!kind) return { unmapped: harmless(event) }
    const result = textAt(entry, 'outcome.result')
    if (result === 'FAILURE' || result === 'DENY')
      return failed(`outcome ${result}`, effectOf(entry, kind, scope))
    if (result !== 'SUCCESS') return { skipped: `failed: outcome ${harmless(result ?? 'missing')}` }
    return effectOf(entry, kind, scope)
  },
}

function effectOf(
  entry: JsonObject,
  kind: { action_class: string; verb: string },
  scope: string | null,
): Reading {
  const id = textAt(entry, 'uuid')
  if (id === null) return { skipped: 'the event has no uuid' }
  if (scope === null) return { skipped: 'nothing names the organisation: give it as scope' }
  const isToken = textAt(entry, 'eventType')?.startsWith('system.api_token.') === true
  const token = isToken ? oneOf(entry, 'Token') : null
  if (isToken && token === null) return { skipped: 'the event does not name one token' }
  const person = oneOf(entry, 'User')
  if (!isToken && person === null) return { skipped: 'the event does not name one person' }
  const role = isToken ? null : oneOf(entry, 'ROLE')
  if (!isToken && role === null) return { skipped: 'the event does not name one role' }
  const actor = textAt(entry, 'actor.alternateId')
  return {
    ...kind,
    record_id: id,
    values: {
      workspace_id: scope,
      principal: kind.verb === 'create' ? actor : person && textAt(person, 'alternateId'),
      role: role && textAt(role, 'displayName'),
      name: token && textAt(token, 'displayName'),
      token_id: token && textAt(token, 'id'),
    },
    occurred_at: isoOf(textAt(entry, 'published')),
    request_ids: texts(
      textAt(entry, 'transaction.id'),
      textAt(entry, 'debugContext.debugData.requestId'),
    ).filter((one) => one !== 'unknown'),
    actor,
  }
}

/** The one target of a type, or null where there is none or several. */
function oneOf(entry: JsonObject, type: string): JsonObject | null {
  const targets = entry['target']
  const found = Array.isArray(targets)
    ? targets
        .filter(isObject)
        .filter((one) => textAt(one, 'type')?.toLowerCase() === type.toLowerCase())
    : []
  return found.length === 1 ? (found[0] as JsonObject) : null
}
