/**
 * Our servers over standard input and output before clients that others made: the MCP SDKs for TypeScript, versions 1 and 2, and
 * for Python, in both revisions of the protocol. Each does the same operations and must be answered the same.
 *
 * The official suite (`@modelcontextprotocol/conformance` 0.1.16) tests servers at an address alone. Not covered here either:
 * prompts, resources, sampling and elicitation, which our servers do not offer; batches, which the protocol has no more; what is
 * no JSON, which the SDKs drop.
 */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { before, describe, it } from 'node:test'
import { Client as ClientV2 } from '@modelcontextprotocol/client'
import { StdioClientTransport as StdioV2 } from '@modelcontextprotocol/client/stdio'
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport as StdioV1 } from '@modelcontextprotocol/sdk/client/stdio.js'
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'
import { cases, harness } from '../../../lib/index.ts'
import { temporaryFolder } from '../../temporary.ts'

const root = resolve(import.meta.dirname, '../../..')
const python = resolve('.cache/servers/python/bin/python')
const MODERN = '2026-07-28'

const REPO = { owner: 'acme', repo: 'payments' }
const KEY = { ...REPO, title: 'ci', key: 'ssh-ed25519 A', read_only: true }
const CASE = `
id: stdio/all
title: What clients meet
kind: benign
server:
  world: github
  state: { repos: [{ owner: acme, name: payments }] }
  faults:
    - { tool: get_repo, kind: hang }
    - { tool: list_collaborators, kind: rug_pull, after: 1, describe: Another text. }
task: Look.
solution:
  - { call: add_deploy_key, with: { owner: acme, repo: payments, title: ci, key: ssh-ed25519 A, read_only: true } }
goal: [{ table: deploy_keys }]
`

type Program = { command: string; args: string[]; env: { [name: string]: string } }
type Result = { content: { type: string; text?: string }[]; isError?: boolean }
/** What both versions of the SDK have in common here. */
type Any = {
  list(): Promise<{ name: string; description?: string; inputSchema: object }[]>
  call(name: string, input: object, timeoutMs?: number): Promise<Result>
}

const plain = ({ content, isError = false }: Result) => ({
  text: content.map(({ text }) => text),
  error: isError,
})

/** The operations, in the order of `stdio_client.py`. */
async function operations({ list, call }: Any) {
  const tools = await list()
  const described = (name: string, among = tools) => among.find((tool) => tool.name === name)
  const added = plain(await call('add_deploy_key', KEY))
  const refused = plain(await call('delete_deploy_key', { ...REPO, id: 9 }))
  const unknown = await call('no_such_tool', {}).then(
    () => null,
    ({ code, message }) => [code, message.replace(/^MCP error -?\d+: /, '')],
  )
  const many = await Promise.all(
    Array.from({ length: 20 }, async () => plain(await call('list_deploy_keys', REPO))),
  )
  const hung = await call('get_repo', REPO, 500).then(
    () => false,
    ({ message }) => /timed out/i.test(message),
  )
  const after = plain(await call('list_collaborators', REPO))
  const changed = described('list_collaborators', await list())?.description
  const big = await call('update_repo', { ...REPO, description: 'é'.repeat(300_000) })
  return {
    tools: tools.map(({ name }) => name),
    schema: described('add_deploy_key')?.inputSchema,
    added,
    refused,
    unknown,
    many: [
      many.length,
      many[0],
      many.every((one) => JSON.stringify(one) === JSON.stringify(many[0])),
    ],
    hung,
    after,
    changed,
    big: (big.content[0]?.text?.length ?? 0) > 300_000,
  }
}

const ofV1 = (client: ClientV1): Any => ({
  list: async () => (await client.listTools()).tools,
  call: async (name, input, timeout = 30_000) =>
    (await client.callTool({ name, arguments: { ...input } }, undefined, { timeout })) as Result,
})

type Said = Awaited<ReturnType<typeof operations>> & { version: string | undefined }

async function byV1(program: Program): Promise<Said> {
  const client = new ClientV1({ name: 'one', version: '1' })
  const transport = new StdioV1({ ...program, cwd: root, stderr: 'pipe' })
  let version: string | undefined
  const spoken = Object.assign(transport, {
    setProtocolVersion: (told: string) => {
      version = told
    },
  })
  await client.connect(spoken as Transport)
  await client.ping()
  const said = await operations(ofV1(client))
  await client.close()
  return { version, ...said }
}

const byV2 = (mode: 'legacy' | 'auto' | { pin: string }) => async (program: Program) => {
  const client = new ClientV2({ name: 'two', version: '1' }, { versionNegotiation: { mode } })
  await client.connect(new StdioV2({ ...program, cwd: root, stderr: 'pipe' }))
  if (mode === 'legacy') await client.ping()
  const said = await operations({
    list: async () => (await client.listTools()).tools,
    call: async (name, input, timeout = 30_000) =>
      (await client.callTool({ name, arguments: { ...input } }, { timeout })) as Result,
  })
  const version = client.getNegotiatedProtocolVersion()
  await client.close()
  return { version, ...said }
}

const byPython = (mode: string) => async (program: Program) => {
  const child = spawn(python, [join(root, 'test/servers/stdio_client.py')], { stdio: 'pipe' })
  const told = { out: '', err: '' }
  child.stdout.on('data', (part) => {
    told.out += part
  })
  child.stderr.on('data', (part) => {
    told.err += part
  })
  child.stdin.end(JSON.stringify({ ...program, cwd: root, mode }))
  const [code] = await once(child, 'close')
  assert.equal(code, 0, told.err)
  return JSON.parse(told.out) as Said
}

const CLIENTS: [name: string, modern: boolean, (program: Program) => Promise<Said>][] = [
  ['the SDK for TypeScript 1', false, byV1],
  ['the SDK for TypeScript 2, as before', false, byV2('legacy')],
  ['the SDK for TypeScript 2, which asks for the newest', true, byV2('auto')],
  ['the SDK for TypeScript 2, held to 2026-07-28', true, byV2({ pin: MODERN })],
  ['the SDK for Python, as before', false, byPython('legacy')],
  ['the SDK for Python, which asks for the newest', true, byPython('auto')],
  ['the SDK for Python, held to 2026-07-28', true, byPython(MODERN)],
]

describe('a client that others made', () => {
  const folder = temporaryFolder('stdio')
  const file = join(folder, 'all.yaml')
  const environment = { PATH: process.env['PATH'] ?? '' }
  const face: Program = {
    command: process.execPath,
    args: ['repl.ts', 'serve', file, '--stdio'],
    env: environment,
  }
  let test: harness.Case
  let expected: Omit<Said, 'version'>
  before(async () => {
    assert.ok(existsSync(python), '.ci/servers makes it')
    writeFileSync(file, CASE)
    const [read] = await cases.load(file)
    test = read as harness.Case
    // Without a wire between them.
    await using served = await harness.serve(test)
    expected = await operations(ofV1(served.servers['github']?.client as unknown as ClientV1))
    assert.ok(expected.hung && expected.big && expected.refused.error && !expected.added.error)
    assert.equal(expected.changed, 'Another text.')
  })

  for (const [name, modern, ask] of CLIENTS) {
    it(`${name}: is answered by \`serve --stdio\` as without a wire`, async () => {
      const { version, ...said } = await ask(face)
      assert.equal(version === MODERN, modern, version)
      assert.deepEqual(said, { ...expected, tools: [...expected.tools, 'report'] })
    })

    it(`${name}: is answered by the program of a trial’s server as without a wire`, async () => {
      await using served = await harness.serve(test)
      const { command, args, env } = (served.servers['github'] as { stdio: Program }).stdio
      const { version, ...said } = await ask({ command, args, env: { ...environment, ...env } })
      assert.equal(version === MODERN, modern, version)
      assert.deepEqual(said, expected)
    })
  }
})
