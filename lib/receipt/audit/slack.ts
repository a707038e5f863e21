/**
 * Slack's audit logs (Enterprise plan): who joined or left which channel.
 *
 * The entry's actor is the one who joined, not the one who invited; an inviter stands in `details`. Slack says that a workspace is
 * the place of an entry, but a channel id names its channel alone, so the target is channel and person.
 */
import type { Json, JsonObject } from '../../json.ts'
import { at } from '../surface/classifier.ts'
import { harmless, targetHash } from '../surface/target.ts'
import type { ProviderImporter } from './import.ts'

const VERBS: { [action: string]: string } = {
  user_channel_join: 'add',
  user_channel_leave: 'remove',
}

export const slack: ProviderImporter = {
  provider: 'slack',
  unwrap: (document) =>
    Array.isArray(document['entries']) ? (document['entries'] as Json[]) : null,
  map(entry) {
    const action = textAt(entry, 'action')
    if (action === null) return { skipped: 'the entry has no action' }
    const verb = Object.hasOwn(VERBS, action) ? VERBS[action] : undefined
    if (!verb) return { unmapped: harmless(action) }
    const id = textAt(entry, 'id')
    if (id === null) return { skipped: 'the entry has no id' }
    const channel = textAt(entry, 'entity.channel.id')
    const user = textAt(entry, 'actor.user.id')
    if (channel === null || user === null)
      return { skipped: 'the entry does not name a channel and a user' }
    const created = entry['date_create']
    return {
      record_id: id,
      subject: {
        action_class: 'workspace_member',
        verb,
        target: {
          channel_id_hash: targetHash('slack_channel', channel),
          principal_hash: targetHash('slack_principal', user),
        },
      },
      occurred_at:
        typeof created === 'number' && Math.abs(created) < 1e11
          ? new Date(created * 1000).toISOString()
          : null,
    }
  },
}

function textAt(entry: JsonObject, path: string): string | null {
  const value = at(entry, path)
  return typeof value === 'string' && value !== '' ? value : null
}
