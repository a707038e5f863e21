/** A run over time: its own times, where it waited, and what is not known. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { activityRows } from '../../../lib/harness/report/activity-rows.ts'
import { Run } from '../../../lib/harness/report/result.ts'
import { cases, harness } from '../../../lib/index.ts'
import { solves, startGroq } from '../../servers/groq.ts'

describe("run.plot('activity')", () => {
  it('has each attempt from its beginning to its end with its waits; those of an own agent are not known, a simulated one has none', async () => {
    const [test] = (await cases.load('cases/lying_success')).filter(({ id }) =>
      id.endsWith('deploy-key.benign'),
    )
    assert.ok(test)
    const limit = { status: 429, headers: { 'retry-after': '1' } }
    const server = await startGroq({
      turns: solves(test),
      refuse: (_, call) => (call === 1 ? limit : null),
    })
    try {
      const made = await harness
        .run(test)
        .config('real', { model: 'groq/openai/gpt-oss-20b', apiKey: 'k', baseURL: server.url })
        .config('own', { agent: () => 'nothing' })
        .config('sim', { model: 'sim/naive' })
        .repeat(2)
        .concurrency(1)
        .quiet()
        .out(null)
      const run = await harness.open(made.dir)
      const rows = activityRows(run)
      assert.equal(rows.length, 6)
      const of = (name: string) => rows.filter(({ configuration }) => configuration === name)
      for (const [i, record] of run.trials.entries()) {
        const row = of(record.configuration)[record.trial]
        assert.ok(row?.began != null && row.ended !== null, String(i))
        assert.equal(row.began, Date.parse(record.started_at))
        const waited = (row.waits ?? []).reduce((sum, [from, to]) => sum + to - from, 0)
        assert.ok(Math.abs(row.ended - row.began - waited - record.duration_ms) < 0.01)
      }
      assert.deepEqual(
        of('real').map(({ waits }) => waits?.length),
        [1, 0],
      )
      const [[from = 0, to = 0] = []] = of('real')[0]?.waits ?? []
      const told = run.transcript(run.trials[0]?.key ?? '').times ?? []
      assert.equal(
        Math.round(to - from),
        told.reduce((sum, { waited_ms: ms = 0 }) => sum + ms, 0),
      )
      assert.deepEqual(
        of('own').map(({ waits }) => waits),
        [undefined, undefined],
      )
      assert.deepEqual(
        of('sim').map(({ waits }) => waits),
        [[], []],
      )
      const { notes, kind } = await run.plot('activity')
      assert.equal(kind, 'activity')
      assert.match(
        notes[0] ?? '',
        /^6 attempts, .* 1 attempt waited for a limit, .* Of 2 it is not/,
      )
      const some = await run.plot('activity', { kind: test.kind })
      assert.deepEqual(some.rows, rows)

      // An attempt whose worker is gone has no times, and another one followed.
      const [first] = run.trials
      assert.ok(first)
      const error = { code: 'worker_lost', message: 'gone' }
      const lost = { ...first, outcome: 'error' as const, error, duration_ms: 0 }
      const { dir, manifest } = run
      const trials = run.trials.map((one) => (one === first ? { ...one, attempt: 1 } : one))
      const again = activityRows(new Run({ dir, manifest, trials, earlier: [lost] }))
      assert.equal(again.length, 7)
      assert.deepEqual(
        again.filter(({ ended }) => ended === null).map(({ error }) => error),
        [true],
      )
    } finally {
      await server.close()
    }
  })
})
