/** The quick way to a trial's record gives what the strict reader and the schema give, and takes no line that they refuse. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { before, describe, it } from 'node:test'
import { cases, harness } from '../../lib/index.ts'
import { parse } from '../../lib/json.ts'
import { recordIn } from '../../lib/log/record-line.ts'
import { requireTrialRecord } from '../../lib/log/records.ts'
import fc from '../property.ts'
import { temporaryFolder } from '../temporary.ts'

const made = temporaryFolder('record-line')

let lines: string[]
before(async () => {
  const some = (await cases.load(['cases/lying_success', 'cases/result_injection'])).slice(0, 6)
  const { dir } = await harness
    .run(some)
    .config('naive', { model: 'sim/naive' })
    .config('careful', { model: 'sim/careful' })
    .repeat(2)
    .quiet()
    .out(join(made, 'run'))
  lines = readFileSync(join(dir, 'trials.ndjson'), 'utf8').trimEnd().split('\n')
  const user = { turns: 2, tokens: { input: 7, output: 1 }, cost_usd: null }
  const last = lines.at(-1) as string
  lines.push(last.replace(',"start_digest":', `,"user":${JSON.stringify(user)}$&`))
})

type Came = { value?: string; refused?: { code: string; message: string } }

function came(read: () => unknown): Came {
  try {
    // As text: the order of members counts too.
    return { value: JSON.stringify(read()) }
  } catch (error) {
    const { code, message } = error as { code: string; message: string }
    return { refused: { code, message } }
  }
}

function sameBothWays(line: string): void {
  const long = came(() => requireTrialRecord(parse(line, 'a:1'), 'a:1'))
  assert.deepEqual(
    came(() => recordIn(line, () => 'a:1')),
    long,
    line,
  )
  // What was kept of the first reading gives the same again.
  assert.deepEqual(
    came(() => recordIn(line, () => 'a:1')),
    long,
    line,
  )
}

describe('a line of trials.ndjson', () => {
  it('as a run writes it', () => {
    for (const line of lines) sameBothWays(line)
  })

  it('with a member of another value, whatever it is', () => {
    const values = fc.oneof(
      fc.json(),
      fc.constantFrom(
        ...[
          'null',
          'true',
          '-1',
          '-0',
          '1.5',
          '1e3',
          '01',
          '9007199254740993',
          '""',
          '"é"',
          '"\\ud800"',
        ],
        ...[
          '"2026-02-29T00:00:00.000Z"',
          '"2026-12-31T23:59:59.999Z"',
          '"2026-02-30T00:00:00.000Z"',
        ],
        ...['"error"', '{"a":1,"a":2}', '[ ]', ' 1', '0.1234567890123456', '1e400', '"a\u0001"'],
        ...['{"code":"x","message":"y"}', '[{"x":1,"ending":"y"}]', '"\ud83d\ude00"', '"}"'],
      ),
    )
    const record = JSON.parse(lines[0] as string) as object
    for (const name of Object.keys(record))
      fc.assert(
        fc.property(values, fc.nat(), (value, nth) => {
          const line = lines[nth % lines.length] as string
          const entries = Object.entries(JSON.parse(line) as object)
          const members = entries.map(
            ([key, own]) => `${JSON.stringify(key)}:${key === name ? value : JSON.stringify(own)}`,
          )
          sameBothWays(`{${members.join(',')}}`)
        }),
        { numRuns: 40 },
      )
  })

  it('with members left out, added, given twice or moved', () => {
    fc.assert(
      fc.property(fc.nat(), fc.nat(), fc.nat(), fc.nat({ max: 3 }), (nth, from, to, what) => {
        const line = lines[nth % lines.length] as string
        const members = Object.entries(JSON.parse(line) as object).map(
          ([key, own]) => `${JSON.stringify(key)}:${JSON.stringify(own)}`,
        )
        const [taken] = members.splice(from % members.length, what === 3 ? 0 : 1)
        const at = to % members.length
        if (what === 1) members.splice(at, 0, taken as string)
        if (what === 2) members.splice(at, 0, taken as string, taken as string)
        if (what === 3) members.splice(at, 0, `"more":{"ending":"x","levels":{}}`)
        sameBothWays(`{${members.join(',')}}`)
      }),
      { numRuns: 300 },
    )
  })

  it('with characters taken out or put in anywhere', () => {
    fc.assert(
      fc.property(
        fc.nat(),
        fc.nat(),
        fc.nat({ max: 3 }),
        fc.string({ maxLength: 3 }),
        (nth, at, cut, more) => {
          const line = lines[nth % lines.length] as string
          const from = at % line.length
          sameBothWays(line.slice(0, from) + more + line.slice(from + cut))
        },
      ),
      { numRuns: 500 },
    )
  })
})
