/** What describes an agent under test: each wrong member is refused where it is handed over, in one form. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { harness } from '../../../lib/index.ts'

function refused(call: () => unknown, where: string): void {
  assert.throws(call, (error: { code?: string; message: string }) => {
    assert.equal(error.code, 'argument_invalid', String(error))
    assert.match(error.message, /expected .+, got .+/s)
    assert.ok(error.message.includes(where), `${error.message} names ${where}`)
    return true
  })
}

const round: { [member: string]: unknown } = {}
round['again'] = round

describe('a program under test', () => {
  for (const [member, values] of Object.entries({
    command: [undefined, '', 5, 'no\0de'],
    args: ['--x', [5], ['a\0b'], null],
    env: [null, ['A=1'], { A: 1 }, { A: 'x\0' }, 'A=1'],
    input: [5, null],
    cwd: [5, '', 'a\0b'],
    configFile: ['a/', 'a\0b', '', '/a', 'a/../../b', 5],
    settings: [null, [], round, { a: 1n }, { a: () => 1 }, { mcpServers: {} }],
    output: [5, null, '', {}, { text: 5 }, { text: 'a', claim: 'b' }, { text: 'a', claims: 1 }],
    unavailable: [[''], ['gone', ''], 'gone', [5]],
    version: [1, null],
    from: [1],
    transport: ['sse'],
    format: ['toml'],
  }))
    it(`is refused with a wrong ${member}`, () => {
      for (const value of values)
        refused(() => harness.agent.command({ command: 'node', [member]: value } as never), member)
    })

  it('is refused with settings where the servers of its format stand, and only there', () => {
    for (const [format, member] of [
      ['mcpServers', 'mcpServers'],
      ['gemini', 'mcpServers'],
      ['vscode', 'servers'],
      ['opencode', 'mcp'],
    ] as const) {
      const made = (settings: object) =>
        harness.agent.command({ command: 'node', format, settings: settings as never })
      refused(() => made({ [member]: {} }), member)
      assert.ok(made({ other: {} }))
    }
    assert.ok(harness.agent.command({ command: 'node', settings: { mcp: {}, servers: {} } }))
  })

  it('is taken with each member right', () => {
    assert.ok(
      harness.agent.command({
        command: 'node',
        args: ['', '{task}'],
        env: { A: '' },
        input: '',
        cwd: '{folder}',
        configFile: '.cursor/mcp.json',
        settings: { a: { b: [1, null] } },
        output: { text: 'a', claims: 'b', steps: 'c' },
        unavailable: ['gone'],
        version: '1',
      }),
    )
  })
})

describe('an agent that is known', () => {
  it('is refused with arguments that are no list of texts, and an environment that is none', () => {
    for (const args of ['--x', [5], null])
      refused(() => harness.agent.known('codex', { args } as never), 'args')
    for (const env of [['A=1'], { A: 1 }, null])
      refused(() => harness.agent.known('codex', { env } as never), 'env')
    refused(() => harness.agent.known('codex', { version: 1 } as never), 'version')
  })
})
