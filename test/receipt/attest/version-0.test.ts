/** A stored receipt of version 0, which has a row for each line of the trial log, is checked step by step as before. */
import assert from 'node:assert/strict'
import { cpSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { receipt } from '../../../lib/index.ts'
import { temporaryFolder } from '../../temporary.ts'
import {
  asVersion0,
  copy as copyOfRun,
  editLine,
  failures,
  keys,
  linesIn,
  reseal,
  root as rootOfRun,
  writeLines,
} from './sealed-run.ts'

const stored = join(import.meta.dirname, '../../../fixtures/receipt/run-v0')
const root = join(stored, 'sets')
const key = readFileSync(join(stored, 'key.pub'), 'utf8')

const made = temporaryFolder('version-0')
let copies = 0

function copy(): string {
  const to = join(made, `copy-${copies++}`)
  cpSync(join(stored, 'run'), to, { recursive: true })
  return to
}

const check = (path: string) => receipt.verify(path, { key, root })
const log = 'trials.ndjson'
const lines = linesIn(join(stored, 'run'), log)
const at = lines.findIndex((line) => JSON.parse(line).calls > 0)

describe('a receipt of version 0', () => {
  test('verifies, all steps, from its stored folder', async () => {
    const result = await check(join(stored, 'run'))
    assert.deepEqual(failures(result), [])
    assert.equal(result.verdict, 'verified')
    assert.match(result.text(), /12 lines, each with its digest, in the receipt’s order/)
  })

  test('verifies one trial by its stored proof', async () => {
    assert.equal((await check(join(stored, 'proof.json'))).verdict, 'verified')
  })

  for (const [what, alter, finds] of [
    [
      'a trial edited',
      (dir: string) => editLine(dir, log, at, (line) => line.replace('"steps":', '"steps":1')),
      'trial_edited',
    ],
    [
      'a trial removed',
      (dir: string) => writeLines(dir, log, lines.toSpliced(at, 1)),
      'trial_removed',
    ],
    [
      'a trial given twice',
      (dir: string) => writeLines(dir, log, [...lines, lines[at] as string]),
      'trial_duplicated',
    ],
    [
      'a trial added',
      (dir: string) =>
        writeLines(dir, log, [
          ...lines,
          lines[at]?.replace('"attempt":0', '"attempt":1') as string,
        ]),
      'trial_added',
    ],
    [
      'the trials in another order',
      (dir: string) => writeLines(dir, log, lines.toReversed()),
      'trials_reordered',
    ],
  ] as const)
    test(`${what}: ${finds}, with its place`, async () => {
      const dir = copy()
      alter(dir)
      const result = await check(dir)
      assert.equal(result.verdict, 'failed')
      const step = result.steps.find((one) => one.step === 'trial log')
      const problem = step?.problems.find(({ code }) => code === finds)
      assert.ok(problem, failures(result).join(', '))
      assert.match(`${problem.where} ${problem.detail}`, /trials\.ndjson(:\d+|, trial \d+)|^trial /)
    })

  test('that says otherwise how an attempt ended: attempt_differs', async () => {
    const dir = copyOfRun()
    await asVersion0(dir)
    reseal(dir, (statement) =>
      Object.assign(statement['predicate']?.['attempts']?.[0] ?? {}, { ended: 'never' }),
    )
    const result = await receipt.verify(dir, { key: keys.publicKey, root: rootOfRun })
    assert.deepEqual(failures(result), ['trial log: attempt_differs'])
  })
})
