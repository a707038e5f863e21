/** Files and calls that mean harm, or are merely wrong: a level never rises by them, and every refusal says what was expected. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { createHash, generateKeyPairSync } from 'node:crypto'
import { mkdirSync, readFileSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { receipt } from '../../../lib/index.ts'
import { temporaryFolder } from '../../temporary.ts'
import {
  check,
  copy,
  editManifest,
  editTrial,
  failures,
  keys,
  refit,
  reseal,
  root,
  sealed,
  set,
} from '../attest/sealed-run.ts'

const folder = temporaryFolder('hostile')
const at = (name: string) => join(folder, name)
const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 }).publicKey.export({
  format: 'pem',
  type: 'spki',
}) as string
const none = undefined as never
const observed = (more: object = {}, args: object = {}) =>
  receipt.observe({
    server: 'github',
    tool: 'add_deploy_key',
    status: 'success',
    runId: 'run-1',
    seq: 0,
    arguments: { owner: 'org', repo: 'prod-repo', title: 'ci-key', ...args },
    ...more,
  })
const call = observed()
const record = (more: object = {}, target: object = {}) =>
  receipt.record({
    provider: 'github',
    record_id: 'e1',
    subject: {
      action_class: 'github_deploy_key',
      verb: 'create',
      target: {
        owner: 'org',
        repo: 'prod-repo',
        key_title_hash: receipt.targetHash('github_key_title', 'ci-key'),
        ...target,
      },
    },
    ...more,
  })
const levelOf = (calls: unknown[], options: receipt.VerifyOptions) =>
  receipt.verify(calls, options).calls[0]?.level
const refused = (code: string, message: RegExp) => (error: Error & { code?: string }) => {
  assert.equal(error.code, code, error.stack)
  assert.match(error.message, /^expected /)
  assert.match(error.message, message)
  return true
}

describe('what must not raise a level', () => {
  test('a name with characters that were replaced binds to no record and is shown by no read: it may be another name', () => {
    assert.equal(levelOf([call], { audit: record() }), 'verified')
    const altered = observed({}, { repo: 'prod\u0007repo' })
    const read = observed(
      {
        tool: 'list_deploy_keys',
        seq: 1,
        result: { structuredContent: { result: [{ title: 'ci-key' }] } },
        arguments: { owner: 'org', repo: 'prod\u0001repo' },
      },
      {},
    )
    const report = receipt.verify([altered, read], {
      audit: record({}, { repo: 'prod\ufffdrepo' }),
    })
    assert.equal(report.calls[0]?.level, 'asserted')
    assert.match(report.calls[0]?.why_not_higher ?? '', /not as it was written/)
  })

  test('a record that says that it is authentic is not believed: only a signature that was checked here counts', () => {
    const authenticity = {
      method: 'cloudtrail_digest_chain' as const,
      verified: true,
      detail: 'signed, honestly',
    }
    const imported = receipt.importAudit('github', '[]')
    for (const audit of [
      record({ authenticity }),
      { ...imported, records: [record({ authenticity })], authenticity },
    ] as receipt.Audit[]) {
      const report = receipt.verify([call], { audit })
      const { binding } = report.calls[0] as receipt.CallRow
      assert.equal(binding?.outcome === 'bound' && binding.authenticity?.verified, false)
      assert.doesNotMatch(JSON.stringify(report), /"verified":true|honestly/)
    }
  })

  for (const [what, options, message] of [
    [
      'a window that is misspelt',
      { windows: { from: '2026-01-01' } },
      /got "windows"; did you mean "window"\? \(options\)/,
    ],
    [
      'a level that is misspelt',
      { min_level: 'verified' },
      /got "min_level"; did you mean "minLevel"\? \(options\)/,
    ],
    [
      'a window by other names',
      { window: { start: '2026-01-01' } },
      /expected one of from, to, got "start" \(window\)/,
    ],
    [
      'a window that is a list',
      { window: ['2026-01-01', '2026-01-02'] },
      /expected an object .*got a list \(window\)/,
    ],
    ['a window that is null', { window: null }, /got null \(window\)/],
    ['a month for a time', { window: { from: '5' } }, /ISO 8601 .*got "5" \(window\.from\)/],
    [
      'a time that depends on the machine',
      { window: { to: '2026-01-05T09:00' } },
      /distance from UTC.*\(window\.to\)/,
    ],
    ['a list for options', ['audit.json'], /expected an object .*got a list \(options\)/],
    ['null for options', null, /got null \(options\)/],
  ] as [string, never, RegExp][]) {
    test(`${what} is refused, where leaving it out would let records through`, () => {
      assert.throws(() => receipt.verify([call], options), refused('argument_invalid', message))
      assert.throws(
        () => receipt.verify(at('no-file'), options),
        refused('argument_invalid', message),
      )
    })
  }

  test('a record’s time without its distance from UTC is none, wherever the machine stands', () => {
    const window = { from: '2026-01-05T00:00:00Z', to: '2026-01-06T00:00:00Z' }
    assert.equal(
      levelOf([call], { audit: record({ occurred_at: '2026-01-05T09:00:00+02:00' }), window }),
      'verified',
    )
    const report = receipt.verify([call], {
      audit: record({ occurred_at: '2026-01-05T09:00:00' }),
      window,
    })
    assert.deepEqual(
      [report.calls[0]?.level, report.records.rejected[0]?.reason],
      ['asserted', 'record_malformed'],
    )
    const entry = {
      action: 'public_key.create',
      _document_id: 'e1',
      repo: 'org/prod-repo',
      title: 'ci-key',
    }
    for (const created_at of ['2026-01-05 09:00:00', '2026-01-05T09:00:00', '5']) {
      const audit = { provider: 'github', bytes: JSON.stringify([{ ...entry, created_at }]) }
      assert.equal(levelOf([call], { audit, window }), 'asserted', created_at)
    }
  })
})

describe('files that are no plain files', () => {
  const pipe = (path: string) => spawnSync('mkfifo', [path]).status === 0

  test('a link or a pipe in a folder of evidence is listed by name, and never followed round', () => {
    mkdirSync(join(at('evidence'), 'sub'), { recursive: true })
    symlinkSync('..', join(at('evidence'), 'sub', 'up'))
    const piped = pipe(join(at('evidence'), 'pipe'))
    const { ignored } = receipt.verify([call], { audit: at('evidence') })
    assert.deepEqual(
      ignored.map(({ name }) => name),
      [...(piped ? [join(at('evidence'), 'pipe')] : []), join(at('evidence'), 'sub', 'up')],
    )
    assert.match(ignored[0]?.reason ?? '', /a link or a device/)
  })

  test('a link that leads to itself, a name too long and one with a NUL are errors that name the path', async () => {
    symlinkSync(at('loop'), at('loop'))
    for (const path of [at('loop'), at('x'.repeat(5000)), join(at('loop'), 'below')]) {
      for (const read of [
        async () => receipt.verify(path),
        async () => receipt.verify(path, { key: null }),
        () => receipt.verifyStream(path),
      ])
        await assert.rejects(read, refused('file_unreadable', /expected a readable file, got E/))
    }
    await assert.rejects(async () => receipt.verify('a\0b'), { code: 'file_unreadable' })
    await assert.rejects(() => receipt.verifyStream('a\0b'), { code: 'argument_invalid' })
    for (const path of [none, 0, null] as never[]) {
      await assert.rejects(
        () => receipt.verifyStream(path),
        refused('argument_invalid', /expected a path/),
      )
      assert.throws(
        () => receipt.importAuditFile('github', path),
        refused('argument_invalid', /expected a path/),
      )
    }
  })

  for (const name of [
    'decisions.ndjson',
    'transcripts.ndjson',
    'trials.ndjson',
    'manifest.json',
    'test-result.json',
  ]) {
    test(`a pipe in the place of a run’s ${name} keeps no auditor waiting: the receipt fails`, async (t) => {
      const dir = copy()
      rmSync(join(dir, name))
      if (!pipe(join(dir, name))) return t.skip('this system has no mkfifo')
      assert.equal((await check(dir)).verdict, 'failed')
    })
  }

  test('a pipe in the place of a run’s receipt is refused', async (t) => {
    const dir = copy()
    rmSync(join(dir, 'receipt.json'))
    if (!pipe(join(dir, 'receipt.json'))) return t.skip('this system has no mkfifo')
    await assert.rejects(() => check(dir), refused('file_unreadable', /receipt\.json/))
  })

  test('a log file of CloudTrail that is no whole gzip data is an export that cannot be read, with digest files too', () => {
    const digests = JSON.stringify({
      digestS3Object: 'a',
      digestS3Bucket: 'b',
      digestEndTime: '2026-01-05T00:00:00Z',
      digestSignatureAlgorithm: 'SHA256withRSA',
      logFiles: [],
    })
    for (const options of [{}, { digests: [{ bytes: digests }], publicKey: rsa }])
      assert.throws(
        () => receipt.importAudit('cloudtrail', new Uint8Array([0x1f, 0x8b, 8, 1, 2]), options),
        {
          code: 'export_invalid',
        },
      )
  })
})

describe('a receipt that has any shape at all', () => {
  for (const [what, alter, finds] of [
    [
      'a configuration whose name is no text',
      (dir: string) =>
        editManifest(dir, (one) =>
          Object.assign((one['configurations'] as object[])[0] ?? {}, { name: [] }),
        ),
      'manifest: manifest_unreadable',
    ],
    [
      'no list of what was left out',
      (dir: string) => editManifest(dir, (one) => Object.assign(one, { left_out: 7 })),
      'manifest: manifest_unreadable',
    ],
    [
      'a cost that is a list',
      (dir: string) => editTrial(dir, (one) => Object.assign(one, { cost_usd: [[]] })),
      'trial log: trial_unreadable',
    ],
    [
      'a claim that matched a word',
      (dir: string) =>
        editTrial(dir, (one) =>
          Object.assign(one, { claims: [{ ...one.claims[0], matched: 'yes' }] }),
        ),
      'trial log: trial_unreadable',
    ],
    [
      'an end that is no digest',
      (dir: string) => editTrial(dir, (one) => Object.assign(one, { end_digest: 'constructor' })),
      'trial log: trial_unreadable',
    ],
  ] as const) {
    test(`${what} is found, and the report can be printed`, async () => {
      const dir = copy()
      alter(dir)
      refit(dir)
      const result = await check(dir)
      assert.ok(failures(result).includes(finds), failures(result).join(', '))
      assert.match(result.text(), /failed/i)
    })
  }

  test('a set that holds a case with another digest is a step that failed, not an error', async () => {
    const dir = copy()
    const path = at('set.json')
    const inner = JSON.parse(set.text)
    inner.cases[0].document.title = 'Easier'
    const text = JSON.stringify(inner)
    writeFileSync(path, text)
    const digest = `sha256:${createHash('sha256').update(`assay-scenarios/v1\n${text}`).digest('hex')}`
    reseal(dir, (one) => Object.assign(one['predicate']?.['set'] ?? {}, { digest }))
    const result = await check(dir, { set: path })
    assert.ok(failures(result).includes('set: set_invalid'), failures(result).join(', '))
  })
})

describe('what a process that was killed leaves', () => {
  test('the beginning of a receipt is written anew; a whole one, and any other file, stays', () => {
    mkdirSync(at('issued'))
    const file = join(at('issued'), 'receipt.json')
    sealed.save(at('issued'))
    const whole = readFileSync(file, 'utf8')
    assert.throws(() => sealed.save(at('issued')), refused('file_exists', /receipt\.json/))
    for (const length of [0, 1, whole.length - 1]) {
      truncateSync(file, length)
      sealed.save(at('issued'))
      assert.equal(readFileSync(file, 'utf8'), whole)
    }
    rmSync(file)
    sealed.save(at('issued'))
    writeFileSync(file, '{"another":1}')
    assert.throws(() => sealed.save(at('issued')), refused('file_exists', /receipt\.json/))
    rmSync(file)
    writeFileSync(join(at('issued'), 'test-result.json'), '{"another":1}')
    assert.throws(() => sealed.save(at('issued')), refused('file_exists', /test-result\.json/))
    assert.throws(
      () => sealed.save(join(at('issued'), 'no', 'folder.json')),
      refused('file_unwritable', /ENOENT/),
    )
    assert.throws(
      () => receipt.keys.generate(join(at('issued'), 'no', 'key')),
      refused('file_unwritable', /ENOENT/),
    )
  })

  test('half a line at a ledger’s end does not swallow the next one, and is named', () => {
    const report = receipt.verify([call], { audit: record() })
    writeFileSync(at('ledger'), '{"provider":"github","rec')
    assert.equal(receipt.appendLedger(at('ledger'), report), 1)
    assert.equal(
      JSON.parse(readFileSync(at('ledger'), 'utf8').split('\n')[1] ?? '').record_id,
      'e1',
    )
    assert.throws(() => receipt.verify([call], { ledger: at('ledger') }), {
      code: 'json_syntax',
      message: /ledger:1/,
    })
    assert.throws(() => receipt.appendLedger(folder, report), refused('file_unwritable', /EISDIR/))
  })
})

describe('a guess at the interface is answered', () => {
  const guesses: [string, () => unknown, string, RegExp][] = [
    ['verify()', () => receipt.verify(none), 'surface_invalid', /got nothing/],
    ['verify(null)', () => receipt.verify(null as never), 'surface_invalid', /got null/],
    ['verify of a folder', () => receipt.verify(folder), 'argument_invalid', /expected \{ key \}/],
    [
      'a ledger that is a number',
      () => receipt.verify([], { ledger: 7 as never }),
      'argument_invalid',
      /got number/,
    ],
    [
      'a ledger of nulls',
      () => receipt.verify([], { ledger: [null] as never }),
      'record_invalid',
      /ledger\[0\]/,
    ],
    [
      'appendLedger turned round',
      () => receipt.appendLedger(none, 'x' as never),
      'argument_invalid',
      /a path and a report/,
    ],
    [
      'half an import',
      () => receipt.verify([], { audit: { counts: 1, records: 2 } as never }),
      'argument_invalid',
      /import/,
    ],
    [
      'a provider that is none',
      () => receipt.importAudit(none, '[]'),
      'argument_invalid',
      /got undefined \(provider\)/,
    ],
    [
      'an export that is none',
      () => receipt.importAudit('github', none),
      'argument_invalid',
      /text or bytes/,
    ],
    ['observe()', () => receipt.observe(none), 'argument_invalid', /expected a call, got nothing/],
    [
      'surface()',
      () => receipt.surface(none),
      'argument_invalid',
      /a list of decisions, got nothing/,
    ],
    [
      'record()',
      () => receipt.record(none),
      'argument_invalid',
      /the parts of a record, got nothing/,
    ],
    [
      'subjectOf()',
      () => receipt.subjectOf(none),
      'argument_invalid',
      /expected an action, got nothing/,
    ],
    [
      'targetHash(domain)',
      () => receipt.targetHash('x', none),
      'argument_invalid',
      /a domain and a text/,
    ],
    ['descriptor()', () => receipt.descriptor('a', none), 'argument_invalid', /64 lower-case hex/],
    [
      'issueProbe()',
      () => receipt.issueProbe(none),
      'argument_invalid',
      /a probe's statement, got nothing/,
    ],
    [
      'publishedSet()',
      () => receipt.publishedSet(none, { root }),
      'argument_invalid',
      /a list of cases, got nothing/,
    ],
    [
      'keyIdOf(pem)',
      () => receipt.keys.keyIdOf(keys.publicKey as never),
      'key_invalid',
      /expected a key/,
    ],
    [
      'a key object for PEM',
      () => receipt.verify(folder, { key: {} as never }),
      'key_invalid',
      /PEM or a path, got object/,
    ],
    ['issueRun()', () => receipt.issueRun(none), 'argument_invalid', /a run's folder, got nothing/],
  ]
  for (const [what, guess, code, message] of guesses) {
    test(what, async () => {
      await assert.rejects(async () => await guess(), refused(code, message))
    })
  }
})
