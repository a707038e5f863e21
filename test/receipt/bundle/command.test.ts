/** `touchstone verify BUNDLE --profile`: one report on standard output, and what the exit code says. */
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { after, test } from 'node:test'
import { receipt } from '../../../lib/index.ts'
import { startCommands } from '../../servers/commands.ts'
import { temporaryFolder } from '../../temporary.ts'
import { allow, bundle, decision, jcs, observation, sha256, V0, V1 } from './made.ts'

const root = resolve(import.meta.dirname, '../../..')
const folder = temporaryFolder('bundle-command')

const { run: touchstone, close } = startCommands({ cwd: root })
after(async () => assert.equal(await close(), ''))

const file = join(folder, 'denied.tar.gz')
writeFileSync(file, bundle({ payloads: [decision(), observation()] }))

test('0 for a valid bundle; --json prints exactly what the call returns', async () => {
  const { status, stdout, stderr } = await touchstone('verify', '--profile', V0, '--json', file)
  assert.equal(status, 0)
  assert.equal(stderr, '')
  const report = await receipt.verifyBundle(file, { profile: V0 })
  assert.deepEqual(JSON.parse(stdout), JSON.parse(JSON.stringify(report)))
})

test('1 for a bundle that is not valid under the profile, with the reason for people', async () => {
  const { status, stdout } = await touchstone('verify', file, '--profile', V1)
  assert.equal(status, 1)
  assert.match(stdout, /^Whole, but invalid under privileged-mcp-action\/v1/)
  assert.match(stdout, /schema_unknown at events\.ndjson:2/)
})

test('2 for a path that cannot be read and for a folder, 1 for an empty file: each a report', async () => {
  const empty = join(folder, 'empty.tar.gz')
  writeFileSync(empty, '')
  for (const [path, code] of [
    [folder, 2],
    [join(folder, 'none.tar.gz'), 2],
    [empty, 1],
  ] as const) {
    const { status, stdout, stderr } = await touchstone('verify', path, '--profile', V0, '--json')
    assert.equal(status, code)
    assert.equal(stderr, '')
    assert.equal(JSON.parse(stdout).bundle_integrity, 'fail')
  }
})

test('2 for a bundle without a profile, an unknown profile, two bundles, options of receipts', async () => {
  for (const [args, expected] of [
    [[file], /expected --profile privileged-mcp-action\/v0 or privileged-mcp-action\/v1/],
    [[file, '--profile', 'v0'], /expected privileged-mcp-action\/v0 or .*, got "v0"/],
    [[file, file, '--profile', V0], /expected one bundle, got 2/],
    [[file, '--profile', V0, '--key', 'x'], /got --key/],
  ] as const) {
    const { status, stdout, stderr } = await touchstone('verify', ...args)
    assert.equal(status, 2)
    assert.equal(stdout, '')
    assert.match(stderr, expected)
  }
})

test('--decisions and --audit show the ladder beside the bundle, and the exit code stays the bundle’s', async () => {
  const call = receipt.observe({
    server: 'github',
    tool: 'add_deploy_key',
    status: 'success',
    runId: 'run-1',
    seq: 0,
    arguments: { owner: 'acme', repo: 'api', title: 'ci' },
  })
  const target_digest = sha256(jcs(call.action.target))
  const path = join(folder, 'allowed.tar.gz')
  writeFileSync(path, bundle({ payloads: [allow({ action: { target_digest } })] }))
  const decisions = join(folder, 'decisions.ndjson')
  writeFileSync(decisions, `${JSON.stringify(call)}\n`)
  const audit = join(folder, 'github.json')
  writeFileSync(
    audit,
    '[{"action":"public_key.create","_document_id":"e1","repo":"acme/api","title":"ci"}]',
  )
  const evidence = ['--decisions', decisions, '--audit', audit]
  const { status, stdout } = await touchstone(
    'verify',
    path,
    '--profile',
    V0,
    '--json',
    ...evidence,
  )
  assert.equal(status, 0)
  const { bundle: report, rows } = JSON.parse(stdout)
  assert.equal(report.claims.external_side_effect.status, 'incomplete')
  assert.equal(rows[1].ladder, 'verified')
  const alone = await touchstone('verify', path, '--profile', V0, '--audit', audit)
  assert.equal(alone.status, 2)
  assert.match(alone.stderr, /--decisions/)
})
