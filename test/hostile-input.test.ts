/**
 * Input of hostile size and shape: each is read or refused in a process of its own, which a watchdog
 * ends when it is held up.
 */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { resolve } from 'node:path'
import { describe, it } from 'node:test'
import { cases } from '../lib/index.ts'

const root = resolve(import.meta.dirname, '..')
const WATCHDOG_MS = 60_000

/** What a program prints, unless the watchdog ends it. */
function printed(program: string): string {
  const code = `import { cases, receipt } from './lib/index.ts'\n${program}`
  const words = ['--import', 'tsx', '--input-type=module', '-e', code]
  const { stdout, stderr, signal } = spawnSync(process.execPath, words, {
    cwd: root,
    encoding: 'utf8',
    timeout: WATCHDOG_MS,
    killSignal: 'SIGKILL',
  })
  assert.equal(signal, null, 'the watchdog ended it')
  assert.equal(stderr, '')
  return stdout.trim()
}

const YAML = (members: string) => `id: a/b\ntitle: t\nkind: k\n${members}`

describe('hostile input', () => {
  it('an output schema with a pattern that backtracks holds up no call', () => {
    const said = printed(`
      import { callTool, connectClient, createServer, listTools, memoryPair } from './lib/harness/wire/mcp.ts'
      const text = 'a'.repeat(60) + '!'
      const word = { type: 'object', properties: { word: { type: 'string', pattern: '^(a+)+$' } } }
      const server = createServer('hostile',
        async () => [{ name: 'word', inputSchema: { type: 'object' }, outputSchema: word }],
        () => ({ content: [], structuredContent: { word: text } }))
      const [ours, theirs] = memoryPair()
      await server.connect(theirs)
      const client = await connectClient(ours)
      await listTools(client)
      const ended = await callTool(client, 'word', {}, { timeoutMs: 10_000 }).then(() => 'answered', (error) => error.message)
      console.log(ended)
      await client.close()`)
    assert.match(said, /must match pattern/)
  })

  it('a list whose items must differ is checked in time linear in its length', () => {
    const said = printed(`
      import { schemaValidator } from './lib/harness/wire/schema-validator.ts'
      const check = schemaValidator.getValidator({ type: 'array', uniqueItems: true })
      const items = Array.from({ length: 200_000 }, (_, i) => ({ a: { b: i } }))
      console.log(check(items).valid, check([...items, { a: { b: 7 } }]).valid, check([{ x: 1, y: 2 }, { y: 2, x: 1 }]).valid)`)
    assert.equal(said, 'true false false')
  })

  it('a pattern that only a backtracking engine knows refuses nothing', () => {
    const said = printed(`
      import { schemaValidator } from './lib/harness/wire/schema-validator.ts'
      const check = schemaValidator.getValidator({ type: 'string', pattern: '(?=a)a' })
      console.log(check('b').valid, schemaValidator.getValidator({ type: 'string', pattern: '^a' })('b').valid)`)
    assert.equal(said, 'true false')
  })

  it('a mapping of 100,000 keys is refused for what it is', () => {
    const said = printed(`
      const text = ${JSON.stringify(YAML('state:\n'))} + Array.from({ length: 100_000 }, (_, i) => '  k' + i + ': 1').join('\\n')
      try { await cases.parse(text) } catch (error) { console.log(error.code) }`)
    assert.equal(said, 'case_invalid')
  })

  it('nesting without end is refused', () => {
    const said = printed(`
      const text = Array.from({ length: 5000 }, (_, i) => ' '.repeat(i) + 'a:').join('\\n')
      try { await cases.parse(text) } catch (error) { console.log(error.code) }`)
    assert.equal(said, 'yaml_syntax')
  })

  it('an export of 200,000 entries of other kinds is counted', () => {
    const said = printed(`
      const text = '[' + Array.from({ length: 200_000 }, () => '{"action":"x"}').join(',') + ']'
      console.log(receipt.importAudit('github', text).counts.unmapped.x)`)
    assert.equal(said, '200000')
  })
})

describe('a key that stands twice in a mapping', () => {
  it('is refused where it stands the second time, at any depth', async () => {
    const text = YAML('server:\n  world: github\n  world: slack\n')
    await assert.rejects(cases.parse(text, 'mine.yaml'), {
      code: 'yaml_syntax',
      message: /mine\.yaml:6:3/,
    })
  })
})
