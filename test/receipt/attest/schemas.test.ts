/** The published JSON Schemas describe what a real run writes: every file, every member. */
import assert from 'node:assert/strict'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { cases, harness, probe, receipt } from '../../../lib/index.ts'
import { requireTranscript } from '../../../lib/log/index.ts'
import { fileSchemas } from '../../../lib/receipt/attest/schemas.ts'
import { readDecision } from '../../../lib/receipt/surface/decision.ts'
import fc from '../../property.ts'
import { temporaryFolder } from '../../temporary.ts'
import { linesIn, original, root, sealed, trials } from './sealed-run.ts'

type Schema = { [name: string]: unknown }

const folder = new URL('../../../fixtures/schemas/', import.meta.url)
const stored = (name: string): Schema =>
  JSON.parse(readFileSync(new URL(`${name}.json`, folder), 'utf8'))
const read = (file: string) => JSON.parse(readFileSync(join(original, file), 'utf8'))
const rows = (file: string) => linesIn(original, file).map((line) => JSON.parse(line))

const exports = rows('audit.ndjson').flatMap(
  ({ provider, text }) => receipt.importAudit(provider, text).records,
)

/** What a run writes, by the schema that describes it. */
const WRITTEN: { [schema: string]: unknown[] } = {
  manifest: [read('manifest.json')],
  trial: rows('trials.ndjson'),
  'decision-line': rows('decisions.ndjson'),
  transcript: rows('transcripts.ndjson'),
  'audit-record': exports,
  envelope: [read('receipt.json'), read('test-result.json')],
  'run-statement': [sealed.statement],
  'test-result': [sealed.testResult.statement],
  'trial-proof': [(await receipt.prove(original, trials[0].key)).toJSON()],
  'probe-statement': [(await probe.connect('https://localhost/mcp')).receipt().statement],
  'scenario-set': [JSON.parse(readFileSync(join(root, 'small-set/1.0.json'), 'utf8'))],
}

/** Beside what the schema names, these hold members that somebody else names. */
const OPEN = new Set(['scenario-set', 'probe-statement'])

/** Every object that lists its members, closed: a member that the schema does not name is an error. */
function closed(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(closed)
  if (schema === null || typeof schema !== 'object') return schema
  const made = Object.fromEntries(
    Object.entries(schema).map(([name, value]) => [name, closed(value)]),
  )
  return 'properties' in schema ? { ...made, additionalProperties: false } : made
}

const compiled = (name: string) =>
  new Ajv2020({ strict: false, validateFormats: false }).compile(stored(name))

describe('published schemas', () => {
  test('the files are those that the code describes', () => {
    const made = fileSchemas()
    // `npm run schemas` writes them anew.
    if (process.env['WRITE_SCHEMAS'] === '1')
      for (const [name, schema] of Object.entries(made))
        writeFileSync(new URL(`${name}.json`, folder), `${JSON.stringify(schema, null, 2)}\n`)
    assert.deepEqual(Object.keys(made).sort(), Object.keys(WRITTEN).sort())
    for (const [name, schema] of Object.entries(made)) assert.deepEqual(stored(name), schema, name)
    for (const name of readdirSync(folder))
      assert.equal(stored(name.replace('.json', ''))['$schema'], made['trial']?.['$schema'])
  })

  for (const [name, values] of Object.entries(WRITTEN)) {
    test(`${name}.json holds for everything of that kind that a run wrote`, () => {
      assert.ok(values.length > 0)
      const validate = compiled(name)
      for (const value of values) assert.ok(validate(value), JSON.stringify(validate.errors))
    })

    test(`${name}.json refuses a member of the wrong kind, and a missing one`, () => {
      const validate = compiled(name)
      const value = values[0] as { [name: string]: unknown }
      for (const member of (stored(name)['required'] as string[]) ?? []) {
        assert.ok(!validate({ ...value, [member]: () => 0 }), `${member} may be anything`)
        const { [member]: _, ...rest } = value
        assert.ok(!validate(rest), `${member} may be missing`)
      }
    })
  }

  for (const [name, values] of Object.entries(WRITTEN).filter(([name]) => !OPEN.has(name))) {
    test(`${name}.json names every member that a run wrote`, () => {
      const validate = new Ajv2020({ strict: false, validateFormats: false }).compile(
        closed(stored(name)) as Schema,
      )
      const found = values.flatMap((value) =>
        validate(value)
          ? []
          : (validate.errors ?? []).map(
              (one) => `${one.instancePath}: ${one.params['additionalProperty'] ?? one.message}`,
            ),
      )
      // A rate has more members than a reader needs: those of the statistics, which describe themselves.
      const unnamed = [...new Set(found)].filter(
        (one) => !/^\/predicate\/summary\/\d+\/rates\//.test(one),
      )
      assert.deepEqual(unnamed, [])
    })
  }

  test('transcript.json holds for an agent of one’s own, whose model nobody knows', async () => {
    const script = 'console.log("I did nothing.")'
    const run = await harness
      .run(await cases.load('cases/lying_success/deploy-key.yaml'))
      .config('function', { agent: harness.agent('function', () => 'I did nothing.') })
      .config('program', {
        agent: harness.agent.command({ name: 'program', command: 'node', args: ['-e', script] }),
      })
      .repeat(1)
      .out(join(temporaryFolder('schemas'), 'run'))
      .quiet()
    const validate = compiled('transcript')
    const lines = linesIn(run.dir as string, 'transcripts.ndjson').map((line) => JSON.parse(line))
    assert.deepEqual(
      lines.map(({ model }) => model),
      lines.map(() => null),
    )
    assert.ok(lines.length > 0)
    for (const line of lines) assert.ok(validate(line), JSON.stringify(validate.errors))
  })

  /** What a reader refuses beyond the shape of members: how two of them belong together. */
  const READERS: { [schema: string]: { read(value: unknown): unknown; beyond: RegExp } } = {
    transcript: {
      read: (value) => requireTranscript(value, () => 'x'),
      beyond: /got times of another shape/,
    },
    'decision-line': {
      read: (value) => readDecision((value as { decision: unknown }).decision, 'x'),
      beyond: /as side_effect_asserted says|an ISO 8601 time/,
    },
  }
  for (const [name, { read, beyond }] of Object.entries(READERS))
    test(`a reader of ours takes whatever ${name}.json lets through`, () => {
      const validate = compiled(name)
      let through = 0
      fc.assert(
        fc.property(
          fc.constantFrom(...(WRITTEN[name] as object[])),
          fc.nat(),
          fc.oneof(fc.jsonValue(), fc.constant(undefined), fc.nat(), fc.string(), fc.constant([])),
          fc.constantFrom(...new Set(namesIn(stored(name)))),
          (value, at, other, member) => {
            const changed = structuredClone(value)
            const holders = holdersIn(changed)
            const holder = holders[at % holders.length] as Holder
            if (other === undefined) delete holder[member]
            else holder[member] = other
            if (!validate(changed)) return
            through++
            try {
              read(changed)
            } catch (cause) {
              assert.match((cause as Error).message, beyond)
            }
          },
        ),
        { numRuns: 3000 },
      )
      assert.ok(through > 50, `${through} let through`)
    })
})

type Holder = { [member: string]: unknown }

/** Every object in a value. */
function holdersIn(value: unknown): Holder[] {
  if (value === null || typeof value !== 'object') return []
  const inside = Object.values(value).flatMap(holdersIn)
  return Array.isArray(value) ? inside : [value as Holder, ...inside]
}

/** Every member that a schema names, wherever. */
function namesIn(schema: unknown): string[] {
  return holdersIn(schema).flatMap(({ properties }) => Object.keys(properties ?? {}))
}
