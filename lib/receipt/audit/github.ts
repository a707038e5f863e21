/**
 * GitHub's organisation audit log, as its export, its REST list and its streaming write it.
 *
 * A deploy key is `public_key.create` with a `repo` (a user's key has none). There is no `deploy_key.*` action in the audit
 * log; that is the name of a webhook. Old exports lack `_document_id` and write numbers as texts.
 */
import type { JsonObject } from '../../json.ts'
import { harmless, targetHash } from '../surface/target.ts'
import type { Mapped, ProviderImporter } from './import.ts'
import { isoOf } from './time.ts'

const KEY_VERBS: { [action: string]: string } = {
  'public_key.create': 'create',
  'public_key.delete': 'delete',
}
const MEMBER_VERBS: { [action: string]: string } = {
  'repo.add_member': 'add',
  'repo.remove_member': 'remove',
}

export const github: ProviderImporter = {
  provider: 'github',
  unwrap: () => null,
  map(entry) {
    const action = textOf(entry['action'])
    if (action === null) return { skipped: 'the entry has no action' }
    if (/_failure$|\.failed/.test(action))
      return { skipped: `failed: ${harmless(action).slice(0, 60)}` }
    const key = own(KEY_VERBS, action)
    const member = own(MEMBER_VERBS, action)
    if (!key && !member) return { unmapped: harmless(action) }
    const id = textOf(entry['_document_id'])
    if (id === null)
      return { skipped: 'the entry has no _document_id, so it cannot be told from another' }
    const place = placeOf(entry)
    if (!place) return { skipped: key ? 'no repository: a user’s own key' : 'no repository' }
    const common = { record_id: id, occurred_at: timeOf(entry), request_ids: idsOf(entry) }
    if (member) return memberOf(entry, common, place, member)
    const title = textOf(entry['title'])
    if (title === null) return { skipped: 'no title, so the entry does not say which key' }
    const readOnly = flagOf(entry['read_only'])
    return {
      ...common,
      subject: {
        action_class: 'github_deploy_key',
        verb: key as string,
        target: { ...place, key_title_hash: targetHash('github_key_title', title) },
      },
      ...(readOnly !== null && { attributes: { read_only: readOnly } }),
    }
  },
}

type Common = { record_id: string; occurred_at: string | null; request_ids: string[] }

function memberOf(
  entry: JsonObject,
  common: Common,
  place: { owner: string; repo: string },
  verb: string,
): Mapped {
  const user = textOf(entry['user'])
  if (user === null) return { skipped: 'no user, so the entry does not say who' }
  const permission = textOf(entry['permission'])
  return {
    ...common,
    subject: {
      action_class: 'github_collaborator',
      verb,
      target: { ...place, principal_hash: targetHash('github_principal', user) },
    },
    ...(permission !== null && { attributes: { permission: harmless(permission) } }),
  }
}

/** `repo` is "owner/name"; REST lists of some ages say `repository`. */
function placeOf(entry: JsonObject): { owner: string; repo: string } | null {
  const full = textOf(entry['repo']) ?? textOf(entry['repository'])
  const parts = full?.split('/') ?? []
  if (parts.length !== 2 || parts.some((part) => part === '')) return null
  return { owner: harmless(parts[0] as string), repo: harmless(parts[1] as string) }
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

function idsOf(entry: JsonObject): string[] {
  const id = textOf(entry['request_id'])
  return id === null ? [] : [id]
}

function flagOf(value: unknown): boolean | null {
  if (typeof value === 'boolean') return value
  return value === 'true' ? true : value === 'false' ? false : null
}

function textOf(value: unknown): string | null {
  if (typeof value === 'number' && Number.isSafeInteger(value)) return String(value)
  return typeof value === 'string' && value !== '' ? value : null
}

function own<T>(map: { [name: string]: T }, name: string): T | undefined {
  return Object.hasOwn(map, name) ? map[name] : undefined
}
