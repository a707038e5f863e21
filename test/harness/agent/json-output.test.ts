/** What an agent's program prints as JSON: its answer, what it used, and why it failed. */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { before, describe, it } from 'node:test'
import { readJson } from '../../../lib/files.ts'
import { answerIn } from '../../../lib/harness/agent/answer.ts'
import { jsonOutput, textAt } from '../../../lib/harness/agent/program/json-output.ts'
import { knownAgent } from '../../../lib/harness/agent/program/known-agents.ts'
import { cases, harness } from '../../../lib/index.ts'

type Expected = {
  said?: string
  tokens?: { input: number; output: number }
  steps?: number | null
  error?: string
}
type Row = { id: string; comment: string; input: string; expected: Expected }
const file = join(import.meta.dirname, '../../../fixtures/harness/agent-outputs.json')
const { rows } = readJson(file) as unknown as { rows: Row[] }

const pathsOf = (name: harness.KnownAgent) => knownAgent(name, {}).output as harness.AnswerPaths
const outputOf = (text: string, cut = false) => {
  const output = jsonOutput(text, cut)
  assert.ok(output)
  return output
}
const lines = (...values: unknown[]) => values.map((one) => JSON.stringify(one)).join('\n')

describe('what a known agent printed', () => {
  for (const { id, comment, input, expected } of rows)
    it(`${id}: ${comment}`, () => {
      const paths = pathsOf(id.split(':')[0] as harness.KnownAgent)
      const output = outputOf(input)
      if (expected.error !== undefined) {
        assert.equal(textAt(output, paths.error as string), expected.error)
        return
      }
      const { text, tokens, steps } = answerIn(output, paths)
      assert.deepEqual({ said: text, tokens, steps }, expected)
    })

  it('of which one part of the tokens is not there: they are unknown, and the answer is read', () => {
    const row = rows.find(({ id }) => id === 'claude-code: answered')
    const without = (row as Row).input.replaceAll('cacheReadInputTokens', 'other')
    const { text, tokens } = answerIn(outputOf(without), pathsOf('claude-code'))
    assert.deepEqual([text, tokens], ['I added it.', null])
  })

  it('that called tools and ended without a word has said nothing, and its tokens are known', () => {
    const usage = { input_tokens: 5, output_tokens: 2 }
    const silent = lines({ type: 'turn.started' }, { type: 'turn.completed', usage })
    const { text, tokens } = answerIn(outputOf(silent), pathsOf('codex'))
    assert.deepEqual([text, tokens], ['', { input: 5, output: 2 }])
  })
})

describe('a path into lines of JSON', () => {
  const answer = (text: string, paths: harness.AnswerPaths, cut = false) =>
    answerIn(outputOf(text, cut), paths)
  const said = lines({ t: 'a', x: 'one' }, { t: 'b', n: 3 }, { t: 'a', x: 'two' }, { t: 'b', n: 4 })
  const counted = { text: '[t=a].x', inputTokens: '[t=b].n', outputTokens: '[t=b].n + [t=b].n' }

  it('finds what fits: texts on lines of their own, counts added up', () => {
    const { text, tokens } = answer(said, counted)
    assert.deepEqual([text, tokens], ['one\ntwo', { input: 7, output: 14 }])
    assert.equal(answer(`log\n${said}\nlog`, counted).text, 'one\ntwo')
    assert.equal(answer(said, { text: '[t=a].x[-1]' }).text, 'two')
    assert.equal(answer(said, { text: '[t=a].x[0]' }).text, 'one')
  })

  it('finds the same in one list', () => {
    assert.deepEqual(answer(`[${said.replaceAll('\n', ',')}]`, counted), answer(said, counted))
  })

  it('counts nothing where some lines are not there any more', () => {
    assert.equal(answer(said, counted, true).tokens, null)
    const far = `${lines({ t: 'b', n: 1 })}\n${'log\n'.repeat(1000)}${said}`
    assert.equal(answer(far, counted).tokens, null)
    assert.deepEqual(answer(far.replace('log\n', ''), counted).tokens, { input: 8, output: 16 })
    // What stands in the last line alone is whole.
    const last = { text: 'text', inputTokens: 'in', outputTokens: 'out' }
    const whole = lines({ text: 'x', in: 1, out: 2 })
    assert.deepEqual(answer(whole, last, true).tokens, { input: 1, output: 2 })
  })

  it('counts nothing where nothing fits, or one count is unknown', () => {
    assert.equal(answer(said, { ...counted, inputTokens: '[t=c].n' }).tokens, null)
    assert.equal(answer(`${said}\n{"t":"b","n":null}`, counted).tokens, null)
  })

  it('that leads to no number, or into no such output, is an error that names it', () => {
    const of = (paths: Partial<harness.AnswerPaths>, text = said) =>
      assert.throws.bind(null, () => answer(text, { ...counted, ...paths }))
    of({ inputTokens: '[t=a].x' })(/expected inputTokens to be a whole number .*, got "one"/)
    of({ text: '[type=a].x' })(/expected an answer at \[type=a\]\.x, got nothing/)
    of({ text: '[t=a].y' })(/expected an answer at \[t=a\]\.y, got nothing/)
    of({ text: 'x' })(/expected an answer at x, got nothing/)
    of({ text: '[0]' }, '[]')(/expected an answer at \[0\], got nothing/)
  })
})

describe('a program that prints JSON', () => {
  let benign: harness.Case[]
  before(async () => {
    benign = (await cases.load()).filter(({ id }) => id === 'lying_success/deploy-key.benign')
  })
  const trial = async (code: string, output: harness.AnswerPaths, more = {}) => {
    const agent = harness.agent.command({
      command: process.execPath,
      args: ['-e', code],
      output,
      ...more,
    })
    const run = await harness.run(benign).config('own', { agent }).repeat(1).out(null).quiet()
    const [row] = run.trials
    assert.ok(row)
    return { row, transcript: run.transcript(row.key) }
  }
  const paths = { text: '[t=a].x[-1]', inputTokens: '[t=b].n', outputTokens: '[t=b].n' }
  const print = (...values: unknown[]) =>
    values.map((one) => `console.log(${JSON.stringify(JSON.stringify(one))});`).join('')

  it('has said why it failed where its path leads to, on either stream, and else as others do', async () => {
    const output = { ...paths, error: '[t=e].why' }
    const why = print({ t: 'e', why: 'no model' })
    const end = 'console.error("last words");process.exitCode=3'
    const message = async (code: string) => (await trial(code, output)).row.error?.message
    assert.equal(await message(why + end), 'expected exit code 0, got exit code 3: no model')
    const pretty = `console.error("log\\n{\\n \\"t\\": \\"e\\", \\"why\\": \\"no\\"}");process.exitCode=3`
    assert.equal(await message(pretty), 'expected exit code 0, got exit code 3: no')
    assert.equal(await message(end), 'expected exit code 0, got exit code 3: last words')
  })

  it('and more than is kept has its last answer read, and its tokens unknown', async () => {
    const much = `console.log('{"t":"c","x":"' + 'x'.repeat(5_000_000) + '"}');`
    const whole = print({ t: 'b', n: 1 }, { t: 'a', x: 'Thanks.' }, { t: 'b', n: 2 })
    const { row, transcript } = await trial(`${print({ t: 'b', n: 4 })}${much}${whole}`, paths)
    assert.deepEqual([transcript['said'], row.tokens], [['Thanks.'], null])
    assert.equal(transcript['output_cut'], true)
    const less = await trial(`${print({ t: 'b', n: 4 })}${whole}`, paths)
    assert.deepEqual(
      [less.row.tokens, less.transcript['said']],
      [{ input: 7, output: 7 }, ['Thanks.']],
    )
    assert.equal(less.transcript['output_cut'], false)
  })
})
