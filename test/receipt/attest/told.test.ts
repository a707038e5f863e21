/** Records held against transcripts: what was edited in both the marks and their reasons, by an issuer who signs it. */
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { describe, test } from 'node:test'
import { cases, harness, receipt } from '../../../lib/index.ts'
import { claimsSaid, textOfClaims } from '../../../lib/log/index.ts'
import {
  check,
  copy,
  editLine,
  editManifest,
  failures,
  fresh,
  linesIn,
  refit,
  tested,
  trials,
  writeLines,
} from './sealed-run.ts'

// biome-ignore lint/suspicious/noExplicitAny: a record that is forged has any shape
type Row = Record<string, any>
const liar = trials.findIndex(({ overclaims }) => overclaims > 0)

/** Edit one trial's record, and its transcript where `told` is given, and make every digest fit. */
function forge(
  dir: string,
  at: number,
  change: (row: Row) => void,
  told: (line: Row) => void = () => {},
): void {
  const key = trials[at].key
  const transcripts = linesIn(dir, 'transcripts.ndjson')
  const place = transcripts.findIndex((line) => JSON.parse(line).key === key)
  const transcript = JSON.parse(transcripts[place] as string)
  told(transcript)
  const text = JSON.stringify(transcript)
  editLine(dir, 'transcripts.ndjson', place, () => text)
  editLine(dir, 'trials.ndjson', at, (line) => {
    const row = JSON.parse(line)
    change(row)
    row.digests.transcript = `sha256:${createHash('sha256').update(text).digest('hex')}`
    return JSON.stringify(row)
  })
}

const met = (row: Row) => {
  for (const one of row['reasons'].goal) Object.assign(one, { met: true, found: 'there' })
  Object.assign(row, { goal: true, outcome: 'pass', overclaims: 0 })
}
const asError = (row: Row, code = 'provider_failed') => {
  delete row['reasons']
  Object.assign(row, {
    outcome: 'error',
    goal: null,
    attack: null,
    error: { code, message: 'HTTP 503' },
  })
}

describe('a record whose marks and reasons are both edited', () => {
  const forged: {
    what: string
    finds: RegExp
    change(row: Row): void
    told?(line: Row): void
  }[] = [
    {
      what: 'a false claim left out',
      finds: /^claims_differ: the transcript has 1 claims, the record 0$/,
      change: (row) => {
        met(row)
        row['claims'] = []
      },
    },
    {
      what: 'a false claim that says it was not done',
      finds: /^claims_differ: claim 0 is another/,
      change: (row) => {
        met(row)
        for (const claim of row['claims'])
          Object.assign(claim, {
            done: false,
            matched: null,
            found: 'the agent says that it was not done',
          })
      },
    },
    {
      what: 'a claim about another thing',
      finds: /^claims_differ: claim 0 is another/,
      change: (row) => {
        met(row)
        Object.assign(row['claims'][0].target, { title: 'old' })
        Object.assign(row['claims'][0], { matched: true, found: 'deploy_keys: created {}' })
      },
    },
    {
      what: 'no report where there is one',
      finds: /^claims_differ: the transcript has a report, the record says none$/,
      change: (row) =>
        Object.assign(row, {
          reported: false,
          claims: [],
          claims_from: null,
          overclaims: null,
          underclaims: null,
        }),
    },
    {
      what: 'claims that are not known, counted',
      finds: /^overclaims_differ: what the agent claims is not known/,
      change: (row) => {
        met(row)
        Object.assign(row, { reported: false, claims: [], claims_from: null })
      },
      told: (line) => {
        delete line['report_claims']
        Object.assign(line, { said: ['Nothing to say.'], can_change: [] })
      },
    },
    {
      what: 'a judge model that read what the agent had reported',
      finds: /^claims_differ: the agent handed over its claims, and the record says that a judge/,
      change: (row) => {
        met(row)
        Object.assign(row, { claims_from: 'judge', claims: [], reported: false })
      },
    },
    {
      what: 'a judge model that nobody asked',
      finds: /^claims_differ: the record says that a judge model read the claims, and none did$/,
      change: (row) => {
        met(row)
        Object.assign(row, { claims_from: 'judge', claims: [], reported: false })
      },
      told: (line) => {
        delete line['report_claims']
        Object.assign(line, { said: ['All done.'], can_change: [] })
      },
    },
    {
      what: 'a failed trial as an error of the provider',
      finds:
        /^ending_differs: the transcript ends with finished, the record says finished, outcome error/,
      change: (row) => asError(row),
    },
    {
      what: 'a failed trial as an error, with the end of one',
      finds: /^ending_differs: the transcript ends with finished, the record says provider_failed/,
      change: (row) => {
        asError(row)
        row['ending'] = 'provider_failed'
      },
    },
    {
      what: 'a failed trial as an error of the harness, its end taken out of the transcript',
      finds: /^ending_differs: the transcript has the agent’s words and not how it ended/,
      change: (row) => {
        asError(row, 'harness_failed')
        row['ending'] = 'harness_failed'
      },
      told: (line) => {
        delete line['end']
      },
    },
    {
      what: 'a limit that was reached, as a finished trial',
      finds: /^ending_differs: the transcript ends with step_limit/,
      change: met,
      told: (line) => {
        line['end'] = 'step_limit'
      },
    },
    {
      what: 'an end that no trial has',
      finds: /^ending_differs: the transcript ends with a word that no trial has/,
      change: met,
      told: (line) => {
        line['end'] = 'toString'
      },
    },
    {
      what: 'a call that the transcript has otherwise',
      finds: /^calls_differ: call #0 ended with success in the decisions, with error/,
      change: () => {},
      told: (line) => {
        line['calls'][0].status = 'error'
      },
    },
    {
      what: 'a call that the transcript does not have',
      finds: /^calls_differ: the record counts 1 calls, the transcript has 0/,
      change: () => {},
      told: (line) => {
        line['calls'] = []
      },
    },
    {
      what: 'malformed calls that are not counted',
      finds: /^calls_differ: the transcript has 1 calls that were none, the record says 0$/,
      change: () => {},
      told: (line) => {
        line['malformed'] = [{ tool: 'x', input: '', problem: '' }]
      },
    },
    {
      what: 'answers of a provider for a script',
      finds: /^model_differs: naive is the script sim\/naive, and a provider answered$/,
      change: () => {},
      told: (line) => {
        line['responses'] = [{ model: 'gpt-oss-20b' }]
      },
    },
    {
      what: 'a transcript of another shape',
      finds: /^transcript_unreadable: .*got report_claims of another shape/,
      change: () => {},
      told: (line) => {
        line['report_claims'] = [{ tool: 'x' }]
      },
    },
  ]
  for (const { what, finds, change, told } of forged)
    test(`${what} is found, with and without the receipt`, async () => {
      const dir = copy()
      forge(dir, liar, change, told)
      refit(dir)
      for (const result of [await check(dir), await receipt.checkFolder(dir)]) {
        const found = result.steps.find(({ step }) => step === 'transcripts')?.problems ?? []
        assert.ok(
          found.some(({ code, detail, where }) => {
            return finds.test(`${code}: ${detail}`) && where.includes(trials[liar].key)
          }),
          JSON.stringify(found.concat(result.steps.flatMap(({ problems }) => problems))),
        )
        assert.equal(result.verdict, 'failed')
      }
      const opened = await harness.open(dir)
      assert.ok(opened.problems.some(({ code, detail }) => finds.test(`${code}: ${detail}`)))
    })

  test('a call taken out of decisions and record is missing beside the transcript', async () => {
    const dir = copy()
    const key = trials[liar].key
    const left = linesIn(dir, 'decisions.ndjson').filter((line) => JSON.parse(line).key !== key)
    writeLines(dir, 'decisions.ndjson', left)
    forge(dir, liar, (row) => {
      Object.assign(row, { calls: 0, writes: [] })
      row['levels'] = { asserted: 0, observed_confirmed: 0, verified: 0 }
      row['digests'].decisions = `sha256:${createHash('sha256').update('').digest('hex')}`
    })
    refit(dir)
    assert.ok(failures(await check(dir)).includes('transcripts: calls_differ'))
  })

  test('claims that a transcript does not hold are counted among what is not computed again', async () => {
    const dir = copy()
    forge(
      dir,
      liar,
      () => {},
      (line) => {
        delete line['report_claims']
      },
    )
    const result = await receipt.checkFolder(dir)
    assert.equal(result.verdict, 'verified', result.text())
    assert.match(
      result.text().replace(/\s+/g, ' '),
      /own word: .*; the claims of 1 attempts, which their transcripts do not hold\./,
    )
    assert.equal(result.toJSON().not_recomputed.length, 7)
    assert.equal((await check(copy())).not_recomputed.length, 6)
  })
})

describe('a manifest that says a script is a model', () => {
  const MODEL = 'groq/openai/gpt-oss-20b'
  const relabel = (dir: string) =>
    editManifest(dir, (one) => {
      const [first] = one['configurations'] as Row[]
      Object.assign(first as Row, { model: MODEL, simulated: false })
    })
  const answer = (line: Row) => {
    line['model'] = 'openai/gpt-oss-20b'
  }

  test('is found by the name under which the script answered', async () => {
    const dir = copy()
    relabel(dir)
    refit(dir)
    const result = await receipt.checkFolder(dir)
    assert.ok(failures(result).includes('transcripts: model_differs'))
    assert.match(
      result.text().replace(/\s+/g, ' '),
      /naive is groq\/.*, and the script sim\/naive answered/,
    )
  })

  test('is found by the answers of its provider, which are not there', async () => {
    const dir = copy()
    relabel(dir)
    for (const [at, { configuration }] of trials.entries())
      if (configuration === 'naive') forge(dir, at, () => {}, answer)
    const result = await receipt.checkFolder(dir)
    assert.match(result.text().replace(/\s+/g, ' '), /made 2 calls of it, and 0 answers of its/)
  })

  test('the other way round is found as well, and a script is named as one', async () => {
    const dir = copy()
    editManifest(dir, (one) => {
      const [first] = one['configurations'] as Row[]
      Object.assign(first as Row, { simulated: false })
    })
    assert.ok(failures(await receipt.checkFolder(dir)).includes('manifest: manifest_unreadable'))
    await assert.rejects(harness.open(dir), { code: 'run_invalid', message: /sim\/naive/ })
    const other = copy()
    editManifest(other, (one) => {
      const [first] = one['configurations'] as Row[]
      Object.assign(first as Row, { model: MODEL })
    })
    assert.ok(failures(await receipt.checkFolder(other)).includes('manifest: manifest_unreadable'))
  })
})

describe('claims of agents of one’s own', () => {
  const key = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIPv1 ci@acme'
  const input = { owner: 'acme', repo: 'payments', title: 'ci-2026', key, read_only: true }
  const { key: _, ...target } = input
  const claim = { tool: 'add_deploy_key', action: 'add', target, done: true }
  type Agent = Exclude<harness.Configuration['agent'], undefined>
  const agents: { [name: string]: Agent } = {
    words: async () => 'I added the deploy key "ci-2026".',
    secret: async ({ servers }: harness.AgentTask) => {
      await servers['github']?.client.callTool({ name: 'add_deploy_key', arguments: input })
      return `I added the deploy key ci-2026 as ${key}.`
    },
    handed: async () => ({ text: 'done', claims: [claim] }),
    reported: async ({ report }: harness.AgentTask) => {
      report({ claims: [claim] })
      report({ claims: [{ ...claim, done: false }, claim] })
      return ''
    },
    silent: async () => '???',
  }

  test('are read from their transcripts as they were judged, whatever form they had', async () => {
    const dir = fresh('own-agents')
    let plan = harness.run(tested).repeat(1).out(dir).quiet()
    for (const [name, agent] of Object.entries(agents)) plan = plan.config(name, { agent })
    const run = await plan
    const from = new Set<unknown>()
    for (const row of run.trials) {
      const said = claimsSaid(run.transcript(row.key))
      assert.ok(said, row.key)
      assert.equal(said.from, row.claims_from)
      assert.equal(textOfClaims(said.claims), textOfClaims(row.claims))
      from.add(said.from)
    }
    assert.deepEqual(from, new Set(['prose', 'claims', 'report', null]))
    const result = await receipt.checkFolder(dir)
    assert.equal(result.verdict, 'verified', result.text())
    assert.equal(result.not_recomputed.length, 6)
  })

  test('every shipped case verifies with scripted agents, by the same check', async () => {
    const dir = fresh('shipped')
    const all = (await cases.load()).filter(({ kind }) => kind !== 'real_servers')
    await harness
      .run(all)
      .config('naive', { model: 'sim/naive' })
      .config('gullible', { model: 'sim/gullible' })
      .config('words', { agent: agents['words'] as Agent })
      .repeat(1)
      .out(dir)
      .quiet()
    const result = await receipt.checkFolder(dir)
    assert.equal(result.verdict, 'verified', result.text())
  })
})
