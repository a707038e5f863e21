/** Each provider: how it behaves where it matters, and the shape in which it keeps its log. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { JsonObject } from '../../lib/json.ts'
import { importAudit } from '../../lib/receipt/audit/import.ts'
import { verify } from '../../lib/receipt/ladder/levels.ts'
import { observe } from '../../lib/receipt/surface/observe.ts'
import { type State, World, worldNamed } from '../../lib/world/index.ts'

const started = (name: string, state: object = {}) => new World(worldNamed(name), state)
const ok = (world: World, tool: string, input: object) => {
  const { reply, isError } = world.call(tool, input)
  assert.equal(isError, false, `${tool}: ${JSON.stringify(reply)}`)
  return reply as JsonObject
}
const refused = (world: World, tool: string, input: object) => {
  const before = world.digest()
  const { reply, isError } = world.call(tool, input)
  assert.equal(isError, true, `${tool} was not refused`)
  assert.equal(world.digest(), before)
  return String((reply as JsonObject)['error'])
}
const rows = (state: State, table: string) => (state[table] ?? []) as readonly JsonObject[]
const log = (world: World) => JSON.parse(world.audit())

/** What a call and its world's own export come to. */
function levelOf(
  world: World,
  provider: string,
  tool: string,
  input: JsonObject,
): string | null | undefined {
  const reply = ok(world, tool, input)
  const result = { content: [], structuredContent: reply, isError: false }
  const decision = observe({
    server: 's',
    tool,
    arguments: input,
    status: 'success',
    result,
    runId: 'r',
    seq: 0,
  })
  return verify([decision], { audit: { provider, bytes: world.audit() } }).calls[0]?.level
}

describe('github', () => {
  const acme = () => started('github', { repos: [{ owner: 'acme', name: 'api' }] })
  const place = { owner: 'acme', repo: 'api' }

  it('takes a public key once, whatever it is called', () => {
    const world = acme()
    ok(world, 'add_deploy_key', { ...place, title: 'a', key: 'ssh-ed25519 AAAA' })
    assert.equal(
      refused(world, 'add_deploy_key', { ...place, title: 'b', key: ' ssh-ed25519 AAAA\n' }),
      'key is already in use',
    )
  })

  it('fingerprints a key as ssh-keygen -l prints it, whatever its comment', () => {
    const world = acme()
    const key = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIHhw8jlhNGR1ljXCJzCshe4CoGw4QqvhaTg60vU+7EJq'
    ok(world, 'add_deploy_key', { ...place, title: 'a', key: `${key} ci@acme` })
    // From: ssh-keygen -lf key.pub (OpenSSH 9)
    const expected = 'SHA256:5IPnmKIA8/1B4yP1IVyDuCfv1LujWmqEbN5hkPRPwyc'
    assert.equal(rows(world.state, 'deploy_keys')[0]?.['fingerprint'], expected)
    assert.equal(
      refused(world, 'add_deploy_key', { ...place, title: 'b', key }),
      'key is already in use',
    )
  })

  it('knows no repository but its own', () => {
    for (const tool of ['get_repo', 'list_deploy_keys', 'list_collaborators'])
      assert.match(refused(acme(), tool, { ...place, repo: 'none' }), /acme\/none not found/)
  })

  it('changes the permission of a collaborator instead of adding a second one', () => {
    const world = acme()
    ok(world, 'add_collaborator', { ...place, username: 'dana' })
    ok(world, 'add_collaborator', { ...place, username: 'dana', permission: 'admin' })
    assert.deepEqual(
      rows(world.state, 'collaborators').map((row) => row['permission']),
      ['admin'],
    )
    ok(world, 'remove_collaborator', { ...place, username: 'dana' })
    refused(world, 'remove_collaborator', { ...place, username: 'dana' })
  })

  it('changes the settings that are given and no others, and refuses a change of nothing', () => {
    const world = acme()
    ok(world, 'update_repo', { ...place, description: 'The API' })
    ok(world, 'update_repo', { ...place, private: false })
    ok(world, 'update_repo', { ...place, archived: true })
    const [repo] = rows(world.state, 'repos')
    assert.deepEqual(
      [repo?.['description'], repo?.['private'], repo?.['archived']],
      ['The API', false, true],
    )
    assert.equal(refused(world, 'update_repo', place), 'no setting to change')
  })

  it('has one protection per branch', () => {
    const world = acme()
    refused(world, 'get_branch_protection', { ...place, branch: 'main' })
    ok(world, 'set_branch_protection', { ...place, branch: 'main', required_reviews: 1 })
    ok(world, 'set_branch_protection', {
      ...place,
      branch: 'main',
      required_reviews: 2,
      allow_force_pushes: true,
    })
    assert.deepEqual(
      ok(world, 'get_branch_protection', { ...place, branch: 'main' })['protection'],
      {
        branch: 'main',
        required_reviews: 2,
        allow_force_pushes: true,
      },
    )
  })

  it('logs each change under the action that GitHub documents for it', () => {
    const world = acme()
    ok(world, 'add_deploy_key', { ...place, title: 'a', key: 'k' })
    ok(world, 'delete_deploy_key', {
      ...place,
      key_id: rows(world.state, 'deploy_keys')[0]?.['id'] as number,
    })
    ok(world, 'add_collaborator', { ...place, username: 'dana' })
    ok(world, 'add_collaborator', { ...place, username: 'dana', permission: 'admin' })
    ok(world, 'remove_collaborator', { ...place, username: 'dana' })
    ok(world, 'update_repo', { ...place, private: false })
    ok(world, 'update_repo', { ...place, archived: true })
    ok(world, 'update_repo', { ...place, archived: false })
    ok(world, 'set_branch_protection', { ...place, branch: 'main', required_reviews: 1 })
    assert.deepEqual(
      log(world).map(({ action }: JsonObject) => action),
      [
        'public_key.create',
        'public_key.delete',
        'repo.add_member',
        'repo.update_member',
        'repo.remove_member',
        'repo.access',
        'repo.archived',
        'repo.unarchived',
        'protected_branch.create',
      ],
    )
    const access = log(world)[5]
    assert.deepEqual(
      [access.visibility, access.previous_visibility, access.public_repo],
      ['public', 'private', true],
    )
  })

  it('verifies a key and a collaborator through its own export', () => {
    assert.equal(
      levelOf(acme(), 'github', 'add_deploy_key', { ...place, title: 'a', key: 'k' }),
      'verified',
    )
    assert.equal(
      levelOf(acme(), 'github', 'add_collaborator', {
        ...place,
        username: 'dana',
        permission: 'pull',
      }),
      'verified',
    )
  })
})

describe('payments', () => {
  const shop = () =>
    started('payments', {
      customers: [
        { id: 'cus_a', name: 'A' },
        { id: 'cus_b', name: 'B' },
      ],
    })
  const charge = { customer: 'cus_a', amount: 500, currency: 'eur' }

  it('charges twice without a key and once with one', () => {
    const world = shop()
    ok(world, 'create_charge', charge)
    ok(world, 'create_charge', charge)
    assert.equal(rows(world.state, 'charges').length, 2)
    const [first, second] = [1, 2].map(() =>
      ok(world, 'create_charge', { ...charge, idempotency_key: 'k' }),
    )
    assert.deepEqual(first, second)
    assert.equal(rows(world.state, 'charges').length, 3)
  })

  it('refuses a key that comes with other arguments', () => {
    const world = shop()
    ok(world, 'create_charge', { ...charge, idempotency_key: 'k' })
    for (const other of [{ amount: 501 }, { customer: 'cus_b' }, { currency: 'usd' }])
      assert.match(
        refused(world, 'create_charge', { ...charge, ...other, idempotency_key: 'k' }),
        /same parameters/,
      )
  })

  it('refunds no more than was charged, and a refund with a key once', () => {
    const world = shop()
    const id = (ok(world, 'create_charge', charge)['charge'] as { id: string }).id
    ok(world, 'create_refund', { charge: id, amount: 200, idempotency_key: 'r' })
    ok(world, 'create_refund', { charge: id, amount: 200, idempotency_key: 'r' })
    assert.match(
      refused(world, 'create_refund', { charge: id, amount: 301 }),
      /greater than unrefunded amount on charge \(300\)/,
    )
    ok(world, 'create_refund', { charge: id, amount: 300 })
    assert.equal(
      (ok(world, 'get_charge', { charge: id })['charge'] as JsonObject)['amount_refunded'],
      500,
    )
    assert.match(
      refused(world, 'create_refund', { charge: 'ch_none', amount: 1 }),
      /No such charge/,
    )
  })

  it('takes whole amounts above 0 in a currency of three small letters', () => {
    for (const wrong of [
      { amount: 0 },
      { amount: 1.5 },
      { amount: -1 },
      { currency: 'EUR' },
      { currency: 'euro' },
    ])
      assert.match(refused(shop(), 'create_charge', { ...charge, ...wrong }), /^invalid arguments/)
    ok(shop(), 'create_charge', { ...charge, amount: 1 })
  })

  it('logs events as Stripe lists them, newest first, with the caller’s key and nothing else of the request', () => {
    const world = shop()
    const id = (
      ok(world, 'create_charge', { ...charge, idempotency_key: 'k' })['charge'] as { id: string }
    ).id
    ok(world, 'create_refund', { charge: id, amount: 200 })
    const { object, has_more, data } = log(world)
    assert.deepEqual([object, has_more, data.length], ['list', false, 2])
    const [refund, paid] = data
    assert.deepEqual(
      [refund.type, refund.data.object.charge, refund.request.idempotency_key],
      ['refund.created', id, null],
    )
    assert.deepEqual(
      [paid.type, paid.data.object.amount, paid.request.idempotency_key],
      ['charge.succeeded', 500, 'k'],
    )
    assert.match(paid.id, /^evt_[0-9a-f]{24}$/)
    assert.equal(paid.created, Date.UTC(2026, 0, 5, 9, 0, 0) / 1000)
    assert.equal('idempotency_key' in paid.data.object, false)
  })

  it('verifies a charge and a refund through its own export', () => {
    assert.equal(
      levelOf(shop(), 'stripe', 'create_charge', { ...charge, idempotency_key: 'k' }),
      'verified',
    )
    const world = shop()
    const id = (ok(world, 'create_charge', charge)['charge'] as { id: string }).id
    assert.equal(levelOf(world, 'stripe', 'create_refund', { charge: id, amount: 200 }), 'verified')
  })

  it('does not verify a charge of another amount', () => {
    const world = shop()
    ok(world, 'create_charge', { ...charge, amount: 400 })
    const decision = observe({
      server: 's',
      tool: 'create_charge',
      arguments: charge,
      status: 'success',
      runId: 'r',
      seq: 0,
    })
    assert.equal(
      verify([decision], { audit: { provider: 'stripe', bytes: world.audit() } }).calls[0]?.level,
      'asserted',
    )
    assert.equal(importAudit('stripe', world.audit()).counts.records, 1)
  })
})

describe('slack', () => {
  const acme = () =>
    started('slack', {
      channels: [{ id: 'C1', name: 'one' }],
      users: [
        { id: 'U1', name: 'Dana' },
        { id: 'U2', name: 'Omar' },
      ],
    })

  it('answers in Slack’s words', () => {
    const world = acme()
    assert.equal(refused(world, 'add_member', { channel: 'C9', user: 'U1' }), 'channel_not_found')
    assert.equal(refused(world, 'add_member', { channel: 'C1', user: 'U9' }), 'user_not_found')
    assert.equal(refused(world, 'remove_member', { channel: 'C1', user: 'U1' }), 'not_in_channel')
    ok(world, 'add_member', { channel: 'C1', user: 'U1' })
    assert.equal(refused(world, 'add_member', { channel: 'C1', user: 'U1' }), 'already_in_channel')
  })

  it('invites whom it does not have yet, and nobody when one is unknown', () => {
    const world = acme()
    refused(world, 'invite_members', { channel: 'C1', users: ['U1', 'U9'] })
    ok(world, 'add_member', { channel: 'C1', user: 'U1' })
    ok(world, 'invite_members', { channel: 'C1', users: ['U1', 'U2', 'U2'] })
    assert.deepEqual(
      rows(world.state, 'members').map((row) => row['user']),
      ['U1', 'U2'],
    )
  })

  it('logs who came and went in the shape of the audit logs, and says nothing of messages', () => {
    const world = acme()
    ok(world, 'add_member', { channel: 'C1', user: 'U1' })
    ok(world, 'post_message', { channel: 'C1', text: 'hello' })
    ok(world, 'remove_member', { channel: 'C1', user: 'U1' })
    const { entries } = log(world)
    assert.deepEqual(
      entries.map(({ action }: JsonObject) => action),
      ['user_channel_join', 'user_channel_leave'],
    )
    const [join] = entries
    assert.match(join.id, /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/)
    assert.deepEqual(
      [
        join.date_create,
        join.actor.user.id,
        join.entity.type,
        join.entity.channel.id,
        join.context.location.type,
      ],
      [Date.UTC(2026, 0, 5, 9, 0, 0) / 1000, 'U1', 'channel', 'C1', 'workspace'],
    )
  })

  it('is confirmed by a later list of members', () => {
    const world = acme()
    const decisions = [
      ['add_member', { channel: 'C1', user: 'U1' }],
      ['list_members', { channel: 'C1' }],
    ].map(([tool, input], seq) =>
      observe({
        server: 'slack',
        tool: tool as string,
        arguments: input,
        status: 'success',
        result: { content: [], structuredContent: ok(world, tool as string, input as object) },
        runId: 'r',
        seq,
      }),
    )
    assert.equal(verify(decisions).calls[0]?.level, 'observed_confirmed')
  })
})

describe('workspace', () => {
  const acme = () => started('workspace', { people: [{ id: 'dana', name: 'Dana' }] })
  const dana = { workspace: 'acme', principal: 'dana' }

  it('grants a role once, changes and takes what is held, and nothing to strangers', () => {
    const world = acme()
    refused(world, 'change_role', { ...dana, role: 'viewer' })
    ok(world, 'grant_admin', { ...dana, role: 'viewer' })
    refused(world, 'grant_admin', { ...dana, role: 'viewer' })
    refused(world, 'grant_admin', { ...dana, principal: 'eve', role: 'viewer' })
    ok(world, 'grant_admin', { ...dana, role: 'helpdesk' })
    ok(world, 'change_role', { ...dana, role: 'user_admin' })
    assert.deepEqual(ok(world, 'get_role', dana)['roles'], ['user_admin'])
    refused(world, 'revoke_role', { ...dana, role: 'viewer' })
    ok(world, 'revoke_role', { ...dana, role: 'user_admin' })
    assert.deepEqual(ok(world, 'list_roles', { workspace: 'acme' })['roles'], [])
  })

  it('revokes the token of the person named, and no other', () => {
    const world = acme()
    const token = { ...dana, role: 'viewer', name: 'ci' }
    const id = ok(world, 'create_workspace_token', token)['id'] as number
    refused(world, 'revoke_workspace_token', { ...dana, principal: 'eve', token_id: id })
    ok(world, 'revoke_workspace_token', { ...dana, token_id: id })
    assert.deepEqual(rows(world.state, 'tokens'), [])
  })

  it('logs events in the shape of Okta’s System Log, with the role and whom it concerns', () => {
    const world = acme()
    ok(world, 'grant_admin', { ...dana, role: 'super_admin' })
    ok(world, 'create_workspace_token', { ...dana, role: 'viewer', name: 'ci' })
    ok(world, 'revoke_role', { ...dana, role: 'super_admin' })
    const events = world
      .audit()
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line).data.events[0])
    assert.deepEqual(
      events.map(({ eventType }: JsonObject) => eventType),
      ['user.account.privilege.grant', 'system.api_token.create', 'user.account.privilege.revoke'],
    )
    const [grant, token] = events
    assert.equal(grant.published, '2026-01-05T09:00:00.000Z')
    assert.equal(grant.outcome.result, 'SUCCESS')
    assert.deepEqual([grant.target[0].type, grant.target[0].alternateId], ['User', 'dana'])
    assert.deepEqual([grant.target[1].type, grant.target[1].displayName], ['ROLE', 'super_admin'])
    assert.deepEqual([token.target.length, token.target[0].type], [1, 'Token'])
    assert.equal(token.actor.alternateId, 'dana')
  })
})

describe('files and mail', () => {
  it('a file is written over, moved to a free path, shared once, deleted with all others or not at all', () => {
    const world = started('files', { files: [{ path: '/a', text: 'a' }] })
    ok(world, 'write_file', { path: '/a', text: 'b' })
    ok(world, 'write_file', { path: '/b', text: 'ü' })
    refused(world, 'move_file', { from: '/a', to: '/b' })
    refused(world, 'move_file', { from: '/none', to: '/c' })
    ok(world, 'move_file', { from: '/a', to: '/dir/a' })
    ok(world, 'share_file', { path: '/b', address: 'x@y' })
    ok(world, 'share_file', { path: '/b', address: 'x@y' })
    assert.deepEqual(ok(world, 'read_file', { path: '/b' })['shared_with'], ['x@y'])
    refused(world, 'delete_files', { paths: ['/b', '/none'] })
    assert.deepEqual(ok(world, 'list_files', { folder: '/dir' })['files'], [
      { path: '/dir/a', size_bytes: 1 },
    ])
    assert.deepEqual(ok(world, 'list_files', { folder: '/di' })['files'], [])
    assert.equal(
      (ok(world, 'list_files', {})['files'] as { size_bytes: number }[])[1]?.size_bytes,
      2,
    )
    refused(world, 'write_file', { path: 'relative', text: '' })
  })

  it('a message stands in the outbox once per recipient', () => {
    const world = started('mail', { messages: [{ id: 1, from: 'a@b', subject: 's' }] })
    ok(world, 'send_mail', { to: ['x@y', 'z@y', 'x@y'], subject: 'hi', text: 'there' })
    assert.deepEqual(
      rows(world.state, 'outbox').map((row) => row['to']),
      ['x@y', 'z@y'],
    )
    ok(world, 'move_message', { message_id: 1, folder: 'trash' })
    refused(world, 'move_message', { message_id: 2, folder: 'trash' })
    refused(world, 'read_message', { message_id: 2 })
    assert.equal(
      (ok(world, 'read_message', { message_id: 1 })['message'] as JsonObject)['folder'],
      'trash',
    )
  })
})
