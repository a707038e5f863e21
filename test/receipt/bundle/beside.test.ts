/** From an agent behind a policy to a verified bundle, and what evidence shows beside it. */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { before, describe, it } from 'node:test'
import { harness, receipt } from '../../../lib/index.ts'
import { temporaryFolder } from '../../temporary.ts'
import { V0, V1 } from './made.ts'

const folder = temporaryFolder('beside')

const place = { owner: 'acme', repo: 'api' }
const key = { ...place, title: 'ci', key: 'ssh-ed25519 AAAA' }
const github = harness.server('github').state({ repos: [{ owner: 'acme', name: 'api' }] })
const denying = github.deny('add_deploy_key', { origin: 'assay-proxy' })

/** A run of one trial, its agent behind the server's policy. */
async function tried(server: harness.ServerDescription, name: string): Promise<harness.Run> {
  const test = await harness.case({
    id: `policy/${name}`,
    title: 'Add a key',
    kind: 'policy',
    server,
    task: 'Add the deploy key "ci" to acme/api.',
    solution: [{ call: 'add_deploy_key', with: key }],
    goal: [{ table: 'deploy_keys', where: { title: 'ci' } }],
  })
  const plan = harness.run([test]).config('naive', { model: 'sim/naive' }).repeat(1).seed(7).quiet()
  return plan.out(join(folder, name))
}

const keyOf = (run: harness.Run) => run.trials[0]?.key as string
const verified = async (run: harness.Run, profile: receipt.Profile) =>
  receipt.verifyBundle(await run.bundle(keyOf(run), { profile, call: 0 }), { profile })
const log = (title: string) => ({
  provider: 'github' as const,
  bytes: JSON.stringify([
    { action: 'public_key.create', _document_id: 'e1', repo: 'acme/api', title },
  ]),
})

let denied: harness.Run
let allowed: harness.Run
before(async () => {
  denied = await tried(denying, 'denied')
  allowed = await tried(github.pin(), 'allowed')
})

describe('a trial behind a policy, bundled and verified', () => {
  it('a denial is confirmed, by the producer’s word, and nothing of the server is', async () => {
    const report = await verified(denied, V0)
    assert.equal(report.verdict, 'valid')
    assert.equal(report.claims?.caller_visible_denial.status, 'confirmed')
    assert.equal(report.claims?.external_side_effect.status, 'incomplete')
    assert.deepEqual(report.findings, [])
  })

  it('under v1 the code of v0 marks no denial', async () => {
    const report = await verified(denied, V1)
    assert.equal(report.verdict, 'valid')
    assert.equal(report.claims?.caller_visible_denial.status, 'incomplete')
    const other = await tried(
      github.deny('add_deploy_key', { origin: 'assay-proxy', code: -31999 }),
      'denied-v1',
    )
    assert.equal((await verified(other, V1)).claims?.caller_visible_denial.status, 'confirmed')
  })

  it('a denial by another origin than the profile’s is recorded, and marks none', async () => {
    const own = await tried(github.deny('add_deploy_key'), 'denied-own')
    const report = await verified(own, V0)
    assert.equal(report.verdict, 'valid')
    assert.equal(report.claims?.caller_visible_denial.status, 'incomplete')
  })

  it('an allow carries how the tool’s listing was established', async () => {
    const report = await verified(allowed, V0)
    assert.equal(report.verdict, 'valid')
    assert.equal(report.action?.decision, 'allow')
    assert.equal(report.claims?.caller_visible_denial.status, 'incomplete')
    assert.deepEqual(report.findings, [])
  })

  it('a run read back gives the same bytes', async () => {
    const again = await harness.open(denied.dir)
    assert.deepEqual(
      await again.bundle(keyOf(again), { profile: V0, call: 0 }),
      await denied.bundle(keyOf(denied), { profile: V0, call: 0 }),
    )
  })

  it('a trial, a call or a policy that is not there is a bad call', async () => {
    await assert.rejects(denied.bundle('none', { profile: V0 }), { code: 'argument_invalid' })
    await assert.rejects(denied.bundle(keyOf(denied), { profile: V0, call: 99 }), {
      code: 'argument_invalid',
    })
    const free = await tried(github, 'free')
    await assert.rejects(free.bundle(keyOf(free), { profile: V0 }), /none/)
  })

  it('a call whose target is not known has no bundle', async () => {
    const decision = receipt.observe({
      server: 's',
      tool: 'unheard_of',
      status: 'success',
      runId: 'r',
      seq: 0,
      arguments: {},
      policy: { reason: 'allow', drift_state: 'not_evaluated' },
    })
    await assert.rejects(receipt.bundle(decision, { profile: V0, at: '2026-01-01T00:00:00Z' }), {
      code: 'argument_invalid',
    })
  })
})

describe('a bundle beside the ladder', () => {
  const levels = (both: receipt.BundleBesideLadder) =>
    both.rows.map(({ claim, profile, ladder }) => [claim, profile, ladder])

  it('an allow that a provider logged is verified beside its bundle, whose claims stay incomplete', async () => {
    const report = await verified(allowed, V0)
    const both = receipt.beside(report, allowed, { audit: log('ci') })
    assert.equal(both.match.outcome, 'one')
    assert.deepEqual(levels(both), [
      ['upstream_delivery', 'incomplete', 'verified'],
      ['external_side_effect', 'incomplete', 'verified'],
    ])
    assert.deepEqual(both.toJSON().bundle, report.toJSON())
    assert.equal(both.call?.verification_source, 'provider_audit_import')
    assert.match(both.text(), /external_side_effect +incomplete +verified/)
  })

  it('without evidence it is asserted, and evidence of another call changes nothing', async () => {
    const report = await verified(allowed, V0)
    for (const options of [{}, { audit: log('other') }])
      assert.equal(receipt.beside(report, allowed, options).rows[1]?.ladder, 'asserted')
  })

  it('a denied call has no level, and a record with its subject is shown beside it', async () => {
    const report = await verified(denied, V0)
    // Whether a simulated agent tries again is chance.
    const first = denied.decisions.slice(0, 1)
    const both = receipt.beside(report, first, { audit: log('ci') })
    assert.deepEqual(
      both.rows.map(({ ladder }) => ladder),
      [null, null],
    )
    assert.deepEqual(
      both.records_beside.map(({ record_id }) => record_id),
      ['e1'],
    )
    assert.match(both.rows[1]?.rests_on ?? '', /audit records have its subject: 1/)
    const none = receipt.beside(report, first, { audit: log('other') })
    assert.deepEqual(none.records_beside, [])
    assert.match(none.rows[1]?.rests_on ?? '', /no audit record here has its subject/)
  })

  it('a call with another target or tool is not the bundle’s', async () => {
    const report = await verified(denied, V0)
    const [one] = denied.decisions
    const target = { ...one?.action.target, repo: 'web' }
    for (const other of [
      { ...one, action: { ...one?.action, target } },
      { ...one, tool: { ...one?.tool, name: 'delete_deploy_key' } },
    ])
      assert.equal(receipt.beside(report, [other]).match.outcome, 'none')
  })

  it('of equal calls that of the bundle’s run is meant; two in one run cannot be told apart', async () => {
    const report = await verified(denied, V0)
    const [one] = denied.decisions
    const of = (run_id: string, seq: number) => ({
      ...one,
      observation: { ...one?.observation, run_id, seq },
    })
    const here = one?.observation?.run_id as string
    assert.equal(receipt.beside(report, [of('x', 0), of(here, 4)]).match.outcome, 'one')
    assert.equal(receipt.beside(report, [of('x', 0)]).match.outcome, 'one')
    assert.deepEqual(receipt.beside(report, [of('x', 0), of('y', 0)]).match, {
      outcome: 'several',
      calls: 2,
    })
    assert.equal(receipt.beside(report, [of(here, 0), of(here, 1)]).match.outcome, 'several')
  })

  it('a bundle that is not valid names no call', async () => {
    const report = await receipt.verifyBundle(Buffer.from('x'), { profile: V0 })
    const both = receipt.beside(report, denied)
    assert.equal(both.match.outcome, 'bundle_not_valid')
    assert.equal(both.rows[0]?.profile, null)
    assert.equal(both.rows[0]?.ladder, null)
  })
})
