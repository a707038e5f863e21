/**
 * Two servers, or two times of one: whether one is faster, and what differs in the tools they list.
 */

import { onlyMembers } from '../../arguments.ts'
import type { Digest } from '../../canonical.ts'
import { count, foreign, type Look, tone, wrap } from '../../display.ts'
import { TouchstoneError } from '../../errors.ts'
import { Shown } from '../../shown.ts'
import { shift } from '../../stats/index.ts'
import type { Outcome } from '../judge/outcome.ts'
import { latencyText } from './report.ts'
import type { ProbeData } from './result.ts'
import { tally, words } from './runs.ts'

export type LatencyComparison = {
  /**
   * `faster`: b takes less time than a. Said only when the interval leaves out 0 and the test
   * agrees.
   */
  verdict: 'faster' | 'slower' | 'cannot tell'
  /** Median of all differences b - a, ms; null when a side has no latency. */
  shiftMs: number | null
  lowMs: number | null
  highMs: number | null
  level: number
  /** Two-sided Mann-Whitney test; null when a side has no latency. */
  p: number | null
  /** Latencies on each side. */
  n: { a: number; b: number }
  reason: string | null
}

/** A tool by its name, or by the digest of a name that is withheld. */
export type ToolChange = { tool: string; from: Digest | null; to: Digest | null }

export type ToolComparison = {
  /** In b and not in a; null where a side listed none. */
  added: string[]
  removed: string[]
  /** The same name with other descriptions. */
  changed: ToolChange[]
  /** Names that came and went, or changed their description, between the tests of one side. */
  wavering: { a: string[]; b: string[] }
  /** False when a list was not kept or read whole, so that more may differ. */
  whole: boolean
}

export type ProbeComparisonData = {
  schema: 'touchstone.probe.compare.v0'
  a: { subject: string; n: number; outcomes: Partial<Record<Outcome, number>> }
  b: { subject: string; n: number; outcomes: Partial<Record<Outcome, number>> }
  latency: LatencyComparison
  /** Null when a side never listed its tools. */
  tools: ToolComparison | null
}

type Compared = ProbeData | { results: readonly ProbeData[] }

/** What differs between two servers. */
export class ProbeComparison extends Shown implements ProbeComparisonData {
  readonly schema = 'touchstone.probe.compare.v0'
  readonly a: ProbeComparisonData['a']
  readonly b: ProbeComparisonData['b']
  readonly latency: LatencyComparison
  readonly tools: ToolComparison | null

  constructor(data: Omit<ProbeComparisonData, 'schema'>) {
    super()
    this.a = data.a
    this.b = data.b
    this.latency = data.latency
    this.tools = data.tools
  }

  toJSON(): ProbeComparisonData {
    return { ...this }
  }

  text(look: Look = {}): string {
    const { a, b, latency, tools } = this
    const side = (name: string, { subject, n, outcomes }: ProbeComparisonData['a']) =>
      `${name}: ${tone(foreign(subject), 'strong', look)}  ${count(n, 'test')}: ${words(outcomes)}`
    return [
      side('a', a),
      side('b', b),
      latencyLine(latency, look),
      ...(tools ? toolLines(tools, look) : ['tools: a side never listed its tools']),
    ].join('\n')
  }
}

function latencyLine(
  { verdict, shiftMs, lowMs, highMs, n, reason, level }: LatencyComparison,
  look: Look,
): string {
  if (shiftMs === null) return `latency: cannot tell: ${reason}`
  const signed = (ms: number) => `${ms < 0 ? '-' : '+'}${latencyText(Math.abs(ms))}`
  const between =
    lowMs === null || highMs === null
      ? (reason ?? '')
      : `${Math.round(level * 100)}% interval ${signed(lowMs)} to ${signed(highMs)}`
  const said = verdict === 'cannot tell' ? verdict : `b is ${verdict}`
  const as = verdict === 'faster' ? 'good' : verdict === 'slower' ? 'bad' : 'unsure'
  return `latency: ${tone(said, as, look)}, ${signed(shiftMs)} (${between}; ${n.a} and ${n.b} latencies)`
}

function toolLines(
  { added, removed, changed, wavering, whole }: ToolComparison,
  look: Look,
): string[] {
  const width = look.width ?? 100
  const row = (label: string, names: string[]) =>
    names.length === 0
      ? []
      : [wrap(`${label}: ${names.map((name) => foreign(name, 64)).join(', ')}`, width, '  ')]
  const rows = [
    ...row('only in b', added),
    ...row('only in a', removed),
    ...row(
      'other description',
      changed.map(({ tool }) => tool),
    ),
    ...row('not the same in each test of a', wavering.a),
    ...row('not the same in each test of b', wavering.b),
  ]
  const partly = whole ? [] : ['  a list was not read or kept whole: more may differ']
  return rows.length > 0 ? ['tools:', ...rows, ...partly] : ['tools: no difference', ...partly]
}

/**
 * Compare two servers, two versions of one, or one server at two times.
 *
 * Latencies are compared by the differences of all pairs, with an exact interval: "faster" and
 * "slower" are said only when the interval leaves out 0 and the test agrees. Descriptions are
 * compared by digest, so that a change is seen in withheld texts.
 *
 * @param a,b results, `ProbeRuns`, or the data of either. One result has one latency, from which
 *   nothing follows
 * @param options.level confidence in (0, 1), default 0.95
 * @throws TouchstoneError `argument_invalid`
 * @example
 * const refused = await probe.connect('https://localhost/')
 * probe.compare(refused, refused).latency.verdict // 'cannot tell'
 */
export function compare(
  a: Compared,
  b: Compared,
  options: { level?: number } = {},
): ProbeComparison {
  onlyMembers(options, ['level'], 'options')
  const [left, right] = [resultsOf(a, 'a'), resultsOf(b, 'b')]
  const side = (results: readonly ProbeData[]) => ({
    subject: results[0]?.subject ?? '',
    n: results.length,
    outcomes: tally(results.map(({ outcome }) => outcome)),
  })
  return new ProbeComparison({
    a: side(left),
    b: side(right),
    latency: compareLatency(left, right, options.level ?? 0.95),
    tools: compareTools(left, right),
  })
}

function resultsOf(value: Compared, where: string): readonly ProbeData[] {
  const results = 'results' in value ? value.results : [value]
  if (!results.every(({ schema }) => schema === 'touchstone.probe.v0')) {
    throw new TouchstoneError('argument_invalid', 'expected results of connect', { where })
  }
  return results
}

function compareLatency(
  a: readonly ProbeData[],
  b: readonly ProbeData[],
  level: number,
): LatencyComparison {
  const latencies = (results: readonly ProbeData[]) =>
    results.flatMap(({ latencyMs }) => latencyMs ?? [])
  const found = shift(latencies(a), latencies(b), { level })
  const or = (value: number) => (Number.isNaN(value) ? null : value)
  const sure = found.p <= 1 - level && (found.low > 0 || found.high < 0)
  return {
    verdict: sure ? (found.shift < 0 ? 'faster' : 'slower') : 'cannot tell',
    shiftMs: or(found.shift),
    lowMs: or(found.low),
    highMs: or(found.high),
    level,
    p: or(found.p),
    n: { a: found.a, b: found.b },
    reason: found.reason ?? null,
  }
}

/** Descriptions by tool, over the tests that listed tools. */
function catalogue(results: readonly ProbeData[]) {
  const lists = results.flatMap(({ tools }) => tools ?? [])
  const names = new Map<Digest, string>()
  const seen = new Map<Digest, { times: number; descriptions: Set<Digest | null> }>()
  for (const { list } of lists) {
    for (const { name, nameDigest, descriptionDigest } of list) {
      names.set(nameDigest, name ?? nameDigest)
      const tool = seen.get(nameDigest) ?? { times: 0, descriptions: new Set() }
      seen.set(nameDigest, tool)
      tool.times++
      tool.descriptions.add(descriptionDigest)
    }
  }
  const wavering = [...seen]
    .filter(([, { times, descriptions }]) => times < lists.length || descriptions.size > 1)
    .map(([digest]) => names.get(digest) ?? digest)
  const whole = lists.every(({ list, named, more }) => list.length === named && !more)
  return { listed: lists.length > 0, names, seen, wavering, whole }
}

function compareTools(
  left: readonly ProbeData[],
  right: readonly ProbeData[],
): ToolComparison | null {
  const [a, b] = [catalogue(left), catalogue(right)]
  if (!a.listed || !b.listed) return null
  const only = (one: typeof a, other: typeof a) =>
    [...one.names].filter(([digest]) => !other.seen.has(digest)).map(([, name]) => name)
  const changed: ToolChange[] = []
  for (const [digest, name] of a.names) {
    const [from, to] = [a.seen.get(digest)?.descriptions, b.seen.get(digest)?.descriptions]
    if (!from || !to) continue
    const same = from.size === to.size && [...from].every((one) => to.has(one))
    if (!same)
      changed.push({ tool: name, from: [...from].at(-1) ?? null, to: [...to].at(-1) ?? null })
  }
  return {
    added: only(b, a),
    removed: only(a, b),
    changed,
    wavering: { a: a.wavering, b: b.wavering },
    whole: a.whole && b.whole,
  }
}
