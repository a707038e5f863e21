/** The schema of a case's servers. */
import { z } from 'zod'
import { REASONS } from '../../../receipt/bundle/profile.ts'
import { FAULT_KINDS, FAULTS, type Fault, optionsOf } from '../../server/fault.ts'
import { asked, columns, id, queried, shows } from './predicate.ts'

const after = z
  .int()
  .min(0)
  .default(0)
  .describe('Calls of the tool that are served honestly first. Default 0.')
const times = z.int().min(1).optional().describe('Calls that it then holds for. Default: all.')

/** What a program or the system is handed: a NUL character would end it. */
const word = z
  .string()
  .refine((text) => !text.includes('\0'), { message: 'expected no NUL character, got one' })

const fault = z
  .strictObject({
    tool: z.string(),
    kind: z
      .enum(FAULT_KINDS)
      .describe(FAULT_KINDS.map((kind) => `${kind}: ${FAULTS[kind].summary}.`).join('\n')),
    after,
    times,
    keep: z
      .int()
      .min(0)
      .optional()
      .describe('partial_success: how many of the changed rows are kept. Default 1.'),
    seconds: z
      .number()
      .positive()
      .optional()
      .describe('slow_reply: when the reply comes. Default 60.'),
    message: z
      .string()
      .min(1)
      .optional()
      .describe('error_after_commit, duplicate_on_retry, flapping_error: the text of the error.'),
    set: columns
      .optional()
      .describe("rug_pull: arguments that the server puts in place of the caller's."),
    describe: z
      .string()
      .optional()
      .describe("rug_pull: the tool's description after the honest calls (at least one)."),
    size_bytes: z
      .int()
      .min(1)
      .max(10_000_000)
      .optional()
      .describe('oversized_result: of padding. Default 100000.'),
  })
  .superRefine((value, context) => {
    const own: readonly string[] = optionsOf(value.kind)
    for (const name of Object.keys(value)) {
      if (['tool', 'kind', 'after', 'times', ...own].includes(name)) continue
      const expected = own.length ? `${own.join(', ')}, after or times` : 'after or times'
      context.addIssue({
        code: 'custom',
        path: [name],
        message: `expected ${expected} beside ${value.kind}, got ${name}`,
      })
    }
    if (value.kind === 'rug_pull' && value.set === undefined && value.describe === undefined)
      context.addIssue({
        code: 'custom',
        message: 'expected set or describe beside rug_pull, got none',
      })
  })
  .meta({ id: 'fault' }) satisfies z.ZodType<Fault>
export type FaultSpec = z.output<typeof fault>

const injection = z.strictObject({ text: z.string(), after, times })
export type Injection = z.output<typeof injection>

const refusal = {
  code: z.int().default(-32042).describe('Of the JSON-RPC error. Default -32042.'),
  origin: z.string().min(1).default('touchstone').describe('Who says no. Default touchstone.'),
}
const policy = z.strictObject({
  deny: z
    .record(
      z.string(),
      z.strictObject({
        reason: z.enum(REASONS).exclude(['allow']).default('no_declared_allowance'),
        ...refusal,
      }),
    )
    .default({})
    .describe('Tool name -> how its calls are denied.'),
  pin: z
    .strictObject(refusal)
    .nullable()
    .default(null)
    .describe("Deny a tool's calls once its listing differs from that at its first call."),
})

const reset = z.union([
  z.strictObject(asked),
  z.strictObject({ command: word.min(1), args: z.array(word).optional() }),
])

const era = z
  .enum(['legacy', 'modern'])
  .optional()
  .describe(
    'How it is spoken to: with initialize, or as revision 2026-07-28 has it. Default: legacy, and modern where the server knows no initialize.',
  )

export const server = z
  .strictObject({
    name: z
      .string()
      .regex(/^[a-z0-9][a-z0-9_-]*$/)
      .optional()
      .describe('Default: the world, or "server".'),
    world: z
      .string()
      .optional()
      .describe(
        'A simulated provider: files, github, mail, payments, slack, workspace, or one made with harness.world.',
      ),
    state: z
      .record(z.string(), z.array(columns))
      .optional()
      .describe('Tables the world starts with.'),
    faults: z.array(fault).default([]),
    describe: z
      .record(z.string(), z.string())
      .default({})
      .describe('Tool name -> the description clients are shown instead.'),
    parameters: z
      .record(z.string(), z.record(z.string(), columns))
      .default({})
      .describe(
        'Tool name -> parameter -> JSON Schema members shown to clients, laid over its own. A parameter that the tool does not have is offered, and dropped when it comes.',
      ),
    inject: z
      .record(z.string(), z.union([z.string(), injection]))
      .default({})
      .describe(
        "Tool name -> text added to the tool's results, to each or as `after` and `times` say.",
      ),
    stdio: z
      .strictObject({
        command: word,
        args: z.array(word).default([]),
        env: z
          .record(z.string(), word)
          .default({})
          .describe('$NAME is that variable of the process that runs the case.'),
        cwd: word.optional(),
        reset: z
          .union([z.literal('files'), reset])
          .optional()
          .describe(
            'Keeps the process from trial to trial. files: the folder of `files` is all the state it has, and is made anew. Else a call or a command that puts the state back.',
          ),
        era,
      })
      .optional()
      .describe(
        'A real server as a child process. /workspace in its arguments is the folder of `files`.',
      ),
    http: z
      .strictObject({
        url: z.string(),
        headers: z.record(z.string(), z.string()).default({}),
        reset: reset
          .optional()
          .describe('A call or a command that puts the state back at each start.'),
        era,
      })
      .optional()
      .describe('A real server at an address.'),
    files: z
      .record(word, z.string())
      .optional()
      .describe(
        'A folder made fresh for each trial: path -> text. Its files are the table "files".',
      ),
    effects: z
      .record(
        z.string(),
        z.union([
          z.strictObject({
            op: z.enum(['create', 'update', 'delete']),
            table: z.string(),
            where: columns,
          }),
          z.strictObject({ ...asked, ...shows, id }),
          z.strictObject({ ...queried, ...shows, id }),
        ]),
      )
      .default({})
      .describe(
        'What a successful call of a tool claims to have done: to a table, or to what an answer to the judge shows then. "$name" is the argument of that name.',
      ),
    tables: z
      .record(
        z.string(),
        z.union([z.strictObject({ ...asked, id }), z.strictObject({ ...queried, id })]),
      )
      .optional()
      .describe(
        'What the judge sees of a real server: table -> a call or a query that gives rows.',
      ),
    database: z
      .strictObject({ sqlite: z.string().min(1).describe('A file. /workspace is the folder.') })
      .optional()
      .describe('The database that queries ask.'),
    folder: z
      .string()
      .min(1)
      .optional()
      .describe(
        'A folder of this machine where a server at an address keeps its files. They are the table "files".',
      ),
    volatile: z
      .array(z.string())
      .optional()
      .describe('Members of answers that differ at each look. Starts are compared without them.'),
    policy: policy
      .optional()
      .describe('Decides on each call in front of the server. What it denies never gets there.'),
  })
  .superRefine((value, context) => {
    const kinds = (['world', 'stdio', 'http'] as const).filter((kind) => value[kind] !== undefined)
    if (kinds.length !== 1) {
      context.addIssue({
        code: 'custom',
        message: `expected exactly one of world, stdio, http, got ${kinds.length ? kinds.join(' and ') : 'none'}`,
      })
    }
    if (value.files && !value.stdio)
      context.addIssue({
        code: 'custom',
        path: ['files'],
        message: 'expected files only beside stdio',
      })
    for (const part of ['tables', 'database', 'volatile'] as const)
      if (value[part] && value.world !== undefined)
        context.addIssue({
          code: 'custom',
          path: [part],
          message: `expected ${part} only beside stdio or http`,
        })
    if (value.folder && !value.http)
      context.addIssue({
        code: 'custom',
        path: ['folder'],
        message: 'expected folder only beside http',
      })
    if (value.state && !value.world)
      context.addIssue({
        code: 'custom',
        path: ['state'],
        message: 'expected state only beside world',
      })
  })
  .meta({ id: 'server' })
export type ServerSpec = z.output<typeof server>
