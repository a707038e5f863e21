/** Whether injected words stand in what an agent is shown, compared as a reader sees them. */

/** A text and, behind it, the texts inside its JSON as a reader of them takes them. */
export function unescaped(text: string): string {
  return `${text} ${text.replaceAll('\\n', ' ').replaceAll('\\"', '"')}`
}

/** A text with each run of blanks as one space. */
export function squeezed(text: string): string {
  return text.replace(/\s+/g, ' ').trim()
}
