/** The records of a bundle: which there may be, and how each is formed. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { receipt } from '../../../lib/index.ts'
import { codes } from './checked.ts'
import {
  allow,
  bundle,
  decision,
  type Event,
  establish,
  event,
  observation,
  type Payload,
  TARGET,
  V0,
} from './made.ts'

/** A payload with the member at a path changed, or taken out when the value is undefined. */
function change(payload: Payload, path: string, value: unknown): Payload {
  const [name = '', ...rest] = path.split('.')
  const made = { ...payload }
  if (rest.length > 0) made[name] = change(made[name] as Payload, rest.join('.'), value)
  else if (value === undefined) delete made[name]
  else made[name] = value
  return made
}

const without = (list: unknown, index: number) => (list as unknown[]).filter((_, i) => i !== index)

const REASONS = [
  'unclassified_tool_call',
  'classification_incomplete',
  'no_declared_allowance',
  'credential_scope_unknown',
  'credential_scope_insufficient',
  'manifest_baseline_missing',
  'manifest_observation_ambiguous',
  'manifest_current_observation_incomplete',
  'manifest_drifted_since_approval',
  'allow',
]
const DRIFT = [
  'satisfied',
  'baseline_missing',
  'current_observation_incomplete',
  'observation_ambiguous',
  'drifted',
  'not_evaluated',
]

type Row = [id: string, payloads: unknown[], expected: string[]]

const bad = (path: string, value: unknown, code: string, payload = decision()): Row => [
  `${path}: ${value === undefined ? 'absent' : JSON.stringify(value).slice(0, 40)}`,
  [change(payload, path, value)],
  [code],
]
/** An observation that is no marker, so that what it says of the call binds to nothing. */
const INERT = observation({
  caller_visible_error: { code: -32042, origin: 'upstream', reason: 'x' },
})
const badSeen = (path: string, value: unknown, code: string): Row => {
  const [id, [payload]] = bad(path, value, code, INERT)
  return [`observation ${id}`, [decision(), payload], [code]]
}
const badPath = (path: string, value: unknown, code: string): Row => {
  const [id, [payload]] = bad(path, value, code, establish())
  return [`establish ${id}`, [decision(), payload], [code]]
}
const WRONG_DIGESTS: [string, unknown][] = [
  ['absent', undefined],
  ['null', null],
  ['empty', ''],
  ['upper case', TARGET.toUpperCase()],
  ['upper-case hex', `sha256:${'AB'.repeat(32)}`],
  ['one digit less', TARGET.slice(0, -1)],
  ['one digit more', `${TARGET}0`],
  ['no prefix', TARGET.slice(7)],
  ['other prefix', `sha512:${TARGET.slice(7)}`],
  ['a line feed behind it', `${TARGET}\n`],
  ['no text', 5],
]

const ROWS: Row[] = [
  ['a denial', [decision()], ['valid']],
  ['an allow', [allow()], ['valid']],
  // Closed sets.
  ...REASONS.map((reason): Row => [`reason ${reason}`, [decision({ reason })], ['valid']]),
  ...DRIFT.map(
    (drift_state): Row => [`drift state ${drift_state}`, [decision({ drift_state })], ['valid']],
  ),
  bad('reason', 'because', 'reason_unknown'),
  bad('reason', 'ALLOW', 'reason_unknown'),
  bad('reason', '', 'reason_unknown'),
  bad('reason', null, 'reason_unknown'),
  bad('reason', undefined, 'reason_unknown'),
  bad('reason', ['allow'], 'reason_unknown'),
  bad('drift_state', 'unknown', 'drift_state_unknown'),
  bad('drift_state', 'Drifted', 'drift_state_unknown'),
  bad('drift_state', null, 'drift_state_unknown'),
  bad('drift_state', undefined, 'drift_state_unknown'),
  ['decision maybe', [allow({ decision: 'maybe' })], ['decision_unknown']],
  ['decision DENY', [allow({ decision: 'DENY' })], ['decision_unknown']],
  ['decision null', [allow({ decision: null })], ['decision_unknown']],
  // What the decision is about.
  bad('tool.name', '', 'tool_name_missing'),
  bad('tool.name', null, 'tool_name_missing'),
  bad('tool.name', undefined, 'tool_name_missing'),
  bad('tool.name', 5, 'tool_name_missing'),
  bad('tool', undefined, 'tool_name_missing'),
  bad('tool', ['name'], 'tool_name_missing'),
  bad('action', undefined, 'target_digest_malformed'),
  bad('action', 'x', 'target_digest_malformed'),
  ...WRONG_DIGESTS.map(([what, value]): Row => {
    const [, payloads, expected] = bad('action.target_digest', value, 'target_digest_malformed')
    return [`target digest, ${what}`, payloads, expected]
  }),
  // Fail-closed, both arms.
  bad('fail_closed', false, 'fail_closed_differs'),
  bad('fail_closed', undefined, 'fail_closed_differs'),
  bad('fail_closed', null, 'fail_closed_differs'),
  bad('fail_closed', 'true', 'fail_closed_differs'),
  bad('fail_closed', 1, 'fail_closed_differs'),
  ['allow, fail_closed: true', [allow({ fail_closed: true })], ['fail_closed_differs']],
  [
    'allow, fail_closed: absent',
    [change(allow(), 'fail_closed', undefined)],
    ['fail_closed_differs'],
  ],
  ['allow, fail_closed: 0', [allow({ fail_closed: 0 })], ['fail_closed_differs']],
  // Each text of the producer, word for word.
  ...[0, 1, 2, 3, 4].map(
    (i): Row => [
      `the decision’s text ${i} is missing`,
      [decision({ non_claims: without(decision()['non_claims'], i) })],
      ['non_claim_missing'],
    ],
  ),
  ...[0, 1, 2, 3].map(
    (i): Row => [
      `the observation’s text ${i} is missing`,
      [decision(), observation({ non_claims: without(observation()['non_claims'], i) })],
      ['non_claim_missing'],
    ],
  ),
  [
    'a text differs by a letter’s case',
    [
      decision({
        non_claims: (decision()['non_claims'] as string[]).map((one, i) =>
          i === 2 ? one.replace('credential', 'Credential') : one,
        ),
      }),
    ],
    ['non_claim_missing'],
  ],
  [
    'more texts than those, in another order',
    [decision({ non_claims: ['x', ...(decision()['non_claims'] as string[]).toReversed()] })],
    ['valid'],
  ],
  bad('non_claims', undefined, 'non_claims_missing'),
  bad('non_claims', 'all of them', 'non_claims_missing'),
  badSeen('non_claims', null, 'non_claims_missing'),
  // What the caller saw.
  ['an observation', [decision(), observation()], ['valid']],
  badSeen('call.tool_name', '', 'tool_name_missing'),
  ...['code', 'origin', 'reason'].flatMap((name) => [
    badSeen(`caller_visible_error.${name}`, null, 'error_member_missing'),
    badSeen(`caller_visible_error.${name}`, undefined, 'error_member_missing'),
  ]),
  ...WRONG_DIGESTS.map(([what, value]): Row => {
    const path = 'caller_visible_response_digest'
    const [, payloads, expected] = badSeen(path, value, 'response_digest_malformed')
    return [`response digest, ${what}`, payloads, expected]
  }),
  // How the listing was established.
  ...[
    'no_establish_needed',
    'established_then_allowed',
    'established_then_denied',
    'immediate_deny',
  ].map(
    (establish_path): Row => [
      `path ${establish_path}`,
      [decision(), establish({ establish_path })],
      ['valid'],
    ],
  ),
  badPath('establish_path', 'established', 'establish_path_unknown'),
  badPath('establish_path', undefined, 'establish_path_unknown'),
  badPath('establish_path', null, 'establish_path_unknown'),
  badPath('establish_attempted', true, 'establish_attempted_differs'),
  badPath('establish_attempted', undefined, 'establish_attempted_differs'),
  badPath('establish_attempted', 'false', 'establish_attempted_differs'),
  [
    'establish attempted: true beside another outcome',
    [decision(), establish({ run_outcome: 'completed', establish_attempted: true })],
    ['valid'],
  ],
  [
    'establish attempted: false beside another outcome',
    [decision(), establish({ run_outcome: 'completed' })],
    ['establish_attempted_differs'],
  ],
  [
    'an outcome that is no text',
    [decision(), establish({ run_outcome: 5, establish_attempted: true })],
    ['run_outcome_missing'],
  ],
  [
    'an outcome that is absent',
    [decision(), change(establish({ establish_attempted: true }), 'run_outcome', undefined)],
    ['run_outcome_missing'],
  ],
  // How many.
  ['no record', [], ['decision_missing']],
  ['an observation alone', [observation()], ['decision_missing']],
  ['two decisions', [decision(), decision()], ['decision_repeated']],
  ['two observations', [decision(), observation(), observation()], ['observation_repeated']],
  ['two establish records', [decision(), establish(), establish()], ['establish_repeated']],
  [
    'the records’ own rules wait for the right number of records',
    [decision({ reason: 'x' }), decision({ reason: 'x' })],
    ['decision_repeated'],
  ],
  [
    'every violation is reported, not the first alone',
    [
      decision({ reason: 'x', drift_state: 'y', fail_closed: false }),
      observation({ caller_visible_response_digest: '' }),
    ],
    ['reason_unknown', 'drift_state_unknown', 'fail_closed_differs', 'response_digest_malformed'],
  ],
  // Schemas of the namespaces that are none.
  ...[
    'assay.enforcement_decision.v1',
    'assay.denied_call_observation.v1',
    'assay.manifest_establish.v1',
  ].map(
    (schema): Row => [`schema ${schema} under v0`, [decision(), { schema }], ['schema_unknown']],
  ),
  [
    'schema assay.enforcement_decision.',
    [decision(), { schema: 'assay.enforcement_decision.' }],
    ['schema_unknown'],
  ],
  [
    'schema assay.enforcement_decision.v0.1',
    [decision(), { schema: 'assay.enforcement_decision.v0.1' }],
    ['schema_unknown'],
  ],
  // Events of others.
  ['an event of another namespace', [decision(), { schema: 'assay.other.v0' }], ['valid']],
  [
    'a name that only resembles ours',
    [decision(), { schema: 'assay.enforcement_decisions.v0' }],
    ['valid'],
  ],
  ['a name without its dot', [decision(), { schema: 'assay.enforcement_decision' }], ['valid']],
  ['a name in upper case', [decision(), { schema: 'ASSAY.enforcement_decision.v1' }], ['valid']],
]

describe('a record of a bundle', () => {
  for (const [id, payloads, expected] of ROWS)
    it(`${id} -> ${expected.join(', ')}`, async () => {
      assert.deepEqual(await codes(payloads), expected)
    })

  it('findings name file, line and member, what was expected and what was there', async () => {
    const report = await receipt.verifyBundle(bundle({ payloads: [decision({ reason: 'x' })] }), {
      profile: V0,
    })
    const [finding] = report.findings
    assert.equal(finding?.where, 'events.ndjson:1: reason')
    assert.equal(finding?.kind, 'violation')
    assert.match(String(finding?.detail), /^expected unclassified_tool_call \| .*, got "x"$/)
  })

  it('a thousand findings are listed, and the rest is counted', async () => {
    const strangers = Array.from({ length: 1200 }, () => ({
      schema: 'assay.manifest_establish.v7',
    }))
    const found = await codes([decision(), ...strangers])
    assert.equal(found.length, 1001)
    assert.equal(found.at(-1), 'findings_left_out')
  })
})

describe('an event’s type is its payload’s schema', () => {
  const OURS = 'assay.manifest_establish.v0'
  const rows: [string, Event, string[]][] = [
    [
      'ours beside another',
      event({ schema: 'other' }, 1, { type: OURS }),
      ['type_differs_from_schema'],
    ],
    [
      'another beside ours',
      event({ ...establish() }, 1, { type: 'other' }),
      ['type_differs_from_schema'],
    ],
    ['ours beside no schema', event({}, 1, { type: OURS }), ['type_differs_from_schema']],
    ['ours beside no object', event('text', 1, { type: OURS }), ['type_differs_from_schema']],
    [
      'ours beside a schema that is no text',
      event({ schema: 1 }, 1, { type: OURS }),
      ['type_differs_from_schema'],
    ],
    [
      'two of ours that differ',
      event({ ...establish() }, 1, { type: 'assay.enforcement_decision.v0' }),
      ['type_differs_from_schema'],
    ],
    [
      'ours beside an unknown one of ours',
      event({ schema: 'assay.manifest_establish.v9' }, 1, { type: OURS }),
      ['schema_unknown', 'type_differs_from_schema'],
    ],
    ['others that differ', event({ schema: 'b' }, 1, { type: 'a' }), []],
  ]
  for (const [id, second, expected] of rows)
    it(`${id} -> ${expected.join(', ') || 'valid'}`, async () => {
      const report = await receipt.verifyBundle(
        bundle({ events: [event(decision(), 0), second] }),
        { profile: V0 },
      )
      assert.deepEqual(
        report.findings.map(({ code }) => code),
        expected,
      )
      assert.equal(report.ok, expected.length === 0)
    })
})
