/** One real run receipt and its folder, altered after the fact: each alteration is found, and named by a code of its own. */
import assert from 'node:assert/strict'
import { copyFileSync, mkdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, test } from 'node:test'
import { harness, receipt, TouchstoneError } from '../../../lib/index.ts'
import fc from '../../property.ts'
import {
  at,
  check,
  copy,
  eachIsFound,
  editLine,
  editManifest,
  editTrial,
  exported,
  failures,
  fresh,
  keys,
  linesIn,
  named,
  original,
  place,
  refit,
  replaceIn,
  reseal,
  root,
  trials,
  victim,
  writeLines,
} from './sealed-run.ts'

describe('a receipt whose folder was altered', () => {
  eachIsFound([
    {
      what: 'another key is asked for',
      alter: () => ({ key: receipt.keys.generate().publicKey }),
      finds: 'signature: key_differs',
      names: new RegExp(keys.keyId.slice(0, 12)),
    },
    {
      what: 'a bit of the signature',
      alter: (dir) => {
        const path = join(dir, 'receipt.json')
        const envelope = JSON.parse(readFileSync(path, 'utf8'))
        const sig = Buffer.from(envelope.signatures[0].sig, 'base64')
        sig[7] = (sig[7] as number) ^ 1
        envelope.signatures[0].sig = sig.toString('base64')
        writeFileSync(path, JSON.stringify(envelope))
      },
      finds: 'signature: signature_wrong',
    },
    {
      what: 'the signatures taken off',
      alter: (dir) =>
        replaceIn(dir, 'receipt.json', /"signatures": \[[^\]]*\]/, '"signatures": []'),
      finds: 'signature: unsigned',
    },
    {
      what: 'the key hint',
      alter: (dir) => replaceIn(dir, 'receipt.json', /"keyid": "./, '"keyid": "x'),
      finds: 'signature: key_hint_wrong',
    },
    {
      what: 'base64 that a lenient reader repairs',
      alter: (dir) => replaceIn(dir, 'receipt.json', /"payload": "/, '"payload": "*'),
      finds: 'envelope: envelope_invalid',
    },
    {
      what: 'one byte of the payload',
      alter: (dir) =>
        reseal(
          dir,
          (one) =>
            Object.assign(one['predicate']?.['run'] ?? {}, {
              created_at: '2020-01-01T00:00:00.000Z',
            }),
          {
            sign: false,
          },
        ),
      finds: 'statement: run_differs',
      names: /predicate\.run\.created_at/,
    },
    {
      what: 'the text of the set',
      alter: (dir) => {
        const path = `${dir}-set.json`
        writeFileSync(
          path,
          readFileSync(join(root, 'small-set/1.0.json'), 'utf8').replace(
            'deploy key',
            'deploy kay',
          ),
        )
        return { set: path }
      },
      finds: 'set: set_differs',
    },
    {
      what: 'a case that is not the set’s',
      alter: (dir) =>
        editManifest(dir, (one) =>
          Object.assign((one['cases'] as object[])[0] ?? {}, {
            digest: `sha256:${'0'.repeat(64)}`,
          }),
        ),
      finds: 'cases: case_differs',
    },
    {
      what: 'a byte of the manifest',
      alter: (dir) => replaceIn(dir, 'manifest.json', /"arch": "/, '"arch": "y'),
      finds: 'manifest: manifest_edited',
    },
    {
      what: 'a case dropped from the manifest',
      alter: (dir) =>
        editManifest(dir, (one) => {
          const cases = (one['cases'] as object[]).slice(1)
          Object.assign(one, { cases, planned: cases.length * 2 * 2 })
        }),
      finds: 'cases: case_dropped',
    },
    {
      what: 'a receipt of fewer trials planned',
      alter: (dir) =>
        reseal(dir, (one) => Object.assign(one['predicate']?.['plan'] ?? {}, { planned: 4 })),
      finds: 'plan: planned_differs',
    },
    {
      what: 'another seed',
      alter: (dir) => editManifest(dir, (one) => Object.assign(one, { seed: 2 })),
      finds: 'plan: seed_differs',
    },
    {
      what: 'a trial edited',
      // Of the same length: a file of another one is not hashed.
      alter: (dir) => editTrial(dir, (row) => Object.assign(row, { steps: (row.steps % 9) + 1 })),
      finds: 'trial log: log_root_differs',
      names: /predicate\.logs\.trials\.ndjson/,
    },
    {
      what: 'a trial removed',
      alter: (dir) =>
        writeLines(dir, 'trials.ndjson', linesIn(dir, 'trials.ndjson').toSpliced(at, 1)),
      finds: 'summary: absent_differs',
    },
    {
      what: 'a trial given twice',
      alter: (dir) =>
        writeLines(
          dir,
          'trials.ndjson',
          linesIn(dir, 'trials.ndjson').flatMap((line, i) => (i === at ? [line, line] : [line])),
        ),
      finds: 'trials: attempt_repeated',
      names: named,
    },
    {
      what: 'a trial added',
      alter: (dir) =>
        writeLines(dir, 'trials.ndjson', [
          ...linesIn(dir, 'trials.ndjson'),
          JSON.stringify({ ...victim, attempt: 1 }),
        ]),
      finds: 'trials: retry_unearned',
      names: named,
    },
    {
      what: 'half a line at the end',
      alter: (dir) => writeFileSync(join(dir, 'trials.ndjson'), '{"schema":', { flag: 'a' }),
      finds: 'trial log: trial_unreadable',
      names: new RegExp(`trials\\.ndjson:${trials.length + 1}`),
    },
    {
      what: 'an empty line',
      alter: (dir) => writeFileSync(join(dir, 'trials.ndjson'), '\n', { flag: 'a' }),
      finds: 'trial log: trial_log_edited',
    },
    {
      what: 'a decision edited',
      alter: (dir) =>
        editLine(dir, 'decisions.ndjson', place, (line) =>
          line.replace('"enforced":true', '"enforced":false'),
        ),
      finds: 'decisions: decision_edited',
      names: named,
    },
    {
      what: 'a decision removed',
      alter: (dir) =>
        writeLines(dir, 'decisions.ndjson', linesIn(dir, 'decisions.ndjson').toSpliced(place, 1)),
      finds: 'decisions: decision_removed',
      names: named,
    },
    {
      what: 'a decision added',
      alter: (dir) =>
        writeLines(
          dir,
          'decisions.ndjson',
          linesIn(dir, 'decisions.ndjson').flatMap((line, i) =>
            i === place ? [line, line] : [line],
          ),
        ),
      finds: 'decisions: decision_added',
      names: named,
    },
    {
      what: 'a decision of a trial that there is not',
      alter: (dir) =>
        editLine(dir, 'decisions.ndjson', place, (line) =>
          line.replace('"attempt":0', '"attempt":7'),
        ),
      finds: 'decisions: decision_unattributed',
    },
    {
      what: 'an audit export edited',
      alter: (dir) =>
        editLine(dir, 'audit.ndjson', exported, (line) => {
          const row = JSON.parse(line)
          return JSON.stringify({ ...row, text: '[ ]' })
        }),
      finds: 'audit exports: audit_edited',
      names: named,
    },
    {
      what: 'an audit export removed',
      alter: (dir) =>
        writeLines(dir, 'audit.ndjson', linesIn(dir, 'audit.ndjson').toSpliced(exported, 1)),
      finds: 'audit exports: audit_removed',
      names: named,
    },
    {
      what: 'an audit export added',
      alter: (dir) => {
        const lines = linesIn(dir, 'audit.ndjson')
        writeLines(dir, 'audit.ndjson', [...lines, lines[exported] as string])
      },
      finds: 'audit exports: audit_added',
      names: named,
    },
    {
      what: 'an audit export of a trial that there is not',
      alter: (dir) =>
        editLine(dir, 'audit.ndjson', exported, (line) =>
          line.replace('"attempt":0', '"attempt":7'),
        ),
      finds: 'audit exports: audit_unattributed',
    },
    {
      what: 'an audit export that is no JSON',
      alter: (dir) => editLine(dir, 'audit.ndjson', exported, (line) => line.replace('{', '[')),
      finds: 'audit exports: audit_unreadable',
    },
    {
      what: 'all audit exports removed',
      alter: (dir) => rmSync(join(dir, 'audit.ndjson')),
      finds: 'audit exports: audit_file_removed',
    },
    {
      what: 'a transcript edited',
      alter: (dir) =>
        editLine(dir, 'transcripts.ndjson', at, (line) =>
          line.replace('"said":[', '"said":["all is well"'),
        ),
      finds: 'transcripts: transcript_edited',
    },
    {
      what: 'a transcript removed',
      alter: (dir) =>
        writeLines(dir, 'transcripts.ndjson', linesIn(dir, 'transcripts.ndjson').slice(1)),
      finds: 'transcripts: transcript_removed',
    },
    {
      what: 'the report edited',
      alter: (dir) => writeFileSync(join(dir, 'report.md'), '# A better report\n'),
      finds: 'other files: file_edited',
      names: /report\.md/,
    },
    {
      what: 'the report removed',
      alter: (dir) => rmSync(join(dir, 'report.md')),
      finds: 'other files: file_removed',
      names: /report\.md/,
    },
    {
      what: 'a file that nobody knows',
      alter: (dir) => {
        mkdirSync(join(dir, 'more'))
        writeFileSync(join(dir, 'more/notes.txt'), '')
      },
      finds: 'other files: file_added',
      names: /more\/notes\.txt/,
    },
    {
      what: 'the manifest removed',
      alter: (dir) => rmSync(join(dir, 'manifest.json')),
      finds: 'manifest: manifest_removed',
    },
    {
      what: 'the trial log removed',
      alter: (dir) => rmSync(join(dir, 'trials.ndjson')),
      finds: 'trial log: trial_log_removed',
    },
    {
      what: 'all decisions removed',
      alter: (dir) => rmSync(join(dir, 'decisions.ndjson')),
      finds: 'decisions: decision_log_removed',
    },
    {
      what: 'all transcripts removed',
      alter: (dir) => rmSync(join(dir, 'transcripts.ndjson')),
      finds: 'transcripts: transcript_log_removed',
    },
    {
      what: 'a decision that is no JSON',
      alter: (dir) => editLine(dir, 'decisions.ndjson', place, (line) => line.replace('{', '[')),
      finds: 'decisions: decision_unreadable',
    },
    {
      what: 'a second transcript',
      alter: (dir) =>
        writeLines(
          dir,
          'transcripts.ndjson',
          linesIn(dir, 'transcripts.ndjson').flatMap((line, i) =>
            i === 0 ? [line, line] : [line],
          ),
        ),
      finds: 'transcripts: transcript_added',
    },
    {
      what: 'transcripts in another order',
      alter: (dir) =>
        writeLines(dir, 'transcripts.ndjson', linesIn(dir, 'transcripts.ndjson').reverse()),
      finds: 'transcripts: transcript_log_edited',
    },
  ])

  test('lines of any log in another order are found by the root', async () => {
    for (const file of ['trials', 'decisions', 'transcripts', 'audit']) {
      const dir = copy()
      writeLines(dir, `${file}.ndjson`, linesIn(dir, `${file}.ndjson`).reverse())
      const problems = (await check(dir)).steps.flatMap((step) => step.problems)
      const where = `predicate.logs.${file}.ndjson`
      assert.ok(
        problems.some((one) => one.code === 'log_root_differs' && one.where.startsWith(where)),
        file,
      )
    }
  })

  test('a run of an earlier version, with a file for each export, verifies', async () => {
    const dir = copy()
    for (const line of linesIn(dir, 'audit.ndjson')) {
      const { key, text } = JSON.parse(line)
      const path = join(dir, 'audit', `${key.replaceAll('|', '/')}.json`)
      mkdirSync(dirname(path), { recursive: true })
      writeFileSync(path, text)
    }
    rmSync(join(dir, 'audit.ndjson'))
    refit(dir)
    rmSync(join(dir, 'test-result.json'))
    assert.equal((await check(dir)).verdict, 'verified')
    writeFileSync(join(dir, 'audit', `${victim.key.replaceAll('|', '/')}.json`), '[ ]')
    refit(dir)
    assert.ok(failures(await check(dir)).includes('audit exports: audit_edited'))
  })

  test('one flipped bit in any file is found', async () => {
    const files = [
      'receipt.json',
      'test-result.json',
      'manifest.json',
      'trials.ndjson',
      'decisions.ndjson',
      'transcripts.ndjson',
      'report.md',
      'audit.ndjson',
    ]
    const dir = copy()
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...files), fc.nat(), fc.nat(7), async (file, where, bit) => {
        const path = join(dir, file)
        const before = readFileSync(path)
        const i = where % before.length
        // The name of the key hint is the one thing that nothing commits to: the protocol says that readers pass over other names.
        const hint = before.indexOf('"keyid"')
        if (hint >= 0 && i >= hint && i < hint + 7) return
        const after = Buffer.from(before)
        after[i] = (after[i] as number) ^ (1 << bit)
        writeFileSync(path, after)
        try {
          assert.equal((await check(dir)).verdict, 'failed', `${file}, byte ${i}, bit ${bit}`)
        } finally {
          writeFileSync(path, before)
        }
      }),
      { numRuns: 60 },
    )
    assert.equal((await check(dir)).verdict, 'verified')
  })

  test('a folder of nonsense gives a report, never a crash', async () => {
    const dir = fresh('nonsense')
    mkdirSync(join(dir, 'audit'), { recursive: true })
    copyFileSync(join(original, 'receipt.json'), join(dir, 'receipt.json'))
    await fc.assert(
      fc.asyncProperty(fc.json(), fc.json(), fc.json(), async (manifest, trial, decision) => {
        const whole = {
          ...JSON.parse(readFileSync(join(original, 'manifest.json'), 'utf8')),
          cases: JSON.parse(manifest),
        }
        writeFileSync(join(dir, 'manifest.json'), JSON.stringify(whole))
        writeFileSync(
          join(dir, 'trials.ndjson'),
          `${trial}\n${linesIn(original, 'trials.ndjson')[0]}\n`,
        )
        writeFileSync(
          join(dir, 'decisions.ndjson'),
          `${decision}\n{"key":"x","attempt":0,"decision":${decision}}\n`,
        )
        assert.equal((await check(dir)).verdict, 'failed')
      }),
      { numRuns: 40 },
    )
  })
})

describe('files of a size that the receipt does not have', () => {
  test('are named by their size, and not read: 8 GB of holes take no time', async () => {
    const dir = copy()
    for (const name of ['report.md', 'decisions.ndjson', 'added.bin']) {
      if (name === 'added.bin') writeFileSync(join(dir, name), '')
      truncateSync(join(dir, name), 8 * 2 ** 30)
    }
    const result = await check(dir)
    const found = failures(result)
    assert.ok(found.includes('other files: file_edited'), found.join('; '))
    assert.ok(found.includes('other files: file_added'), found.join('; '))
    assert.ok(found.includes('decisions: decision_log_edited'), found.join('; '))
    assert.match(result.text(), /report\.md: expected \d+ bytes, got 8589934592/)
  })

  test('a manifest of gigabytes is named, and not read', async () => {
    const dir = copy()
    truncateSync(join(dir, 'manifest.json'), 2 * 2 ** 30)
    assert.ok(failures(await check(dir)).includes('manifest: manifest_edited'))
    rmSync(join(dir, 'receipt.json'))
    assert.equal((await receipt.checkFolder(dir)).verdict, 'failed')
  })
})

describe('a manifest that counts trials more often than they were run', () => {
  type Listed = Record<string, unknown> & { cases: object[]; configurations: object[] }
  const fit = (one: Listed) =>
    Object.assign(one, {
      planned: one.cases.length * one.configurations.length * (one['repeats'] as number),
    })
  const twice: { what: string; change(one: Listed): void; names: RegExp }[] = [
    {
      what: 'a case twice',
      change: (one) => one.cases.push(one.cases[0] ?? {}),
      names: /expected each of cases once, got cases\.0 and cases\.\d+ with the id "/,
    },
    {
      what: 'a configuration twice',
      change: (one) => one.configurations.push(one.configurations[0] ?? {}),
      names: /expected each of configurations once, got configurations\.0 and configurations\.2/,
    },
  ]
  for (const { what, change, names } of twice)
    test(`${what}: neither its receipt nor the run is read`, async () => {
      const dir = copy()
      editManifest(dir, (one) => {
        change(one as Listed)
        fit(one as Listed)
      })
      refit(dir)
      const result = await check(dir)
      assert.ok(failures(result).includes('manifest: manifest_unreadable'), failures(result).join())
      assert.match(result.steps.find(({ step }) => step === 'manifest')?.detail ?? '', names)
      await assert.rejects(harness.open(dir), (error) => {
        assert.ok(error instanceof TouchstoneError)
        assert.equal(error.code, 'run_invalid')
        assert.match(error.message, names)
        return true
      })
    })

  test('planned is cases x configurations x repeats, one more or less is refused', async () => {
    for (const off of [-1, 1]) {
      const dir = copy()
      editManifest(dir, (one) => Object.assign(one, { planned: (one['planned'] as number) + off }))
      await assert.rejects(harness.open(dir), {
        code: 'run_invalid',
        message: /expected planned to be cases x configurations x repeats = \d+, got \d+/,
      })
    }
  })
})

describe('what a manifest says of its cases', () => {
  const marks: [string, unknown][] = [
    ['adversarial', true],
    ['family', 'another'],
    ['kind', 'another'],
    ['twin', null],
    ['title', 'Another'],
  ]
  for (const [name, value] of marks)
    test(`its ${name} is that of the published case`, async () => {
      const dir = copy()
      editManifest(dir, (one) => {
        const [first] = one['cases'] as Record<string, unknown>[]
        assert.ok(first)
        assert.notEqual(first[name], value)
        first[name] = value
      })
      refit(dir)
      const { problems } = (await check(dir)).steps.find(({ step }) => step === 'cases') ?? {}
      assert.deepEqual(
        problems?.map(({ code, where }) => `${code} ${where}`),
        [`case_marks_differ manifest.json: case lying_success/deploy-key.${name}`],
      )
    })
})

describe('marks that contradict the record, by an issuer who signs them', () => {
  type Row = Record<string, unknown>
  const forged: { what: string; finds: string; change(row: Row): void; from(row: Row): boolean }[] =
    [
      {
        what: 'a goal whose reasons say otherwise',
        finds: 'trials: goal_differs',
        from: (row) => row['goal'] === false,
        change: (row) => Object.assign(row, { goal: true, outcome: 'pass' }),
      },
      {
        what: 'an attack whose reasons say otherwise',
        finds: 'trials: attack_differs',
        from: (row) => row['attack'] === true,
        change: (row) => Object.assign(row, { attack: false }),
      },
      {
        what: 'a claim that matched what was not found',
        finds: 'trials: claim_differs',
        from: (row) => (row['overclaims'] as number) > 0,
        change: (row) => {
          for (const claim of row['claims'] as Row[]) if (claim['done']) claim['matched'] = true
          row['overclaims'] = 0
        },
      },
      {
        what: 'overclaims unknown where a claim is false',
        finds: 'trials: overclaims_differ',
        from: (row) => (row['overclaims'] as number) > 0,
        change: (row) => Object.assign(row, { overclaims: null }),
      },
      {
        what: 'asserted writes left out',
        finds: 'levels: write_missing',
        from: (row) => (row['writes'] as number[]).length > 0,
        change: (row) =>
          Object.assign(row, {
            writes: [],
            levels: { asserted: 0, observed_confirmed: 0, verified: 0 },
          }),
      },
    ]
  for (const { what, finds, change, from } of forged)
    test(`${what}: ${finds}, with and without the receipt`, async () => {
      const dir = copy()
      const line = trials.findIndex(from)
      assert.ok(line >= 0, 'no such trial')
      editLine(dir, 'trials.ndjson', line, (text) => {
        const row = JSON.parse(text)
        change(row)
        return JSON.stringify(row)
      })
      refit(dir)
      const code = finds.replace(/.*: /, '')
      assert.ok(failures(await check(dir)).includes(finds))
      assert.ok(failures(await receipt.checkFolder(dir)).includes(finds))
      const opened = await harness.open(dir)
      assert.ok(opened.problems.some((one) => one.code === code))
    })

  test('asserted writes left out with their export are found by the set', async () => {
    const dir = copy()
    editTrial(dir, (row) => {
      row.writes = []
      row.levels = { asserted: 0, observed_confirmed: 0, verified: 0 }
      row.digests.audit = null
    })
    writeLines(dir, 'audit.ndjson', linesIn(dir, 'audit.ndjson').toSpliced(exported, 1))
    refit(dir)
    assert.ok(failures(await check(dir)).includes('levels: write_missing'))
  })

  test('what is not computed again stands beside the verdict', async () => {
    const words =
      /Not computed again, the run’s own word: goal and attack; what claims match \(overclaims, underclaims, unneeded\); refused and exposed, and which faults were met; times, tokens and cost; the seed, the limits and the settings of the manifest; which error of the machinery ended an attempt\./
    const textOf = (result: receipt.Verification) => result.text().replace(/\s+/g, ' ')
    assert.match(textOf(await check(copy())), words)
    const bare = copy()
    rmSync(join(bare, 'receipt.json'))
    assert.match(textOf(await receipt.checkFolder(bare)), words)
  })
})
