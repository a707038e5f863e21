/** Pictures of runs of many cases: two screens at most, and a word on how to see more. */
import assert from 'node:assert/strict'
import { before, describe, it } from 'node:test'
import { cases, harness } from '../../../lib/index.ts'

/** Lines of two screens of a terminal. */
const TWO_SCREENS = 48

describe('a picture of a run of many cases', () => {
  let small: harness.Run
  before(async () => {
    small = await harness
      .run((await cases.load('cases/lying_success')).slice(0, 2))
      .config('naive', { model: 'sim/naive' })
      .config('careful', { model: 'sim/careful' })
      .repeat(3)
      .out(null)
      .quiet()
  })

  /** A run of so many cases in kinds of four; in each of the first few, one trial has another goal. */
  const grown = (n: number, marred: number, goal = true) => {
    const { dir, manifest, trials } = small
    const [first] = manifest.cases
    assert.ok(first)
    const ids = Array.from({ length: n }, (_, i) => `kind_${Math.floor(i / 4)}/case-${i}`)
    const rows = trials.filter((row) => row.case === first.id)
    return new harness.Run({
      dir,
      manifest: {
        ...manifest,
        planned: rows.length * n,
        cases: ids.map((id) => ({ ...first, id, kind: id.split('/')[0] as string, twin: null })),
      },
      trials: ids.flatMap((id, i) =>
        rows.map((row) => ({
          ...row,
          case: id,
          key: `${id}|${row.configuration}|${row.trial}`,
          outcome: 'pass' as const,
          goal: i < marred && row.configuration === 'naive' && row.trial === 1 ? !goal : goal,
        })),
      ),
    })
  }

  /** A run of one case with so many repeats. */
  const repeated = (n: number) => {
    const { dir, manifest, trials } = small
    const [first] = manifest.cases
    assert.ok(first)
    const kept = trials.filter((row) => row.case === first.id && row.trial === 0)
    return new harness.Run({
      dir,
      manifest: { ...manifest, repeats: n, planned: 2 * n, cases: [{ ...first, twin: null }] },
      trials: Array.from({ length: n }, (_, trial) =>
        kept.map((row) => ({ ...row, trial, key: `${row.case}|${row.configuration}|${trial}` })),
      ).flat(),
    })
  }

  const KINDS = [
    'strip',
    'heat',
    'slope',
    'forest',
    'levels',
    'ecdf',
    'reliability',
    'noise',
  ] as const
  for (const [n, marred] of [
    [37, 0],
    [80, 9],
    [80, 40],
    [400, 390],
  ] as const)
    it(`of ${n} cases, ${marred} of them not good throughout, takes two screens at most`, async () => {
      const run = grown(n, marred)
      for (const kind of KINDS) {
        const drawn = await run.plot(kind)
        const text = drawn.text({ width: 100 })
        assert.ok(text.split('\n').length <= TWO_SCREENS, `${kind}: ${text}`)
        if (kind === 'heat' || kind === 'forest') assert.match(text, /\{ kind \} draws/)
        const [, height = '0'] = /height="(\d+)/.exec(await drawn.svg()) ?? []
        assert.ok(Number(height) <= 1800, `${kind} is ${height} px high`)
      }
    })

  it('of some cases that are not good throughout shows these, a panel a kind, and counts the others', async () => {
    const drawn = await grown(80, 9).plot('heat')
    assert.deepEqual(
      [...new Set(drawn.rows.map((row) => (row as { case: string }).case))].length,
      9,
    )
    const { concat, columns } = drawn.spec as { concat?: unknown[]; columns?: number }
    assert.deepEqual([concat?.length, columns], [3, 3])
    assert.match(
      drawn.notes.join(' '),
      /9 of 80 cases, by kind\. The others are left out: in them each trial is goal met\./,
    )
  })

  it('of cases that are all good says so, and leaves none of their kinds out', async () => {
    const drawn = await grown(80, 0).plot('heat')
    assert.equal(drawn.rows.length, 2 * 20)
    assert.match(drawn.notes.join(' '), /80 cases by kind: in all of them each trial is goal met\./)
  })

  it('of many repeats draws no dot for each, and says so', async () => {
    const [dots, crowded] = await Promise.all(
      [repeated(20), repeated(2000)].map((run) => run.plot('strip')),
    )
    assert.match(dots?.notes.join(' ') ?? '', /Dot: one repeat/)
    assert.match(crowded?.notes.join(' ') ?? '', /Repeats are too many for a dot each\./)
    assert.match(crowded?.text() ?? '', /2,000 repeats each/)
    const [, height = '0'] = /height="(\d+)/.exec((await crowded?.svg()) ?? '') ?? []
    assert.ok(Number(height) < 400, height)
  })

  it('of few cases shows each of them', async () => {
    const drawn = await grown(36, 3).plot('heat')
    assert.equal(drawn.rows.length, 2 * 36)
    assert.doesNotMatch(drawn.notes.join(' '), /left out/)
  })
})
