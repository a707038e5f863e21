/**
 * Okta's System Log: privileges and API tokens, for calls of the provider `workspace`.
 *
 * An entry has several targets; the one of type `User` is the person. The log writes a new privilege and a changed one alike, as
 * `user.account.privilege.grant`, so it can vouch for a grant and not for a change of role. An entry that does not name its
 * organisation in the debug data (`org`) names no workspace and is skipped.
 */
import type { Json, JsonObject } from '../../json.ts'
import { at } from '../surface/classifier.ts'
import { isObject } from '../surface/decision.ts'
import { harmless, targetHash } from '../surface/target.ts'
import type { ProviderImporter } from './import.ts'
import { isoOf } from './time.ts'

const VERBS: { [event: string]: string } = {
  'user.account.privilege.grant': 'grant',
  'user.account.privilege.revoke': 'revoke',
  'system.api_token.create': 'create',
  'system.api_token.revoke': 'revoke_token',
}

export const okta: ProviderImporter = {
  provider: 'workspace',
  unwrap: () => null,
  map(entry) {
    const event = textAt(entry, 'eventType')
    if (event === null) return { skipped: 'the event has no eventType' }
    const verb = Object.hasOwn(VERBS, event) ? VERBS[event] : undefined
    if (!verb) return { unmapped: harmless(event) }
    const result = textAt(entry, 'outcome.result')
    if (result !== 'SUCCESS') return { skipped: `failed: outcome ${harmless(result ?? 'missing')}` }
    const id = textAt(entry, 'uuid')
    if (id === null) return { skipped: 'the event has no uuid' }
    const org = textAt(entry, 'debugContext.debugData.org')
    if (org === null) return { skipped: 'the event names no organisation' }
    const person = personIn(entry['target'])
    if (person === null) return { skipped: 'the event does not name one person' }
    const role = textAt(entry, 'debugContext.debugData.privilegeGranted')
    return {
      record_id: id,
      subject: {
        action_class: 'workspace_role',
        verb,
        target: {
          workspace_id_hash: targetHash('workspace', org),
          principal_hash: targetHash('workspace_principal', person),
          ...(role !== null && { role: harmless(role) }),
        },
      },
      occurred_at: isoOf(textAt(entry, 'published')),
      request_ids: [
        textAt(entry, 'transaction.id'),
        textAt(entry, 'debugContext.debugData.requestId'),
      ].filter((one) => one !== null),
    }
  },
}

/** The login of the one target that is a person. */
function personIn(targets: Json | undefined): string | null {
  const people = Array.isArray(targets)
    ? targets.filter((one) => isObject(one) && one['type'] === 'User')
    : []
  return people.length === 1 ? textAt(people[0] as JsonObject, 'alternateId') : null
}

function textAt(entry: JsonObject, path: string): string | null {
  const value = at(entry, path)
  return typeof value === 'string' && value !== '' ? value : null
}
