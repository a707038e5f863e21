import { join } from 'node:path'
import { describe } from 'node:test'
import {
  eachIsFound,
  editLine,
  editManifest,
  editTrial,
  exportText,
  linesIn,
  named,
  place,
  refit,
  reseal,
  root,
  victim,
  writeLines,
} from '../attest/sealed-run.ts'

describe('a receipt by an issuer who lies', () => {
  eachIsFound(
    [
      {
        what: 'a payload that is no statement',
        alter: (dir) => reseal(dir, (one) => delete one['subject']),
        finds: 'envelope: statement_invalid',
      },
      {
        what: 'another predicate type',
        alter: (dir) => reseal(dir, (one) => Object.assign(one, { predicateType: 'urn:other:v1' })),
        finds: 'statement: predicate_unknown',
      },
      {
        what: 'the digest of what was tested',
        alter: (dir) =>
          reseal(dir, (one) =>
            Object.assign(one['subject']?.[0]?.['digest'] ?? {}, { sha256: 'a'.repeat(64) }),
          ),
        finds: 'statement: subject_differs',
        names: /subject\[0\]\.digest\.sha256/,
      },
      {
        what: 'who vouches',
        alter: (dir) =>
          reseal(dir, (one) => Object.assign(one['predicate'] ?? {}, { assurance: 'third_party' })),
        finds: 'statement: assurance_differs',
      },
      {
        what: 'what a pass does not establish',
        alter: (dir) => reseal(dir, (one) => one['predicate']?.['does_not_establish']?.shift()),
        finds: 'non-claims: non_claims_differ',
      },
      {
        what: 'the standard test result',
        alter: (dir) =>
          reseal(
            dir,
            (one) => Object.assign(one['predicate'] ?? {}, { result: 'PASSED', failedTests: [] }),
            {
              file: 'test-result.json',
            },
          ),
        finds: 'test result: test_result_differs',
      },
      {
        what: 'the version of the set',
        alter: (dir) => {
          reseal(dir, (one) => Object.assign(one['predicate']?.['set'] ?? {}, { version: '1.1' }))
          return { set: join(root, 'small-set/1.0.json') }
        },
        finds: 'set: set_version_differs',
        names: /1\.1/,
      },
      {
        what: 'a case’s row taken out of the receipt',
        alter: (dir) => reseal(dir, (one) => one['predicate']?.['cases']?.shift()),
        finds: 'cases: case_missing',
        names: /lying_success\/deploy-key/,
      },
      {
        what: 'another seed, told throughout',
        alter: (dir) => {
          editManifest(dir, (one) => Object.assign(one, { seed: 2 }))
          refit(dir, (one) => Object.assign(one['predicate']?.['plan'] ?? {}, { seed: 2 }))
        },
        finds: 'trials: trial_seed_differs',
        names: named,
      },
      {
        what: 'a better result on a second attempt, told throughout',
        alter: (dir) => {
          writeLines(dir, 'trials.ndjson', [
            ...linesIn(dir, 'trials.ndjson'),
            JSON.stringify({ ...victim, attempt: 1 }),
          ])
          refit(dir)
        },
        finds: 'trials: retry_unearned',
        names: named,
      },
      {
        what: 'an outcome turned round, told throughout',
        alter: (dir) => {
          editTrial(dir, (row) =>
            Object.assign(row, { outcome: row.outcome === 'pass' ? 'fail' : 'pass' }),
          )
          refit(dir)
        },
        finds: 'trials: outcome_differs',
        names: named,
      },
      {
        what: 'a level raised in a decision',
        alter: (dir) => {
          editLine(dir, 'decisions.ndjson', place, (line) =>
            line.replace('"level":"asserted"', '"level":"verified"'),
          )
          refit(dir)
        },
        finds: 'levels: level_overclaimed',
        names: named,
      },
      {
        what: 'a level raised in a trial, told throughout',
        alter: (dir) => {
          editTrial(dir, (row) =>
            Object.assign(row, { levels: { asserted: 0, observed_confirmed: 0, verified: 9 } }),
          )
          refit(dir)
        },
        finds: 'levels: level_differs',
        names: named,
      },
      {
        what: 'a rate in the summary',
        alter: (dir) =>
          reseal(dir, (one) =>
            Object.assign(one['predicate']?.['summary']?.[0]?.['rates']?.['goal'] ?? {}, {
              estimate: 1.5,
            }),
          ),
        finds: 'summary: summary_differs',
        names: /summary\[0\]\.rates\.goal\.estimate/,
      },
      {
        what: 'errors left out of the count',
        alter: (dir) =>
          reseal(dir, (one) => Object.assign(one['predicate']?.['counts'] ?? {}, { errors: 3 })),
        finds: 'summary: count_differs',
        names: /counts\.errors/,
      },
      {
        what: 'a trial that nobody planned',
        alter: (dir) => {
          writeLines(dir, 'trials.ndjson', [
            ...linesIn(dir, 'trials.ndjson'),
            JSON.stringify({
              ...victim,
              trial: 7,
              key: `${victim.case}|${victim.configuration}|7`,
            }),
          ])
          refit(dir)
        },
        finds: 'trials: trial_unplanned',
        names: /\|7/,
      },
      {
        what: 'a first attempt kept back',
        alter: (dir) => {
          editTrial(dir, (row) => Object.assign(row, { attempt: 1 }))
          refit(dir)
        },
        finds: 'trials: attempt_missing',
        names: named,
      },
      {
        what: 'a world that starts elsewhere',
        alter: (dir) => {
          editTrial(dir, (row) => Object.assign(row, { start_digest: `sha256:${'1'.repeat(64)}` }))
          refit(dir)
        },
        finds: 'trials: start_differs',
      },
      {
        what: 'a case that the set does not have',
        alter: (dir) => {
          editManifest(dir, (one) => {
            const [cases, configurations] = [one['cases'], one['configurations']] as object[][]
            cases?.push({ ...cases[0], id: 'easy', twin: null })
            const cells = (cases?.length ?? 0) * (configurations?.length ?? 0)
            one['planned'] = cells * (one['repeats'] as number)
          })
          refit(dir)
        },
        finds: 'cases: case_unknown',
        names: /easy/,
      },
      {
        what: 'a pass added to a case’s row',
        alter: (dir) =>
          reseal(dir, (one) =>
            Object.assign(one['predicate']?.['cases']?.[0] ?? {}, { passed: 99 }),
          ),
        finds: 'cases: case_row_differs',
        names: /passed/,
      },
      {
        what: 'another model’s name',
        alter: (dir) =>
          reseal(dir, (one) =>
            Object.assign(one['predicate']?.['configurations']?.[0] ?? {}, {
              model: 'better/model',
            }),
          ),
        finds: 'statement: configuration_differs',
        names: /better/,
      },
      {
        what: 'another schema',
        alter: (dir) =>
          reseal(dir, (one) =>
            Object.assign(one['predicate'] ?? {}, { schema: 'touchstone.agent_run.v9' }),
          ),
        finds: 'statement: schema_differs',
      },
      {
        what: 'no set',
        alter: (dir) => reseal(dir, (one) => delete one['predicate']?.['set']),
        finds: 'set: set_unnamed',
      },
      {
        what: 'decisions of another trial',
        alter: (dir) => {
          editLine(dir, 'decisions.ndjson', place, (line) =>
            line.replace('"run_id":"', '"run_id":"other '),
          )
          refit(dir)
        },
        finds: 'decisions: decision_of_another_trial',
        names: named,
      },
      {
        what: 'decisions that stand apart',
        alter: (dir) => {
          const lines = linesIn(dir, 'decisions.ndjson')
          writeLines(dir, 'decisions.ndjson', [...lines, lines[0] as string])
          refit(dir)
        },
        finds: 'decisions: decision_out_of_place',
      },
      {
        what: 'an audit export of no trial',
        alter: (dir) => {
          const line = JSON.stringify({
            key: 'none|A|77',
            attempt: 0,
            provider: 'github',
            text: '[]',
          })
          writeLines(dir, 'audit.ndjson', [...linesIn(dir, 'audit.ndjson'), line])
          refit(dir)
        },
        finds: 'audit exports: audit_unattributed',
      },
      {
        what: 'an audit export swapped, told to the receipt',
        alter: (dir) => {
          exportText(dir, '[{}]')
          refit(dir)
        },
        finds: 'audit exports: audit_edited',
        names: named,
      },
      {
        what: 'evidence that cannot be read',
        alter: (dir) => {
          exportText(dir, '{')
          refit(dir)
        },
        finds: 'levels: evidence_unreadable',
        names: named,
      },
    ],
    { signed: true },
  )
})
