/** A run's trials in SQL and as Parquet: the values of the records, read by others too, and nothing but read. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { before, describe, it } from 'node:test'
import { TRIAL_COLUMNS } from '../../../lib/harness/report/trial-table.ts'
import { cases, harness } from '../../../lib/index.ts'
import { temporaryFolder } from '../../temporary.ts'

const made = temporaryFolder('sql')
const checkout = join(import.meta.dirname, '../../..')

/** What somebody calls a configuration who hopes that SQL is made of it. */
const HOSTILE = `o'); DROP TABLE trials; --"`
let run: harness.Run
before(async () => {
  const some = (await cases.load(['cases/lying_success', 'cases/result_injection'])).slice(0, 4)
  const ran = await harness
    .run(some)
    .config('naive', { model: 'sim/naive' })
    .config('careful', { model: 'sim/careful' })
    .repeat(3)
    .quiet()
    .out(join(made, 'run'))
  const [first, ...others] = ran.trials
  assert.ok(first)
  const trials = [
    { ...first, ending: HOSTILE, tokens: { input: 2 ** 52, output: 1 }, cost_usd: 0.25 },
    ...others,
  ]
  run = new harness.Run({ dir: ran.dir, manifest: ran.manifest, trials })
})

/** What a column should hold of a record, written out here once more. */
function expected(row: harness.Run['trials'][number]): { [column: string]: unknown } {
  const tested = run.manifest.cases.find(({ id }) => id === row.case)
  const configured = run.manifest.configurations.find(({ name }) => name === row.configuration)
  const { levels, tokens, error, claims, reasons, exposed, writes, digests, met, schema, ...own } =
    row
  return {
    ...own,
    ...levels,
    error: error?.code ?? null,
    kind: tested?.kind,
    family: tested?.family ?? null,
    adversarial: tested?.adversarial,
    model: configured?.model,
    simulated: configured?.simulated,
    input_tokens: tokens?.input ?? null,
    output_tokens: tokens?.output ?? null,
  }
}

describe('run.sql', () => {
  it('has a row for each trial, with the values of its record', async () => {
    const rows = await run.sql('SELECT * FROM trials ORDER BY key')
    const records = run.trials.toSorted((a, b) => (a.key < b.key ? -1 : 1))
    assert.deepEqual(rows, records.map(expected))
    assert.deepEqual(
      Object.keys(rows[0] ?? {}),
      TRIAL_COLUMNS.map(({ name }) => name),
    )
  })

  it('counts as the summary does', async () => {
    const rows = await run.sql(
      `SELECT configuration, avg(CAST(goal AS DOUBLE)) AS goal FROM trials
       WHERE outcome <> 'error' GROUP BY ALL`,
    )
    for (const { configuration, rates } of run.summary())
      assert.ok(
        Math.abs(
          Number(rows.find((row) => row['configuration'] === configuration)?.['goal']) -
            rates.goal.estimate,
        ) < 1e-12,
      )
  })

  it('takes what a run holds as values: it is found as it stands, and the table is whole', async () => {
    const rows = await run.sql(`SELECT ending FROM trials WHERE ending LIKE '%DROP TABLE%'`)
    assert.deepEqual(rows, [{ ending: HOSTILE }])
    assert.deepEqual(await run.sql('SELECT count(*) AS n FROM trials'), [{ n: run.trials.length }])
  })

  it('writes no file, reads none, reaches no address and changes no setting', async () => {
    const out = join(made, 'out.csv')
    const secret = join(made, 'secret.txt')
    writeFileSync(secret, 'a secret')
    const before = readdirSync(made).sort()
    for (const query of [
      `COPY trials TO '${out}'`,
      `EXPORT DATABASE '${out}'`,
      `ATTACH '${out}' AS other`,
      `SELECT * FROM read_text('${secret}')`,
      `SELECT * FROM '${secret}'`,
      `SELECT * FROM read_csv('http://127.0.0.1:9/x.csv')`,
      `SELECT * FROM glob('${made}/*')`,
      'INSTALL httpfs',
      'LOAD httpfs',
      'SET enable_external_access = true',
      'RESET lock_configuration',
      `PRAGMA profiling_output = '${out}'`,
      `SELECT * FROM enable_logging(storage = 'file', storage_path = '${out}')`,
      `CALL enable_profiling(save_location = '${out}')`,
      `SELECT * FROM query('SELECT * FROM enable_' || 'logging()')`,
      `SELECT * FROM "query" /* ( */ ('SELECT 1')`,
      'DROP TABLE trials',
      'SELECT 1; SELECT 2',
      'no SQL at all',
      '-- nothing',
    ])
      await assert.rejects(run.sql(query), { code: 'argument_invalid' }, query)
    assert.deepEqual(readdirSync(made).sort(), before)
    assert.deepEqual(await run.sql('SELECT count(*) AS n FROM trials'), [{ n: run.trials.length }])
  })

  it('gives times, large whole numbers and lists as JSON holds them', async () => {
    const [row] = await run.sql(
      `SELECT TIMESTAMPTZ '2026-01-02 03:04:05+00' AS at, 9007199254740993 AS large, 7 AS small,
       [1, 2] AS list, {'a': 'b'} AS record, 'nan'::DOUBLE AS nan, NULL AS nothing`,
    )
    assert.deepEqual(JSON.parse(JSON.stringify(row)), {
      at: '2026-01-02T03:04:05.000Z',
      large: '9007199254740993',
      small: 7,
      list: [1, 2],
      record: { a: 'b' },
      nan: null,
      nothing: null,
    })
  })

  it('ends by its signal, in the middle of a query too, and can be asked again', async () => {
    await assert.rejects(run.sql('SELECT 1', { signal: AbortSignal.abort() }), {
      name: 'AbortError',
    })
    const stop = new AbortController()
    const endless = run.sql(
      'SELECT count(*) FROM range(10000000) a, range(10000000) b WHERE a.range + b.range < 0',
      { signal: stop.signal },
    )
    stop.abort()
    await assert.rejects(endless, { name: 'AbortError' })
    const later = new AbortController()
    const running = run.sql(
      'SELECT count(*) FROM range(10000000) a, range(10000000) b WHERE a.range + b.range < 0',
      { signal: later.signal },
    )
    setTimeout(() => later.abort(), 300)
    await assert.rejects(running, { name: 'AbortError' })
    assert.deepEqual(await run.sql('SELECT 1 AS one'), [{ one: 1 }])
  })

  it('is refused for a run that does not agree with itself, as every number is', async () => {
    const problem = { code: 'outcome_differs', where: 'trial x', detail: 'y' }
    const { dir, manifest, trials } = run
    const damaged = new harness.Run({ dir, manifest, trials, problems: [problem] })
    await assert.rejects(damaged.sql('SELECT 1'), { code: 'run_invalid' })
    await assert.rejects(damaged.parquet(join(made, 'damaged.parquet')), { code: 'run_invalid' })
    assert.ok(!existsSync(join(made, 'damaged.parquet')))
  })
})

describe('run.parquet', () => {
  const file = join(made, `it's a file.parquet`)
  before(async () => {
    assert.equal(await run.parquet(file), file)
  })

  it('writes over nothing', async () => {
    const bytes = readFileSync(file)
    await assert.rejects(run.parquet(file), { code: 'file_exists', where: file })
    assert.deepEqual(readFileSync(file), bytes)
    const nowhere = join(made, 'no', 'folder.parquet')
    await assert.rejects(run.parquet(nowhere), { code: 'file_unwritable' })
  })

  const values = () => run.trials.map(expected)
  const passed = () => values().filter((row) => row['goal'] === true).length
  const calls = () => values().reduce((sum, row) => sum + Number(row['calls']), 0)

  const python = [join(checkout, '.cache/analysis/python/bin/python'), 'python3'].find(
    (one) => spawnSync(one, ['-c', 'import pandas, pyarrow']).status === 0,
  )
  it('is read by pandas, with the types that docs/analysis.md names', {
    skip: python === undefined && 'no Python with pandas and pyarrow: .ci/analysis installs them',
  }, () => {
    const script = `
import json, sys, pandas
t = pandas.read_parquet(sys.argv[1])
print(json.dumps({
  'columns': list(t.columns), 'rows': len(t), 'goal': int((t.goal == True).sum()),
  'calls': int(t.calls.sum()), 'tokens': int(t.input_tokens.max()), 'hostile': sorted(set(t.ending)),
  'began': t.started_at.min().isoformat(), 'kinds': {c: str(t[c].dtype) for c in ['started_at', 'duration_ms']},
}))`
    const { stdout, stderr, status } = spawnSync(python as string, ['-c', script, file], {
      encoding: 'utf8',
    })
    assert.equal(status, 0, stderr)
    const read = JSON.parse(stdout)
    assert.deepEqual(
      read.columns,
      TRIAL_COLUMNS.map(({ name }) => name),
    )
    const [first] = values()
      .map((row) => String(row['started_at']))
      .sort()
    assert.equal(new Date(read.began).toISOString(), first)
    assert.match(read.kinds.started_at, /^datetime64\[.s, UTC\]$/)
    assert.equal(read.kinds.duration_ms, 'float64')
    assert.deepEqual(
      [read.rows, read.goal, read.calls, read.tokens],
      [run.trials.length, passed(), calls(), 2 ** 52],
    )
    assert.ok(read.hostile.includes(HOSTILE))
  })

  const r = (script: string) => spawnSync('Rscript', ['-e', script], { encoding: 'utf8' })
  const reader = ['nanoparquet', 'arrow'].find(
    (name) => r(`quit(status = !requireNamespace("${name}", quietly = TRUE))`).status === 0,
  )
  it('is read by R', {
    skip: reader === undefined && 'no R with the package nanoparquet or arrow',
  }, () => {
    const { stdout, stderr, status } = r(
      `t <- ${reader}::read_parquet(${JSON.stringify(file)})
       cat(nrow(t), sum(t$goal, na.rm = TRUE), sum(t$calls), ncol(t), max(t$input_tokens, na.rm = TRUE) == 2^52)`,
    )
    assert.equal(status, 0, stderr)
    assert.equal(
      stdout.trim(),
      `${run.trials.length} ${passed()} ${calls()} ${TRIAL_COLUMNS.length} TRUE`,
    )
  })
})

describe('docs/analysis.md', () => {
  it('has a row for each column, with its type and its words', () => {
    const rows = TRIAL_COLUMNS.map(({ name, type, says }) => `| \`${name}\` | ${type} | ${says} |`)
    const page = readFileSync(join(checkout, 'docs/analysis.md'), 'utf8')
    assert.deepEqual(page.match(/^\| `.*$/gm), rows)
  })
})
