/** A forgotten `await` is named where the promise is handed on, and not where something breaks. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { cases, chart, harness, receipt } from '../lib/index.ts'

/** What each call is handed: a promise of what it takes. */
const promise = () => Promise.resolve({}) as never
const run = new (class extends harness.Run {
  constructor() {
    super({ dir: '', manifest: {}, columns: {}, problems: [] } as never)
  }
})()

const tested = { id: 'a/b', servers: [], twin: null } as never

const calls: { [name: string]: () => unknown } = {
  'harness.run, of cases.load()': () => harness.run(promise()),
  'harness.run, of harness.case()': () => harness.run([promise()]),
  'harness.run().config': () => harness.run([tested]).config('a', promise()),
  'harness.run().forecast': () => harness.run([tested]).forecast({ baseline: promise() }),
  'harness.serve': () => harness.serve(promise()),
  'harness.judge': () => harness.judge(promise(), promise()),
  'harness.recorder': () => harness.recorder(promise()),
  'harness.case': () => harness.case(promise()),
  'harness.case, of a server': () => harness.case({ id: 'a/b', server: promise() } as never),
  'harness.gate': () => harness.gate(promise(), 'goal>=80%'),
  'harness.gate, of a plan': () => harness.gate(harness.run([tested]) as never, 'goal>=80%'),
  'harness.against': () => harness.against(promise(), run),
  'harness.against, of an earlier run': () => harness.against(run, promise()),
  'harness.junit': () => harness.junit(promise()),
  'harness.sarif': () => harness.sarif(promise()),
  'harness.standing': () => harness.standing(promise(), { gates: [], baseline: [] }),
  'harness.stepSummary': () => harness.stepSummary(promise(), { gates: [], baseline: [] }),
  'harness.writeReport': () => harness.writeReport(promise()),
  'harness.why': () => harness.why(promise()),
  'harness.open': () => harness.open(promise()),
  'harness.history': () => harness.history(promise()),
  'run.page': () => run.page({ against: promise() }),
  'cases.load': () => cases.load(promise()),
  'chart.show': () => chart.show(promise()),
  'chart.strip': () => chart.strip(promise()),
  'receipt.verify': () => receipt.verify(promise()),
  'receipt.verify, of an export': () => receipt.verify([], { audit: promise() }),
  'receipt.verifyStream': () => receipt.verifyStream(promise()),
  'receipt.verifyBundle': () => receipt.verifyBundle(promise(), promise()),
  'receipt.appendLedger': () => receipt.appendLedger('ledger.ndjson', promise()),
  'receipt.issueProbe': () => receipt.issueProbe(promise()),
}

describe('a promise where its value is meant', () => {
  for (const [name, call] of Object.entries(calls))
    test(`${name} says what was expected, and to add await`, async () => {
      await assert.rejects(
        async () => await call(),
        (error: Error & { code?: string }) => {
          assert.equal(error.name, 'TouchstoneError', error.stack)
          assert.match(error.message, /^expected .*, got a promise: add await/)
          return true
        },
      )
    })

  test('is no object of options either: none of them would count', () => {
    assert.throws(() => harness.junit(run, promise()), /got a promise: add await/)
  })
})
