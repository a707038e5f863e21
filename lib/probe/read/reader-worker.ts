/**
 * The thread that reads what servers sent: large JSON, and descriptions with the pattern set.
 *
 * Several tests may be waiting. The one with the least left to read goes first, a few milliseconds
 * at a time, so that a server with megabytes of text keeps nobody else waiting.
 */
import { parentPort } from 'node:worker_threads'
import { readAnswer } from './frame.ts'
import { patternSet } from './patterns.ts'
import { type Job, READY, type Reply } from './reader.ts'
import { readTools, type ToolList } from './tools.ts'

type Running = {
  id: number
  sizeLeft: number
  over: boolean
  steps: Generator<void, ToolList, boolean>
}

const SLICE_MS = 10
const running: Running[] = []
let awake = false

const port = parentPort
if (port === null) throw new Error('this file is the body of a worker thread')
const reply = (message: Reply) => port.postMessage(message)
// Loading takes part of a second, which is nobody's time.
reply({ id: READY, value: [] })

port.on('message', async (job: Job) => {
  if (job.kind === 'end') {
    const open = running.find(({ id }) => id === job.id)
    if (open) open.over = true
    return
  }
  if (job.kind === 'answer') {
    reply({ id: job.id, value: readAnswer(job.text, job.answerId, job.alone) })
    return
  }
  if (job.kind === 'texts') {
    const patterns = await patternSet()
    const rules = job.texts.flatMap((text) => patterns.match(text, new Set()))
    reply({ id: job.id, value: [...new Set(rules)].sort() })
    return
  }
  const sizeLeft = job.pages.reduce((sum, { text }) => sum + text.length, 0)
  const steps = readTools(job.pages, await patternSet(), job.options)
  running.push({ id: job.id, sizeLeft, over: false, steps })
  if (!awake) work()
})

async function work(): Promise<void> {
  awake = true
  while (running.length > 0) {
    running.sort((a, b) => a.sizeLeft - b.sizeLeft)
    const job = running.find(({ over }) => over) ?? (running[0] as Running)
    const begun = performance.now()
    while (performance.now() - begun < SLICE_MS) {
      const { value, done } = job.steps.next(job.over)
      if (!done) continue
      running.splice(running.indexOf(job), 1)
      reply({ id: job.id, value })
      break
    }
    // A turn, so that new work and the end of old work are heard of.
    await new Promise((resolve) => setImmediate(resolve))
  }
  awake = false
}
