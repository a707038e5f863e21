/** AWS IAM: access keys of users and policies of roles. IAM compares names byte for byte. */
import type { Answer, Classifier } from '../classifier.ts'
import { hashed, PRIVILEGED, text } from '../fields.ts'

/** IAM lists carry `IsTruncated`, and a `Marker` where it is true. */
const listed = (items: string, from: Answer['from'] & {}): Answer => ({
  items,
  from,
  beside: ['ResponseMetadata', 'UserName'],
  whole: [{ member: 'IsTruncated', is: false }, { empty: 'Marker' }],
})

export const accessKey: Classifier = {
  ...PRIVILEGED,
  category: 'aws_iam_access_key',
  provider: 'aws',
  servers: ['aws', 'iam'],
  resource_type: 'aws_iam_access_key',
  scope: 'iam:CreateAccessKey',
  reason_code: 'classified_aws_iam_access_key',
  tools: { create_access_key: 'create' },
  effects: {
    create: {
      shown: { by: 'nothing', because: 'the call does not name the key that the list would show' },
      recorded: ['CreateAccessKey'],
    },
  },
  fields: [hashed('user_hash', 'aws_iam_user', 'user_name', 'userName', 'UserName', 'user')],
  required: [{ fields: ['user_hash'], detail: 'missing_aws_user' }],
  binding: { all: ['user_hash'] },
  scoped: ['user_hash'],
  reads: {
    list_access_keys: {
      verb: 'list',
      answers: [listed('AccessKeyMetadata', { user_hash: ['UserName'] })],
    },
  },
}

export const rolePolicy: Classifier = {
  ...PRIVILEGED,
  category: 'aws_iam_role_policy',
  provider: 'aws',
  servers: ['aws', 'iam'],
  resource_type: 'aws_iam_role_policy',
  scope: 'iam:AttachRolePolicy',
  reason_code: 'classified_aws_iam_role_policy',
  tools: { attach_role_policy: 'attach', detach_role_policy: 'detach' },
  effects: {
    attach: {
      shown: { by: 'presence', reads: ['list_attached_role_policies'] },
      recorded: ['AttachRolePolicy'],
      undone: ['detach'],
      once: true,
    },
    detach: {
      shown: { by: 'absence', reads: ['list_attached_role_policies'] },
      recorded: ['DetachRolePolicy'],
      undone: ['attach'],
    },
  },
  fields: [
    text('role_name', 'role_name', 'roleName', 'RoleName'),
    text('policy_arn', 'policy_arn', 'policyArn', 'PolicyArn'),
  ],
  required: [
    { fields: ['role_name'], detail: 'missing_aws_role' },
    { fields: ['policy_arn'], detail: 'missing_aws_policy' },
  ],
  binding: { all: ['role_name', 'policy_arn'] },
  scoped: ['role_name'],
  reads: {
    list_attached_role_policies: {
      verb: 'list',
      answers: [listed('AttachedPolicies', { policy_arn: ['PolicyArn'] })],
    },
  },
}
