/**
 * AWS CloudTrail log files. Given the digest files that sign them and the public key, every record
 * says what came of the check.
 */
import type { JsonObject } from '../../json.ts'
import { at } from '../surface/classifier.ts'
import { harmless } from '../surface/target.ts'
import { kindOf, textAt, texts } from './entry-members.ts'
import { failed, type Importer, type Reading } from './importer.ts'
import { isoOf } from './time.ts'
import { authenticityOf } from './trail-digests.ts'

const effect = (action_class: string, verb: string) => ({ action_class, verb })
const kinds = {
  CreateAccessKey: effect('aws_iam_access_key', 'create'),
  DeleteAccessKey: effect('aws_iam_access_key', 'delete'),
  AttachRolePolicy: effect('aws_iam_role_policy', 'attach'),
  DetachRolePolicy: effect('aws_iam_role_policy', 'detach'),
  PutRolePolicy: effect('aws_iam_role_inline_policy', 'put'),
  DeleteRolePolicy: effect('aws_iam_role_inline_policy', 'delete'),
  CreateRole: effect('aws_iam_role', 'create'),
  CreateUser: effect('aws_iam_user', 'create'),
  DeleteUser: effect('aws_iam_user', 'delete'),
  AttachUserPolicy: effect('aws_iam_user_policy', 'attach'),
  DetachUserPolicy: effect('aws_iam_user_policy', 'detach'),
  PutUserPolicy: effect('aws_iam_user_inline_policy', 'put'),
  DeleteUserPolicy: effect('aws_iam_user_inline_policy', 'delete'),
  CreateGroup: effect('aws_iam_group', 'create'),
  DeleteGroup: effect('aws_iam_group', 'delete'),
  AddUserToGroup: effect('aws_iam_group_member', 'add'),
  RemoveUserFromGroup: effect('aws_iam_group_member', 'remove'),
  AttachGroupPolicy: effect('aws_iam_group_policy', 'attach'),
  DetachGroupPolicy: effect('aws_iam_group_policy', 'detach'),
}

export const cloudtrail: Importer = {
  name: 'cloudtrail',
  provider: 'aws',
  kinds,
  recognises: (document) =>
    Array.isArray(document['Records']) || ('eventSource' in document && 'eventName' in document),
  entries: (document) => (Array.isArray(document['Records']) ? document['Records'] : null),
  read(entry) {
    const name = textAt(entry, 'eventName')
    const source = textAt(entry, 'eventSource')
    if (name === null) return { skipped: 'the event has no eventName' }
    const kind = source === 'iam.amazonaws.com' ? kindOf(kinds, name) : undefined
    if (!kind) return { unmapped: harmless(`${source ?? '?'}:${name}`) }
    for (const member of ['errorCode', 'errorMessage'])
      if (entry[member] !== undefined && entry[member] !== null)
        return failed(harmless(entry[member]).slice(0, 60), effectOf(entry, kind))
    return effectOf(entry, kind)
  },
  authenticate: authenticityOf,
}

function effectOf(entry: JsonObject, kind: ReturnType<typeof effect>): Reading {
  const id = textAt(entry, 'eventID')
  if (id === null) return { skipped: 'no eventID: the old shape 1.0 names no event' }
  const omitted = at(entry, 'requestParameters.omitted')
  if (omitted === true || omitted === 'true')
    return { skipped: 'the request parameters were cut by CloudTrail' }
  // Some services log a request that asked only whether it would be allowed.
  const dryRun = at(entry, 'requestParameters.dryRun') ?? at(entry, 'requestParameters.DryRun')
  if (dryRun === true || dryRun === 'true') return { skipped: 'dry run: nothing was kept' }
  const asked = (field: string) => textAt(entry, `requestParameters.${field}`)
  return {
    ...kind,
    record_id: id,
    values: {
      // The answer repeats the user where the request left it to the credentials.
      user_name: asked('userName') ?? textAt(entry, 'responseElements.accessKey.userName'),
      role_name: asked('roleName'),
      group_name: asked('groupName'),
      policy_arn: asked('policyArn'),
      policy_name: asked('policyName'),
      access_key_id: asked('accessKeyId'),
    },
    occurred_at: isoOf(textAt(entry, 'eventTime')),
    request_ids: texts(textAt(entry, 'requestID')),
    actor: textAt(entry, 'userIdentity.arn') ?? textAt(entry, 'userIdentity.principalId'),
    object: textAt(entry, 'responseElements.accessKey.accessKeyId'),
  }
}
