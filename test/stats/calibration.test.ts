/** A small seeded part of test/bench/calibration.ts: enough to fail when an interval or a verdict no longer holds. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { calibrate, fixedCases, found, type Setting } from '../bench/calibration.ts'
import { coverage, WORLDS } from '../bench/coverage.ts'

const runs = 400
const settings: Setting[] = [
  { cases: 8, repeats: 5, mean: 0.5, interaction: 0.25 },
  { cases: 20, repeats: 5, mean: 0.5, interaction: 0 },
  { cases: 12, repeats: 10, mean: 0.9, interaction: 0 },
  { cases: 20, repeats: 5, mean: 0.9, interaction: 0.25 },
]

for (const setting of settings) {
  test(`the default interval covers and the verdict keeps quiet: ${JSON.stringify(setting)}`, () => {
    const { covered, alarms } = calibrate(setting, runs, 'calibration test')
    // Nominal 95 % (>= 90 % at mean .9) and 6 %, each with three standard errors of 400 runs.
    const [least, error] = setting.mean === 0.5 ? [0.93, 0.013] : [0.9, 0.015]
    assert.ok(covered.default >= least - 3 * error, `covers ${covered.default}`)
    assert.ok(alarms.verdict <= 0.05 + 3 * 0.011, `alarms ${alarms.verdict}`)
    // Pooling is as bad as it is said to be; were it not, this simulation would show nothing.
    assert.ok(covered.pooled < 0.9, `pooled covers ${covered.pooled}`)
    assert.ok(covered.default > covered.pooled)
  })
}

test('pooled comparisons cry wolf where configurations suit different cases, the verdict does not', () => {
  const { alarms } = calibrate(
    { cases: 20, repeats: 10, mean: 0.5, interaction: 0.25 },
    runs,
    'wolf',
  )
  assert.ok(alarms.pooled > 0.1, `pooled ${alarms.pooled}`)
  assert.ok(alarms.verdict <= 0.05 + 3 * 0.011, `verdict ${alarms.verdict}`)
})

test('the smallest detectable difference is found about four times in five', () => {
  const share = found(20, 5, 0.1, runs, 'found').found
  assert.ok(Math.abs(share - 0.8) < 0.07, `found ${share}`)
})

test('on fixed cases the interval for "these" covers, and that for "like these" covers more', () => {
  const setting = { cases: 12, repeats: 5, mean: 0.5, interaction: 0.25 }
  const [these, like] = [
    fixedCases(setting, 'these', runs, 'fixed'),
    fixedCases(setting, 'like these', runs, 'fixed'),
  ]
  assert.ok(these.covered > 0.95 - 3 * 0.011, `these ${these.covered}`)
  assert.ok(like.covered > these.covered)
  assert.ok(these.alarms <= 0.05 + 3 * 0.011, `alarms ${these.alarms}`)
})

for (const [name, cases, repeats] of [
  ['b breaks 5 % of cases, 0.995 elsewhere', 20, 5],
  ['smooth, mean 0.95, icc 0.7', 20, 20],
  ['smooth, mean 0.5, icc 0.4', 3, 5],
] as const) {
  test(`intervals of both questions hold where they are hardest to keep: ${name}, ${cases} x ${repeats}`, () => {
    const world = WORLDS.find((one) => one.name === name)
    assert.ok(world)
    const { covered, same, alarms, level } = coverage(world, cases, repeats, 150, 'small')
    // Nominal 95 %, not below 93 %, with three standard errors of 150 runs.
    for (const [what, share] of Object.entries(covered))
      assert.ok(share >= 0.93 - 3 * 0.021, `${what} covers ${share}`)
    if (level) assert.ok(alarms <= 0.06 + 3 * 0.019, `alarms ${alarms}`)
    else assert.ok(same <= 0.025 + 3 * 0.013, `false same ${same}`)
  })
}
