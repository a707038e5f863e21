/** Charts of what had better not happen have colours, signs and words the other way round. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { chart } from '../../../lib/index.ts'

const text = (one: { spec: unknown }) => JSON.stringify(one.spec)

describe('a metric where lower is better', () => {
  const rows = [
    { case: 'x', configuration: 'a', passes: 5, trials: 5 },
    { case: 'y', configuration: 'a', passes: 0, trials: 5 },
  ]

  it('has the good colour at zero in a heat map, and its own noun', () => {
    const range = (better: 'higher' | 'lower') =>
      /"domain":\[0,1\],"range":(\[[^\]]*\])/.exec(text(chart.heat(rows, { better })))?.[1] ?? ''
    assert.deepEqual(JSON.parse(range('lower')), JSON.parse(range('higher')).toReversed())
    const heat = chart.heat(rows, { metric: 'attack succeeded', better: 'lower' })
    assert.equal(
      heat.notes[0],
      '2 cases, 1 configuration. Digit: in how many of 5 trials: attack succeeded. Lower is better.',
    )
    assert.doesNotMatch(heat.text(), /passes/)
  })

  it('is green at none and red at all in a terminal, and stands best first', () => {
    const shown = chart.heat(rows, { better: 'lower' }).text({ colors: true })
    assert.match(shown, /y +\u001b\[32m0/)
    assert.match(shown, /x +\u001b\[31m5/)
    assert.ok(shown.indexOf('y ') < shown.indexOf('x '))
  })

  it('counts a fall as better in a slope, in a table of transitions, and in a forest', () => {
    const pair = (n: number) =>
      Array.from({ length: n }, (_, i) => ({ case: `c${i}`, a: 1, b: i === 0 ? 1 : 0 }))
    for (const n of [3, 30]) {
      const lower = chart.slope(pair(n), { better: 'lower' })
      assert.match(lower.notes[0] ?? '', new RegExp(`${n - 1} better, 0 worse, 1 the same`))
      assert.match(chart.slope(pair(n)).notes[0] ?? '', new RegExp(`0 better, ${n - 1} worse`))
      assert.match(text(lower), /"turn":"better"/)
    }
    const forest = (better: 'higher' | 'lower') =>
      chart.forest(
        [
          { case: 'up', difference: 0.5 },
          { case: 'down', difference: -0.5 },
        ],
        { better },
      )
    const upFirst = (shown: string) => shown.indexOf('\nup ') < shown.indexOf('\ndown ')
    assert.deepEqual(
      [upFirst(forest('higher').text()), upFirst(forest('lower').text())],
      [true, false],
    )
    assert.match(forest('lower').notes[0] ?? '', /Left of zero is better/)
  })
})
