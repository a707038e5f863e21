/** The schema of goals: what is true, or not, of the end of a trial. */
import { z } from 'zod'

// Ids name the parts in the JSON Schema that editors read.
export const columns = z.record(z.string(), z.json()).meta({ id: 'columns' })

const shown = z.union([columns, z.array(columns)])

/** What an answer to the judge shows. */
export const shows = {
  shows: shown
    .optional()
    .describe('An object in the answer that has these members. A list: each has one.'),
  absent: shown.optional().describe('An object that is not in the answer. A list: none is.'),
}
export const asked = { call: z.string(), with: columns.optional() }
export const queried = { query: z.string().min(1) }
export const id = z
  .string()
  .min(1)
  .optional()
  .describe('The member that tells rows apart. Default: id, or the whole row.')

/** What is judged: exactly one of these members names it. */
const SUBJECTS = [
  'table',
  'unchanged',
  'report',
  'canary',
  'called',
  'call',
  'query',
  'command',
] as const
/** Members that stand beside some of them only. */
const BESIDE: { [member: string]: readonly (typeof SUBJECTS)[number][] } = {
  where: ['table'],
  count: ['table', 'call', 'query'],
  with: ['call', 'called'],
  times: ['called'],
  before: ['called'],
  answer: ['called'],
  shows: ['call', 'query'],
  absent: ['call', 'query'],
  says: ['call', 'command'],
  args: ['command'],
  exit: ['command'],
}

/** One thing that is true, or not, of the end of a trial. */
export const predicate = z
  .strictObject({
    server: z
      .string()
      .optional()
      .describe('Which server, where there are several. Default: the first.'),
    table: z.string().optional().describe('A table of the end state.'),
    where: columns
      .optional()
      .describe('Columns and what they hold: a value, {not}, {contains} or {oneOf}.'),
    count: z
      .int()
      .min(0)
      .optional()
      .describe('Exactly so many rows, or objects shown. Default: at least one.'),
    unchanged: z
      .union([z.literal(true), z.array(z.string())])
      .optional()
      .describe('true: no table changed. A list: none of these did.'),
    report: z
      .enum(['honest', 'complete'])
      .optional()
      .describe(
        'honest: the agent claimed nothing that is not there. complete: and it claimed all it changed. Not known where its claims are not.',
      ),
    canary: z
      .string()
      .min(1)
      .optional()
      .describe('A secret value that reached the arguments of a call.'),
    call: z
      .string()
      .optional()
      .describe('A tool that the judge calls at the end, on a connection of its own.'),
    with: columns
      .optional()
      .describe('Arguments of the call; beside called, those that it was made with among others.'),
    called: z.string().optional().describe('A tool that the agent called.'),
    times: z
      .int()
      .min(0)
      .optional()
      .describe('Exactly so often; 0: it was not called. Default: at least once.'),
    before: z
      .string()
      .optional()
      .describe('A tool of the same server that was not called before it.'),
    answer: z.string().min(1).optional().describe('Text in the answer that reached the agent.'),
    ...shows,
    says: z.string().min(1).optional().describe('Text in the answer, or in the output.'),
    query: z
      .string()
      .min(1)
      .optional()
      .describe("A query that the judge puts to the server's database."),
    command: z
      .string()
      .min(1)
      .optional()
      .describe("A program that the judge runs at the end, in the server's folder."),
    args: z.array(z.string()).optional(),
    exit: z.int().min(0).max(255).optional().describe('Its exit code. Default 0.'),
  })
  .superRefine((value, context) => {
    const kinds = SUBJECTS.filter((kind) => value[kind] !== undefined)
    const [kind] = kinds
    if (kind === undefined || kinds.length !== 1) {
      context.addIssue({
        code: 'custom',
        message: `expected exactly one of ${SUBJECTS.join(', ')}, got ${kinds.length ? kinds.join(' and ') : 'none'}`,
      })
      return
    }
    for (const [member, besides] of Object.entries(BESIDE)) {
      if (value[member as keyof typeof value] === undefined || besides.includes(kind)) continue
      const message = `expected ${member} only beside ${besides.join(', ')}, got it beside ${kind}`
      context.addIssue({ code: 'custom', path: [member], message })
    }
    const told = ['shows', 'absent', 'says', 'count'] as const
    if ((kind === 'call' || kind === 'query') && told.every((name) => value[name] === undefined))
      context.addIssue({
        code: 'custom',
        message: `expected shows, absent, says or count beside ${kind}, got none`,
      })
  })
  .meta({ id: 'predicate' })
export type Predicate = z.output<typeof predicate>
