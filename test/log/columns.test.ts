/** Columns hold what statistics read, and where the rest stands: every number is the same as from the records themselves. */
import assert from 'node:assert/strict'
import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { before, describe, it } from 'node:test'
import type { Arbitrary } from 'fast-check'
import { cases, harness } from '../../lib/index.ts'
import { parse, parseLine } from '../../lib/json.ts'
import {
  Columns,
  columnsOf,
  compareAll,
  compareMeasure,
  type Rows,
  rowsOf,
  summarise,
} from '../../lib/log/index.ts'
import fc from '../property.ts'
import { temporaryFolder } from '../temporary.ts'

type Row = harness.Run['trials'][number]

const made = temporaryFolder()

let run: harness.Run
before(async () => {
  const some = (await cases.load(['cases/lying_success', 'cases/result_injection'])).slice(0, 4)
  run = await harness
    .run(some)
    .config('naive', { model: 'sim/naive' })
    .config('careful', { model: 'sim/careful' })
    .repeat(6)
    .quiet()
    .out(join(made, 'run'))
})

const unknown = <T>(value: Arbitrary<T>) => fc.option(value, { nil: null })
const count = fc.nat({ max: 2 ** 31 - 1 })
const change = fc.record({
  attempt: fc.nat({ max: 3 }),
  outcome: fc.constantFrom('pass', 'fail', 'unjudged', 'error'),
  goal: unknown(fc.boolean()),
  attack: unknown(fc.boolean()),
  overclaims: unknown(count),
  underclaims: unknown(count),
  unneeded: unknown(count),
  steps: unknown(count),
  refused: fc.boolean(),
  levels: fc.record({ asserted: count, observed_confirmed: count, verified: count }),
  calls: count,
  duration_ms: fc.double({ min: 0, max: 1e9, noNaN: true }),
  tokens: unknown(fc.record({ input: count, output: count })),
  cost_usd: unknown(fc.double({ min: 0, max: 1e6, noNaN: true })),
})

describe('columns', () => {
  it('give every statistic what the records themselves give it', () => {
    const { manifest } = run
    fc.assert(
      fc.property(
        fc.uniqueArray(fc.tuple(fc.nat({ max: run.trials.length - 1 }), change, change), {
          selector: ([i]) => i,
        }),
        (picked) => {
          const made = picked.map(([i, last, lost]) => {
            const record = { ...run.trials[i], ...last } as Row
            const before = { ...record, ...lost, outcome: 'error' as const }
            const earlier = record.attempt > 0 ? [{ ...before, attempt: record.attempt - 1 }] : []
            return { record, earlier }
          })
          const earlier = made.flatMap((one) => one.earlier)
          const listed = rowsOf(
            made.map(({ record }) => record).toSorted((a, b) => a.trial - b.trial),
            earlier,
          )
          // Columns know what was planned; a list of records is told.
          const rows: Rows = {
            of: (id, name) => listed.of(id, name),
            errors: (name) => listed.errors(name),
            earlier: listed.earlier,
            absent: (id, name) => manifest.repeats - listed.of(id, name).length,
          }
          const records = made.flatMap(({ record, earlier }) => [...earlier, record])
          const columns = columnsOf(manifest, records)
          assert.deepEqual(summarise(manifest, columns), summarise(manifest, rows))
          assert.deepEqual(
            compareAll(manifest, columns, 'naive', 'careful'),
            compareAll(manifest, rows, 'naive', 'careful'),
          )
          for (const measure of ['tokens', 'cost_usd', 'steps', 'calls'] as const)
            assert.deepEqual(
              compareMeasure(manifest, columns, 'naive', 'careful', measure),
              compareMeasure(manifest, rows, 'naive', 'careful', measure),
            )
        },
      ),
      { numRuns: 60 },
    )
  })

  it('count the last attempt of a key, in whatever order attempts come', () => {
    const [row] = run.trials as [Row]
    const [early, late] = [
      { ...row, attempt: 0, outcome: 'error' as const },
      { ...row, attempt: 1 },
    ]
    for (const order of [
      [early, late],
      [late, early],
    ]) {
      const columns = columnsOf(run.manifest, order)
      assert.deepEqual([columns.size, columns.failures, columns.attempt(row.key)], [1, 0, 1])
    }
  })

  it('hold a trial that is not planned apart from every number, and still count it', () => {
    const [row] = run.trials as [Row]
    const stray = { ...row, trial: 99, key: `${row.case}|${row.configuration}|99` }
    const columns = columnsOf(run.manifest, [...run.trials, stray])
    assert.equal(columns.size, run.trials.length + 1)
    assert.deepEqual(summarise(run.manifest, columns), run.summary())
    assert.deepEqual([...columns.keys()].at(-1), stray.key)
  })

  it('take no count that they cannot hold, and no number of a repeat that would fill the memory', () => {
    const [row] = run.trials as [Row]
    const manifest = { ...run.manifest, repeats: 1e9 }
    const refused = (more: Partial<Row>) => () => columnsOf(manifest, [{ ...row, ...more }])
    for (const one of [{ calls: 2 ** 31 }, { steps: 2 ** 40 }, { trial: 5e8 }])
      assert.throws(refused(one), { code: 'run_invalid' })
    assert.doesNotThrow(refused({ calls: 2 ** 31 - 1, trial: 1 << 20 }))
  })

  it('know the same trials by key as by case, configuration and number', () => {
    const columns = new Columns(run.manifest)
    for (const row of run.trials) columns.add(row)
    assert.deepEqual(
      [...columns.keys()],
      run.trials.map(({ key }) => key),
    )
    for (const { key, outcome } of run.trials) assert.equal(columns.outcome(key), outcome)
    const [{ case: id }] = run.trials as [Row]
    for (const key of ['', 'x', `${id}|naive`, `${id}|naive|00`, `${id}|naive|6`, `${id}|naive|-1`])
      assert.equal(columns.outcome(key), null, key)
  })
})

describe('a trial that is asked for', () => {
  it('is read from its own bytes: what the rest of the files holds by then is not looked at', async () => {
    const opened = await harness.open(run.dir)
    const [first] = run.trials as [Row]
    const wanted = { transcript: run.transcript(first.key), decisions: run.decisions }
    for (const file of ['trials.ndjson', 'transcripts.ndjson', 'decisions.ndjson']) {
      const path = join(run.dir, file)
      const text = readFileSync(path, 'utf8')
      const other = text.replaceAll(/^.*$/gm, (line) =>
        line.includes(`"${first.key}"`) ? line : 'x'.repeat(Buffer.byteLength(line)),
      )
      writeFileSync(path, other)
      assert.equal(statSync(path).size, Buffer.byteLength(text))
      if (file === 'transcripts.ndjson')
        assert.deepEqual(opened.transcript(first.key), wanted.transcript)
      if (file === 'decisions.ndjson')
        assert.deepEqual(
          [...opened.eachDecision(first.key)],
          wanted.decisions.filter(({ observation }) => observation?.run_id === first.key),
        )
      if (file === 'trials.ndjson') {
        assert.deepEqual(opened.record(first.key), first)
        assert.throws(() => opened.trials)
      }
      writeFileSync(path, text)
    }
    assert.deepEqual(opened.trials, run.trials)
  })

  it('is not taken for another one when the log has changed since', async () => {
    const opened = await harness.open(run.dir)
    const path = join(run.dir, 'trials.ndjson')
    const text = readFileSync(path, 'utf8')
    const lines = text.split('\n').slice(0, -1)
    writeFileSync(path, `${lines.toReversed().join('\n')}\n`)
    try {
      assert.throws(
        () => opened.trials,
        (error: Error & { code?: string }) =>
          ['run_invalid', 'json_syntax'].includes(error.code ?? ''),
      )
      assert.deepEqual(opened.summary(), run.summary())
    } finally {
      writeFileSync(path, text)
    }
  })

  it('is one of those that statistics see: records(which) reads no others', () => {
    const passed = [...run.records(({ outcome }) => outcome === 'pass')]
    assert.deepEqual(
      passed,
      run.trials.filter(({ outcome }) => outcome === 'pass'),
    )
    assert.ok(passed.length > 0 && passed.length < run.trials.length)
  })

  it('throws argument_invalid for a key that the run does not have', () => {
    for (const ask of [
      () => run.record('no|such|0'),
      () => run.transcript('no|such|0'),
      () => [...run.eachDecision('no|such|0')],
    ])
      assert.throws(ask, { code: 'argument_invalid' })
  })
})

describe('a line that JSON.stringify wrote', () => {
  it('is read to what the strict reader reads, and no text passes that it refuses', () => {
    fc.assert(
      fc.property(fc.json({ maxDepth: 4 }), fc.nat(), fc.nat(), (text, at, cut) => {
        const broken = text.slice(0, at % text.length) + text.slice((at % text.length) + (cut % 3))
        for (const one of [text, broken, `{"a":${text},"a":1}`, `[${text},1e400]`, ` ${text}`]) {
          const read = (reader: (text: string, source: string) => unknown) => {
            try {
              return { value: reader(one, 'x') }
            } catch (error) {
              return { code: (error as { code: string }).code }
            }
          }
          assert.deepEqual(read(parseLine), read(parse), one)
        }
      }),
    )
    const deep = `${'['.repeat(513)}${']'.repeat(513)}`
    assert.throws(() => parseLine(deep, 'x'), { code: 'json_depth' })
    for (const number of ['9007199254740992', '9007199254740993', '100000000000000000000'])
      assert.throws(() => parseLine(`{"a":${number}}`, 'x'), { code: 'json_unsafe_number' })
    assert.deepEqual(parseLine('{"a":9007199254740991}', 'x'), { a: 9007199254740991 })
    assert.throws(() => parseLine('{"a":1,"a":1}', 'x'), { code: 'json_duplicate_key' })
    assert.throws(() => parseLine('{"a":"\\ud800"}', 'x'), { code: 'json_lone_surrogate' })
  })
})
