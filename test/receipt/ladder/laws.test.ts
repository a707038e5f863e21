/** What must hold for any input: never promoted without both digests, never lowered by more records, never moved by order. */
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import type { Arbitrary } from 'fast-check'
import { canonical } from '../../../lib/canonical.ts'
import type { JsonObject } from '../../../lib/json.ts'
import * as receipt from '../../../lib/receipt/index.ts'
import { confirm } from '../../../lib/receipt/ladder/confirm.ts'
import { allocate, type Offer } from '../../../lib/receipt/ladder/join.ts'
import { readDecision } from '../../../lib/receipt/surface/decision.ts'
import fc from '../../property.ts'
import { temporaryFolder } from '../../temporary.ts'

const folder = temporaryFolder('laws')
const json = (report: receipt.Report) => canonical(report.toJSON())

// Few values, so that calls, reads and records meet often.
const repo = fc.constantFrom('a', 'b')
const title = fc.constantFrom('x', 'y')
const flag = fc.constantFrom(undefined, true, false)
const ids = fc.subarray(['id-1', 'id-2'])
const call = fc.record({
  tool: fc.constantFrom(
    'add_deploy_key',
    'add_deploy_key',
    'delete_deploy_key',
    'list_deploy_keys',
    'mystery',
  ),
  repo,
  title,
  read_only: flag,
  status: fc.constantFrom('success', 'success', 'success', 'error'),
  effect: fc.constantFrom('allow', 'allow', 'deny'),
  runId: fc.constantFrom('r1', 'r2'),
  seq: fc.integer({ min: 0, max: 12 }),
  shown: fc.array(
    fc.record({ id: fc.integer({ min: 1, max: 3 }), title, read_only: fc.boolean() }),
    { maxLength: 3 },
  ),
  request: fc.constantFrom(undefined, 'id-1', 'id-2'),
  stored: fc.constantFrom('asserted', 'observed_confirmed', 'verified'),
})
const decisionOf = fc.array(call, { maxLength: 14 }).map((calls) =>
  calls.map((one) => {
    const { repo: name, title: key, read_only, shown, request, stored, ...rest } = one
    const reply =
      one.tool === 'list_deploy_keys' ? { result: shown } : { ok: true, request_id: request ?? '' }
    const made = receipt.observe({
      ...rest,
      server: 'github',
      arguments:
        one.tool === 'list_deploy_keys'
          ? { owner: 'org', repo: name }
          : { owner: 'org', repo: name, title: key, key_id: 1, read_only },
      result: { structuredContent: reply },
    } as never)
    made.response.side_effect.level = stored as receipt.Level
    return made
  }),
)
const audit = fc.array(
  fc.record({
    n: fc.integer({ min: 0, max: 6 }),
    repo,
    title,
    read_only: flag,
    ids,
    provider: fc.constantFrom('github', 'github', 'github', 'gitlab'),
    tampered: fc.constantFrom(false, false, false, true),
  }),
  { maxLength: 14 },
)
const recordsOf = (
  rows: {
    n: number
    repo: string
    title: string
    read_only?: boolean
    ids: string[]
    provider: string
    tampered: boolean
  }[],
  prefix: string,
) =>
  rows.map((row) => {
    const made = receipt.record({
      provider: row.provider,
      record_id: `${prefix}${row.n}`,
      subject: {
        action_class: 'github_deploy_key',
        verb: 'create',
        target: {
          owner: 'org',
          repo: row.repo,
          key_title_hash: receipt.targetHash('github_key_title', row.title),
        },
      },
      ...(row.read_only !== undefined && { attributes: { read_only: row.read_only } }),
      request_ids: row.ids.map(receipt.requestHash),
    })
    if (row.tampered) made.subject.target['repo'] = 'tampered'
    return made
  })
const RANK = { asserted: 0, observed_confirmed: 1, verified: 2 }

describe('any calls and records', () => {
  test('a call is verified only if it asserted success and both digests are its own', () => {
    fc.assert(
      fc.property(decisionOf, audit, (decisions, rows) => {
        const records = recordsOf(rows, 'e')
        const report = receipt.verify(decisions, { audit: records as never })
        const used = new Map<string, number>()
        for (const one of report.calls) {
          if (one.level !== 'verified') continue
          assert.equal(one.asserted, true)
          assert.ok(one.binding?.outcome === 'bound')
          const { provider, record_id, subject_digest } = one.binding
          const key = `${provider} ${record_id}`
          used.set(key, (used.get(key) ?? 0) + 1)
          assert.ok(
            records.some(
              (record) =>
                record.record_id === record_id &&
                record.provider === provider &&
                record.binding_digest === subject_digest &&
                receipt.bindingDigest(record.subject) === subject_digest,
            ),
          )
          assert.equal(one.verification_subject_digest, subject_digest)
        }
        assert.ok([...used.values()].every((n) => n === 1))
        assert.equal(
          report.records.used + report.records.unused.length + report.records.rejected.length,
          records.length,
        )
      }),
      { numRuns: 400 },
    )
  })

  test('records with new ids that name no request of a call never lower a level', () => {
    fc.assert(
      fc.property(decisionOf, audit, audit, (decisions, few, named) => {
        const more = named.map((row) => ({ ...row, ids: [] }))
        const records = recordsOf(few, 'e')
        const before = receipt.verify(decisions, { audit: records as never }).calls
        const after = receipt.verify(decisions, {
          audit: [...records, ...recordsOf(more, 'f')] as never,
        }).calls
        for (const [i, one] of before.entries())
          if (one.level !== null) assert.ok(RANK[after[i]?.level ?? 'asserted'] >= RANK[one.level])
      }),
      { numRuns: 400 },
    )
  })

  test('the order of calls and of records changes no byte of the report', () => {
    const pair = fc
      .tuple(decisionOf, audit)
      .chain(([decisions, rows]) =>
        fc.tuple(
          fc.constant(decisions),
          fc.shuffledSubarray(decisions, { minLength: decisions.length }),
          fc.constant(rows),
          fc.shuffledSubarray(rows, { minLength: rows.length }),
        ),
      )
    fc.assert(
      fc.property(pair, ([decisions, shuffled, rows, mixed]) => {
        const one = receipt.verify(decisions, { audit: recordsOf(rows, 'e') as never })
        const two = receipt.verify(shuffled, { audit: recordsOf(mixed, 'e') as never })
        assert.equal(json(one), json(two))
      }),
      { numRuns: 400 },
    )
  })

  test('without records nothing is verified; without later reads nothing is confirmed', () => {
    fc.assert(
      fc.property(decisionOf, (decisions) => {
        const { levels } = receipt.verify(decisions).counts
        assert.equal(levels.verified, 0)
        const writes = decisions.filter((one) => one.tool.name !== 'list_deploy_keys')
        assert.equal(receipt.verify(writes).counts.levels.observed_confirmed, 0)
      }),
    )
  })

  test('arbitrary JSON in place of decisions never crashes and never promotes', () => {
    const [good] = [
      receipt.observe({
        server: 's',
        tool: 'add_deploy_key',
        arguments: { owner: 'org', repo: 'a', title: 'x' },
        status: 'success',
        runId: 'r',
        seq: 0,
      }),
    ]
    const paths = [
      'action',
      'response',
      'classification',
      'observation',
      'tool',
      'decision',
      'server',
    ]
    fc.assert(
      fc.property(fc.jsonValue(), fc.constantFrom(...paths), fc.boolean(), (value, path, whole) => {
        const input = whole ? value : [{ ...good, [path]: value }]
        try {
          assert.equal(receipt.verify(input as never).counts.levels.verified, 0)
        } catch (error) {
          // A text is a path, and a folder is taken for a receipt, which needs a key.
          const codes = /^(surface_invalid|file_unreadable|argument_invalid)$/
          assert.match((error as { code: string }).code, codes)
        }
      }),
      { numRuns: 400 },
    )
  })

  test('arbitrary JSON in place of records never crashes and never promotes', () => {
    const decision = receipt.observe({
      server: 's',
      tool: 'add_deploy_key',
      arguments: { owner: 'org', repo: 'a', title: 'x' },
      status: 'success',
      runId: 'r',
      seq: 0,
    })
    const [good] = recordsOf(
      [{ n: 1, repo: 'b', title: 'x', ids: [], provider: 'github', tampered: false }],
      'e',
    )
    const members = [
      'schema',
      'provider',
      'record_id',
      'subject',
      'binding_digest',
      'attributes',
      'source',
      'request_ids',
      'occurred_at',
    ]
    fc.assert(
      fc.property(
        fc.jsonValue(),
        fc.constantFrom(...members),
        fc.boolean(),
        (value, member, whole) => {
          const record = whole ? value : { ...good, [member]: value }
          try {
            assert.equal(
              receipt.verify([decision], { audit: [record] as never }).counts.levels.verified,
              0,
            )
          } catch (error) {
            assert.match(
              (error as { code: string }).code,
              // A text is a path, and the files below it may be no evidence.
              /^(record_invalid|argument_invalid|export_invalid|file_unreadable|json_\w+)$/,
            )
          }
        },
      ),
      { numRuns: 400 },
    )
  })
})

describe('the join', () => {
  const DAY = 24 * 60 * 60 * 1000
  const NEAR = 15 * 60 * 1000
  const offer = (index: number) =>
    fc.record({
      index: fc.constant(index),
      agree: fc.constantFrom<Offer['agree']>({}, { v: 'a' }, { v: 'b' }),
      requestIds: fc.constant<Offer['requestIds']>([]),
      actor: fc.constantFrom<Offer['actor']>(null, `sha256:${'1'.repeat(64)}`),
      at: fc.constantFrom<Offer['at']>(null, 0, NEAR, NEAR + 1, DAY + NEAR + 1),
    })
  const offers = fc
    .integer({ min: 0, max: 5 })
    .chain((n) => fc.tuple(...Array.from({ length: n }, (_, i) => offer(i)))) as Arbitrary<Offer[]>
  const fits = (a: Offer, b: Offer) =>
    (a.agree['v'] === undefined || b.agree['v'] === undefined || a.agree['v'] === b.agree['v']) &&
    (a.at === null || b.at === null || (b.at - a.at <= DAY && a.at - b.at <= NEAR))

  /** The most calls that can be served, by trying everything. */
  function most(calls: Offer[], records: Offer[]): number {
    const [first, ...rest] = calls
    if (!first) return 0
    let best = most(rest, records)
    for (const record of records)
      if (fits(first, record))
        best = Math.max(
          best,
          1 +
            most(
              rest,
              records.filter((one) => one !== record),
            ),
        )
    return best
  }

  test('serves the calls that every way of serving the most calls serves, each with a record that agrees', () => {
    fc.assert(
      fc.property(offers, offers, (calls, records) => {
        const { matches, ambiguous } = allocate(calls, records, DAY)
        const served = matches.map((one) => one.call).sort((a, b) => a - b)
        const sure = calls
          .filter(
            (call) =>
              most(
                calls.filter((one) => one !== call),
                records,
              ) < most(calls, records),
          )
          .map((call) => call.index)
        assert.deepEqual(served, sure)
        assert.equal(new Set(matches.map((one) => one.record)).size, matches.length)
        for (const one of matches)
          assert.ok(fits(calls[one.call] as Offer, records[one.record] as Offer))
        for (const call of calls)
          assert.equal(
            ambiguous.has(call.index),
            !sure.includes(call.index) && records.some((record) => fits(call, record)),
          )
      }),
      { numRuns: 500 },
    )
  })

  test('many equal calls over a long time are served in order of time, or none is', () => {
    const row = (n: number, shift: number): Offer[] =>
      Array.from({ length: n }, (_, index) => ({
        index,
        server: null,
        agree: {},
        requestIds: [],
        actor: null,
        at: index * 10_000 + shift,
      }))
    const n = 300
    const served = (records: Offer[]) => {
      const { matches, ambiguous } = allocate(row(n, 0), records, DAY)
      assert.equal(matches.length + ambiguous.size, n)
      assert.ok(matches.every((one) => one.call === one.record))
      return matches.length
    }
    for (const [shift, count] of [
      [0, n],
      [-NEAR, n],
      [-NEAR - 1, 0],
      [DAY, n],
      [DAY + 1, 0],
    ] as const)
      assert.equal(served(row(n, shift)), count, String(shift))
    assert.equal(served(row(n, 0).reverse()), n)
    assert.equal(served(row(n, 0).slice(1)), 0)
  })
})

describe('linear', () => {
  /** n writes, n reads that each show n / 10 keys at most, in one run and one repository. */
  function steps(n: number, shown: number): number {
    const target = (i: number) => ({
      provider: 'github',
      owner: 'org',
      repo: 'a',
      key_title_hash: receipt.targetHash('github_key_title', `k${i}`),
    })
    const decisions: receipt.Decision[] = []
    for (let i = 0; i < n; i++) {
      decisions.push(
        receipt.observe({
          server: 's',
          tool: 'add_deploy_key',
          arguments: { owner: 'org', repo: 'a', title: `k${i}` },
          status: 'success',
          runId: 'r',
          seq: 2 * i,
        }),
      )
      const read = receipt.observe({
        server: 's',
        tool: 'list_deploy_keys',
        arguments: { owner: 'org', repo: 'a' },
        status: 'success',
        result: { structuredContent: { result: [] } },
        runId: 'r',
        seq: 2 * i + 1,
      })
      read.observation!.read = {
        complete: i % 2 === 0,
        targets: Array.from({ length: shown }, (_, j) => target(Math.max(0, i - j))),
      }
      decisions.push(read)
    }
    let counted = 0
    const judged = decisions.map((one) => {
      const decision = readDecision(one, 'x')
      return { decision, projection: receipt.subjectOf(one.action), repeated: false }
    })
    confirm(judged, { count: (more) => (counted += more) })
    return counted
  }

  test('ten times the calls is ten times the work, in one repository too', () => {
    const [small, large] = [steps(100, 3), steps(1000, 3)]
    assert.ok(large <= small * 10.5, `${large} steps against ${small}`)
    assert.ok(small >= 100)
  })

  test('many equal calls and records are allotted without comparing pairs', () => {
    let looks = 0
    const counted = (index: number): Offer => ({
      index,
      server: null,
      get agree(): Offer['agree'] {
        looks++
        return index % 3 === 0 ? {} : { v: 'a' }
      },
      actor: null,
      at: null,
      requestIds: [receipt.requestHash('one')],
    })
    const n = 2000
    const { matches } = allocate(
      Array.from({ length: n }, (_, i) => counted(i)),
      Array.from({ length: n }, (_, i) => counted(i)),
      0,
    )
    assert.equal(matches.length, n)
    assert.ok(looks < 60 * n, `${looks} looks at ${n} pairs`)
  })
})

describe('files', () => {
  const decisions = ['x', 'y'].map((key, seq) =>
    receipt.observe({
      server: 's',
      tool: 'add_deploy_key',
      arguments: { owner: 'org', repo: 'a', title: key },
      status: 'success',
      runId: 'r',
      seq,
    }),
  )
  const bytes = JSON.stringify([
    { action: 'public_key.create', _document_id: 'e', repo: 'org/a', title: 'x' },
  ])

  test('decisions in memory, a surface file, NDJSON and a stream give the same report', async () => {
    const memory = json(receipt.verify(decisions, { audit: { provider: 'github', bytes } }))
    const surface = join(folder, 'surface.json')
    writeFileSync(surface, JSON.stringify(receipt.surface(decisions), null, 2))
    const lines = join(folder, 'decisions.ndjson')
    writeFileSync(lines, decisions.map((one) => `${JSON.stringify(one)}\n`).join(''))
    assert.equal(json(receipt.verify(surface, { audit: { provider: 'github', bytes } })), memory)
    assert.equal(json(receipt.verify(lines, { audit: { provider: 'github', bytes } })), memory)
    assert.equal(
      json(await receipt.verifyStream(lines, { audit: { provider: 'github', bytes } })),
      memory,
    )
    assert.equal(
      json(receipt.verify({ decisions } as never, { audit: { provider: 'github', bytes } })),
      memory,
    )
  })

  test('a line that is no decision is told with its place, and the others are judged', async () => {
    const lines = join(folder, 'bad.ndjson')
    const whole = decisions.map((one) => JSON.stringify(one))
    const torn = JSON.stringify(decisions[0]).slice(0, 40)
    const text = [torn, whole[0], '', '{"a":1,"a":2}', ...whole.slice(1), '{"tool":1}', torn]
    writeFileSync(lines, text.join('\n'))
    const options = { audit: { provider: 'github', bytes }, minLevel: 'asserted' } as const
    const sound = receipt.verify(decisions, options)
    assert.equal(sound.ok, true)
    for (const report of [
      receipt.verify(lines, options),
      await receipt.verifyStream(lines, options),
    ]) {
      assert.deepEqual(report.calls, sound.calls)
      const last = text.length
      assert.equal(report.unread.lines, 4)
      assert.deepEqual(
        report.unread.first.map(({ where, reason }) => [where, reason.split(':')[0]]),
        [
          [`${lines}:1:1:41`, 'json_syntax'],
          [`${lines}:4:1:8`, 'json_duplicate_key'],
          [`${lines}:${last - 1}: schema`, 'surface_invalid'],
          [`${lines}:${last}:1:41`, 'json_syntax'],
        ],
      )
      assert.equal(report.ok, false)
      assert.equal(report.min_level?.met, false)
      assert.match(report.text(), /4 lines of the decisions could not be read/)
    }
    writeFileSync(lines, `${'{\n'.repeat(30)}${whole[0]}`)
    const many = receipt.verify(lines)
    assert.deepEqual([many.unread.lines, many.unread.first.length, many.calls.length], [30, 20, 1])
    assert.match(many.text(), /and 10 more/)
  })

  test('a file without one decision is refused where it begins', async () => {
    const lines = join(folder, 'foreign.ndjson')
    writeFileSync(lines, '\n{"a":1,"a":2}\n{\n')
    const refusal = { code: 'json_duplicate_key', where: `${lines}:2:1:8` }
    assert.throws(() => receipt.verify(lines), refusal)
    await assert.rejects(receipt.verifyStream(lines), refusal)
    await assert.rejects(receipt.verifyStream(join(folder, 'none.ndjson')), {
      code: 'file_unreadable',
    })
  })

  test('an aborted stream stops', async () => {
    const lines = join(folder, 'decisions.ndjson')
    await assert.rejects(receipt.verifyStream(lines, { signal: AbortSignal.abort() }), {
      name: 'AbortError',
    })
  })

  test('a ledger refuses what an earlier report used', () => {
    const ledger = join(folder, 'ledger.ndjson')
    const options = { audit: { provider: 'github', bytes }, ledger }
    const first = receipt.verify(decisions, options)
    assert.equal(first.counts.levels.verified, 1)
    assert.equal(receipt.appendLedger(ledger, first), 1)
    const second = receipt.verify(decisions, options)
    assert.equal(second.counts.levels.verified, 0)
    assert.equal(second.records.rejected[0]?.reason, 'already_used')
    assert.equal(receipt.appendLedger(ledger, second), 0)
    writeFileSync(ledger, '{"provider":1}\n')
    assert.throws(() => receipt.verify(decisions, options), { code: 'record_invalid' })
  })

  for (const [name, options, where] of [
    ['an unknown level', { minLevel: 'sure' }, 'minLevel'],
    ['a window that ends before it starts', { window: { from: 2, to: 1 } }, 'window'],
    ['a window of no time', { window: { from: 'yesterday' } }, 'window.from'],
    ['evidence that is a number', { audit: 7 }, 'audit'],
  ] as const) {
    test(`${name} is a wrong call`, () => {
      assert.throws(() => receipt.verify([], options as never), { code: 'argument_invalid', where })
    })
  }

  test('the report is data: every member of toJSON is JSON', () => {
    const data = receipt
      .verify(decisions, { audit: { provider: 'github', bytes }, window: { to: '2027-01-01' } })
      .toJSON()
    assert.deepEqual(JSON.parse(canonical(data)) as JsonObject, data)
  })
})
