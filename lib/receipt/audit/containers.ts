/**
 * What entries come wrapped in on their way out of a provider: log groups, event buses, lists of an
 * API, text inside JSON.
 *
 * A container is opened before any importer looks, so that one importer reads its entries wherever
 * they were delivered.
 */
import { isObject, type Json, type JsonObject, parse } from '../../json.ts'
import { at } from '../surface/classifier.ts'

/** Containers inside containers that are opened: a page of a delivery of a log line. */
export const MAX_DEPTH = 4

/**
 * What a container holds, or null for a document that is none. A text that is no JSON stays a text.
 */
export function unwrapped(document: JsonObject): Json[] | null {
  // EventBridge, and Stripe events or CloudTrail calls that it delivers.
  if (typeof document['detail-type'] === 'string' && isObject(document['detail']))
    return [document['detail']]
  // CloudWatch Logs: a subscription's message, and `aws logs filter-log-events`.
  for (const name of ['logEvents', 'events'])
    if (holds(document[name], 'message')) return textsOf(document[name] as Json[], 'message')
  // `aws cloudtrail lookup-events`
  if (holds(document['Events'], 'CloudTrailEvent'))
    return textsOf(document['Events'] as Json[], 'CloudTrailEvent')
  // Azure: diagnostic settings through an event hub or into a storage account, and lists of its
  // REST API.
  if (holds(document['records'], 'operationName') || holds(document['records'], 'category'))
    return document['records'] as Json[]
  if (holds(document['value'], 'operationName') || holds(document['value'], 'activityDisplayName'))
    return document['value'] as Json[]
  const category = document['category']
  if (typeof category === 'string' && typeof at(document, 'properties.log') === 'string')
    return textsOf([document['properties'] as JsonObject], 'log')
  if (category === 'AuditLogs' && isObject(document['properties'])) return [document['properties']]
  // Google: `gcloud logging read` by the API, and the Reports API.
  if (holds(document['entries'], 'logName')) return document['entries'] as Json[]
  if (document['kind'] === 'admin#reports#activities')
    return Array.isArray(document['items']) ? document['items'] : []
  return null
}

/** True for a list whose first entry has a member: an empty one is left to the importers. */
function holds(list: Json | undefined, member: string): boolean {
  return Array.isArray(list) && isObject(list[0]) && Object.hasOwn(list[0], member)
}

function textsOf(list: readonly Json[], member: string): Json[] {
  return list.map((one) => {
    const text = isObject(one) ? one[member] : undefined
    if (typeof text !== 'string') return one
    try {
      return parse(text, member)
    } catch {
      return text
    }
  })
}

const [OPEN, CLOSE, QUOTE, ESCAPE] = [0x5b, 0x5d, 0x22, 0x5c]
const BLANK = new Set([0x20, 0x09, 0x0a, 0x0d])

/**
 * Pages that stand back to back, `[...][...]`, as `gh api --paginate` writes them; null where there
 * is no second list.
 */
export function pagesIn(bytes: Uint8Array): Uint8Array[] | null {
  if (!mayHoldPages(bytes)) return null
  const pages: Uint8Array[] = []
  let [start, depth, inText] = [-1, 0, false]
  for (let i = 0; i < bytes.length; i++) {
    const byte = bytes[i] as number
    if (inText) {
      if (byte === ESCAPE) i++
      else if (byte === QUOTE) inText = false
    } else if (byte === QUOTE && depth > 0) inText = true
    else if (byte === OPEN) {
      if (depth++ === 0) start = i
    } else if (byte === CLOSE && depth > 0) {
      if (--depth === 0) pages.push(bytes.subarray(start, i + 1))
    } else if (depth === 0 && !BLANK.has(byte)) return null
  }
  return depth === 0 && pages.length > 1 ? pages : null
}

/**
 * In JSON a list ends and another begins right behind it only between two pages, or inside a text.
 */
function mayHoldPages(bytes: Uint8Array): boolean {
  for (let at = bytes.indexOf(CLOSE); at >= 0; at = bytes.indexOf(CLOSE, at + 1)) {
    let next = at + 1
    while (BLANK.has(bytes[next] as number)) next++
    if (bytes[next] === OPEN) return true
  }
  return false
}
