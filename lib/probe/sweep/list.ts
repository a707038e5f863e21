/**
 * A list of servers as people and registries keep it: JSON, one JSON value per line, or one URL per
 * line.
 */

/**
 * Read the text of a list. Nothing throws: a line that cannot be read is an entry that the sweep
 * skips by name.
 */
export function listIn(text: string): unknown[] {
  const begun = text.replace(/^\ufeff/, '').trimStart()
  if (!/^[[{"]/.test(begun)) return plainLines(begun)
  try {
    const whole: unknown = JSON.parse(begun)
    return Array.isArray(whole) ? whole : [whole]
  } catch {
    return plainLines(begun).map(jsonOrNull)
  }
}

function plainLines(text: string): string[] {
  return text
    .split(/\r?\n/)
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('#'))
}

function jsonOrNull(line: string): unknown {
  try {
    return JSON.parse(line)
  } catch {
    // A URL between lines of JSON is one; anything else is no entry.
    return /^[[{"]/.test(line) ? null : line
  }
}
