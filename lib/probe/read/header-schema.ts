/**
 * Which tools a client of revision 2026-07-28 must leave out because of a bad `x-mcp-header` in
 * their input schema.
 *
 * The rules are those of the specification's "Schema Extension" (streamable HTTP). The value is a
 * header token and not empty. It differs from every other one in the schema, whatever the case. It
 * stands on a property of type string, integer or boolean, and the property is reached from the
 * root through `properties` alone.
 */
import { isObject } from '../../json.ts'

const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/
/** `number` is not among them. */
const PRIMITIVE = new Set(['string', 'integer', 'boolean'])

/** True when the tool's schema has an `x-mcp-header` that breaks a rule. */
export function leftOut(tool: Record<string, unknown>): boolean {
  const root = tool['inputSchema']
  if (!isObject(root)) return false
  const seen = new Set<string>()
  // Reachable: every step from the root was a member of `properties`.
  const open: { value: unknown; reachable: boolean; root: boolean }[] = [
    { value: root, reachable: true, root: true },
  ]
  for (let at = 0; at < open.length; at++) {
    const { value, reachable, root: isRoot } = open[at] as (typeof open)[number]
    if (Array.isArray(value)) {
      for (const each of value) open.push({ value: each, reachable: false, root: false })
      continue
    }
    if (!isObject(value)) continue
    const header = value['x-mcp-header']
    if (header !== undefined) {
      const name = typeof header === 'string' ? header.toLowerCase() : ''
      const good =
        TOKEN.test(name) &&
        !seen.has(name) &&
        reachable &&
        !isRoot &&
        PRIMITIVE.has(String(value['type']))
      if (!good) return true
      seen.add(name)
    }
    for (const key in value) {
      if (
        key === 'x-mcp-header' ||
        key === 'default' ||
        key === 'examples' ||
        key === 'const' ||
        key === 'enum'
      )
        continue
      const below = value[key]
      if (key === 'properties' && isObject(below)) {
        for (const name in below) open.push({ value: below[name], reachable, root: false })
      } else if (typeof below === 'object')
        open.push({ value: below, reachable: false, root: false })
    }
  }
  return false
}
