/**
 * A real inference engine: any instruct model in GGUF form behind llama.cpp's OpenAI-compatible server.
 *
 * Skipped unless TOUCHSTONE_GGUF names a model's file. The server is `llama-server` on the PATH, or what
 * TOUCHSTONE_LLAMA_SERVER names. How good the model is does not matter here: that its answers are counted as they are does.
 */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { createServer } from 'node:net'
import { describe, it } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import { cases, harness } from '../../../lib/index.ts'

const model = process.env['TOUCHSTONE_GGUF']
const engine = process.env['TOUCHSTONE_LLAMA_SERVER'] ?? 'llama-server'
const skip = !model
  ? 'TOUCHSTONE_GGUF names no model file'
  : existsSync(model)
    ? false
    : `TOUCHSTONE_GGUF names ${model}, which is not there`

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as { port: number }
  server.close()
  await once(server, 'close')
  return port
}

async function ready(url: string, gone: () => boolean): Promise<void> {
  for (;;) {
    assert.ok(!gone(), `${engine} ended before it was ready`)
    const answer = await fetch(`${url}/health`).catch(() => null)
    if (answer?.ok) return
    await setTimeout(200)
  }
}

describe('a model behind llama.cpp', { skip, timeout: 1_800_000 }, () => {
  it('is asked like any other: every trial ends in pass or fail, with its steps, tokens and seed in the log', async () => {
    const port = await freePort()
    const url = `http://127.0.0.1:${port}`
    // `--jinja` makes the server apply the model's own template for tools.
    const words = [
      '-m',
      model as string,
      '--host',
      '127.0.0.1',
      '--port',
      String(port),
      '--jinja',
      '-c',
      '8192',
    ]
    const child = spawn(engine, words, { stdio: 'ignore' })
    let gone = false
    child.on('error', () => {
      gone = true
    })
    child.on('exit', () => {
      gone = true
    })
    try {
      await ready(url, () => gone)
      const keys = (await cases.load('cases/lying_success')).filter(({ id }) =>
        id.startsWith('lying_success/deploy-key'),
      )
      const run = await harness
        .run(keys)
        .config('gguf', {
          model: 'local/gguf',
          baseURL: `${url}/v1`,
          temperature: 0.7,
          maxOutputTokens: 512,
        })
        .repeat(2)
        .concurrency(1)
        .limits({ steps: 12, trialTimeoutMs: 300_000 })
        .quiet()
        .out(null)
      assert.equal(run.trials.length, keys.length * 2)
      for (const row of run.trials) {
        assert.notEqual(row.outcome, 'error', JSON.stringify(row.error))
        assert.ok((row.steps ?? 0) >= 1)
        assert.ok((row.tokens?.input ?? 0) > 0)
        assert.equal(typeof run.transcript(row.key)['seed'], 'number')
      }
      assert.equal(run.manifest.configurations[0]?.simulated, false)
    } finally {
      child.kill()
    }
  })
})
