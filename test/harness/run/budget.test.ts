/** What a run may cost: trials at work are counted before they end. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Budget } from '../../../lib/harness/run/budget.ts'
import fc from '../../property.ts'

describe('a budget', () => {
  const { signal } = new AbortController()
  /** Run trials of these costs, `width` at once, ending in an order of their own; what was spent, and the most at once. */
  async function spend(costs: number[], cap: number | null, width: number, order: number[]) {
    const budget = new Budget(cap, 0)
    const ending: { cost: number; end: () => void }[] = []
    let [begun, most] = [0, 0]
    const one = async () => {
      while (begun < costs.length) {
        const cost = costs[begun++] as number
        const reserve = await budget.admit('a', signal)
        if (reserve === null) return
        await new Promise<void>((end) => {
          ending.push({ cost, end })
          most = Math.max(most, ending.length)
        })
        budget.settle(reserve, cost)
      }
    }
    const all = Promise.all(Array.from({ length: width }, one))
    let over = false
    all.then(() => {
      over = true
    })
    for (let i = 0; !over; i++) {
      await new Promise(setImmediate)
      const at = ending.length === 0 ? -1 : (order[i % order.length] as number) % ending.length
      if (at >= 0) ending.splice(at, 1)[0]?.end()
    }
    return { spent: budget.spentUsd, most }
  }

  it('is passed by one trial at most, whatever trials cost, however many are at work and in whichever order they end', () =>
    fc.assert(
      fc.asyncProperty(
        fc.record({
          // Of one configuration: what a trial costs is at most twice what its first one did.
          costs: fc.array(fc.integer({ min: 50, max: 100 }), { minLength: 1, maxLength: 40 }),
          cap: fc.integer({ min: 1, max: 3000 }),
          width: fc.integer({ min: 1, max: 30 }),
          order: fc.array(fc.nat(50), { minLength: 1, maxLength: 20 }),
        }),
        async ({ costs, cap, width, order }) => {
          const whole = [100, ...costs]
          const { spent } = await spend(whole, cap, width, order)
          assert.ok(spent <= cap + 100, `${spent} of ${cap}`)
          const all = whole.reduce((sum, one) => sum + one, 0)
          if (all < cap) assert.equal(spent, all, 'what fits is run')
        },
      ),
    ))

  it('lets the first trial of a configuration run alone, and then as many as fit', async () => {
    const { most, spent } = await spend(Array(20).fill(10), 100, 20, [0])
    assert.equal(most, 9)
    assert.equal(spent, 100)
  })

  it('without a limit lets in all at once', async () => {
    assert.equal((await spend(Array(20).fill(10), null, 20, [0])).most, 20)
  })

  it('lets nothing in once the signal has aborted, also what waits', async () => {
    const budget = new Budget(10, 0)
    const stop = new AbortController()
    const first = await budget.admit('a', stop.signal)
    const second = budget.admit('a', stop.signal)
    stop.abort()
    assert.ok(first)
    budget.settle(first, 1)
    assert.equal(await second, null)
    assert.equal(await budget.admit('a', stop.signal), null)
  })
})
