/** What the records of a bundle support: how they bind, the four claims, the report. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { receipt } from '../../../lib/index.ts'
import { codes } from './checked.ts'
import {
  allow,
  bundle,
  decision,
  establish,
  observation,
  observation1,
  type Payload,
  TARGET,
  V0,
  V1,
} from './made.ts'

type Profile = receipt.Profile

const INCOMPLETE = { status: 'incomplete' }
const said = (status: string) => ({ status, source_class: 'producer_reported' })

describe('what a bundle supports', () => {
  const rows: [string, Profile, unknown[], object, string[]][] = [
    ['deny beside its marker', V0, [decision(), observation()], said('confirmed'), []],
    ['deny alone', V0, [decision()], INCOMPLETE, []],
    ['allow alone', V0, [allow()], INCOMPLETE, []],
    [
      'allow beside a marker',
      V0,
      [allow(), observation()],
      said('refuted'),
      ['denial_beside_allow'],
    ],
    ['the marker before its decision', V0, [observation(), decision()], said('confirmed'), []],
    ['v1: deny beside its marker', V1, [decision(), observation1()], said('confirmed'), []],
    [
      'v1: allow beside a marker',
      V1,
      [allow(), observation1()],
      said('refuted'),
      ['denial_beside_allow'],
    ],
    ['v1: deny alone', V1, [decision()], INCOMPLETE, []],
    // One part of the triple that differs, and there is no marker: the observation is inert.
    ...(
      [
        ['a code that is a text', { code: '-32042', origin: 'assay-proxy', reason: 'x' }],
        ['another code', { code: -32043, origin: 'assay-proxy', reason: 'x' }],
        ['the code of v1', { code: -31999, origin: 'assay-proxy', reason: 'x' }],
        ['the code without its sign', { code: 32042, origin: 'assay-proxy', reason: 'x' }],
        ['another origin', { code: -32042, origin: 'upstream', reason: 'x' }],
        ['an origin in upper case', { code: -32042, origin: 'Assay-Proxy', reason: 'x' }],
        ['an origin that is no text', { code: -32042, origin: 0, reason: 'x' }],
      ] as const
    ).map(([what, caller_visible_error]): [string, Profile, unknown[], object, string[]] => [
      `no marker: ${what}`,
      V0,
      [decision(), observation({ caller_visible_error, call: { tool_name: 'another' } })],
      INCOMPLETE,
      [],
    ]),
    [
      'v1: no marker with the code of v0',
      V1,
      [
        decision(),
        observation1({
          caller_visible_error: { code: -32042, origin: 'assay-proxy', reason: 'x' },
        }),
      ],
      INCOMPLETE,
      [],
    ],
    // How a listing was established changes no claim. That it speaks against the decision is said.
    ...(
      [
        [allow(), 'immediate_deny', true],
        [allow(), 'established_then_denied', true],
        [allow(), 'established_then_allowed', false],
        [allow(), 'no_establish_needed', false],
        [decision(), 'established_then_allowed', true],
        [decision(), 'established_then_denied', false],
        [decision(), 'immediate_deny', false],
        [decision(), 'no_establish_needed', false],
      ] as const
    ).map(
      ([decided, establish_path, contradicts]): [string, Profile, unknown[], object, string[]] => [
        `${decided['decision']} beside ${establish_path}`,
        V0,
        [decided, establish({ establish_path })],
        INCOMPLETE,
        contradicts ? ['establish_differs_from_decision'] : [],
      ],
    ),
  ]
  for (const [id, profile, payloads, denial, contradictions] of rows)
    it(id, async () => {
      const report = await receipt.verifyBundle(bundle({ payloads }), { profile })
      assert.deepEqual(report.toJSON().claims, {
        policy_decision_recorded: said('confirmed'),
        caller_visible_denial: denial,
        upstream_delivery: INCOMPLETE,
        external_side_effect: INCOMPLETE,
      })
      assert.equal(report.verdict, 'valid')
      assert.deepEqual(
        report.findings.map(({ kind, code }) => [kind, code]),
        contradictions.map((code) => ['contradiction', code]),
      )
    })
})

describe('a marker binds to its decision, byte for byte', () => {
  const call = (tool_name: unknown, target_digest: unknown) => ({
    call: { tool_name, target_digest },
  })
  const other = `sha256:${'ee'.repeat(32)}`
  const rows: [string, Payload, string[]][] = [
    ['another tool', call('add_key', TARGET), ['marker_tool_differs']],
    ['the tool in upper case', call('Add_deploy_key', TARGET), ['marker_tool_differs']],
    ['the tool with a space', call('add_deploy_key ', TARGET), ['marker_tool_differs']],
    ['another target', call('add_deploy_key', other), ['marker_target_differs']],
    [
      'the target in upper case',
      call('add_deploy_key', `sha256:${'AB'.repeat(32)}`),
      ['marker_target_differs'],
    ],
    ['a target that is null', call('add_deploy_key', null), ['marker_target_differs']],
    ['a target that is empty', call('add_deploy_key', ''), ['marker_target_differs']],
    ['no target', { call: { tool_name: 'add_deploy_key' } }, ['marker_target_differs']],
    ['neither', call('add_key', other), ['marker_tool_differs', 'marker_target_differs']],
  ]
  for (const [id, payload, expected] of rows)
    for (const decided of [decision(), allow()])
      it(`${decided['decision']}: ${id} -> ${expected.join(', ')}`, async () => {
        assert.deepEqual(await codes([decided, observation(payload)]), expected)
      })

  it('without a decision there is nothing to bind to', async () => {
    assert.deepEqual(await codes([observation()]), ['decision_missing'])
  })
})

describe('the profile is the one that is asked for', () => {
  const rows: [string, Profile, unknown[], string[]][] = [
    ['v1 does not know an observation of v0', V1, [decision(), observation()], ['schema_unknown']],
    ['v0 does not know an observation of v1', V0, [decision(), observation1()], ['schema_unknown']],
    ['v1 with both', V1, [decision(), observation1(), observation()], ['schema_unknown']],
    [
      'v1 has no decision of v1',
      V1,
      [decision({ schema: 'assay.enforcement_decision.v1' })],
      ['schema_unknown', 'decision_missing'],
    ],
    [
      'v1 has no establish of v1',
      V1,
      [decision(), establish({ schema: 'assay.manifest_establish.v1' })],
      ['schema_unknown'],
    ],
    ['v1 keeps establish of v0', V1, [decision(), establish()], ['valid']],
  ]
  for (const [id, profile, payloads, expected] of rows)
    it(`${id} -> ${expected.join(', ')}`, async () => {
      assert.deepEqual(await codes(payloads, profile), expected)
    })

  it('stands in the report', async () => {
    for (const profile of [V0, V1] as const)
      assert.equal((await receipt.verifyBundle(bundle(), { profile })).toJSON().profile, profile)
  })

  it('a profile that is none is a bad call', async () => {
    for (const profile of ['v0', 'privileged-mcp-action/v2', '', undefined, null])
      await assert.rejects(receipt.verifyBundle(bundle(), { profile } as never), {
        code: 'argument_invalid',
      })
  })
})

describe('the report', () => {
  const NON_CLAIMS = [
    'allow does not prove upstream delivery',
    'deny does not establish maliciousness',
    'caller-visible denial does not prove external side-effect absence',
    'bundle integrity does not upgrade source class',
  ]

  it('of a valid bundle has no reason and no next step', async () => {
    const report = await receipt.verifyBundle(bundle(), { profile: V0 })
    assert.deepEqual(Object.keys(report.toJSON()), [
      'schema',
      'profile',
      'bundle_integrity',
      'verdict',
      'claims',
      'findings',
      'non_claims',
    ])
    assert.equal(report.toJSON().schema, 'assay.privileged_mcp_action.verify.report.v0')
    assert.deepEqual(report.toJSON().non_claims, NON_CLAIMS)
  })

  it('of an invalid bundle has no claims, and the first violation as its reason', async () => {
    const report = await receipt.verifyBundle(bundle({ payloads: [] }), { profile: V0 })
    const { claims, verdict, reason_code, next_step, non_claims } = report.toJSON()
    assert.deepEqual(
      { claims, verdict, reason_code, non_claims },
      {
        claims: undefined,
        verdict: 'invalid',
        reason_code: 'decision_missing',
        non_claims: NON_CLAIMS,
      },
    )
    assert.equal(typeof next_step, 'string')
  })

  it('of a bundle that is not whole has neither verdict nor claims', async () => {
    const data = (await receipt.verifyBundle(Buffer.from('x'), { profile: V0 })).toJSON()
    assert.equal('verdict' in data, false)
    assert.equal('claims' in data, false)
    assert.equal(data.bundle_integrity, 'fail')
    assert.equal(data.reason_code, 'gzip_header')
    assert.deepEqual(data.non_claims, NON_CLAIMS)
  })

  it('in words says what was checked, what follows and what does not', async () => {
    const report = await receipt.verifyBundle(bundle({ payloads: [decision(), observation()] }), {
      profile: V0,
    })
    const text = report.text()
    for (const part of [
      'Valid under privileged-mcp-action/v0.',
      'Checked:',
      'What follows:',
      'What does not follow:',
    ])
      assert.ok(text.includes(part), part)
    for (const line of NON_CLAIMS) assert.ok(text.includes(line), line)
    assert.match(text, /caller_visible_denial +confirmed +producer_reported\n/)
    assert.match(text, /external_side_effect +incomplete\n/)
  })
})
