/**
 * The probe beside servers in TypeScript, Python, Go and Rust, made with their languages' own SDKs: both eras, both transports, and
 * what they refuse. `.ci/servers rust` builds those that are not TypeScript; one that is not there is skipped, and says so.
 *
 * `npm run refusals` writes what they answer to `mcp-stateless-conformance 1.0` anew, for the notebook that shows it.
 */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { after, describe, it } from 'node:test'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { type Command, conformance, connect } from '../../lib/probe/index.ts'
import { sdk2 } from '../servers/sdk.ts'

const root = resolve(import.meta.dirname, '..', '..')
const made = join(root, '.cache', 'servers')
const python = join(made, 'python', 'bin', 'python')

type Kind = {
  /** The SDK and its version, as .ci/servers and the lock files have it. */
  sdk: string
  /** What must be there. */
  needs: string
  command: Command
  named: number
  /** How its HTTP server answers a test of 2026-07-28 and one of the earlier era. */
  http: { modern: string; legacy: string }
}

const KINDS: Kind[] = [
  {
    sdk: 'fastmcp 4.2.3, Python',
    needs: python,
    command: { command: python, args: [join(root, 'test', 'servers', 'notes.py')] },
    named: 3,
    http: { modern: 'answered', legacy: 'answered' },
  },
  {
    // Its handler of sessions answers server/discover, and lists only earlier revisions.
    sdk: 'go-sdk 1.8.0, Go',
    needs: join(made, 'notes-go'),
    command: { command: join(made, 'notes-go'), args: [] },
    named: 2,
    http: { modern: 'error', legacy: 'answered' },
  },
  {
    sdk: 'rmcp 3.11.0, Rust',
    needs: join(made, 'notes-rust'),
    command: { command: join(made, 'notes-rust'), args: [] },
    named: 2,
    http: { modern: 'answered', legacy: 'answered' },
  },
]

const closing: (() => unknown)[] = []
after(() => Promise.all(closing.map((close) => close())))

/** Started on a port of its own; it tells its address on standard error. */
async function addressOf({ command, args = [] }: Command): Promise<string> {
  const child = spawn(command, [...args, 'http'], { stdio: ['ignore', 'ignore', 'pipe'] })
  closing.push(() => child.kill())
  const url = await new Promise<string>((found, failed) => {
    createInterface({ input: child.stderr }).once('line', found)
    child.once('exit', (code) => failed(new Error(`${command} ended with ${code}`)))
  })
  child.stderr.resume()
  for (;;) {
    const answer = await fetch(url, { method: 'DELETE' }).catch(() => null)
    if (answer) return url
    assert.equal(child.exitCode, null)
  }
}

/** How many tools the SDK's own client lists. */
async function listed(
  transport: StdioClientTransport | StreamableHTTPClientTransport,
): Promise<number> {
  const client = new Client(
    { name: 'reference', version: '1' },
    { versionNegotiation: { mode: 'auto' } },
  )
  await client.connect(transport)
  const { tools } = await client.listTools()
  await client.close()
  return tools.length
}

const known = join(root, 'notebooks', 'data', 'refusals.json')
type Refusals = { sdk: string; passed: number; answers: { [check: string]: string } }
const found: Refusals[] = []

async function refusals(sdk: string, url: string): Promise<Refusals> {
  const { checks, passed } = await conformance(url)
  const answers = checks.map(({ id, httpStatus, rpcCode, detail, passed: kept }) => [
    id,
    `${[httpStatus ?? detail, rpcCode].filter((part) => part !== null).join(' ')}${kept ? '' : ' !'}`,
  ])
  return { sdk, passed, answers: Object.fromEntries(answers) }
}

describe('servers made with the SDKs of four languages', () => {
  for (const { sdk, needs, command, named, http } of KINDS) {
    const skip = existsSync(needs) ? false : `${needs} is not there: run .ci/servers rust`
    it(`${sdk}: both eras over both transports, and as many tools as the SDK’s client lists`, {
      skip,
    }, async () => {
      for (const era of ['legacy', 'modern'] as const) {
        const over = await connect(command, { era })
        assert.deepEqual(
          [over.outcome, over.passed, over.tools?.named],
          ['answered', 2, named],
          era,
        )
        assert.deepEqual(over.own?.process?.strayLines, 0)
      }
      assert.equal(
        await listed(
          new StdioClientTransport({ command: command.command, args: [...(command.args ?? [])] }),
        ),
        named,
      )
      const url = await addressOf(command)
      for (const era of ['legacy', 'modern'] as const) {
        const over = await connect(url, { local: true, era })
        assert.equal(over.outcome, http[era], era)
        assert.deepEqual(over.stateless?.findings ?? [], [])
      }
      const auto = await connect(url, { local: true, era: 'auto' })
      assert.deepEqual([auto.outcome, auto.passed, auto.tools?.named], ['answered', 2, named])
      assert.equal(await listed(new StreamableHTTPClientTransport(new URL(url))), named)
      found.push(await refusals(sdk, url))
    })
  }

  it('each answers to what it must refuse as the notebook says', async () => {
    const server = await sdk2('stateless')
    closing.push(server.close)
    const all = [
      await refusals('@modelcontextprotocol/server 2.4.0, TypeScript', server.url),
      ...found,
    ]
    if (process.env['WRITE_REFUSALS'] === '1') {
      assert.equal(found.length, KINDS.length, 'every server is there')
      const text = {
        source:
          'mcp-stateless-conformance 1.0 against servers on loopback, one per SDK, as test/probe/languages.real.ts starts them',
        tool: 'npm run refusals',
        notes: 'HTTP status and JSON-RPC code; "!" where the set demands another answer.',
        rows: all,
      }
      writeFileSync(known, `${JSON.stringify(text, null, 2)}\n`)
    }
    const { rows } = JSON.parse(readFileSync(known, 'utf8')) as { rows: Refusals[] }
    for (const one of all)
      assert.deepEqual(
        one,
        rows.find(({ sdk }) => sdk === one.sdk),
      )
  })
})
