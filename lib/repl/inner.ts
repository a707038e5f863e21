/** What readline keeps under symbols since Node 24; each user does without what is not there. */

export type Method = (this: unknown, ...args: unknown[]) => unknown

/** The symbol of a member with a name. */
export function symbolNamed(rl: object, description: string): symbol | undefined {
  for (let at: object | null = rl; at; at = Object.getPrototypeOf(at) as object | null) {
    const found = Object.getOwnPropertySymbols(at).find((one) => one.description === description)
    if (found) return found
  }
  return undefined
}

/** A method by its name. */
export function methodNamed(rl: object, description: string): Method | undefined {
  const symbol = symbolNamed(rl, description)
  const method = symbol && (rl as Record<symbol, unknown>)[symbol]
  return typeof method === 'function' ? (method as Method) : undefined
}
