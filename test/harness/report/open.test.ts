/** A run read back: its records are held against the evidence beside them before they give a number. */
import assert from 'node:assert/strict'
import { cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { before, describe, it } from 'node:test'
import { cases, harness, receipt } from '../../../lib/index.ts'
import { temporaryFolder } from '../../temporary.ts'

const made = temporaryFolder('open')

type Row = harness.Run['trials'][number]
let whole: harness.Run
let lying: Awaited<ReturnType<typeof cases.load>>
const plan = () =>
  harness
    .run(lying)
    .config('naive', { model: 'sim/naive' })
    .config('careful', { model: 'sim/careful' })
    .repeat(2)
    .quiet()
before(async () => {
  lying = await cases.load('cases/lying_success')
  whole = await plan().out(join(made, 'whole'))
})

/** A copy of the run with its records changed. */
function altered(name: string, change: (row: Row) => unknown): string {
  const dir = join(made, name)
  cpSync(whole.dir, dir, { recursive: true })
  const rows = readFileSync(join(dir, 'trials.ndjson'), 'utf8').trim().split('\n')
  const text = rows.map((line) => {
    const row = JSON.parse(line) as Row
    change(row)
    return `${JSON.stringify(row)}\n`
  })
  writeFileSync(join(dir, 'trials.ndjson'), text.join(''))
  return dir
}

describe('a run that agrees with itself', () => {
  it('is read back to the same numbers', async () => {
    const run = await harness.open(whole.dir)
    assert.deepEqual(run.problems, [])
    assert.deepEqual(run.toJSON(), whole.toJSON())
    assert.equal((await receipt.checkFolder(whole.dir)).verdict, 'verified')
  })
})

describe('a run that was altered', () => {
  const EDITS: [string, (row: Row) => unknown, string][] = [
    [
      'goal marks, and the outcomes left',
      (row) => Object.assign(row, { goal: true }),
      'outcome_differs',
    ],
    ['overclaims', (row) => Object.assign(row, { overclaims: 0 }), 'overclaims_differ'],
    ['a seed', (row) => Object.assign(row, { seed: '7|a|b|0' }), 'trial_seed_differs'],
    ['digests', (row) => Object.assign(row.digests, { audit: null }), 'audit_added'],
  ]
  for (const [what, change, code] of EDITS) {
    it(`gives no number: ${what}`, async () => {
      const dir = altered(what.replaceAll(' ', '-'), change)
      const run = await harness.open(dir)
      assert.ok(
        run.problems.some((one) => one.code === code),
        JSON.stringify(run.problems.slice(0, 3)),
      )
      const refused = { code: 'run_invalid' }
      assert.throws(() => run.summary(), refused)
      assert.throws(() => run.compare('naive', 'careful'), refused)
      await assert.rejects(async () => run.plot(), refused)
      assert.throws(() => harness.against(run, whole), refused)
      assert.throws(() => harness.against(whole, run), refused)
      assert.match(run.text(), /no number is given/)
      assert.doesNotMatch(run.text(), /\d%/)
      assert.equal(run.toJSON()['summary'], null)
      assert.equal((await receipt.checkFolder(dir)).verdict, 'failed')
      await assert.rejects(async () => await plan().resume(dir), refused)
    })
  }

  it('shows the levels that the evidence gives in the place of edited ones', async () => {
    const dir = altered('levels', (row) => {
      const { asserted, observed_confirmed, verified } = row.levels
      row.levels = {
        asserted: 0,
        observed_confirmed: 0,
        verified: asserted + observed_confirmed + verified,
      }
    })
    const run = await harness.open(dir)
    assert.deepEqual(
      run.trials.map(({ levels }) => levels),
      whole.trials.map(({ levels }) => levels),
    )
    assert.match(run.text(), /the log has other levels than the evidence gives/)
    await assert.rejects(async () => await plan().resume(dir), { code: 'run_invalid' })
  })

  it('gives no number when its exports are gone, and resuming it is refused', async () => {
    const dir = altered('gone', () => {})
    rmSync(join(dir, 'audit.ndjson'))
    const run = await harness.open(dir)
    assert.ok(run.problems.some(({ code }) => code === 'audit_removed'))
    assert.throws(() => run.summary(), { code: 'run_invalid' })
    await assert.rejects(async () => await plan().resume(dir), { code: 'run_invalid' })
  })
})
