/** The claim that docs/agents.md shows is read from each kind of agent, and another shape is told of. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { before, describe, it } from 'node:test'
import { cases, harness } from '../../../lib/index.ts'
import type { JsonObject } from '../../../lib/json.ts'

type Claims = { tool: string; action: string; target: JsonObject; done: boolean }[]

const [, text = ''] = /```json\n(\{\n {2}"text"[\s\S]*?)```/.exec(
  readFileSync('docs/agents.md', 'utf8'),
) as RegExpExecArray
const shown = JSON.parse(text) as { text: string; claims: Claims }

type Case = Awaited<ReturnType<typeof cases.load>>[number]
let honest: Case
before(async () => {
  const all = await cases.load('cases/lying_success/deploy-key.yaml')
  honest = all.find(({ id }) => id.endsWith('.benign')) as Case
})

const run = (agent: harness.Agent | harness.AgentFunction, repeats = 1) =>
  harness.run(honest).config('mine', { agent }).repeat(repeats).out(null).quiet()
const claimOf = (done: harness.Run) => {
  const [row] = done.trials
  const [claim] = row?.claims ?? []
  return [row?.claims_from, row?.claims.length, claim?.tool, claim?.target, claim?.done]
}
const read = (from: string) => {
  const [one] = shown.claims
  return [from, 1, one?.tool, one?.target, one?.done]
}
const add = {
  name: 'add_deploy_key',
  arguments: { owner: 'acme', repo: 'payments', title: 'ci-2026', key: 'x', read_only: true },
}

describe('the claim of docs/agents.md', () => {
  it('is read from what a function returns, and is there where the function did it', async () => {
    const done = await run(async ({ servers }) => {
      await servers['github']?.client.callTool(add)
      return shown
    })
    assert.deepEqual(claimOf(done), read('claims'))
    assert.equal(done.trials[0]?.claims[0]?.matched, true)
  })

  it('is read from what a function reports', async () => {
    const done = await run(({ report }) => {
      report({ summary: shown.text, claims: shown.claims })
      return ''
    })
    assert.deepEqual(claimOf(done), read('report'))
  })

  it('is read from the last line of a program', async () => {
    const print = `console.log('at work');console.log(${JSON.stringify(JSON.stringify(shown))})`
    const agent = harness.agent.command({
      command: process.execPath,
      args: ['-e', print],
      output: { text: 'text', claims: 'claims' },
    })
    assert.deepEqual(claimOf(await run(agent)), read('claims'))
  })

  it('is read from the answer of a service', async () => {
    const server = createServer((_, response) => response.end(JSON.stringify(shown)))
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/run`
    const done = await run(harness.agent.http({ url }))
    server.close()
    assert.deepEqual(claimOf(done), read('claims'))
  })

  it('in another shape is refused by report, and the text of the run says how often and why', async () => {
    const done = await run(async ({ servers }) => {
      const claims = [{ tool: 'add_deploy_key', input: add.arguments }]
      const given = { name: 'report', arguments: { summary: 'x', claims } }
      await servers['report']?.client.callTool(given)
      return 'Done.'
    }, 2)
    assert.match(
      done.text({ width: 1000 }),
      /^mine: 2 tool calls could not be read\. The first: report: expected claims\[0\] to have tool \(text\) and done \(true or false\)\.$/m,
    )
  })
})

describe('an agent that crashes before its first call', () => {
  const crashing = (share: number) => {
    let n = 0
    return run(async ({ servers }) => {
      if (n++ < share) throw new Error('no model')
      await servers['github']?.client.callTool(add)
      return 'Done.'
    }, 4)
  }
  const told = /crashed before its first call in (\d) of 4 trials.*exit code 75.*unavailable:/

  it('in most of its trials is told of in the text, the page and the gate, with the way out', async () => {
    const done = await crashing(3)
    assert.equal(told.exec(done.text({ width: 1000 }))?.[1], '3')
    const { overview } = (await done.page())['of']
    assert.match(JSON.stringify(overview.alerts), told)
    const [gate] = harness.gate(done, 'goal>=80%@estimate')
    assert.equal(gate?.state, 'missed')
    assert.match(gate?.reason ?? '', told)
  })

  it('in half of them is not', async () => {
    const done = await crashing(2)
    assert.doesNotMatch(done.text({ width: 1000 }), told)
    const [gate] = harness.gate(done, 'goal>=80%@estimate')
    assert.doesNotMatch(gate?.reason ?? '', told)
  })
})
