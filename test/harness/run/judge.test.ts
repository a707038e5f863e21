/** `harness.recorder()` and `harness.judge()`: what was recorded, or is brought, is judged as a trial is. */
import assert from 'node:assert/strict'
import { before, describe, it } from 'node:test'
import { cases, harness } from '../../../lib/index.ts'

let lying: harness.Case
let honest: harness.Case
before(async () => {
  const all = await cases.load('cases/lying_success/deploy-key.yaml')
  lying = all.find(({ id }) => !id.endsWith('.benign')) as harness.Case
  honest = all.find(({ id }) => id.endsWith('.benign')) as harness.Case
})
const input = () => honest.solution[0]?.with as never
const claims = () => [{ tool: 'add_deploy_key', target: input(), done: true }]
const add = { name: 'add_deploy_key' }
const signal = AbortSignal.timeout(60_000)

/** What of a record says how it was judged. */
const marks = ({ record }: harness.Judgement) => {
  const { outcome, goal, overclaims, underclaims, unneeded, calls, claims } = record
  return { outcome, goal, overclaims, underclaims, unneeded, calls, claims }
}

async function recorded(test: harness.Case) {
  const github = await harness.server(test.servers[0]).start()
  const recorder = await harness.recorder([github], { case: test })
  await recorder.call({ server: github, tool: add }, input(), signal)
  return recorder
}

describe('a recorder of one’s own', () => {
  it('is judged as the same calls of a served case are, faults and audit log included', async () => {
    for (const test of [honest, lying]) {
      const judgement = await harness.judge(
        test,
        { recorder: await recorded(test) },
        { claims: claims() },
      )
      await using served = await harness.serve(test)
      await served.servers['github']?.client.callTool({ name: add.name, arguments: input() })
      const other = await served.judge({ claims: claims() })
      assert.deepEqual(marks(judgement), marks(other))
      assert.deepEqual(judgement.record.levels, other.record.levels)
      assert.equal(judgement.outcome, test === honest ? 'pass' : 'fail')
    }
  })

  it('is judged once, and as the case that it is for', async () => {
    const recorder = await recorded(honest)
    await assert.rejects(harness.judge(lying, { recorder }), {
      code: 'argument_invalid',
      message: /a recorder for the case lying_success\/deploy-key, or for none, got/,
    })
    assert.equal((await harness.judge(honest, { recorder }, '')).record.calls, 1)
    await assert.rejects(harness.judge(honest, { recorder }), {
      code: 'argument_invalid',
      message: /a recorder that was not judged yet/,
    })
  })

  it('must stand in front of the servers of the case', async () => {
    const mail = await harness.server('mail').start()
    const recorder = await harness.recorder([mail])
    await assert.rejects(harness.judge(honest, { recorder }), {
      code: 'argument_invalid',
      message: /a recorder in front of the server github, got "mail"/,
    })
    await mail.close()
    const elsewhere = await harness.server('github').start()
    const other = { recorder: await harness.recorder([elsewhere]) }
    await assert.rejects(harness.judge(honest, other), {
      code: 'argument_invalid',
      message: /github in the state in which the case starts/,
    })
    await elsewhere.close()
    await assert.rejects(harness.recorder([]), { code: 'argument_invalid' })
    await assert.rejects(harness.recorder([{} as never]), { message: /a server that runs/ })
  })
})

describe('calls and states that are brought', () => {
  it('are judged by the state, whatever the calls were answered', async () => {
    const calls = [{ tool: add.name, input: input(), answer: '{"ok":true}' }]
    const github = await harness.server(honest.servers[0]).start()
    const recorder = await harness.recorder([github])
    await recorder.call({ server: github, tool: add }, input(), signal)
    const judgement = await harness.judge(lying, { recorder }, { claims: claims() })
    assert.equal(judgement.outcome, 'pass')
    const start = honest.servers[0]?.state as never
    const none = await harness.judge(
      lying,
      { calls, states: { github: start } },
      { claims: claims() },
    )
    assert.deepEqual([none.outcome, none.record.overclaims], ['fail', 1])
    assert.equal(none.record.levels.verified, 0)
    const [server] = (await recorded(honest)).servers as [harness.RunningServer]
    const { state } = (await server.end()) as unknown as { state: never }
    await server.close()
    const there = await harness.judge(
      honest,
      { calls, states: { github: state } },
      { claims: claims() },
    )
    assert.deepEqual([there.outcome, there.record.overclaims], ['pass', 0])
  })

  it('are refused by what is missing of them, or is not the world’s', async () => {
    const refused = (brought: unknown, message: RegExp, code = 'argument_invalid') =>
      assert.rejects(harness.judge(honest, brought as never), { code, message })
    const state = honest.servers[0]?.state
    await refused({ calls: [], states: {} }, /the tables of github at the end/)
    await refused(
      { calls: [], states: { gitlab: {} } },
      /a server of the case \(github\), got "gitlab"/,
    )
    await refused({ states: { github: state } }, /a list of calls/)
    await refused(
      { calls: [], states: { github: { repos: [{ nonsense: 1 }] } } },
      /repos/,
      'case_invalid',
    )
    await refused(
      { calls: [{ server: 'x', tool: 'y', input: {} }], states: { github: state } },
      /brought\.calls\[0\]/,
    )
    await assert.rejects(
      harness.judge(honest, { calls: [], states: { github: state as never } }, {
        steps: 1,
      } as never),
      { code: 'argument_invalid', message: /text or claims/ },
    )
    await assert.rejects(harness.judge(null as never, {} as never), { code: 'argument_invalid' })
  })

  it('are refused by each member that is not of its kind', async () => {
    const states = { github: honest.servers[0]?.state }
    const round: { [member: string]: unknown } = {}
    round['again'] = round
    const one = { tool: 'add_deploy_key', input: {} }
    const formed = (where: RegExp) => (error: { code?: string; message: string }) => {
      assert.equal(error.code, 'argument_invalid', String(error))
      assert.match(error.message, /^(?!expected expected)expected .+, got .+/s)
      assert.match(error.message, where)
      return true
    }
    for (const [brought, where] of [
      [{ calls: [null], states }, /calls\[0\]/],
      [{ calls: [one, 5], states }, /calls\[1\]/],
      [{ calls: [{ ...one, extra: 1 }], states }, /got "extra".*calls\[0\]/],
      [{ calls: [{ input: {} }], states }, /calls\[0\]\.tool/],
      [{ calls: [{ ...one, server: 5 }], states }, /calls\[0\]\.server/],
      [{ calls: [{ ...one, input: [] }], states }, /calls\[0\]\.input/],
      [{ calls: [{ ...one, input: { id: 2 ** 53 } }], states }, /calls\[0\]\.input/],
      [{ calls: [{ ...one, input: round }], states }, /calls\[0\]\.input/],
      [{ calls: [{ ...one, status: 'great' }], states }, /calls\[0\]\.status/],
      [
        { calls: [{ ...one, tool: 'add_deploykey' }], states },
        /a tool of github \(.*\), got "add_deploykey"; did you mean "add_deploy_key"\?.*calls\[0\]\.tool/,
      ],
      [{ calls: [{ ...one, tool: 'add_deploykey', status: 'error' }], states }, /calls\[0\]\.tool/],
      [{ calls: [{ ...one, server: 'gihub' }], states }, /did you mean "github"\?/],
      [{ calls: [one], states }, /arguments with which add_deploy_key succeeds.*calls\[0\]\.input/],
      [
        { calls: [{ ...one, input: { ...(input() as object), titel: 'x' } }], states },
        /titel.*calls\[0\]\.input/,
      ],
      [{ calls: [], states: { github: {} } }, /the table repos, which held 1 row at the start/],
      [{ calls: [{ ...one, answer: { a: 1 } }], states }, /calls\[0\]\.answer/],
      [{ calls: [], states, more: 1 }, /got "more"/],
      [{ calls: [], states: { github: null } }, /states\.github/],
      [{ calls: [], states: { github: [] } }, /states\.github/],
      [{ calls: [], states: { github: { repo: [] } } }, /a table of github \(.*, got "repo"/],
      [{ recorder: harness.recorder([]).catch(() => {}) }, /a recorder from/],
      [{ recorder: { close() {} } }, /a recorder from/],
    ] as const)
      await assert.rejects(harness.judge(honest, brought as never), formed(where))
    for (const answer of [
      7,
      1n,
      null,
      [],
      Promise.resolve('x'),
      { text: 5 },
      { claims: 'none' },
      { text: 'x', usage: 5 },
      { text: 'x', usage: { inputTokns: 5 } },
      { text: 'x', model: 5 },
    ])
      await assert.rejects(
        harness.judge(honest, { calls: [], states } as never, answer as never),
        formed(/answer/),
      )
    const running = { end() {}, tools: [], name: 'x' }
    for (const [servers, options, where] of [
      [[null], {}, /servers\[0\]/],
      [[{ end() {} }], {}, /servers\[0\]/],
      [{ end() {} }, {}, /servers/],
      [[running, running], {}, /each server once, by its name, got "x"/],
      [[{ end() {}, tools: [], name: 'x' }], { case: [honest] }, /options\.case/],
      [[{ end() {}, tools: [], name: 'x' }], null, /options/],
    ] as const)
      await assert.rejects(harness.recorder(servers as never, options as never), formed(where))
  })
})
