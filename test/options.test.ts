/** Public calls: a misspelt option and a value of a wrong type are refused, and said so. */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { cases, chart, harness, notebook, probe, receipt, scenarios, stats } from '../lib/index.ts'

const FILE = 'cases/lying_success/deploy-key.yaml'
let run: harness.Run
let test: harness.Case
const controller = new AbortController()
before(async () => {
  const loaded = await cases.load(FILE)
  test = loaded[0] as harness.Case
  run = await harness
    .run(loaded)
    .config('a', { model: 'sim/naive' })
    .config('b', { model: 'sim/perfect' })
    .repeat(1)
    .out(null)
    .quiet()
})
after(() => controller.abort())

const url = 'https://localhost/mcp'
const decision = () =>
  receipt.observe({ server: 's', tool: 't', status: 'success', runId: 'r', seq: 0, arguments: {} })
const builder = () => harness.run(test).config('a', { model: 'sim/naive' })
const github = () => harness.server('github')

/** Each call with one misspelt option, and the option that it means. */
const MISSPELT: [call: string, misspelt: string, meant: string, make: (o: never) => unknown][] = [
  ['run.receipt', 'kye', 'key', (o) => run.receipt(o)],
  ['run.receipt', 'sets', 'set', (o) => run.receipt(o)],
  ['run.page', 'agianst', 'against', (o) => run.page(o)],
  ['run.ranking', 'metrik', 'metric', (o) => run.ranking(o)],
  ['run.summary', 'levle', 'level', (o) => run.summary(o)],
  ['run.compare', 'equivalance', 'equivalence', (o) => run.compare('a', 'b', o)],
  ['run.plan', 'repaets', 'repeats', (o) => run.plan(o)],
  ['run.plot', 'metrik', 'metric', (o) => run.plot('strip', o)],
  ['run.bundle', 'profil', 'profile', (o) => run.bundle(run.trials[0]?.key as string, o)],
  ['harness.serve', 'timeotMs', 'timeoutMs', (o) => harness.serve(test, o)],
  ['harness.server', 'nmae', 'name', (o) => harness.server('github', o)],
  ['server.start', 'trnsport', 'transport', (o) => github().start(o)],
  ['server.inject', 'aftr', 'after', (o) => github().inject('add_deploy_key', 'x', o)],
  ['server.fault', 'aftr', 'after', (o) => github().fault('add_deploy_key', 'lying_success', o)],
  ['server.deny', 'resaon', 'reason', (o) => github().deny('add_deploy_key', o)],
  ['server.stdio', 'rest', 'reset', (o) => harness.server().stdio('node', [], o)],
  ['server.http', 'haeders', 'headers', (o) => harness.server().http(url, o)],
  ['builder.resume', 'ad', 'add', (o) => builder().resume('runs/x', o)],
  ['builder.until', 'mots', 'most', (o) => builder().until('verdict', o)],
  ['builder.forecast', 'gate', 'gates', (o) => builder().forecast(o)],
  ['builder.limits', 'setps', 'steps', (o) => builder().limits(o)],
  ['harness.agent', 'versoin', 'version', (o) => harness.agent('a', () => '', o)],
  ['agent.http', 'ulr', 'url', (o) => harness.agent.http(o)],
  ['agent.command', 'comand', 'command', (o) => harness.agent.command(o)],
  ['harness.junit', 'shaer', 'share', (o) => harness.junit(run, o)],
  ['harness.sarif', 'hled', 'held', (o) => harness.sarif(run, o)],
  ['harness.history', 'metrik', 'metric', (o) => harness.history('runs', o)],
  ['harness.against', 'magrin', 'margin', (o) => harness.against(run, run, o)],
  ['receipt.issueRun', 'kye', 'key', (o) => receipt.issueRun(run.dir, o)],
  ['receipt.publishedSet', 'roto', 'root', (o) => receipt.publishedSet([], o)],
  ['receipt.requireIssuable', 'kye', 'key', (o) => receipt.requireIssuable([], o)],
  ['receipt.seal', 'kye', 'key', (o) => receipt.seal('x', o)],
  ['receipt.open', 'kye', 'key', (o) => receipt.open(receipt.seal('x'), o)],
  ['receipt.verify', 'windwo', 'window', (o) => receipt.verify([], o)],
  ['receipt.verifyBundle', 'profil', 'profile', (o) => receipt.verifyBundle(new Uint8Array(), o)],
  ['receipt.importAudit', 'scoep', 'scope', (o) => receipt.importAudit('github', '[]', o)],
  ['receipt.bundle', 'profil', 'profile', (o) => receipt.bundle(decision(), o)],
  ['probe.connect', 'lcoal', 'local', (o) => probe.connect(url, o)],
  ['probe.conformance', 'haeders', 'headers', (o) => probe.conformance(url, o)],
  ['probe.sweep', 'concurency', 'concurrency', (o) => probe.sweep([], o)],
  ['scenarios.list', 'roto', 'root', (o) => scenarios.list(o)],
  ['scenarios.get', 'digset', 'digest', (o) => scenarios.get('mcp-connection@1.0', o)],
  ['scenarios.load', 'digset', 'digest', (o) => scenarios.load('x.json', o)],
  ['scenarios.publish', 'roto', 'root', (o) => scenarios.publish([], o)],
  ['notebook.run', 'sets', 'set', (o) => notebook.run('x.ts', o)],
  ['notebook.write', 'mdd', 'md', (o) => notebook.write({ cells: [] } as never, o)],
  ['stats.rate', 'levle', 'level', (o) => stats.rate([[1]], o)],
  ['stats.compare', 'equivalance', 'equivalence', (o) => stats.compare([], o)],
  ['stats.compareReliability', 'tagret', 'target', (o) => stats.compareReliability([], 2, o)],
  ['stats.compareMedians', 'levle', 'level', (o) => stats.compareMedians([], o)],
  ['stats.compareLevels', 'levle', 'level', (o) => stats.compareLevels([], o)],
  ['stats.reliability', 'leats', 'least', (o) => stats.reliability([[1]], 1, o)],
  ['stats.bootstrap', 'darws', 'draws', (o) => stats.bootstrap([[1]], o)],
  ['stats.boundedMean', 'weihgts', 'weights', (o) => stats.boundedMean([1], o)],
  ['stats.quantileOver', 'levle', 'level', (o) => stats.quantileOver([[1]], 0.5, o)],
  ['stats.meanOver', 'famillies', 'families', (o) => stats.meanOver([[1]], o)],
  ['stats.flips', 'famillies', 'families', (o) => stats.flips([[1]], o)],
  ['stats.planRate', 'rat', 'rate', (o) => stats.planRate(o)],
  ['stats.planMargin', 'ratee', 'rate', (o) => stats.planMargin(o)],
  ['stats.signFlip', 'darws', 'draws', (o) => stats.signFlip([1], o)],
  ['stats.stratifiedPermutation', 'darws', 'draws', (o) => stats.stratifiedPermutation([], o)],
  ['stats.jointSignFlip', 'darws', 'draws', (o) => stats.jointSignFlip([[1]], o)],
  ['stats.shift', 'levle', 'level', (o) => stats.shift([1], [2], o)],
  ['stats.clusteredError', 'corected', 'corrected', (o) => stats.clusteredError([[1]], o)],
  ['stats.verdict', 'equivalance', 'equivalence', (o) => stats.verdict(o)],
  ['stats.plan', 'repaets', 'repeats', (o) => stats.plan(o)],
  ['stats.power', 'diference', 'difference', (o) => stats.power(o)],
  ['stats.detectable', 'eror', 'error', (o) => stats.detectable(o)],
  ['stats.looks', 'spendign', 'spending', (o) => stats.looks([0.5, 1], o)],
  ['stats.nextRun', 'levle', 'level', (o) => stats.nextRun([[[1]]], [5], o)],
  ['chart.activity', 'titel', 'title', (o) => chart.activity([], o)],
  ['chart.ecdf', 'quantitty', 'quantity', (o) => chart.ecdf([], o)],
  ['chart.forest', 'overal', 'overall', (o) => chart.forest([], o)],
  ['chart.heat', 'beter', 'better', (o) => chart.heat([], o)],
  ['chart.latency', 'titel', 'title', (o) => chart.latency([], o)],
  ['chart.levels', 'nuon', 'noun', (o) => chart.levels([], o)],
  ['chart.noise', 'metrik', 'metric', (o) => chart.noise([], o)],
  ['chart.own', 'ntoes', 'notes', (o) => chart.own([], {}, o)],
  ['chart.reliability', 'repaets', 'repeats', (o) => chart.reliability([], o)],
  ['chart.slope', 'metrik', 'metric', (o) => chart.slope([], o)],
  ['chart.strip', 'tagret', 'target', (o) => chart.strip([], o)],
  ['chart.png', 'sclae', 'scale', (o) => chart.strip([]).png(o)],
  ['notebook.html', 'tiems', 'times', (o) => notebook.html({ cells: [] } as never, o)],
]

/** Calls with a value of a wrong type. */
const WRONG: [call: string, message: RegExp, make: () => unknown][] = [
  ['harness.open(undefined)', /a run's folder, got nothing/, () => harness.open(...none)],
  ['harness.open(5)', /a run's folder, got number/, () => harness.open(5 as never)],
  ['harness.open({})', /a run's folder, got object/, () => harness.open({} as never)],
  ['receipt.prove(undefined)', /folder, got nothing/, () => receipt.prove(...none, 'k')],
  ['receipt.prove(dir)', /key of a trial .* got nothing/, () => receipt.prove(run.dir, ...none)],
  ['run.transcript(5)', /key of a trial .* got number/, () => run.transcript(5 as never)],
  ['run.record(5)', /key of a trial .* got number/, () => run.record(5 as never)],
  ['harness.case(undefined)', /members of a case, got nothing/, () => harness.case(...none)],
  ['harness.case([])', /members of a case, got a list/, () => harness.case([] as never)],
  ['agent.http()', /an object of name, .*, got nothing/, () => harness.agent.http(...none)],
  ['agent.command()', /an object of name, .*, got nothing/, () => harness.agent.command(...none)],
  ['limits(null)', /an object of steps, .*, got null/, () => builder().limits(null as never)],
  ['cases.load({})', /a path or a list of paths, got object/, () => cases.load({} as never)],
  ['cases.load([5])', /a path or a list of paths, got number/, () => cases.load([5] as never)],
  ['cases.parse(5)', /a text of YAML, got number/, () => cases.parse(5 as never)],
  [
    'harness.serve(c, null)',
    /an object of timeoutMs, .*null/,
    () => harness.serve(test, null as never),
  ],
  ['harness.server(5)', /a world's name, .*, got number/, () => harness.server(5 as never)],
  ['run.receipt(null)', /an object of key, .*, got null/, () => run.receipt(null as never)],
  ['run.page({ against: 5 })', /a run, got number/, () => run.page({ against: 5 as never })],
]
const none = [undefined] as unknown as [never]

describe('a misspelt option', () => {
  for (const [call, misspelt, meant, make] of MISSPELT)
    it(`of ${call} is refused: ${misspelt}, did you mean ${meant}?`, async () => {
      await assert.rejects(async () => make({ [misspelt]: controller.signal } as never), {
        name: 'TouchstoneError',
        code: 'argument_invalid',
        message: new RegExp(`^expected .*, got "${misspelt}"; did you mean "${meant}"\\?`),
      })
    })
})

describe('a value of a wrong type', () => {
  for (const [call, message, make] of WRONG)
    it(`${call} is refused by what was expected and what it is`, async () => {
      await assert.rejects(async () => make(), {
        name: 'TouchstoneError',
        code: 'argument_invalid',
        message,
      })
    })
})
