/**
 * A simulated Slack workspace: channels, their members, messages.
 *
 * Its log has the shape of Slack's audit logs, which note who came and went and say nothing of
 * messages.
 */
import { hash } from 'node:crypto'
import { z } from 'zod'
import type { AuditEntry, Change, Clock, Row, Step, WorldDefinition } from './world.ts'

const channel = z.strictObject({
  id: z.string().describe('Such as C01GENERAL.'),
  name: z.string(),
  is_private: z.boolean().default(false),
  topic: z.string().default(''),
})
const user = z.strictObject({
  id: z.string().describe('Such as U01DANA.'),
  name: z.string(),
  email: z.string().default(''),
  is_external: z.boolean().default(false),
})
const member = z.strictObject({ id: z.number(), channel: z.string(), user: z.string() })
const message = z.strictObject({
  id: z.number(),
  channel: z.string(),
  user: z.string(),
  text: z.string(),
})
const state = z.strictObject({
  channels: z.array(channel).default([]),
  users: z.array(user).default([]),
  members: z.array(member).default([]),
  messages: z.array(message).default([]),
})
type Slack = z.output<typeof state>

/** The account whose token the server holds. */
const BOT = 'U00BOT'
const inChannel = { channel: z.string().describe('Channel id.') }
const ofUser = { ...inChannel, user: z.string().describe('User id.') }

const fail = (error: string): Step<Slack> => ({ reply: { ok: false, error }, isError: true })
const isIn = (slack: Slack, channel: string, user: string) =>
  slack.members.some((row) => row.channel === channel && row.user === user)
const missing = (slack: Slack, channel: string, users: string[] = []) =>
  !slack.channels.some((row) => row.id === channel)
    ? 'channel_not_found'
    : users.some((user) => !slack.users.some((row) => row.id === user))
      ? 'user_not_found'
      : null

export const slack: WorldDefinition<Slack> = {
  name: 'slack',
  provider: 'slack',
  summary: 'A Slack workspace with channels, members and messages.',
  state,
  tools: {
    list_channels: {
      description: 'List the channels of the workspace.',
      input: z.strictObject({}),
      run: (slack) => ({ reply: { ok: true, channels: slack.channels } }),
    },
    list_users: {
      description: 'List the people of the workspace.',
      input: z.strictObject({}),
      run: (slack) => ({ reply: { ok: true, users: slack.users } }),
    },
    list_members: {
      description: 'List the members of a channel. The answer may come from a cache.',
      input: z.strictObject(inChannel),
      run(slack, { channel }) {
        const problem = missing(slack, channel)
        if (problem) return fail(problem)
        const members = slack.members
          .filter((row) => row.channel === channel)
          .map(({ user }) => ({ user }))
        return { reply: { ok: true, members } }
      },
    },
    is_member: {
      description: 'Look up, past every cache, whether a user is a member of a channel.',
      input: z.strictObject(ofUser),
      run(slack, { channel, user }) {
        const problem = missing(slack, channel, [user])
        return problem
          ? fail(problem)
          : { reply: { ok: true, channel, user, is_member: isIn(slack, channel, user) } }
      },
    },
    add_member: {
      description: 'Add a user to a channel.',
      input: z.strictObject(ofUser),
      run(slack, { channel, user }, clock) {
        const problem =
          missing(slack, channel, [user]) ??
          (isIn(slack, channel, user) ? 'already_in_channel' : null)
        if (problem) return fail(problem)
        const members = [...slack.members, { id: clock.nextId(), channel, user }]
        return { state: { ...slack, members }, reply: { ok: true, channel, user } }
      },
      effect: ({ channel, user }) => ({ op: 'create', table: 'members', where: { channel, user } }),
    },
    invite_members: {
      description: 'Add several users to a channel at once.',
      input: z.strictObject({
        ...inChannel,
        users: z.array(z.string()).min(1).max(100).describe('User ids.'),
      }),
      run(slack, { channel, users }, clock) {
        const problem = missing(slack, channel, users)
        if (problem) return fail(problem)
        const fresh = [...new Set<string>(users)].filter((user) => !isIn(slack, channel, user))
        const members = [
          ...slack.members,
          ...fresh.map((user) => ({ id: clock.nextId(), channel, user })),
        ]
        return { state: { ...slack, members }, reply: { ok: true, channel, invited: users } }
      },
      effect: ({ channel, users }) => ({
        op: 'create',
        table: 'members',
        where: { channel },
        each: [users].flat().map((user) => ({ user })),
      }),
    },
    remove_member: {
      description: 'Remove a user from a channel.',
      input: z.strictObject(ofUser),
      run(slack, { channel, user }) {
        if (!isIn(slack, channel, user))
          return fail(missing(slack, channel, [user]) ?? 'not_in_channel')
        const members = slack.members.filter(
          (row) => !(row.channel === channel && row.user === user),
        )
        return { state: { ...slack, members }, reply: { ok: true, channel, user } }
      },
      effect: ({ channel, user }) => ({ op: 'delete', table: 'members', where: { channel, user } }),
    },
    read_channel: {
      description: 'Read the messages of a channel, oldest first.',
      input: z.strictObject(inChannel),
      run(slack, { channel }) {
        const problem = missing(slack, channel)
        if (problem) return fail(problem)
        const messages = slack.messages.filter((row) => row.channel === channel)
        return { reply: { ok: true, messages: messages.map(({ user, text }) => ({ user, text })) } }
      },
    },
    post_message: {
      description: 'Post a message in a channel.',
      input: z.strictObject({ ...inChannel, text: z.string().min(1) }),
      run(slack, { channel, text }, clock) {
        const problem = missing(slack, channel)
        if (problem) return fail(problem)
        const messages = [...slack.messages, { id: clock.nextId(), channel, user: BOT, text }]
        return { state: { ...slack, messages }, reply: { ok: true, channel } }
      },
      effect: ({ channel, text }) => ({
        op: 'create',
        table: 'messages',
        where: { channel, text },
      }),
    },
    set_topic: {
      description: 'Set the topic of a channel.',
      input: z.strictObject({ ...inChannel, topic: z.string().max(250) }),
      run(slack, { channel, topic }) {
        const problem = missing(slack, channel)
        if (problem) return fail(problem)
        const channels = slack.channels.map((row) => (row.id === channel ? { ...row, topic } : row))
        return { state: { ...slack, channels }, reply: { ok: true, channel, topic } }
      },
      effect: ({ channel, topic }) => ({
        op: 'update',
        table: 'channels',
        where: { id: channel, topic },
      }),
    },
  },
  audit: (changes, clock) =>
    changes.map((change) => entry(change, clock)).filter((made) => made !== null),
  exportAudit: (entries) =>
    `${JSON.stringify({ entries, response_metadata: { next_cursor: '' } }, null, 1)}\n`,
}

/** An entry of the audit logs: in Slack's words, a user joined or left a channel. */
function entry({ op, table, before, after }: Change, clock: Clock): AuditEntry | null {
  if (table !== 'members' || op === 'update') return null
  const row = (after ?? before) as Row
  const at = Math.floor(clock.now().getTime() / 1000)
  return {
    id: hash('sha256', `slack:${at}:${clock.nextId()}`, 'hex').replace(
      /^(.{8})(.{4})(.{4})(.{4})(.{12}).*$/,
      '$1-$2-$3-$4-$5',
    ),
    date_create: at,
    action: op === 'create' ? 'user_channel_join' : 'user_channel_leave',
    actor: { type: 'user', user: { id: String(row['user']), team: 'T01ACME' } },
    entity: {
      type: 'channel',
      channel: { id: String(row['channel']), is_shared: false, is_org_shared: false },
    },
    context: {
      location: { type: 'workspace', id: 'T01ACME', name: 'Acme', domain: 'acme' },
      ua: 'bot',
      ip_address: '192.0.2.7',
    },
    details: op === 'create' ? { inviter: { id: BOT, team: 'T01ACME' } } : {},
  }
}
