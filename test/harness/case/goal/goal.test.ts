/** Goals: what of the end of a trial they ask. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { type Ending, goalMet } from '../../../../lib/harness/case/goal/goal.ts'
import type { State } from '../../../../lib/world/world.ts'

const ending = (start: State, state: State): Ending => {
  const end = { start, state, changes: [] }
  return {
    ends: { files: end },
    end,
    claims: [],
    overclaims: 0,
    underclaims: 0,
    reported: true,
    refused: false,
    vague: false,
    arguments: [],
    calls: [],
  }
}
const row = { id: 1 }

describe('unchanged', () => {
  it('is missed by a table that was not there at the start, and by one that is gone', async () => {
    const met = (start: State, state: State) => goalMet([{ unchanged: true }], ending(start, state))
    assert.equal(await met({ files: [row] }, { files: [row] }), true)
    assert.equal(await met({ files: [row] }, { files: [row], more: [row] }), false)
    assert.equal(await met({ files: [row] }, {}), false)
  })
})
