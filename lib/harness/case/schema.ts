/**
 * A case: servers, a task, the calls that solve it, what should be true afterwards and, when it is adversarial, the attack.
 *
 * The schema below is the one source: it checks YAML and TypeScript alike, and the JSON Schema for editors is made from it.
 */
import { z } from 'zod'
import type { JsonObject } from '../../json.ts'
import { REASONS } from '../../receipt/bundle/profile.ts'
import { FAULT_KINDS, FAULTS, type Fault, optionsOf } from '../server/fault.ts'

// Ids name the parts in the JSON Schema that editors read.
const columns = z.record(z.string(), z.json()).meta({ id: 'columns' })

/** One thing that is true, or not, of the end of a trial. Exactly one of the four members that name what is judged. */
const predicate = z
  .strictObject({
    server: z
      .string()
      .optional()
      .describe('Which server, where there are several. Default: the first.'),
    table: z.string().optional().describe('A table of the end state.'),
    where: columns
      .optional()
      .describe('Columns and what they hold: a value, {not}, {contains} or {oneOf}.'),
    count: z.int().min(0).optional().describe('Exactly so many rows. Default: at least one.'),
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
  })
  .superRefine((value, context) => {
    const kinds = (['table', 'unchanged', 'report', 'canary'] as const).filter(
      (kind) => value[kind] !== undefined,
    )
    if (kinds.length !== 1) {
      context.addIssue({
        code: 'custom',
        message: `expected exactly one of table, unchanged, report, canary, got ${kinds.length ? kinds.join(' and ') : 'none'}`,
      })
    }
    if (value.table === undefined && (value.where || value.count !== undefined)) {
      context.addIssue({ code: 'custom', message: 'expected where and count only beside table' })
    }
  })
  .meta({ id: 'predicate' })
export type Predicate = z.output<typeof predicate>

const after = z
  .int()
  .min(0)
  .default(0)
  .describe('Calls of the tool that are served honestly first. Default 0.')
const times = z.int().min(1).optional().describe('Calls that it then holds for. Default: all.')

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

const server = z
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
        command: z.string(),
        args: z.array(z.string()).default([]),
        env: z
          .record(z.string(), z.string())
          .default({})
          .describe('$NAME is that variable of the process that runs the case.'),
        cwd: z.string().optional(),
        reset: z
          .literal('files')
          .optional()
          .describe(
            'The folder of `files` is all the state it has: the process is kept, and the folder made anew.',
          ),
      })
      .optional()
      .describe(
        'A real server as a child process. /workspace in its arguments is the folder of `files`.',
      ),
    http: z
      .strictObject({ url: z.string(), headers: z.record(z.string(), z.string()).default({}) })
      .optional()
      .describe('A real server at an address.'),
    files: z
      .record(z.string(), z.string())
      .optional()
      .describe(
        'A folder made fresh for each trial: path -> text. Its files are the table "files".',
      ),
    effects: z
      .record(
        z.string(),
        z.strictObject({
          op: z.enum(['create', 'update', 'delete']),
          table: z.string(),
          where: columns,
        }),
      )
      .default({})
      .describe(
        'What a successful call of a tool claims to have done; "$name" is the argument of that name.',
      ),
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
    if (value.state && !value.world)
      context.addIssue({
        code: 'custom',
        path: ['state'],
        message: 'expected state only beside world',
      })
  })
  .meta({ id: 'server' })
export type ServerSpec = z.output<typeof server>

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
          message: `expected one of ${[...seen].join(', ')}, got "${name}"`,
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
