/**
 * GitHub's organisation audit log, as its export, its REST list and its streaming write it.
 *
 * A deploy key is `public_key.create` with a `repo` (a user's key has none). There is no
 * `deploy_key.*` action in the audit log; that is the name of a webhook. `public_key.delete` names
 * a key by title and a call names it by id, so it is not mapped. Old exports lack `_document_id`
 * and write numbers as texts.
 */
import type { JsonObject } from '../../json.ts'
import { harmless } from '../surface/target.ts'
import { idAt, kindOf, textAt, texts } from './entry-members.ts'
import type { Effect, Importer } from './importer.ts'
import { isoOf } from './time.ts'

const kinds = {
  'public_key.create': { action_class: 'github_deploy_key', verb: 'create' },
  'repo.add_member': { action_class: 'github_collaborator', verb: 'add' },
  'repo.remove_member': { action_class: 'github_collaborator', verb: 'remove' },
  'repo.create': { action_class: 'github_repository', verb: 'create' },
  'pull_request.merge': { action_class: 'github_pull_request_merge', verb: 'merge' },
  'workflows.cancel_workflow_run': { action_class: 'github_workflow_run', verb: 'cancel' },
  'workflows.rerun_workflow_run': { action_class: 'github_workflow_run', verb: 'rerun' },
}

/** Members of `repo.create` for a fork. */
const FORKED = ['fork_parent', 'fork_parent_id', 'fork_source', 'fork_source_id']

export const github: Importer = {
  name: 'github',
  provider: 'github',
  kinds,
  recognises: (document) =>
    typeof document['action'] === 'string' &&
    ['@timestamp', '_document_id', 'created_at'].some((name) => name in document),
  entries: () => null,
  read(entry) {
    const action = textAt(entry, 'action')
    if (action === null) return { skipped: 'the entry has no action' }
    if (/_failure$|\.failed/.test(action))
      return { skipped: `failed: ${harmless(action).slice(0, 60)}` }
    const kind = kindOf(kinds, action)
    if (!kind) return { unmapped: harmless(action) }
    const id = idAt(entry, '_document_id')
    if (id === null)
      return { skipped: 'the entry has no _document_id, so it cannot be told from another' }
    const place = placeOf(entry)
    const isKey = kind.action_class === 'github_deploy_key'
    if (!place) return { skipped: isKey ? 'no repository: a user’s own key' : 'no repository' }
    if (isKey && textAt(entry, 'title') === null)
      return { skipped: 'no title, so the entry does not say which key' }
    if (action === 'repo.create' && FORKED.some((name) => name in entry))
      return { skipped: 'a fork, which is another effect' }
    const values = valuesOf(entry, kind.action_class, place)
    if (values === null) return { skipped: 'the pull request is not one of the repository' }
    return {
      ...kind,
      record_id: id,
      values,
      occurred_at: timeOf(entry),
      request_ids: texts(idAt(entry, 'request_id')),
      actor: textAt(entry, 'actor'),
      object: isKey ? textAt(entry, 'fingerprint') : null,
    }
  },
}

/**
 * What the entry says of its object, by the names of a call's arguments; null where it contradicts
 * itself.
 */
function valuesOf(
  entry: JsonObject,
  action_class: string,
  place: { owner: string; repo: string },
): Effect['values'] | null {
  if (action_class === 'github_deploy_key')
    return { ...place, title: textAt(entry, 'title'), read_only: flagOf(entry['read_only']) }
  if (action_class === 'github_repository')
    return {
      organization: place.owner,
      name: place.repo,
      private: entry['visibility'] === undefined ? null : entry['visibility'] === 'private',
    }
  if (action_class === 'github_workflow_run')
    return { ...place, run_id: idAt(entry, 'workflow_run_id') }
  if (action_class === 'github_pull_request_merge') {
    const url = textAt(entry, 'pull_request_url')?.split('/') ?? []
    const [owner, repo, kind, number = ''] = url.slice(-4)
    if (!owner || !repo || kind !== 'pull' || !/^\d+$/.test(number))
      return { ...place, pullNumber: null }
    if (owner !== place.owner || repo !== place.repo) return null
    return { ...place, pullNumber: number }
  }
  return { ...place, username: textAt(entry, 'user'), permission: textAt(entry, 'permission') }
}

/** `repo` is "owner/name"; REST lists of some ages say `repository`. */
function placeOf(entry: JsonObject): { owner: string; repo: string } | null {
  const full = textAt(entry, 'repo') ?? textAt(entry, 'repository')
  const [owner = '', repo = '', ...more] = full?.split('/') ?? []
  return owner === '' || repo === '' || more.length > 0 ? null : { owner, repo }
}

/** Epoch milliseconds, as a number or as digits; an ISO text in some exports. */
function timeOf(entry: JsonObject): string | null {
  for (const name of ['@timestamp', 'created_at']) {
    const value = entry[name]
    const number = typeof value === 'string' && /^\d{12,14}$/.test(value) ? Number(value) : value
    const iso = isoOf(typeof number === 'number' || typeof number === 'string' ? number : null)
    if (iso !== null) return iso
  }
  return null
}

function flagOf(value: unknown): boolean | null {
  if (typeof value === 'boolean') return value
  return value === 'true' ? true : value === 'false' ? false : null
}
