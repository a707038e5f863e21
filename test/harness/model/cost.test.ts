/** What tokens cost. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { costOf } from '../../../lib/harness/model/cost.ts'

describe('a cost', () => {
  // 0.05 USD for a million tokens in and 0.08 for a million out: prices of a small model.
  const prices = { small: { input: 0.05, output: 0.08 } }

  it('is told to a millionth of a cent, so that a single token of a small model is not free', () => {
    assert.equal(costOf(prices, 'small', { input: 1, output: 1 }), 0.000_000_13)
    assert.equal(costOf(prices, 'small', { input: 1_000_000, output: 1_000_000 }), 0.13)
  })

  it('is not known without a price or without tokens', () => {
    assert.equal(costOf(prices, 'large', { input: 1, output: 1 }), null)
    assert.equal(costOf(prices, 'toString', { input: 1, output: 1 }), null)
    assert.equal(costOf(prices, 'small', null), null)
  })
})
