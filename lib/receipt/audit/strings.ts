/**
 * Keeping a few texts of a large file without keeping the file.
 *
 * A text cut out of a longer one may hold on to all of it. Over a hundred thousand lines that is
 * the whole input.
 */

/**
 * A function that copies data with every text detached from what it was cut from, and equal texts
 * held once.
 */
export function compacting(): <T>(value: T) => T {
  const known = new Map<string, string>()
  const text = (value: string): string => {
    const held = known.get(value)
    if (held !== undefined) return held
    // Joining and cutting again makes the engine copy the characters.
    const copy = value.length < 13 ? value : ` ${value}`.slice(1)
    known.set(copy, copy)
    return copy
  }
  const copied = (value: unknown): unknown => {
    if (typeof value === 'string') return text(value)
    if (Array.isArray(value)) return value.map(copied)
    if (value === null || typeof value !== 'object') return value
    const made: { [name: string]: unknown } = {}
    for (const name of Object.keys(value)) {
      const member = copied((value as { [name: string]: unknown })[name])
      if (name === '__proto__')
        Object.defineProperty(made, name, {
          value: member,
          enumerable: true,
          configurable: true,
          writable: true,
        })
      else made[name] = member
    }
    return made
  }
  return copied as <T>(value: T) => T
}
