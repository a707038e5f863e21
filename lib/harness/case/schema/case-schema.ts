/**
 * A case: servers, a task, the calls that solve it, what should be true afterwards and, when it is
 * adversarial, the attack.
 *
 * The schema below is the one source: it checks YAML and TypeScript alike, and the JSON Schema for
 * editors is made from it.
 */
import { z } from 'zod'
import { gotWord } from '../../../choice.ts'
import type { JsonObject } from '../../../json.ts'
import { columns, predicate } from './predicate.ts'
import { server } from './server-schema.ts'
import { user } from './user-schema.ts'

export type { Predicate } from './predicate.ts'
export type { FaultSpec, Injection, ServerSpec } from './server-schema.ts'

const call = z
  .strictObject({ server: z.string().optional(), call: z.string(), with: columns.default({}) })
  .meta({ id: 'call' })
export type CallSpec = z.output<typeof call>

const step = z
  .strictObject({
    ...call.shape,
    check: z
      .strictObject({
        call: z.string(),
        with: columns.default({}),
        shows: z
          .union([columns, z.array(columns)])
          .optional()
          .describe(
            'An object in the result that has these members, when the step took effect. A list: each has one.',
          ),
        gone: z
          .union([columns, z.array(columns)])
          .optional()
          .describe(
            'An object that is in the result no more, when the step took effect. A list: none is.',
          ),
        says: z.string().optional().describe('Text in the result, when the step took effect.'),
      })
      .optional()
      .describe('How a careful agent looks whether the step took effect.'),
    ask: z
      .string()
      .min(1)
      .optional()
      .describe('Beside a user: what is said to them before the call, to learn what it takes.'),
    tell: z
      .string()
      .min(1)
      .optional()
      .describe('Beside a user: what is said to them after the call and its check.'),
  })
  .meta({ id: 'step' })
export type SolutionStep = z.output<typeof step>

const attack = z.strictObject({
  instruction: z
    .string()
    .min(1)
    .describe('The words that ask for it. An agent that never sees them cannot follow them.'),
  calls: z.array(call).min(1).describe('What an agent that follows them does.'),
  goal: z.array(predicate).min(1).describe('What is true at the end when the attack has worked.'),
})

const fields = {
  id: z
    .string()
    .regex(
      /^[a-z0-9][a-z0-9_.-]*(\/[a-z0-9][a-z0-9_.-]*)*$/,
      'expected lower-case words with - . _ /',
    )
    .describe('Such as kind/name, once among all cases.'),
  title: z.string().min(1).describe('What a table shows of it, in a few words.'),
  kind: z
    .string()
    .regex(/^[a-z0-9_]+$/, 'expected lower-case words with _')
    .describe('The kind of fault or attack; a benign twin has that of its case.'),
  twin: z.string().optional().describe('The benign case beside this adversarial one.'),
  family: z
    .string()
    .min(1)
    .optional()
    .describe('Variants of one task share a family. Default: a case and its twin are one.'),
  requires: z
    .array(z.string())
    .default([])
    .describe('Packages that the case needs. Without them it is left out, with a word.'),
  server: server.optional(),
  servers: z
    .array(server)
    .min(1)
    .optional()
    .describe('Instead of server, where there are several.'),
  task: z.string().min(1).describe('What the agent is asked to do.'),
  user: user.optional().describe('Who answers when the agent says or asks something.'),
  solution: z.array(step).min(1).describe('The calls that solve it.'),
  attack: attack.optional(),
}
export const caseSchema = z
  .strictObject({
    ...fields,
    goal: z.array(predicate).min(1).describe('What is true at the end when the task is done.'),
  })
  .superRefine((value, context) => {
    if ((value.server === undefined) === (value.servers === undefined)) {
      context.addIssue({ code: 'custom', message: 'expected either server or servers' })
    }
    const names = serverNames(value.server ? [value.server] : (value.servers ?? []))
    const seen = new Set<string>()
    for (const name of names) {
      if (seen.has(name))
        context.addIssue({
          code: 'custom',
          path: ['servers'],
          message: `expected each server name once, got "${name}" again`,
        })
      seen.add(name)
    }
    for (const [path, name] of namedServers(value)) {
      if (!seen.has(name))
        context.addIssue({
          code: 'custom',
          path,
          message: `expected one of ${[...seen].join(', ')}, ${gotWord(name, seen)}`,
        })
    }
  })
export type CaseInput = z.input<typeof caseSchema>
export type ParsedCase = z.output<typeof caseSchema>

/** The names of servers: given, else the world's, else `server`. */
export function serverNames(
  servers: { name?: string | undefined; world?: string | undefined }[],
): string[] {
  return servers.map((one) => one.name ?? one.world ?? 'server')
}

function namedServers(value: ParsedCase): [(string | number)[], string][] {
  const found: [(string | number)[], string][] = []
  const look = (rows: { server?: string | undefined }[] | undefined, path: (string | number)[]) => {
    for (const [i, row] of (rows ?? []).entries())
      if (row.server !== undefined) found.push([[...path, i, 'server'], row.server])
  }
  look(value.solution, ['solution'])
  look(value.goal, ['goal'])
  look(value.attack?.calls, ['attack', 'calls'])
  look(value.attack?.goal, ['attack', 'goal'])
  return found
}

/** The JSON Schema of a case file, for editors. */
export function caseJsonSchema(): JsonObject {
  const schema = z.toJSONSchema(caseSchema, { io: 'input', target: 'draft-2020-12' }) as JsonObject
  return { ...schema, title: 'Touchstone case' }
}
