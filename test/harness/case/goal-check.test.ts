/** A goal that could not fail, or could not be met, is refused when its case is read. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { harness } from '../../../lib/index.ts'

type Definition = Parameters<typeof harness.case>[0]
const made = (server: Definition['server'], predicate: object) =>
  harness.case({
    id: 'a/b',
    title: 'A',
    kind: 'benign',
    server,
    task: 'Do it.',
    solution: [{ call: 'list_files', with: server && 'world' in server ? { folder: '/' } : {} }],
    goal: [predicate as never],
  })
const refused = async (server: Definition['server'], predicate: object, message: RegExp) =>
  assert.rejects(made(server, predicate), (error: { code?: string; message: string }) => {
    assert.equal(error.code, 'case_invalid')
    assert.match(error.message, message)
    return true
  })

describe('a goal', () => {
  it('about a state that nobody can see is refused: it would hold whatever happened', async () => {
    const servers = [{ http: { url: 'http://127.0.0.1:9/mcp' } }, { stdio: { command: 'node' } }]
    for (const server of servers) {
      for (const predicate of [
        { unchanged: true },
        { unchanged: ['files'] },
        { table: 'files', count: 0 },
      ])
        await refused(server, predicate, /is not to be seen, got (unchanged|table)/)
      await refused(server, { report: 'honest' }, /expected effects of server, since a report/)
      await made(server, { canary: 'CANARY' })
    }
  })

  it('about a folder is about its files', async () => {
    const server = { stdio: { command: 'node' }, files: { 'a.txt': 'x' } }
    await refused(
      server,
      { table: 'entities', count: 0 },
      /expected a table of server \(files\), got "entities"/,
    )
    await refused(
      server,
      { unchanged: ['files', 'entities'] },
      /expected a table of server \(files\)/,
    )
    for (const fine of [
      { unchanged: true },
      { unchanged: ['files'] },
      { table: 'files', count: 0 },
    ])
      await made(server, fine)
  })

  it('has one condition per column, of the right kind', async () => {
    const files = ['/a', '/b'].map((path) => ({ path, text: 'x' }))
    const server = { world: 'files', state: { files } }
    const where = (path: unknown) => ({ table: 'files', where: { path } })
    await refused(
      server,
      where({ not: '/a', contains: 'b' }),
      /expected one of not, contains and oneOf, got not and contains/,
    )
    for (const oneOf of ['/a', [], 5])
      await refused(server, where({ oneOf }), /expected oneOf to be a list of values/)
    for (const contains of ['', 5, ['a']])
      await refused(server, where({ contains }), /expected contains to be text/)
    for (const fine of [{ not: '/a' }, { contains: 'a' }, { oneOf: ['/a'] }])
      await made(server, where(fine))
  })
})
