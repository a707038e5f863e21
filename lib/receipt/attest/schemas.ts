/**
 * JSON Schemas of every file that a run writes, for readers in other languages. They are published
 * under `fixtures/schemas/`.
 *
 * Objects are open, as readers pass over members they do not know. Audit exports have no schema
 * here: their form is their provider's.
 */
import { z } from 'zod'
import type { JsonObject } from '../../json.ts'
import { METRICS, type TranscriptLine } from '../../log/index.ts'
import {
  CONFIGURATION as configuration,
  DIGEST as digest,
  ENVIRONMENT as environment,
  LEVEL_COUNTS as levels,
  LIMITS as limits,
  LOOKS as looks,
  MANIFEST as manifest,
  SET_NAME as named,
  TRIAL as trial,
  UNTIL as until,
  VERSIONS as versions,
} from '../../log/records.ts'
import { RECORD_SCHEMA } from '../audit/record.ts'
import { RUN_PREDICATE, RUN_SCHEMA } from '../recompute/run-predicate.ts'
import { PAYLOAD_TYPE } from '../seal/dsse.ts'
import { STATEMENT_TYPE, TEST_RESULT_TYPE } from '../seal/statement.ts'
import { IRREVERSIBILITY } from '../surface/classifier.ts'
import { type Decision, LEVELS, SURFACE_SCHEMA } from '../surface/decision.ts'
import { PROBE_PREDICATE } from './probe-predicate.ts'
import { PROOF_SCHEMA } from './prove.ts'
import { TRANSCRIPT as transcript } from './transcript-schema.ts'

const text = z.string()
const words = z.array(text)
const count = z.int().min(0)
const amount = z.number().min(0)
const time = z.iso.datetime()
const members = z.record(text, z.json())
const hex = z.string().regex(/^[0-9a-f]{64}$/)

/** The members that a type names, whatever else may stand beside them. */
type Named<T> = T extends readonly (infer Item)[]
  ? Named<Item>[]
  : T extends object
    ? {
        [Name in keyof T as string extends Name ? never : Name]-?: Named<
          Exclude<T[Name], undefined>
        >
      }
    : T

/** A schema of what the code knows as `T`: it does not compile where the two name other members. */
const describes =
  <T>() =>
  <S extends z.ZodType>(
    schema: [Named<T>, Named<z.infer<S>>] extends [Named<z.infer<S>>, Named<T>] ? S : never,
  ): S =>
    schema

const decision = z.looseObject({
  server: z.looseObject({
    id: text,
    transport: z.literal('mcp'),
    declared_manifest_digest: text.optional(),
  }),
  tool: z.looseObject({ name: text, category: text.nullable() }),
  classification: text,
  reason_code: text,
  detail: text.optional(),
  action: z.looseObject({
    class: text,
    verb: text.nullable(),
    resource_type: text.nullable(),
    target: members.nullable(),
    required_scope: text.nullable(),
  }),
  decision: z.looseObject({
    effect: z.enum(['allow', 'deny', 'error']),
    source: text,
    rule_id: text.nullable(),
    enforced: z.boolean(),
  }),
  response: z.looseObject({
    status: text,
    side_effect_asserted: z.boolean(),
    side_effect_verified: z.boolean(),
    side_effect: z.looseObject({
      asserted: z.boolean(),
      level: z.enum(LEVELS),
      verification_source: z.enum(['observed_read_followup', 'provider_audit_import']).nullable(),
      verification_subject_digest: digest.nullable(),
      irreversibility_class: z.enum(IRREVERSIBILITY).optional(),
    }),
  }),
  redaction: z.looseObject({
    arguments_redacted: z.literal(true),
    credential_alias: text.nullable(),
    secret_material_stored: z.literal(false),
    sanitized_fields: words.optional(),
  }),
  correlation: z.looseObject({
    basis: text,
    traceparent: text.nullable(),
    source_class: z.literal('propagated').nullable(),
  }),
  observation: z
    .looseObject({
      run_id: text,
      seq: count,
      at: text.optional(),
      actor_hash: digest.optional(),
      request_ids: z.array(digest).optional(),
      read: z.looseObject({ complete: z.boolean(), targets: z.array(members) }).optional(),
      policy: z
        .looseObject({
          reason: text,
          drift_state: text,
          establish: z.looseObject({ path: text, outcome: text }).optional(),
          denial: z
            .looseObject({ code: z.int(), origin: text, reason: text, response_digest: digest })
            .optional(),
        })
        .optional(),
    })
    .optional(),
})

const auditRecord = z.looseObject({
  schema: z.literal(RECORD_SCHEMA),
  provider: text,
  record_id: text,
  subject: z.looseObject({ action_class: text, verb: text, target: z.record(text, text) }),
  binding_digest: digest,
  non_claims: words,
  source: z
    .looseObject({ name: text, digest, line: z.int().min(1), entry_digest: digest })
    .optional(),
  occurred_at: text.optional(),
  server: text.optional(),
  request_ids: z.array(digest).optional(),
  attributes: members.optional(),
  actor_hash: digest.optional(),
  object_hash: digest.optional(),
  authenticity: z.looseObject({ method: text, verified: z.boolean(), detail: text }).optional(),
})

const envelope = z.looseObject({
  payloadType: z.literal(PAYLOAD_TYPE),
  payload: text.describe('Base64 of a statement. The signature covers these bytes.'),
  signatures: z.array(z.looseObject({ keyid: text, sig: text })),
})

const subject = z.looseObject({
  name: text,
  digest: z.looseObject({ sha256: hex }),
  annotations: members.optional(),
})
const statementOf = <T extends z.ZodType>(type: string, predicate: T) =>
  z.looseObject({
    _type: z.literal(STATEMENT_TYPE),
    subject: z.array(subject).min(1),
    predicateType: z.literal(type),
    predicate,
  })

const share = z.number().nullable()
const rate = z.looseObject({
  estimate: share,
  low: share,
  high: share,
  level: z.number(),
  cases: count,
  trials: count,
})
const spread = z.number().nullable().describe('null where there is nothing to take it of.')
const ends = z.looseObject({ low: spread, high: spread })
const figure = z.looseObject({ estimate: spread, low: spread, high: spread })
const runPredicate = z.looseObject({
  schema: z.literal(RUN_SCHEMA),
  assurance: z.literal('self_attested'),
  set: named,
  run: z.looseObject({ id: text, created_at: time, limits, versions, environment }),
  plan: z.looseObject({
    seed: count,
    repeats: z.int().min(1),
    planned: count,
    until: until.optional(),
    looks: looks.optional(),
  }),
  counts: z.looseObject({
    planned: count,
    ran: count,
    errors: count,
    retries: count,
    unrun: count,
  }),
  cases: z.array(
    z.looseObject({
      id: text,
      digest,
      left_out: text.nullable().describe('Why the run does not have the case. null: it has.'),
      planned: count,
      passed: count,
      failed: count,
      errors: count,
      retries: count,
      unrun: count,
    }),
  ),
  configurations: z.array(configuration),
  summary: z.array(
    z.looseObject({
      configuration: text,
      model: text,
      simulated: z.boolean(),
      trials: count,
      errors: count,
      retried: count,
      unrun: count,
      lost: z.looseObject({
        attempts: count,
        acted: count,
        changed: count,
        ended: z.record(text, count),
      }),
      rates: z.looseObject(
        Object.fromEntries(Object.keys(METRICS).map((metric) => [metric, rate])),
      ),
      levels,
      reliability: z
        .looseObject({ k: count, passAtK: spread, passHatK: spread, low: spread, high: spread })
        .describe('All of k trials of a case pass (pass^k), over the cases that have k.'),
      duration_ms: z.looseObject({
        median: spread,
        p95: spread,
        intervals: z.looseObject({ median: ends, p95: ends }),
      }),
      per_trial: z.looseObject({ tokens: figure.nullable(), cost_usd: figure.nullable() }),
      calls: z.looseObject({ median: spread }),
      tokens: z.looseObject({ input: count, output: count }).nullable(),
      cost_usd: amount.nullable(),
    }),
  ),
  methods: z
    .looseObject({
      summary: count,
      claims: count.optional(),
      levels: count.optional(),
      outcomes: count.optional(),
    })
    .optional()
    .describe(
      'Versions of how the summary is computed, claims are read, levels derived and ends judged.',
    ),
  logs: z
    .record(text, z.looseObject({ lines: count, root: digest }))
    .describe(
      'By file: the Merkle tree (RFC 6962) over its lines, line feeds apart and empty lines left out.',
    ),
  identical: z.array(text).optional().describe('Their repeats are the same, and count once.'),
  absent: z
    .array(
      z.looseObject({
        case: text,
        configuration: text,
        trials: z.array(count),
        more: count.optional().describe('Trials besides, where there are too many to list.'),
      }),
    )
    .describe('Planned trials that have no line in the trial log; at most 1,000 are listed.'),
  files: z.array(z.looseObject({ path: text, digest, size_bytes: count })),
  does_not_establish: words,
})

const testResult = z.looseObject({
  result: z.enum(['PASSED', 'WARNED', 'FAILED']),
  configuration: z
    .array(z.looseObject({ name: text, uri: text, digest: z.looseObject({ sha256: hex }) }))
    .min(1),
  passedTests: words,
  warnedTests: words,
  failedTests: words,
})

const probePredicate = z.looseObject({
  schema: text,
  set: named,
  subject: z.looseObject({ url: text, transport: text }),
  outcome: text,
  tasks: z.array(z.looseObject({ id: text, attempted: z.boolean(), passed: z.boolean() })),
  attempted: count,
  passed: count,
  result_digest: digest,
  does_not_establish: words,
})

const set = z.looseObject({
  id: text,
  version: text,
  released: z.iso.date(),
  title: text,
  runs: text,
  cases: z.array(z.looseObject({ id: text, digest, document: members })).min(1),
  doesNotEstablish: words,
})

/** File name under `fixtures/schemas/` -> what it describes, and how. */
const PUBLISHED: { [name: string]: { title: string; schema: z.ZodType } } = {
  manifest: { title: 'manifest.json of a run', schema: manifest },
  trial: { title: 'A line of trials.ndjson', schema: trial },
  'decision-line': {
    title: `A line of decisions.ndjson: one element of observed_tool_decisions (${SURFACE_SCHEMA}), and whose it is`,
    schema: z.looseObject({ key: text, attempt: count, decision: describes<Decision>()(decision) }),
  },
  transcript: {
    title: 'A line of transcripts.ndjson',
    schema: describes<TranscriptLine>()(transcript),
  },
  'audit-record': { title: 'An imported audit record', schema: auditRecord },
  envelope: { title: 'receipt.json and test-result.json: a DSSE envelope', schema: envelope },
  'run-statement': {
    title: 'The payload of a run’s receipt.json',
    schema: statementOf(RUN_PREDICATE, runPredicate),
  },
  'trial-proof': {
    title: 'What receipt.prove shows: one trial of a signed run',
    schema: z.looseObject({
      schema: z.literal(PROOF_SCHEMA),
      line: text.describe('The trial’s line of trials.ndjson, without its line feed.'),
      index: count.describe('Its place among the lines, from 0.'),
      size: count,
      path: z.array(digest).describe('RFC 9162, section 2.1.3.1: from the line upwards.'),
      decisions: words,
      audit: words,
      transcripts: words,
      receipt: envelope,
    }),
  },
  'probe-statement': {
    title: 'The payload of a connection test’s receipt',
    schema: statementOf(PROBE_PREDICATE, probePredicate),
  },
  'test-result': {
    title: 'The payload of test-result.json',
    schema: statementOf(TEST_RESULT_TYPE, testResult),
  },
  'scenario-set': { title: 'A published set of cases', schema: set },
}

/** Every published schema by the name of its file, JSON Schema draft 2020-12. */
export function fileSchemas(): { [name: string]: JsonObject } {
  return Object.fromEntries(
    Object.entries(PUBLISHED).map(([name, { title, schema }]) => {
      const made = z.toJSONSchema(schema, { io: 'input', target: 'draft-2020-12' })
      return [name, JSON.parse(JSON.stringify({ ...made, title })) as JsonObject]
    }),
  )
}
