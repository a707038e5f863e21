/** A port for a server that cannot choose one itself. */
import { createServer } from 'node:net'

/** Below the ports that systems give to connections, so that none of those takes it before the server does. */
const [FIRST, LAST] = [20_000, 32_000]
/** Each process looks from a place of its own on. */
let next = FIRST + ((process.pid * 61) % (LAST - FIRST))

export async function freePort(): Promise<number> {
  for (;;) {
    const port = next
    next = port + 1 < LAST ? port + 1 : FIRST
    if (await isFree(port)) return port
  }
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer()
    server.once('error', () => resolve(false))
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)))
  })
}
