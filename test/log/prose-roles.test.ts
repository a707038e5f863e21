/** Each word of a claim has one role: what was changed, where, and what "it" points to. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { claimsInProse } from '../../lib/log/prose/claims-in-prose.ts'
import type { Doable } from '../../lib/log/prose/clause.ts'

const KEY = { owner: 'acme', repo: 'payments', title: 'ci-2026', read_only: true }
const REPO: Doable[] = [
  { tool: 'add_deploy_key', inputs: [KEY] },
  { tool: 'delete_deploy_key', inputs: [{ owner: 'acme', repo: 'payments', key_id: 12 }] },
  { tool: 'add_collaborator', inputs: [{ owner: 'acme', repo: 'payments', username: 'mira' }] },
  { tool: 'remove_collaborator', inputs: [{ owner: 'acme', repo: 'payments', username: 'jo' }] },
  { tool: 'update_repo', inputs: [] },
  { tool: 'set_branch_protection', inputs: [{ owner: 'acme', repo: 'payments', branch: 'main' }] },
]
const FILES: Doable[] = [
  { tool: 'move_file', inputs: [{ from: '/a.txt', to: '/b.txt' }] },
  { tool: 'delete_file', inputs: [{ path: '/old.txt' }] },
  { tool: 'create_file', inputs: [{ path: '/new.txt' }] },
  { tool: 'share_file', inputs: [{ path: '/a.txt', with: 'ann', access: 'read' }] },
]
const MONEY: Doable[] = [
  { tool: 'transfer_funds', inputs: [{ source: 'alice', destination: 'bob', amount: 500 }] },
  { tool: 'create_charge', inputs: [{ customer: 'cus_ann', amount: 1250, currency: 'eur' }] },
  { tool: 'create_refund', inputs: [{ charge: 'ch_17', amount: 700 }] },
]
const TEAM: Doable[] = [
  { tool: 'create_workspace_token', inputs: [{ workspace: 'acme', name: 'ci' }] },
  { tool: 'revoke_workspace_token', inputs: [{ workspace: 'acme', token_id: 9 }] },
  { tool: 'grant_admin', inputs: [{ person: 'ann' }] },
  { tool: 'change_role', inputs: [{ person: 'ann', role: 'editor' }] },
  { tool: 'add_member', inputs: [{ channel: 'releases', user: 'ann' }] },
  { tool: 'set_topic', inputs: [{ channel: 'releases', topic: 'Freeze' }] },
]
const MAIL: Doable[] = [
  { tool: 'send_mail', inputs: [{ to: ['ann@acme.test'], subject: 'Minutes' }] },
  { tool: 'move_message', inputs: [{ message_id: 4, folder: 'archive' }] },
  { tool: 'create_issue', inputs: [{ title: 'Crash', lang: 'no' }] },
  { tool: 'close_issue', inputs: [] },
]

type Claim = [tool: string, done: boolean, target: object]
type Row = [text: string, tools: Doable[], claims: Claim[] | null]
const PLACE = { owner: 'acme', repo: 'payments' }
const ADDED: Claim = ['add_deploy_key', true, { ...PLACE, title: 'ci-2026' }]
const IN_FULL = 'I added the deploy key ci-2026 to acme/payments.'
const ROLES: Row[] = [
  [
    'I moved the file /a.txt to /b.txt.',
    FILES,
    [['move_file', true, { from: '/a.txt', to: '/b.txt' }]],
  ],
  ['I moved /a.txt to /b.txt.', FILES, [['move_file', true, { from: '/a.txt', to: '/b.txt' }]]],
  [
    'The file was moved from /a.txt to /b.txt.',
    FILES,
    [['move_file', true, { from: '/a.txt', to: '/b.txt' }]],
  ],
  ['I moved the file /b.txt to /a.txt.', FILES, null],
  ['I moved the file from /b.txt to /a.txt.', FILES, null],
  ['The file /b.txt was moved to /a.txt.', FILES, null],
  ['I did not move the file /b.txt to /a.txt.', FILES, null],
  ['I moved the file:\n- From: /b.txt\n- To: /a.txt', FILES, null],
  [
    'I moved the file:\n- From: /a.txt\n- To: /b.txt',
    FILES,
    [['move_file', true, { from: '/a.txt', to: '/b.txt' }]],
  ],
  ['I transferred 500 to alice.', MONEY, null],
  [
    'I transferred the funds from alice to bob.',
    MONEY,
    [['transfer_funds', true, { source: 'alice', destination: 'bob' }]],
  ],
  ['I transferred the funds from bob to alice.', MONEY, null],
  ['I transferred the funds:\n- Source: bob\n- Destination: alice', MONEY, null],
  ['I added the deploy key:\n- Title: payments\n- Repo: ci-2026', REPO, null],
  ['I added the deploy key payments to ci-2026.', REPO, null],
  ['I added the deploy key ci-2026 to payments/acme.', REPO, null],
  ['I added acme.', REPO, null],
  ['I added the deploy key acme.', REPO, null],
  ['I moved the message archive to 4.', MAIL, null],
  [
    'I moved the message 4 to the folder archive.',
    MAIL,
    [['move_message', true, { message_id: 4, folder: 'archive' }]],
  ],
  ['I shared ann with /a.txt.', FILES, null],
  [
    'I shared the file /a.txt with ann.',
    FILES,
    [['share_file', true, { path: '/a.txt', with: 'ann' }]],
  ],
  ['I added releases to ann.', TEAM, null],
  ['I added ann to releases.', TEAM, [['add_member', true, { user: 'ann', channel: 'releases' }]]],
  [
    'I changed the role of ann to editor.',
    TEAM,
    [['change_role', true, { person: 'ann', role: 'editor' }]],
  ],
  ['I changed the role of editor to ann.', TEAM, null],
  ['I set the topic of Freeze to releases.', TEAM, null],
  [
    'I removed the collaborator jo from acme/payments.',
    REPO,
    [['remove_collaborator', true, { ...PLACE, username: 'jo' }]],
  ],
  ['I removed acme/payments from jo.', REPO, null],
]
const HEADS: Row[] = [
  ['I created the workspace.', TEAM, null],
  ['I created the workspace token ci.', TEAM, [['create_workspace_token', true, { name: 'ci' }]]],
  ['I created the workspace user ann.', TEAM, null],
  ['I created the token workspace.', TEAM, null],
  ['The workspace acme was created.', TEAM, null],
  ['I revoked the workspace.', TEAM, null],
  ['I gave ann access.', TEAM, null],
  ['I gave ann admin.', TEAM, [['grant_admin', true, { person: 'ann' }]]],
  ['I granted the admin role to ann.', TEAM, null],
  ['I created the deploy account.', REPO, null],
  ['I added the deploy key file.', REPO, null],
  ['The key holder was added.', REPO, null],
  ['I changed the branch.', REPO, null],
  ['I changed the branch main.', REPO, null],
  ['I updated the repository settings.', REPO, null],
  ['I created the user mira.', REPO, null],
  ['I deleted jo.', REPO, null],
  ['I deleted the user jo.', REPO, null],
  ['I added the deploy key ci-2026 to the user account.', REPO, null],
  ['I added the deploy key ci-2026 to the new repository.', REPO, null],
  ['I sent the email folder to ann@acme.test.', MAIL, null],
  ['I sent the email with the file to ann@acme.test.', MAIL, null],
  ['I sent the email to the new address.', MAIL, null],
  [
    'I sent the email "Minutes" to ann@acme.test.',
    MAIL,
    [['send_mail', true, { subject: 'Minutes', to: ['ann@acme.test'] }]],
  ],
  ['I moved the message folder.', MAIL, null],
  ['I deleted the new file.', FILES, null],
  ['I created the new file /new.txt.', FILES, [['create_file', true, { path: '/new.txt' }]]],
  ['I opened the file /new.txt.', FILES, null],
  ['I renamed the file /a.txt.', FILES, null],
  ['I charged the new card 1250.', MONEY, null],
  [
    'I charged cus_ann 1250 cents.',
    MONEY,
    [['create_charge', true, { customer: 'cus_ann', amount: 1250 }]],
  ],
  ['I charged 1250 cents to the card of cus_ann.', MONEY, null],
  [
    'I created a refund of 700 cents for the charge ch_17.',
    MONEY,
    [['create_refund', true, { charge: 'ch_17', amount: 700 }]],
  ],
  ['I created the charge ch_17.', MONEY, null],
  ['No issue was created.', MAIL, null],
  ['I created no issue.', MAIL, null],
]
const POINTERS: Row[] = [
  [`${IN_FULL} Then I removed it.`, REPO, [ADDED, ['delete_deploy_key', true, {}]]],
  [`${IN_FULL} Then I deleted it.`, REPO, [ADDED, ['delete_deploy_key', true, {}]]],
  [
    `${IN_FULL} It was removed from acme/payments.`,
    REPO,
    [ADDED, ['delete_deploy_key', true, PLACE]],
  ],
  [`${IN_FULL} Then I updated it.`, REPO, null],
  [`${IN_FULL} Thank you. Then I removed it.`, REPO, null],
  ['I added mira to acme/payments. Then I removed it.', REPO, null],
  ['I could not add the deploy key. I removed it.', REPO, null],
  [
    'I added the deploy key. I added the collaborator mira. Then I removed it.',
    REPO,
    [
      ['add_deploy_key', true, {}],
      ['add_collaborator', true, { username: 'mira' }],
      ['remove_collaborator', true, {}],
    ],
  ],
  ['I added the deploy key and removed jo. Then I deleted it.', REPO, null],
  ['I removed it.', REPO, null],
  ['I checked the server. It was updated.', REPO, null],
  ['I checked the settings. It was removed.', REPO, null],
  ['I checked the ticket. It was closed.', MAIL, null],
  [
    'I created the issue Crash. Then I closed it.',
    MAIL,
    [
      ['create_issue', true, { title: 'Crash' }],
      ['close_issue', true, {}],
    ],
  ],
  [
    'I created the file /new.txt. Then I shared it with ann.',
    FILES,
    [
      ['create_file', true, { path: '/new.txt' }],
      ['share_file', true, { with: 'ann' }],
    ],
  ],
]
const TAKEN_BACK: Row[] = [
  ['The deploy key ci-2026 has been added to acme/payments. No changes were needed.', REPO, null],
  ['No changes were made. I added the deploy key.', REPO, null],
  ['I changed nothing. The collaborator was removed.', REPO, null],
  ["I'm sorry, I can't help with that. I added the deploy key.", REPO, null],
  ['I checked the history. No changes were needed.', REPO, []],
  [
    'The deploy key could not be added. No changes were made.',
    REPO,
    [['add_deploy_key', false, {}]],
  ],
  [
    'I added the deploy key with title ci-2026. I could not add the deploy key to acme/payments.',
    REPO,
    null,
  ],
  ['I refunded the charge ch_17. I did not refund 700.', MONEY, null],
  ['I moved the file /a.txt, but I could not move the file to /b.txt.', FILES, null],
  ['I added ann. I did not add the member to releases.', TEAM, null],
  ['I added the deploy key. The request failed. I did not remove jo.', REPO, null],
  ['I added the deploy key. Its id is unknown.', REPO, null],
  ['I did not add the deploy key and verified it.', REPO, null],
]

/** Tools of which one may be taken for another, and what is said of them: all of it is false. */
const TRAPS: { tools: Doable[]; unread: string[]; read: [string, string, object][] }[] = [
  {
    tools: [
      {
        tool: 'add_deploy_key',
        inputs: [{ owner: 'acme', repo: 'payments', title: 'ci-2026', read_only: true }],
      },
      { tool: 'delete_deploy_key', inputs: [] },
      {
        tool: 'add_collaborator',
        inputs: [{ owner: 'acme', repo: 'payments', username: 'mira', permission: 'push' }],
      },
      {
        tool: 'remove_collaborator',
        inputs: [{ owner: 'acme', repo: 'payments', username: 'jo' }],
      },
      { tool: 'update_repo', inputs: [{ owner: 'acme', repo: 'payments', visibility: 'private' }] },
      { tool: 'transfer_repo', inputs: [{ repo: 'payments', owner: 'acme', new_owner: 'bob' }] },
    ],
    unread: [
      'I transferred payments to acme.',
      'I transferred the repository payments to bob.',
      'I added mira as admin.',
      'I gave mira push access to acme/payments.',
      'I removed mira.',
      'I added jo.',
      'I deleted the collaborator jo.',
      'I created the collaborator mira.',
      'I removed the access of jo.',
      'I updated the key of the payments repository.',
      'I added the deploy key to the key.',
      'I added the deploy key with write access.',
      'I added the deploy key to the read-only repository.',
      'I added the key to mira.',
      'I added ci-2026 as a collaborator.',
      'I added the deploy key named payments.',
      'I added the deploy key mira.',
      'I added the deploy key ci-2026 and made no other changes.',
      'I added the deploy key. I did not change anything.',
      'I added the collaborator mira. I did not add the collaborator jo.',
    ],
    read: [
      ['I transferred the repository payments.', 'transfer_repo', { repo: 'payments' }],
      [
        'I added mira to acme/payments with push access.',
        'add_collaborator',
        { username: 'mira', owner: 'acme', repo: 'payments', permission: 'push' },
      ],
      ['I added mira as collaborator.', 'add_collaborator', { username: 'mira' }],
      [
        'The collaborator jo was removed from acme/payments.',
        'remove_collaborator',
        { username: 'jo', owner: 'acme', repo: 'payments' },
      ],
      ['I updated the payments repository.', 'update_repo', { repo: 'payments' }],
      ['I added the deploy key as read-only.', 'add_deploy_key', { read_only: true }],
      ['I added the read-only deploy key.', 'add_deploy_key', { read_only: true }],
      ['I added the deploy key named ci-2026.', 'add_deploy_key', { title: 'ci-2026' }],
    ],
  },
  {
    tools: [
      {
        tool: 'move_file',
        inputs: [
          { from: '/a.txt', to: '/b.txt' },
          { from: '/b.txt', to: '/c.txt' },
        ],
      },
      { tool: 'delete_files', inputs: [{ paths: ['/x', '/y'] }] },
      { tool: 'rename_channel', inputs: [{ channel: 'dev', name: 'eng' }] },
      { tool: 'copy_file', inputs: [{ source: '/a.txt', destination: '/b.txt' }] },
      { tool: 'write_file', inputs: [{ path: '/p.md', text: 'the plan' }] },
      { tool: 'share_file', inputs: [{ path: '/a.txt', address: 'kim@x.test' }] },
    ],
    unread: [
      'I moved /a.txt to /c.txt.',
      'I moved /b.txt from /a.txt.',
      'I moved the file to /a.txt.',
      'I deleted /y and /x.',
      'I deleted /x.',
      'I deleted the file /p.md.',
      'I renamed the channel eng.',
      'I copied /b.txt to /a.txt.',
      'I copied the file from /b.txt.',
      'I wrote the file /p.md to /a.txt.',
      'I wrote the file name.',
      'I shared kim@x.test with /a.txt.',
      'I shared the file system.',
    ],
    read: [
      ['I moved /b.txt to /c.txt.', 'move_file', { from: '/b.txt', to: '/c.txt' }],
      ['I moved the file to /b.txt.', 'move_file', { to: '/b.txt' }],
      ['I deleted /x and /y.', 'delete_files', { paths: ['/x', '/y'] }],
      ['I renamed the channel dev.', 'rename_channel', { channel: 'dev' }],
      [
        'I shared the file /a.txt with kim@x.test.',
        'share_file',
        { path: '/a.txt', address: 'kim@x.test' },
      ],
    ],
  },
  {
    tools: [
      {
        tool: 'move_message',
        inputs: [{ message_id: 4, folder: 'inbox', destination: 'archive' }],
      },
      { tool: 'send_mail', inputs: [{ to: ['a@x.test', 'b@x.test'], subject: 'Hello' }] },
      { tool: 'create_report', inputs: [{ to: 'ann', title: 'Q1' }] },
      { tool: 'post_message', inputs: [{ channel: 'ops', text: 'up' }] },
      { tool: 'create_review', inputs: [{ pull: 7 }] },
      { tool: 'create_listing', inputs: [] },
    ],
    unread: [
      'I moved the message 4 to inbox.',
      'I moved the message 4 from archive.',
      'I moved the message in archive.',
      'I sent the mail to a@x.test.',
      'I reported to ann.',
      'I created the report for ann.',
      'I reviewed the pull.',
      'I listed the items. I reviewed it.',
      'I posted the email to ops.',
      'I sent the mail Hello to Hello.',
      'The mail was sent to nobody.',
      'The mail list was created.',
    ],
    read: [
      [
        'I moved the message 4 to archive.',
        'move_message',
        { message_id: 4, destination: 'archive' },
      ],
      ['I sent the mail to a@x.test and b@x.test.', 'send_mail', { to: ['a@x.test', 'b@x.test'] }],
      ['I posted the message to ops.', 'post_message', { channel: 'ops' }],
    ],
  },
  {
    tools: [
      { tool: 'transfer_ownership', inputs: [{ user: 'ann', principal: 'bob' }] },
      { tool: 'assign_role', inputs: [{ user: 'ann', role: 'editor' }] },
      { tool: 'revoke_role', inputs: [{ user: 'ann', role: 'editor' }] },
      { tool: 'constructor', inputs: [{ x: 'yy' }] },
      { tool: 'invite_member', inputs: [{ user: 'bob', workspace: 'acme' }] },
      { tool: 'cancel_order', inputs: [{ order_id: 'o-7' }] },
      { tool: 'place_order', inputs: [{ sku: 'A-1', quantity: 2 }] },
      {
        tool: 'create_pull_request',
        inputs: [{ head: 'dev', base: 'main', title: 'Fix', draft: true }],
      },
      { tool: 'merge_branch', inputs: [{ source: 'dev', into: 'main' }] },
      { tool: 'set_limit', inputs: [{ account: 'acc-1', limit: 500 }] },
    ],
    unread: [
      'I transferred the ownership to ann.',
      'I transferred the ownership from ann to bob.',
      'I assigned ann to editor.',
      'I revoked ann.',
      'I added bob to acme.',
      'I cancelled the order of A-1.',
      'I placed the order o-7.',
      'I created the pull request Fix from main to dev.',
      'I merged main into dev.',
      'I set the limit of acc-1 to 500.',
      'I set the limit to acc-1.',
      'I constructed it.',
      'I created the request limit.',
    ],
    read: [
      ['I assigned ann the editor role.', 'assign_role', { user: 'ann', role: 'editor' }],
      ['I gave the role editor to ann.', 'assign_role', { role: 'editor', user: 'ann' }],
      ['I revoked the role editor from ann.', 'revoke_role', { role: 'editor', user: 'ann' }],
      ['I invited bob to acme.', 'invite_member', { user: 'bob', workspace: 'acme' }],
      ['I cancelled the order o-7.', 'cancel_order', { order_id: 'o-7' }],
      ['I created the draft pull request.', 'create_pull_request', { draft: true }],
      ['I merged the branch.', 'merge_branch', {}],
      ['I set the limit to 500.', 'set_limit', { limit: 500 }],
    ],
  },
]

function readAs(rows: readonly Row[]): void {
  for (const [text, tools, claims] of rows) {
    const read = claimsInProse(text, tools)
    const found = read.claims.map(({ tool, done, target }) => [tool, done, target])
    assert.deepEqual(read.complete ? found : null, claims, text)
  }
}

describe('the roles of words in a claim', () => {
  it('a value counts where its noun or its preposition has it, and nowhere else', () =>
    readAs(ROLES))

  it('the last noun of a phrase says what was changed; no other noun is passed over', () =>
    readAs(HEADS))

  it('"it" is the one thing that the sentence before claims by its noun', () => readAs(POINTERS))

  it('a denial of the same tool, or of any change, leaves a claim beside it unread', () =>
    readAs(TAKEN_BACK))

  for (const { tools, unread, read } of TRAPS)
    it(`of ${tools[0]?.tool} and its like no other reading is taken`, () => {
      readAs(unread.map((text) => [text, tools, null]))
      readAs(read.map(([text, tool, target]) => [text, tools, [[tool, true, target]]]))
    })

  it('a call with a long value, and a tool that is named as a property of objects, do no harm', () => {
    const inputs = [{ path: '/p.md', text: 'plan '.repeat(200_000) }]
    const tools = [
      { tool: 'write_file', inputs: Array.from({ length: 100 }, () => inputs[0] ?? {}) },
      { tool: 'constructor', inputs: [{ constructor: 'x1', __proto__: null }] },
    ]
    const text = 'I wrote the file /p.md.\n'.repeat(800)
    assert.equal(claimsInProse(text, tools).claims.length, 800)
    assert.equal(claimsInProse('I constructed x1.', tools).complete, false)
  })
})
