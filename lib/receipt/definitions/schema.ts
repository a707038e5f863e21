/** What a file of classifiers and importers may hold, for checking and for editors. */
import { z } from 'zod'
import { IRREVERSIBILITY } from '../surface/classifier.ts'
import { CLASSIFIERS_SCHEMA } from '../surface/compact.ts'

const name = z.string().min(1)
const names = z.array(name)
const by = <T extends z.ZodType>(value: T) => z.record(name, value)
const plain = z.union([z.string(), z.number(), z.boolean()])

const condition = z.strictObject({ argument: name, is: plain.optional() })
const whole = z.union([
  z.strictObject({ empty: name }),
  z.strictObject({ member: name, is: plain }),
  z.strictObject({ count: name }),
  z.strictObject({
    size: names,
    page: names,
    standard: z.int().min(1),
    most: z.int().min(1),
  }),
  z.strictObject({ unpaged: name }),
])
const answer = z.strictObject({
  items: z.string(),
  single: z.literal(true).optional(),
  item: name.optional(),
  from: by(names).optional(),
  bare: names.optional(),
  beside: names.optional(),
  whole: z.array(whole).optional(),
  failed: z.array(z.strictObject({ member: name, is: plain })).optional(),
})
const read = z.strictObject({
  verb: name,
  answers: z.array(answer),
  arguments: names.optional(),
  only: z.array(condition).optional(),
})
const binding = z.strictObject({
  all: names,
  any: names.optional(),
  agree: names.optional(),
})
const shown = z.union([
  name,
  z.strictObject({ by: z.enum(['presence', 'absence']), reads: names }),
  z.strictObject({ by: z.literal('value'), reads: names, member: name, is: name.optional() }),
  z.strictObject({ by: z.literal('nothing'), because: name }),
])
const effect = z.strictObject({
  shown,
  recorded: z.union([name, names]),
  undone: names.optional(),
  once: z.literal(true).optional(),
  binding: binding.optional(),
})
const field = z.strictObject({
  from: names.min(1).optional(),
  hash: z
    .string()
    .regex(/^[a-z0-9_]+$/)
    .optional(),
  kind: z.enum(['flag', 'amount']).optional(),
  fold: z.literal('lower').optional(),
  named: by(z.string().nullable()).optional(),
})
const group = z.strictObject({
  resource_type: name,
  category: name.optional(),
  class: name.optional(),
  scope: name.optional(),
  irreversibility: z.enum(IRREVERSIBILITY).optional(),
  tools: by(z.union([name, z.strictObject({ argument: name, verbs: by(name) })])),
  only: by(z.array(condition)).optional(),
  implied: by(by(z.string())).optional(),
  fields: by(field),
  required: names.optional(),
  binding,
  scoped: names.optional(),
  effects: by(effect),
  reads: by(read).optional(),
})
const told = z.strictObject({ member: name, is: z.array(plain).min(1).optional() })
const importer = z.strictObject({
  name,
  provider: name,
  recognises: names.min(1),
  entries: name.optional(),
  kind: name,
  id: name,
  kinds: by(z.strictObject({ action_class: name, verb: name, values: by(name) })),
  counts: z.array(told).optional(),
  failed: z.array(told).optional(),
  refused: z.array(told).optional(),
  takes_back: names.optional(),
  occurred_at: name.optional(),
  actor: name.optional(),
  request_ids: names.optional(),
  object: name.optional(),
})

export const definitionsSchema = z.strictObject({
  schema: z.literal(CLASSIFIERS_SCHEMA),
  provider: name,
  servers: names.min(1).optional(),
  classes: z.array(group).optional(),
  reads: names.optional(),
  importers: z.array(importer).optional(),
})

/** The JSON Schema of such a file, for editors: `fixtures/schemas/classifiers.json`. */
export function definitionsJsonSchema(): object {
  return z.toJSONSchema(definitionsSchema)
}
