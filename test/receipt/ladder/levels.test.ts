/** The ladder's rules, one by one: the spec's five files, and every edge that v0's own tests pin. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { readJson } from '../../../lib/files.ts'
import type { JsonObject } from '../../../lib/json.ts'
import * as receipt from '../../../lib/receipt/index.ts'

type Surface = { observed_tool_decisions: JsonObject[] }
const file = (name: string) =>
  new URL(`../../../fixtures/side_effect/${name}`, import.meta.url).pathname
const fixture = (name: string) => readJson(file(name)) as JsonObject
const decisions = (name: string) => (fixture(name) as unknown as Surface).observed_tool_decisions
const matching = () => fixture('audit_record_github_deploy_key.json')
const mismatch = () => fixture('audit_record_mismatch.json')
const action = () => decisions('verified.json')[0]?.['action'] as JsonObject
const GOLDEN = 'sha256:31f2007b91477601789c8803c3e32912a8a4510851cc55397d49a65bbc5e4ec3'
const OTHER = 'sha256:3546cc0f'

/** One copy of the spec's call with members replaced by dotted path. */
function call(changes: { [path: string]: unknown } = {}): JsonObject {
  const made = structuredClone(decisions('asserted.json')[0]) as JsonObject
  return replaced(made, changes)
}

function replaced(object: JsonObject, changes: { [path: string]: unknown }): JsonObject {
  for (const [path, value] of Object.entries(changes)) {
    const steps = path.split('.')
    const last = steps.pop() as string
    let at = object as { [name: string]: unknown }
    for (const step of steps) at = at[step] as { [name: string]: unknown }
    if (value === undefined) delete at[last]
    else at[last] = value
  }
  return object
}

const record = (changes: { [path: string]: unknown } = {}) =>
  replaced(structuredClone(matching()), changes)
const only = <T>(list: readonly T[]): T => {
  assert.equal(list.length, 1)
  return list[0] as T
}
const verifyOne = (changes: { [path: string]: unknown }, audit?: JsonObject[]) =>
  only(receipt.verify([call(changes)], audit ? { audit: audit as never } : {}).calls)

describe('v0 edge cases', () => {
  test('1: a matching record verifies the call, with source and digest', () => {
    const row = only(
      receipt.verify(file('verified.json'), { audit: file('audit_record_github_deploy_key.json') })
        .calls,
    )
    assert.equal(row.level, 'verified')
    assert.equal(row.verification_source, 'provider_audit_import')
    assert.equal(row.verification_subject_digest, GOLDEN)
    assert.equal(row.binding?.outcome, 'bound')
    assert.deepEqual(
      row.findings.map(({ severity, kind }) => [severity, kind]),
      [['warning', 'bound_by_action']],
    )
  })

  test('2: the projection holds owner, repo and title hash, never provider or read_only', () => {
    const made = receipt.subjectOf(action() as never)
    assert.ok(made.ok)
    assert.deepEqual(Object.keys(made.subject.target).sort(), ['key_title_hash', 'owner', 'repo'])
    assert.equal(made.digest, GOLDEN)
  })

  for (const [name, change] of Object.entries({
    'no resource type': { resource_type: null },
    'no verb': { verb: null },
    'an empty target': { target: {} },
    'a target that is no object': { target: 'org/prod-repo' },
  })) {
    test(`3: an action with ${name} has no projection`, () => {
      assert.equal(receipt.subjectOf({ ...action(), ...change } as never).ok, false)
    })
  }

  test('4 and 17: a consistent record of another repository binds a different call; both digests are shown', () => {
    const report = receipt.verify(file('asserted.json'), {
      audit: file('audit_record_mismatch.json'),
    })
    const { binding, level, verification_source } = only(report.calls)
    assert.equal(binding?.outcome, 'binds_different_call')
    assert.ok(binding.record_digest.startsWith(OTHER))
    assert.equal(binding.call_digest, GOLDEN)
    assert.equal(level, 'asserted')
    assert.equal(verification_source, null)
    assert.equal(only(report.records.unused).reason, 'binds_different_call')
  })

  test('5: a wrong binding_digest is inconsistent before the call is looked at', () => {
    const bad = record({ binding_digest: 'sha256:deadbeef' })
    for (const changes of [
      {},
      { 'action.verb': null },
      { classification: 'observed_unknown_tool' },
    ]) {
      const { binding, level } = verifyOne(changes, [bad])
      assert.equal(binding?.outcome, 'record_inconsistent')
      assert.equal(binding.recomputed, GOLDEN)
      assert.equal(binding.declared, 'sha256:deadbeef')
      assert.equal(level, 'asserted')
    }
  })

  test('6: a subject changed under a kept digest is inconsistent', () => {
    const { binding, level, rejections } = verifyOne({}, [
      record({ 'subject.target.repo': 'other-repo' }),
    ])
    assert.equal(binding?.outcome, 'record_inconsistent')
    assert.equal(level, 'asserted')
    assert.equal(only(rejections).reason, 'record_inconsistent')
  })

  test('7: a fresh success is asserted, without source or digest', () => {
    const made = receipt.observe({
      server: 'github',
      tool: 'github.add_deploy_key',
      arguments: { owner: 'org', repo: 'prod-repo', title: 'ci-key' },
      status: 'success',
      runId: 'r',
      seq: 0,
    })
    assert.deepEqual(made.response.side_effect, {
      asserted: true,
      level: 'asserted',
      verification_source: null,
      verification_subject_digest: null,
      irreversibility_class: 'one_way_consequential',
    })
    assert.equal(made.response.side_effect_verified, false)
  })

  test('8: a call that asserted nothing stands on no rung, whatever record there is', () => {
    const { binding, level } = verifyOne(
      { 'response.side_effect_asserted': false, 'response.side_effect.asserted': false },
      [record()],
    )
    assert.deepEqual(binding, {
      outcome: 'not_projectable',
      reason: 'side effect was not asserted',
    })
    assert.equal(level, null)
  })

  test('9: a later read that shows the key confirms, with the digest of the write', () => {
    const [write, read] = receipt.verify(file('observed_confirmed.json')).calls
    assert.equal(write?.level, 'observed_confirmed')
    assert.equal(write?.verification_source, 'observed_read_followup')
    assert.equal(write?.verification_subject_digest, GOLDEN)
    assert.deepEqual(write?.findings, [])
    assert.equal(read?.kind, 'read')
  })

  test('10: a read of another repository confirms nothing', () => {
    const [write, read] = structuredClone(decisions('observed_confirmed.json')) as [
      JsonObject,
      JsonObject,
    ]
    replaced(read, {
      'action.target.repo': 'other-repo',
      'observation.read.targets.0.repo': 'other-repo',
    })
    assert.equal(receipt.verify([write, read]).calls[0]?.level, 'asserted')
  })

  test('11: a read beside a record neither lowers nor overwrites verified', () => {
    const audit = file('audit_record_github_deploy_key.json')
    const [write] = receipt.verify(file('observed_confirmed.json'), { audit }).calls
    assert.equal(write?.level, 'verified')
    assert.equal(write?.verification_source, 'provider_audit_import')
  })

  test('11: a bad record leaves observed_confirmed where it is', () => {
    const audit = file('audit_record_mismatch.json')
    assert.equal(
      receipt.verify(file('observed_confirmed.json'), { audit }).calls[0]?.level,
      'observed_confirmed',
    )
  })

  test('12: null and absent source and digest are the same on reading', () => {
    const absent = call({
      'response.side_effect.verification_source': undefined,
      'response.side_effect.verification_subject_digest': undefined,
    })
    assert.deepEqual(receipt.verify([absent]).toJSON(), receipt.verify([call()]).toJSON())
  })

  for (const level of ['Verified', 'confirmed', '', 3, null, undefined]) {
    test(`13: the level ${JSON.stringify(level)} is an error that names the field`, () => {
      assert.throws(() => receipt.verify([call({ 'response.side_effect.level': level })]), {
        code: 'surface_invalid',
        where: 'decisions[0].response.side_effect.level',
      })
    })
  }

  test('14: each fixture verifies as its name says, and every stored digest recomputes', () => {
    const audit = file('audit_record_github_deploy_key.json')
    assert.equal(receipt.bindingDigest(matching()['subject']), matching()['binding_digest'])
    assert.equal(receipt.bindingDigest(mismatch()['subject']), mismatch()['binding_digest'])
    assert.notEqual(matching()['binding_digest'], mismatch()['binding_digest'])
    for (const [name, evidence, level] of [
      ['asserted', undefined, 'asserted'],
      ['observed_confirmed', undefined, 'observed_confirmed'],
      ['verified', audit, 'verified'],
    ] as const) {
      const path = file(`${name}.json`)
      const row = receipt.verify(path, evidence ? { audit: evidence } : {}).calls[0]
      assert.equal(row?.level, level, name)
      assert.equal(row?.stored_level, level, name)
      for (const [i, one] of decisions(`${name}.json`).entries()) {
        const response = one['response'] as JsonObject
        assert.equal(response['side_effect_verified'], level === 'verified' && i === 0)
        assert.equal((one['correlation'] as JsonObject)['basis'], 'none')
      }
    }
  })

  for (const [name, level, grave] of [
    ['two_way', 'asserted', false],
    ['one_way_recoverable', 'asserted', false],
    ['one_way_consequential', 'asserted', true],
    ['one_way_terminal', 'asserted', true],
    [undefined, 'asserted', false],
    ['one_way_terminal', 'verified', false],
  ] as const) {
    test(`15: ${name ?? 'no class'} at ${level} is ${grave ? 'a' : 'no'} finding`, () => {
      const row = verifyOne(
        { 'response.side_effect.irreversibility_class': name },
        level === 'verified' ? [record()] : undefined,
      )
      assert.equal(
        row.findings.some((one) => one.kind === 'consequential_unverified'),
        grave,
      )
    })
  }

  test('15: the class is attached to a blocked call too, and left out for an unknown tool', () => {
    const base = {
      server: 's',
      arguments: {},
      status: 'denied',
      effect: 'deny',
      runId: 'r',
      seq: 0,
    } as const
    assert.equal(
      receipt.observe({ ...base, tool: 'add_deploy_key' }).response.side_effect
        .irreversibility_class,
      'one_way_consequential',
    )
    assert.equal(
      'irreversibility_class' in receipt.observe({ ...base, tool: 'x' }).response.side_effect,
      false,
    )
  })

  test('16: a stored level is never trusted: verified falls to asserted without evidence, as an overclaim', () => {
    const report = receipt.verify(file('verified.json'))
    const row = only(report.calls)
    assert.equal(row.level, 'asserted')
    assert.equal(row.stored_level, 'verified')
    assert.ok(row.findings.some((one) => one.kind === 'overclaim'))
    assert.equal(report.counts.overclaims, 1)
  })

  test('16: a stored asserted rises to verified by evidence', () => {
    const report = receipt.verify(file('asserted.json'), {
      audit: file('audit_record_github_deploy_key.json'),
    })
    assert.equal(only(report.calls).level, 'verified')
    assert.equal(report.records.used, 1)
    assert.deepEqual(report.records.unused, [])
  })

  test('18: without audit evidence there is no binding', () => {
    const report = receipt.verify(file('asserted.json'))
    assert.equal(only(report.calls).binding, null)
    assert.equal(report.records.imported, 0)
  })

  test('19: what is not claimed is listed', () => {
    const { claims_not_made: claims } = receipt.verify([])
    assert.ok(claims.includes('provider_query'))
    assert.ok(claims.includes('audit_record_authenticity_beyond_its_own_signature'))
  })

  test('20: the text names the refusal and that nothing is verified', () => {
    const text = receipt
      .verify(file('asserted.json'), { audit: file('audit_record_mismatch.json') })
      .text()
    assert.match(text, /0 of 1 claimed effect is verified/)
    assert.match(text, /binds_different_call/)
  })

  test('23: the weakest call decides, never the strongest', () => {
    const other = call({ 'action.target.repo': 'second-repo' })
    const report = receipt.verify([call(), other], {
      audit: record() as never,
      minLevel: 'observed_confirmed',
    })
    assert.deepEqual(report.weakest, { state: 'rung', level: 'asserted' })
    assert.deepEqual(report.min_level, { required: 'observed_confirmed', met: false })
  })

  test('26: without an asserting call nothing is claimed, and no level is met', () => {
    const denied = call({
      'response.side_effect_asserted': false,
      'response.side_effect.asserted': false,
    })
    const report = receipt.verify([denied], { minLevel: 'asserted' })
    assert.deepEqual(report.weakest, { state: 'nothing_claimed' })
    assert.equal(only(report.calls).level, null)
    assert.equal(report.min_level?.met, false)
    assert.equal(report.ok, false)
  })

  for (const [name, input, where] of [
    [
      'observed_tool_decisions missing',
      { schema: 'assay.tool_decision_surface.v0' },
      'decisions: observed_tool_decisions',
    ],
    [
      'observed_tool_decisions no array',
      { schema: 'assay.tool_decision_surface.v0', observed_tool_decisions: {} },
      'decisions: observed_tool_decisions',
    ],
    [
      'another schema',
      { schema: 'assay.tool_decision_surface.v9', observed_tool_decisions: [] },
      'decisions: schema',
    ],
    [
      'side_effect_asserted missing',
      [call({ 'response.side_effect_asserted': undefined })],
      'decisions[0].response.side_effect_asserted',
    ],
    [
      'side_effect_asserted a text',
      [call({ 'response.side_effect_asserted': 'true' })],
      'decisions[0].response.side_effect_asserted',
    ],
    [
      'side_effect_asserted against side_effect.asserted',
      [call({ 'response.side_effect.asserted': false })],
      'decisions[0].response.side_effect.asserted',
    ],
    ['no response', [call({ response: undefined })], 'decisions[0].response'],
    [
      'an effect of another name',
      [call({ 'decision.effect': 'maybe' })],
      'decisions[0].decision.effect',
    ],
    ['a decision that is a number', [7], 'decisions[0]'],
  ] as const) {
    test(`27: ${name} is an error that names the place, never read as nothing claimed`, () => {
      assert.throws(() => receipt.verify(input as never), { code: 'surface_invalid', where })
    })
  }

  test('28: of two equal calls and one record neither is verified, and 1 of 2 is said', () => {
    const report = receipt.verify([call(), call()], { audit: record() as never })
    assert.deepEqual(report.counts.levels, { asserted: 2, observed_confirmed: 0, verified: 0 })
    for (const row of report.calls) {
      assert.equal(row.allocation, 'ambiguous')
      assert.match(row.why_not_higher ?? '', /^1 of 2, cannot be told which/)
    }
    assert.equal(only(report.records.rejected).reason, 'ambiguous')
    assert.match(report.text(), /1 of 2 equal calls took place/)
  })

  test('28: two equal calls and two records are two verified', () => {
    const report = receipt.verify([call(), call()], {
      audit: [record(), record({ record_id: 'second' })] as never,
    })
    assert.equal(report.counts.levels.verified, 2)
  })
})

describe('what v0 admits and this verifier refuses', () => {
  const refused: [string, { [path: string]: unknown }, JsonObject[], string][] = [
    ['wrong schema', {}, [record({ schema: 'assay.provider_audit_record.v1' })], 'schema_wrong'],
    ['missing schema', {}, [record({ schema: undefined })], 'schema_wrong'],
    ['missing record_id', {}, [record({ record_id: undefined })], 'record_id_missing'],
    ['empty record_id', {}, [record({ record_id: '' })], 'record_id_missing'],
    ['provider of the record is another', {}, [record({ provider: 'gitea' })], 'provider_mismatch'],
    [
      'provider of the call is another',
      { 'action.target.provider': 'gitlab' },
      [record()],
      'provider_mismatch',
    ],
    [
      'a digest in upper case',
      {},
      [record({ binding_digest: GOLDEN.toUpperCase() })],
      'digest_malformed',
    ],
    [
      'a digest without its prefix',
      {},
      [record({ binding_digest: GOLDEN.slice(7) })],
      'digest_malformed',
    ],
    ['read_only differs', {}, [record({ attributes: { read_only: true } })], 'attribute_differs'],
    ['a time that is none', {}, [record({ occurred_at: 'yesterday' })], 'record_malformed'],
  ]
  for (const [name, changes, audit, reason] of refused) {
    test(`${name}: ${reason}, and the level stays asserted`, () => {
      const report = receipt.verify([call(changes)], { audit: audit as never })
      assert.equal(only(report.calls).level, 'asserted')
      assert.equal(only(report.records.rejected).reason, reason)
    })
  }

  for (const [name, changes, reason] of [
    [
      'an action that is not classified',
      { classification: 'classified_incomplete' },
      'not_classified',
    ],
    ['no classification', { classification: undefined }, 'not_classified'],
    ['no title hash', { 'action.target.key_title_hash': undefined }, 'target_field_missing'],
    [
      'a title hash that is null',
      { 'action.target.key_title_hash': null },
      'target_value_not_text',
    ],
    ['an owner that is a number', { 'action.target.owner': 7 }, 'target_value_not_text'],
    [
      'a title hash in upper case',
      { 'action.target.key_title_hash': 'sha256:ABC' },
      'target_hash_malformed',
    ],
    ['a class that nobody declared', { 'action.resource_type': 'moon_base' }, 'class_unknown'],
  ] as const) {
    test(`${name}: ${reason}, and no record binds`, () => {
      const row = verifyOne(changes, [record()])
      assert.equal(row.level, 'asserted')
      assert.equal(only(row.rejections).reason, reason)
      assert.equal(row.binding?.outcome, 'not_projectable')
    })
  }

  test('an owner in another case is a different call', () => {
    assert.equal(
      verifyOne({ 'action.target.owner': 'Org' }, [record()]).binding?.outcome,
      'binds_different_call',
    )
  })

  test('a further member in the subject is a different call', () => {
    const subject = { ...(matching()['subject'] as JsonObject), note: 'x' }
    const audit = record({ subject, binding_digest: receipt.bindingDigest(subject) })
    assert.equal(verifyOne({}, [audit]).binding?.outcome, 'binds_different_call')
  })

  test('a status that is not success asserts nothing, whatever the flag says', () => {
    assert.equal(verifyOne({ 'response.status': 'error' }, [record()]).level, null)
    assert.equal(verifyOne({ 'decision.effect': 'deny' }, [record()]).level, null)
  })

  test('the same record_id twice counts once, across files and forms', () => {
    const report = receipt.verify([call(), call()], {
      audit: [file('audit_record_github_deploy_key.json'), record()] as never,
    })
    assert.equal(report.counts.levels.verified, 0)
    assert.deepEqual(report.records.rejected.map(({ reason }) => reason).sort(), [
      'ambiguous',
      'duplicate_record_id',
    ])
  })

  test('the same record_id of two providers is two records', () => {
    const report = receipt.verify([call()], {
      audit: [record(), record({ provider: 'gitea' })] as never,
    })
    assert.deepEqual(
      report.records.rejected.map((row) => row.reason),
      ['provider_mismatch'],
    )
    assert.equal(report.counts.levels.verified, 1)
  })

  test('a second entry under a used id does not take the level away, and is called a different entry', () => {
    const report = receipt.verify([call()], {
      audit: [record(), replaced(mismatch(), { record_id: 'audit-log-entry-9931' })] as never,
    })
    assert.equal(report.counts.levels.verified, 1)
    assert.match(only(report.records.rejected).detail, /different entries/)
  })

  test('a window refuses what lies outside by a millisecond, keeps its edges, and refuses what has no time', () => {
    const window = { from: '2026-01-05T09:00:00.000Z', to: '2026-01-05T10:00:00.000Z' }
    for (const [at, level, reason] of [
      ['2026-01-05T09:00:00.000Z', 'verified', undefined],
      ['2026-01-05T10:00:00.000Z', 'verified', undefined],
      ['2026-01-05T08:59:59.999Z', 'asserted', 'outside_window'],
      ['2026-01-05T10:00:00.001Z', 'asserted', 'outside_window'],
      [undefined, 'asserted', 'time_unknown'],
    ] as const) {
      const report = receipt.verify([call()], {
        audit: record({ occurred_at: at }) as never,
        window,
      })
      assert.equal(only(report.calls).level, level, String(at))
      assert.equal(report.records.rejected[0]?.reason, reason)
    }
  })

  test('a record in the ledger is used up', () => {
    const ledger = [{ provider: 'github', record_id: 'audit-log-entry-9931' }]
    const report = receipt.verify([call()], { audit: record() as never, ledger })
    assert.equal(only(report.calls).level, 'asserted')
    assert.equal(only(report.records.rejected).reason, 'already_used')
  })
})

describe('binding_strength', () => {
  const at = { occurred_at: '2026-01-05T09:30:00Z' }
  const window = { from: '2026-01-05T09:00:00Z', to: '2026-01-05T10:00:00Z' }
  const id = receipt.requestHash('ABCD:1234')

  test('action: the digest alone', () => {
    assert.equal(verifyOne({}, [record()]).binding_strength, 'action')
    assert.equal(verifyOne({}, [record(at)]).binding_strength, 'action')
  })

  test('unique_in_window: a window, one call and one record', () => {
    const one = receipt.verify([call()], { audit: record(at) as never, window })
    assert.equal(only(one.calls).binding_strength, 'unique_in_window')
    const two = receipt.verify([call()], {
      audit: [record(at), record({ ...at, record_id: 'b' })] as never,
      window,
    })
    assert.equal(only(two.calls).binding_strength, 'action')
  })

  test('request: an id in the answer equals the record’s, and picks the record', () => {
    const observation = { run_id: 'r', seq: 0, request_ids: [id] }
    const audit = [record({ record_id: 'a' }), record({ record_id: 'b', request_ids: [id] })]
    const row = verifyOne({ observation }, audit)
    assert.equal(row.binding_strength, 'request')
    assert.equal(row.binding?.outcome === 'bound' && row.binding.record_id, 'b')
  })

  test('no record, no strength', () => {
    assert.equal(verifyOne({}).binding_strength, null)
  })
})

test('a decision that claims an effect without success is an error, with or without a record', () => {
  const made = receipt.observe({
    server: 'github',
    tool: 'add_deploy_key',
    arguments: { owner: 'org', repo: 'prod-repo', title: 'ci-key' },
    status: 'error',
    runId: 'run-1',
    seq: 0,
  })
  const claimed = {
    ...made,
    response: { ...made.response, side_effect_asserted: true, side_effect: undefined },
  }
  const kinds = (one: unknown) => receipt.verify([one]).errors.map(({ kind }) => kind)
  assert.deepEqual(kinds(made), [])
  assert.deepEqual(kinds(claimed), ['claim_without_success'])
})
