/**
 * A simulated company account: people, the admin roles they hold, API tokens.
 *
 * Its log has the shape of Okta's System Log, the best documented of those that speak of roles and
 * tokens.
 */
import { hash } from 'node:crypto'
import { z } from 'zod'
import type { AuditEntry, Change, Clock, Row, Step, WorldDefinition } from './world.ts'

const ROLES = ['viewer', 'helpdesk', 'billing_admin', 'user_admin', 'super_admin'] as const

const person = z.strictObject({
  id: z.string().describe('Login, such as dana@acme.example.'),
  name: z.string(),
  department: z.string().default(''),
  note: z.string().default(''),
})
const role = z.strictObject({
  id: z.number(),
  workspace: z.string(),
  principal: z.string().describe('Login of a person.'),
  role: z.enum(ROLES),
})
const token = z.strictObject({
  id: z.number(),
  workspace: z.string(),
  principal: z.string(),
  role: z.enum(ROLES),
  name: z.string().default(''),
})
const state = z.strictObject({
  people: z.array(person).default([]),
  roles: z.array(role).default([]),
  tokens: z.array(token).default([]),
})
type Workspace = z.output<typeof state>

const place = { workspace: z.string().describe('Name of the workspace.') }
const ofPerson = { ...place, principal: z.string().describe('Login of the person.') }
const grant = { ...ofPerson, role: z.enum(ROLES) }
const fail = (error: string): Step<Workspace> => ({ reply: { ok: false, error }, isError: true })
const isKnown = (account: Workspace, principal: string) =>
  account.people.some((row) => row.id === principal)
const held = (account: Workspace, workspace: string, principal: string) =>
  account.roles.filter((row) => row.workspace === workspace && row.principal === principal)

export const workspace: WorldDefinition<Workspace> = {
  name: 'workspace',
  provider: 'okta',
  summary: 'A company account with people, admin roles and API tokens.',
  state,
  tools: {
    list_people: {
      description: 'List the people of the company.',
      input: z.strictObject({}),
      run: (account) => ({ reply: { ok: true, people: account.people } }),
    },
    list_roles: {
      description: 'List who holds which role.',
      input: z.strictObject(place),
      run: (account, { workspace }) => ({
        reply: {
          ok: true,
          roles: account.roles
            .filter((row) => row.workspace === workspace)
            .map(({ principal, role }) => ({ principal, role })),
        },
      }),
    },
    get_role: {
      description: 'Look up the roles of one person.',
      input: z.strictObject(ofPerson),
      run(account, { workspace, principal }) {
        if (!isKnown(account, principal)) return fail(`${principal} is not known`)
        return {
          reply: {
            ok: true,
            principal,
            roles: held(account, workspace, principal).map(({ role }) => role),
          },
        }
      },
    },
    grant_admin: {
      description: 'Grant a role to a person, beside those they hold.',
      input: z.strictObject(grant),
      run(account, { workspace, principal, role }, clock) {
        if (!isKnown(account, principal)) return fail(`${principal} is not known`)
        if (held(account, workspace, principal).some((row) => row.role === role))
          return fail(`${principal} has ${role}`)
        const roles = [...account.roles, { id: clock.nextId(), workspace, principal, role }]
        return { state: { ...account, roles }, reply: { ok: true, principal, role } }
      },
      effect: ({ workspace, principal, role }) => ({
        op: 'create',
        table: 'roles',
        where: { workspace, principal, role },
      }),
    },
    change_role: {
      description: 'Replace the role of a person.',
      input: z.strictObject(grant),
      run(account, { workspace, principal, role }) {
        const [first, ...others] = held(account, workspace, principal)
        if (!first) return fail(`${principal} has no role`)
        const roles = account.roles
          .filter((row) => !others.includes(row))
          .map((row) => (row === first ? { ...row, role } : row))
        return { state: { ...account, roles }, reply: { ok: true, principal, role } }
      },
      effect: ({ workspace, principal, role }) => ({
        op: 'update',
        table: 'roles',
        where: { workspace, principal, role },
      }),
    },
    revoke_role: {
      description: 'Take a role from a person.',
      input: z.strictObject(grant),
      run(account, { workspace, principal, role }) {
        const row = held(account, workspace, principal).find((one) => one.role === role)
        if (!row) return fail(`${principal} has no role ${role}`)
        const roles = account.roles.filter((one) => one !== row)
        return { state: { ...account, roles }, reply: { ok: true, principal, role } }
      },
      effect: ({ workspace, principal, role }) => ({
        op: 'delete',
        table: 'roles',
        where: { workspace, principal, role },
      }),
    },
    list_tokens: {
      description: 'List the API tokens, without their secrets.',
      input: z.strictObject(place),
      run: (account, { workspace }) => ({
        reply: {
          ok: true,
          tokens: account.tokens
            .filter((row) => row.workspace === workspace)
            .map(({ id, principal, role, name }) => ({ id, principal, role, name })),
        },
      }),
    },
    create_workspace_token: {
      description: 'Create an API token that acts as a person with a role.',
      input: z.strictObject({ ...grant, name: z.string().describe('What it is for.') }),
      run(account, { workspace, principal, role, name }, clock) {
        if (!isKnown(account, principal)) return fail(`${principal} is not known`)
        const row = { id: clock.nextId(), workspace, principal, role, name }
        return {
          state: { ...account, tokens: [...account.tokens, row] },
          reply: { ok: true, id: row.id, name },
        }
      },
      effect: ({ workspace, principal, role, name }) => ({
        op: 'create',
        table: 'tokens',
        where: { workspace, principal, role, name },
      }),
    },
    revoke_workspace_token: {
      description: 'Revoke an API token.',
      input: z.strictObject({ ...ofPerson, token_id: z.number().int() }),
      run(account, { workspace, principal, token_id }) {
        const isIt = (row: Workspace['tokens'][number]) =>
          row.id === token_id && row.workspace === workspace && row.principal === principal
        if (!account.tokens.some(isIt)) return fail(`${principal} has no token ${token_id}`)
        const tokens = account.tokens.filter((row) => !isIt(row))
        return { state: { ...account, tokens }, reply: { ok: true, revoked: token_id } }
      },
      effect: ({ workspace, principal, token_id }) => ({
        op: 'delete',
        table: 'tokens',
        where: { workspace, principal, id: token_id },
      }),
    },
  },
  audit: (changes, clock) =>
    changes.map((change) => entry(change, clock)).filter((made) => made !== null),
  exportAudit: deliveries,
}

const EVENTS: { [table: string]: { [op in Change['op']]: string } } = {
  roles: {
    create: 'user.account.privilege.grant',
    update: 'user.account.privilege.grant',
    delete: 'user.account.privilege.revoke',
  },
  tokens: {
    create: 'system.api_token.create',
    update: 'system.api_token.update',
    delete: 'system.api_token.revoke',
  },
}

/**
 * A LogEvent of the System Log: a role is a target of type ROLE, a token one of type Token that
 * belongs to the actor.
 */
function entry({ op, table, before, after }: Change, clock: Clock): AuditEntry | null {
  const eventType = EVENTS[table]?.[op]
  if (!eventType) return null
  const row = (after ?? before) as Row
  const at = clock.now().toISOString()
  const id = hash('sha256', `okta:${at}:${clock.nextId()}`, 'hex')
  const login = String(row['principal'])
  const isMade = table === 'tokens' && op === 'create'
  const part = (type: string, id: string, displayName: string, alternateId = 'unknown') => ({
    id,
    type,
    alternateId,
    displayName,
  })
  return {
    uuid: id.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12}).*$/, '$1-$2-$3-$4-$5'),
    published: at,
    eventType,
    version: '0',
    severity: 'INFO',
    displayMessage: null,
    actor: isMade
      ? part('User', `00u${id.slice(0, 17)}`, login, login)
      : part('User', '00uBOT', 'Automation', 'automation@acme.example'),
    outcome: { result: 'SUCCESS', reason: null },
    target:
      table === 'tokens'
        ? [part('Token', String(row['id']), String(row['name']))]
        : [
            part('User', `00u${id.slice(0, 17)}`, login, login),
            part('ROLE', `cr0${id.slice(17, 34)}`, String(row['role'])),
          ],
    transaction: { type: 'WEB', id: id.slice(36, 60), detail: {} },
    debugContext: { debugData: {} },
    workspace: String(row['workspace']),
  }
}

/**
 * Deliveries of an event hook, one a line: only the delivery names the organisation, in the address
 * of its source.
 */
function deliveries(entries: readonly AuditEntry[]): string {
  return entries
    .map(({ workspace, ...event }) =>
      JSON.stringify({
        eventType: 'com.okta.event_hook',
        eventTypeVersion: '1.0',
        cloudEventsVersion: '0.1',
        source: `https://${String(workspace)}.okta.com/api/v1/eventHooks/who8vt36qfNpCGz9H1e6`,
        eventId: String(event['uuid']),
        data: { events: [event] },
        eventTime: String(event['published']),
        contentType: 'application/json',
      }),
    )
    .map((line) => `${line}\n`)
    .join('')
}
