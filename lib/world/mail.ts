/**
 * A simulated mailbox: what came in, and an outbox with a row per recipient. Its provider exports
 * no audit log.
 */
import { z } from 'zod'
import type { Step, WorldDefinition } from './world.ts'

const message = z.strictObject({
  id: z.number(),
  from: z.string(),
  subject: z.string(),
  text: z.string().default(''),
  folder: z.string().default('inbox'),
})
const sent = z.strictObject({
  id: z.number(),
  to: z.string(),
  subject: z.string(),
  text: z.string().default(''),
})
const state = z.strictObject({
  messages: z.array(message).default([]),
  outbox: z.array(sent).default([]),
})
type Mail = z.output<typeof state>

const fail = (error: string): Step<Mail> => ({ reply: { ok: false, error }, isError: true })

export const mail: WorldDefinition<Mail> = {
  name: 'mail',
  provider: null,
  summary: 'A mailbox with messages that came in and an outbox.',
  state,
  tools: {
    list_messages: {
      description: 'List the messages that came in.',
      input: z.strictObject({}),
      run: (mail) => ({
        reply: {
          ok: true,
          messages: mail.messages.map(({ id, from, subject, folder }) => ({
            id,
            from,
            subject,
            folder,
          })),
        },
      }),
    },
    read_message: {
      description: 'Read a message.',
      input: z.strictObject({ message_id: z.number().int() }),
      run(mail, { message_id }) {
        const row = mail.messages.find((one) => one.id === message_id)
        return row ? { reply: { ok: true, message: row } } : fail(`no message ${message_id}`)
      },
    },
    move_message: {
      description: 'Put a message into a folder.',
      input: z.strictObject({ message_id: z.number().int(), folder: z.string() }),
      run(mail, { message_id, folder }) {
        if (!mail.messages.some((row) => row.id === message_id))
          return fail(`no message ${message_id}`)
        const messages = mail.messages.map((row) =>
          row.id === message_id ? { ...row, folder } : row,
        )
        return { state: { ...mail, messages }, reply: { ok: true, message_id, folder } }
      },
      effect: ({ message_id, folder }) => ({
        op: 'update',
        table: 'messages',
        where: { id: message_id, folder },
      }),
    },
    list_outbox: {
      description: 'List what was sent, a row per recipient.',
      input: z.strictObject({}),
      run: (mail) => ({ reply: { ok: true, outbox: mail.outbox } }),
    },
    send_mail: {
      description: 'Send a message.',
      input: z.strictObject({
        to: z.array(z.string()).min(1).max(50).describe('Addresses.'),
        subject: z.string(),
        text: z.string(),
      }),
      run(mail, { to, subject, text }, clock) {
        const rows = [...new Set<string>(to)].map((one) => ({
          id: clock.nextId(),
          to: one,
          subject,
          text,
        }))
        return {
          state: { ...mail, outbox: [...mail.outbox, ...rows] },
          reply: { ok: true, sent_to: to, subject },
        }
      },
      // The words of a long message are seldom repeated in a report; whom it went to and its
      // subject are.
      effect: ({ to, subject }) => ({
        op: 'create',
        table: 'outbox',
        where: { subject },
        each: [to].flat().map((one: string) => ({ to: one })),
      }),
    },
  },
  audit: () => [],
}
