/** One trial of a signed run, shown and checked without the run. */
import assert from 'node:assert/strict'
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, test } from 'node:test'
import { receipt } from '../../../lib/index.ts'
import {
  asVersion0,
  check,
  copy,
  editLine,
  failures,
  fresh,
  keys,
  original,
  reseal,
  root,
  trials,
  victim,
} from './sealed-run.ts'

const proofOf = async (key: string) => (await receipt.prove(original, key)).toJSON()
type Proof = Awaited<ReturnType<typeof proofOf>>
let written = 0

/** What comes of checking a proof, alone in a folder of its own. */
async function checked(proof: object, key: string | null = keys.publicKey) {
  const path = join(fresh(`proof-${written++}`), 'proof.json')
  mkdirSync(dirname(path))
  writeFileSync(path, JSON.stringify(proof))
  return receipt.verify(path, { key, root })
}

describe('a proof of one trial', () => {
  test('verifies without the run’s folder, for every trial, by the key that signed the run', async () => {
    for (const { key } of trials) {
      const result = await checked(await proofOf(key))
      assert.equal(result.verdict, 'verified', result.text())
      assert.equal(result.signed_by, keys.keyId)
      assert.match(result.does_not_establish[0] ?? '', /one that counts/)
    }
  })

  test('is saved once, shows itself, and is verified from where it lies', async () => {
    const proof = await receipt.prove(original, victim.key)
    const path = `${fresh('saved')}.json`
    assert.equal(proof.save(path), path)
    assert.throws(() => proof.save(path), { code: 'file_exists' })
    assert.ok(proof.text().includes(victim.key))
    assert.equal((await receipt.verify(path, { key: keys.publicKey, root })).ok, true)
    assert.throws(() => receipt.verify(path), { code: 'argument_invalid' })
  })

  for (const [what, alter, finds] of [
    [
      'its marks',
      (one: Proof) => ({ line: one.line.replace(/"calls":\d+/, '"calls":77') }),
      'trial log: trial_not_in_log',
    ],
    ['its place', (one: Proof) => ({ index: one.index ^ 1 }), 'trial log: trial_not_in_log'],
    [
      'the size of the log',
      (one: Proof) => ({ size: one.size + 1 }),
      'trial log: log_size_differs',
    ],
    ['its path', (one: Proof) => ({ path: one.path.slice(1) }), 'trial log: trial_not_in_log'],
    ['a path that is none', () => ({ path: 'sha256' }), 'trial log: trial_not_in_log'],
    [
      'a call that is gone',
      (one: Proof) => ({ decisions: one.decisions.slice(1) }),
      'decisions: decision_removed',
    ],
    [
      'a call of another trial',
      (one: Proof) => ({
        decisions: one.decisions.map((line) => line.replace('"key":"', '"key":"x')),
      }),
      'decisions: evidence_foreign',
    ],
    ['an export that is gone', () => ({ audit: [] }), 'audit exports: audit_removed'],
    [
      'an answer in its transcript',
      (one: Proof) => ({
        transcripts: one.transcripts.map((line) => line.replace('"calls"', '"Calls"')),
      }),
      'transcripts: transcript_edited',
    ],
    ['a line that is none', () => ({ line: 7 }), 'trial log: trial_unreadable'],
    [
      'members that are missing',
      () => ({ decisions: null, audit: {}, transcripts: 'x', path: null }),
      'trial log: trial_not_in_log',
    ],
  ] as const) {
    test(`altered in ${what}: ${finds}`, async () => {
      const proof = await proofOf(victim.key)
      const result = await checked({ ...proof, ...alter(proof) })
      assert.equal(result.verdict, 'failed')
      assert.ok(failures(result).includes(finds), failures(result).join(', '))
    })
  }

  for (const [member, coerced] of [
    ['line', (one: Proof) => [one.line]],
    ['index', (one: Proof) => String(one.index)],
    ['index', (one: Proof) => [one.index]],
    ['size', (one: Proof) => String(one.size)],
    ['path', (one: Proof) => one.path.map((digest) => [digest])],
    ['decisions', (one: Proof) => ({ ...one.decisions, length: one.decisions.length })],
    ['decisions', (one: Proof) => one.decisions.map((line) => [line])],
    ['receipt', (one: Proof) => JSON.stringify(one.receipt)],
  ] as const)
    test(`with ${member} of another kind that reads the same is refused: ${coerced}`, async () => {
      const proof = await proofOf(victim.key)
      const result = await checked({ ...proof, [member]: coerced(proof) })
      assert.equal(result.verdict, 'failed')
      if (member !== 'receipt')
        assert.ok(
          result.steps.some(({ problems }) =>
            problems.some(({ code, where }) => code === 'proof_invalid' && where === member),
          ),
          failures(result).join(', '),
        )
    })

  test('without a member is refused, where the trial has nothing of it too', async () => {
    const idle = { ...(await proofOf(victim.key)), transcripts: undefined, audit: null }
    const result = await checked(idle)
    const [log] = result.steps.filter(({ step }) => step === 'trial log')
    assert.deepEqual(
      log?.problems.map(({ code, where }) => `${code} ${where}`),
      ['proof_invalid audit', 'proof_invalid transcripts'],
    )
  })

  test('with the line of another trial in its place does not verify', async () => {
    const [mine, other] = [
      await proofOf(victim.key),
      await proofOf(trials.find(({ key }) => key !== victim.key).key),
    ]
    assert.equal((await checked({ ...other, line: mine.line })).verdict, 'failed')
    assert.equal(
      (await checked({ ...mine, path: other.path, index: other.index })).verdict,
      'failed',
    )
  })

  test('under another key is not verified, and without a receipt says nothing', async () => {
    const proof = await proofOf(victim.key)
    const foreign = await checked(proof, receipt.keys.generate().publicKey)
    assert.ok(failures(foreign).includes('signature: key_differs'))
    assert.equal((await checked(proof, null)).verdict, 'could_not_check')
    assert.equal((await checked({ ...proof, receipt: null })).verdict, 'failed')
  })

  test('is not made of a log that the receipt does not commit to, nor for a trial that is not in it', async () => {
    const dir = copy()
    editLine(dir, 'trials.ndjson', 0, (line) => line.replace('"duration_ms":', '"duration_ms":1'))
    await assert.rejects(receipt.prove(dir, victim.key), { code: 'run_invalid' })
    await assert.rejects(receipt.prove(original, 'no|such|0'), { code: 'argument_invalid' })
  })
})

describe('a receipt', () => {
  test('of version 0 verifies as it did, and proves a trial where it has the root of its log', async () => {
    const dir = copy()
    await asVersion0(dir)
    assert.equal((await check(dir)).verdict, 'verified')
    const proof = (await receipt.prove(dir, victim.key)).toJSON()
    assert.equal((await checked(proof)).verdict, 'verified')
    const before = copy()
    await asVersion0(before, { log: false })
    assert.equal((await check(before)).verdict, 'verified')
    await assert.rejects(receipt.prove(before, victim.key), { code: 'run_invalid' })
  })

  test('with another root, or another number of lines, does not verify', async () => {
    for (const change of [{ root: `sha256:${'0'.repeat(64)}` }, { lines: 1 }]) {
      const dir = copy()
      reseal(dir, (statement) =>
        Object.assign(statement['predicate']?.['logs']?.['trials.ndjson'] ?? {}, change),
      )
      assert.ok(failures(await check(dir)).includes('trial log: log_root_differs'))
    }
  })
})
