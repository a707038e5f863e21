/** The program that hands messages on standard input to a trial's server, line by line: every request is answered. */
import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { after, describe, it } from 'node:test'
import { cases, harness } from '../../../lib/index.ts'

type Message = {
  id?: number | string
  method?: string
  params?: object
  result?: { protocolVersion?: string; supportedVersions?: string[] }
  error?: { code: number }
}

const children: ChildProcess[] = []
const all: { [Symbol.asyncDispose](): Promise<void> }[] = []
after(async () => {
  for (const child of children) child.kill()
  for (const served of all) await served[Symbol.asyncDispose]()
})

/** A bridge to the server of a case, and the answers that came of it, by id. */
async function bridged() {
  const [test] = (await cases.load('cases/lying_success/deploy-key.yaml')).slice(1)
  const served = await harness.serve(test as harness.Case)
  all.push(served)
  const github = served.servers['github']
  assert.ok(github)
  const { command, args, env } = github.stdio
  const child = spawn(command, args, { env: { ...process.env, ...env }, stdio: 'pipe' })
  children.push(child)
  const lines: string[] = []
  const waiting = new Map<number | string, (message: Message) => void>()
  createInterface(child.stdout).on('line', (line) => {
    lines.push(line)
    const message = JSON.parse(line) as Message
    waiting.get(message.id ?? '')?.(message)
  })
  return {
    served,
    child,
    lines,
    /** Write messages at once; the answers of those that are requests. */
    ask: (...messages: Message[]) => {
      const answers = messages.flatMap(({ id }) =>
        id === undefined ? [] : [new Promise<Message>((found) => waiting.set(id, found))],
      )
      child.stdin.write(
        messages.map((one) => `${JSON.stringify({ jsonrpc: '2.0', ...one })}\n`).join(''),
      )
      return Promise.all(answers)
    },
  }
}

const clientInfo = { name: 'lines', version: '1' }
const initialize = (id: number, protocolVersion = '2025-11-25') => ({
  id,
  method: 'initialize',
  params: { protocolVersion, capabilities: {}, clientInfo },
})
const modern = (id: number, method: string, params: object = {}, version = '2026-07-28') => {
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': version,
    'io.modelcontextprotocol/clientInfo': clientInfo,
    'io.modelcontextprotocol/clientCapabilities': {},
  }
  return { id, method, params: { ...params, _meta } }
}
const keys = { name: 'list_deploy_keys', arguments: { owner: 'acme', repo: 'payments' } }
const call = (id: number | string, params: object) => ({ id, method: 'tools/call', params })
const codesOf = (answers: Message[]) => answers.map(({ error }) => error?.code ?? 'result')

describe('the program of a trial’s server', () => {
  it('answers requests that are written before the session is begun, and knows what it does not know', async () => {
    const { child, lines, ask } = await bridged()
    const answers = await ask(
      initialize(1),
      { method: 'notifications/initialized' },
      { id: 2, method: 'ping' },
      call('three', keys),
      call(4, { name: 'no_such_tool' }),
      { id: 5, method: 'resources/list' },
    )
    assert.deepEqual(codesOf(answers), ['result', 'result', 'result', -32602, -32601])
    child.stdin.end()
    assert.deepEqual(await once(child, 'close'), [0, null])
    assert.equal(lines.length, 5, 'no line is anything else')
  })

  it('agrees on the version that it is asked for, on its newest of before for one that it does not know', async () => {
    for (const [asked, agreed] of [
      ['2025-06-18', '2025-06-18'],
      ['1999-01-01', '2025-11-25'],
    ]) {
      const { child, ask } = await bridged()
      const [answer] = await ask(initialize(1, asked))
      assert.equal(answer?.result?.protocolVersion, agreed)
      child.stdin.end()
      await once(child, 'close')
    }
  })

  it('answers in 2026-07-28 without a handshake, and says which versions it knows', async () => {
    const { child, ask } = await bridged()
    const answers = await ask(
      modern(1, 'server/discover'),
      modern(2, 'tools/call', keys),
      modern(3, 'tools/call', { name: 'no_such_tool' }),
      modern(4, 'ping'),
      modern(5, 'tools/list', {}, '2030-01-01'),
    )
    assert.deepEqual(codesOf(answers), ['result', 'result', -32602, -32601, -32022])
    assert.deepEqual(answers[0]?.result?.supportedVersions, ['2026-07-28'])
    child.stdin.end()
    assert.deepEqual(await once(child, 'close'), [0, null])
  })

  it('answers by an error where the server is gone, in both eras', async () => {
    const { served, child, ask } = await bridged()
    assert.deepEqual(codesOf(await ask(initialize(1), modern(2, 'tools/call', keys))), [
      'result',
      'result',
    ])
    await served[Symbol.asyncDispose]()
    const [before, now] = await ask(call(3, keys), modern(4, 'tools/call', keys))
    assert.ok(before?.error && now?.error)
    child.stdin.end()
    await once(child, 'close')
  })
})
