/** From rows to numbers: what is in a rate, what is beside it, and what never enters. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import {
  compareAll,
  compareMeasure,
  compareMetric,
  familyOfCases,
  type Manifest,
  rowsOf,
  scoresByCase,
  summarise,
  type TrialRecord,
  trialKey,
} from '../../../lib/log/index.ts'

const manifest = (cases: number, repeats: number): Manifest =>
  ({
    schema: 'touchstone.manifest.v0',
    id: 'r',
    created_at: '2026-01-01T00:00:00Z',
    set: null,
    seed: 1,
    repeats,
    planned: cases * 2 * repeats,
    cases: Array.from({ length: cases }, (_, i) => ({
      id: `c${i}`,
      digest: 'sha256:0',
      title: `Case ${i}`,
      kind: 'k',
      twin: null,
      adversarial: i % 2 === 0,
    })),
    configurations: ['a', 'b'].map((name) => ({
      name,
      digest: 'sha256:1',
      model: 'sim/x',
      simulated: true,
      settings: {},
    })),
    left_out: [],
    limits: { steps: 1, trial_timeout_ms: 1, call_timeout_ms: 1, attempts: 1 },
    versions: {},
    environment: { platform: 'x', arch: 'y', cpus: 1 },
  }) as unknown as Manifest

const row = (
  test: string,
  configuration: string,
  trial: number,
  more: Partial<TrialRecord> = {},
): TrialRecord =>
  ({
    schema: 'touchstone.trial.v0',
    key: trialKey(test, configuration, trial),
    case: test,
    configuration,
    trial,
    attempt: 0,
    seed: 's',
    started_at: '2026-01-01T00:00:00Z',
    duration_ms: 10,
    outcome: 'pass',
    error: null,
    goal: true,
    attack: null,
    overclaims: 0,
    underclaims: 0,
    unneeded: 0,
    refused: false,
    reported: true,
    claims_from: 'report',
    claims: [],
    ending: 'finished',
    exposed: { attack: null, fault: null },
    malformed: 0,
    levels: { asserted: 1, observed_confirmed: 0, verified: 2 },
    steps: 1,
    calls: 3,
    tokens: null,
    cost_usd: null,
    start_digest: null,
    end_digest: null,
    digests: { decisions: null, audit: null, transcript: null },
    ...more,
  }) as TrialRecord

describe('summarise', () => {
  it('a rate is the mean over cases of case means: a case with more trials weighs no more', () => {
    const rows = [
      row('c0', 'a', 0),
      row('c0', 'a', 1),
      row('c0', 'a', 2),
      row('c1', 'a', 0, { goal: false, outcome: 'fail' }),
    ]
    assert.equal(summarise(manifest(2, 3), rowsOf(rows))[0]?.rates.goal.estimate, 0.5)
  })

  it('an error is in no rate; it is counted, and the bounds say what it could have made of it', () => {
    const rows = [
      row('c0', 'a', 0),
      row('c0', 'a', 1, { outcome: 'error', goal: null }),
      row('c1', 'a', 0, { goal: false, outcome: 'fail' }),
      row('c1', 'a', 1),
    ]
    const [a] = summarise(manifest(2, 2), rowsOf(rows))
    assert.equal(a?.errors, 1)
    assert.equal(a?.trials, 3)
    assert.equal(a?.rates.goal.estimate, 0.75)
    assert.deepEqual([a?.rates.goal.bounds?.worst, a?.rates.goal.bounds?.best], [0.5, 0.75])
  })

  it('an earlier attempt whose agent had acted, or may have, is in the bounds of each rate, and no other is', () => {
    const levels = { asserted: 0, observed_confirmed: 0, verified: 0 }
    const world = { start_digest: 'sha256:1' as const, end_digest: 'sha256:1' as const, levels }
    const rows = [
      row('c0', 'a', 0, { attempt: 1, attack: false }),
      row('c0', 'a', 1, { attack: true, outcome: 'fail' }),
    ]
    const bounds = (more: object) => {
      const error = { code: 'provider_failed', message: '' }
      const undone = { calls: 0, malformed: 0, reported: false }
      const idle = { outcome: 'error', error, ...undone, ...world } as const
      const lost = row('c0', 'a', 0, { ...idle, ...more })
      const [a] = summarise(manifest(1, 2), rowsOf(rows, [lost]))
      const { attack, goal } = a?.rates ?? {}
      assert.equal(a?.lost.attempts, 1)
      assert.deepEqual([goal?.estimate, attack?.estimate], [1, 0.5])
      return [
        [a?.lost.acted, a?.lost.changed],
        [goal?.bounds?.worst, goal?.bounds?.best],
        [attack?.bounds?.worst, attack?.bounds?.best],
      ]
    }
    const none = [
      [0, 0],
      [undefined, undefined],
      [undefined, undefined],
    ]
    const open = [
      [0.5, 1],
      [0.5, 1],
    ]
    const some = [[1, 1], ...open]
    const acted = [[1, 0], ...open]
    assert.deepEqual(bounds({}), none)
    assert.deepEqual(bounds({ end_digest: 'sha256:2' }), some)
    // Done and undone: the end is the start, and a tool said that it changed something.
    assert.deepEqual(bounds({ levels: { ...levels, verified: 2 } }), some)
    // Where nobody sees the state, any call may have changed it.
    assert.deepEqual(bounds({ start_digest: null, end_digest: null, calls: 1 }), some)
    assert.deepEqual(bounds({ start_digest: null, end_digest: null, calls: 0 }), none)
    // What it looked at, tried, or asked the user for may tell it how the trial will end.
    assert.deepEqual(bounds({ calls: 1 }), acted)
    assert.deepEqual(bounds({ malformed: 1 }), acted)
    assert.deepEqual(bounds({ reported: true }), acted)
    assert.deepEqual(bounds({ user: { turns: 1, tokens: null, cost_usd: null } }), acted)
    assert.deepEqual(bounds({ user: { turns: 0, tokens: null, cost_usd: null } }), none)
    assert.deepEqual(bounds({ error: { code: 'worker_lost', message: '' } }), acted)
  })

  it('without an error there are no bounds to show', () => {
    assert.equal(summarise(manifest(1, 1), rowsOf([row('c0', 'a', 0)]))[0]?.rates.goal.bounds, null)
  })

  it('attacks are counted over adversarial cases only', () => {
    const rows = [row('c0', 'a', 0, { attack: true, outcome: 'fail' }), row('c1', 'a', 0)]
    const attack = summarise(manifest(2, 1), rowsOf(rows))[0]?.rates.attack
    assert.deepEqual([attack?.estimate, attack?.cases], [1, 1])
  })

  it('a configuration without a trial has rates that are undefined, not 0', () => {
    const b = summarise(manifest(2, 1), rowsOf([row('c0', 'a', 0)]))[1]
    assert.ok(Number.isNaN(b?.rates.goal.estimate))
    assert.ok(Number.isNaN(b?.duration_ms.median))
    assert.equal(b?.unrun, 2)
  })

  it('levels are summed over the trials that count', () => {
    const rows = [row('c0', 'a', 0), row('c0', 'a', 1, { outcome: 'error', goal: null })]
    assert.deepEqual(summarise(manifest(1, 2), rowsOf(rows))[0]?.levels, {
      asserted: 1,
      observed_confirmed: 0,
      verified: 2,
    })
  })

  it('a cost that is unknown for one trial is unknown for the configuration', () => {
    const rows = [row('c0', 'a', 0, { cost_usd: 0.1 }), row('c0', 'a', 1)]
    assert.equal(summarise(manifest(1, 2), rowsOf(rows))[0]?.cost_usd, null)
    assert.equal(summarise(manifest(1, 1), rowsOf(rows.slice(0, 1)))[0]?.cost_usd, 0.1)
  })

  it('the means of the repeats are what single runs would have shown', () => {
    const rows = [
      row('c0', 'a', 0),
      row('c1', 'a', 0, { goal: false, outcome: 'fail' }),
      row('c0', 'a', 1),
      row('c1', 'a', 1),
    ]
    assert.deepEqual(summarise(manifest(2, 2), rowsOf(rows))[0]?.rates.goal.repeats, [0.5, 1])
  })
})

describe('comparing', () => {
  const cases = 10
  const rows = Array.from({ length: cases }, (_, i) =>
    [0, 1, 2, 3, 4].flatMap((trial) => [
      row(`c${i}`, 'a', trial, { goal: trial < 1, outcome: trial < 1 ? 'pass' : 'fail' }),
      row(`c${i}`, 'b', trial, { goal: trial < 4, outcome: 'fail' }),
    ]),
  ).flat()

  it('b with 80% is better than a with 20% in every case, and a is worse than b', () => {
    assert.equal(compareMetric(manifest(cases, 5), rowsOf(rows), 'a', 'b').verdict, 'better')
    assert.equal(compareMetric(manifest(cases, 5), rowsOf(rows), 'b', 'a').verdict, 'worse')
  })

  it('a metric for which lower is better turns the verdict, not the difference', () => {
    const over = rows.map((one) => ({ ...one, overclaims: one.goal ? 1 : 0 }))
    const compared = compareMetric(manifest(cases, 5), rowsOf(over), 'a', 'b', {
      metric: 'overclaim',
    })
    assert.equal(compared.verdict, 'worse')
    assert.ok(Math.abs(compared.difference - 0.6) < 1e-12)
  })

  it('one metric is primary; the others are held to Holm, and all are counted', () => {
    const all = compareAll(manifest(cases, 5), rowsOf(rows), 'a', 'b')
    assert.equal(all.primary.metric, 'goal')
    assert.ok(!all.others.some(({ metric }) => metric === 'goal'))
    assert.equal(all.count, all.others.length + 2)
    assert.ok(!(all.levels.pAdjusted < all.levels.p))
    for (const other of all.others) assert.ok(!(other.pAdjusted < other.pDecisive))
  })

  it('for these cases the others are held to the exact test within cases, not to one over cases', () => {
    // One case of ten moves, and moves from 0 of 20 to 20 of 20: plain on these cases, nothing for cases like these.
    const few = Array.from({ length: cases }, (_, i) =>
      Array.from({ length: 20 }, (_, trial) => [
        row(`c${i}`, 'a', trial, { overclaims: i === 0 ? 1 : 0 }),
        row(`c${i}`, 'b', trial, { overclaims: 0 }),
      ]).flat(),
    ).flat()
    const overclaim = (target: 'these' | 'like these') =>
      compareAll(manifest(cases, 20), rowsOf(few), 'a', 'b', { target }).others.find(
        (one) => one.metric === 'overclaim',
      )
    assert.equal(overclaim('these')?.verdict, 'better')
    assert.ok((overclaim('these')?.pAdjusted ?? 1) < 1e-6)
    assert.equal(overclaim('like these')?.verdict, 'cannot tell')
  })

  it('where every case differs by the same, the exact test decides: an undefined one strikes no verdict', () => {
    const always = Array.from({ length: 23 }, (_, i) =>
      Array.from({ length: 5 }, (_, trial) => [
        row(`c${i}`, 'a', trial, { overclaims: 0 }),
        row(`c${i}`, 'b', trial, { overclaims: 1 }),
      ]).flat(),
    ).flat()
    for (const target of ['these', 'like these'] as const) {
      const { others } = compareAll(manifest(23, 5), rowsOf(always), 'a', 'b', { target })
      const overclaim = others.find(({ metric }) => metric === 'overclaim')
      assert.equal(overclaim?.verdict, 'worse', target)
      assert.ok((overclaim?.pAdjusted ?? 1) < 2e-4)
      for (const { metric, pAdjusted } of others)
        assert.ok(pAdjusted <= 1, `${metric}: ${pAdjusted}`)
    }
  })

  it('levels are compared as an ordinal outcome over the calls of each case', () => {
    const higher = rows.map((one) => ({
      ...one,
      levels:
        one.configuration === 'b'
          ? { asserted: 0, observed_confirmed: 0, verified: 1 }
          : { asserted: 1, observed_confirmed: 0, verified: 0 },
    }))
    const { levels } = compareAll(manifest(cases, 5), rowsOf(higher), 'a', 'b')
    assert.equal(levels.superiority, 1)
    assert.ok(levels.p < 0.01)
    assert.equal(compareAll(manifest(cases, 5), rowsOf(rows), 'a', 'b').levels.superiority, 0.5)
  })

  it('time is compared by case medians, and a measure that no trial has is undefined, not 0', () => {
    const slower = rows.map((one) => ({ ...one, duration_ms: one.configuration === 'b' ? 30 : 10 }))
    assert.equal(
      compareMeasure(manifest(cases, 5), rowsOf(slower), 'a', 'b', 'duration_ms').difference,
      20,
    )
    assert.ok(
      Number.isNaN(
        compareMeasure(manifest(cases, 5), rowsOf(slower), 'a', 'b', 'tokens').difference,
      ),
    )
  })

  it('a case and its twin are one family, a case that names one is in it, and another stands alone', () => {
    const plain = manifest(5, 1)
    const cases = plain.cases.map((one, i) => ({
      ...one,
      ...(i === 0 && { twin: 'c1' }),
      ...(i > 2 && { family: 'variants' }),
    }))
    const kin = familyOfCases({ ...plain, cases })
    assert.equal(kin.get('c0'), kin.get('c1'))
    assert.equal(kin.get('c3'), kin.get('c4'))
    assert.equal(new Set(kin.values()).size, 3)
    const compared = compareMetric({ ...plain, cases }, rowsOf(rows), 'a', 'b')
    assert.deepEqual([compared.cases, compared.families], [5, 3])
  })

  it('an unknown configuration or metric is said by name', () => {
    const code = (expected: string) => (error: unknown) =>
      (error as { code?: string }).code === expected
    assert.throws(
      () => compareMetric(manifest(1, 1), rowsOf([]), 'a', 'z'),
      code('configuration_unknown'),
    )
    assert.throws(
      () => compareMetric(manifest(1, 1), rowsOf([]), 'a', 'b', { metric: 'luck' as never }),
      code('argument_invalid'),
    )
  })

  it('scores keep the order of the manifest, and a case without trials is an empty one, not a missing one', () => {
    assert.deepEqual(scoresByCase(rowsOf([row('c1', 'a', 0)]), manifest(2, 1), 'a', 'goal'), [
      {
        case: 'c0',
        scores: [],
        missing: 0,
        absent: 0,
        shaken: [],
        unjudged: 0,
        oneSided: [],
        read: [],
      },
      {
        case: 'c1',
        scores: [1],
        missing: 0,
        absent: 0,
        shaken: [],
        unjudged: 0,
        oneSided: [],
        read: [],
      },
    ])
  })
})
