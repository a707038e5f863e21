/** Cassettes: a run's model calls are kept without keys, and answer the same trials offline. */
import assert from 'node:assert/strict'
import { appendFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { cases, harness } from '../../../lib/index.ts'
import { solves, startGroq } from '../../servers/groq.ts'
import { temporaryFolder } from '../../temporary.ts'

const made = temporaryFolder('cassette')
const KEY = 'gsk_0123456789abcdefghij'

let test: harness.Case
let endpoint: Awaited<ReturnType<typeof startGroq>>
before(async () => {
  test = (await cases.load('cases/lying_success')).find(
    ({ id }) => id === 'lying_success/deploy-key',
  ) as harness.Case
  endpoint = await startGroq({ turns: solves(test) })
})
after(() => endpoint.close())

const plan = (configuration: harness.Configuration) =>
  harness.run(test).config('mine', configuration).repeat(3).quiet().out(null)
const MODEL = 'groq/openai/gpt-oss-20b'
const online = () => plan({ model: MODEL, apiKey: KEY, baseURL: endpoint.url })
/** What a trial is, but for its times. */
const trialsOf = ({ trials }: harness.Run) =>
  trials.map(({ started_at, duration_ms, digests, ...row }) => row)

describe('a cassette', () => {
  const dir = join(made, 'tape')
  let recorded: harness.Run
  before(async () => {
    recorded = await online().record(dir)
  })

  it('answers the trials that it holds as they were answered, offline and without a key', async () => {
    const asked = endpoint.requests.length
    const replayed = await plan({ model: MODEL }).replay(dir)
    assert.deepEqual(trialsOf(replayed), trialsOf(recorded))
    assert.equal(endpoint.requests.length, asked)
    const key = recorded.trials[1]?.key as string
    assert.deepEqual(replayed.transcript(key)['responses'], recorded.transcript(key)['responses'])
  })

  it('is named in the manifest by its digest, and the table says that a replay is no new fact', async () => {
    const replayed = await plan({ model: MODEL }).replay(dir)
    const [now] = replayed.manifest.configurations
    const [then] = recorded.manifest.configurations
    assert.match(String(now?.settings['replays']), /^sha256:/)
    assert.equal(then?.settings['replays'], undefined)
    assert.notEqual(now?.digest, then?.digest)
    assert.match(replayed.text(), /mine: answered from a cassette\.[\s\S]* it is one fact\./)
    assert.doesNotMatch(recorded.text(), /cassette/)
  })

  it('holds no key, no cookie and nothing that was sent', () => {
    const text = readFileSync(join(dir, 'cassette.ndjson'), 'utf8')
    assert.equal(text.trim().split('\n').length, endpoint.requests.length)
    for (const secret of [KEY, 'secret=1', 'authorization']) assert.ok(!text.includes(secret))
  })

  it('has no answer to another seed or another repeat: an error of those trials, which are in no rate', async () => {
    const other = await plan({ model: MODEL }).seed(9).replay(dir)
    assert.equal(other.errors, 3)
    assert.match(other.trials[0]?.error?.message ?? '', /no recorded answer to this call of groq/)
    const more = await plan({ model: MODEL }).repeat(4).replay(dir)
    assert.deepEqual(
      more.trials.map(({ outcome }) => outcome === 'error'),
      [false, false, false, true],
    )
  })

  it('is added to by another recording', async () => {
    const before = readFileSync(join(dir, 'cassette.ndjson'), 'utf8').length
    await online().seed(5).repeat(1).record(dir)
    assert.ok(readFileSync(join(dir, 'cassette.ndjson'), 'utf8').length > before)
    assert.equal((await plan({ model: MODEL }).seed(5).repeat(1).replay(dir)).errors, 0)
    assert.equal((await plan({ model: MODEL }).replay(dir)).errors, 0)
  })

  const RAW = 'raw text of an answer'
  for (const [member, change] of [
    ['content', { content: [{ type: 'text', text: { a: RAW } }] }],
    ['content', { content: [{ type: 'tool-call', toolCallId: 'c', toolName: 't', input: [RAW] }] }],
    ['content', { content: [RAW] }],
    ['finishReason', { finishReason: RAW }],
    ['usage', { usage: { inputTokens: { total: RAW }, outputTokens: {} } }],
    ['response', { response: { headers: { [RAW]: 1 } } }],
    ['providerMetadata', { providerMetadata: RAW }],
  ] as const)
    it(`with ${member} of another shape is refused by the line and the member, and not shown: ${JSON.stringify(change)}`, async () => {
      const path = join(made, 'shaped', 'cassette.ndjson')
      const [first, ...rest] = readFileSync(join(dir, 'cassette.ndjson'), 'utf8').split('\n')
      const line = JSON.parse(first as string)
      const broken = { ...line, result: { ...line.result, ...change } }
      mkdirSync(dirname(path), { recursive: true })
      writeFileSync(path, [JSON.stringify(broken), ...rest].join('\n'))
      await assert.rejects(
        async () => plan({ model: MODEL }).replay(dirname(path)),
        (error) => {
          const { code, message } = error as { code: string; message: string }
          assert.equal(code, 'argument_invalid')
          assert.match(message, new RegExp(`got its ${member} of another shape .*:1\\)`))
          assert.doesNotMatch(message, /raw text/)
          return true
        },
      )
    })

  it('prints no warning that stands in it', async (t) => {
    const path = join(made, 'warned', 'cassette.ndjson')
    const lines = readFileSync(join(dir, 'cassette.ndjson'), 'utf8').trimEnd().split('\n')
    mkdirSync(dirname(path))
    const warned = lines.map((line) => {
      const one = JSON.parse(line)
      one.result.warnings = [{ type: 'other', message: `\u001b[2J${RAW}` }]
      return `${JSON.stringify(one)}\n`
    })
    writeFileSync(path, warned.join(''))
    const warn = t.mock.method(console, 'warn', () => {})
    assert.equal((await plan({ model: MODEL }).replay(dirname(path))).errors, 0)
    assert.equal(warn.mock.callCount(), 0)
  })

  it('that is not there, is broken or has nothing to keep is refused before anything runs', async () => {
    await assert.rejects(async () => plan({ model: MODEL }).replay(join(made, 'none')), {
      code: 'file_unreadable',
      message: /expected a cassette \(cassette\.ndjson\), got none/,
    })
    const broken = join(made, 'broken')
    await online().repeat(1).record(broken)
    appendFileSync(join(broken, 'cassette.ndjson'), '{"schema":"other"}\n')
    await assert.rejects(async () => plan({ model: MODEL }).replay(broken), {
      code: 'argument_invalid',
      message: /expected a recorded model call \(.*cassette\.ndjson:\d+\)/,
    })
    await assert.rejects(async () => plan({ model: 'sim/naive' }).record(join(made, 'x')), {
      code: 'argument_invalid',
      message: /whose model calls go through this process, got none/,
    })
    await assert.rejects(async () => online().record(dir).replay(dir), {
      code: 'argument_invalid',
      message: /expected record or replay, got both/,
    })
    const file = join(made, 'file')
    writeFileSync(file, '')
    await assert.rejects(async () => online().record(file), { code: 'file_unwritable' })
  })
})
