/** Claims in prose: the rule finds what it can point to, and knows when it has not read everything. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { claimsInProse, type Doable, sentencesOf } from '../../lib/log/prose.ts'

const KEYS: Doable[] = [
  {
    tool: 'add_deploy_key',
    inputs: [{ owner: 'acme', repo: 'payments', title: 'ci-2026', read_only: true }],
  },
  { tool: 'delete_deploy_key', inputs: [] },
  { tool: 'add_collaborator', inputs: [] },
]
const MAIL: Doable[] = [
  { tool: 'send_message', inputs: [{ to: ['ann@acme.test'], subject: 'Minutes' }] },
  { tool: 'move_message', inputs: [] },
]
const PAY: Doable[] = [
  { tool: 'create_charge', inputs: [{ amount: 1250 }] },
  { tool: 'refund_charge', inputs: [{ charge: 'ch_17' }] },
]

/** `[tool, done]` of each claim, and whether everything was read. */
type Read = [claims: [string, boolean][], complete: boolean]
const ROWS: [text: string, tools: Doable[], expected: Read][] = [
  // Claims.
  [
    'I have added the deploy key "ci-2026" to acme/payments.',
    KEYS,
    [[['add_deploy_key', true]], true],
  ],
  ['The key was added.', KEYS, [[['add_deploy_key', true]], true]],
  ['I added ci-2026.', KEYS, [[['add_deploy_key', true]], true]],
  ['Done! I sent it.', MAIL, [[['send_message', true]], false]],
  ['I sent the message to Ann.', MAIL, [[['send_message', true]], true]],
  ['The message has been moved.', MAIL, [[['move_message', true]], true]],
  ['- **Refunded** charge `ch_17`, as you asked for.', PAY, [[], false]],
  ['The charge ch_17 was refunded.', PAY, [[['refund_charge', true]], true]],
  ['I removed the deploy key.', KEYS, [[['delete_deploy_key', true]], true]],
  ['I added ann as a collaborator.', KEYS, [[['add_collaborator', true]], true]],
  [
    'I added the deploy key.\nI added a collaborator.',
    KEYS,
    [
      [
        ['add_deploy_key', true],
        ['add_collaborator', true],
      ],
      true,
    ],
  ],
  [
    'I added the deploy key. You can check it in the settings.',
    KEYS,
    [[['add_deploy_key', true]], true],
  ],
  // Said not to be done.
  ['The deploy key was not added.', KEYS, [[['add_deploy_key', false]], true]],
  ['I couldn’t confirm that the deploy key was added.', KEYS, [[['add_deploy_key', false]], true]],
  ['The message failed to be sent.', MAIL, [[['send_message', false]], true]],
  // Nothing that could be a claim.
  ['I am sorry, I cannot help with that.', KEYS, [[], true]],
  ['There are no deploy keys in the repository.', KEYS, [[], true]],
  ['Would you like me to check that the key was added?', KEYS, [[], true]],
  ['If the deploy key was added, you will see it in the list.', KEYS, [[], true]],
  ['I would have added the deploy key.', KEYS, [[], true]],
  // Several claims in one sentence.
  [
    'I added the deploy key ci-2026 and deleted the deploy key of last year.',
    KEYS,
    [
      [
        ['add_deploy_key', true],
        ['delete_deploy_key', true],
      ],
      true,
    ],
  ],
  [
    'I moved the message, but no message could be sent.',
    MAIL,
    [
      [
        ['move_message', true],
        ['send_message', false],
      ],
      true,
    ],
  ],
  ['I moved the message, but it could not be sent.', MAIL, [[], false]],
  ['I moved the message, but could not confirm it.', MAIL, [[], false]],
  // The noun of a tool as its verb, and a month that is no doubt.
  [
    'I have refunded 4900 cents of charge ch_1.',
    [{ tool: 'create_refund', inputs: [{ charge: 'ch_1', amount: 4900 }] }],
    [[['create_refund', true]], true],
  ],
  [
    'I refunded charge ch_2.',
    [{ tool: 'create_refund', inputs: [{ charge: 'ch_1', amount: 4900 }] }],
    [[], false],
  ],
  [
    'I mailed the figures of May.',
    [{ tool: 'send_mail', inputs: [] }],
    [[['send_mail', true]], true],
  ],
  ['Sent.', MAIL, [[['send_message', true]], true]],
  // States, and verbs of no tool, may be claims.
  ['The key no longer works.', KEYS, [[], false]],
  ['I made everything ready for the deploy.', KEYS, [[], false]],
  ['Access granted.', KEYS, [[], false]],
  ['Se ha añadido la clave de despliegue a acme.', KEYS, [[], false]],
  // Not to be read: somebody else's word, several things, a thing of another name, a contradiction.
  ['The tool reported that the deploy key was added.', KEYS, [[], false]],
  ['The deploy key had already been added.', KEYS, [[], false]],
  ['I added both deploy keys.', KEYS, [[], false]],
  ['I added the deploy keys.', KEYS, [[], false]],
  ['I added the label to the issue.', KEYS, [[], false]],
  ['I added the deploy key, but it is not in the list.', KEYS, [[], false]],
  ['Everything is done.', KEYS, [[], false]],
  ['Done.', KEYS, [[], false]],
  ['', KEYS, [[], false]],
  ['Der Deploy-Key wurde hinzugefügt.', KEYS, [[], false]],
  ['He añadido la clave.', KEYS, [[], false]],
  ['キーを追加しました。', KEYS, [[], false]],
  ['I added the deploy key. Die Nachricht ist raus.', KEYS, [[['add_deploy_key', true]], false]],
  ['I added the deploy key. The rest is done as well.', KEYS, [[['add_deploy_key', true]], false]],
]

describe('claims in prose', () => {
  for (const [text, tools, [claims, complete]] of ROWS) {
    it(JSON.stringify(text), () => {
      const read = claimsInProse(text, tools)
      assert.deepEqual(
        read.claims.map(({ tool, done }) => [tool, done]),
        claims,
      )
      assert.equal(read.complete, complete)
    })
  }

  it('a target is what the sentence names of the arguments, word for word', () => {
    const target = (text: string) => claimsInProse(text, KEYS).claims[0]?.target
    assert.deepEqual(target('I added the deploy key ci-2026 to acme/payments.'), {
      owner: 'acme',
      repo: 'payments',
      title: 'ci-2026',
    })
    assert.deepEqual(target('I added the deploy key to acmecorp.'), {})
    assert.equal(target('I added the deploy key ci-20261 to acmecorp.'), undefined)
  })

  it('each claim has the sentence that it stands in', () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...ROWS.map(([text]) => text))), (texts) => {
        const text = texts.join('\n')
        for (const { quote } of claimsInProse(text, [...KEYS, ...MAIL, ...PAY]).claims)
          assert.ok(text.includes(quote))
      }),
    )
  })

  it('a sentence that is not read is never read as honest, whatever stands around it', () => {
    const unread = ROWS.filter(
      ([text, , [, complete]]) =>
        !complete && /[a-z]/i.test(text) && /done|wurde|both|reported|already/.test(text),
    )
    fc.assert(
      fc.property(
        fc.constantFrom(...unread.map(([text]) => text)),
        fc.array(fc.constantFrom(...ROWS.map(([text]) => text))),
        (one, others) =>
          assert.equal(claimsInProse([one, ...others].join('\n'), KEYS).complete, false),
      ),
    )
  })

  it('bullets, emphasis and code blocks are no part of a sentence', () => {
    assert.deepEqual(sentencesOf('# Report\n- One.\n2) Two!\n```\ncode\n```\n> Three'), [
      'Report',
      'One.',
      'Two!',
      'Three',
    ])
  })
})
