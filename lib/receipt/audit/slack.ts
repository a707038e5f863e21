/**
 * Slack's audit logs (Enterprise plan): who joined or left which channel.
 *
 * The entry's actor is the one who joined, not the one who invited; an inviter stands in `details`.
 * The place of an entry is `context.location`: a workspace, or the whole enterprise.
 */
import { harmless } from '../surface/target.ts'
import { kindOf, secondsAt, textAt } from './entry-members.ts'
import type { Importer } from './importer.ts'

const kinds = {
  user_channel_join: { action_class: 'workspace_member', verb: 'add' },
  user_channel_leave: { action_class: 'workspace_member', verb: 'remove' },
}

export const slack: Importer = {
  name: 'slack',
  provider: 'slack',
  kinds,
  recognises: (document) =>
    Array.isArray(document['entries']) || ('date_create' in document && 'entity' in document),
  entries: (document) => (Array.isArray(document['entries']) ? document['entries'] : null),
  read(entry) {
    const action = textAt(entry, 'action')
    if (action === null) return { skipped: 'the entry has no action' }
    const kind = kindOf(kinds, action)
    if (!kind) return { unmapped: harmless(action) }
    const id = textAt(entry, 'id')
    if (id === null) return { skipped: 'the entry has no id' }
    const channel = textAt(entry, 'entity.channel.id')
    const user = textAt(entry, 'actor.user.id')
    if (channel === null || user === null)
      return { skipped: 'the entry does not name a channel and a user' }
    const isWorkspace = textAt(entry, 'context.location.type') === 'workspace'
    return {
      ...kind,
      record_id: id,
      values: {
        channel_id: channel,
        user_id: user,
        workspace_id: isWorkspace ? textAt(entry, 'context.location.id') : null,
      },
      occurred_at: secondsAt(entry, 'date_create'),
      actor: textAt(entry, 'details.inviter.user.id') ?? textAt(entry, 'details.inviter.id'),
    }
  },
}
