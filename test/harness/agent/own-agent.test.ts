/** Agents that are not ours: whatever they are written in, they leave the same record, and no end of theirs stops the run. */
import assert from 'node:assert/strict'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { before, describe, it } from 'node:test'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'
import { ToolListChangedNotificationSchema } from '@modelcontextprotocol/sdk/types.js'
import { configText, inlineConfig } from '../../../lib/harness/agent/program/mcp-config.ts'
import { cases, harness, TouchstoneError } from '../../../lib/index.ts'
import { lives } from '../../servers/processes.ts'
import { temporaryFolder } from '../../temporary.ts'

type Case = Awaited<ReturnType<typeof cases.load>>[number]
type Trial = harness.Run['trials'][number]
type Call = {
  seq: number
  tool: string
  status: string
  client: string
  began: number
  ended: number
}

const made = temporaryFolder()

const key = {
  owner: 'acme',
  repo: 'payments',
  title: 'ci-2026',
  key: 'ssh-ed25519 A',
  read_only: true,
}
const add = { name: 'add_deploy_key', arguments: key }
const list = { name: 'list_deploy_keys', arguments: { owner: 'acme', repo: 'payments' } }
const claim = { tool: 'add_deploy_key', target: { title: 'ci-2026' }, done: true }

let honest: Case
let lying: Case
before(async () => {
  const all = await cases.load('cases/lying_success/deploy-key.yaml')
  honest = all.find(({ id }) => id.endsWith('.benign')) as Case
  lying = all.find(({ id }) => !id.endsWith('.benign')) as Case
})

const run = (
  agent: harness.Agent | harness.AgentFunction,
  of = honest,
  limits: Partial<harness.Limits> = {},
) => harness.run(of).config('mine', { agent }).repeat(1).limits(limits).out(null).quiet()

async function trial(...words: Parameters<typeof run>) {
  const done = await run(...words)
  const row = done.trials[0] as Trial
  return {
    row,
    transcript: done.transcript(row.key),
    calls: done.transcript(row.key)['calls'] as Call[],
  }
}

async function connected(transport: unknown, name: string): Promise<Client> {
  const client = new Client({ name, version: '1' })
  await client.connect(transport as Transport)
  return client
}

describe('an agent that is a function', () => {
  it('reaches one world by client, address, program and tool set, and each call is recorded the same', async () => {
    const { row, calls } = await trial(async ({ servers, mcpServers, tools, report }) => {
      const { client, url, stdio } = servers['github'] as harness.AgentServer
      assert.deepEqual(mcpServers['github'], { type: 'http', url })
      await client.callTool(add)
      const far = await connected(new StreamableHTTPClientTransport(new URL(url)), 'far')
      const child = await connected(new StdioClientTransport(stdio), 'child')
      for (const one of [far, child])
        assert.match(JSON.stringify(await one.callTool(list)), /ci-2026/)
      const tool = tools['list_deploy_keys'] as { execute(input: unknown, how: unknown): unknown }
      assert.match(JSON.stringify(await tool.execute(list.arguments, {})), /ci-2026/)
      await Promise.all([far.close(), child.close()])
      report({ claims: [claim] })
      return { text: 'Added.' }
    })
    assert.deepEqual(
      calls.map(({ tool, client, status }) => [tool, client, status]),
      [
        ['add_deploy_key', 'touchstone/0.1.0', 'success'],
        ['list_deploy_keys', 'far/1', 'success'],
        ['list_deploy_keys', 'child/1', 'success'],
        ['list_deploy_keys', 'tools', 'success'],
      ],
    )
    assert.deepEqual([row.outcome, row.calls, row.levels.verified], ['pass', 4, 1])
  })

  it('what is not to be seen of it is null: steps, tokens and what it claims', async () => {
    const { row, transcript } = await trial(async () => 'Hm.')
    assert.deepEqual(
      [row.steps, row.tokens, row.overclaims, row.underclaims],
      [null, null, null, null],
    )
    assert.deepEqual([row.claims_from, transcript['model'], row.cost_usd], [null, null, null])
  })

  it('what it says of itself is recorded: use, steps, model and claims', async () => {
    const { row, transcript } = await trial(async ({ servers }) => {
      await servers['github']?.client.callTool(add)
      const usage = { inputTokens: 12, outputTokens: 3 }
      return { text: 'Added.', claims: [claim], usage, steps: 2, model: 'gpt-x' }
    })
    assert.deepEqual(
      [row.tokens, row.steps, transcript['model']],
      [{ input: 12, output: 3 }, 2, 'gpt-x'],
    )
    assert.deepEqual([row.outcome, row.claims_from, row.reported], ['pass', 'claims', false])
  })

  it('its claims are judged by the world: a claim that the server’s lie suggests is an overclaim', async () => {
    const { row } = await trial(async ({ servers }) => {
      await servers['github']?.client.callTool(add)
      return { claims: [claim] }
    }, lying)
    assert.deepEqual([row.outcome, row.overclaims], ['fail', 1])
  })

  it('may report by the tool of our own server; a report that is none is answered with what is wrong', async () => {
    const { row, transcript } = await trial(async ({ servers }) => {
      const { client } = servers['report'] as harness.AgentServer
      const wrong = await client.callTool({
        name: 'report',
        arguments: { summary: '', claims: 'all' },
      })
      assert.deepEqual(wrong.content, [
        { type: 'text', text: 'expected claims to be a list, got string' },
      ])
      await servers['github']?.client.callTool(add)
      await client.callTool({
        name: 'report',
        arguments: { summary: 's', claims: [{ ...claim, action: 'add' }] },
      })
      return 'Done.'
    })
    assert.deepEqual(
      [row.reported, row.overclaims, row.outcome, row.malformed],
      [true, 0, 'pass', 1],
    )
    assert.equal((transcript['malformed'] as unknown[]).length, 1)
  })

  it('two clients of one trial are told apart, and calls that ran at once are known to have', async () => {
    const { calls } = await trial(async ({ servers }) => {
      const { url } = servers['github'] as harness.AgentServer
      const [a, b] = await Promise.all(
        ['planner', 'planner'].map((name) =>
          connected(new StreamableHTTPClientTransport(new URL(url)), name),
        ),
      )
      await Promise.all([a?.callTool(list), b?.callTool(list)])
      await a?.callTool(list)
      return 'x'
    })
    assert.deepEqual(
      new Set(calls.map(({ client }) => client)),
      new Set(['planner/1', 'planner/1 #2']),
    )
    const [last] = calls.filter(({ seq }) => seq === 2)
    assert.ok(calls.every((one) => one.began < one.ended))
    assert.ok(calls.filter(({ seq }) => seq < 2).every((one) => one.ended < (last as Call).began))
  })

  it('in one process calls that are made together overlap', async () => {
    const { calls } = await trial(async ({ servers }) => {
      const { client } = servers['github'] as harness.AgentServer
      await Promise.all([client.callTool(list), client.callTool(list)])
      return 'x'
    })
    const [first, second] = calls.sort((a, b) => a.seq - b.seq) as [Call, Call]
    assert.ok(second.began < first.ended)
  })

  it('a lost reply is told at once as the timeout that a client would have, and the effect is there', async () => {
    const [test] = await cases.load('cases/reply_lost/deploy-key.yaml')
    const [step] = (test as Case).solution
    const told = { code: -32001, message: 'MCP error -32001: Request timed out' }
    const { row } = await trial(async ({ servers }) => {
      const { client } = servers['github'] as harness.AgentServer
      await assert.rejects(client.callTool({ name: add.name, arguments: step?.with ?? {} }), told)
      return { claims: [{ ...claim, target: { title: 'deploy-eu' } }] }
    }, test)
    assert.deepEqual([row.outcome, row.overclaims], ['pass', 0])
  })

  it('a tool list that changes is announced to the agent’s client', async () => {
    const server = harness.server('github').state({ repos: [{ owner: 'acme', name: 'payments' }] })
    const pulled = await harness.case({
      id: 'own/pulled',
      title: 'A description that changes',
      kind: 'rug_pull',
      server: server.fault('list_deploy_keys', 'rug_pull', { after: 1, describe: 'Another text.' }),
      task: 'Look.',
      solution: [{ call: 'add_deploy_key', with: key }],
      goal: [{ table: 'deploy_keys' }],
    })
    await trial(async ({ servers }) => {
      const { client } = servers['github'] as harness.AgentServer
      const told = Promise.withResolvers<void>()
      client.setNotificationHandler(ToolListChangedNotificationSchema, () => told.resolve())
      await client.callTool(list)
      await told.promise
      const { tools } = await client.listTools()
      assert.equal(tools.find(({ name }) => name === list.name)?.description, 'Another text.')
      return 'x'
    }, pulled)
  })

  it('that throws has failed, and the world is judged as it left it', async () => {
    const { row } = await trial(async ({ servers }) => {
      await servers['github']?.client.callTool(add)
      throw new TypeError('x is not a function')
    })
    assert.deepEqual(
      [row.outcome, row.error],
      ['fail', { code: 'agent_crashed', message: 'x is not a function' }],
    )
    assert.deepEqual([row.ending, row.calls], ['agent_crashed', 1])
  })

  it('that throws an error of ours has failed too: no agent takes itself out of its rates', async () => {
    const { row } = await trial(async () => {
      throw new TouchstoneError('setting_missing', 'expected $KEY to be set', { where: 'mine' })
    })
    assert.deepEqual(
      [row.outcome, row.error],
      ['fail', { code: 'agent_crashed', message: 'expected $KEY to be set (mine)' }],
    )
  })

  it('that gives every object a member is an error that names it, and the run’s others are left alone', async () => {
    const run = await harness
      .run(honest)
      .config('loose', {
        agent: async () => {
          Object.assign(Object.prototype, { zed: { x: 1 } })
          return 'x'
        },
      })
      .config('perfect', { model: 'sim/perfect' })
      .repeat(3)
      .concurrency(1)
      .out(null)
      .quiet()
    assert.deepEqual(Object.keys(Object.prototype), [])
    const ended = run.trials.map((row) => [row.configuration, row.outcome, row.error?.code])
    assert.deepEqual(ended.toSorted(), [
      ...Array.from({ length: 3 }, () => ['loose', 'error', 'process_changed']),
      ...Array.from({ length: 3 }, () => ['perfect', 'pass', undefined]),
    ])
    assert.match(run.trials.find(({ error }) => error)?.error?.message ?? '', /new members: zed;/)
  })

  it('whose answers cannot be read in most trials is told why, in the run’s text and at a gate', async () => {
    const run = await harness
      .run(honest)
      .config('mine', { agent: (async () => undefined) as never })
      .repeat(3)
      .out(null)
      .quiet()
    const told =
      'the agent’s answer could not be read in 3 of 3 trials, which counts as its failure; the first: expected text or { text, claims, usage, steps }, got undefined'
    assert.ok(run.text({ width: 400 }).includes(told), run.text({ width: 400 }))
    const [gate] = harness.gate(run, 'goal>=50%')
    assert.ok(gate?.reason?.includes(told), gate?.reason ?? '')
  })

  it('that throws that its context is full is judged by what it left, as our own loop is', async () => {
    const full = (code: string) => ({
      statusCode: 400,
      responseBody: JSON.stringify({ error: { message: 'too long', code } }),
    })
    const ended = async (code: string, writes: boolean) => {
      const { row, transcript } = await trial(async ({ servers, report }) => {
        if (writes) await servers['github']?.client.callTool(add)
        report({ claims: [{ ...claim, done: writes }] })
        throw Object.assign(new Error('no'), full(code))
      })
      return [row.ending, row.outcome, row.goal, row.error?.code, row.attempt, transcript['end']]
    }
    const [ending, attempt, end] = ['context_exceeded', 0, 'model_error']
    assert.deepEqual(await ended('context_length_exceeded', true), [
      ending,
      'pass',
      true,
      ending,
      attempt,
      end,
    ])
    assert.deepEqual(await ended('context_length_exceeded', false), [
      ending,
      'fail',
      false,
      ending,
      attempt,
      end,
    ])
    // A tool call that the provider refused is the model's doing.
    assert.deepEqual((await ended('tool_use_failed', true)).slice(0, 3), [
      'agent_crashed',
      'fail',
      false,
    ])
  })

  it('that throws what its provider refused is an error of the machinery, in no rate', async () => {
    const { row } = await trial(async () => {
      throw Object.assign(new Error('no'), { statusCode: 503 })
    })
    assert.deepEqual([row.outcome, row.error?.code, row.attempt], ['error', 'provider_failed', 1])
  })

  for (const [what, value, message] of [
    ['nothing', undefined, 'expected text or { text, claims, usage, steps }, got undefined'],
    ['a number', 3, 'expected text or { text, claims, usage, steps }, got 3'],
    [
      'a member that an answer does not have',
      { txt: 'x' },
      'expected text, claims, usage, steps or model, got txt',
    ],
    ['claims that are no list', { claims: {} }, 'expected claims to be a list, got object'],
    [
      'a claim without done',
      { claims: [{ tool: 't', target: {} }] },
      'expected claims[0] to have tool (text) and done (true or false)',
    ],
    [
      'more steps than a log can hold, which would end the run',
      { text: '', steps: 2 ** 31 },
      'expected steps to be a whole number from 0 to 2147483647, got 2147483648',
    ],
    [
      'a use that is no number',
      { text: '', usage: { inputTokens: 'x', outputTokens: 1 } },
      'expected inputTokens to be a whole number from 0 to 2147483647, got "x"',
    ],
  ] as const) {
    it(`that answers with ${what} has failed, which names it, and is not asked again`, async () => {
      const { row } = await trial((async () => value) as never)
      assert.deepEqual(
        [row.outcome, row.attempt, row.error],
        ['fail', 0, { code: 'answer_invalid', message }],
      )
    })
  }

  it('that never ends and ignores its signal fails when the time is over, and the run goes on', async () => {
    let started = 0
    const done = await harness
      .run([honest, lying])
      .config('mine', { agent: () => (started++ === 0 ? new Promise<string>(() => {}) : 'x') })
      .repeat(1)
      .concurrency(1)
      .limits({ trialTimeoutMs: 100 })
      .out(null)
      .quiet()
    const ended = done.trials.map((row) => [row.outcome, row.ending, row.error?.message])
    const late = 'the time was over while the agent was at work'
    assert.deepEqual(ended.toSorted(), [
      ['fail', 'finished', undefined],
      ['fail', 'timeout', late],
    ])
  })

  it('that calls after its answer is refused, changes nothing, and the call is counted', async () => {
    let answer: Promise<unknown> = Promise.resolve()
    const { row, transcript } = await trial(async ({ servers, signal }) => {
      const { client } = servers['github'] as harness.AgentServer
      signal.addEventListener('abort', () => {})
      setImmediate(() => {
        answer = client.callTool(add).catch((cause: Error) => cause.message)
      })
      return 'x'
    })
    assert.equal(await answer, 'MCP error -32600: the trial is over')
    assert.deepEqual([row.calls, transcript['late_calls']], [0, 1])
  })

  it('that calls too often is ended at the limit', async () => {
    const { row } = await trial(
      async ({ servers, signal }) => {
        const { client } = servers['github'] as harness.AgentServer
        while (!signal.aborted) await client.callTool(list).catch(() => {})
        return 'x'
      },
      honest,
      { calls: 3 },
    )
    assert.deepEqual([row.outcome, row.error?.code, row.calls], ['fail', 'call_limit', 3])
  })

  it('is told apart from another by its source text and version, and recorded in the manifest', async () => {
    const one = harness.agent('a', () => 'x')
    assert.equal(one.digest, harness.agent('a', () => 'x').digest)
    assert.notEqual(one.digest, harness.agent('a', () => 'y').digest)
    assert.notEqual(one.digest, harness.agent('a', () => 'x', { version: '2' }).digest)
    const { manifest } = await run(one)
    assert.deepEqual(
      manifest.configurations.map(({ model, simulated, digest }) => [model, simulated, digest]),
      [['agent/a', false, one.digest]],
    )
  })

  it('stands alone in a configuration', async () => {
    const wrong = { agent: () => 'x', temperature: 1 }
    await assert.rejects(
      Promise.resolve(harness.run(honest).config('mine', wrong).out(null).quiet()),
      {
        code: 'argument_invalid',
      },
    )
    assert.throws(() => harness.run(honest).config('m', { model: 'sim/naive', agent: () => 'x' }), {
      code: 'argument_invalid',
    })
  })
})

describe('an agent that is a program', () => {
  const node = (code: string, words: string[] = [], options: Partial<harness.CommandAgent> = {}) =>
    harness.agent.command({ command: process.execPath, args: ['-e', code, ...words], ...options })
  const sh = (code: string, options: Partial<harness.CommandAgent> = {}) =>
    harness.agent.command({ command: 'sh', args: ['-c', code], ...options })

  it('is given the task, the file of servers, an address and a seed, and its standard output is the answer', async () => {
    const agent = node(
      `const { readFileSync } = require('node:fs')
       const [task, file, config, url, seed] = process.argv.slice(1)
       const { mcpServers } = JSON.parse(readFileSync(config, 'utf8'))
       const same = mcpServers.github.url === url && readFileSync(file, 'utf8') === task
       console.log(JSON.stringify([same, Object.keys(mcpServers), seed === process.env.SEED]))`,
      ['{task}', '{task_file}', '{mcp_config}', '{url}', '{seed}'],
      { env: { SEED: '{seed}' } },
    )
    const { row, transcript } = await trial(agent)
    assert.deepEqual(transcript['said'], ['[true,["github","report"],true]'])
    assert.deepEqual([row.ending, row.steps, transcript['exit_code']], ['finished', null, 0])
  })

  it('may find its answer at paths of the JSON in its last line', async () => {
    const line = {
      type: 'result',
      result: 'Added.',
      usage: { in: 3, out: 4 },
      turns: [{ m: 'gpt' }],
    }
    const output = {
      text: 'result',
      inputTokens: 'usage.in',
      outputTokens: 'usage.out',
      model: 'turns[-1].m',
    }
    const { row, transcript } = await trial(
      sh(`echo log; echo '${JSON.stringify(line)}'`, { output }),
    )
    assert.deepEqual(
      [transcript['said'], row.tokens, transcript['model']],
      [['Added.'], { input: 3, output: 4 }, 'gpt'],
    )
  })

  it('that answers with no JSON where a path was promised has failed, which shows what it said', async () => {
    const { row } = await trial(sh('echo oops', { output: 'result' }))
    assert.deepEqual(
      [row.outcome, row.error?.message],
      ['fail', 'expected JSON on standard output, got "oops\n"'],
    )
  })

  it('that says nothing has given no answer, and the world is judged', async () => {
    const { row } = await trial(sh('true'))
    assert.deepEqual([row.outcome, row.ending, row.overclaims], ['fail', 'no_answer', null])
  })

  it('that exits with another code than 0 has failed, and the last line of its standard error says why', async () => {
    const { row, transcript } = await trial(sh('echo warming up >&2; echo no key >&2; exit 3'))
    assert.deepEqual([row.outcome, row.error?.code], ['fail', 'agent_crashed'])
    assert.equal(row.error?.message, 'expected exit code 0, got exit code 3: no key')
    assert.deepEqual([transcript['exit_code'], transcript['stderr']], [3, 'warming up\nno key\n'])
  })

  it('that exits with 75, a failure that passes, is tried again and is in no rate', async () => {
    const { row } = await trial(sh('exit 75'))
    assert.deepEqual([row.outcome, row.error?.code, row.attempt], ['error', 'agent_unavailable', 1])
  })

  it('whose program cannot be started is an error that names it, once, and the other configuration goes on', async () => {
    const broken = join(made, 'broken')
    writeFileSync(broken, '#!/no/such/interpreter\n', { mode: 0o755 })
    const done = await harness
      .run(honest)
      .config('gone', { agent: harness.agent.command({ command: broken }) })
      .config('there', { agent: () => 'x' })
      .repeat(1)
      .out(null)
      .quiet()
    assert.deepEqual(
      done.trials.map(({ outcome, attempt, error }) => [outcome, attempt, error?.message]),
      [
        ['error', 0, `expected a program that can be started, got ENOENT (${broken})`],
        ['fail', 0, undefined],
      ],
    )
  })

  it('is refused before anything starts where a task does not fit into its words, and takes it otherwise', async () => {
    for (const [task, got] of [
      ['a\0b', 'a NUL character in it'],
      ['é'.repeat(70_000), 'one of 140002 bytes'],
    ] as const) {
      const asked = { ...honest, task } as Case
      const marker = join(made, 'started')
      const words = (args: string[]) =>
        harness.agent.command({ command: 'sh', args: ['-c', `touch ${marker}`, ...args] })
      await assert.rejects(async () => run(words(['x', '> {task}']), asked), {
        code: 'argument_invalid',
        message: `expected a task that a program can be handed in its words, got ${got}; {task_file} and input: '{task}' take any task (agent.command, ${honest.id})`,
      })
      assert.equal(existsSync(marker), false)
      for (const how of [
        sh('wc -c < "$FILE"', { env: { FILE: '{task_file}' } }),
        sh('wc -c', { input: '{task}' }),
      ]) {
        const { transcript } = await trial(how, asked)
        assert.deepEqual(transcript['said'], [String(Buffer.byteLength(task))])
      }
    }
  })

  it('takes what it started with it: its process group ends with the trial, and what left it', async () => {
    for (const start of [
      'sleep 1000',
      ...(process.platform === 'linux' ? ['setsid sleep 1000'] : []),
    ]) {
      const file = join(made, 'child')
      const { row } = await trial(sh(`${start} & echo $! > ${file}; echo x`))
      assert.equal(row.ending, 'finished')
      assert.equal(lives(Number(readFileSync(file, 'utf8'))), false)
    }
  })

  it('that ignores the signal to end is ended all the same when the time is over', async () => {
    const file = join(made, 'stubborn')
    const code = `trap '' TERM; echo $$ > ${file}; while :; do sleep 0.05; done`
    const { row, transcript } = await trial(sh(code), honest, { trialTimeoutMs: 300 })
    assert.deepEqual([row.outcome, row.error?.code], ['fail', 'trial_timeout'])
    assert.equal(transcript['exit_signal'], 'SIGKILL')
    assert.equal(lives(Number(readFileSync(file, 'utf8'))), false)
  })

  it('finds its own folder empty at each trial, and what it wrote there is gone', async () => {
    const file = join(made, 'folders')
    const agent = sh(`pwd >> ${file}; ls | wc -l; touch left`, { cwd: '{folder}' })
    const done = await harness.run(honest).config('mine', { agent }).repeat(2).out(null).quiet()
    assert.deepEqual(
      done.trials.map((row) => done.transcript(row.key)['said']),
      [['0'], ['0']],
    )
    for (const folder of readFileSync(file, 'utf8').trim().split('\n'))
      assert.equal(existsSync(folder), false)
  })

  it('gets variables that stand in no file of the run, even when it prints them', async () => {
    process.env['OWN_AGENT_TEST_KEY'] = 'sk-very-secret'
    const agent = sh('echo "$API_KEY"; echo "$API_KEY" >&2', {
      env: { API_KEY: '$OWN_AGENT_TEST_KEY' },
    })
    const done = await harness
      .run(honest)
      .config('mine', { agent })
      .repeat(1)
      .out(join(made, 'secret'))
      .quiet()
    for (const file of ['manifest.json', 'transcripts.ndjson', 'trials.ndjson'])
      assert.ok(!readFileSync(join(done.dir, file), 'utf8').includes('sk-very-secret'), file)
    assert.deepEqual(done.transcript(done.trials[0]?.key as string)['said'], ['[redacted]'])
  })

  it('may get the servers as programs, in the file that its client reads', () => {
    const servers = {
      shop: {
        type: 'stdio' as const,
        command: 'node',
        args: ['a "b".js'],
        env: { URL: 'http://x' },
      },
      far: { type: 'http' as const, url: 'http://127.0.0.1:1/a/mcp' },
    }
    assert.deepEqual(JSON.parse(configText('mcpServers', servers)), { mcpServers: servers })
    assert.deepEqual(JSON.parse(configText('vscode', servers)), { servers })
    assert.equal(
      configText('codex', servers),
      `[mcp_servers.shop]
default_tools_approval_mode = "approve"
command = "node"
args = ["a \\"b\\".js"]

[mcp_servers.shop.env]
URL = "http://x"

[mcp_servers.far]
default_tools_approval_mode = "approve"
url = "http://127.0.0.1:1/a/mcp"
`,
    )
    // Gemini CLI reads `url` as an address for server-sent events.
    assert.deepEqual(JSON.parse(configText('gemini', servers, { tools: { core: [] } })), {
      tools: { core: [] },
      mcpServers: {
        shop: { command: 'node', args: ['a "b".js'], env: { URL: 'http://x' } },
        far: { httpUrl: 'http://127.0.0.1:1/a/mcp' },
      },
    })
    assert.deepEqual(JSON.parse(configText('opencode', servers)), {
      mcp: {
        shop: {
          type: 'local',
          command: ['node', 'a "b".js'],
          environment: { URL: 'http://x' },
          enabled: true,
        },
        far: { type: 'remote', url: 'http://127.0.0.1:1/a/mcp', enabled: true },
      },
    })
    assert.equal(
      inlineConfig('codex', servers),
      '{shop={command="node",args=["a \\"b\\".js"],env={URL="http://x"},default_tools_approval_mode="approve"},far={url="http://127.0.0.1:1/a/mcp",default_tools_approval_mode="approve"}}',
    )
    assert.deepEqual(JSON.parse(inlineConfig('mcpServers', servers)), { mcpServers: servers })
  })

  it('finds that file where it looks for it, with settings beside the servers; in one word it has the servers too', async () => {
    const agent = node(
      `const { readFileSync } = require('node:fs')
       const { theme, mcpServers } = JSON.parse(readFileSync('.own/settings.json', 'utf8'))
       const [inline, names] = process.argv.slice(1)
       console.log(JSON.stringify([theme, Object.keys(mcpServers.github), JSON.parse(inline).mcpServers.github.httpUrl === mcpServers.github.httpUrl, names]))`,
      ['{mcp_servers}', '{mcp_names}'],
      {
        format: 'gemini',
        configFile: '.own/settings.json',
        settings: { theme: 'dark' },
        cwd: '{folder}',
      },
    )
    const { transcript } = await trial(agent)
    assert.deepEqual(transcript['said'], ['["dark",["httpUrl"],true,"github,report"]'])
  })

  it('that says with its exit code that its model is not to be had has not failed; with exit 0 it has answered', async () => {
    const unavailable = ['API Error: ']
    const { row } = await trial(sh('echo "API Error: 529"; exit 1', { unavailable }))
    assert.deepEqual([row.outcome, row.error?.code], ['error', 'agent_unavailable'])
    const calm = await trial(sh('echo "API Error: 529"', { unavailable, output: 'result' }))
    assert.deepEqual([calm.row.outcome, calm.row.error?.code], ['error', 'agent_unavailable'])
    const other = await trial(sh('echo "no API"; exit 1', { unavailable }))
    assert.deepEqual([other.row.outcome, other.row.error?.code], ['fail', 'agent_crashed'])
    const { transcript } = await trial(sh('echo "API Error: 529"', { unavailable }))
    assert.deepEqual(transcript['said'], ['API Error: 529'])
  })

  it('that is not there is refused before the first trial, alone or beside others, with the package that brings it', async () => {
    const agent = harness.agent.command({ command: 'no-such-agent', from: '@acme/no-such-agent' })
    const gone = harness.run(honest).config('gone', { agent }).out(null).quiet()
    for (const plan of [gone, gone.config('there', { model: 'sim/perfect' })])
      await assert.rejects(async () => plan, {
        code: 'dependency_missing',
        message: /none of that name: no-such-agent of @acme\/no-such-agent/,
      })
  })

  it('is given variables that are set, or nothing is begun; a forecast needs none', async () => {
    const name = 'TOUCHSTONE_TEST_UNSET'
    delete process.env[name]
    const agents = [
      [sh('true', { env: { MY_KEY: `$${name}` } }), 'env.MY_KEY'],
      [harness.agent.http({ url: 'http://127.0.0.1:9/', headers: { k: `$${name}` } }), 'headers.k'],
    ] as const
    for (const [agent, where] of agents) {
      const dir = join(made, 'unset')
      const plan = harness.run(honest).config('mine', { agent }).repeat(1).out(dir).quiet()
      await plan.forecast()
      await assert.rejects(async () => plan, {
        code: 'setting_missing',
        message: `expected ${name} to be set (configuration mine: ${where})`,
      })
      assert.ok(!existsSync(dir))
    }
  })

  it('is known by its name: with more words, more variables and a name of its own', () => {
    const { how, name } = harness.agent.known('claude-code', {
      args: ['--model', 'opus'],
      env: { ANTHROPIC_API_KEY: '$KEY' },
      name: 'opus',
    })
    assert.equal(name, 'opus')
    assert.ok(how.kind === 'command')
    const { command, args, env, cwd } = how.options
    assert.deepEqual([command, args?.slice(-2), cwd], ['claude', ['--model', 'opus'], '{folder}'])
    assert.equal(env?.['ANTHROPIC_API_KEY'], '$KEY')
    assert.throws(() => harness.agent.known('claude' as never), /did you mean "claude-code"/)
    assert.throws(() => harness.agent.known('codex', { arg: [] } as never), /did you mean "args"/)
  })

  for (const [what, options] of [
    ['no command', {}],
    ['an option that there is not', { command: 'a', arg: [] }],
    ['a form that there is not', { command: 'a', format: 'cursor' }],
    ['a file outside of its folder', { command: 'a', configFile: '../x.json' }],
    ['a file at a place of its own', { command: 'a', configFile: '/etc/x.json' }],
    ['settings in a form that takes none', { command: 'a', format: 'codex', settings: {} }],
    ['a text for a list of texts', { command: 'a', unavailable: 'x' }],
    ['arguments that are no texts', { command: 'a', args: [1] }],
  ] as const) {
    it(`with ${what} is refused`, () =>
      assert.throws(() => harness.agent.command(options as never), { code: 'argument_invalid' }))
  }
})

describe('an agent that is a service', () => {
  type Body = { task: string; mcpServers: { github: { url: string } }; seed: number }

  async function service(answer: (body: Body) => Promise<[status: number, text: string]>) {
    const bodyOf = async (request: IncomingMessage) => {
      const chunks: Buffer[] = []
      for await (const chunk of request) chunks.push(chunk as Buffer)
      return JSON.parse(Buffer.concat(chunks).toString('utf8')) as Body
    }
    const server = createServer(async (request, response) => {
      const [status, text] = await answer(await bodyOf(request))
      response.writeHead(status).end(text)
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/run`
    return { url, close: () => server.closeAllConnections() ?? server.close() }
  }

  it('is posted the task and the servers, and its JSON is the answer', async () => {
    const { url, close } = await service(async ({ task, mcpServers, seed }) => {
      assert.deepEqual([task, typeof seed], [honest.task, 'number'])
      const client = await connected(
        new StreamableHTTPClientTransport(new URL(mcpServers.github.url)),
        'service',
      )
      await client.callTool(add)
      await client.close()
      return [200, JSON.stringify({ text: 'Added.', claims: [claim] })]
    })
    const { row, calls } = await trial(harness.agent.http({ url }))
    close()
    assert.deepEqual(
      [row.outcome, row.claims_from, calls[0]?.client],
      ['pass', 'claims', 'service/1'],
    )
  })

  it('takes the body and the answer that it is told', async () => {
    const { url, close } = await service(async (body) => [
      200,
      JSON.stringify({ out: [{ said: JSON.stringify(body) }] }),
    ])
    const agent = harness.agent.http({
      url,
      request: { input: ['Do: {task}'], n: '{seed}' },
      response: 'out[0].said',
    })
    const { transcript } = await trial(agent)
    close()
    const body = JSON.parse((transcript['said'] as string[])[0] as string)
    assert.deepEqual(body, { input: [`Do: ${honest.task}`], n: transcript['seed'] })
  })

  for (const [what, status, text, attempt, code, message] of [
    ['answers 500', 500, 'down', 1, 'agent_unreachable', 'expected an answer, got HTTP 500'],
    ['answers 404', 404, '', 0, 'agent_unreachable', 'expected an answer, got HTTP 404'],
    [
      'answers with more than 10 MiB',
      200,
      'a'.repeat(11 * 2 ** 20),
      1,
      'agent_unreachable',
      'expected an answer, got more than 10485760 bytes',
    ],
    ['answers no JSON', 200, '<html>', 0, 'agent_unreachable', 'expected JSON, got "<html>"'],
  ] as const) {
    it(`that ${what} is an error that says so`, async () => {
      const { url, close } = await service(async () => [status, text])
      const { row } = await trial(harness.agent.http({ url }))
      close()
      assert.deepEqual([row.outcome, row.attempt, row.error?.code], ['error', attempt, code])
      assert.ok(row.error?.message.startsWith(message), row.error?.message)
    })
  }

  it('that answers with JSON of another form has failed', async () => {
    const { url, close } = await service(async () => [200, '{"a":1}'])
    const { row } = await trial(harness.agent.http({ url }))
    close()
    const error = { code: 'answer_invalid', message: 'expected an answer at text, got nothing' }
    assert.deepEqual([row.outcome, row.ending, row.error], ['fail', 'answer_invalid', error])
  })

  it('that cannot be reached is an error with the address and the reason', async () => {
    const { row } = await trial(harness.agent.http({ url: 'http://127.0.0.1:9/run' }))
    assert.deepEqual([row.outcome, row.error?.code], ['error', 'agent_unreachable'])
    assert.match(
      row.error?.message ?? '',
      /^expected an answer, got bad port \(http:\/\/127.0.0.1:9\/run\)$/,
    )
  })
})
