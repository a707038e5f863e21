/** The command line over receipts: what it exits with, and that it says the same as the call. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { check, copy, fresh, keys, original, replaceIn, root } from './attest/sealed-run.ts'

const project = fileURLToPath(new URL('../../', import.meta.url))
const set = join(root, 'small-set/1.0.json')
const publicKey = fresh('auditor.pub')
writeFileSync(publicKey, keys.publicKey)

function touchstone(...args: string[]) {
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    ['--import', 'tsx', 'repl.ts', ...args],
    {
      cwd: project,
      encoding: 'utf8',
    },
  )
  return { status, stdout, stderr }
}

test('verify: 0 when every step holds, and --json is what the call returns', async () => {
  const { status, stdout } = touchstone(
    'verify',
    original,
    '--key',
    publicKey,
    '--set',
    set,
    '--json',
  )
  assert.equal(status, 0)
  assert.deepEqual(JSON.parse(stdout), JSON.parse(JSON.stringify(await check(original, { set }))))
})

test('verify: 1 when a step failed, named in the text', () => {
  const dir = copy()
  replaceIn(dir, 'report.md', 'A report', 'A raport')
  const { status, stdout } = touchstone('verify', dir, '--key', publicKey, '--set', set)
  assert.equal(status, 1)
  assert.match(stdout, /✗ other files +file_edited {2}report\.md/)
})

test('verify: 3 when nothing failed but a step could not be checked', () => {
  const { status, stdout } = touchstone('verify', join(original, 'receipt.json'), '--set', set)
  assert.equal(status, 3)
  assert.match(stdout, /\? signature +key_absent/)
})

test('verify: a folder without a receipt is held against itself: 0 and nobody signed it, 1 after an edit', () => {
  const dir = copy()
  rmSync(join(dir, 'receipt.json'))
  const { status, stdout } = touchstone('verify', dir)
  assert.equal(status, 0)
  assert.match(stdout, /Consistent: all 7 steps hold\. .* nobody signed it\./)
  assert.match(stdout, /no set was published/)
  replaceIn(dir, 'decisions.ndjson', '"enforced":true', '"enforced":false')
  assert.equal(touchstone('verify', dir).status, 1)
})

test('verify: 2 for a key and a folder without a receipt, for a private key, and for evidence beside a receipt', () => {
  const dir = copy()
  rmSync(join(dir, 'receipt.json'))
  const secret = fresh('secret.pem')
  writeFileSync(secret, keys.privateKey)
  for (const [args, code] of [
    [['verify', dir, '--key', publicKey], /touchstone run --receipt/],
    [['verify', original, '--key', secret], /key_invalid/],
    [['verify', original, '--audit', set], /usage/],
  ] as const) {
    const { status, stderr } = touchstone(...args)
    assert.equal(status, 2, stderr)
    assert.match(stderr, code)
    assert.ok(!stderr.includes(keys.privateKey.split('\n')[1] as string))
  }
})

test('scenarios publish: freezes cases once; run --receipt refuses cases that nobody published, before it runs them', () => {
  const out = fresh('published')
  const args = [
    'scenarios',
    'publish',
    'cases/lying_success',
    '--id',
    'lies',
    '--version',
    '1.0',
    '--out',
    out,
  ]
  const first = touchstone(...args, '--json')
  assert.equal(first.status, 0, first.stderr)
  const text = readFileSync(join(out, 'lies/1.0.json'), 'utf8')
  assert.equal(JSON.parse(first.stdout).cases, JSON.parse(text).cases.length)
  const nowhere = touchstone(...args.slice(0, -2))
  assert.equal(nowhere.status, 2)
  assert.match(nowhere.stderr, /^usage: expected --id ID, --version V and --out FOLDER/)
  const again = touchstone(...args)
  assert.equal(again.status, 2)
  assert.match(again.stderr, /file_exists/)
  const sealed = fresh('sealed')
  const made = touchstone(
    'run',
    'cases/lying_success',
    '--repeat',
    '1',
    '--quiet',
    '--out',
    sealed,
    '--receipt',
    '--sets',
    out,
  )
  assert.equal(made.status, 0, made.stderr)
  assert.match(
    touchstone('verify', sealed, '--sets', out).stdout,
    /none failed, 1 could not be checked/,
  )
  const own = fresh('own.yaml')
  const shipped = readFileSync(join(project, 'cases/lying_success/deploy-key.yaml'), 'utf8')
  writeFileSync(
    own,
    shipped.split('\n---\n')[1]?.replace('title: ', 'title: Nobody published this. ') ?? '',
  )
  const dir = fresh('never')
  const refused = touchstone('run', own, '--out', dir, '--receipt')
  assert.equal(refused.status, 2)
  assert.match(refused.stderr, /set_unpublished: .*scenarios publish/)
  assert.throws(() => readFileSync(join(dir, 'manifest.json')), { code: 'ENOENT' })
})
