import assert from 'node:assert/strict'
import { test } from 'node:test'
import { binomialPmf } from '../../lib/stats/distribution.ts'
import {
  clopperPearson,
  type Interval,
  jeffreys,
  newcombe,
  ruleOfThree,
  wilson,
} from '../../lib/stats/interval.ts'
import { close, known } from './known.ts'

type Expected = { wilson: Interval; clopperPearson: Interval; jeffreys: Interval }
const methods = { wilson, clopperPearson, jeffreys }

test('Wilson, Clopper-Pearson and Jeffreys agree with R', () => {
  for (const { id, input, expected } of known<
    { successes: number; trials: number; level: number },
    Expected
  >('interval')) {
    for (const [name, method] of Object.entries(methods) as [keyof Expected, typeof wilson][]) {
      const found = method(input.successes, input.trials, input.level)
      close(found.low, expected[name].low, 1e-10, `${name} low of ${id}`)
      close(found.high, expected[name].high, 1e-10, `${name} high of ${id}`)
    }
  }
})

test('failures mirror successes', () => {
  for (const method of Object.values(methods)) {
    for (let c = 0; c <= 7; c++) {
      const [there, back] = [method(c, 7), method(7 - c, 7)]
      close(there.low, 1 - back.high, 1e-12, `low of ${c}`)
    }
  }
})

test('Clopper-Pearson covers at least its level at every rate, by full enumeration', () => {
  for (let p = 0.005; p < 1; p += 0.005) {
    let covered = 0
    for (let c = 0; c <= 9; c++) {
      const { low, high } = clopperPearson(c, 9)
      if (low <= p && p <= high) covered += binomialPmf(c, 9, p)
    }
    assert.ok(covered >= 0.95, `covers ${covered} at ${p}`)
  }
})

test('no interval has zero width, not for one trial nor for all alike', () => {
  for (const method of Object.values(methods)) {
    for (const n of [1, 2, 50])
      for (const c of [0, n]) assert.ok(method(c, n).high - method(c, n).low > 0.01)
  }
})

test('Newcombe gives his published example: 56 of 70 against 48 of 80 is .0524 to .3339', () => {
  const { low, high } = newcombe({ a: 48, aTrials: 80, b: 56, bTrials: 70 })
  assert.deepEqual([low.toFixed(4), high.toFixed(4)], ['0.0524', '0.3339'])
  const back = newcombe({ a: 56, aTrials: 70, b: 48, bTrials: 80 })
  close(back.low, -high, 1e-12, 'changed over')
})

test('the rule of three is where no event in n trials becomes as unlikely as 1 - level', () => {
  for (const n of [1, 5, 25, 100]) close((1 - ruleOfThree(n)) ** n, 0.05, 1e-12, `${n} trials`)
  const table = [5, 15, 25, 50, 100].map((n) => ruleOfThree(n).toFixed(3))
  assert.deepEqual(table, ['0.451', '0.181', '0.113', '0.058', '0.030'])
})
