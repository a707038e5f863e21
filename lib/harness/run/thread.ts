/** The body of a thread that runs trials of the process that started it. */
import { setImmediate } from 'node:timers/promises'
import { parentPort, workerData } from 'node:worker_threads'
import { useCompileCache } from '../../compile-cache.ts'
import { LIMITERS } from '../model/limiter.ts'
import { madeFrom } from '../queue/travel.ts'
import { plainOf } from '../queue/worker-answer.ts'
import { attemptWith, madeReady, planFrom } from './made-again.ts'
import type { FromThread, ThreadStart, ToThread } from './threads.ts'

useCompileCache()
const port = parentPort
if (port === null) throw new Error('this file is the body of a worker thread')
const say = (message: FromThread) => port.postMessage(message)

const { told, atOnce, begun } = workerData as ThreadStart
LIMITERS.widen(atOnce)
const { parts, unlike } = await madeReady(planFrom(told, await madeFrom(told)), told)
if (unlike.length > 0) throw new Error(unlike.join('; '))

const waiting: Extract<ToThread, { task: object }>[] = []
let active = 0

port.on('message', (message: ToThread) => {
  if ('stop' in message)
    parts.stop.get(message.stop)?.abort(new DOMException('the run is being stopped', 'AbortError'))
  else {
    waiting.push(message)
    take()
  }
})
say({ ready: true })

function take(): void {
  while (active < atOnce) {
    const next = waiting.shift()
    if (!next) return
    active++
    carryOut(next).finally(() => {
      active--
      take()
    })
  }
}

async function carryOut({ id, task }: (typeof waiting)[number]): Promise<void> {
  // Offline work never waits for anything: without a turn of the loop no message would get through.
  await setImmediate()
  Atomics.add(begun, 0, 1)
  const result = await attemptWith(parts, task, (text, ms) => say({ waits: text, ms }))
  say({ id, answer: JSON.stringify(plainOf(result)) })
}
