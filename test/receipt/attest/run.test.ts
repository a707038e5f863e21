/** What a run's receipt is, when there is none, and that everybody who checks it comes to the same. */
import assert from 'node:assert/strict'
import { cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { dsse } from '@sigstore/core'
import { cases, harness, probe, receipt, scenarios } from '../../../lib/index.ts'
import type { RunPredicate } from '../../../lib/receipt/index.ts'
import { opensslVerifies, withoutOpenssl } from '../../servers/openssl.ts'
import { temporaryFolder } from '../../temporary.ts'
import {
  check,
  copy,
  failures,
  keys,
  linesIn,
  original,
  root,
  run,
  sealed,
  set,
  tested,
  trials,
} from './sealed-run.ts'

const folder = temporaryFolder('run-receipt')
const predicate = sealed.statement.predicate as unknown as RunPredicate
const offline = { model: 'sim/naive' }

describe('what a run receipt says', () => {
  test('it is an in-toto Statement whose subjects are the configurations, by digest', () => {
    const { statement } = sealed
    assert.equal(statement._type, 'https://in-toto.io/Statement/v1')
    assert.equal(statement.predicateType, 'urn:touchstone:agent-run:v1')
    assert.deepEqual(
      statement.subject.map(({ name, digest }) => [name, `sha256:${digest['sha256']}`]),
      run.manifest.configurations.map(({ name, digest }) => [name, digest]),
    )
  })

  test('it names the set by id, version and digest, and repeats what a pass does not establish', () => {
    assert.deepEqual(predicate.set, { id: 'small-set', version: '1.0', digest: set.digest })
    for (const one of set.set['doesNotEstablish'] as string[])
      assert.ok(predicate.does_not_establish.includes(one))
  })

  test('it commits to every file of the run, every case of the set and every line of the log', () => {
    const paths = predicate.files.map(({ path }) => path)
    for (const path of [
      'manifest.json',
      'trials.ndjson',
      'decisions.ndjson',
      'transcripts.ndjson',
      'audit.ndjson',
      'report.md',
    ])
      assert.ok(paths.includes(path), path)
    assert.deepEqual(
      predicate.cases.map(({ id }) => id),
      tested.map(({ id }) => id),
    )
    for (const file of ['trials', 'decisions', 'transcripts', 'audit'] as const)
      assert.equal(
        predicate.logs[`${file}.ndjson`]?.lines,
        linesIn(original, `${file}.ndjson`).length,
      )
    assert.deepEqual(predicate.plan, { seed: 1, repeats: 2, planned: trials.length })
  })

  test('beside it lies the standard Test Result', () => {
    const { statement } = sealed.testResult
    assert.equal(statement.predicateType, 'https://in-toto.io/attestation/test-result/v0.1')
    assert.deepEqual(statement.predicate['configuration'], [
      {
        name: 'small-set',
        uri: 'urn:touchstone:scenarios:small-set@1.0',
        digest: { sha256: set.digest.slice(7) },
      },
    ])
    const failed = new Set(trials.filter((row) => row.outcome === 'fail').map((row) => row.case))
    assert.deepEqual(new Set(statement.predicate['failedTests'] as string[]), failed)
    assert.equal(statement.predicate['result'], failed.size ? 'FAILED' : 'PASSED')
  })
})

describe('when no run receipt is issued', () => {
  test('cases that no published set has: set_unpublished', async () => {
    await assert.rejects(run.receipt({ root: join(folder, 'no-sets') }), {
      code: 'set_unpublished',
    })
  })

  test('a set that is not in the archive, and one with other cases: set_unpublished', async () => {
    const elsewhere = join(folder, 'elsewhere')
    scenarios.publish(tested.slice(1), { id: 'other-set', version: '1.0', root: elsewhere })
    await assert.rejects(run.receipt({ root, set: join(elsewhere, 'other-set/1.0.json') }), {
      code: 'set_unpublished',
    })
    await assert.rejects(run.receipt({ root: elsewhere, set: 'other-set@1.0' }), {
      code: 'set_unpublished',
    })
    await assert.rejects(run.receipt({ root, set: 'other-set@1.0' }), { code: 'set_unknown' })
    scenarios.publish(tested, { id: 'small-set', version: '2.0', root: elsewhere })
    await assert.rejects(run.receipt({ root, set: join(elsewhere, 'small-set/2.0.json') }), {
      code: 'set_unpublished',
    })
  })

  test('a folder that does not add up: run_invalid, naming the step’s code', async () => {
    const dir = copy()
    const path = join(dir, 'trials.ndjson')
    writeFileSync(path, readFileSync(path, 'utf8').replace('"verified":0', '"verified":7'))
    await assert.rejects(receipt.issueRun(dir, { root }), {
      code: 'run_invalid',
      message: /level_differs/,
    })
  })

  test('a receipt is never overwritten', () => {
    assert.throws(() => sealed.save(original), { code: 'file_exists' })
  })
})

describe('checking a run receipt', () => {
  test('every step is verified, and the same on a copy elsewhere, byte for byte', async () => {
    const here = await check(original)
    assert.deepEqual(failures(here), [])
    assert.equal(here.verdict, 'verified')
    const there = await check(copy())
    assert.equal(JSON.stringify(there), JSON.stringify(here))
    assert.equal(there.text(), here.text())
    assert.ok(!JSON.stringify(there).includes(tmpdir()))
  })

  test('without a key the signature could not be checked, and nothing else is in doubt', async () => {
    const result = await check(original, { key: null })
    assert.equal(result.verdict, 'could_not_check')
    assert.deepEqual(
      result.steps
        .filter(({ verdict }) => verdict !== 'verified')
        .map(({ step, code }) => [step, code]),
      [['signature', 'key_absent']],
    )
    assert.equal(result.signed_by, null)
  })

  test('an unsigned receipt says so, and fails only where a signature was asked for', async () => {
    const dir = copy()
    for (const file of ['receipt.json', 'test-result.json']) rmSync(join(dir, file))
    const unsigned = await receipt.issueRun(dir, { root })
    assert.equal(unsigned.signed, false)
    unsigned.save(dir)
    const step = async (key: string | null) =>
      (await check(dir, { key })).steps.find(({ step }) => step === 'signature')
    assert.deepEqual(
      [(await step(null))?.verdict, (await step(null))?.code],
      ['could_not_check', 'unsigned'],
    )
    assert.deepEqual(
      [(await step(keys.publicKey))?.verdict, (await step(keys.publicKey))?.code],
      ['failed', 'unsigned'],
    )
  })

  test('a receipt without its folder: the steps that need it could not be checked', async () => {
    const path = join(folder, 'alone.json')
    cpSync(join(original, 'receipt.json'), path)
    const result = await check(path)
    assert.equal(result.verdict, 'could_not_check')
    assert.equal(result.steps.find(({ step }) => step === 'levels')?.code, 'run_absent')
    assert.equal(result.steps.find(({ step }) => step === 'signature')?.verdict, 'verified')
  })

  test('a set that is not at hand: could_not_check, not failed', async () => {
    const result = await receipt.verify(original, { key: keys.publicKey })
    assert.equal(result.verdict, 'could_not_check')
    assert.equal(result.steps.find(({ step }) => step === 'set')?.code, 'set_absent')
  })

  test('a receipt is asked for with a key, null for none; evidence for decisions has no place there', () => {
    assert.throws(() => receipt.verify(original), { code: 'argument_invalid' })
    assert.throws(() => receipt.verify(original, { key: null, audit: [] } as { key: null }), {
      code: 'argument_invalid',
    })
  })

  test('openssl verifies the envelope’s signature over what @sigstore/core encodes', {
    skip: withoutOpenssl,
  }, () => {
    const envelope = JSON.parse(readFileSync(join(original, 'receipt.json'), 'utf8'))
    const payload = Buffer.from(envelope.payload, 'base64')
    const theirs = dsse.preAuthEncoding(envelope.payloadType, payload)
    assert.deepEqual(theirs, Buffer.from(receipt.pae(envelope.payloadType, payload)))
    const signature = Buffer.from(envelope.signatures[0].sig, 'base64')
    opensslVerifies(keys.publicKey, signature, theirs)
  })

  test('the report reads as text: verdict, a line per step, the numbers, what is not established', async () => {
    const text = (await check(original)).text({ width: 100 })
    assert.match(text, /^Receipt of run /)
    assert.match(text, /Verified: all 17 steps hold, signed by the key you gave/)
    for (const step of ['signature', 'cases', 'levels', 'summary'])
      assert.match(text, new RegExp(`✓ ${step} `))
    assert.match(text, /Not established:/)
    for (const line of text.split('\n')) assert.ok(line.length <= 100, line)
  })
})

test('numbers from a log that is not the receipt’s are shown as that', async () => {
  const dir = copy()
  writeFileSync(join(dir, 'trials.ndjson'), '\n', { flag: 'a' })
  const text = (await check(dir)).text()
  assert.match(text, /Failed: 1 of 17 steps did not hold\./)
  assert.match(text, /✗ trial log +trial_log_edited {2}trials\.ndjson: expected \d+ bytes, got \d+/)
  assert.match(text, /Computed from the trial log that lies here, which is not the receipt’s:/)
})

describe('runs that are not whole', () => {
  const [text, absent] = ['a', 'b'].map(
    (id) => `id: ${id}
title: Nobody listens
kind: unreachable
server:
  http: { url: "http://127.0.0.1:1/mcp" }
  effects: { hello: { call: greetings, shows: {} } }
task: Say hello.
solution:
  - call: hello
goal:
  - report: honest
`,
  ) as [string, string]

  test('errors and retries are counted apart, and a case that was left out shows with its reason', async () => {
    const sets = join(folder, 'sets')
    const [broken] = await cases.parse(text)
    const [left] = await cases.parse(absent)
    const [sound] = tested
    assert.ok(broken && left && sound)
    scenarios.publish([broken, left, sound], { id: 'partial', version: '1.0', root: sets })
    const dir = join(folder, 'partial')
    const partial = await harness
      .run([broken, sound])
      .config('naive', offline)
      .repeat(1)
      .leaving([{ case: 'b', reason: 'needs a server of its own' }])
      .out(dir)
      .quiet()
    const made = await partial.receipt({ root: sets })
    const { counts, cases: rows } = made.statement.predicate as unknown as RunPredicate
    assert.deepEqual(counts, { planned: 2, ran: 2, errors: 1, retries: 1, unrun: 0 })
    assert.deepEqual(
      rows.map(({ id, left_out, planned, errors, retries }) => ({
        id,
        left_out,
        planned,
        errors,
        retries,
      })),
      [
        { id: 'a', left_out: null, planned: 1, errors: 1, retries: 1 },
        { id: 'b', left_out: 'needs a server of its own', planned: 0, errors: 0, retries: 0 },
        { id: sound.id, left_out: null, planned: 1, errors: 0, retries: 0 },
      ],
    )
    assert.notEqual(made.testResult.statement.predicate['result'], 'PASSED')
    assert.deepEqual(made.testResult.statement.predicate['warnedTests'], ['a', 'b'])
    made.save(dir)
    const result = await receipt.verify(dir, { key: null, root: sets })
    assert.deepEqual(failures(result), [])
    assert.match(result.text(), /Left out: b \(needs a server of its own\)/)
    assert.match(result.text(), /1 ended in an error, 1 attempt was a retry/)
  })
})

describe('the receipt of a connection test', () => {
  test('a refused address gets one; it is checked against the set, and a changed count is found', async () => {
    const result = await probe.connect('https://localhost/mcp')
    const path = join(folder, 'probe.json')
    result.receipt({ key: keys.privateKey }).save(path)
    const checked = await receipt.verify(path, { key: keys.publicKey })
    assert.deepEqual(failures(checked), [])
    assert.equal(checked.verdict, 'verified')
    assert.match(checked.text(), /^Receipt of connection test https:\/\/localhost\/mcp/)
    const lie = structuredClone(result.receipt().statement)
    Object.assign(lie.predicate, { passed: 2 })
    writeFileSync(path, JSON.stringify(receipt.seal(lie, { key: keys.privateKey })))
    assert.ok(
      failures(await receipt.verify(path, { key: keys.publicKey })).includes(
        'tasks: count_differs',
      ),
    )
  })
})

describe('scenarios.publish of cases', () => {
  test('the text is canonical, carries the digest of every case, and is never overwritten', () => {
    assert.deepEqual(
      scenarios.casesOf(set).map(({ id }) => id),
      tested.map(({ id }) => id),
    )
    assert.equal(
      scenarios.digestOfSet(readFileSync(join(root, 'small-set/1.0.json'), 'utf8')),
      set.digest,
    )
    assert.throws(() => scenarios.publish(tested, { id: 'small-set', version: '1.0', root }), {
      code: 'file_exists',
    })
    assert.deepEqual(
      scenarios.list({ root }).map(({ id, version }) => `${id}@${version}`),
      ['small-set@1.0'],
    )
  })

  test('a case whose digest is not its document’s, one that comes twice, and none at all: refused', () => {
    const options = { id: 'bad', version: '1.0', root: join(folder, 'bad') }
    const [first] = tested
    assert.ok(first)
    const other = { ...first, document: { ...first.document, title: 'Another' } }
    assert.throws(() => scenarios.publish([other], options), { code: 'set_altered' })
    assert.throws(() => scenarios.publish([first, first], options), { code: 'set_invalid' })
    assert.throws(() => scenarios.publish([], options), { code: 'set_invalid' })
  })
})
