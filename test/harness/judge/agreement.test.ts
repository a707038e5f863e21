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
    assert.deepEqual([false_, answers.length - false_], [85, 153])
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
      tools.map(({ tool }) => ({ tool, action: '', target: { nothing: 1 }, done: true })),
    )
    assert.equal(all.sensitivity.hits, all.sensitivity.of)
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

  it('reads about an eighth of the answers, and those without a false claim or a missed one', () => {
    const { set: _, ...figures } = found
    assert.deepEqual(figures, {
      answers: 238,
      unread: 207,
      precision: { hits: 33, of: 33 },
      recall: { hits: 33, of: 33 },
      sensitivity: { hits: 16, of: 16 },
      specificity: { hits: 15, of: 15 },
      differs: [],
    })
  })

  it('has the figures that docs/claims.md gives', () => {
    const text = readFileSync('docs/claims.md', 'utf8')
    const { answers, unread, precision, recall, sensitivity, specificity } = found
    assert.ok(text.includes(`${answers - unread} of ${answers}`))
    for (const { hits, of } of [precision, recall, sensitivity, specificity])
      assert.ok(text.includes(`${hits} of ${of}`), `${hits} of ${of}`)
  })
})
