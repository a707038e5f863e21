/**
 * The classifiers that ship: first the three of tool-decision surface v0, word for word in what
 * they write, then ours.
 *
 * v0 lets only deploy keys bind. The binding and the reads of the other classes are ours; their
 * digests are no part of v0.
 */
import type { Classifier } from '../classifier.ts'
import { accessKey, rolePolicy } from './aws.ts'
import { collaborator, deployKey, deployKeyRemoval } from './github.ts'
import { kubernetesObject } from './kubernetes.ts'
import { addMember, removeMember } from './slack.ts'
import { charge, refund } from './stripe.ts'
import { workspaceAdmin, workspaceRevocation } from './workspace.ts'

const V0: readonly Classifier[] = [deployKey, addMember, workspaceAdmin]

export const SHIPPED: readonly Classifier[] = [
  ...V0,
  deployKeyRemoval,
  collaborator,
  removeMember,
  workspaceRevocation,
  charge,
  refund,
  kubernetesObject,
  accessKey,
  rolePolicy,
]
