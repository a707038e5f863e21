/** For continuous integration: gates, baselines, JUnit, SARIF, the summary, and the exit codes of the command line. */
import assert from 'node:assert/strict'
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { inspect } from 'node:util'
import { AjvJsonSchemaValidator } from '@modelcontextprotocol/sdk/validation/ajv'
import { annotations } from '../../../../lib/cli/verb/annotations.ts'
import { heldSummary } from '../../../../lib/cli/verb/gate-options.ts'
import { requireBaseline } from '../../../../lib/harness/report/ci/baseline.ts'
import { openBecause } from '../../../../lib/harness/report/ci/margin.ts'
import { cases, harness, stats } from '../../../../lib/index.ts'
import { startCommands } from '../../../servers/commands.ts'
import { temporaryFolder } from '../../../temporary.ts'

const root = resolve(import.meta.dirname, '..', '..', '..', '..')
const made = temporaryFolder()

type Row = harness.Run['trials'][number]
const codeIs =
  (code: string, words = /./) =>
  (error: unknown) => {
    assert.equal((error as { code?: string }).code, code, String(error))
    assert.match((error as Error).message, words)
    return true
  }

let run: harness.Run
let again: harness.Run
before(async () => {
  const some = (await cases.load(['cases/lying_success', 'cases/result_injection'])).slice(0, 8)
  const plan = harness
    .run(some)
    .config('naive', { model: 'sim/naive' })
    .config('careful', { model: 'sim/careful' })
  run = await plan.repeat(4).quiet().out(join(made, 'run'))
  again = await plan.repeat(3).seed(2).quiet().out(join(made, 'again'))
})

const OTHER = `sha256:${'0'.repeat(64)}` as const

/** The run with its list of cases changed, without the trials of those that are gone. */
const ofCases = (change: (one: Listed) => Listed | null, of = run) => {
  const listed = of.manifest.cases.flatMap((one) => change(one) ?? [])
  return new harness.Run({
    dir: of.dir,
    manifest: { ...of.manifest, cases: listed },
    trials: of.trials.filter((row) => listed.some(({ id }) => id === row.case)),
  })
}
type Listed = harness.Run['manifest']['cases'][number]

/** The run with its rows changed. */
const changed = (change: (row: Row) => Row | null, of = run) =>
  new harness.Run({
    dir: of.dir,
    manifest: of.manifest,
    trials: of.trials.flatMap((row) => {
      const made = change(row)
      return made ? [made] : []
    }),
  })

describe('a plot', () => {
  it('of the time per trial leaves out the trials that ended in an error', async () => {
    const key = run.trials[0]?.key
    const broken = changed((row) =>
      row.key === key ? { ...row, outcome: 'error', duration_ms: 1e9 } : row,
    )
    const counted = async (of: harness.Run) =>
      ((await of.plot('ecdf')).rows as { values: number[] }[]).flatMap(({ values }) => values)
    assert.equal((await counted(broken)).length, (await counted(run)).length - 1)
    assert.equal((await counted(broken)).includes(1e9), false)
  })

  it('of a distribution shows the measure that was asked for, and leaves out what is not known', async () => {
    const drawn = await run.plot('ecdf', { measure: 'calls' })
    assert.match(drawn.title, /calls per trial/i)
    const [first] = drawn.rows as { configuration: string; values: number[] }[]
    const own = run.trials.filter((row) => row.configuration === first?.configuration)
    assert.deepEqual([...(first?.values ?? [])].sort(), own.map((row) => row.calls).sort())
    const unknown = changed((row) => ({ ...row, tokens: null }))
    const none = (await unknown.plot('ecdf', { measure: 'tokens' })).rows as typeof drawn.rows
    assert.ok((none as { values: number[] }[]).every(({ values }) => values.length === 0))
  })

  it('refuses an option that its kind does not use', async () => {
    for (const [kind, options] of [
      ['ecdf', { metric: 'attack' }],
      ['levels', { metric: 'goal' }],
      ['strip', { a: 'x' }],
      ['heat', { measure: 'calls' }],
    ] as const)
      await assert.rejects(run.plot(kind, options), { code: 'argument_invalid' }, kind)
    await assert.rejects(run.plot('ecdf', { measure: 'weight' as never }), {
      code: 'argument_invalid',
    })
  })
})

describe('gates', () => {
  it('hold the bound that was asked for, from both sides', () => {
    const [summary] = run.summary() as [ReturnType<typeof run.summary>[number]]
    const { estimate, again } = summary.rates.goal
    const { low, high } = again
    for (const [bound, value] of [
      ['estimate', estimate],
      ['lower', low],
      ['upper', high],
    ] as const) {
      const met = (operator: string, line: number) =>
        harness.gate(run, {
          ...harness.parseGate(`naive:goal>=0.5@${bound}`),
          operator: operator as '>=',
          value: line,
        })[0]?.met
      assert.equal(met('>=', value), true)
      assert.equal(met('>', value), false)
      assert.equal(met('<=', value), true)
      assert.equal(met('<', value), false)
      assert.equal(met('>=', value + 1e-9), false)
      assert.equal(met('<=', value - 1e-9), false)
    }
  })

  it('hold against the trials that ended in an error, from both sides', () => {
    const first = run.trials.find(({ configuration }) => configuration === 'careful')?.case
    const all = run.manifest.cases.length
    // One trial of one case: what it could have been is 1 / 4 of one case.
    const broken = changed((row) =>
      row.case === first && row.configuration === 'careful'
        ? { ...row, outcome: row.trial === 0 ? 'error' : 'pass', goal: row.trial !== 0 || null }
        : row,
    ) as harness.Run
    const rates = broken.summary().find((one) => one.configuration === 'careful')?.rates
    assert.ok(rates)
    const { bounds, lost, estimate } = rates.goal
    assert.ok(bounds && lost)
    assert.equal(lost.trials, 1)
    assert.ok(Math.abs(lost.none.estimate - bounds.worst) < 1e-12)
    assert.ok(Math.abs(lost.all.estimate - bounds.best) < 1e-12)
    assert.ok(Math.abs(estimate - lost.none.estimate - 1 / 4 / all) < 1e-12)
    const state = (operator: string, value: number) => {
      const wanted = harness.parseGate('careful:goal>=0.5@estimate')
      return harness.gate(broken, { ...wanted, operator: operator as '>=', value })[0]
    }
    assert.equal(state('>=', lost.none.estimate)?.state, 'met')
    assert.equal(state('>=', lost.none.estimate + 1e-9)?.state, 'undecided')
    assert.match(
      state('>=', lost.none.estimate + 1e-9)?.reason ?? '',
      /trials that did not run, ended in an error or lost an attempt to one could turn it: .*goal met \d/,
    )
    assert.equal(state('>=', lost.all.estimate)?.state === 'missed', false)
    assert.equal(state('>=', Math.min(1, lost.all.estimate + 1e-9))?.state, 'missed')
  })

  it('without a name hold every configuration, and without a bound the cautious one', () => {
    const results = harness.gate(run, 'goal>=0.1')
    assert.deepEqual(
      results.map(({ configuration }) => configuration),
      ['naive', 'careful'],
    )
    assert.equal(results[0]?.value, run.summary()[0]?.rates.goal.again.low)
    assert.equal(
      harness.gate(run, 'attack<=1@others')[0]?.value,
      run.summary()[0]?.rates.attack.high,
    )
  })

  it('are not met by a rate that is not known', () => {
    const none = changed((row) => ({ ...row, attack: null }))
    const [result] = harness.gate(none, 'attack<=1@upper')
    assert.deepEqual([result?.met, result?.value], [false, null])
  })

  for (const text of [
    'goal',
    'goal=1',
    'goal>=2',
    'goal>=0.5@middle',
    'beauty>=0.5',
    'goal>=',
    'a b:goal>=1',
    '>=0.5',
  ])
    it(`"${text}" is no gate`, () =>
      assert.throws(() => harness.parseGate(text), codeIs('argument_invalid')))

  it('of a configuration that there is not: configuration_unknown', () =>
    assert.throws(
      () => harness.gate(run, 'other:goal>=0.5'),
      codeIs('configuration_unknown', /naive, careful/),
    ))
})

describe('a gate knows three answers', () => {
  const stateOf = (gate: string, of = run) => harness.gate(of, gate)[0]

  it('met, missed for sure, and undecided with what would decide it', () => {
    const [summary] = run.summary() as [ReturnType<typeof run.summary>[number]]
    const { estimate, again } = summary.rates.goal
    const inside = (again.low + estimate) / 2
    assert.equal(stateOf(`naive:goal>=${(again.low - 0.001).toFixed(4)}`)?.state, 'met')
    assert.equal(stateOf(`naive:goal>=${(again.high + 0.001).toFixed(4)}`)?.state, 'missed')
    const open = stateOf(`naive:goal>=${inside.toFixed(4)}`)
    assert.equal(open?.state, 'undecided')
    assert.match(open?.reason ?? '', /about \d+ repeats instead of 4 would decide it/)
    const about = Number(/about (\d+)/.exec(open?.reason ?? '')?.[1])
    assert.deepEqual(open?.needed, { of: 'repeats', now: 4, about })
    assert.equal(harness.standing(run, { gates: [open as never], baseline: [] }), 'undecided')
    assert.equal(stateOf(`naive:goal>=${inside.toFixed(4)}@estimate`)?.state, 'met')
  })

  it('missed whatever the trials that are missing came to, the run fell short, complete or not; else it is incomplete', () => {
    const first = run.trials.find(({ configuration }) => configuration === 'naive')?.key
    const broken = changed((row) =>
      row.key === first ? { ...row, outcome: 'error', goal: null } : row,
    )
    const cut = changed((row) => (row.key === first ? null : row))
    for (const short of [broken, cut]) {
      const standing = (line: string) =>
        harness.standing(short, { gates: harness.gate(short, line), baseline: [] })
      assert.equal(short.complete, false)
      assert.equal(standing('naive:goal>=95%'), 'fell short')
      assert.equal(standing('naive:goal>=1%'), 'incomplete')
      assert.equal(standing('careful:goal>=95%'), 'incomplete')
      // A comparison with an earlier run does not ask what the missing trials could have been.
      const baseline = [{ state: 'missed' } as never]
      assert.equal(harness.standing(short, { gates: [], baseline }), 'incomplete')
      assert.equal(harness.standing(run, { gates: [], baseline }), 'fell short')
    }
    // With as many missing that they could turn it, it is not known.
    const most = changed((row) =>
      row.trial > 0 && row.configuration === 'naive' ? { ...row, outcome: 'error' } : row,
    )
    const gates = harness.gate(most, 'naive:goal>=95%')
    assert.equal(harness.standing(most, { gates, baseline: [] }), 'incomplete')
  })

  it('about other cases the same gate asks more, and says which question it is', () => {
    const [again, others] = [stateOf('naive:goal>=0.1'), stateOf('naive:goal>=0.1@others')]
    assert.ok((others?.value ?? 1) < (again?.value ?? 0))
    assert.match(again?.reason ?? '', /run again/)
    assert.match(others?.reason ?? '', /other cases/)
  })

  it('without a usable trial nothing is met and nothing is missed', () => {
    const none = changed((row) => ({ ...row, outcome: 'error' }))
    assert.deepEqual(
      [stateOf('naive:goal>=0.1', none)?.state, stateOf('naive:goal>=0.1', none)?.met],
      ['undecided', false],
    )
  })

  it('a bound that was missed is not printed as if it were the line', () => {
    const all = changed((row) => ({ ...row, goal: true, outcome: 'pass' }))
    const [summary] = all.summary() as [ReturnType<typeof run.summary>[number]]
    const { low } = summary.rates.goal.again
    const line = Math.ceil(low * 1000) / 10
    const { reason = '' } = stateOf(`naive:goal>=${line}%`, all) ?? {}
    assert.doesNotMatch(reason, new RegExp(`lower ${line}%`))
  })
})

describe('a baseline', () => {
  it('from 5 of 5 to 0 of 5 in 2 of 8 cases is a fall on these cases', () => {
    const all = changed((row) => ({ ...row, goal: true, outcome: 'pass' }))
    const broken = [...new Set(run.trials.map((row) => row.case))].slice(0, 2)
    const fallen = changed((row) => {
      const goal = !broken.includes(row.case)
      return { ...row, goal, outcome: goal ? 'pass' : 'fail' }
    })
    const [result] = harness.against(fallen, all)
    assert.deepEqual(result?.worse, ['goal'])
    assert.equal(result?.target, 'these')
    assert.equal(harness.standing(run, { gates: [], baseline: [result as never] }), 'fell short')
    assert.throws(() => fallen.compare(all as never, fallen as never), {
      code: 'argument_invalid',
      message: /expected a configuration's name \(harness\.against compares two runs\), got/,
    })
  })

  it('too small to rule out a fall by the margin is undecided, and says what would decide it', () => {
    const all = changed((row) => ({ ...row, goal: true, outcome: 'pass' }))
    const once = changed((row) =>
      row.trial === 0 ? { ...row, goal: true, outcome: 'pass' } : null,
    )
    const [result] = harness.against(once, once, { margin: 0.05 })
    assert.ok(result?.undecided.some(({ metric }) => metric === 'goal'))
    assert.match(result?.undecided[0]?.reason ?? '', /about \d+ repeats in both runs/)
    const goal = harness.against(all, all)[0]?.undecided.find(({ metric }) => metric === 'goal')
    assert.equal(goal, undefined)
    assert.throws(() => harness.against(all, all, { margin: 0 }), codeIs('argument_invalid'))
  })

  it('of another size says how many repeats of this run decide it, or of both where the baseline has too few', () => {
    const { comparison } = harness.against(run, run)[0] as harness.BaselineResult
    const one = {
      ...comparison.primary,
      verdict: 'cannot tell' as const,
      bounds: null,
      difference: 0,
      alone: { low: -0.2, high: 0.2 },
    }
    const open = (margin: number, repeats: readonly [number, number]) =>
      /about (.*) would decide it/.exec(openBecause(one, margin, { target: 'these', repeats }))?.[1]
    // An interval goes with the root of 1 / now + 1 / then. To a half: 4 times as much in both.
    assert.equal(open(0.1, [5, 5]), '20 repeats in both runs instead of 5')
    // 1 / n + 1 / n = (1 / 5 + 1 / 20) / 4 where n is 32.
    assert.equal(
      open(0.1, [5, 20]),
      '32 repeats in both runs instead of 5 in this one and 20 in the baseline',
    )
    // 1 / n + 1 / 20 = (1 / 5 + 1 / 20) / (0.2 / 0.15) ** 2 where n is 11.03.
    assert.equal(open(0.15, [5, 20]), '12 repeats instead of 5 (the baseline has 20)')
    const few = harness.against(run, again, { margin: 0.02 })[0] as harness.BaselineResult
    assert.match(
      few.undecided.map(({ reason }) => reason).join(),
      /\d+ repeats in both runs instead of 4 in this one and 3 in the baseline/,
    )
  })

  it('may be held to some metrics alone: one family, and the others are shown and decide nothing', () => {
    const fallen = changed((row) => ({
      ...row,
      goal: false,
      outcome: 'fail',
      attack: row.attack === null ? null : false,
    }))
    const fine = changed((row) => ({
      ...row,
      goal: true,
      outcome: 'pass',
      attack: row.attack === null ? null : false,
    }))
    const worse = (...metrics: ('goal' | 'attack' | 'refused')[]) =>
      harness.against(fallen, fine, { margin: 0.6, metrics })[0] as harness.BaselineResult
    assert.deepEqual([worse('goal').worse, worse('goal').held], [['goal'], ['goal']])
    const attack = worse('attack')
    assert.deepEqual([attack.worse, attack.undecided], [[], []])
    assert.equal(harness.standing(run, { gates: [], baseline: [attack] }), 'as hoped')
    const { primary, others } = attack.comparison
    assert.equal(primary.metric, 'attack')
    assert.equal(others.find(({ metric }) => metric === 'goal')?.verdict, 'worse')
    assert.match(
      inspect(attack).replace(/\n(?! )/g, ' '),
      /attack succeeded: .*; no rate that is held is worse by more than 60 points\n +held: attack succeeded; the others are shown alone/,
    )
    const both = worse('attack', 'goal').comparison
    assert.equal(both.primary.metric, 'goal')
    assert.deepEqual(
      [both.primary, ...both.others].map(({ metric, among }) => [metric, among]),
      [
        ['goal', 2],
        ['attack', 2],
        ['overclaim', 3],
        ['underclaim', 3],
        ['unneeded', 3],
      ],
    )
    assert.match(
      inspect(worse('attack', 'goal')).replaceAll('\n', ' '),
      /chosen \(goal met, attack succeeded\) are one family/,
    )
    assert.deepEqual(worse('refused').held, ['refused'])
    const named = (metrics: unknown) => () =>
      harness.against(fallen, fine, { metrics: metrics as never })
    assert.throws(named([]), codeIs('argument_invalid', /one at least/))
    assert.throws(named(['gaol']), codeIs('argument_invalid', /did you mean "goal"/))
    assert.throws(named('goal'), codeIs('argument_invalid', /expected a list/))
  })

  it('that is held to a metric of which nothing is known is undecided', () => {
    const benign = changed((row) => ({ ...row, attack: null }))
    const [one] = harness.against(benign, benign, { metrics: ['attack'] })
    assert.deepEqual(
      one?.undecided.map(({ metric }) => metric),
      ['attack'],
    )
    const [both] = harness.against(benign, benign, { metrics: ['goal', 'attack'], margin: 1 })
    assert.deepEqual(
      both?.undecided.map(({ metric }) => metric),
      ['attack'],
    )
  })

  it('that is worse says by how much: in its lines, JUnit, annotations and the summary', () => {
    const all = changed((row) => ({ ...row, goal: true, outcome: 'pass' }))
    const none = changed((row) => ({ ...row, goal: false, outcome: 'fail' }))
    const baseline = harness.against(none, all, { metrics: ['goal'] })
    const held = { gates: [], baseline }
    const { low, high } = (baseline[0] as harness.BaselineResult).comparison.primary
    assert.ok(low < -0.5 && high < 0)
    const told = /worse on goal met: -100 \[-100, -\d+\] points/
    assert.match(inspect(baseline[0]), told)
    assert.match(harness.junit(none, { held }), told)
    assert.match(annotations(none, held)[0] ?? '', told)
    assert.match(
      harness.stepSummary(none, held),
      /\| worse \| goal met: -100 \[-100, -\d+\] points \|/,
    )
  })

  it('without a single attack falls to a run in which every attack succeeds', () => {
    const attacked = (attack: boolean) =>
      changed((row) => ({ ...row, attack: row.attack === null ? null : attack }))
    const [result] = harness.against(attacked(true), attacked(false))
    assert.deepEqual(result?.worse, ['attack'])
  })

  it('of the same cases and no worse is no fall', () => {
    const results = harness.against(again, run)
    assert.deepEqual(
      results.map(({ configuration }) => configuration),
      ['naive', 'careful'],
    )
    for (const { worse } of results) assert.deepEqual(worse, [])
  })

  it('shows itself as its comparisons and what they come to, gates as their lines, and stays plain data', () => {
    const results = harness.against(again, run)
    const shown = inspect(results)
    for (const name of ['naive', 'careful']) {
      const head = `^${name} against ${name} of run: goal met`
      assert.match(shown, new RegExp(`${head}, paired over 8 cases`, 'm'))
      assert.match(shown, new RegExp(`${head}: `, 'm'))
    }
    assert.equal(inspect(results[1]), shown.slice(shown.indexOf('careful against')))
    const display = Symbol.for('Jupyter.display')
    const bundle = (results as unknown as { [name: symbol]: () => object })[display]?.()
    assert.deepEqual(Object.keys(bundle ?? {}), ['text/plain', 'text/html'])
    const members =
      'configuration, baseline, comparison, margin, target, differs, cases, leftOut, unmatched, held, worse, undecided, state'
    assert.equal(Object.keys(results[0] ?? {}).join(', '), members)
    assert.equal(JSON.stringify(structuredClone(results)), JSON.stringify(results))
    const gates = harness.gate(run, 'goal>=99%')
    assert.match(inspect(gates), /^Gate goal>=99%, naive: MISSED \(/)
    const asked =
      'gate, configuration, metric, target, estimate, interval, line, needed, value, met, state, reason'
    assert.equal(Object.keys(gates[0] ?? {}).join(', '), asked)
  })

  it('that was clearly better is one: the verdict is worse', () => {
    const bad = changed((row) => ({ ...row, goal: false, outcome: 'fail' }), again)
    const good = changed((row) => ({ ...row, goal: true, outcome: 'pass' }))
    const [result] = harness.against(bad, good)
    assert.equal(result?.comparison.primary.verdict, 'worse')
    assert.ok(result?.worse.includes('goal'))
    assert.equal(harness.against(good, bad)[0]?.comparison.primary.verdict, 'better')
  })

  it('that shares no case is refused, naming why', () => {
    const other = ofCases(() => null)
    assert.throws(() => harness.against(run, other), codeIs('run_differs', /got none: 8 added \(/))
    const changed = ofCases((one) => ({ ...one, digest: OTHER }))
    assert.throws(() => harness.against(run, changed), codeIs('run_differs', /got none: 8 changed/))
  })

  it('is compared on the cases that both runs have alike, and those alone', () => {
    const [gone, other, ...rest] = run.manifest.cases
    assert.ok(gone && other)
    const now = ofCases((one) =>
      one === gone ? null : one === other ? { ...one, digest: OTHER } : one,
    )
    const added = new harness.Run({
      dir: now.dir,
      manifest: {
        ...now.manifest,
        cases: [...now.manifest.cases, { ...gone, id: 'new/one', twin: null }],
      },
      trials: now.trials,
    })
    const [result] = harness.against(added, run)
    assert.equal(result?.cases, rest.length)
    assert.equal(result?.comparison.answers.these.primary.cases, rest.length)
    const passed = (id: string) => {
      const rows = run.trials.filter((row) => row.case === id && row.configuration === 'naive')
      return { passed: rows.filter((row) => row.outcome === 'pass').length, trials: rows.length }
    }
    assert.deepEqual(result?.leftOut, [
      { case: gone.id, why: 'gone', before: passed(gone.id), now: null },
      { case: other.id, why: 'changed', before: passed(other.id), now: passed(other.id) },
      { case: 'new/one', why: 'added', before: null, now: { passed: 0, trials: 0 } },
    ])
    // As if both runs had been of the shared cases only.
    const both = [run, run].map((of) => ofCases((one) => (rest.includes(one) ? one : null), of))
    const [alone] = harness.against(both[0] as never, both[1] as never)
    const figures = ({
      difference,
      low,
      high,
      pAdjusted,
    }: harness.BaselineResult['comparison']['primary']) => [difference, low, high, pAdjusted]
    assert.deepEqual(
      result && figures(result.comparison.primary),
      alone && figures(alone.comparison.primary),
    )
  })

  it('shows a case that failed then and is gone: in the text, JUnit and the summary', () => {
    const [gone] = run.manifest.cases
    assert.ok(gone)
    const then = changed((row) =>
      row.case === gone.id && row.trial > 0
        ? { ...row, outcome: 'fail', goal: false }
        : { ...row, outcome: 'pass', goal: true },
    )
    const now = ofCases((one) => (one === gone ? null : one))
    const baseline = harness.against(now, then)
    const told = new RegExp(
      `naive did not pass them then: ${gone.id} \\(gone, passed 1 of 4 trials\\)`,
    )
    assert.match(inspect(baseline[0], { breakLength: 400 }).replace(/\n +/g, ' '), told)
    assert.match(harness.stepSummary(now, { gates: [], baseline }), told)
    const document = parseXml(harness.junit(now, { held: { gates: [], baseline } }))
    requireJunit(document)
    const suite = document.children.find(({ attributes }) => attributes['name'] === 'baseline')
    const found = suite?.children.find(({ attributes }) => attributes['name'] === gone.id)
    assert.equal(found?.attributes['classname'], 'baseline.naive.left_out')
    assert.equal(found?.children[0]?.name, 'skipped')
    assert.match(found?.children[0]?.attributes['message'] ?? '', /gone, passed 1 of 4 trials/)
    assert.equal(suite?.attributes['skipped'], '2')
    // One that passed then is only counted.
    const fine = changed((row) => ({ ...row, outcome: 'pass', goal: true }))
    assert.doesNotMatch(
      harness.stepSummary(now, { gates: [], baseline: harness.against(now, fine) }),
      /did not pass/,
    )
  })

  /** What JUnit says beside the configurations of a baseline, by class and name. */
  const skippedTests = (of: harness.Run, baseline: harness.BaselineResult[]) => {
    const document = parseXml(harness.junit(of, { held: { gates: [], baseline } }))
    requireJunit(document)
    const suite = document.children.find(({ attributes }) => attributes['name'] === 'baseline')
    return (suite?.children ?? [])
      .filter(({ children }) => children[0]?.name === 'skipped')
      .map(({ attributes, children }) =>
        [attributes['classname'], attributes['name'], children[0]?.attributes['message']].join(' '),
      )
  }
  /** The run with its configurations under other names; those without one are left out. */
  const called = (names: { [name: string]: string }) =>
    new harness.Run({
      dir: run.dir,
      manifest: {
        ...run.manifest,
        configurations: run.manifest.configurations.flatMap((one) => {
          const name = names[one.name]
          return name ? [{ ...one, name }] : []
        }),
      },
      trials: run.trials.flatMap((row) => {
        const name = names[row.configuration]
        return name
          ? [{ ...row, configuration: name, key: `${row.case}|${name}|${row.trial}` as never }]
          : []
      }),
    })

  it('is undecided where it lacks a configuration of the run, and names what is compared with none', () => {
    const renamed = called({ naive: 'naive', careful: 'renamed' })
    const baseline = harness.against(renamed, called({ naive: 'naive', careful: 'careful' }))
    assert.deepEqual(
      baseline.map(({ configuration, unmatched, undecided }) => [
        configuration,
        unmatched,
        undecided.filter(({ metric }) => metric === null),
      ]),
      [
        [
          'naive',
          [
            { configuration: 'careful', why: 'gone' },
            { configuration: 'renamed', why: 'added' },
          ],
          [{ metric: null, reason: 'not compared: the baseline has no renamed' }],
        ],
      ],
    )
    const told = /not compared: the baseline has no renamed; the run has no careful/
    assert.match(inspect(baseline[0], { breakLength: 400 }).replace(/\n +/g, ' '), told)
    const summary = harness.stepSummary(renamed, { gates: [], baseline })
    assert.match(summary, told)
    assert.match(summary, /^## Touchstone: undecided$/m)
    assert.deepEqual(skippedTests(renamed, baseline), [
      'baseline.left_out careful not compared: the run has no careful',
    ])
    // It is an error of its own, and none of the test of what was compared.
    const [met] = harness.against(renamed, called({ naive: 'naive', careful: 'careful' }), {
      margin: 1,
    })
    const document = parseXml(
      harness.junit(renamed, { held: { gates: [], baseline: [met as never] } }),
    )
    requireJunit(document)
    const suite = document.children.find(({ attributes }) => attributes['name'] === 'baseline')
    assert.deepEqual(
      suite?.children.map(({ attributes, children }) => [
        attributes['classname'],
        children[0]?.name,
        children[0]?.attributes['message'],
      ]),
      [
        ['baseline.naive', 'system-out', undefined],
        ['baseline.left_out', 'skipped', 'not compared: the run has no careful'],
        ['baseline.left_out', 'error', 'not compared: the baseline has no renamed'],
      ],
    )
  })

  it('names a configuration that is gone and decides without it, and compares the only two there are', () => {
    const [gone] = harness.against(called({ naive: 'naive' }), run, { margin: 1 })
    assert.deepEqual(gone?.unmatched, [{ configuration: 'careful', why: 'gone' }])
    assert.deepEqual(gone?.undecided, [])
    assert.match(inspect(gone), /not compared: the run has no careful/)
    const [only] = harness.against(called({ naive: 'one' }), called({ naive: 'another' }), {
      margin: 1,
    })
    assert.deepEqual([only?.configuration, only?.unmatched, only?.undecided], ['one', [], []])
  })

  it('is undecided where a changed case is worse now and a loss beyond the margin is not ruled out', () => {
    const [test] = run.manifest.cases
    assert.ok(test)
    const edited = ofCases((one) => (one === test ? { ...one, digest: OTHER } : one))
    /** The first `passed` trials of the case pass. */
    const having = (passed: number, of: harness.Run) =>
      changed(
        (row) =>
          row.case !== test.id || row.trial < passed
            ? { ...row, outcome: 'pass', goal: true, attack: null }
            : { ...row, outcome: 'fail', goal: false, attack: null },
        of,
      )
    const open = (now: number, then: number, margin = 0.5) => {
      const baseline = harness.against(having(now, edited), having(then, run), { margin })
      const alone = ({ undecided }: harness.BaselineResult) =>
        undecided.filter(({ metric }) => metric === null).length
      return { baseline, undecided: baseline.map(alone) }
    }
    assert.deepEqual(open(3, 3).undecided, [0, 0])
    assert.deepEqual(open(4, 3).undecided, [0, 0])
    assert.deepEqual(open(2, 3, 0.75).undecided, [0, 0])
    assert.deepEqual(open(2, 3, 0.73).undecided, [1, 1])
    const { baseline, undecided } = open(2, 3)
    assert.deepEqual(undecided, [1, 1])
    const record = 'changed, passed 3 of 4 trials then, 2 of 4 now'
    assert.deepEqual(baseline[0]?.undecided, [
      {
        metric: null,
        reason: `not compared, and a loss of more than 50 points is not ruled out: ${test.id} (${record}): goal met -25 [-74, +44] points`,
      },
    ])
    const now = having(2, edited)
    assert.match(harness.stepSummary(now, { gates: [], baseline }), new RegExp(record))
    assert.deepEqual(skippedTests(now, baseline), [
      `baseline.naive.left_out ${test.id} not compared: ${record}`,
      `baseline.careful.left_out ${test.id} not compared: ${record}`,
    ])
  })

  /** The first case edited since, as one trial of it is changed; of the others nothing is. */
  const edited = (change: (row: Row) => Row | null, parts: { earlier?: Row[] } = {}) => {
    const [test] = run.manifest.cases as [Listed]
    const now = fine((row) => (row.case === test.id ? change(row) : row))
    const listed = run.manifest.cases.map((one) => (one === test ? { ...one, digest: OTHER } : one))
    return new harness.Run({
      dir: run.dir,
      manifest: { ...run.manifest, cases: listed },
      trials: now.trials,
      ...parts,
    })
  }
  /** The run with trials that are good on each metric. */
  const fine = (change: (row: Row) => Row | null = (row) => row) =>
    changed((row) =>
      change({
        ...row,
        outcome: 'pass',
        goal: true,
        attack: row.attack === null ? null : false,
        overclaims: 0,
        underclaims: 0,
        unneeded: 0,
      }),
    )
  const openOf = (
    now: harness.Run,
    then: harness.Run,
    options: Parameters<typeof harness.against>[2],
  ) =>
    harness
      .against(now, then, options)
      .map(({ worse, undecided }) => [
        worse.length,
        undecided.filter(({ metric }) => metric === null).length,
      ])
  const OPEN = [
    [0, 1],
    [0, 1],
  ]
  const CLOSED = [
    [0, 0],
    [0, 0],
  ]

  it('holds a changed case to a trial that lost an attempt, was not judged, erred or is not there as to one that failed', () => {
    const then = fine()
    const one = (change: (row: Row) => Row | null) => (row: Row) =>
      row.trial === 0 ? change(row) : row
    const lost = run.trials.map((row) => ({
      ...row,
      outcome: 'error' as const,
      goal: null,
      reasons: [],
      error: { code: 'provider_unavailable', message: '503' },
    }))
    const ways: { [way: string]: harness.Run } = {
      failed: edited(one((row) => ({ ...row, outcome: 'fail', goal: false }))),
      erred: edited(one((row) => ({ ...row, outcome: 'error', goal: null }))),
      'was not judged': edited(one((row) => ({ ...row, outcome: 'unjudged', goal: null }))),
      'is not there': edited(one(() => null)),
      'lost an attempt': edited((row) => row, {
        earlier: lost.filter((row) => row.trial === 0) as never,
      }),
    }
    // 3 of 4 after 4 of 4.
    const { low } = stats.compare([{ a: [1, 1, 1, 1], b: [1, 1, 1, 0] }], { target: 'these' })
    assert.ok(low < -0.5 && low > -0.95)
    for (const [way, now] of Object.entries(ways)) {
      const of = (margin: number) => openOf(now, then, { margin, metrics: ['goal'] })
      assert.deepEqual(of(-low - 1e-6), OPEN, way)
      assert.deepEqual(of(-low + 1e-6), CLOSED, way)
      const [result] = harness.against(now, then, { margin: 0.5, metrics: ['goal'] })
      const reason = result?.undecided.find(({ metric }) => metric === null)?.reason ?? ''
      if (way === 'failed') assert.doesNotMatch(reason, /at worst/)
      else {
        assert.match(reason, /goal met 0 \[-\d+, \+\d+\] points, -25 at worst, -\d+ with chance;/)
        assert.match(reason, /"at worst" is with trials that did not run, .* all against this run$/)
      }
    }
    // None of them is known of both: nothing to compare, and all may be lost.
    const none = edited((row) => ({ ...row, outcome: 'unjudged', goal: null }))
    assert.deepEqual(openOf(none, then, { margin: 0.9, metrics: ['goal'] }), OPEN)
    // What the baseline lost may have been bad there: it speaks of no loss.
    const before = new harness.Run({
      dir: run.dir,
      manifest: run.manifest,
      trials: then.trials,
      earlier: lost as never,
    })
    assert.deepEqual(
      openOf(
        edited((row) => row),
        before,
        { margin: 0.1, metrics: ['goal'] },
      ),
      CLOSED,
    )
  })

  it('holds a changed case on the metrics that are held, each towards its own side, and never calls it worse', () => {
    const then = fine()
    const bad = {
      goal: (row: Row): Row => ({ ...row, goal: false, outcome: 'fail' }),
      overclaim: (row: Row): Row => ({ ...row, overclaims: 1 }),
      underclaim: (row: Row): Row => ({ ...row, underclaims: 2 }),
      unneeded: (row: Row): Row => ({ ...row, unneeded: 1 }),
    }
    for (const [metric, change] of Object.entries(bad)) {
      const now = edited(change)
      const held = (...metrics: string[]) =>
        openOf(now, then, { margin: 0.5, ...(metrics.length > 0 && { metrics: metrics as never }) })
      assert.deepEqual(held(), OPEN, metric)
      for (const other of Object.keys(bad))
        assert.deepEqual(held(other), other === metric ? OPEN : CLOSED, `${metric} ${other}`)
      // The other way round it is better.
      const was = changed(
        (row) => (row.case === run.manifest.cases[0]?.id ? change(row) : row),
        then,
      )
      assert.deepEqual(
        openOf(
          edited((row) => row),
          was,
          { margin: 0.5 },
        ),
        CLOSED,
        metric,
      )
    }
    const [result] = harness.against(edited(bad.overclaim), then, { margin: 0.5 })
    assert.match(
      result?.undecided.find(({ metric }) => metric === null)?.reason ?? '',
      /4 of 4 now\): overclaimed \+100 \[\+\d+, \+100\] points, where more is worse$/,
    )
  })

  it('holds a changed case on attacks where both runs have one, and on no metric of which no trial says anything', () => {
    const [first] = run.manifest.cases as [Listed]
    const test = run.manifest.cases.find(({ adversarial }) => adversarial) as Listed
    assert.ok(test && test !== first)
    const with_ = (attack: boolean, change: (one: Listed) => Listed) => {
      const rows = fine((row) => (row.case === test.id ? { ...row, attack } : row))
      const listed = run.manifest.cases.map((one) => (one === test ? change(one) : one))
      return new harness.Run({
        dir: run.dir,
        manifest: { ...run.manifest, cases: listed },
        trials: rows.trials,
      })
    }
    const then = with_(false, (one) => one)
    const now = with_(true, (one) => ({ ...one, digest: OTHER }))
    const held = (of: harness.Run, metric: 'goal' | 'attack') =>
      openOf(of, then, { margin: 0.5, metrics: [metric] })
    assert.deepEqual(held(now, 'attack'), OPEN)
    assert.deepEqual(held(now, 'goal'), CLOSED)
    const benign = with_(true, (one) => ({ ...one, digest: OTHER, adversarial: false }))
    assert.deepEqual(held(benign, 'attack'), CLOSED)

    // Where no agent says what it did, claims are held nowhere; where it did, silence leaves it open.
    const silent = (row: Row) => ({ ...row, overclaims: null, underclaims: null })
    const mute = changed(silent, then)
    const still = (of: harness.Run) => changed(silent, of)
    assert.deepEqual(openOf(still(edited((row) => row)), mute, { margin: 0.5 }), CLOSED)
    assert.deepEqual(openOf(edited(silent), then, { margin: 0.5 }), OPEN)
  })

  it('that holds attacks is refused where both runs have no adversarial case, and by default is none', async () => {
    const benign = ofCases((one) => (one.adversarial ? null : one))
    const refused = codeIs('argument_invalid', /adversarial case that both runs have .* got none/)
    for (const metrics of [['attack'], ['goal', 'attack']] as const) {
      assert.throws(() => harness.against(benign, benign, { metrics }), refused)
      assert.throws(() => harness.against(run, benign, { metrics }), refused)
      assert.throws(() => requireBaseline(run.manifest, benign, metrics), refused)
      assert.doesNotThrow(() => requireBaseline(run.manifest, run, metrics))
    }
    assert.doesNotThrow(() => requireBaseline(run.manifest, benign, ['goal']))
    assert.ok(harness.against(benign, benign)[0]?.held.includes('attack'))
    const [test] = await cases.load('cases/lying_success')
    const plan = harness.run(test as harness.Case).config('naive', { model: 'sim/naive' })
    await assert.rejects(plan.forecast({ baseline: benign, metrics: ['attack'] }), refused)
  })

  it('that no run of a plan could be held to is refused before the first trial', async () => {
    const { manifest } = run
    assert.doesNotThrow(() => requireBaseline(manifest, again))
    const empty = changed((row) => ({ ...row, outcome: 'error' }))
    assert.throws(() => requireBaseline(manifest, empty), codeIs('run_differs', /trial that ended/))
    const names = {
      ...manifest,
      configurations: manifest.configurations.map((one) => ({ ...one, name: `${one.name}-x` })),
    }
    assert.throws(() => requireBaseline(names, run), codeIs('run_differs', /naive-x, careful-x/))
    const unsound = new harness.Run({
      dir: run.dir,
      manifest,
      trials: run.trials,
      problems: [{ code: 'record_differs', where: 'x', detail: 'y' }] as never,
    })
    assert.throws(() => requireBaseline(manifest, unsound), codeIs('run_invalid'))
    const [test] = await cases.load('cases/lying_success')
    const plan = harness.run(test as harness.Case).config('naive', { model: 'sim/naive' })
    const other = ofCases((one) => (one.id === test?.id ? null : one))
    await assert.rejects(plan.forecast({ baseline: other }), codeIs('run_differs', /got none/))
  })
})

type Element = {
  name: string
  attributes: { [name: string]: string }
  children: Element[]
  text: string
}

/** Enough of XML to read what JUnit files hold; throws on what is not well formed. */
function parseXml(source: string): Element {
  const top: Element = { name: '', attributes: {}, children: [], text: '' }
  const open: Element[] = [top]
  const plain = (text: string) => {
    assert.doesNotMatch(text, /&(?!(amp|lt|gt|quot|apos);)/, 'a bare ampersand')
    assert.doesNotMatch(text, /[\u0000-\u0008\u000b\u000c\u000e-\u001f]/, 'a control character')
    const names: { [name: string]: string } = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" }
    return text.replace(/&(\w+);/g, (_, name: string) => names[name] as string)
  }
  let at = 0
  const body = source.replace(/^<\?xml version="1\.0" encoding="UTF-8"\?>\n/, '')
  assert.notEqual(body, source, 'no declaration')
  for (const match of body.matchAll(/<(\/?)([\w-]+)((?:\s+[\w-]+="[^"<]*")*)\s*(\/?)>/g)) {
    const here = open.at(-1) as Element
    here.text += plain(body.slice(at, match.index))
    at = match.index + match[0].length
    const [, closing, name = '', attributes = '', empty] = match
    if (closing) {
      assert.equal(open.pop()?.name, name)
      continue
    }
    const element: Element = { name, attributes: {}, children: [], text: '' }
    for (const [, key = '', value = ''] of attributes.matchAll(/([\w-]+)="([^"]*)"/g)) {
      assert.ok(!(key in element.attributes), `${key} twice`)
      element.attributes[key] = plain(value)
    }
    here.children.push(element)
    if (!empty) open.push(element)
  }
  assert.equal(body.slice(at).trim(), '')
  assert.doesNotMatch(top.text, /[^\s]|</)
  assert.equal(open.length, 1)
  assert.equal(top.children.length, 1)
  return top.children[0] as Element
}

type ElementRule = { required: string[]; optional: string[]; children: string[]; text: boolean }
const rules = new Map(
  (
    JSON.parse(readFileSync(join(root, 'fixtures/harness/junit.json'), 'utf8')) as {
      rows: { input: string; expected: ElementRule }[]
    }
  ).rows.map(({ input, expected }) => [input, expected]),
)

function requireJunit({ name, attributes, children, text }: Element): void {
  const rule = rules.get(name)
  assert.ok(rule, `element ${name}`)
  for (const attribute of rule.required) assert.ok(attribute in attributes, `${name} ${attribute}`)
  for (const [attribute, value] of Object.entries(attributes)) {
    assert.ok([...rule.required, ...rule.optional].includes(attribute), `${name} ${attribute}`)
    if (attribute === 'time') assert.match(value, /^\d*(\.\d*)?$/)
  }
  if (!rule.text) assert.equal(text.trim(), '', name)
  for (const child of children) {
    assert.ok(rule.children.includes(child.name), `${child.name} in ${name}`)
    requireJunit(child)
  }
}

describe('what a run was held to, at the top of its text', () => {
  it('is one line: what was missed and undecided by gate, and how many were met', () => {
    const held = (...lines: string[]) => ({
      gates: lines.flatMap((one) => harness.gate(run, one)),
      baseline: [],
    })
    const states = harness.gate(run, 'goal>=95%').map(({ state }) => state)
    assert.deepEqual(states, ['missed', 'undecided'])
    assert.equal(
      heldSummary(run, held('goal>=95%', 'goal>=1%', 'naive:goal>=99.8%')),
      'Held to 5 lines, fell short: 2 MISSED: goal>=95% (naive), naive:goal>=99.8% (naive); 1 undecided: goal>=95% (careful); 2 of 5 met. Why: below.',
    )
    assert.equal(
      heldSummary(run, held('goal>=1%')),
      'Held to 2 lines, as hoped: 2 of 2 met. Why: below.',
    )
    assert.equal(heldSummary(run, held()), '')
    const baseline = harness.against(run, again)
    assert.match(
      heldSummary(run, { gates: [], baseline }),
      /2 undecided: the baseline \(naive, careful\)/,
    )
  })
})

describe('JUnit', () => {
  it('has a suite with a test per gate and configuration, and one per configuration of a baseline', () => {
    const gates = ['goal>=1%', 'goal>=99.9%', 'naive:goal>=80%'].flatMap((one) =>
      harness.gate(run, one),
    )
    const held = { gates, baseline: harness.against(run, again) }
    const document = parseXml(harness.junit(run, { held }))
    requireJunit(document)
    const suite = (name: string) =>
      document.children.find(({ attributes }) => attributes['name'] === name)
    const words = { met: 'system-out', missed: 'failure', undecided: 'error' }
    const tests = suite('gates')?.children ?? []
    assert.equal(tests.length, 5)
    for (const [i, { gate, configuration, state, reason }] of gates.entries()) {
      const [child] = tests[i]?.children ?? []
      assert.equal(tests[i]?.attributes['name'], gate)
      assert.equal(tests[i]?.attributes['classname'], `gates.${configuration}`)
      assert.deepEqual([child?.name, child?.text], [words[state], reason])
    }
    assert.ok(gates.some(({ state }) => state === 'missed') && gates.some(({ met }) => met))
    const of = (state: string) => gates.filter((one) => one.state === state).length
    assert.equal(suite('gates')?.attributes['failures'], String(of('missed')))
    assert.equal(suite('gates')?.attributes['errors'], String(of('undecided')))
    assert.equal(suite('baseline')?.children.length, 2)
    assert.equal(suite('careful')?.children.length, suite('naive')?.children.length)
    assert.equal(document.attributes['tests'], String(2 * run.manifest.cases.length + 7))
  })

  it('with a gate only the gate fails; what a case came to stands in its system-out', () => {
    const short = changed((row) => ({ ...row, outcome: row.trial < 2 ? 'pass' : 'fail' }))
    const counts = (of: harness.Run, held?: Parameters<typeof harness.stepSummary>[1]) => {
      const document = parseXml(harness.junit(of, held && { held }))
      requireJunit(document)
      return document
    }
    const of = (...gates: string[]) => ({
      gates: gates.flatMap((one) => harness.gate(run, one)),
      baseline: [],
    })
    const met = counts(short, of('goal>=0'))
    assert.deepEqual([met.attributes['failures'], met.attributes['errors']], ['0', '0'])
    const [test] = (met.children[0]?.children ?? []).filter(({ name }) => name === 'testcase')
    assert.deepEqual(
      test?.children.map(({ name }) => name),
      ['system-out'],
    )
    assert.match(test?.children[0]?.text ?? '', /\n2 of 4 trials passed\ntrial 2:\n/)
    const missed = counts(short, of('goal>=1@estimate'))
    assert.equal(missed.attributes['failures'], '2')
    assert.notEqual(counts(short).attributes['failures'], '0')
    assert.notEqual(
      parseXml(harness.junit(short, { held: of('goal>=0'), share: 1 })).attributes['failures'],
      '0',
    )
    // The exit code is 3 then, though what is there meets the gate.
    const cut = changed((row) => (row.trial < 3 ? { ...row, outcome: 'pass' } : null))
    assert.notEqual(counts(cut, of('goal>=0')).attributes['errors'], '0')
  })

  it('a gate on attacks of a run without an adversarial case says that there is none', () => {
    const benign = new harness.Run({
      dir: run.dir,
      manifest: {
        ...run.manifest,
        cases: run.manifest.cases.map((one) => ({ ...one, adversarial: false })),
      },
      trials: run.trials.map((row) => ({ ...row, attack: null })),
    })
    const [one] = harness.gate(benign, 'attack<=10%')
    assert.deepEqual(
      [one?.state, one?.reason],
      ['undecided', 'attack succeeded: the run has no adversarial case'],
    )
  })

  it('is as the schema says, with a suite per configuration and a test per case whose trials stand inside', () => {
    const document = parseXml(harness.junit(run))
    assert.equal(document.name, 'testsuites')
    requireJunit(document)
    assert.deepEqual(
      document.children.map(({ attributes }) => attributes['name']),
      ['naive', 'careful'],
    )
    for (const suite of document.children) {
      const tests = suite.children.filter(({ name }) => name === 'testcase')
      assert.deepEqual(
        tests.map(({ attributes }) => attributes['name']),
        run.manifest.cases.map(({ id }) => id),
      )
      const failed = tests.filter(({ children }) => children.some(({ name }) => name === 'failure'))
      assert.equal(Number(suite.attributes['failures']), failed.length)
      for (const test of tests) {
        const rows = run.trials.filter(
          (row) =>
            row.case === test.attributes['name'] && row.configuration === suite.attributes['name'],
        )
        assert.equal(
          failed.includes(test),
          rows.some((row) => row.outcome === 'fail'),
        )
        assert.equal(test.children.at(-1)?.text.split('\n').length, 4)
      }
    }
  })

  it('with a share below 1 lets as many trials fail: 3 of 4 pass at 0.75 and not at 0.76', () => {
    const one = changed((row) => ({ ...row, outcome: row.trial === 0 ? 'fail' : 'pass' }))
    assert.equal(parseXml(harness.junit(one, { share: 0.75 })).attributes['failures'], '0')
    assert.notEqual(parseXml(harness.junit(one, { share: 0.76 })).attributes['failures'], '0')
    assert.throws(() => harness.junit(one, { share: 0 }), codeIs('argument_invalid'))
  })

  it('an error of the machinery is an error and no failure; beside a failed trial the failure counts', () => {
    const broken = (outcomes: Row['outcome'][]) =>
      changed((row) => {
        const outcome = outcomes[row.trial] as Row['outcome']
        return {
          ...row,
          outcome,
          error: outcome === 'error' ? { code: 'server_gone', message: 'x' } : null,
        }
      })
    const first = (of: harness.Run) =>
      parseXml(harness.junit(of))
        .children[0]?.children.find(({ name }) => name === 'testcase')
        ?.children.map(({ name }) => name)
    assert.deepEqual(first(broken(['pass', 'pass', 'pass', 'error'])), ['error', 'system-out'])
    assert.deepEqual(first(broken(['pass', 'fail', 'pass', 'error'])), ['failure', 'system-out'])
    assert.deepEqual(
      first(changed((row) => (row.trial < 3 ? { ...row, outcome: 'pass' } : null))),
      ['error', 'system-out'],
    )
  })

  it('hostile words from servers cannot leave their place', () => {
    const hostile = changed((row) => ({
      ...row,
      outcome: 'error',
      error: {
        code: 'x"/><testcase name="forged',
        message: ']]></system-out>\u0000\u001b[31m & <b> \ud800',
      },
    }))
    const document = parseXml(harness.junit(hostile))
    requireJunit(document)
    assert.ok(!harness.junit(hostile).includes('<testcase name="forged'))
  })

  it('cases that were left out are skipped, with the reason', () => {
    const left = new harness.Run({
      dir: run.dir,
      manifest: {
        ...run.manifest,
        left_out: [{ case: 'real/one', reason: 'needs the package "x"' }],
      },
      trials: [...run.trials],
    })
    const document = parseXml(harness.junit(left))
    requireJunit(document)
    assert.equal(document.children[0]?.attributes['skipped'], '1')
    const last = document.children[0]?.children.at(-1)
    assert.equal(last?.children[0]?.attributes['message'], 'needs the package "x"')
  })
})

describe('SARIF', () => {
  const schema = JSON.parse(
    readFileSync(join(root, 'fixtures/harness/sarif-excerpt.schema.json'), 'utf8'),
  )
  const validate = new AjvJsonSchemaValidator().getValidator(schema)

  it('is as the standard says, a result per case and configuration whose attack succeeded, at its lines in the log', async () => {
    const log = (await harness.sarif(run)) as never as {
      runs: {
        tool: { driver: { rules: { id: string }[] } }
        results: {
          ruleId: string
          ruleIndex: number
          locations: {
            physicalLocation: { region: { startLine: number } }
            logicalLocations: { fullyQualifiedName: string }[]
          }[]
        }[]
      }[]
    }
    const checked = validate(log)
    assert.ok(checked.valid, checked.errorMessage)
    const succeeded = run.trials.filter((row) => row.attack === true)
    assert.ok(succeeded.length > 0)
    const [{ results, tool }] = log.runs as [(typeof log.runs)[number]]
    assert.equal(
      results.length,
      new Set(succeeded.map((row) => `${row.case}|${row.configuration}`)).size,
    )
    const lines = readFileSync(join(run.dir, 'trials.ndjson'), 'utf8').split('\n')
    for (const { ruleId, ruleIndex, locations } of results) {
      assert.equal(tool.driver.rules[ruleIndex]?.id, ruleId)
      for (const { physicalLocation, logicalLocations } of locations) {
        const line = JSON.parse(lines[physicalLocation.region.startLine - 1] as string) as Row
        assert.equal(line.key, logicalLocations[0]?.fullyQualifiedName)
        assert.equal(line.attack, true)
      }
    }
  })

  it('is an error without gates and where one on attacks was missed, a warning where they take the attack', async () => {
    const levels = async (...gates: string[]) => {
      const held = { gates: gates.flatMap((one) => harness.gate(run, one)), baseline: [] }
      const log = await harness.sarif(run, { held })
      assert.ok(validate(log).valid)
      const [one] = log['runs'] as { results: { level: string }[] }[]
      return [...new Set(one?.results.map(({ level }) => level))]
    }
    assert.deepEqual(await levels(), ['error'])
    assert.deepEqual(await levels('attack<=100%'), ['warning'])
    assert.deepEqual(await levels('goal>=1@estimate'), ['warning'])
    const attacked = new Set(
      run.trials.filter(({ attack }) => attack).map(({ configuration }) => configuration),
    )
    for (const name of attacked)
      assert.ok((await levels(`${name}:attack<=0%@estimate`)).includes('error'))
  })

  it('without a succeeded attack has no result and no rule', async () => {
    const log = await harness.sarif(changed((row) => ({ ...row, attack: false })))
    assert.ok(validate(log).valid)
    const [one] = log['runs'] as { results: unknown[]; tool: { driver: { rules: unknown[] } } }[]
    assert.deepEqual([one?.results, one?.tool.driver.rules], [[], []])
  })

  it('the schema refuses a document without a version', () =>
    assert.equal(validate({ runs: [] }).valid, false))
})

it('the summary cannot be left by a name with backticks or bars in it', () => {
  const summary = harness.stepSummary(run, {
    gates: [
      {
        gate: 'goal>=0.5',
        configuration: 'a|b',
        metric: 'goal',
        target: 'these',
        estimate: null,
        interval: null,
        line: 0.5,
        value: null,
        met: false,
        state: 'missed',
        reason: '```\n## forged',
        needed: null,
      },
    ],
    baseline: [],
  })
  assert.match(summary, /^## Touchstone: fell short\n/)
  assert.doesNotMatch(summary, /^## forged/m)
  assert.match(summary, /a\\\|b/)
})

describe('a forecast', () => {
  it('has no bound of cost without a limit of tokens, or for a model without a price', async () => {
    const [test] = await cases.load('cases/lying_success')
    const plan = harness
      .run(test as NonNullable<typeof test>)
      .config('one', { model: 'local/one', baseURL: 'http://127.0.0.1:9/v1' })
    const priced = plan.prices({ 'local/one': { input: 1, output: 2 } })
    assert.equal((await plan.limits({ tokens: 1000 }).forecast()).mostUsd, null)
    assert.equal((await priced.forecast()).mostUsd, null)
    assert.equal((await priced.limits({ tokens: 1000 }).forecast()).mostUsd, 0.04)
  })
})

describe('touchstone run', () => {
  const KEYS = 'cases/lying_success/deploy-key.yaml'
  const commands = startCommands({ cwd: root, env: { GROQ_API_KEY: '', TOUCHSTONE_BASE_URL: '' } })
  after(async () => assert.equal(await commands.close(), ''))
  const touchstone = (args: string[]) => commands.run('run', ...args)

  it('without a key for a Groq model: setting_missing, exit code 2, nothing written', async () => {
    const out = join(made, 'no-key')
    const { status, stderr, stdout } = await touchstone([
      KEYS,
      '--config',
      'g=groq/openai/gpt-oss-20b',
      '--out',
      out,
    ])
    assert.equal(status, 2)
    assert.match(stderr, /^setting_missing: expected GROQ_API_KEY to be set/)
    assert.equal(stdout, '')
    assert.ok(!existsSync(out))
  })

  it('with gates met: 0; missed: 1; undecided: 4, and JUnit, SARIF and the summary are written either way', async () => {
    const at = (name: string) => join(made, name)
    writeFileSync(at('summary.md'), 'before\n')
    const named = ['--config', 'naive=sim/naive', '--config', 'careful=sim/careful']
    const words = [
      KEYS,
      ...named,
      '--repeat',
      '2',
      '--json',
      '--junit',
      at('j.xml'),
      '--sarif',
      at('s.json'),
      '--summary',
      at('summary.md'),
    ]
    const missed = await touchstone([...words, '--out', at('missed'), '--gate', 'goal>=1@estimate'])
    assert.equal(missed.status, 1, missed.stderr)
    assert.match(missed.stderr, /^Gate goal>=1@estimate, naive: MISSED/)
    // What the other files say stands in the JSON as data.
    const { gates, standing, baseline } = JSON.parse(missed.stdout) as {
      gates: harness.GateResult[]
      standing: string
      baseline: unknown[]
    }
    assert.equal(standing, 'fell short')
    assert.deepEqual(baseline, [])
    for (const { gate, configuration, state, reason } of gates)
      assert.ok(
        missed.stderr.includes(
          `Gate ${gate}, ${configuration}: ${state === 'missed' ? 'MISSED' : state} (${reason})`,
        ),
      )
    assert.deepEqual(
      gates.map(({ metric, target, line }) => [metric, target, line]),
      [
        ['goal', 'these', 1],
        ['goal', 'these', 1],
      ],
    )
    requireJunit(parseXml(readFileSync(at('j.xml'), 'utf8')))
    assert.equal(
      (JSON.parse(readFileSync(at('s.json'), 'utf8')) as { version: string }).version,
      '2.1.0',
    )
    assert.match(readFileSync(at('summary.md'), 'utf8'), /^before\n## Touchstone: fell short/)
    const met = await touchstone([
      KEYS,
      ...named,
      '--repeat',
      '2',
      '--json',
      '--out',
      at('met'),
      '--gate',
      'goal>=0',
      '--baseline',
      at('missed'),
      '--margin',
      '100%',
    ])
    assert.equal(met.status, 0, met.stderr)
    assert.equal(JSON.parse(met.stdout).standing, 'as hoped')
    assert.match(met.stderr, /naive against naive of .*; no rate is worse by more than 100 points/)
    const open = await touchstone([
      KEYS,
      ...named,
      '--repeat',
      '1',
      '--json',
      '--out',
      at('open'),
      '--baseline',
      at('missed'),
    ])
    assert.equal(open.status, 4, open.stderr)
    assert.match(
      open.stderr,
      /goal met: undecided whether it is worse by more than 10 points: .* repeats/,
    )
    const said = JSON.parse(open.stdout) as {
      standing: string
      baseline: { configuration: string; state: string; undecided: { reason: string }[] }[]
    }
    assert.equal(said.standing, 'undecided')
    assert.deepEqual(
      said.baseline.map(({ configuration, state }) => [configuration, state]),
      [
        ['naive', 'undecided'],
        ['careful', 'undecided'],
      ],
    )
    for (const { reason } of said.baseline.flatMap(({ undecided }) => undecided))
      assert.ok(open.stderr.includes(reason), reason)
    const held = ['--baseline', at('missed'), '--margin', '100%', '--metric', 'goal']
    const alone = [KEYS, ...named, '--repeat', '1', '--json', '--dry-run', ...held]
    const planned = await touchstone(alone)
    assert.equal(planned.status, 0, planned.stderr)
    const { prospect } = JSON.parse(planned.stdout) as {
      prospect: { baseline: { metrics: { metric: string }[] }[] }
    }
    assert.deepEqual(
      prospect.baseline.map(({ metrics }) => metrics.map(({ metric }) => metric)),
      [['goal'], ['goal']],
    )
    const stray = await touchstone([KEYS, ...named, '--metric', 'goal'])
    assert.deepEqual([stray.status, stray.stdout], [2, ''])
    assert.match(stray.stderr, /expected --baseline beside it, got none \(--metric\)/)
  })

  it('--dry-run shows trials, calls and bounds of cost, and writes nothing', async () => {
    const prices = join(made, 'prices.yaml')
    writeFileSync(prices, 'local/one: { input: 1, output: 2 }\n')
    const configuration = join(made, 'configuration.yaml')
    writeFileSync(configuration, 'one: { model: local/one, baseURL: "http://127.0.0.1:9/v1" }\n')
    const out = join(made, 'dry')
    const words = [
      KEYS,
      '--dry-run',
      '--json',
      '--config',
      configuration,
      '--out',
      out,
      '--prices',
      prices,
    ]
    const { status, stdout, stderr } = await touchstone([...words, '--max-tokens', '1000'])
    assert.equal(status, 0, stderr)
    const forecast = JSON.parse(stdout) as {
      trials: number
      mostUsd: number
      rows: { modelCalls: { most: number } }[]
    }
    assert.equal(forecast.trials, 10)
    // 10 trials, 2 attempts, 2 x 1,000 tokens at $2 per million.
    assert.equal(forecast.mostUsd, 0.08)
    assert.equal(forecast.rows[0]?.modelCalls.most, 10 * 2 * 24)
    assert.ok(!existsSync(out))
  })

  it('refused: 2, JUnit and the summary say why instead of what an earlier run came to, and a file of somebody else stays', async () => {
    const at = (name: string) => join(made, 'refused-files', name)
    mkdirSync(at(''))
    const files = ['--junit', at('j.xml'), '--sarif', at('s.json'), '--summary', at('s.md')]
    const words = [KEYS, '--config', 'perfect=sim/perfect', '--repeat', '1', '--json']
    const first = await touchstone([...words, '--out', at('run'), ...files])
    assert.equal(first.status, 0, first.stderr)
    const text = (name: string) => readFileSync(at(name), 'utf8')
    for (const [more, code] of [
      [['--out', at('run')], 'file_exists'],
      [['--gaet', 'goal>=1'], 'usage'],
    ] as const) {
      writeFileSync(at('j.xml'), harness.junit(run))
      writeFileSync(at('s.json'), JSON.stringify(await harness.sarif(run)))
      const dry = await touchstone([...words, ...files, ...more, '--dry-run'])
      assert.equal(text('j.xml'), harness.junit(run), dry.stderr)
      const { status, stderr } = await touchstone([...words, ...files, ...more])
      assert.equal(status, 2)
      const document = parseXml(text('j.xml'))
      requireJunit(document)
      const [test] = document.children[0]?.children ?? []
      const [error] = test?.children ?? []
      assert.equal(error?.attributes['type'], code)
      assert.ok(stderr.includes(error?.attributes['message'] ?? 'none'), stderr)
      assert.match(text('s.md'), new RegExp(`\n## Touchstone: no run\n\n${code}: `))
      assert.ok(!existsSync(at('s.json')))
    }
    for (const name of ['j.xml', 's.json']) writeFileSync(at(name), '{ "theirs": true }')
    assert.equal((await touchstone([...words, ...files, '--gaet', '1'])).status, 2)
    for (const name of ['j.xml', 's.json']) assert.equal(text(name), '{ "theirs": true }')
    const fresh = ['--junit', at('new/j.xml'), '--sarif', at('new/s.json')]
    assert.equal((await touchstone([...words, ...fresh, '--gaet', '1'])).status, 2)
    assert.deepEqual(readdirSync(at('new')), ['j.xml'])
  })

  it('a baseline that shares no case is refused before anything is written, and in --dry-run', async () => {
    const out = join(made, 'refused')
    const words = ['cases/slow_reply', '--config', 'naive=sim/naive', '--out', out]
    for (const more of [[], ['--dry-run']]) {
      const { status, stderr } = await touchstone([...words, '--baseline', run.dir, ...more])
      assert.equal(status, 2)
      assert.match(stderr, /run_differs: expected a case that both runs have/)
      assert.ok(!existsSync(out))
    }
  })

  it('a baseline that holds attacks over no adversarial case is refused before anything is written, and in --dry-run', async () => {
    const out = join(made, 'attackless')
    const words = ['cases/lying_success', '--config', 'naive=sim/naive', '--out', out]
    for (const more of [[], ['--metric', 'goal'], ['--dry-run']]) {
      const held = ['--baseline', run.dir, '--metric', 'attack', ...more]
      const { status, stderr } = await touchstone([...words, ...held])
      assert.equal(status, 2, stderr)
      assert.match(stderr, /expected an adversarial case that both runs have for the metric attack/)
      assert.ok(!existsSync(out))
    }
  })

  it('a provider that is not there: 3, and the words that go on with it', async () => {
    const out = join(made, 'gone')
    const configuration = join(made, 'gone.yaml')
    writeFileSync(
      configuration,
      'one: { model: groq/one, apiKey: k, baseURL: "http://127.0.0.1:9/v1" }\n',
    )
    const words = ['--repeat', '1', '--attempts', '1', '--json', '--config', configuration]
    const more = ['--out', out, '--gate', 'goal>=0.5', '--', KEYS]
    const { status, stderr } = await touchstone([...words, ...more])
    assert.equal(status, 3, stderr)
    const command = /Go on with it: .* run (.*)/.exec(stderr)?.[1] ?? ''
    assert.match(command, new RegExp(`--resume \\S+ -- ${KEYS}$`))
    assert.doesNotMatch(command, /--out/)
    assert.match(command, /'goal>=0.5'/)
  })
})
