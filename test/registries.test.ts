/**
 * Registries that cannot be half filled. Each public statistic, kind of chart, importer, classifier, world and pattern has
 * its known answers or sample, an example that a test runs, and a row in its README; each fault has a case with its twin, a
 * test and a row. What is missing is said in a sentence.
 *
 * What the shipped cases are held to stands in `test/harness/catalogue.test.ts`.
 */
import assert from 'node:assert/strict'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { CHART_KINDS } from '../lib/chart/chart.ts'
import { casesIn } from '../lib/harness/case/load.ts'
import { PLOT_KINDS } from '../lib/harness/report/plot-kinds.ts'
import { FAULT_KINDS } from '../lib/harness/server/fault.ts'
import { chart, receipt, scenarios, stats } from '../lib/index.ts'
import type { Importer } from '../lib/receipt/audit/importer.ts'
import { importerOf, importers } from '../lib/receipt/audit/importers.ts'
import { checkClassifier } from '../lib/receipt/surface/definition.ts'
import { worldNamed, worldNames } from '../lib/world/index.ts'
import { corners, samples } from './chart/samples.ts'

const root = join(import.meta.dirname, '..')
const read = (path: string) => readFileSync(join(root, path), 'utf8')
const there = (path: string) => existsSync(join(root, path))

/** The rows of a README's table by the name in the first column, each with its other cells. */
function rowsOf(path: string): Map<string, string[]> {
  const rows = [...read(path).matchAll(/^\| `([\w-]+)` \|(.*)\|$/gm)]
  return new Map(rows.map(([, name, rest]) => [name as string, cellsOf(rest as string)]))
}

function cellsOf(row: string): string[] {
  return row.split('|').map((cell) => cell.trim())
}

/** The docstring before an exported function of a room. */
function docOf(room: string, name: string): string {
  const head = new RegExp(
    `(/\\*\\*(?:(?!\\*/)[\\s\\S])*\\*/)\\nexport (?:async )?(?:function|const|class) ${name}\\b`,
  )
  for (const path of globSync(`lib/${room}/**/*.ts`, { cwd: root })) {
    const doc = head.exec(read(path))?.[1]
    if (doc !== undefined) return doc
  }
  return ''
}

/** Fails with one sentence per thing: `statistic "agrestiCoull" lacks a row in lib/stats/README.md`. */
function whole(
  kind: string,
  names: Iterable<string>,
  lacks: (name: string) => (string | false | undefined)[],
) {
  const missing = [...names].flatMap((name) =>
    lacks(name).flatMap((what) =>
      what === false || what === undefined ? [] : [`${kind} "${name}" lacks ${what}`],
    ),
  )
  assert.deepEqual(missing, [])
}

/** Fails when a README has rows for what is no longer there. */
function noMore(path: string, names: readonly string[]) {
  const stray = [...rowsOf(path).keys()].filter((name) => !names.includes(name))
  assert.deepEqual(stray, [], `${path} has rows for what does not exist`)
}

/** The cases of a fault's folder that have a twin, each with the faults of its servers. */
function adversarial(kind: string): { id: string; file: string; faults: string[] }[] {
  return globSync(`cases/${kind}/*.yaml`, { cwd: root }).flatMap((file) =>
    casesIn(read(file), file).flatMap(({ test: { id, twin, servers } }) =>
      twin === null
        ? []
        : { id, file, faults: servers.flatMap((server) => server.faults.map((one) => one.kind)) },
    ),
  )
}

/** Tests of a room, by path. */
const testsOf = (room: string) =>
  globSync(`test/${room}/**/*.test.ts`, { cwd: root }).map((path) => ({ path, text: read(path) }))

/** What a statistic lacks of its known answers, `from` being the table or the test that its row names. */
function unanswered(name: string, from: string, tests: { path: string; text: string }[]) {
  const word = new RegExp(`\\b${name}\\b`)
  const topic = /^fixtures\/stats\/([\w-]+)\.json$/.exec(from)?.[1]
  if (topic === undefined) {
    const named = tests.find(({ path }) => path === from)
    if (named)
      return !word.test(named.text) && `known answers: its row names ${from}, which does not ask it`
    return 'known answers: a table fixtures/stats/<topic>.json, or a test in test/stats/, that its row in lib/stats/README.md names'
  }
  if (!there(from)) return `known answers: its row names the table ${from}, which is not there`
  const readers = tests.filter(({ text }) => text.includes(`'${topic}'`))
  if (readers.length === 0)
    return `a test of its known answers: none in test/stats/ reads ${from} as '${topic}'`
  return (
    !read(from).includes(`"f": "${name}"`) &&
    !readers.some(({ text }) => word.test(text)) &&
    `a test of its known answers: ${readers.map(({ path }) => path).join(', ')} reads ${from} and does not name it`
  )
}

/** Each kind of audit entry that an effect of a classifier says it is recorded by. */
function recordedBy(classifiers: readonly receipt.Classifier[]) {
  return classifiers.flatMap(({ category, resource_type: type, effects }) =>
    Object.entries(effects ?? {}).flatMap(([verb, { recorded }]) =>
      (Array.isArray(recorded) ? recorded : []).map((kind) => ({ category, type, verb, kind })),
    ),
  )
}

describe('registries', () => {
  it('each public statistic has an example, a row in lib/stats/README.md, and known answers', () => {
    const README = 'lib/stats/README.md'
    const rows = rowsOf(README)
    // `argument.test.ts` asks only what is refused.
    const tests = testsOf('stats').filter(({ path }) => !path.endsWith('argument.test.ts'))
    const names = Object.entries(stats).flatMap(([name, value]) =>
      typeof value === 'function' ? [name] : [],
    )
    whole('statistic', names, (name) => {
      const from = /`([^`]+)`/.exec(rows.get(name)?.at(1) ?? '')?.[1] ?? ''
      return [
        !docOf('stats', name).includes('@example') && 'an @example in its docstring',
        !rows.has(name) && `a row in ${README}`,
        unanswered(name, from, tests),
      ]
    })
    noMore(README, names)
  })

  it('each kind of chart has a function, an example, a sample, its corners, a picture, a text test and a row', () => {
    const README = 'lib/chart/README.md'
    const rows = rowsOf(README)
    const drawn = testsOf('chart').find(({ path }) => path.endsWith('text.test.ts'))?.text ?? ''
    // More cases than lines can show turn a slope chart into a table of transitions.
    const drawnBy: { [kind: string]: string } = { transition: 'slope' }
    whole('chart', CHART_KINDS, (kind) => [
      typeof (chart as Record<string, unknown>)[drawnBy[kind] ?? kind] !== 'function' &&
        `a function chart.${kind} in lib/chart/index.ts`,
      !docOf('chart', drawnBy[kind] ?? kind).includes('@example') && 'an @example in its docstring',
      !Object.hasOwn(samples, kind) && 'rows in test/chart/samples.ts',
      ...['no rows', 'one row', 'hostile']
        .map((corner) => `${drawnBy[kind] ?? kind}, ${corner}`)
        .map(
          (corner) =>
            !Object.hasOwn(corners, corner) && `'${corner}' under corners in test/chart/samples.ts`,
        ),
      !there(`fixtures/chart/${kind}.svg`) && `a picture fixtures/chart/${kind}.svg`,
      !drawn.includes(`'${kind}'`) && 'a test of its text in test/chart/text.test.ts',
      !rows.has(kind) && `a row in ${README}`,
      rows.has(kind) &&
        (rows.get(kind)?.[1] === 'yes') !== (PLOT_KINDS as readonly string[]).includes(kind) &&
        `the right word under run.plot in ${README}`,
    ])
    noMore(README, CHART_KINDS)
    const others = ['Chart', 'show', 'encodeImage', 'imageProtocol']
    const unnamed = Object.entries(chart).flatMap(([name, value]) =>
      typeof value === 'function' && !others.includes(name) ? [name] : [],
    )
    assert.deepEqual(
      unnamed.filter((name) => !(CHART_KINDS as readonly string[]).includes(name)),
      [],
      'a function that draws is a kind of chart: add it to CHART_KINDS in lib/chart/chart.ts',
    )
  })

  it('each importer has documented entries, is recognised by them, verifies a call, has its kinds in a classifier, and a row', () => {
    const README = 'lib/receipt/audit/README.md'
    const rows = rowsOf(README)
    const classes = new Set(receipt.classifiers().map((one) => one.resource_type))
    const byName = new Map(importers().map((one) => [one.name, one]))
    const effectsRecorded = recordedBy(receipt.classifiers())
    const recorded = new Set(
      effectsRecorded.map(({ type, verb, kind }) => `${type} ${verb} ${kind}`),
    )
    const risen = new Set(
      globSync('fixtures/evidence/*.json', { cwd: root })
        .flatMap((path) => (JSON.parse(read(path)) as { rows: EvidenceRow[] }).rows)
        .flatMap((row) => (row.highest === 'verified' && row.export ? [row.export.importer] : [])),
    )
    // One entry may be records of several verbs; its kind names the first.
    assert.deepEqual(
      effectsRecorded.flatMap(({ category, type, verb, kind }) =>
        [...byName.values()].some(({ kinds }) => kinds[kind]?.action_class === type)
          ? []
          : [
              `classifier "${category}" has "${kind}" in effects.${verb}.recorded, which is in kinds of no importer of lib/receipt/audit/ as "${type}"`,
            ],
      ),
      [],
    )
    whole('importer', byName.keys(), (name) => {
      const path = `fixtures/audit/${name}.json`
      const table = there(path)
        ? (JSON.parse(read(path)) as { source?: string; tool?: string; rows: Row[] })
        : null
      const { provider, kinds } = byName.get(name) as Importer
      const effects = new Set(Object.values(kinds).map((kind) => kind.action_class))
      return [
        !table && `known answers in ${path}`,
        table !== null && !(table.source && table.tool) && `source and tool in ${path}`,
        table !== null &&
          !table.rows.some(({ input }) => importerOf(input as never)?.name === name) &&
          'the recognition of its entries, so that an export is read without its name',
        table !== null &&
          !table.rows.some(({ expected }) => 'record' in expected) &&
          'an entry that becomes a record',
        table?.rows.every(({ expected }) => 'record' in expected) && 'an entry that must not count',
        !risen.has(name) && `a row in fixtures/evidence/ with its export and "highest": "verified"`,
        ...Object.entries(kinds).map(
          ([kind, { action_class, verb }]) =>
            classes.has(action_class) &&
            !recorded.has(`${action_class} ${verb} ${kind}`) &&
            `its kind "${kind}" in effects.${verb}.recorded of a classifier of "${action_class}" in lib/receipt/surface/classifiers/`,
        ),
        ...[...effects].map(
          (one) =>
            !classes.has(one) &&
            `a classifier of resource_type "${one}" in lib/receipt/surface/classifiers/`,
        ),
        !rows.has(name) && `a row in ${README}`,
        rows.has(name) &&
          rows.get(name)?.[0] !== `\`${provider}\`` &&
          `its provider "${provider}" in its row of ${README}`,
      ]
    })
    noMore(README, [...byName.keys()])
  })

  it('each classifier that ships holds its own rules and has a known classification', () => {
    const known = read('fixtures/receipt/classification.json')
    const bound = globSync('fixtures/audit/*.json', { cwd: root }).map(read).join('\n')
    const kept = globSync('fixtures/servers/*.json', { cwd: root }).map(read).join('\n')
    const shipped = [...receipt.classifiers()]
    for (const one of shipped)
      checkClassifier(
        one,
        shipped.filter((other) => other !== one),
      )
    whole(
      'classifier',
      // The classifiers of servers/*.json are held against the servers' own tool lists.
      shipped.flatMap(({ category, tools, reads }) =>
        Object.keys({ ...tools, ...reads }).every((tool) => kept.includes(`"name": "${tool}"`))
          ? []
          : [category],
      ),
      (category) => [
        !known.includes(`"${category}"`) &&
          !bound.includes(
            `"action_class": "${shipped.find((one) => one.category === category)?.resource_type}"`,
          ) &&
          'a row in fixtures/receipt/classification.json, or a record of its class in fixtures/audit/',
      ],
    )
  })

  it('each world has cases, a test, an importer for its audit log, and a row', () => {
    const README = 'lib/world/README.md'
    const rows = rowsOf(README)
    const cases = globSync('cases/**/*.yaml', { cwd: root }).map(read).join('\n')
    const tests = testsOf('world')
      .map(({ text }) => text)
      .join('\n')
    const readers = new Set(importers().flatMap(({ name, provider }) => [name, provider]))
    const names = worldNames()
    whole('world', names, (name) => {
      const { provider } = worldNamed(name)
      const importer = provider === null ? 'none' : `\`${provider}\``
      return [
        !new RegExp(`world: ${name}\\b`).test(cases) && 'a case in cases/',
        !new RegExp(`'${name}'`).test(tests) && 'a test in test/world/',
        provider !== null &&
          !readers.has(provider) &&
          `an importer "${provider}" in lib/receipt/audit/ for its audit log`,
        !rows.has(name) && `a row in ${README}`,
        rows.has(name) &&
          !rows.get(name)?.[1]?.endsWith(importer) &&
          `its importer (${importer}) in its row of ${README}`,
      ]
    })
    noMore(README, names)
  })

  it('each fault has a case that it is laid into, with a twin, a test of what a client sees, a place in the schema and a row', () => {
    const README = 'cases/README.md'
    const rows = rowsOf(README)
    const seen = read('test/harness/server/fault.test.ts')
    const schema = read('fixtures/schemas/case.json')
    whole('fault', FAULT_KINDS, (kind) => {
      const own = globSync(`cases/${kind}/*.yaml`, { cwd: root }).map(read)
      return [
        own.length === 0 && `a case cases/${kind}/<name>.yaml`,
        own.length > 0 &&
          !own.every((text) => /^id: .*\.benign$/m.test(text)) &&
          `a benign twin in each file of cases/${kind}/`,
        ...adversarial(kind).map(
          ({ id, file, faults }) =>
            !faults.includes(kind) && `"kind: ${kind}" under faults of the case ${id} in ${file}`,
        ),
        !seen.includes(`'${kind}'`) && 'a test in test/harness/server/fault.test.ts',
        !schema.includes(`"${kind}"`) && 'a place in fixtures/schemas/case.json: npm run schemas',
        !rows.has(kind) && `a row in ${README}`,
      ]
    })
  })

  it('each pattern of the newest set has hits, misses and a row', () => {
    const README = 'lib/probe/README.md'
    const rows = rowsOf(README)
    const newest = scenarios
      .list()
      .filter(({ id }) => id === 'tool-descriptions')
      .at(-1)
    const { rules } = scenarios.get(`${newest?.id}@${newest?.version}`).set as unknown as {
      rules: { id: string; name: string }[]
    }
    const known = (JSON.parse(read('fixtures/patterns/rules.json')) as { rows: { id: string }[] })
      .rows
    whole(
      'pattern',
      rules.map(({ id }) => id),
      (id) => [
        !known.some((row) => row.id.startsWith(`${id}-hit`)) &&
          `a true positive ${id}-hit in fixtures/patterns/rules.json`,
        !known.some((row) => row.id.startsWith(`${id}-miss`)) &&
          `a false positive ${id}-miss in fixtures/patterns/rules.json`,
        !rows.has(id) && `a row in ${README}`,
      ],
    )
    noMore(
      README,
      rules.map(({ id }) => id),
    )
  })
})

type Row = { input: unknown; expected: { [member: string]: unknown } }
type EvidenceRow = { highest: string; export?: { importer: string } }
