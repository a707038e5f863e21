/** What a record keeps of a call's arguments: no value whose name says that it is secret. */
import { isObject, type Json, type JsonObject } from '../../json.ts'
import { isSecretMember } from '../case/goal/found.ts'

/** An object without the values of members whose names say that they are secret, at any depth. */
export function withoutSecrets(value: JsonObject): JsonObject {
  const cleared = (item: Json): Json =>
    Array.isArray(item)
      ? item.map(cleared)
      : item !== null && typeof item === 'object'
        ? withoutSecrets(item)
        : item
  return Object.fromEntries(
    Object.entries(value).map(([name, item]) => [
      name,
      isSecretMember(name, item) ? '[redacted]' : cleared(item),
    ]),
  )
}

/** Values of secret members that are texts of some length, at any depth. */
export function secretsIn(value: Json, found: Set<string>): void {
  if (value === null || typeof value !== 'object') return
  for (const [name, item] of Object.entries(value)) {
    const secret = !Array.isArray(value) && isSecretMember(name, item)
    if (secret && typeof item === 'string' && item.length >= 8) found.add(item)
    else secretsIn(item as Json, found)
  }
}

/** Takes values out of texts. */
export function withoutValues(values: ReadonlySet<string>): (text: string) => string {
  return (text) => [...values].reduce((left, value) => left.replaceAll(value, '[redacted]'), text)
}

/** What a call was handed, as far as JSON can say it. */
export function jsonFor(value: unknown): string {
  try {
    return JSON.stringify(isObject(value) ? withoutSecrets(value) : value) ?? ''
  } catch {
    // A cycle, a bigint, or more levels than the stack has.
    return 'no JSON'
  }
}

/** A text that is no JSON, without what stands behind names that are secret. */
export function clearedText(text: string): string {
  let cleared = ''
  let from = 0
  // The value is not matched: an expression takes stack for each of its characters.
  for (const { 0: head, 1: name = '', index } of text.matchAll(/"([^"]{1,100})"\s*:\s*"/g)) {
    if (index < from || !isSecretMember(name, undefined)) continue
    cleared += `${text.slice(from, index)}"${name}":"[redacted]"`
    from = index + head.length
    while (from < text.length && text[from] !== '"') from += text[from] === '\\' ? 2 : 1
    from++
  }
  return cleared + text.slice(from)
}
