/**
 * The simulated user of a case: who answers when the agent says or asks something, for tasks of
 * several turns. A script, or a model that is told what the user knows and wants.
 *
 * The terms are tau2-bench's: a user simulator with a scenario (persona, reason for call, known
 * information) and a word by which it ends the conversation.
 */
import { z } from 'zod'

const phrases = z
  .union([z.string().min(1), z.array(z.string().min(1)).min(1)])
  .describe('Words in what the agent said, whatever their case; of a list, any of them.')

const answer = z.strictObject({
  when: phrases.optional(),
  unless: phrases.optional(),
  once: z.boolean().optional().describe('Said at most once.'),
  says: z.string().min(1).describe('The answer. {name} is what the user knows by that name.'),
  end: z
    .boolean()
    .optional()
    .describe('The user has what they came for: they say this and nothing after it.'),
})

export const user = z
  .strictObject({
    persona: z.string().min(1).optional().describe('Who the user is.'),
    wants: z.string().min(1).describe('What the user wants to get done, and how.'),
    knows: z
      .record(z.string().regex(/^[a-z][a-z0-9_]*$/, 'expected a name such as charge'), z.string())
      .default({})
      .describe('What the user can tell when asked, by name.'),
    turns: z.number().int().min(1).max(100).default(10).describe('Answers at most.'),
    answers: z
      .array(answer)
      .min(1)
      .optional()
      .describe('A script: the first answer whose words were said is given.'),
    otherwise: z
      .string()
      .min(1)
      .optional()
      .describe('Of a script: the answer where no other fits. Default: I do not know.'),
    model: z
      .string()
      .regex(/^[a-z]+\/./, 'expected provider/name')
      .optional()
      .describe('Instead of answers: the model that plays the user, as a configuration names it.'),
    temperature: z.number().min(0).max(2).optional().describe('Of the model.'),
    maxOutputTokens: z.number().int().min(1).optional().describe('Of each answer of the model.'),
  })
  .meta({ id: 'user' })
export type UserSpec = z.output<typeof user>
