/** Kubernetes: objects of any kind, by resource, namespace and name. */
import type { Answer, Classifier } from '../classifier.ts'
import { PRIVILEGED, text } from '../fields.ts'

const meta = { name: ['metadata.name'], namespace: ['metadata.namespace'] }

/** A list object such as a PodList: whole when its metadata names no next page. */
const answers: Answer[] = [
  {
    items: 'items',
    from: meta,
    beside: ['kind', 'apiVersion', 'metadata.resourceVersion', 'metadata.selfLink'],
    whole: [{ empty: 'metadata.continue' }, { empty: 'metadata.remainingItemCount' }],
  },
]

export const kubernetesObject: Classifier = {
  ...PRIVILEGED,
  category: 'kubernetes_object',
  provider: 'kubernetes',
  servers: ['kubernetes', 'k8s', 'kubectl'],
  resource_type: 'kubernetes_object',
  scope: 'cluster:objects:write',
  reason_code: 'classified_kubernetes_object',
  tools: {
    create_object: 'create',
    delete_object: 'delete',
    update_object: 'update',
    patch_object: 'patch',
  },
  effects: {
    create: {
      shown: { by: 'presence', reads: ['list_objects', 'kubectl_get'] },
      recorded: ['create'],
      undone: ['delete'],
      once: true,
    },
    delete: {
      shown: { by: 'absence', reads: ['list_objects', 'kubectl_get'] },
      recorded: ['delete'],
      undone: ['create'],
    },
    update: {
      shown: {
        by: 'nothing',
        because: 'the object was there before; the call names no changed value',
      },
      recorded: ['update'],
    },
    patch: {
      shown: {
        by: 'nothing',
        because: 'the object was there before; the call names no changed value',
      },
      recorded: ['patch'],
    },
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
  // A call without a namespace means the default one of the credentials, which nobody here knows.
  // `status` of an object is another effect than the object.
  // Where the call does not name the group, the plural of the resource does.
  binding: { all: ['resource', 'name'], any: ['namespace', 'subresource'], agree: ['api_group'] },
  scoped: ['namespace', 'resource', 'api_group'],
  reads: { list_objects: { verb: 'list', answers, arguments: ['limit'] } },
}
