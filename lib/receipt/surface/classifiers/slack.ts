/** Slack: members of a channel or a workspace. */
import type { Classifier, Field, Read } from '../classifier.ts'
import { PRIVILEGED, v0Hash } from '../fields.ts'

const nullable = ([folded, exact]: [Field, Field]): Field[] => [
  { ...folded, nullable: true },
  exact,
]
const fields = [
  ...nullable(v0Hash('workspace_id', 'slack_workspace', 'workspace_id', 'workspace', 'team_id')),
  ...nullable(v0Hash('channel_id', 'slack_channel', 'channel_id', 'channel')),
  ...v0Hash('principal', 'slack_principal', 'user_id', 'user'),
]
const exact = [
  'workspace_id_hash',
  'workspace_id_exact_hash',
  'channel_id_exact_hash',
  'principal_exact_hash',
]
const required = [
  { fields: ['principal_hash'], detail: 'missing_slack_principal' },
  { fields: ['workspace_id_hash', 'channel_id_hash'], detail: 'missing_slack_scope' },
]

/** `conversations.members` answers with user ids. An empty cursor marks the last page. */
const list: Read = {
  verb: 'list',
  arguments: ['limit'],
  answers: [
    {
      items: 'members',
      bare: ['principal_hash', 'principal_exact_hash'],
      beside: ['ok'],
      failed: [{ member: 'ok', is: false }],
      whole: [
        { member: 'ok', is: true },
        { empty: 'response_metadata.next_cursor' },
        { empty: 'next_cursor' },
      ],
    },
  ],
}
const reads = { list_members: list, list_channel_members: list }

const common = {
  ...PRIVILEGED,
  provider: 'slack',
  resource_type: 'workspace_member',
  scope: 'conversations:members:write',
  fields,
  required,
  // A channel id names its channel alone. The log speaks of channels only, so a call without one
  // binds to nothing.
  binding: { all: ['channel_id_hash', 'principal_hash'], agree: exact },
  scoped: ['workspace_id_hash', 'channel_id_hash'],
  reads,
}

/** The classifier of tool-decision surface v0. */
export const addMember: Classifier = {
  ...common,
  category: 'slack_add_member',
  reason_code: 'classified_slack_add_member',
  tools: { add_member: 'add', invite: 'add' },
  effects: {
    add: {
      shown: { by: 'presence', reads: Object.keys(reads) },
      recorded: ['user_channel_join'],
      undone: ['remove'],
      once: true,
    },
  },
}

export const removeMember: Classifier = {
  ...common,
  category: 'slack_remove_member',
  reason_code: 'classified_slack_remove_member',
  tools: { remove_member: 'remove', kick: 'remove' },
  effects: {
    remove: {
      shown: { by: 'absence', reads: Object.keys(reads) },
      recorded: ['user_channel_leave'],
      undone: ['add'],
    },
  },
}
