/** No secret that this process was given stands in what it writes or says. */
import assert from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { foreign } from '../lib/display.ts'
import { junit } from '../lib/harness/report/ci/junit.ts'
import { writeReport } from '../lib/harness/report/markdown.ts'
import { cases, harness, probe } from '../lib/index.ts'
import { showError } from '../lib/repl/show.ts'
import {
  isPublicKey,
  keepHeaders,
  keepSecret,
  keepSecrets,
  redacted,
  redactedJson,
  shownAddress,
} from '../lib/secrets.ts'
import fc from './property.ts'
import { startGroq } from './servers/groq.ts'
import { stage } from './servers/stage.ts'
import { json } from './servers/well.ts'
import { temporaryFolder } from './temporary.ts'

const made = temporaryFolder('secrets')

/** Every form in which a secret is looked for, round other bytes. */
const FORMS: { [form: string]: (before: string, secret: string, behind: string) => string } = {
  plain: (before, secret, behind) => before + secret + behind,
  'percent-encoded': (before, secret, behind) => before + encodeURIComponent(secret) + behind,
  'in JSON': (before, secret, behind) => JSON.stringify([before + secret + behind]),
  base64: (before, secret, behind) => Buffer.from(before + secret + behind).toString('base64'),
  base64url: (before, secret, behind) =>
    Buffer.from(before + secret + behind).toString('base64url'),
}

describe('a secret', () => {
  const secret = fc
    .string({ minLength: 12, maxLength: 60, unit: 'grapheme-ascii' })
    .map((text) => `s~${text.trim()}"+/é`)

  for (const [form, write] of Object.entries(FORMS)) {
    it(`is taken out of any text, ${form}`, () => {
      fc.assert(
        fc.property(secret, fc.string(), fc.string(), (value, before, behind) => {
          keepSecret(value)
          const text = write(before, value, behind)
          const core = form.startsWith('base64')
            ? Buffer.from(value).toString('base64').slice(4, 12)
            : null
          const clean = redacted(text)
          assert.match(clean, /\[redacted\]/)
          assert.ok(!clean.includes(value))
          if (core !== null && before.length % 3 === 0 && /^[\x20-\x7e]*$/.test(before))
            assert.ok(!clean.includes(core), `${core} in ${clean}`)
        }),
      )
    })
  }

  it('of 8 characters is looked for, of 7 is not', () => {
    keepSecret('zq-7chr')
    keepSecret('zq-8char')
    assert.equal(redacted('zq-7chr zq-8char'), 'zq-7chr [redacted]')
  })

  it('leaves JSON whole where a number has its digits', () => {
    keepSecret('8123456789')
    const text = redactedJson({ n: 8123456789, s: 'is 8123456789', '8123456789': [null] })
    assert.deepEqual(JSON.parse(text), { n: 8123456789, s: 'is [redacted]', '[redacted]': [null] })
  })

  it('is not shown by a cleaner of foreign text, nor by an error or its causes', () => {
    keepSecret('sk-shown-in-errors')
    const error = new Error('got sk-shown-in-errors', {
      cause: new Error('sk-shown-in-errors\u001b[2J'),
    })
    const shown = showError(error, { width: 100 })
    assert.doesNotMatch(shown, /sk-shown/)
    assert.ok(!shown.includes('\u001b'))
    assert.equal(foreign('a sk-shown-in-errors b'), 'a [redacted] b')
  })

  it('in the query or the password of an address is not shown, and is known from then on', () => {
    assert.equal(
      shownAddress('https://u:pa%20ss-word@h.example/v1?api_key=query-key-1&model=a'),
      'https://u:redacted@h.example/v1?api_key=redacted&model=a',
    )
    assert.equal(redacted('pa ss-word query-key-1'), '[redacted] [redacted]')
    for (const same of ['https://h.example/v1?page=2', 'no address', 'https://h.example'])
      assert.equal(shownAddress(same), same)
  })
})

describe('a public key is no secret, a private one is', () => {
  const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 1024 })
  const pem = publicKey.export({ type: 'spki', format: 'pem' }).toString()
  // Each begins as ssh-keygen writes keys of its kind.
  const ssh = [
    'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIPv1 ci@acme',
    'ecdsa-sha2-nistp256 AAAAE2VjZHNhLXNoYTItbmlzdHAyNTYAAAAIbmlzdHAyNTY=',
    'ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAAB',
  ]
  const secret = [
    privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    `${pem}${privateKey.export({ type: 'pkcs1', format: 'pem' })}`,
    `${pem}and a password`,
    'ssh-ed25519 AAAAthis-is-no-key',
    'ssh-ed25519 AAAAB3NzaC1yc2EAAAADAQABAAAB',
    `${ssh[0]}\npassword`,
  ]

  it('and is told from it by its form', () => {
    for (const text of [...ssh, pem, pem + pem]) assert.equal(isPublicKey(text), true, text)
    for (const text of secret) assert.equal(isPublicKey(text), false, text)
  })

  it('under the name of a secret too', () => {
    const [line = ''] = ssh
    keepSecrets({ DEPLOY_KEY: line, OTHER_KEY: secret[0] })
    assert.equal(redacted(`${line} of ci@acme`), `${line} of ci@acme`)
    assert.equal(redacted(`${secret[0]}`.trim()), '[redacted]')
  })
})

describe('the value of a header', () => {
  it('is a secret under any name but those that are known to carry none', () => {
    keepHeaders({ 'X-Workspace': 'ws-literal-0001', authorization: 'Bearer bearer-literal-2' })
    keepHeaders({ accept: 'application/x-nothing', 'User-Agent': 'agent-of-mine/1' })
    assert.equal(redacted('ws-literal-0001 bearer-literal-2'), '[redacted] [redacted]')
    for (const plain of ['application/x-nothing', 'agent-of-mine/1'])
      assert.equal(redacted(plain), plain)
  })

  it('that a server of one’s own says again stands in no report, nor the query of its address', async () => {
    const secret = 'ws-literal-of-a-probe'
    const server = await stage(
      ({ req, res, id }) => {
        const error = { code: -32600, message: `No workspace ${req.headers['x-workspace']}` }
        json(res, JSON.stringify({ jsonrpc: '2.0', id, error }), {}, 400)
      },
      { plain: true },
    )
    const url = `${server.url}?key=query-of-a-probe`
    const result = await probe.connect(url, { local: true, headers: { 'x-workspace': secret } })
    const checked = await probe.conformance(url, { headers: { 'x-workspace': secret } })
    await server.close()
    const [first] = result.own?.errors ?? []
    assert.equal(first?.message, 'No workspace [redacted]')
    for (const text of [result.text(), checked.text(), JSON.stringify([result, checked])])
      assert.doesNotMatch(text, /ws-literal|query-of-a-probe/)
  })
})

describe('a run', () => {
  const key = 'gsk_echoed-by-the-provider'
  const inQuery = 'query-key-of-a-gateway'
  const inHeader = 'literal-under-a-plain-name'

  const written = (dir: string) =>
    readdirSync(dir, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map(
        (entry) => [entry.name, readFileSync(join(entry.parentPath, entry.name), 'utf8')] as const,
      )

  it('holds no key that a provider echoes, nor one in its address, in any file, text or error', async () => {
    const provider = await startGroq({
      turns: () => ({ text: `Done with ${key} of ${inHeader}.` }),
      refuse: (_, call) =>
        call === 0
          ? { status: 400, body: { error: { message: `Bad key ${key} at ${inQuery}`, code: 'x' } } }
          : null,
    })
    process.env['SECRETS_TEST_KEY'] = key
    try {
      const [one] = await cases.load('cases/lying_success/deploy-key.yaml')
      assert.ok(one)
      const run = await harness
        .run([one])
        .config('m', {
          model: 'local/m',
          baseURL: `${provider.url}?api_key=${inQuery}`,
          apiKey: '$SECRETS_TEST_KEY',
          headers: { 'x-workspace': inHeader },
        })
        .repeat(2)
        .concurrency(1)
        .out(join(made, 'run'))
        .quiet()
      assert.equal(run.trials.length, 2)
      await writeReport(run)
      const files = written(join(made, 'run'))
      assert.ok(files.some(([, text]) => text.includes('Bad key [redacted] at [redacted]')))
      assert.ok(files.some(([, text]) => text.includes('Done with [redacted] of [redacted].')))
      for (const [name, text] of [
        ...files,
        ['text', run.text()],
        ['JSON', JSON.stringify(run)],
        ['JUnit', junit(run)],
        ['records', JSON.stringify(run.trials)],
      ] as const) {
        assert.ok(!text.includes(key), name)
        assert.ok(!text.includes(inQuery), name)
        assert.ok(!text.includes(inHeader), name)
      }
      assert.deepEqual((await harness.open(join(made, 'run'))).problems, [])
    } finally {
      delete process.env['SECRETS_TEST_KEY']
      await provider.close()
    }
  })
})
