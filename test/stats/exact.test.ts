import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  cmhExact,
  fewestMoved,
  mcnemar,
  type Stratum,
  signFlip,
  stratifiedPermutation,
} from '../../lib/stats/exact.ts'
import { rng } from '../../lib/stats/random.ts'
import fc from '../property.ts'
import { close, known, passes } from './known.ts'

type Input = { f: string; differences: number[]; lost: number; gained: number } & Record<
  keyof Stratum,
  number[]
>

test('sign-flip, McNemar and Cochran-Mantel-Haenszel agree with R', () => {
  for (const { id, input, expected } of known<Input, { p: number; midP: number }>('exact')) {
    const strata = () =>
      input.a.map((a, i) => ({
        a,
        aTrials: input.aTrials[i]!,
        b: input.b[i]!,
        bTrials: input.bTrials[i]!,
      }))
    const p =
      input.f === 'signFlip'
        ? signFlip(input.differences).p
        : input.f === 'mcnemar'
          ? mcnemar(input.lost, input.gained)
          : cmhExact(strata())
    close(p, expected.p, 1e-10, id)
    if (input.f === 'signFlip') close(signFlip(input.differences).midP, expected.midP, 1e-10, id)
  }
})

/** Every way to give each difference a sign, one by one. */
function signFlipByHand(differences: number[]): number {
  const seen = Math.abs(differences.reduce((sum, d) => sum + d, 0))
  let hits = 0
  for (let pattern = 0; pattern < 2 ** differences.length; pattern++) {
    const sum = differences.reduce((total, d, i) => total + ((pattern >> i) & 1 ? d : -d), 0)
    if (Math.abs(sum) >= seen - 1e-9) hits++
  }
  return hits / 2 ** differences.length
}

test('sign-flip counts every pattern, with a unit and without', () => {
  fc.assert(
    fc.property(
      fc.array(fc.integer({ min: -5, max: 5 }), { minLength: 1, maxLength: 10 }),
      (steps) => {
        const differences = steps.map((n) => n / 5)
        const wanted = signFlipByHand(differences)
        close(signFlip(differences, { unit: 1 / 5 }).p, wanted, 1e-12, 'added up')
        close(signFlip(differences).p, wanted, 1e-12, 'one by one')
      },
    ),
  )
})

/** Every way to deal the trials of each case anew, as 0/1 labels: unequal numbers of trials included. */
function dealsByHand(
  pairs: { a: number[]; b: number[] }[],
  statistic: (deals: { a: number[]; b: number[] }[]) => number,
): number[] {
  const deals = (pool: number[], take: number): { a: number[]; b: number[] }[] => {
    const out: { a: number[]; b: number[] }[] = []
    for (let mask = 0; mask < 2 ** pool.length; mask++) {
      const a = pool.filter((_, i) => (mask >> i) & 1)
      if (a.length === take) out.push({ a, b: pool.filter((_, i) => !((mask >> i) & 1)) })
    }
    return out
  }
  let all: { a: number[]; b: number[] }[][] = [[]]
  for (const { a, b } of pairs)
    all = all.flatMap((sofar) => deals([...a, ...b], a.length).map((deal) => [...sofar, deal]))
  return all.map(statistic)
}

test('the stratified exact test counts every deal of the trials, unequal groups included', () => {
  const settings: Stratum[][] = [
    [{ a: 0, aTrials: 2, b: 2, bTrials: 3 }],
    [
      { a: 1, aTrials: 2, b: 3, bTrials: 3 },
      { a: 0, aTrials: 1, b: 2, bTrials: 4 },
    ],
    [
      { a: 1, aTrials: 3, b: 1, bTrials: 1 },
      { a: 0, aTrials: 2, b: 1, bTrials: 2 },
      { a: 2, aTrials: 2, b: 0, bTrials: 1 },
    ],
  ]
  for (const strata of settings) {
    const pairs = strata.map((s) => ({ a: passes(s.a, s.aTrials), b: passes(s.b, s.bTrials) }))
    const ofA = (deals: { a: number[] }[]) =>
      deals.reduce((sum, { a }) => sum + a.reduce((x, y) => x + y, 0), 0)
    const sums = dealsByHand(pairs, ofA)
    const count = new Map<number, number>()
    for (const sum of sums) count.set(sum, (count.get(sum) ?? 0) + 1)
    const seen = count.get(ofA(pairs)) as number
    const wanted =
      [...count.values()].filter((n) => n <= seen).reduce((x, y) => x + y, 0) / sums.length
    close(cmhExact(strata), wanted, 1e-12, JSON.stringify(strata))
  }
})

test('the sampled stratified test comes near the full count of deals, unequal groups included', () => {
  const pairs = [
    { a: [0.1, 0.4], b: [0.7, 0.6, 0.9] },
    { a: [0.3, 0.2, 0.5], b: [0.5, 0.8] },
  ]
  const difference = (deals: { a: number[]; b: number[] }[]) => {
    const mean = (x: number[]) => x.reduce((s, v) => s + v, 0) / x.length
    return deals.reduce((sum, { a, b }) => sum + mean(b) - mean(a), 0)
  }
  const all = dealsByHand(pairs, difference)
  const wanted =
    all.filter((d) => Math.abs(d) >= Math.abs(difference(pairs)) - 1e-9).length / all.length
  const found = stratifiedPermutation(pairs, { draws: 20_000 })
  assert.ok(Math.abs(found.p - wanted) < 4 * found.standardError, `${found.p} against ${wanted}`)
})

test('beyond 20 moved differences patterns are drawn, seeded, and the error of p is given', () => {
  const next = rng('many')
  const differences = Array.from({ length: 24 }, () => next() - 0.35)
  const found = signFlip(differences)
  assert.equal(found.method, 'sampled')
  assert.deepEqual(signFlip(differences), found)
  const steps = differences.map((d) => Math.round(d * 1000) / 1000)
  const counted = signFlip(steps, { unit: 0.001 })
  assert.equal(counted.method, 'enumerated')
  assert.ok(Math.abs(signFlip(steps).p - counted.p) < 4 * (found.standardError ?? 0))
})

test('the largest full count, 20 moved differences, equals the sum by units', () => {
  const steps = Array.from(
    { length: 20 },
    (_, i) => ((i * 7) % 11) + 1 - (i % 3 === 0 ? 9 : 0),
  ).filter((n) => n !== 0)
  close(
    signFlip(steps.map((n) => n / 10)).p,
    signFlip(
      steps.map((n) => n / 10),
      { unit: 0.1 },
    ).p,
    1e-12,
    '2^20',
  )
})

test('differences too large to add up give the p of their signs and sizes, never one below the smallest', () => {
  assert.equal(signFlip([1e308, 1e308, -1e308]).p, signFlip([1, 1, -1]).p)
  assert.equal(signFlip([1.7e308, 1.7e308, 1.7e308]).p, 0.25)
})

test('fewer than five moved cases cannot reach .05 with mid-p, five can', () => {
  assert.equal(signFlip([1, 1, 1, 1, 1]).p, 0.0625)
  assert.equal(signFlip([1, 1, 1, 1, 1]).midP, 0.03125)
  assert.equal(signFlip([1, 1, 1, 1]).midP, 0.0625)
  assert.equal(signFlip([1, 1, 1, 1, 1, 0, 0, 0]).smallestP, 0.0625)
  assert.deepEqual([0.75, 0.95, 0.99].map(fewestMoved), [2, 5, 7])
  for (const level of [0.5, 0.75, 0.9, 0.95, 0.99]) {
    const fewest = fewestMoved(level)
    assert.ok(2 ** -fewest <= 1 - level + 1e-12 && 2 ** (1 - fewest) > 1 - level)
  }
})

test('one trial per case makes the stratified test McNemar', () => {
  const strata = [
    ...Array(3).fill([1, 0]),
    ...Array(11).fill([0, 1]),
    ...Array(4).fill([1, 1]),
  ] as [number, number][]
  close(
    cmhExact(strata.map(([a, b]) => ({ a, aTrials: 1, b, bTrials: 1 }))),
    mcnemar(3, 11),
    1e-12,
    'McNemar',
  )
})

test('nothing moved, nothing to test: p is 1', () => {
  assert.equal(signFlip([0, 0, 0]).p, 1)
  assert.equal(signFlip([]).p, 1)
  assert.equal(mcnemar(0, 0), 1)
  assert.equal(cmhExact([{ a: 5, aTrials: 5, b: 5, bTrials: 5 }]), 1)
  assert.equal(cmhExact([]), 1)
})
