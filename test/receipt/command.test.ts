/** The command line over receipts: what it exits with, and that it says the same as the call. */
import assert from 'node:assert/strict'
import { createHash, createSign, generateKeyPairSync } from 'node:crypto'
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import * as receipt from '../../lib/receipt/index.ts'
import { startCommands } from '../servers/commands.ts'
import { check, copy, fresh, keys, original, replaceIn, root } from './attest/sealed-run.ts'

const project = fileURLToPath(new URL('../../', import.meta.url))
const set = join(root, 'small-set/1.0.json')
const publicKey = fresh('auditor.pub')
writeFileSync(publicKey, keys.publicKey)

const { run: touchstone, close } = startCommands({ cwd: project })
after(async () => assert.equal(await close(), ''))

test('verify: 0 when every step holds, and --json is what the call returns', async () => {
  const { status, stdout } = await touchstone(
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

test('verify: 1 when a step failed, named in the text', async () => {
  const dir = copy()
  replaceIn(dir, 'report.md', 'A report', 'A raport')
  const { status, stdout } = await touchstone('verify', dir, '--key', publicKey, '--set', set)
  assert.equal(status, 1)
  assert.match(stdout, /✗ other files +file_edited {2}report\.md/)
})

test('verify: 3 when nothing failed but a step could not be checked', async () => {
  const { status, stdout } = await touchstone(
    'verify',
    join(original, 'receipt.json'),
    '--set',
    set,
  )
  assert.equal(status, 3)
  assert.match(stdout, /\? signature +key_absent/)
})

test('verify: a folder without a receipt is held against itself: 0 and nobody signed it, 1 after an edit', async () => {
  const dir = copy()
  rmSync(join(dir, 'receipt.json'))
  const { status, stdout } = await touchstone('verify', dir)
  assert.equal(status, 0)
  assert.match(stdout, /Consistent: all 7 steps hold\. .* nobody signed it\./)
  assert.match(stdout, /no set was published/)
  replaceIn(dir, 'decisions.ndjson', '"enforced":true', '"enforced":false')
  assert.equal((await touchstone('verify', dir)).status, 1)
})

test('verify: 2 for a key and a folder without a receipt, for a private key, and for evidence beside a receipt', async () => {
  const dir = copy()
  rmSync(join(dir, 'receipt.json'))
  const secret = fresh('secret.pem')
  writeFileSync(secret, keys.privateKey)
  for (const [args, code] of [
    [['verify', dir, '--key', publicKey], /touchstone run --receipt/],
    [['verify', original, '--key', secret], /key_invalid/],
    [['verify', original, '--audit', set], /usage/],
  ] as const) {
    const { status, stderr } = await touchstone(...args)
    assert.equal(status, 2, stderr)
    assert.match(stderr, code)
    assert.ok(!stderr.includes(keys.privateKey.split('\n')[1] as string))
  }
})

test('scenarios publish: freezes cases once; run --receipt refuses cases that nobody published, before it runs them', async () => {
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
  const first = await touchstone(...args, '--json')
  assert.equal(first.status, 0, first.stderr)
  const text = readFileSync(join(out, 'lies/1.0.json'), 'utf8')
  assert.equal(JSON.parse(first.stdout).cases, JSON.parse(text).cases.length)
  const nowhere = await touchstone(...args.slice(0, -2))
  assert.equal(nowhere.status, 2)
  assert.match(nowhere.stderr, /^usage: expected --id ID, --version V and --out FOLDER/)
  const again = await touchstone(...args)
  assert.equal(again.status, 2)
  assert.match(again.stderr, /file_exists/)
  const sealed = fresh('sealed')
  const made = await touchstone(
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
    (await touchstone('verify', sealed, '--sets', out)).stdout,
    /none failed, 1 could not be checked/,
  )
  const own = fresh('own.yaml')
  const shipped = readFileSync(join(project, 'cases/lying_success/deploy-key.yaml'), 'utf8')
  writeFileSync(
    own,
    shipped.split('\n---\n')[1]?.replace('title: ', 'title: Nobody published this. ') ?? '',
  )
  const dir = fresh('never')
  const refused = await touchstone('run', own, '--out', dir, '--receipt')
  assert.equal(refused.status, 2)
  assert.match(refused.stderr, /set_unpublished: .*scenarios publish/)
  assert.throws(() => readFileSync(join(dir, 'manifest.json')), { code: 'ENOENT' })
})

const key = {
  action: 'public_key.create',
  repo: 'org/prod-repo',
  title: 'ci-key',
  '@timestamp': Date.parse('2026-01-05T09:00:00Z'),
}
const lines = (...rows: object[]) => `${rows.map((row) => JSON.stringify(row)).join('\n')}\n`
const decisions = fresh('decisions.ndjson')
writeFileSync(
  decisions,
  lines(
    receipt.observe({
      server: 'github',
      tool: 'add_deploy_key',
      arguments: { owner: 'org', repo: 'prod-repo', title: 'ci-key' },
      status: 'success',
      runId: 'r',
      seq: 0,
    }),
  ),
)

test('verify: a folder of evidence as it lies on a disk, with what was not used by name, reason and count', async () => {
  const folder = fresh('AWSLogs')
  mkdirSync(join(folder, 'github'), { recursive: true })
  writeFileSync(join(folder, 'README.md'), '# The logs of January\n')
  const huge = '{"action":"public_key.create","_document_id":"e9","actor_id":9007199254740993}\n'
  writeFileSync(
    join(folder, 'github', 'log.ndjson'),
    lines({ action: 'hook.create', _document_id: 'e0' }, { ...key, _document_id: 'e1' }) + huge,
  )
  const { status, stdout } = await touchstone('verify', decisions, '--audit', folder)
  assert.equal(status, 0)
  assert.match(stdout, /1 of 1 claimed effect is verified, by action alone\./)
  assert.match(stdout, /not used .*README\.md: json_syntax/)
  assert.match(stdout, /1 left out: json_unsafe_number/)
  assert.match(stdout, /1 left out: no effect that is looked for: hook\.create/)
})

test('verify: --window refuses records of other times, --ledger refuses those that were used before', async () => {
  const log = fresh('log.json')
  const ledger = fresh('used.ndjson')
  writeFileSync(log, JSON.stringify([{ ...key, _document_id: 'e1' }]))
  const level = async (...more: string[]) => {
    const { status, stdout } = await touchstone(
      'verify',
      decisions,
      '--audit',
      log,
      '--json',
      ...more,
    )
    assert.equal(status, 0)
    return JSON.parse(stdout).calls[0].level
  }
  assert.equal(await level('--window', '2026-01-06..'), 'asserted')
  assert.equal(await level('--window', '..2026-01-06', '--provider', 'github'), 'verified')
  assert.equal(await level('--ledger', ledger), 'verified')
  assert.match(readFileSync(ledger, 'utf8'), /"record_id":"e1"/)
  assert.equal(await level('--ledger', ledger), 'asserted')
  assert.equal((await touchstone('verify', decisions, '--window', 'May')).status, 2)
})

test('verify: CloudTrail logs as they lie in a bucket, with digests beside them and a key', async () => {
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const bucket = fresh('bucket')
  const logs = join(bucket, 'AWSLogs', '123456789012', 'CloudTrail')
  const digests = join(bucket, 'AWSLogs', '123456789012', 'CloudTrail-Digest')
  for (const folder of [logs, digests]) mkdirSync(folder, { recursive: true })
  const log = JSON.stringify({
    Records: [
      {
        eventVersion: '1.11',
        eventTime: '2026-01-05T09:00:00Z',
        eventSource: 'iam.amazonaws.com',
        eventName: 'CreateAccessKey',
        eventID: 'e1',
        recipientAccountId: '123456789012',
        requestParameters: { userName: 'ci' },
        responseElements: { accessKey: { userName: 'ci', status: 'Active' } },
      },
    ],
  })
  const sha = (text: string) => createHash('sha256').update(text).digest('hex')
  const end = '2026-01-05T10:00:00Z'
  const digest = JSON.stringify({
    digestEndTime: end,
    digestSignatureAlgorithm: 'SHA256withRSA',
    digestS3Bucket: 'b',
    digestS3Object: 'd.json.gz',
    previousDigestS3Object: null,
    previousDigestHashValue: null,
    previousDigestSignature: null,
    logFiles: [{ s3Bucket: 'b', s3Object: 'l', hashValue: sha(log), hashAlgorithm: 'SHA-256' }],
  })
  const signed = createSign('sha256').update(`${end}\nb/d.json.gz\n${sha(digest)}\nnull`)
  writeFileSync(join(logs, 'log.json.gz'), gzipSync(log))
  writeFileSync(join(digests, 'd.json.gz'), gzipSync(digest))
  writeFileSync(join(digests, 'd.json.gz.signature'), signed.sign(privateKey, 'hex'))
  writeFileSync(join(bucket, 'README.md'), 'Ask the platform team.\n')
  const key = fresh('trail.pem')
  writeFileSync(key, publicKey.export({ format: 'pem', type: 'spki' }))
  const calls = fresh('iam.ndjson')
  writeFileSync(
    calls,
    lines(
      receipt.observe({
        server: 'iam',
        tool: 'create_access_key',
        arguments: { user_name: 'ci' },
        status: 'success',
        runId: 'r',
        seq: 0,
      }),
    ),
  )
  const verify = (...more: string[]) => touchstone('verify', calls, '--audit', bucket, ...more)
  const sound = await verify('--public-key', key, '--min-level', 'verified')
  assert.equal(sound.status, 0, sound.stdout)
  assert.match(sound.stdout, /signed: .*digest/)
  assert.match(sound.stdout, /not used 2 files, such as\s+\S*d\.json\.gz: it signs/)
  assert.match((await verify()).stdout, /not checked: no public key was given/)

  writeFileSync(join(logs, 'log.json.gz'), gzipSync(log.replace('09:00', '09:01')))
  const edited = await verify('--public-key', key)
  assert.equal(edited.status, 1)
  assert.match(edited.stdout.split('\n')[1] ?? '', /error: authenticity_failed/)
  assert.match(edited.stdout, /0 of 1 claimed effect is verified/)

  // Logs and digests that lie apart, as an auditor may be given them.
  writeFileSync(join(logs, 'log.json.gz'), gzipSync(log))
  const apart = await touchstone(
    ...['verify', calls, '--audit', logs, '--digests', digests, '--public-key', key],
    ...['--min-level', 'verified'],
  )
  assert.equal(apart.status, 0, apart.stdout)
})

test('verify: a ledger is written once by each, and a receipt takes no option for decisions', async () => {
  const log = fresh('server.json')
  const ledger = fresh('none/ledger.ndjson')
  writeFileSync(log, JSON.stringify([{ ...key, _document_id: 'e1' }]))
  const run = (...more: string[]) => touchstone('verify', decisions, '--audit', log, ...more)
  const nowhere = await run('--ledger', ledger)
  assert.equal(nowhere.status, 2)
  assert.match(nowhere.stderr, /a ledger/)
  assert.match((await run('--server', 'other')).stdout, /0 of 1 claimed effect is verified/)
  assert.match((await run('--server', 'github')).stdout, /1 of 1 claimed effect is verified/)
  for (const option of ['--window', '--digests'])
    assert.equal((await touchstone('verify', original, option, '2026-01-01..')).status, 2, option)
})

test('verify: 1 when a read contradicts, and the contradiction is named first', async () => {
  const lie = fresh('lie.ndjson')
  const read = receipt.observe({
    server: 'github',
    tool: 'list_deploy_keys',
    arguments: { owner: 'org', repo: 'prod-repo' },
    status: 'success',
    result: { content: [{ type: 'text', text: '[]' }] },
    runId: 'r',
    seq: 1,
  })
  writeFileSync(lie, readFileSync(decisions, 'utf8') + lines(read))
  const { status, stdout } = await touchstone('verify', lie)
  assert.equal(status, 1)
  assert.match(stdout.split('\n')[1] ?? '', /error: read_does_not_show, #0 add_deploy_key/)
})

test('verify: 1 when the provider’s own log says that the call failed, which stands at the call', async () => {
  const user = { user_name: 'ci-bot' }
  const calls = fresh('aws.ndjson')
  writeFileSync(
    calls,
    lines(
      receipt.observe({
        server: 'aws-iam',
        tool: 'create_user',
        arguments: user,
        status: 'success',
        runId: 'r',
        seq: 0,
        actor: 'arn:aws:iam::111122223333:user/ann',
        at: '2026-01-05T09:00:00Z',
      }),
    ),
  )
  const trail = fresh('trail.json')
  const event = {
    eventVersion: '1.08',
    eventSource: 'iam.amazonaws.com',
    eventName: 'CreateUser',
    eventTime: '2026-01-05T09:00:00Z',
    eventID: 'e1',
    userIdentity: { type: 'IAMUser', arn: 'arn:aws:iam::111122223333:user/ann' },
    requestParameters: { userName: 'ci-bot' },
    responseElements: null,
    errorCode: 'AccessDenied',
    errorMessage: 'User is not authorized to perform: iam:CreateUser',
  }
  writeFileSync(trail, JSON.stringify({ Records: [event] }))
  const { status, stdout } = await touchstone('verify', calls, '--audit', trail)
  assert.equal(status, 1)
  const [head, first] = stdout.split('\n')
  assert.equal(head, '0 of 1 claimed effect is verified; 1 is contradicted.')
  assert.match(first ?? '', /error: provider_says_failed, #0 create_user: .*/)
  assert.match(
    stdout,
    /asserted +1 .*\n +create_user #0\n[\s\S]*failed: AccessDenied \(entry\s+e1\)/,
  )
})

test('verify: 3 when a line of the decisions could not be read, and 1 beside --min-level', async () => {
  const torn = fresh('torn.ndjson')
  const whole = readFileSync(decisions, 'utf8')
  writeFileSync(torn, whole + whole.slice(0, 30))
  const { status, stdout } = await touchstone('verify', torn)
  assert.equal(status, 3)
  assert.match(stdout, /1 line of the decisions could not be read/)
  assert.match(
    stdout,
    /unread json_syntax: expected a closing quote, got the end\s+\(\S*torn\.ndjson:2:1:31\)/,
  )
  assert.match(stdout, /asserted +1 /)
  assert.equal((await touchstone('verify', torn, '--min-level', 'asserted')).status, 1)
  assert.equal((await touchstone('verify', decisions, '--min-level', 'asserted')).status, 0)
})

test('audit import: 1 when no entry is a record, with what the others are', async () => {
  const log = fresh('hooks.json')
  writeFileSync(log, JSON.stringify([{ action: 'hook.create', _document_id: 'e0' }]))
  const { status, stdout } = await touchstone('audit', 'import', 'github', log)
  assert.equal(status, 1)
  assert.match(stdout, /1 entry in .*: 0 records, 0 left out, 1 of kinds/)
  assert.match(stdout, /1 +hook\.create/)
})
