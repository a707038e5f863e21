/**
 * Receipts over versions: what another version computed otherwise is no contradiction and is not established either, counts and
 * means are the same in every version, and what one version says must be what it gives.
 */
import assert from 'node:assert/strict'
import { cpSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { receipt } from '../../../lib/index.ts'
import { METHODS } from '../../../lib/log/methods.ts'
import { temporaryFolder } from '../../temporary.ts'
import { editLine, editManifest, failures, keys, linesIn, refit, reseal } from './sealed-run.ts'

const fixtures = join(import.meta.dirname, '../../../fixtures/receipt')
const made = temporaryFolder('methods')
let copies = 0

type Loose = Parameters<Parameters<typeof reseal>[1]>[0]

/** A copy of the stored run with the stored receipt of a version of the summary, ours by default. */
function ofOurs(receiptOf = 'run-v4'): string {
  const to = join(made, `copy-${copies++}`)
  cpSync(join(fixtures, 'run-v1/run'), to, { recursive: true })
  rmSync(join(to, 'test-result.json'))
  cpSync(join(fixtures, receiptOf, 'receipt.json'), join(to, 'receipt.json'))
  return to
}

/** The same, whose issuer says something else, and signs it. */
function said(change: (predicate: Loose) => void): string {
  const to = ofOurs()
  reseal(to, (statement) => {
    const predicate = statement['predicate'] as Loose
    by(METHODS.summary)(predicate)
    change(predicate)
  })
  return to
}

const root = join(fixtures, 'run-v1/sets')
const check = (dir: string) => receipt.verify(dir, { key: keys.publicKey, root })
const stored = (name: string) =>
  receipt.verify(join(fixtures, name), {
    key: readFileSync(join(fixtures, name.replace(/\/.*/, ''), 'key.pub'), 'utf8'),
    root: join(fixtures, name.replace(/\/.*/, ''), 'sets'),
  })
const open = ({ not_recomputed }: receipt.Verification) =>
  not_recomputed.filter((one) => one.includes('version'))
const by = (version: number) => (predicate: Loose) =>
  Object.assign(predicate['methods'] as Loose, { summary: version })
const rates = (predicate: Loose) => predicate['summary']?.[0]?.['rates'] as Loose

describe('a stored receipt', () => {
  test('of this format verifies, with nothing open but what no version computes (raise METHODS where it does not)', async () => {
    const key = readFileSync(join(fixtures, 'run-v4/key.pub'), 'utf8')
    const result = await receipt.verify(ofOurs(), { key, root })
    assert.deepEqual([failures(result), result.verdict], [[], 'verified'])
    assert.deepEqual(open(result), [])
    // Nothing in it is of another kind by our version of the summary.
    const ours = await check(said(() => {}))
    assert.deepEqual([failures(ours), open(ours)], [[], []])
  })

  test('of version 3 verifies, and names that only ours says what lost trials could make of single runs', async () => {
    const key = readFileSync(join(fixtures, 'run-v3/key.pub'), 'utf8')
    const result = await receipt.verify(ofOurs('run-v3'), { key, root })
    assert.deepEqual([failures(result), result.verdict], [[], 'verified'])
    assert.deepEqual(open(result), [
      `of the summary, by version 3 of the method (ours is ${METHODS.summary}): rates.*.lost`,
    ])
  })

  test('of version 1 verifies, and names that only ours says what lost trials could make of single runs and of pass^k', async () => {
    const result = await stored('run-v1/run')
    assert.deepEqual([failures(result), result.verdict], [[], 'verified'])
    assert.deepEqual(open(result), [
      `of the summary, by version 1 of the method (ours is ${METHODS.summary}): rates.*.lost, reliability.open`,
    ])
    assert.equal((await stored('run-v1/proof.json')).verdict, 'verified')
  })

  test('of before methods had versions verifies, and names what only ours gives beside the verdict', async () => {
    const result = await stored('run-v0/run')
    assert.deepEqual([failures(result), result.verdict], [[], 'verified'])
    assert.deepEqual(open(result), [
      `of the summary, by version 0 of the method (ours is ${METHODS.summary}): lost.acted`,
    ])
    assert.match(
      result.text().replace(/\s+/g, ' '),
      /Verified: all 17 steps hold, .{40,60} Not computed again, the run’s own word: .*; of the summary, by version 0 of the method \(ours is \d+\): lost\.acted\. ✓/,
    )
  })
})

describe('a summary that says otherwise', () => {
  test('by our version fails, whatever the member', async () => {
    const change = (predicate: Loose) =>
      Object.assign(rates(predicate)['goal'] as Loose, { low: 0.5 })
    assert.deepEqual(failures(await check(said(change))), ['summary: summary_differs'])
  })

  for (const version of [0, METHODS.summary + 1]) {
    test(`by version ${version} about an interval is named, and nothing else is`, async () => {
      const result = await check(
        said((predicate) => {
          by(version)(predicate)
          Object.assign(rates(predicate)['goal'] as Loose, { low: 0.5, again: { low: 0, high: 1 } })
          const [one = {} as Loose] = predicate['summary'] as Loose[]
          delete (one['lost'] as { [name: string]: unknown })['acted']
          Object.assign(one, { calm: true })
        }),
      )
      assert.equal(result.verdict, 'verified', result.text())
      assert.deepEqual(open(result), [
        `of the summary, by version ${version} of the method (ours is ${METHODS.summary}): calm, lost.acted, rates.*.again, rates.*.low`,
      ])
      assert.match(result.steps.find(({ step }) => step === 'summary')?.detail ?? '', /by version/)
    })

    for (const [what, lie] of [
      ['a mean', (one: Loose) => Object.assign(one['rates']?.['goal'] as Loose, { estimate: 1 })],
      ['a count', (one: Loose) => Object.assign(one, { errors: 1 })],
      ['levels', (one: Loose) => Object.assign(one['levels'] as Loose, { verified: 99 })],
      ['lost attempts', (one: Loose) => Object.assign(one['lost'] as Loose, { attempts: 9 })],
      ['a name', (one: Loose) => Object.assign(one, { configuration: 'other' })],
    ] as const)
      test(`by version ${version} about ${what} fails`, async () => {
        const result = await check(
          said((predicate) => {
            by(version)(predicate)
            lie(predicate['summary']?.[0] as Loose)
          }),
        )
        assert.deepEqual(failures(result), ['summary: summary_differs'], result.text())
      })

    test(`by version ${version} with a configuration less fails`, async () => {
      const result = await check(
        said((predicate) => {
          by(version)(predicate)
          Object.assign(predicate, { summary: (predicate['summary'] as Loose[]).slice(1) })
        }),
      )
      assert.ok(failures(result).includes('summary: summary_differs'), result.text())
    })
  }

  test('with a member that no version here has is named, by our version too', async () => {
    const result = await check(
      said((one) => Object.assign(rates(one)['goal'] as Loose, { seal: 1 })),
    )
    assert.equal(result.verdict, 'verified')
    assert.match(open(result).join(), /rates\.goal\.seal/)
  })

  test('of a run that nobody signed names it beside the verdict as well', async () => {
    const dir = said(by(0))
    reseal(dir, () => {}, { sign: false })
    const result = await receipt.verify(dir, { key: null, root })
    assert.equal(result.verdict, 'could_not_check')
    assert.match(result.text(), /Not computed again, the run’s own word/)
  })
})

describe('a record whose', () => {
  const rows = linesIn(join(fixtures, 'run-v1/run'), 'trials.ndjson').map((line) =>
    JSON.parse(line),
  )
  const prose = rows.findIndex((row) => row.claims_from === 'prose')
  const verified = rows.findIndex((row) => row.levels.verified === 1)
  /** The run as another version recorded it. */
  const recorded = (
    method: 'claims' | 'levels',
    version: number,
    at: number,
    change: (row: Loose) => void,
  ) => {
    const dir = said(() => {})
    editManifest(dir, (manifest) =>
      Object.assign(manifest['methods'] as object, { [method]: version }),
    )
    editLine(dir, 'trials.ndjson', at, (line) => {
      const row = JSON.parse(line)
      change(row)
      return JSON.stringify(row)
    })
    refit(dir, (statement) => {
      const methods = statement['predicate']?.['methods'] as Loose
      Object.assign(methods, { [method]: version })
    })
    return dir
  }
  const unread = (row: Loose) =>
    Object.assign(row, {
      claims: [],
      claims_from: null,
      overclaims: null,
      underclaims: null,
    })
  const levels = (asserted: number, verified: number) => (row: Loose) =>
    Object.assign(row, { levels: { asserted, observed_confirmed: 0, verified } })

  test('words another version of the rule read otherwise is named, and by ours it is found', async () => {
    assert.ok(rows[prose].claims.length > 0)
    const other = await check(recorded('claims', 0, prose, unread))
    assert.ok(!failures(other).some((one) => one.startsWith('transcripts')), other.text())
    assert.match(
      open(other).join(),
      /the claims of 1 attempts, as version 0 of the method \(ours is 4\) read them/,
    )
    const ours = await check(recorded('claims', METHODS.claims, prose, unread))
    assert.ok(failures(ours).includes('transcripts: claims_differ'), failures(ours).join())
  })

  test('levels another version derived lower is named; higher than the evidence is found by each', async () => {
    const lower = await check(recorded('levels', 0, verified, levels(1, 0)))
    assert.ok(!failures(lower).some((one) => one.startsWith('levels')), lower.text())
    assert.match(open(lower).join(), /that the levels of 1 attempts are no higher, as version 0/)
    for (const version of [0, METHODS.levels]) {
      const higher = await check(recorded('levels', version, verified, levels(0, 2)))
      assert.ok(failures(higher).includes('levels: level_differs'), higher.text())
    }
    const ours = await check(recorded('levels', METHODS.levels, verified, levels(1, 0)))
    assert.ok(failures(ours).includes('levels: level_differs'), ours.text())
  })

  test('manifest names other methods than the receipt is found', async () => {
    const dir = said((predicate) => Object.assign(predicate['methods'] as Loose, { claims: 7 }))
    assert.deepEqual(failures(await check(dir)), ['statement: methods_differ'])
  })
})
