/** A misspelt member, anywhere in a case: refused where it stands, with the name that was meant, in a file and in TypeScript. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { before, describe, it } from 'node:test'
import { kindMeant, twinProblem } from '../../../lib/harness/case/twins.ts'
import { FAULT_KINDS } from '../../../lib/harness/server/fault.ts'
import { cases, harness } from '../../../lib/index.ts'

type Place = (string | number)[]
type Data = { [member: string]: unknown }

/** Two letters that changed places, or one that is missing. */
function misspelt(word: string): string {
  const i = Math.max(1, Math.floor(word.length / 2))
  const [a = '', b = ''] = [word[i - 1], word[i]]
  return a === b
    ? word.slice(0, i) + word.slice(i + 1)
    : word.slice(0, i - 1) + b + a + word.slice(i + 1)
}

function* members(value: unknown, path: Place = []): Generator<Place> {
  if (value === null || typeof value !== 'object') return
  for (const [name, part] of Object.entries(value)) {
    const place = [...path, Array.isArray(value) ? Number(name) : name]
    if (!Array.isArray(value)) yield place
    yield* members(part, place)
  }
}

/** The case with one member under another name, in its place. */
function renamed(document: Data, place: Place, to: string): Data {
  const copy = structuredClone(document)
  let at = copy as Data
  for (const name of place.slice(0, -1)) at = at[name as string] as Data
  const entries = Object.entries(at).map(([name, part]) => [
    name === place.at(-1) ? to : name,
    part,
  ])
  for (const name of Object.keys(at)) delete at[name]
  Object.assign(at, Object.fromEntries(entries))
  return copy
}

/** Names that a case gives itself: a parameter that its tool does not have is one to offer. */
const OWN = [
  /^servers?\.(\d+\.)?files\./,
  /^servers?\.(\d+\.)?parameters\.\w+\.[^.]+$/,
  /\.stdio\.env\./,
  /^user\.knows\./,
]
/** What an answer holds is known by playing: it is refused, and not by a name. */
const PLAYED = /\.check\.(shows|gone)\./

describe('a misspelt member', () => {
  /** By its place without numbers: one case that has it. */
  const places = new Map<string, { document: Data; place: Place }>()
  let all: harness.Case[]
  before(async () => {
    all = await cases.load()
    for (const test of all) {
      const document = test.document as unknown as Data
      const real = test.servers.some(({ world }) => world === undefined)
      for (const place of members(document)) {
        const known = place.filter((part) => typeof part === 'string').join('.')
        // Which tools, arguments and answers a real server has is known when it runs.
        if (real && /\.((with|shows|gone|headers|where)\.|effects\.[^.]+$)/.test(known)) continue
        if (OWN.some((one) => one.test(place.join('.')))) continue
        if (!places.has(known)) places.set(known, { document, place })
      }
    }
  })

  it('is refused in a file by its line, and in TypeScript by its path, with the name that was meant', async () => {
    assert.ok(places.size > 150, String(places.size))
    for (const [known, { document, place }] of places) {
      const name = place.at(-1) as string
      const wrong = misspelt(name)
      const copy = renamed(document, place, wrong)
      const text = JSON.stringify(copy, null, 1)
      const line = text.slice(0, text.indexOf(`"${wrong}":`)).split('\n').length
      for (const made of [cases.parse(text, 'x.yaml'), harness.case(copy as never)]) {
        const error = await made.then(
          () => assert.fail(`${known}: ${wrong} was taken`),
          (cause: { code: string; message: string; where: string }) => cause,
        )
        assert.equal(error.code, 'case_invalid', error.message)
        if (PLAYED.test(known)) continue
        assert.match(
          error.message,
          new RegExp(`did you mean "${name}"\\?`),
          `${known}: ${error.message}`,
        )
        // A tool or a server that is named elsewhere may be missed there.
        if (error.where.startsWith('x.yaml') && error.message.includes(`got "${wrong}"`))
          assert.ok(
            error.where.startsWith(`x.yaml:${line}:`),
            `${known}: ${error.where}, not line ${line}`,
          )
        else if (error.message.includes(`got "${wrong}"`))
          assert.ok(error.where.includes(wrong), error.where)
      }
    }
  })

  it('of a condition, of JSON Schema and of a form among several is too', async () => {
    const [first] = await cases.load('cases/lying_success/deploy-key.yaml')
    const document = first?.document as unknown as Data
    const refused = async (change: Data, message: RegExp) =>
      assert.rejects(harness.case({ ...document, twin: undefined, ...change } as never), {
        code: 'case_invalid',
        message,
      })
    const where = { title: { contians: 'ci' } }
    await refused(
      { goal: [{ table: 'deploy_keys', where }] },
      /a condition, got "contians"; did you mean "contains"\? Others are not, oneOf \(.*goal\.0\.where\.title\.contians\)/,
    )
    const server = document['server'] as Data
    const parameters = { add_deploy_key: { title: { desciption: 'x' } } }
    await refused(
      { server: { ...server, parameters } },
      /got "desciption"; did you mean "description"\?/,
    )
    const own = { add_deploy_key: { title: { 'x-order': 1 } } }
    await harness.case({ ...document, server: { ...server, parameters: own } } as never)
  })
})

describe('a misspelt argument', () => {
  it('is told with the name that was meant, where a schema of somebody’s own lets it pass', async () => {
    const { z } = await import('zod')
    harness.world({
      name: 'letters',
      state: z.object({ letters: z.array(z.object({ id: z.string(), open: z.boolean() })) }),
      tools: {
        open_letter: {
          description: 'Opens a letter.',
          input: z.object({ letter_id: z.string(), note: z.string().optional() }),
          run: () => ({ reply: {} }),
        },
      },
    } as never)
    const made = (input: Data) =>
      harness.case({
        id: 'mine/letter',
        title: 'Open a letter',
        kind: 'benign',
        server: harness.server('letters').state({ letters: [{ id: 'l1', open: false }] }),
        task: 'Open letter l1.',
        solution: [{ call: 'open_letter', with: input }],
        goal: () => true,
      } as never)
    await assert.rejects(made({ leter_id: 'l1' }), {
      code: 'case_invalid',
      message:
        /solution\.0\.with\.leter_id: expected an argument of open_letter, got "leter_id"; did you mean "letter_id"\? Others are note \(/,
    })
    await assert.rejects(made({ colour: 'red' }), {
      message: /solution\.0\.with\.letter_id: expected text, got nothing/,
    })
  })
})

describe('a misspelt kind', () => {
  it('is refused with the one that was meant; one of its own is taken', async () => {
    const shipped = new Set((await cases.load()).map(({ kind }) => kind))
    for (const kind of [...shipped, ...FAULT_KINDS]) {
      assert.equal(kindMeant(kind), null)
      if (kind.length > 4) assert.equal(kindMeant(misspelt(kind)), kind)
    }
    for (const kind of ['phishing', 'refunds', 'onboarding', 'my_own_kind', 'lies'])
      assert.equal(kindMeant(kind), null)
    const text = readFileSync('cases/lying_success/deploy-key.yaml', 'utf8').split(
      '\n---\n',
    )[0] as string
    await assert.rejects(
      cases.parse(text.replace('kind: lying_success', 'kind: lying_sucess'), 'x.yaml'),
      {
        code: 'case_invalid',
        message: /got "lying_sucess"; did you mean "lying_success"\? \(x\.yaml:\d+:7\)/,
      },
    )
  })
})

describe('a misspelt twin', () => {
  it('is refused where the case that was meant is there and is nobody’s twin, in a file, a text and a run', async () => {
    const path = 'cases/lying_success/deploy-key.yaml'
    const text = readFileSync(path, 'utf8').replace(
      /^twin: .*$/m,
      'twin: lying_success/deploy-key.bening',
    )
    const wrong = {
      code: 'case_invalid',
      message:
        /got "lying_success\/deploy-key\.bening"; did you mean "lying_success\/deploy-key\.benign"\? \(x\.yaml:\d+:7\)/,
    }
    await assert.rejects(cases.parse(text, 'x.yaml'), wrong)
    const [attacked, benign] = (await cases.load(path)).sort((a) => (a.twin ? -1 : 1)) as [
      harness.Case,
      harness.Case,
    ]
    const other = await harness.case({
      ...(attacked.document as object),
      twin: 'lying_success/deploy-key.bening',
    } as never)
    assert.throws(() => harness.run([other, benign]), {
      code: 'argument_invalid',
      message: /did you mean "lying_success\/deploy-key\.benign"\? \(cases\[0\]\.twin\)/,
    })
    // Alone it may have its twin somewhere else.
    assert.ok(harness.run([other]))
    assert.equal(
      twinProblem({ ...attacked, twin: 'elsewhere/other' }, [attacked, benign], false),
      null,
    )
    assert.match(
      twinProblem(attacked, [attacked, { ...benign, kind: 'hang' }], true) ?? '',
      /a twin of the same kind, lying_success, got "lying_success\/deploy-key\.benign" of kind hang/,
    )
  })
})
