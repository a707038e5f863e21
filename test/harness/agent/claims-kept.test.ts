/** Claims of an agent, by whatever way they come: refused in words, or written so that the run can be read. */
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { before, describe, it } from 'node:test'
import { cases, harness } from '../../../lib/index.ts'
import fc from '../../property.ts'
import { temporaryFolder } from '../../temporary.ts'

type Case = Awaited<ReturnType<typeof cases.load>>[number]

const made = temporaryFolder('claims')

let honest: Case
before(async () => {
  const all = await cases.load('cases/lying_success/deploy-key.yaml')
  honest = all.find(({ id }) => id.endsWith('.benign')) as Case
})

const claim = { tool: 'add_deploy_key', action: 'add', target: {}, done: true }
const HALF = 'x\ud83d'
const BIG = 2 ** 53
const REFUSED = /expected numbers that JSON carries unchanged/

function deep(levels: number): object {
  let value: object = {}
  for (let level = 1; level < levels; level++) value = { a: value }
  return value
}

let runs = 0

/** The one trial of an agent, as it is read back from its folder. */
async function kept(agent: harness.Agent | harness.AgentFunction) {
  const out = join(made, `run-${++runs}`)
  await harness.run(honest).config('mine', { agent }).repeat(1).out(out).quiet()
  const run = await harness.open(out)
  const row = run.trials[0] as harness.Run['trials'][number]
  return { row, told: run.transcript(row.key) }
}

/** Each way by which a function hands over claims. Gives what it was told. */
const WAYS: { [name: string]: (claims: unknown) => Promise<string | null> } = {
  async 'the MCP tool'(claims) {
    let told: string | null = null
    await kept(async ({ servers }) => {
      const { client } = servers['report'] as harness.AgentServer
      const answer = await client.callTool({ name: 'report', arguments: { summary: HALF, claims } })
      if (answer.isError) told = (answer.content as { text: string }[])[0]?.text ?? ''
      return 'done'
    })
    return told
  },
  async 'the tool of the AI SDK'(claims) {
    let told: string | null = null
    await kept(async ({ tools }) => {
      const tool = tools['report'] as { execute(input: unknown, how: unknown): Promise<unknown> }
      await tool.execute({ summary: HALF, claims }, {}).catch((cause: Error) => {
        told = cause.message
      })
      return 'done'
    })
    return told
  },
  async 'report()'(claims) {
    let told: string | null = null
    await kept(({ report }) => {
      try {
        report({ summary: HALF, claims: claims as harness.AgentClaim[] })
      } catch (cause) {
        told = (cause as Error).message
      }
      return 'done'
    })
    return told
  },
  async 'claims beside the answer'(claims) {
    const { row } = await kept(() => ({ text: 'done', claims: claims as harness.AgentClaim[] }))
    if (row.error === null) return null
    assert.equal(row.error.code, 'answer_invalid')
    return row.error.message
  },
  async 'the JSON of a program'(claims) {
    const file = join(made, `answer-${++runs}.json`)
    writeFileSync(file, JSON.stringify({ text: 'done', claims }))
    const script = `process.stdout.write(require('node:fs').readFileSync(${JSON.stringify(file)}))`
    const { row } = await kept(
      harness.agent.command({
        command: process.execPath,
        args: ['-e', script],
        output: { text: 'text', claims: 'claims' },
      }),
    )
    if (row.error === null) return null
    assert.equal(row.error.code, 'answer_invalid')
    return row.error.message
  },
}

describe('claims that come by', () => {
  for (const [way, hand] of Object.entries(WAYS)) {
    it(`${way} are refused with a number that JSON does not carry, and nested too deep`, async () => {
      assert.match((await hand([{ ...claim, target: { id: BIG } }])) ?? 'taken', REFUSED)
      assert.equal(await hand([{ ...claim, target: { id: BIG - 1 } }]), null)
      const levels = way.startsWith('the tool of the AI') ? 97 : 100
      assert.equal(await hand([{ ...claim, target: deep(levels) }]), null)
      assert.match(
        (await hand([{ ...claim, target: deep(levels + 1) }])) ?? 'taken',
        /nested at most 100 deep/,
      )
      assert.match((await hand([{ ...claim, target: deep(2000) }])) ?? 'taken', /at most 100 deep/)
    })

    it(`${way} are well-formed in the log, whatever text they hold`, async () => {
      for (const one of [
        { tool: HALF },
        { action: HALF },
        { target: { title: HALF } },
        { target: { [HALF]: 1 } },
      ])
        assert.equal(await hand([{ ...claim, ...one }]), null)
    })
  }
})

describe('claims of a function', () => {
  it('with a value that JSON does not know are an invalid answer of the agent', async () => {
    const round: { [member: string]: unknown } = {}
    round['again'] = round
    const thrower = {
      get title(): string {
        throw new Error('not to be read')
      },
    }
    for (const [target, words] of [
      [{ id: 1n }, /values that JSON carries, got a bigint/],
      [{ id: Number.NaN }, REFUSED],
      [{ at: new Date(0) }, /values that JSON carries, got a Date/],
      [{ f() {} }, /values that JSON carries, got a function/],
      [round, /nested at most 100 deep/],
      [thrower, /not to be read/],
    ] as const) {
      const told = await WAYS['claims beside the answer']?.([{ ...claim, target }])
      assert.match(told ?? 'taken', words)
      for (const way of ['report()', 'the tool of the AI SDK'])
        assert.match((await WAYS[way]?.([{ ...claim, target }])) ?? 'taken', words)
    }
    for (const nobody of [null, undefined, 'none'])
      assert.match(
        (await WAYS['report()']?.([
          {
            ...claim,
            get tool() {
              throw nobody
            },
          },
        ])) ?? 'taken',
        new RegExp(String(nobody)),
      )
  })

  it('keep their members, and leave out those that are not there', async () => {
    const target = { a: [1, null, 'x'], b: undefined, c: { d: true } }
    const { told } = await kept(() => ({
      text: 'x',
      claims: [{ ...claim, target: target as never }],
    }))
    assert.deepEqual((told['answer_claims'] as { target: unknown }[])[0]?.target, {
      a: [1, null, 'x'],
      c: { d: true },
    })
  })

  it('are refused, or leave a run that is read', async () => {
    const text = fc.string({ unit: 'binary' })
    const half = fc.constantFrom(HALF, '\udc00', '\ud83d\ude00')
    const value = fc.oneof(
      fc.jsonValue(),
      fc.anything({ withBigInt: true, withDate: true, withMap: true }),
      fc.double(),
      fc.maxSafeInteger().map((n) => n * 4),
      half,
      fc.nat(300).map((levels) => deep(levels + 1)),
    )
    const said = fc.record({
      tool: fc.oneof(text, half, fc.constant('add_deploy_key')),
      action: fc.oneof(text, half, value),
      target: fc.dictionary(fc.oneof(text, half), value),
      done: fc.boolean(),
    })
    await fc.assert(
      fc.asyncProperty(fc.array(said, { maxLength: 3 }), async (claims) => {
        await WAYS['claims beside the answer']?.(claims)
      }),
      { numRuns: 25 },
    )
  })
})
