/**
 * GitLab audit events, as the REST API lists them and as streams deliver them.
 *
 * The name of an event stands in `event_type`, in `event_name` or among the details. A project is
 * named by its path: a call that names it by number binds to nothing.
 */
import { harmless } from '../surface/target.ts'
import { idAt, kindOf, textAt, texts } from './entry-members.ts'
import type { Importer } from './importer.ts'
import { isoOf } from './time.ts'

const kinds = {
  protected_branch_created: { action_class: 'gitlab_protected_branch', verb: 'protect' },
  protected_branch_removed: { action_class: 'gitlab_protected_branch', verb: 'unprotect' },
}

export const gitlab: Importer = {
  name: 'gitlab',
  provider: 'gitlab',
  kinds,
  recognises: (document) =>
    'entity_type' in document && 'details' in document && 'author_id' in document,
  entries: () => null,
  read(entry) {
    const name =
      [textAt(entry, 'event_type'), textAt(entry, 'event_name')].find(
        (one) => one !== null && one !== 'audit_operation',
      ) ?? textAt(entry, 'details.event_name')
    if (name === null || name === undefined) return { unmapped: 'an event without a name' }
    const kind = kindOf(kinds, name)
    if (!kind) return { unmapped: harmless(name) }
    const id = idAt(entry, 'id')
    if (id === null) return { skipped: 'the event has no id' }
    const failed = textAt(entry, 'details.failed_login') ?? textAt(entry, 'details.error')
    if (failed !== null) return { skipped: `failed: ${harmless(failed).slice(0, 60)}` }
    if (textAt(entry, 'entity_type') !== 'Project')
      return { skipped: 'the event is not about a project' }
    return {
      ...kind,
      record_id: id,
      values: {
        project_id: textAt(entry, 'details.entity_path') ?? textAt(entry, 'entity_path'),
        branch_name: textAt(entry, 'details.target_details') ?? textAt(entry, 'target_details'),
      },
      occurred_at: isoOf(textAt(entry, 'created_at')),
      request_ids: texts(textAt(entry, 'details.correlation_id')),
      actor: textAt(entry, 'details.author_email') ?? textAt(entry, 'details.author_name'),
      object: id,
    }
  },
}
