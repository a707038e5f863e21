/** GitHub: deploy keys and collaborators of a repository. */
import type { Answer, Classifier } from '../classifier.ts'
import { flag, folded, hashed, PRIVILEGED, text, v0Hash } from '../fields.ts'

/**
 * REST lists are bare arrays of 30 items a page, 100 at most; the next page is named in a header
 * that no tool shows.
 */
const PAGE = {
  size: ['per_page', 'perPage'],
  page: ['page'],
  standard: 30,
  most: 100,
}

const place = [text('owner'), text('repo')]
const required = [
  { fields: ['owner'], detail: 'missing_github_owner_or_repo' },
  { fields: ['repo'], detail: 'missing_github_owner_or_repo' },
]

const keyFrom = {
  key_title_hash: ['title'],
  key_title_exact_hash: ['title'],
  key_id_hash: ['id'],
}
const keyAnswers: Answer[] = [{ items: '', from: keyFrom, whole: [PAGE] }]
const people: Answer[] = [
  {
    items: '',
    from: { principal_hash: ['login'], permission: ['role_name', 'permission'] },
    whole: [PAGE],
  },
  {
    items: 'collaborators',
    beside: ['ok'],
    failed: [{ member: 'ok', is: false }],
    whole: [{ member: 'ok', is: true }, { empty: 'next_cursor' }],
  },
]

/** The classifier of tool-decision surface v0, word for word in what it writes. */
export const deployKey: Classifier = {
  ...PRIVILEGED,
  category: 'github_deploy_key',
  provider: 'github',
  resource_type: 'github_deploy_key',
  scope: 'repo:deploy_key:write',
  reason_code: 'classified_github_deploy_key',
  tools: { add_deploy_key: 'create', create_deploy_key: 'create' },
  effects: {
    create: {
      shown: { by: 'presence', reads: ['list_deploy_keys'] },
      recorded: ['public_key.create'],
      undone: ['delete'],
    },
  },
  fields: [
    ...place,
    ...v0Hash('key_title', 'github_key_title', 'title', 'key_title'),
    flag('read_only'),
  ],
  required,
  kept: ['owner'],
  binding: {
    all: ['owner', 'repo', 'key_title_hash'],
    agree: ['key_title_exact_hash', 'read_only'],
  },
  scoped: ['owner', 'repo'],
  reads: { list_deploy_keys: { verb: 'list', answers: keyAnswers } },
}

export const deployKeyRemoval: Classifier = {
  ...PRIVILEGED,
  category: 'github_deploy_key_removal',
  provider: 'github',
  resource_type: 'github_deploy_key',
  scope: 'repo:deploy_key:write',
  reason_code: 'classified_github_deploy_key',
  tools: { delete_deploy_key: 'delete', remove_deploy_key: 'delete' },
  effects: {
    delete: {
      shown: { by: 'absence', reads: ['list_deploy_keys'] },
      recorded: { none: 'the log names a removed key by title and fingerprint, never by id' },
    },
  },
  fields: [...place, hashed('key_id_hash', 'github_key_id', 'key_id', 'id')],
  required,
  kept: ['owner'],
  binding: { all: ['owner', 'repo', 'key_id_hash'] },
  scoped: ['owner', 'repo'],
  reads: { list_deploy_keys: { verb: 'list', answers: keyAnswers } },
}

export const collaborator: Classifier = {
  ...PRIVILEGED,
  category: 'github_collaborator',
  provider: 'github',
  resource_type: 'github_collaborator',
  scope: 'repo:admin',
  reason_code: 'classified_github_collaborator',
  tools: { add_collaborator: 'add', remove_collaborator: 'remove' },
  effects: {
    add: {
      shown: { by: 'presence', reads: ['list_collaborators'] },
      recorded: ['repo.add_member'],
      undone: ['remove'],
      once: true,
    },
    remove: {
      shown: { by: 'absence', reads: ['list_collaborators'] },
      recorded: ['repo.remove_member'],
      undone: ['add'],
    },
  },
  fields: [
    ...place,
    folded('principal_hash', 'github_principal', 'username', 'user', 'login'),
    text('permission'),
  ],
  required: [...required, { fields: ['principal_hash'], detail: 'missing_github_principal' }],
  kept: ['owner'],
  binding: { all: ['owner', 'repo', 'principal_hash'], agree: ['permission'] },
  scoped: ['owner', 'repo'],
  reads: { list_collaborators: { verb: 'list', answers: people } },
}
