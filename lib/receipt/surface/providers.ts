/**
 * The classifiers that ship: first the three of tool-decision surface v0, word for word in what they write, then ours.
 *
 * v0 lets only deploy keys bind. The binding and the reads of the other classes are ours, and so is every classifier below
 * the line; their digests are no part of v0.
 */
import type { Classifier, Field } from './classifier.ts'

const text = (name: string, ...from: string[]): Field => ({
  name,
  kind: 'text',
  from: from.length ? from : [name],
})
const flag = (name: string): Field => ({ name, kind: 'flag', from: [name] })
const amount = (name: string): Field => ({ name, kind: 'amount', from: [name] })
const hashed = (name: string, domain: string, ...from: string[]): Field => ({
  name,
  kind: 'hash',
  domain,
  from,
})

const PRIVILEGED = {
  class: 'privileged_admin_action',
  irreversibility: 'one_way_consequential',
} as const

const keys = { list_deploy_keys: { verb: 'list', items: 'deploy_keys' } }
const members = { list_members: { verb: 'list', items: 'members' } }
const roles = { list_roles: { verb: 'list', items: 'roles' } }

const V0: readonly Classifier[] = [
  {
    ...PRIVILEGED,
    category: 'github_deploy_key',
    provider: 'github',
    resource_type: 'github_deploy_key',
    scope: 'repo:deploy_key:write',
    reason_code: 'classified_github_deploy_key',
    tools: { add_deploy_key: 'create', create_deploy_key: 'create' },
    fields: [
      text('owner'),
      text('repo'),
      hashed('key_title_hash', 'github_key_title', 'title', 'key_title'),
      flag('read_only'),
    ],
    required: [
      { fields: ['owner'], detail: 'missing_github_owner_or_repo' },
      { fields: ['repo'], detail: 'missing_github_owner_or_repo' },
    ],
    kept: ['owner'],
    binding: { all: ['owner', 'repo', 'key_title_hash'] },
    attribute: 'read_only',
    undone: { create: ['delete'] },
    scoped: ['owner', 'repo'],
    reads: keys,
  },
  {
    ...PRIVILEGED,
    category: 'slack_add_member',
    provider: 'slack',
    resource_type: 'workspace_member',
    scope: 'conversations:members:write',
    reason_code: 'classified_slack_add_member',
    tools: { add_member: 'add', invite: 'add' },
    fields: [
      {
        ...hashed('workspace_id_hash', 'slack_workspace', 'workspace_id', 'workspace', 'team_id'),
        nullable: true,
      },
      { ...hashed('channel_id_hash', 'slack_channel', 'channel_id', 'channel'), nullable: true },
      hashed('principal_hash', 'slack_principal', 'user_id', 'user'),
    ],
    required: [
      { fields: ['principal_hash'], detail: 'missing_slack_principal' },
      { fields: ['workspace_id_hash', 'channel_id_hash'], detail: 'missing_slack_scope' },
    ],
    binding: { all: ['principal_hash'], some: ['workspace_id_hash', 'channel_id_hash'] },
    undone: { add: ['remove'] },
    sets: ['add'],
    scoped: ['workspace_id_hash', 'channel_id_hash'],
    reads: { ...members, list_channel_members: members.list_members },
  },
  {
    ...PRIVILEGED,
    category: 'workspace_admin',
    provider: 'workspace',
    resource_type: 'workspace_role',
    scope: 'workspace:admin',
    reason_code: 'classified_workspace_admin',
    tools: {
      grant_admin: 'grant',
      change_role: 'change_role',
      invite_external: 'invite',
      modify_org_policy: 'modify',
      create_workspace_token: 'create',
    },
    fields: [
      hashed('workspace_id_hash', 'workspace', 'workspace_id', 'workspace', 'org'),
      hashed('principal_hash', 'workspace_principal', 'principal', 'user'),
      text('role'),
    ],
    required: [
      { fields: ['workspace_id_hash'], detail: 'missing_workspace_id' },
      { fields: ['principal_hash'], detail: 'missing_workspace_principal' },
    ],
    binding: { all: ['workspace_id_hash', 'principal_hash'], any: ['role'] },
    undone: {
      grant: ['revoke', 'change_role'],
      change_role: ['revoke', 'change_role', 'grant'],
      create: ['revoke_token'],
    },
    sets: ['grant', 'change_role', 'invite'],
    scoped: ['workspace_id_hash'],
    reads: roles,
  },
]

const OURS: readonly Classifier[] = [
  {
    ...PRIVILEGED,
    category: 'github_deploy_key_removal',
    provider: 'github',
    resource_type: 'github_deploy_key',
    scope: 'repo:deploy_key:write',
    reason_code: 'classified_github_deploy_key',
    tools: { delete_deploy_key: 'delete', remove_deploy_key: 'delete' },
    fields: [text('owner'), text('repo'), hashed('key_id_hash', 'github_key_id', 'key_id', 'id')],
    required: [
      { fields: ['owner'], detail: 'missing_github_owner_or_repo' },
      { fields: ['repo'], detail: 'missing_github_owner_or_repo' },
    ],
    kept: ['owner'],
    // GitHub's log names a removed key by title and fingerprint, never by id: such a call climbs by a read, not by a record.
    binding: { all: ['owner', 'repo', 'key_id_hash'] },
    undone: {},
    removes: ['delete'],
    scoped: ['owner', 'repo'],
    reads: keys,
  },
  {
    ...PRIVILEGED,
    category: 'github_collaborator',
    provider: 'github',
    resource_type: 'github_collaborator',
    scope: 'repo:admin',
    reason_code: 'classified_github_collaborator',
    tools: { add_collaborator: 'add', remove_collaborator: 'remove' },
    fields: [
      text('owner'),
      text('repo'),
      hashed('principal_hash', 'github_principal', 'username', 'user', 'login'),
      text('permission'),
    ],
    required: [
      { fields: ['owner'], detail: 'missing_github_owner_or_repo' },
      { fields: ['repo'], detail: 'missing_github_owner_or_repo' },
      { fields: ['principal_hash'], detail: 'missing_github_principal' },
    ],
    kept: ['owner'],
    binding: { all: ['owner', 'repo', 'principal_hash'] },
    attribute: 'permission',
    undone: { add: ['remove'], remove: ['add'] },
    removes: ['remove'],
    sets: ['add'],
    scoped: ['owner', 'repo'],
    reads: { list_collaborators: { verb: 'list', items: 'collaborators' } },
  },
  {
    ...PRIVILEGED,
    category: 'slack_remove_member',
    provider: 'slack',
    resource_type: 'workspace_member',
    scope: 'conversations:members:write',
    reason_code: 'classified_slack_remove_member',
    tools: { remove_member: 'remove', kick: 'remove' },
    fields: [
      {
        ...hashed('workspace_id_hash', 'slack_workspace', 'workspace_id', 'workspace', 'team_id'),
        nullable: true,
      },
      { ...hashed('channel_id_hash', 'slack_channel', 'channel_id', 'channel'), nullable: true },
      hashed('principal_hash', 'slack_principal', 'user_id', 'user'),
    ],
    required: [
      { fields: ['principal_hash'], detail: 'missing_slack_principal' },
      { fields: ['workspace_id_hash', 'channel_id_hash'], detail: 'missing_slack_scope' },
    ],
    binding: { all: ['principal_hash'], some: ['workspace_id_hash', 'channel_id_hash'] },
    undone: { remove: ['add'] },
    removes: ['remove'],
    scoped: ['workspace_id_hash', 'channel_id_hash'],
    reads: members,
  },
  {
    ...PRIVILEGED,
    category: 'workspace_revocation',
    provider: 'workspace',
    resource_type: 'workspace_role',
    scope: 'workspace:admin',
    reason_code: 'classified_workspace_admin',
    tools: {
      revoke_admin: 'revoke',
      revoke_role: 'revoke',
      revoke_workspace_token: 'revoke_token',
    },
    fields: [
      hashed('workspace_id_hash', 'workspace', 'workspace_id', 'workspace', 'org'),
      hashed('principal_hash', 'workspace_principal', 'principal', 'user'),
      text('role'),
    ],
    required: [
      { fields: ['workspace_id_hash'], detail: 'missing_workspace_id' },
      { fields: ['principal_hash'], detail: 'missing_workspace_principal' },
    ],
    binding: { all: ['workspace_id_hash', 'principal_hash'], any: ['role'] },
    undone: { revoke: ['grant', 'change_role'] },
    removes: ['revoke'],
    scoped: ['workspace_id_hash'],
    reads: roles,
  },
  {
    class: 'money_movement',
    irreversibility: 'one_way_consequential',
    category: 'payment_charge',
    provider: 'stripe',
    resource_type: 'payment_charge',
    scope: 'charges:write',
    reason_code: 'classified_payment_charge',
    tools: { create_charge: 'create' },
    fields: [
      amount('amount'),
      text('currency'),
      hashed('customer_hash', 'payment_customer', 'customer', 'customer_id'),
      hashed('idempotency_key_hash', 'payment_idempotency_key', 'idempotency_key'),
    ],
    required: [
      { fields: ['amount'], detail: 'missing_payment_amount' },
      { fields: ['currency'], detail: 'missing_payment_currency' },
    ],
    // Amount, currency and customer say which charge; the idempotency key, where both sides have one, says which attempt.
    binding: { all: ['amount', 'currency', 'customer_hash'] },
    attribute: 'idempotency_key_hash',
    scoped: [],
    reads: { list_charges: { verb: 'list', items: 'charges' } },
  },
  {
    class: 'money_movement',
    irreversibility: 'one_way_consequential',
    category: 'payment_refund',
    provider: 'stripe',
    resource_type: 'payment_refund',
    scope: 'refunds:write',
    reason_code: 'classified_payment_refund',
    tools: { create_refund: 'create' },
    fields: [hashed('charge_hash', 'payment_charge', 'charge', 'charge_id'), amount('amount')],
    required: [{ fields: ['charge_hash'], detail: 'missing_payment_charge' }],
    binding: { all: ['charge_hash'] },
    attribute: 'amount',
    scoped: [],
    reads: { list_refunds: { verb: 'list', items: 'refunds' } },
  },
  {
    ...PRIVILEGED,
    category: 'kubernetes_object',
    provider: 'kubernetes',
    resource_type: 'kubernetes_object',
    scope: 'cluster:objects:write',
    reason_code: 'classified_kubernetes_object',
    tools: {
      create_object: 'create',
      delete_object: 'delete',
      update_object: 'update',
      patch_object: 'patch',
    },
    fields: [
      text('namespace'),
      text('resource'),
      text('subresource'),
      text('api_group', 'api_group', 'apiGroup', 'group'),
      text('name'),
    ],
    required: [
      { fields: ['resource'], detail: 'missing_kubernetes_resource' },
      { fields: ['name'], detail: 'missing_kubernetes_name' },
    ],
    binding: { all: ['resource', 'name'], any: ['namespace', 'subresource', 'api_group'] },
    undone: { create: ['delete'], delete: ['create'] },
    removes: ['delete'],
    scoped: ['namespace', 'resource'],
    reads: { list_objects: { verb: 'list', items: 'items' } },
  },
  {
    ...PRIVILEGED,
    category: 'aws_iam_access_key',
    provider: 'aws',
    resource_type: 'aws_iam_access_key',
    scope: 'iam:CreateAccessKey',
    reason_code: 'classified_aws_iam_access_key',
    tools: { create_access_key: 'create' },
    fields: [hashed('user_hash', 'aws_iam_user', 'user_name', 'userName', 'UserName', 'user')],
    required: [{ fields: ['user_hash'], detail: 'missing_aws_user' }],
    binding: { all: ['user_hash'] },
    undone: {},
    scoped: ['user_hash'],
    reads: { list_access_keys: { verb: 'list', items: 'access_keys' } },
  },
  {
    ...PRIVILEGED,
    category: 'aws_iam_role_policy',
    provider: 'aws',
    resource_type: 'aws_iam_role_policy',
    scope: 'iam:AttachRolePolicy',
    reason_code: 'classified_aws_iam_role_policy',
    tools: { attach_role_policy: 'attach', detach_role_policy: 'detach' },
    fields: [
      text('role_name', 'role_name', 'roleName', 'RoleName'),
      text('policy_arn', 'policy_arn', 'policyArn', 'PolicyArn'),
    ],
    required: [
      { fields: ['role_name'], detail: 'missing_aws_role' },
      { fields: ['policy_arn'], detail: 'missing_aws_policy' },
    ],
    binding: { all: ['role_name', 'policy_arn'] },
    undone: { attach: ['detach'], detach: ['attach'] },
    removes: ['detach'],
    sets: ['attach'],
    scoped: ['role_name'],
    reads: { list_attached_role_policies: { verb: 'list', items: 'attached_policies' } },
  },
]

export const SHIPPED: readonly Classifier[] = [...V0, ...OURS]
