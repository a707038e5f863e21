import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'
import { join } from 'node:path'
import { test } from 'node:test'
import { TouchstoneError } from '../../lib/errors.ts'
import * as stats from '../../lib/stats/index.ts'

const no = null as never
const none = undefined as never

const calls: [string, () => unknown, RegExp][] = [
  [
    'a score above 1',
    () => stats.rate([[1, 0], [1.5]]),
    /number in \[0, 1\], got 1\.5 \(cases\[1\]\[0\]\)/,
  ],
  [
    'a score that is NaN',
    () => stats.compare([{ a: [1], b: [Number.NaN] }]),
    /got NaN \(pairs\[0\]\.b\[0\]\)/,
  ],
  [
    'a case that is no list',
    () => stats.rate([1 as unknown as number[]]),
    /array of numbers .* got 1 \(cases\[0\]\)/,
  ],
  [
    'a score that is null',
    () => stats.rate([[1], [1, no]]),
    /in \[0, 1\], got null \(cases\[1\]\[1\]\)/,
  ],
  [
    'a score that is a text',
    () => stats.rate([[1], ['1' as never]]),
    /got "1" \(cases\[1\]\[0\]\)/,
  ],
  [
    'a score that is true',
    () => stats.compare([{ a: [true as never], b: [1] }]),
    /got true \(pairs\[0\]\.a\[0\]\)/,
  ],
  ['a mean of texts', () => stats.mean(['1', '2'] as never), /a number, got "1" \(values\)/],
  [
    'a variance of a text',
    () => stats.variance('12' as never),
    /array of numbers, got "12" \(values\)/,
  ],
  ['a p value that is null', () => stats.holm([0.5, no]), /got null \(p\[1\]\)/],
  ['a p value alone', () => stats.holm(0.5 as never), /array of p values, got 0\.5 \(p\)/],
  ['a z that is a text', () => stats.normalCdf('1.96' as never), /a number, got "1\.96" \(z\)/],
  ['a t that is a text', () => stats.tCdf('2' as never, 9), /a number, got "2" \(t\)/],
  ['a level that is a text', () => stats.wilson(1, 2, '0.9' as never), /got "0\.9" \(level\)/],
  ['trials that are a text', () => stats.ruleOfThree('100' as never), /got "100" \(trials\)/],
  ['a whole number beyond numbers', () => stats.wilson(1n as never, 2), /got 1 \(successes\)/],
  [
    'nothing for a rate',
    () => stats.rate(none),
    /array of arrays of scores, one per case, got nothing \(cases\)/,
  ],
  [
    'nothing for a comparison',
    () => stats.compare(none),
    /array of \{ a, b \} per case, got nothing \(pairs\)/,
  ],
  ['a pair that is null', () => stats.compare([no]), /an object, got null \(pairs\[0\]\)/],
  [
    'options that are a number',
    () => stats.rate([[1]], 0.9 as never),
    /an object, got 0\.9 \(options\)/,
  ],
  ['nothing to plan', () => stats.plan(none), /an object, got nothing \(options\)/],
  ['nothing for power', () => stats.power(none), /an object, got nothing \(options\)/],
  [
    'a power of no difference',
    () => stats.power({ error: 1, df: 1 } as never),
    /got nothing \(options\.difference\)/,
  ],
  ['nothing to bootstrap', () => stats.bootstrap(none), /got nothing \(cases\)/],
  [
    'a seed for a source',
    () => stats.bootstrap([[1]], { rng: 7 as never }),
    /such as stats\.rng\(seed\), got 7/,
  ],
  [
    'more draws than fit',
    () => stats.bootstrap([[1]], { draws: 1e12 }),
    /whole number in 100\.\.10000000, got 1000000000000/,
  ],
  ['strata that are null', () => stats.cmhExact([no]), /an object, got null \(strata\[0\]\)/],
  [
    'a permutation of nothing',
    () => stats.stratifiedPermutation([{ a: [], b: [1] }]),
    />= 1, got 0 \(pairs\[0\]\.a\.length\)/,
  ],
  ['counts that are none', () => stats.newcombe(none), /an object, got nothing \(counts\)/],
  [
    'levels that are none',
    () => stats.compareLevels([{} as never]),
    /array of counts.*, got nothing \(pairs\[0\]\.a\)/,
  ],
  ['latencies that are none', () => stats.compareMedians(none), /got nothing \(pairs\)/],
  ['no cases for flips', () => stats.flips(none), /got nothing \(cases\)/],
  ['no cases for reliability', () => stats.reliability(none, 1), /got nothing \(cases\)/],
  ['no cases for the split', () => stats.varianceSplit(none), /got nothing \(cases\)/],
  ['no clusters', () => stats.clusteredError(none), /got nothing \(clusters\)/],
  ['no pilot', () => stats.pilot(none), /got nothing \(pairs\)/],
  ['no bounds', () => stats.missingBounds(none, none), /got nothing \(cases\)/],
  ['nothing to shuffle', () => stats.shuffle(none, stats.rng(1)), /got nothing \(items\)/],
  [
    'an interval upside down',
    () => stats.verdict({ low: 0.5, high: -0.5, exact: 0 }),
    /at least 0\.5, got -0\.5/,
  ],
  [
    'a level of 95',
    () => stats.rate([[1]], { level: 95 }),
    /strictly between 0 and 1, got 95 \(options\.level\)/,
  ],
  ['a level of 1', () => stats.wilson(1, 2, 1), /strictly between 0 and 1, got 1 \(level\)/],
  [
    'an unknown method',
    () => stats.rate([[1]], { method: 'wald' as 't' }),
    /one of bounded, within cases, wilson, t, bootstrap, got "wald"/,
  ],
  [
    'an unknown target',
    () => stats.compare([], { target: 'all' as 'these' }),
    /one of like these, these, got "all"/,
  ],
  [
    'an unknown direction',
    () => stats.compare([], { better: 'more' as 'lower' }),
    /one of higher, lower, got "more"/,
  ],
  [
    'an equivalence of 0',
    () => stats.compare([], { equivalence: 0 }),
    /above 0, got 0 \(options\.equivalence\)/,
  ],
  [
    'an equivalence of 5 points as 5',
    () => stats.compare([], { equivalence: 5 }),
    /in \[0, 1\], got 5/,
  ],
  ['a k of 0', () => stats.passHatK(1, 5, 0), /whole number >= 1, got 0 \(k\)/],
  ['a k of 1.5', () => stats.passAtK(1, 5, 1.5), /got 1\.5 \(k\)/],
  [
    'more passed than tried',
    () => stats.passAtK(6, 5, 1),
    /whole number in 0\.\.5, got 6 \(passed\)/,
  ],
  [
    'half a pass',
    () => stats.reliability([[0.5]], 1),
    /whole number in 0\.\.1, got 0\.5 \(cases\[0\]\[0\]\)/,
  ],
  ['no trials', () => stats.wilson(0, 0), />= 1, got 0 \(trials\)/],
  ['more successes than trials', () => stats.clopperPearson(3, 2), /in 0\.\.2, got 3/],
  ['no trials for the rule of three', () => stats.ruleOfThree(0), /got 0 \(trials\)/],
  ['a p of 2', () => stats.normalQuantile(2), /in \[0, 1\], got 2 \(p\)/],
  ['a share of 3', () => stats.binomialQuantile(3, 5, 0.5), /in \[0, 1\], got 3 \(q\)/],
  ['no degrees of freedom', () => stats.tQuantile(0.5, 0), /above 0, got 0 \(df\)/],
  ['a negative shape', () => stats.betaCdf(0.5, -1, 2), /above 0, got -1 \(a\)/],
  ['a negative count', () => stats.mcnemar(-1, 3), />= 0, got -1 \(lost\)/],
  [
    'an endless difference',
    () => stats.signFlip([1, Infinity]),
    /finite number, got Infinity \(differences\[1\]\)/,
  ],
  [
    'too few draws',
    () => stats.bootstrap([[1], [0]], { draws: 5 }),
    />= 100, got 5 \(options\.draws\)/,
  ],
  [
    'levels of different length',
    () => stats.compareLevels([{ a: [1, 2], b: [1] }]),
    /got 1 \(pairs\[0\]\.b\.length\)/,
  ],
  [
    'a latency that is NaN',
    () => stats.compareMedians([{ a: [Number.NaN], b: [1] }]),
    /got NaN \(pairs\[0\]\.a\[0\]\)/,
  ],
  ['half a case', () => stats.plan({ cases: 1.5, repeats: 5 }), /got 1\.5 \(options\.cases\)/],
  ['no repeats', () => stats.plan({ cases: 9, repeats: 0 }), /got 0 \(options\.repeats\)/],
  ['no rate to plan', () => stats.planRate(none), /an object, got nothing \(options\)/],
  [
    'a rate in percent',
    () => stats.planRate({ line: 0.9, rate: 97, cases: 8, repeats: 5 }),
    /got 97 \(options\.rate\)/,
  ],
  [
    'one case for others',
    () => stats.planRate({ line: 0.9, rate: 1, cases: 1, repeats: 5, target: 'like these' }),
    /in 2\.\.100000, got 1 \(options\.cases\)/,
  ],
  [
    'more families than cases',
    () => stats.planRate({ line: 0.9, rate: 1, cases: 5, repeats: 5, families: 6 }),
    /got 6 \(options\.families\)/,
  ],
  [
    'a budget of nothing',
    () => stats.planRate({ line: 0.9, rate: 1, cases: 5, repeats: 5, budget: { usd: 0 } }),
    /above 0, got 0 \(options\.budget\.usd\)/,
  ],
  ['no margin to plan', () => stats.planMargin(none), /an object, got nothing \(options\)/],
  [
    'a fall from nothing',
    () => stats.planMargin({ rate: 0, cases: 5, repeats: 5 }),
    /above 0, got 0 \(options\.rate\)/,
  ],
  [
    'a fall below 0',
    () => stats.planMargin({ rate: 0.5, fall: 0.6, cases: 5, repeats: 5 }),
    /options\.rate - options\.fall/,
  ],
  [
    'a difference of 10',
    () => stats.plan({ cases: 9, repeats: 5, difference: 10 }),
    /got 10 \(options\.difference\)/,
  ],
  ['a p value of -0.1', () => stats.holm([0.5, -0.1]), /got -0\.1 \(p\[1\]\)/],
  ['a quantile of 95', () => stats.quantile([1], 95), /got 95 \(q\)/],
  ['bounds for other cases', () => stats.missingBounds([[1]], [0, 1]), /got 2 \(missing\.length\)/],
]

for (const [what, call, message] of calls) {
  test(`a bad call throws and names the value and the domain: ${what}`, () => {
    assert.throws(call, (error: Error & { code?: string }) => {
      assert.equal(error.code, 'argument_invalid')
      assert.match(error.message, /^expected /)
      assert.match(error.message, message)
      return true
    })
  })
}

test('each statistic refuses what is no argument of its kind, and says where', () => {
  const bad = [undefined, null, {}, Symbol('x'), true] as never[]
  for (const [name, statistic] of Object.entries(stats)) {
    if (typeof statistic !== 'function') continue
    for (const value of bad)
      assert.throws(
        () => (statistic as (...values: never[]) => unknown)(value, value, value),
        (error) =>
          error instanceof TouchstoneError &&
          error.code === 'argument_invalid' &&
          error.where !== '',
        `stats.${name}(${String(value)}): docs ask for "expected X, got Y (where)"`,
      )
  }
})

type Statistic = (...given: unknown[]) => unknown

/** The arguments of the first call of each statistic in the examples of the docstrings. */
function callsInExamples(): Map<string, unknown[]> {
  const found = new Map<string, unknown[]>()
  const asked = Object.entries(stats).filter(([, value]) => typeof value === 'function')
  const kept = asked.map(([name, statistic]) => (...given: unknown[]) => {
    const answer = (statistic as Statistic)(...given)
    if (!found.has(name)) found.set(name, given)
    return answer
  })
  const folder = join(import.meta.dirname, '../../lib/stats')
  for (const path of globSync('**/*.ts', { cwd: folder })) {
    const text = readFileSync(join(folder, path), 'utf8')
    for (const [, example = ''] of text.matchAll(/@example\n([\s\S]*?)(?:\*\/|\n \* @)/g)) {
      const code = stripTypeScriptTypes(example.replace(/^ \* ?/gm, ''))
      try {
        new Function(...asked.map(([name]) => name), code)(...kept)
      } catch {
        // It shows what is refused, or something that is not public.
      }
    }
  }
  return found
}

/** The value, each time with one part of it replaced by what it cannot be. Of a list, its first and last. */
function* spoiled(
  value: unknown,
  where: string,
): Generator<{ where: string; value: unknown; bad: unknown }> {
  if (Array.isArray(value)) {
    for (const at of new Set([0, value.length - 1].filter((i) => i in value)))
      for (const one of spoiled(value[at], `${where}[${at}]`))
        yield { ...one, value: value.with(at, one.value) }
  } else if (value !== null && typeof value === 'object') {
    for (const [name, member] of Object.entries(value))
      for (const one of spoiled(member, `${where}.${name}`))
        yield { ...one, value: { ...value, [name]: one.value } }
  }
  const others = [
    Symbol('x'),
    typeof value === 'number' ? '1' : 5,
    ...(value === null ? [] : [null]),
  ]
  if (typeof value === 'number') others.push(Number.NaN)
  for (const other of others) yield { where, value: other, bad: other }
}

/** NaN is a number that nobody knows: these hand it on, or decide nothing by it. */
const UNKNOWN_TAKEN = new Set(
  'holm mean variance normalCdf normalDensity tCdf trueShare verdict weightedMeanCdf'.split(' '),
)
/** Any value is an item; a seed may be a text. */
const ANY_TAKEN = /^(shuffle, 0\[\d\]|rng, 0)$/

/** null is taken for nothing where nothing may be given. */
const OPTIONAL = /^bootstrap, 1\.draws$/

test('each statistic refuses one bad part among good ones, and says where', () => {
  const examples = callsInExamples()
  const wrong: string[] = []
  let asked = 0
  for (const [name, statistic] of Object.entries(stats)) {
    if (typeof statistic !== 'function') continue
    const given = examples.get(name)
    assert.ok(given, `no example calls stats.${name}`)
    for (const [at, argument] of given.entries())
      for (const { where, value, bad } of spoiled(argument, `${at}`)) {
        if (Number.isNaN(bad) && UNKNOWN_TAKEN.has(name)) continue
        if (bad === null && OPTIONAL.test(`${name}, ${where}`)) continue
        if (ANY_TAKEN.test(`${name}, ${where}`)) continue
        asked++
        const told = `stats.${name}, ${where}: ${typeof value === 'symbol' ? 'a symbol' : JSON.stringify(value)}`
        try {
          ;(statistic as Statistic)(...given.with(at, value))
          wrong.push(`${told}: taken`)
        } catch (error) {
          const refused = error instanceof TouchstoneError && error.code === 'argument_invalid'
          if (!refused || error.where === '') wrong.push(`${told}: ${String(error)}`)
        }
      }
  }
  assert.ok(asked > 500, `${asked} asked`)
  assert.deepEqual(wrong, [])
})
