/**
 * Faults in front of real servers in TypeScript, Python and Go, over standard input and output and over HTTP: what a client sees, and
 * what the server itself holds then.
 */
import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { after, describe, it } from 'node:test'
import type { Fault } from '../../../lib/harness/server/fault.ts'
import { harness } from '../../../lib/index.ts'

const root = resolve(import.meta.dirname, '..', '..', '..')
const made = join(root, '.cache', 'servers')
const python = join(made, 'python', 'bin', 'python')
const notesPy = join(root, 'test', 'servers', 'notes.py')
const notesGo = join(made, 'notes-go')

/** A server with a tool that writes a text under a name, and one that reads it. */
type Kind = {
  /** What must be there, or the test is skipped. */
  needs: string
  server(): Promise<harness.ServerDescription> | harness.ServerDescription
  write: string
  read: string
  /** The arguments of a write. `name` alone: of a read. */
  input(name: string, text?: string): Record<string, unknown>
  /** The name of the argument that holds the text. */
  text: string
}

const children: ChildProcess[] = []
after(() => {
  for (const child of children) child.kill()
})
const named = (name: string) => harness.server(undefined, { name })
/** A server at an address that it tells on its standard error. */
async function atAddress(command: string, args: string[]) {
  const child = spawn(command, args, { stdio: ['ignore', 'ignore', 'pipe'] })
  children.push(child)
  const lines = createInterface({ input: child.stderr })
  const url = await new Promise<string>((found, failed) => {
    lines.once('line', found)
    child.once('exit', (code) => failed(new Error(`${command} ended with ${code}`)))
  })
  child.stderr.resume()
  // It has said where it will be; that it is there shows in its first answer.
  for (;;) {
    const answer = await fetch(url).catch(() => null)
    if (answer) break
    assert.equal(child.exitCode, null)
  }
  return named('notes').http(url)
}

const notes = { write: 'write_note', read: 'read_note', text: 'text' }
const byName = (name: string, text?: string) => ({ name, ...(text !== undefined && { text }) })
const KINDS: { [server: string]: Kind } = {
  'TypeScript over standard input and output': {
    needs: 'node_modules/.bin/mcp-server-filesystem',
    server: () => named('files').stdio('mcp-server-filesystem', ['/workspace']).files({}),
    write: 'write_file',
    read: 'read_text_file',
    text: 'content',
    input: (name, content) => ({
      path: `/workspace/${name}`,
      ...(content !== undefined && { content }),
    }),
  },
  'Python over standard input and output': {
    ...notes,
    needs: python,
    server: () => named('notes').stdio(python, [notesPy]),
    input: byName,
  },
  'Python over HTTP': {
    ...notes,
    needs: python,
    server: () => atAddress(python, [notesPy, 'http']),
    input: byName,
  },
  'Go over standard input and output': {
    ...notes,
    needs: notesGo,
    server: () => named('notes').stdio(notesGo),
    input: byName,
  },
  'Go over HTTP': {
    ...notes,
    needs: notesGo,
    server: () => atAddress(notesGo, ['http']),
    input: byName,
  },
}

/** The faults that need no view of a state, each for one write, in this order after one honest write. */
const WRITES: Partial<Fault>[] = [
  { kind: 'lying_success' },
  { kind: 'reply_lost' },
  { kind: 'error_after_commit', message: 'boom' },
  { kind: 'duplicate_on_retry' },
  { kind: 'slow_reply', seconds: 60 },
  { kind: 'hang' },
  { kind: 'flapping_error' },
  { kind: 'rug_pull' },
  { kind: 'oversized_result', size_bytes: 5000 },
  { kind: 'malformed_result' },
]

describe('every fault that needs no view of the state, in front of a real server', () => {
  for (const [language, kind] of Object.entries(KINDS)) {
    const missing = existsSync(kind.needs) ? false : `needs ${kind.needs}; .ci/servers makes it`
    it(`in ${language}`, { skip: missing }, async () => {
      const { write, read, text, input } = kind
      const faulty = WRITES.reduce<harness.ServerDescription>(
        (server, { kind: fault, ...options }) =>
          server.fault(write, fault as Fault['kind'], {
            ...options,
            ...(fault === 'rug_pull' && { set: { [text]: 'pulled' } }),
            after: 1,
            times: 1,
          }),
        await kind.server(),
      ).fault(read, 'stale_read', { times: 1 })
      await using server = await faulty.start()
      let number = 0
      const call = async (tool: string, given: Record<string, unknown>) => {
        const how = { signal: AbortSignal.timeout(60_000), timeoutMs: 30_000, number: number++ }
        try {
          const { content, isError } = await server.call(tool, given, how)
          const said = content.map((part) => (part.type === 'text' ? part.text : '')).join('\n')
          return { said, error: isError === true }
        } catch (cause) {
          return { said: (cause as Error).message, error: true }
        }
      }
      /** Does the server itself hold a text under the name? */
      const holds = async (name: string, wanted: string) => {
        const { content, isError } = await server.judge.ask(read, input(name) as never)
        return !isError && JSON.stringify(content).includes(wanted)
      }
      const honest = await call(write, input('first', 'text one'))
      assert.equal(honest.error, false, honest.said)
      const seen: { [fault: string]: Awaited<ReturnType<typeof call>> & { there: boolean } } = {}
      for (const { kind: fault } of WRITES) {
        const answer = await call(write, input(fault as string, 'text two'))
        const there = await holds(fault as string, fault === 'rug_pull' ? 'pulled' : 'text two')
        seen[fault as string] = { ...answer, there }
      }
      const marks = Object.fromEntries(
        Object.entries(seen).map(([fault, { error, there }]) => [fault, [error, there]]),
      )
      assert.deepEqual(marks, {
        lying_success: [false, false],
        reply_lost: [true, true],
        error_after_commit: [true, true],
        duplicate_on_retry: [true, true],
        slow_reply: [true, true],
        hang: [true, false],
        flapping_error: [true, false],
        rug_pull: [false, true],
        oversized_result: [false, true],
        malformed_result: [false, true],
      })
      // A lie fits the call that was made, and says nothing of the one before.
      const told = (fault: string) => honest.said.replaceAll('first', fault)
      assert.equal(seen['lying_success']?.said, told('lying_success'))
      assert.equal(seen['error_after_commit']?.said, 'boom')
      for (const lost of ['reply_lost', 'slow_reply', 'hang'])
        assert.match(seen[lost]?.said ?? '', /timed out/)
      assert.ok((seen['oversized_result']?.said.length ?? 0) > 5000)
      assert.ok(told('malformed_result').startsWith(seen['malformed_result']?.said ?? '?'))
      assert.ok(!seen['rug_pull']?.said.includes('pulled'))

      const reads = async () => (await call(read, input('first'))).said
      assert.match(await reads(), /text one/)
      await call(write, input('first', 'text six'))
      assert.match(await reads(), /text one/)
      assert.match(await reads(), /text six/)
    })
  }
})

describe('a lie where nothing was true before', () => {
  const missing = existsSync(python) ? false : `needs ${python}; .ci/servers makes it`
  it('is made of the output schema: a bare text, and an object of which it says nothing', {
    skip: missing,
  }, async () => {
    const faulty = named('notes')
      .stdio(python, [notesPy])
      .fault('write_note', 'lying_success')
      .fault('note_of', 'lying_success')
    await using server = await faulty.start()
    const how = { signal: AbortSignal.timeout(60_000), timeoutMs: 30_000 }
    const texts = []
    for (const [number, [tool, given]] of [
      ['write_note', { name: 'a', text: 'b' }],
      ['note_of', { name: 'a' }],
    ].entries() as never as [number, [string, Record<string, unknown>]][])
      texts.push((await server.call(tool, given, { ...how, number })).content)
    assert.deepEqual(texts, [
      [{ type: 'text', text: 'ok' }],
      [{ type: 'text', text: '{"ok":true,"name":"a"}' }],
    ])
  })
})
