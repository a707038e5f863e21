/**
 * A company account: roles of people and API tokens, in the words of tool-decision surface v0.
 * Okta's log records them.
 */
import type { Answer, Classifier, Read, Shown } from '../classifier.ts'
import { folded, hashed, PRIVILEGED, text } from '../fields.ts'

const failed = [{ member: 'ok', is: false }]
const listed = (items: string): Answer => ({
  items,
  beside: ['ok'],
  failed,
  whole: [{ member: 'ok', is: true }, { empty: 'next' }],
})
const roles: Read = { verb: 'list', answers: [listed('roles')] }
const tokens: Read = {
  verb: 'list_tokens',
  answers: [{ ...listed('tokens'), from: { token_id_hash: ['id'], token_name_hash: ['name'] } }],
}

const common = {
  ...PRIVILEGED,
  provider: 'workspace',
  servers: ['workspace', 'okta'],
  scope: 'workspace:admin',
  reason_code: 'classified_workspace_admin',
  required: [
    { fields: ['workspace_id_hash'], detail: 'missing_workspace_id' },
    { fields: ['principal_hash'], detail: 'missing_workspace_principal' },
  ],
  resource_type: 'workspace_role',
  binding: { all: ['workspace_id_hash', 'principal_hash'], any: ['role'] },
  scoped: ['workspace_id_hash'],
  reads: { list_roles: roles, list_tokens: tokens },
}
const fields = [
  hashed('workspace_id_hash', 'workspace', 'workspace_id', 'workspace', 'org'),
  // Okta documents that logins are not case-sensitive.
  folded('principal_hash', 'workspace_principal', 'principal', 'user'),
  text('role'),
]
const roleShown: Shown = { by: 'value', reads: ['list_roles'], member: 'role' }
const NO_ENTRY = { none: 'the log has no entry that names workspace, person and change' }

/** The classifier of tool-decision surface v0. */
export const workspaceAdmin: Classifier = {
  ...common,
  category: 'workspace_admin',
  tools: {
    grant_admin: 'grant',
    change_role: 'change_role',
    invite_external: 'invite',
    modify_org_policy: 'modify',
    create_workspace_token: 'create',
  },
  effects: {
    grant: {
      shown: { by: 'presence', reads: ['list_roles'] },
      recorded: ['user.account.privilege.grant'],
      undone: ['revoke', 'change_role'],
      once: true,
    },
    change_role: {
      shown: roleShown,
      recorded: { none: 'the log writes a changed role like a new one' },
      undone: ['revoke', 'change_role', 'grant'],
      once: true,
    },
    invite: {
      shown: { by: 'nothing', because: 'no list shows who was invited and has not come' },
      recorded: NO_ENTRY,
      once: true,
    },
    modify: {
      shown: { by: 'nothing', because: 'the call does not say what it sets' },
      recorded: NO_ENTRY,
    },
    create: {
      shown: { by: 'presence', reads: ['list_tokens'] },
      recorded: ['system.api_token.create'],
      undone: ['revoke_token'],
      binding: { all: ['workspace_id_hash', 'principal_hash', 'token_name_hash'], agree: ['role'] },
    },
  },
  fields: [...fields, hashed('token_name_hash', 'workspace_token_name', 'name', 'token_name')],
}

export const workspaceRevocation: Classifier = {
  ...common,
  category: 'workspace_revocation',
  tools: {
    revoke_admin: 'revoke',
    revoke_role: 'revoke',
    revoke_workspace_token: 'revoke_token',
  },
  effects: {
    revoke: {
      shown: { by: 'absence', reads: ['list_roles'] },
      recorded: ['user.account.privilege.revoke'],
      undone: ['grant', 'change_role'],
    },
    revoke_token: {
      shown: { by: 'absence', reads: ['list_tokens'] },
      recorded: ['system.api_token.revoke'],
      binding: { all: ['workspace_id_hash', 'token_id_hash'], agree: ['principal_hash', 'role'] },
    },
  },
  fields: [...fields, hashed('token_id_hash', 'workspace_token_id', 'token_id')],
}
