/**
 * Turns at servers that trials share: a server at an address whose state is judged serves one trial
 * of this process at a time.
 */

const last = new Map<string, Promise<void>>()

/** Wait for the turn at each of these addresses, and hold them until what comes back is called. */
export async function takeTurns(addresses: readonly string[]): Promise<() => void> {
  const releases: (() => void)[] = []
  // In one order for all, so that no two trials wait for each other.
  for (const address of [...new Set(addresses)].sort()) {
    const { promise, resolve } = Promise.withResolvers<void>()
    const before = last.get(address)
    last.set(address, promise)
    releases.push(() => {
      if (last.get(address) === promise) last.delete(address)
      resolve()
    })
    await before
  }
  return () => {
    for (const release of releases) release()
  }
}
