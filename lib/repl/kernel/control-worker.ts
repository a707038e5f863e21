/** The thread of `kernel-control.ts`: Jupyter's control and heartbeat sockets. */
import { Session } from 'node:inspector'
import { parentPort, workerData } from 'node:worker_threads'
import { Reply, Router } from 'zeromq'
import { AT, type ControlMessage, type ControlSetting } from './control.ts'
import { readMessage, writeMessage } from './messages-wire.ts'

const { at, key, session, ...addresses } = workerData as ControlSetting
const kernel = parentPort as NonNullable<typeof parentPort>
const tell = (message: ControlMessage) => kernel.postMessage(message)
const [control, heartbeat] = [new Router(), new Reply()]
await Promise.all([control.bind(addresses.control), heartbeat.bind(addresses.heartbeat)])

// A socket takes one send at a time.
let sending: Promise<unknown> = Promise.resolve()
const send = (frames: (Uint8Array | string)[]) => {
  sending = sending.then(() => control.send(frames.map((one) => Buffer.from(one)))).catch(() => {})
}

/** Break the cell that begins or works. False where none does, or behind its first await. */
function broke(): boolean {
  if (Atomics.compareExchange(at, 0, AT.begin, AT.end) === AT.begin) return true
  if (Atomics.compareExchange(at, 0, AT.work, AT.end) !== AT.work) return false
  process.kill(process.pid, 'SIGINT')
  return true
}

/** How long a kernel that hears an interrupt takes to answer it, at most. */
const PATIENCE_MS = 1_000

let unheard: NodeJS.Timeout | undefined

/**
 * End what runs in the kernel's thread: code behind an await that never comes to its next one. What
 * else was due in that turn is lost, so that this is the last resort.
 */
function terminate(): void {
  const session = new Session()
  session.connectToMainThread()
  session.post('Runtime.terminateExecution', () => session.disconnect())
}

async function hear(): Promise<void> {
  for await (const frames of control) {
    const message = readMessage(frames, key)
    if (!message) continue
    const { msg_type: type } = message.header
    const stops = type === 'interrupt_request' || type === 'shutdown_request'
    if (stops && !broke()) {
      // Of a cell that ends before the kernel hears it, the next one is no part.
      tell({ stop: Atomics.load(at, 1) })
      unheard ??= setTimeout(terminate, PATIENCE_MS)
    }
    if (type === 'interrupt_request') {
      const { identities } = message
      const content = { status: 'ok' }
      send(writeMessage('interrupt_reply', content, message, { key, session, identities }))
    } else tell({ frames })
  }
}

async function beat(): Promise<void> {
  for await (const frames of heartbeat) await heartbeat.send(frames)
}

kernel.on('message', async (message: ControlMessage) => {
  if ('heard' in message) {
    clearTimeout(unheard)
    unheard = undefined
  }
  if ('frames' in message) send(message.frames)
  if (!('close' in message)) return
  await sending
  control.close()
  heartbeat.close()
  kernel.close()
})
const ends = [hear(), beat()]
tell({ ready: true })
await Promise.allSettled(ends)
