/**
 * Google Workspace: activities of the Reports API for Drive and Calendar.
 *
 * One activity holds several events, and each names what it did in a list of parameters. An event
 * that Drive writes because of another one is not `primary_event`.
 */
import { isObject, type Json, type JsonObject } from '../../json.ts'
import { harmless } from '../surface/target.ts'
import { kindOf, textAt } from './entry-members.ts'
import type { Effect, Importer } from './importer.ts'
import { isoOf } from './time.ts'

const kinds = {
  'calendar:create_event': { action_class: 'google_calendar_event', verb: 'create' },
  'calendar:delete_event': { action_class: 'google_calendar_event', verb: 'delete' },
  'drive:create': { action_class: 'google_drive_item', verb: 'create' },
  'drive:upload': { action_class: 'google_drive_item', verb: 'create' },
  'drive:trash': { action_class: 'google_drive_item', verb: 'trash' },
  'drive:change_user_access': { action_class: 'google_drive_access', verb: 'grant' },
}

/** What Drive's log calls a role -> what its API does. */
const ROLES: { [logged: string]: string } = {
  can_view: 'reader',
  can_comment: 'commenter',
  can_edit: 'writer',
}

export const google: Importer = {
  name: 'google',
  provider: 'google_workspace',
  kinds,
  recognises: (document) =>
    document['kind'] === 'admin#reports#activity' ||
    (textAt(document, 'id.applicationName') !== null && Array.isArray(document['events'])),
  entries: () => null,
  read(entry) {
    const application = textAt(entry, 'id.applicationName')
    const id = textAt(entry, 'id.uniqueQualifier')
    const events = entry['events']
    if (application === null || !Array.isArray(events))
      return { skipped: 'the activity names no application or no events' }
    if (id === null) return { skipped: 'the activity has no uniqueQualifier' }
    const readings = events.map((event, i) => readOne(entry, event, application, `${id}:${i}`))
    const [first, ...also] = readings.filter((one) => 'record_id' in one)
    if (first) return { ...first, also }
    return readings.find((one) => 'skipped' in one) ?? readings[0] ?? { skipped: 'no events' }
  },
}

function readOne(
  entry: JsonObject,
  event: Json,
  application: string,
  record_id: string,
): Effect | { skipped: string } | { unmapped: string } {
  const name = `${application}:${textAt(event, 'name') ?? '?'}`
  const kind = kindOf(kinds, name)
  if (!kind) return { unmapped: harmless(name) }
  const said = parametersOf(event)
  if (said['primary_event'] === false) return { skipped: 'an event that follows from another one' }
  const text = (parameter: string) => {
    const value = said[parameter]
    return typeof value === 'string' && value !== '' ? value : null
  }
  const common = {
    ...kind,
    record_id,
    occurred_at: isoOf(textAt(entry, 'id.time')),
    actor: textAt(entry, 'actor.email'),
  }
  if (application === 'calendar') {
    const [event_id, summary] = [text('event_id'), text('event_title')]
    const values = { calendar_id: text('calendar_id'), event_id, summary }
    return { ...common, values, object: event_id }
  }
  const file = text('doc_id')
  const user_google_email = common.actor
  if (kind.verb !== 'grant')
    return {
      ...common,
      values: { file_id: file, file_name: text('doc_title'), user_google_email },
      object: file,
    }
  const [before, after] = [said['old_value'], said['new_value']]
  // Only from no access to one role: everything else changes what a person had.
  if (!isOne(before, 'none')) return { skipped: 'a change of access that the person already had' }
  const role = Array.isArray(after) && after.length === 1 ? ROLES[String(after[0])] : undefined
  if (role === undefined) return { skipped: 'the new access is not one known role' }
  const person = text('target_user')
  return { ...common, values: { file_id: file, share_with: person, role }, object: record_id }
}

function isOne(value: Json | undefined, word: string): boolean {
  return Array.isArray(value) && value.length === 1 && value[0] === word
}

function parametersOf(event: Json): { [name: string]: Json } {
  const made: { [name: string]: Json } = Object.create(null)
  const list = isObject(event) ? event['parameters'] : null
  for (const one of Array.isArray(list) ? list : []) {
    const name = textAt(one, 'name')
    if (name === null || !isObject(one)) continue
    const value = one['value'] ?? one['boolValue'] ?? one['multiValue'] ?? one['intValue']
    if (value !== undefined) made[name] = value
  }
  return made
}
