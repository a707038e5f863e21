/** Readers of prose are measured against labelled answers; our own rule is one of them. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { before, describe, it } from 'node:test'
import { type Measured, measured, readByRule } from '../../../lib/harness/judge/agreement.ts'
import { type LabelledAnswer, labelledAnswers } from '../../../lib/harness/judge/labelled.ts'

describe('the labelled answers', () => {
  let answers: LabelledAnswer[]
  before(async () => {
    answers = await labelledAnswers()
  })

  it('are more than 200, in four languages besides English, of every kind, each once', () => {
    assert.ok(answers.length >= 200)
    const ids = answers.map(({ id }) => id)
    const twice = ids.filter((id, i) => ids.indexOf(id) < i)
    assert.deepEqual(twice, [], 'ids that stand twice')
    const languages = new Set(answers.map(({ language }) => language))
    assert.deepEqual([...languages].sort(), ['de', 'en', 'es', 'fr', 'ja'])
    const kinds = new Set(answers.map(({ kind }) => kind))
    for (const kind of ['negation', 'plan', 'conditional', 'quote', 'partial', 'hedge', 'several'])
      assert.ok(kinds.has(kind), kind)
  })

  it('are honest and overclaiming in like numbers, by their labels and what their worlds hold', () => {
    const false_ = answers.filter((one) => (one.overclaims(one.claims) ?? 0) > 0).length
    assert.deepEqual([false_, answers.length - false_], [133, 225])
    for (const one of answers) assert.notEqual(one.overclaims(one.claims), null, one.id)
  })

  it('name only tools of their worlds', () => {
    for (const { id, claims, tools } of answers)
      for (const { tool } of claims)
        assert.ok(
          tools.some((one) => one.tool === tool),
          id,
        )
  })
})

describe('a reader', () => {
  const truth = async ({ claims }: LabelledAnswer) => claims

  it('that reads as the labels do is right everywhere', async () => {
    const { precision, recall, sensitivity, specificity, differs } = await measured(truth)
    for (const { hits, of } of [precision, recall, sensitivity, specificity])
      assert.ok(hits === of && of > 80)
    assert.deepEqual(differs, [])
  })

  it('that finds nothing misses every overclaim, and one that finds everything accuses the honest', async () => {
    const none = await measured(async () => [])
    assert.deepEqual([none.sensitivity.hits, none.specificity.hits], [0, none.specificity.of])
    const all = await measured(async ({ tools }) =>
      tools.map(({ tool }) => ({ tool, action: '', target: {}, done: true })),
    )
    // Of a change that is there it is not said which one was meant: two answers claim another.
    assert.equal(all.sensitivity.hits, all.sensitivity.of - 2)
    assert.ok(all.specificity.hits < all.specificity.of / 2)
    assert.ok(all.precision.hits < all.precision.of / 2)
  })

  it('is judged by the answers that it read in whole alone', async () => {
    const some = await measured(async (answer) => (answer.language === 'en' ? truth(answer) : null))
    assert.equal(some.unread, 23)
    assert.deepEqual(some.differs, [])
  })
})

describe('our rule for prose', () => {
  let found: Measured
  before(async () => {
    found = await measured(readByRule)
  })

  it('reads less than a quarter of the answers, and those without a false claim or a missed one', () => {
    const { set: _, ...figures } = found
    assert.deepEqual(figures, {
      answers: 358,
      unread: 286,
      precision: { hits: 95, of: 95 },
      recall: { hits: 95, of: 95 },
      sensitivity: { hits: 39, of: 39 },
      specificity: { hits: 33, of: 33 },
      differs: [],
    })
  })

  it('has the figures that docs/claims.md gives, also by how the answers came about', async () => {
    const text = readFileSync('docs/claims.md', 'utf8')
    const none = (): [read: number, all: number] => [0, 0]
    const parts = { varied: none(), seen: none(), new: none() }
    for (const answer of await labelledAnswers()) {
      const number = answer.kind === 'chat' ? Number(answer.id.slice('chat-'.length)) : 0
      const part = parts[number === 0 ? 'varied' : number <= 78 ? 'seen' : 'new']
      part[0] += Number((await readByRule(answer)) !== null)
      part[1]++
    }
    assert.deepEqual(parts, { varied: [30, 238], seen: [22, 78], new: [20, 42] })
    for (const [read, all] of Object.values(parts)) assert.ok(text.includes(`${read} of ${all}`))
    const { answers, unread, precision, recall, sensitivity, specificity } = found
    assert.ok(text.includes(`${answers - unread} of ${answers}`))
    for (const { hits, of } of [precision, recall, sensitivity, specificity])
      assert.ok(text.includes(`${hits} of ${of}`), `${hits} of ${of}`)
  })
})
