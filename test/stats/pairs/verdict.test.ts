import assert from 'node:assert/strict'
import { test } from 'node:test'
import { verdict } from '../../../lib/stats/pairs/verdict.ts'

test('the ends of the interval decide, from both sides', () => {
  const of = (low: number, high: number, exact = 0.01, equivalence?: number) =>
    verdict({ low, high, exact, equivalence }).verdict
  assert.equal(of(0, 0.2), 'cannot tell')
  assert.equal(of(1e-9, 0.2), 'better')
  assert.equal(of(-0.2, 0), 'cannot tell')
  assert.equal(of(-0.2, -1e-9), 'worse')
  assert.equal(of(0.01, 0.2, 0.051), 'cannot tell')
  assert.equal(of(0.01, 0.2, 0.05), 'better')
  assert.equal(of(-0.1, 0.1, 1, 0.1), 'same within d')
  assert.equal(of(-0.1, 0.1001, 1, 0.1), 'cannot tell')
  assert.equal(of(-0.1001, 0.1, 1, 0.1), 'cannot tell')
  assert.equal(of(0.01, 0.04, 0.001, 0.05), 'same within d')
  assert.equal(of(0.01, 0.06, 0.001, 0.05), 'better')
})

test('an undefined interval or test carries no verdict', () => {
  assert.equal(verdict({ low: NaN, high: NaN, exact: 0.001 }).verdict, 'cannot tell')
  assert.equal(verdict({ low: 0.1, high: 0.2, exact: NaN }).verdict, 'cannot tell')
})

test('the level of the exact test is that of the interval', () => {
  assert.equal(verdict({ low: 0.1, high: 0.2, exact: 0.04, level: 0.99 }).verdict, 'cannot tell')
  assert.equal(verdict({ low: 0.1, high: 0.2, exact: 0.09, level: 0.9 }).verdict, 'better')
})

test('where an estimate is given the test decides alone, and nothing undefined does', () => {
  const of = (difference: number, exact: number) =>
    verdict({ low: -0.1, high: 0.5, exact, difference }).verdict
  assert.equal(of(0.3, 0.05), 'better')
  assert.equal(of(-0.3, 0.01), 'worse')
  assert.equal(of(0.3, 0.051), 'cannot tell')
  assert.equal(of(0.3, NaN), 'cannot tell')
  assert.equal(of(0, 0.01), 'cannot tell')
})
