/** From a call to a decision: what is classified, what is kept, and that nothing else is. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, test } from 'node:test'
import { canonical } from '../../../lib/canonical.ts'
import type { JsonObject } from '../../../lib/json.ts'
import * as receipt from '../../../lib/receipt/index.ts'
import { trim } from '../../../lib/receipt/surface/target.ts'
import fc from '../../property.ts'

type Row = { id: string; comment: string; input: Record<string, unknown>; expected: unknown }
const rowsOf = (topic: string): Row[] =>
  JSON.parse(
    readFileSync(new URL(`../../../fixtures/receipt/${topic}.json`, import.meta.url), 'utf8'),
  ).rows
const base = {
  server: 's',
  tool: 'add_deploy_key',
  arguments: {},
  status: 'success' as const,
  runId: 'r',
  seq: 0,
}

describe('target hashes', () => {
  for (const { id, comment, input, expected } of rowsOf('target-hash')) {
    test(`${id}: ${comment}`, () => {
      assert.equal(receipt.targetHash(String(input['domain']), String(input['value'])), expected)
    })
  }

  test('trimming hostile blanks takes time in proportion to their number', () => {
    const blanks = ' '.repeat(200_000)
    assert.equal(trim(`a${blanks}b`).length, 200_002)
    assert.equal(trim(`${blanks}${blanks}`), '')
  })
})

describe('classification', () => {
  for (const { id, comment, input, expected } of rowsOf('classification')) {
    test(`${id}: ${comment}`, () => {
      const made = receipt.observe({
        ...base,
        tool: String(input['tool']),
        arguments: input['arguments'],
      })
      const { sanitized, ...wanted } = expected as { sanitized?: string[] }
      assert.deepEqual(
        {
          category: made.tool.category,
          classification: made.classification,
          reason_code: made.reason_code,
          ...(made.detail !== undefined && { detail: made.detail }),
          action: made.action,
          irreversibility: made.response.side_effect.irreversibility_class ?? null,
        },
        wanted,
      )
      assert.deepEqual(made.redaction.sanitized_fields, sanitized)
    })
  }
})

describe('asserted', () => {
  for (const [status, effect, asserted] of [
    ['success', 'allow', true],
    ['success', 'deny', false],
    ['success', 'error', false],
    ['error', 'allow', false],
    ['denied', 'allow', false],
    ['timeout', 'allow', false],
  ] as const) {
    test(`${status} under ${effect} is ${asserted ? '' : 'not '}asserted, for known and unknown tools`, () => {
      for (const tool of ['add_deploy_key', 'mystery']) {
        const { response } = receipt.observe({ ...base, tool, status, effect })
        assert.equal(response.side_effect_asserted, asserted)
        assert.equal(response.side_effect.asserted, asserted)
        assert.equal(response.side_effect.level, 'asserted')
      }
    })
  }

  test('a status or an effect of another word is refused, with the words there are', () => {
    const refused: [object, RegExp][] = [
      [
        { status: 'ok' },
        /expected a status \(success, error, denied, timeout\), got "ok" \(call\.status\)/,
      ],
      [{ status: 'Success' }, /got "Success"; did you mean "success"\?/],
      [{ status: 'Succeeded' }, /got "Succeeded"/],
      [{ status: undefined }, /expected a status .*, got nothing \(call\.status\)/],
      [
        { effect: 'alow' },
        /expected an effect, got "alow"; did you mean "allow"\?.* \(call\.effect\)/,
      ],
    ]
    for (const [wrong, message] of refused)
      assert.throws(
        () => receipt.observe({ ...base, ...wrong } as never),
        (error: Error & { code?: string }) =>
          error.code === 'argument_invalid' && message.test(String(error)),
        JSON.stringify(wrong),
      )
  })

  test('a result with isError outweighs a status of success', () => {
    const { response } = receipt.observe({ ...base, result: { isError: true, content: [] } })
    assert.equal(response.side_effect_asserted, false)
    assert.equal(response.status, 'error')
  })
})

describe('correlation', () => {
  const id = '4bf92f3577b34da6a3ce929d0e0e4736'
  for (const [carrier, basis] of [
    [undefined, 'none'],
    [`00-${id}-00f067aa0ba902b7-01`, 'propagated_trace_context'],
    [`ff-${id}-00f067aa0ba902b7-01`, 'malformed_trace_context'],
    [`00-${id.toUpperCase()}-00f067aa0ba902b7-01`, 'malformed_trace_context'],
    [`00-${'0'.repeat(32)}-00f067aa0ba902b7-01`, 'malformed_trace_context'],
    [`00-${id}-0000000000000000-01`, 'malformed_trace_context'],
    [`00-${id}-00f067aa0ba902b7-01-extra`, 'malformed_trace_context'],
    [`00-${id}-00f067aa0ba902b7`, 'malformed_trace_context'],
    [7, 'malformed_trace_context'],
    [null, 'malformed_trace_context'],
  ] as const) {
    test(`${String(carrier)} is ${basis}`, () => {
      const { correlation } = receipt.observe({ ...base, traceparent: carrier })
      assert.equal(correlation.basis, basis)
      assert.equal(correlation.traceparent, basis === 'propagated_trace_context' ? carrier : null)
    })
  }
})

describe('what is kept', () => {
  const canary = 'canary-7f3a'
  test('no argument that no field names, no secret and no text of a result is kept', () => {
    const made = receipt.observe({
      ...base,
      arguments: {
        owner: 'org',
        repo: 'r',
        title: `${canary}-title`,
        key: canary,
        token: canary,
        password: canary,
        note: canary,
      },
      result: {
        content: [{ type: 'text', text: canary }],
        structuredContent: { ok: true, secret: canary, request_id: canary },
      },
    })
    assert.equal(canonical(made).includes(canary), false)
    assert.deepEqual(made.observation?.request_ids, [receipt.requestHash(canary)])
  })

  test('of a read, only projected targets are kept', () => {
    const made = receipt.observe({
      ...base,
      tool: 'list_deploy_keys',
      arguments: { owner: 'org', repo: 'r' },
      result: {
        structuredContent: {
          result: [{ id: 1, title: canary, key: canary, fingerprint: canary, read_only: true }],
        },
      },
    })
    assert.equal(canonical(made).includes(canary), false)
    assert.deepEqual(Object.keys(made.observation?.read?.targets[0] ?? {}).sort(), [
      'key_id_hash',
      'key_title_exact_hash',
      'key_title_hash',
      'owner',
      'provider',
      'read_only',
      'repo',
    ])
  })

  test('a result that is JSON in a text is read as structured content is; one with a key given twice is not', () => {
    const read = (text: string) =>
      receipt.observe({
        ...base,
        tool: 'list_deploy_keys',
        arguments: { owner: 'org', repo: 'r' },
        result: { content: [{ type: 'text', text }] },
      }).observation?.read
    assert.equal(read('[{"title":"a"}]')?.targets.length, 1)
    assert.equal(read('[{"title":"b","title":"a"}]'), undefined)
    assert.equal(read('all keys are there'), undefined)
  })

  for (const [name, args, answer, complete] of [
    ['nothing but the place is asked and nothing more is said', {}, {}, true],
    ['a cursor is asked', { cursor: 'x' }, {}, false],
    ['a filter is asked', { role: 'admin' }, {}, false],
    ['a next page is said', {}, { next: 'https://x' }, false],
    ['an empty next page is said', {}, { next: '' }, true],
    ['success is not said', {}, { ok: undefined }, false],
    ['a member is said that no shape declares', {}, { total_count: 1 }, false],
    ['an item has a word of paging in it', {}, { roles: [{ user: 'a', nextToken: 'x' }] }, false],
  ] as const) {
    test(`a list is ${complete ? 'whole' : 'no whole list'} when ${name}`, () => {
      const made = receipt.observe({
        ...base,
        tool: 'list_roles',
        arguments: { workspace: 'acme', ...args },
        result: { structuredContent: { ok: true, roles: [{ user: 'a', role: 'r' }], ...answer } },
      })
      assert.equal(made.observation?.read?.complete, complete)
    })
  }

  test('a list beside another content part is not known to be whole: the answer says more than it', () => {
    const list = JSON.stringify({ ok: true, roles: [] })
    const read = (...texts: string[]) =>
      receipt.observe({
        ...base,
        tool: 'list_roles',
        arguments: { workspace: 'acme' },
        result: { content: texts.map((text) => ({ type: 'text', text })) },
      }).observation?.read?.complete
    assert.equal(read(list), true)
    assert.equal(read(list, 'Showing the first 0 of 12.'), false)
  })

  test('a list in a shape that declares no reason is never known to be whole', () => {
    const list = (value: unknown) =>
      receipt.observe({
        ...base,
        server: 'stripe',
        tool: 'list_charges',
        arguments: {},
        result: { content: [{ type: 'text', text: JSON.stringify(value) }] },
      }).observation?.read?.complete
    assert.equal(list({ object: 'list', url: '/v1/charges', has_more: false, data: [] }), true)
    assert.equal(list([]), false)
  })

  const keys = (n: number) => Array.from({ length: n }, (_, id) => ({ id, title: `k${id}` }))
  for (const [args, items, complete] of [
    [{}, 29, true],
    [{}, 30, false],
    [{ per_page: 100 }, 30, true],
    [{ per_page: 100 }, 100, false],
    [{ per_page: 1000 }, 100, false],
    [{ perPage: 2, page: 1 }, 1, true],
    [{ perPage: 2, page: 2 }, 1, false],
    [{ per_page: 'all' }, 1, false],
  ] as const) {
    test(`a page of ${items} asked with ${JSON.stringify(args)} is ${complete ? 'all' : 'a part'}`, () => {
      const { observation } = receipt.observe({
        ...base,
        tool: 'list_deploy_keys',
        arguments: { owner: 'org', repo: 'r', ...args },
        result: { content: [{ type: 'text', text: JSON.stringify(keys(items)) }] },
      })
      assert.equal(observation?.read?.complete, complete)
    })
  }

  test('any arguments and any result give a decision that can be written and read back', () => {
    const tools = [
      'add_deploy_key',
      'list_deploy_keys',
      'add_member',
      'change_role',
      'create_charge',
      'mystery',
    ]
    fc.assert(
      fc.property(
        fc.jsonValue(),
        fc.jsonValue(),
        fc.constantFrom(...tools),
        fc.string({ unit: 'binary' }),
        (args, result, tool, text) => {
          const made = receipt.observe({
            ...base,
            tool,
            arguments: { owner: text, repo: text, title: text, ...(args as object) },
            result: { structuredContent: result },
          })
          const again = JSON.parse(canonical(made)) as JsonObject
          assert.equal(receipt.verify([again]).calls.length, 1)
        },
      ),
    )
  })

  for (const [name, change] of Object.entries({
    'no tool': { tool: undefined },
    'no run id': { runId: 7 },
    'a sequence number of -1': { seq: -1 },
    'half a sequence number': { seq: 0.5 },
  })) {
    test(`${name} is a wrong call`, () => {
      assert.throws(() => receipt.observe({ ...base, ...change } as never), {
        code: 'argument_invalid',
      })
    })
  }
})

describe('classifiers of one’s own', () => {
  const mine: receipt.Classifier = {
    category: 'dns_record',
    provider: 'dns',
    resource_type: 'dns_record',
    class: 'privileged_admin_action',
    scope: 'dns:write',
    irreversibility: 'two_way',
    reason_code: 'classified_dns_record',
    tools: { set_record: 'set' },
    fields: [
      { name: 'zone', kind: 'text', from: ['zone'] },
      { name: 'name_hash', kind: 'hash', domain: 'dns_name', from: ['name'] },
    ],
    required: [
      { fields: ['zone'], detail: 'missing_dns_zone' },
      { fields: ['name_hash'], detail: 'missing_dns_name' },
    ],
    binding: { all: ['zone', 'name_hash'] },
    scoped: ['zone'],
    effects: {
      set: { shown: { by: 'presence', reads: ['list_records'] }, recorded: { none: 'no log' } },
    },
    reads: {
      list_records: { verb: 'list', answers: [{ items: 'records', bare: ['name_hash'] }] },
    },
  }

  test('a registered one classifies, confirms and binds; registering again replaces it', () => {
    assert.equal(
      receipt.observe({ ...base, tool: 'set_record', arguments: { zone: 'z', name: 'a' } })
        .classification,
      'observed_unknown_tool',
    )
    receipt.classifier(mine)
    receipt.classifier(mine)
    assert.equal(receipt.classifiers().filter((one) => one.category === 'dns_record').length, 1)
    const write = receipt.observe({
      ...base,
      tool: 'set_record',
      arguments: { zone: 'z', name: 'a' },
    })
    const read = receipt.observe({
      ...base,
      tool: 'list_records',
      seq: 1,
      arguments: { zone: 'z' },
      result: { structuredContent: { records: ['a'] } },
    })
    assert.equal(receipt.verify([write, read]).calls[0]?.level, 'observed_confirmed')
    const subject = {
      action_class: 'dns_record',
      verb: 'set',
      target: { zone: 'z', name_hash: receipt.targetHash('dns_name', 'a') },
    }
    const audit = receipt.record({ provider: 'dns', record_id: '1', subject })
    assert.equal(receipt.verify([write], { audit }).calls[0]?.level, 'verified')
  })

  for (const [name, change] of Object.entries({
    'no category': { category: '' },
    'an unknown irreversibility': { irreversibility: 'forever' },
    'a hash without domain': { fields: [{ name: 'zone', kind: 'hash', from: ['zone'] }] },
    'a field that would copy a secret': {
      fields: [{ name: 'zone', kind: 'text', from: ['token'] }],
    },
    'a field given twice': { fields: [...mine.fields, ...mine.fields] },
    'a field called provider': {
      fields: [...mine.fields, { name: 'provider', kind: 'text', from: ['p'] }],
    },
    'a binding by an unknown field': { binding: { all: ['nothing'] } },
    'a binding by nothing': { binding: { all: [] } },
    'a binding by a flag': {
      fields: [...mine.fields, { name: 'on', kind: 'flag', from: ['on'] }],
      binding: { all: ['on'] },
    },
    'a read verb that writes': { reads: { list_records: { verb: 'set', answers: [] } } },
    'a verb without a row of effects': { effects: {} },
    'a read that no class declares': {
      effects: {
        set: { shown: { by: 'presence', reads: ['nothing'] }, recorded: { none: 'no log' } },
      },
    },
    'a fold of a plain word': {
      fields: [{ ...mine.fields[0], fold: 'lower' }, mine.fields[1]],
    },
    'a name with a prefix': { tools: { 'dns.set': 'set' } },
  })) {
    test(`${name} is refused with the member named`, () => {
      assert.throws(
        () =>
          receipt.classifier({ ...mine, category: 'x', resource_type: 'x', ...change } as never),
        {
          code: 'classifier_invalid',
        },
      )
    })
  }

  test('every shipped classifier has a fixture of its own kind: it classifies its own tools', () => {
    for (const one of receipt.classifiers())
      for (const leaf of Object.keys(one.tools))
        assert.notEqual(
          receipt.observe({ ...base, server: one.servers?.[0] ?? base.server, tool: leaf })
            .classification,
          'observed_unknown_tool',
        )
  })
})
