/** The schema of a line of `transcripts.ndjson`, for readers in other languages. */
import { z } from 'zod'

const text = z.string()
const words = z.array(text)
const count = z.int().min(0)
const members = z.record(text, z.json())

const said = z.looseObject({
  tool: text,
  action: text,
  target: members,
  done: z.boolean(),
  quote: text.optional(),
})

export const TRANSCRIPT = z.looseObject({
  key: text,
  attempt: count,
  model: text
    .nullable()
    .describe('What the provider says the model was; null where nobody says.')
    .optional(),
  instructions: text.optional().describe('What the agent was told besides its task.'),
  task: text.optional(),
  tools: z
    .array(
      z.looseObject({
        after: count,
        tools: z.array(z.looseObject({ name: text, server: text, description: text })),
      }),
    )
    .describe('What was offered, first and after each change.')
    .optional(),
  order: z
    .array(z.tuple([z.enum(['tools', 'said', 'user', 'call', 'malformed']), count]))
    .describe('The order of what the lists hold: which list, and the place in it.')
    .optional(),
  times: z
    .array(
      z.looseObject({
        what: z.enum(['model', 'call', 'user']),
        call: count.describe('The number of the tool’s call.').optional(),
        from_ms: z.number().min(0),
        to_ms: z.number().min(0),
        waited_ms: z
          .number()
          .min(0)
          .describe('Of it, how long it waited for a provider’s limit.')
          .optional(),
        tokens: z
          .looseObject({ input: count, output: count })
          .describe('Of a call of the agent’s model, where its provider says.')
          .optional(),
      }),
    )
    .describe(
      'When calls of the model, of tools and of the model that plays the user began and ended, from the start of the trial. Left out where the configuration is simulated.',
    )
    .optional(),
  calls: z.array(
    z.looseObject({
      seq: count.describe('The place in the sequence of calls, from 0.'),
      server: text,
      tool: text,
      input: members,
      status: text,
      answer: text,
      client: text.optional().describe('The MCP client that called, by the name that it gives.'),
      began: count.describe('On a clock that counts the beginnings and ends of calls.'),
      ended: count,
    }),
  ),
  malformed: z
    .array(z.looseObject({ tool: text, input: text, problem: text, after: count.optional() }))
    .describe('Tool calls that were none: no such tool, or arguments that cannot be read.')
    .optional(),
  said: words.optional(),
  user: words.describe('What the simulated user answered.').optional(),
  summary: text.optional(),
  report_claims: z
    .array(said)
    .describe('What the agent said that it did, in its report. Secrets are taken out.')
    .optional(),
  answer_claims: z.array(said).describe('Claims that it handed over with its answer.').optional(),
  can_change: z
    .array(z.looseObject({ server: text, tool: text, inputs: z.array(members) }))
    .describe(
      'The tools that its last words, or its report’s summary, may be about, with the arguments that the task’s solution has. A rule reads claims in the words.',
    )
    .optional(),
  prose_claims: z
    .array(said)
    .describe('Claims that the rule read in words from which secrets were taken out since.')
    .optional(),
  prose_complete: z.boolean().describe('Beside them: no sentence may hold another one.').optional(),
  end: text.optional(),
  seed: count.optional(),
  late_calls: count.optional().describe('Calls that came after the agent had answered; refused.'),
})
