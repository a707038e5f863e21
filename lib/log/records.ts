/**
 * The two records of a run: `manifest.json`, fixed before the first trial, and a line of
 * `trials.ndjson`.
 *
 * Each schema here is the type, the check of what is read back, and the published JSON Schema.
 * Loading zod takes about 50 ms, so import values from here only when a run is read; types cost
 * nothing.
 */
import { z } from 'zod'
import type { Digest } from '../canonical.ts'
import { TouchstoneError } from '../errors.ts'
import { MOST_REPEATS, trialKey } from './trial.ts'

const text = z.string()
const count = z.int().min(0)
const repeats = z.int().min(1).max(MOST_REPEATS)
const amount = z.number().min(0)
const time = z.iso.datetime()
const members = z.record(text, z.json())
/** `sha256:` and 64 hexadecimal digits. */
export const DIGEST = z.string().regex(/^sha256:[0-9a-f]{64}$/) as unknown as z.ZodType<
  Digest,
  Digest
>

export const LEVEL_COUNTS = z.object({
  asserted: count,
  observed_confirmed: count,
  verified: count,
})
export const SET_NAME = z.object({ id: text, version: text, digest: DIGEST })
export const LIMITS = z.object({
  steps: count,
  calls: count,
  tokens: count.nullable(),
  trial_timeout_ms: count,
  call_timeout_ms: count,
  attempts: count,
  lost: count.optional().describe('Of a run over a queue.'),
  cost_usd: amount.nullable(),
})
export const VERSIONS = z.record(text, text)
export const ENVIRONMENT = z.object({ platform: text, arch: text, cpus: count })

/**
 * A configuration by name and digest. `simulated`: a script with declared deviation rates, not a
 * language model.
 */
export const CONFIGURATION = z.object({
  name: text,
  digest: DIGEST,
  model: text,
  simulated: z.boolean(),
  cached: z
    .literal(false)
    .optional()
    .describe('Stated beforehand: no answer comes out of a cache, so that equal repeats count.'),
})

/** How often a run is looked at while it goes on, fixed before its first trial. */
export const UNTIL = z.object({
  rule: z.enum(['verdict', 'width', 'gates']),
  most: repeats.describe('Repeats at most.'),
  first: repeats.describe('Repeats at the first look.'),
  metric: text,
  target: z.enum(['these', 'like these']),
  width: amount.optional().describe('Of each rate’s interval, for the rule width.'),
  gates: z.array(text).optional().describe('For the rule gates: until each is met or missed.'),
})
export const LOOKS = z
  .array(z.object({ repeats, cases: count, at: time }))
  .describe('When results were looked at before trials were added, and the size of the run then.')

const plannedCase = z.object({
  id: text,
  digest: DIGEST,
  title: text,
  kind: text,
  twin: text.nullable(),
  family: text.optional().describe('Variants of one task have one family.'),
  adversarial: z.boolean(),
})

const HITS = z.object({ hits: count, of: count })

/** Of the judge model that reads prose: who it is, and how it did on labelled answers. */
const JUDGE = z.object({
  model: text,
  digest: DIGEST.describe('Over the model, its settings and what it is told.'),
  set: DIGEST.describe('Over the labelled answers.'),
  answers: count,
  unread: count.describe('Labelled answers that it did not read; in no number here.'),
  precision: HITS,
  recall: HITS,
  sensitivity: HITS.describe('Of the answers that overclaim, those that it says do.'),
  specificity: HITS.describe('Of the answers that do not, those that it says do not.'),
})

export const MANIFEST = z.object({
  schema: z.literal('touchstone.manifest.v0'),
  id: text,
  created_at: time,
  set: SET_NAME.nullable().describe(
    'The published set that the run was made for, where one was named beforehand.',
  ),
  seed: count,
  repeats,
  planned: count.describe(
    'cases x configurations x repeats, counted before the run, or before trials were added.',
  ),
  until: UNTIL.optional().describe('Left out where the number of repeats is fixed.'),
  looks: LOOKS.optional().describe('Left out where nothing was looked at before the end.'),
  cases: z.array(plannedCase),
  configurations: z.array(CONFIGURATION.extend({ settings: members })),
  servers: z
    .array(
      z.object({
        case: text,
        name: text,
        info: z.object({ name: text, version: text }).nullable(),
        tools: DIGEST.nullable().describe('Over its tools as it listed them before the run.'),
      }),
    )
    .optional()
    .describe('The server of each case, as it names itself. null: it could not be asked.'),
  judge: JUDGE.optional().describe('Left out where no model reads prose.'),
  /** Cases asked for and not run, with the reason. */
  left_out: z.array(z.object({ case: text, reason: text })),
  limits: LIMITS,
  versions: VERSIONS,
  methods: z
    .object({ claims: count, levels: count, outcomes: count.optional() })
    .optional()
    .describe(
      'Versions of how claims are read in words, levels derived and ends of agents judged. Left out before they had one.',
    ),
  environment: ENVIRONMENT,
})

/** What a run was meant to be, fixed before its first trial. */
export type Manifest = z.infer<typeof MANIFEST>

const met = z
  .union([count, z.literal('list'), z.literal('user'), z.literal(false), z.null()])
  .describe(
    'The number of a call, "list" for the list of tools, "user" for the user’s words, false: nowhere, null: none or not known.',
  )

const claim = z.object({
  tool: text,
  action: text,
  target: members,
  done: z.boolean(),
  matched: z
    .boolean()
    .nullable()
    .describe('null: nothing to match (a read, or not done), or not to be seen.'),
  quote: text.optional().describe('Of a claim that was read in prose: the sentence.'),
  found: text.optional().describe('What it was matched to, or what was found in its place.'),
})

const reason = z.object({
  said: text.describe('What a goal asks, in words.'),
  met: z.boolean().nullable().describe('null: not known.'),
  expected: text,
  found: text,
})

const metFault = z.object({
  call: count.describe('The number of the call.'),
  server: text,
  tool: text,
  what: text.describe('The kind of the fault, or injection.'),
})

export const TRIAL = z.object({
  schema: z.literal('touchstone.trial.v0'),
  key: text.describe('case|configuration|trial'),
  case: text,
  configuration: text,
  /** The repeat, from 0. */
  trial: count,
  attempt: count.describe(
    'Above 0 after errors of the machinery. The last attempt of a key counts.',
  ),
  seed: text,
  worker: text
    .optional()
    .describe('Who ran it, by the id in workers.ndjson. Left out where the run had no workers.'),
  started_at: time,
  duration_ms: amount,
  outcome: z.enum(['pass', 'fail', 'unjudged', 'error']),
  error: z.object({ code: text, message: text }).nullable(),
  goal: z.boolean().nullable(),
  attack: z.boolean().nullable().describe('null for a benign case.'),
  /** Claims of done effects that the world does not have. */
  overclaims: count.nullable().describe('null: not known.'),
  /** Effects in the world that the agent made and did not claim. */
  underclaims: count.nullable().describe('null: not known.'),
  /** Effects in the world that neither the task nor its solution calls for. */
  unneeded: count.nullable().describe('null: the state is not to be seen.'),
  /** The agent made no attempt at the changes that the task asks for. */
  refused: z.boolean(),
  /** The agent ended with a report. Without one its claims are unstated, not none. */
  reported: z.boolean(),
  claims_from: z
    .enum(['report', 'claims', 'prose', 'judge'])
    .nullable()
    .describe('null: what the agent says it did is not known.'),
  claims: z.array(claim),
  reasons: z
    .object({ goal: z.array(reason), attack: z.array(reason) })
    .optional()
    .describe('Each predicate of the goal, and of the attack, with what was found.'),
  met: z.array(metFault).optional().describe('The faults and injections that calls met, in order.'),
  ending: text.describe('How the trial ended: finished, or a word such as step_limit.'),
  exposed: z
    .object({ attack: met, fault: met })
    .describe('Where the agent met the words of the attack, and a fault.'),
  writes: z.array(count).describe('Places, from 0, of the calls that ask for a change.'),
  levels: LEVEL_COUNTS.describe(
    'Of these, the ones whose tool said that it was done, by derived level.',
  ),
  steps: count.nullable().describe('null: the agent’s model calls are not to be seen.'),
  calls: count,
  malformed: count
    .nullable()
    .describe('Tool calls of the model that were none. null: not to be seen.'),
  tokens: z.object({ input: count, output: count }).nullable(),
  cost_usd: amount.nullable(),
  user: z
    .object({
      turns: count.describe('What the simulated user answered.'),
      tokens: z.object({ input: count, output: count }).nullable(),
      cost_usd: amount.nullable(),
    })
    .optional()
    .describe('The simulated user’s own; in no number of the agent’s. Left out without a user.'),
  judge: z
    .object({
      tokens: z.object({ input: count, output: count }).nullable(),
      cost_usd: amount.nullable(),
    })
    .optional()
    .describe('What a judge model used to read the answer. Left out where none was asked.'),
  one_sided: z
    .array(z.enum(['goal', 'overclaim']))
    .optional()
    .describe(
      'Marks that rest on a false claim beside one that is not to be seen: had it been honest, they would not be known. They are in the bounds and in no rate.',
    ),
  start_digest: DIGEST.nullable(),
  end_digest: DIGEST.nullable(),
  digests: z.object({
    decisions: DIGEST.nullable(),
    audit: DIGEST.nullable(),
    transcript: DIGEST.nullable(),
  }),
})

/** The record of one trial, from which every number, picture and receipt is computed. */
export type TrialRecord = z.infer<typeof TRIAL>

/**
 * Check a manifest read back: no case and no configuration twice, as many trials planned as they
 * give, and scripts that are named as such. @throws TouchstoneError `run_invalid` naming the member
 * that is not as it should be
 */
export function requireManifest(value: unknown, where: string): Manifest {
  const manifest = required(MANIFEST, value, where)
  const { cases, configurations, repeats, planned } = manifest
  requireOnce(
    'cases',
    'id',
    cases.map(({ id }) => id),
    where,
  )
  requireOnce(
    'configurations',
    'name',
    configurations.map(({ name }) => name),
    where,
  )
  for (const { name, model, simulated } of configurations)
    if (simulated !== model.startsWith('sim/'))
      throw new TouchstoneError(
        'run_invalid',
        `expected configuration ${shown(name)} to be simulated where its model is one of sim/, got ${shown(model)}, simulated ${simulated}`,
        { where },
      )
  const product = cases.length * configurations.length * repeats
  if (planned === product) return manifest
  throw new TouchstoneError(
    'run_invalid',
    `expected planned to be cases x configurations x repeats = ${product}, got ${planned}`,
    { where },
  )
}

function requireOnce(list: string, member: string, names: readonly string[], where: string): void {
  const seen = new Map<string, number>()
  for (const [i, name] of names.entries()) {
    const before = seen.get(name)
    if (before !== undefined)
      throw new TouchstoneError(
        'run_invalid',
        `expected each of ${list} once, got ${list}.${before} and ${list}.${i} with the ${member} ${shown(name)}`,
        { where },
      )
    seen.set(name, i)
  }
}

/**
 * Check a line read back. @throws TouchstoneError `run_invalid` naming the member that is not as it
 * should be
 */
export function requireTrialRecord(value: unknown, where: string): TrialRecord {
  const row = required(TRIAL, value, where)
  if (row.key === trialKey(row.case, row.configuration, row.trial)) return row
  throw new TouchstoneError(
    'run_invalid',
    `expected key to be case|configuration|trial, got ${shown(row.key)}`,
    { where },
  )
}

/** The value itself, with members that the schema does not know, once the schema holds. */
function required<T>(schema: z.ZodType<T>, value: unknown, where: string): T {
  const read = schema.safeParse(value)
  if (read.success) return value as T
  const [issue] = read.error.issues
  const path = issue?.path.map(String) ?? []
  const got = path.reduce<unknown>(
    (from, name) => (from as { [name: string]: unknown } | null | undefined)?.[name],
    value,
  )
  const what = path.length === 0 ? 'the record' : path.join('.')
  throw new TouchstoneError(
    'run_invalid',
    `expected ${what} to be ${formOf(issue)}, got ${shown(got)}`,
    {
      where,
    },
  )
}

/** What an issue says should be there. */
function formOf(issue: z.core.$ZodIssue | undefined): string {
  switch (issue?.code) {
    case 'invalid_type':
      return `of type ${issue.expected}`
    case 'invalid_value':
      return issue.values.map((value) => JSON.stringify(value)).join(', ')
    case 'invalid_format':
      return issue.format === 'regex' ? 'a sha256 digest' : `a ${issue.format}`
    case 'too_small':
      return `>= ${issue.minimum}`
    case 'too_big':
      return `<= ${issue.maximum}`
    default:
      return 'in a form that the schema knows'
  }
}

function shown(value: unknown): string {
  return value === undefined ? 'nothing' : (JSON.stringify(value)?.slice(0, 60) ?? typeof value)
}
