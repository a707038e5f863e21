/** A run in words and tables, for people in a terminal. */
import {
  type Column,
  count,
  duration,
  foreign,
  type Look,
  type Tone,
  table,
  tone,
  wrap,
} from '../../display.ts'
import type { ConfigurationSummary, Metric } from '../../log/index.ts'
import { absentIn, absentText, errorOver, heldOver, METRICS } from '../../log/index.ts'
import { digitsFor, percentage, rateText } from '../../rounding.ts'
import type { Interval } from '../../stats/index.ts'
import { sizeText } from '../../stats/pairs/judgement.ts'
import { earlyCrashText, malformedText } from '../page/agent-faults.ts'
import { OPEN_EXPLAINED, openText } from '../page/coverage.ts'
import { unclassifiedText } from '../page/unclassified.ts'
import { QUESTIONS, rankingText } from './compared/comparison-text.ts'
import { MOST_IN_FULL, severalText } from './compared/several-text.ts'
import { coverageText, identicalText, uncachedText, unfinishedText } from './coverage-text.ts'
import { judgeLines } from './judge-text.ts'
import type { Run } from './result.ts'

const SHOWN: Metric[] = ['goal', 'attack', 'overclaim']

/** What the two lines of a configuration say. */
function asked(summary: ConfigurationSummary[]): string {
  const goal = summary[0]?.rates.goal
  const open = summary.some(({ rates }) => SHOWN.some((metric) => rates[metric].open !== null))
  const size = goal ? `(${sizeText(goal)})` : ''
  const level = percentage(goal?.level ?? 0.95, digitsFor(NaN, goal?.level ?? 0.95))
  return `Rate over cases with its ${level}% interval. Run again: on exactly these cases, where the trials vary. Other cases: on others like these ${size}, where the cases vary too. An error of the machinery is in no rate.${open ? ` ${OPEN_EXPLAINED}` : ''}`
}

/** How often an interval holds, as people say it: `19 times in 20`. */
function often(level: number): string {
  const odds = Math.round(1 / (1 - level))
  return `${odds - 1} times in ${odds}`
}

/** What a reader must know about the configurations before any number. */
export function simulatedNote(run: Run): string | null {
  const simulated = run.manifest.configurations.filter((one) => one.simulated)
  if (simulated.length === 0) return null
  const names = simulated
    .map(({ name, model }) => (model.endsWith(name) ? model : `${name} (${model})`))
    .join(' and ')
  return `${names} ${simulated.length === 1 ? 'is' : 'are'} simulated: a script that follows each case's solution and strays at declared rates. The numbers show how the machinery works, not how good any language model is.`
}

/** Answers out of a cassette are no new facts. */
function replayedNote(run: Run): string | null {
  const replayed = run.manifest.configurations.filter(({ settings }) => 'replays' in settings)
  if (replayed.length === 0) return null
  const names = replayed.map(({ name }) => foreign(name, 64)).join(' and ')
  return `${names}: answered from a cassette. These are the trials that were recorded: however often one is replayed, it is one fact.`
}

/** Problems that are printed before the rest is only counted. */
const MOST_PROBLEMS = 12

/** A run whose folder does not agree with itself: what is wrong, and no number. */
function unsoundText({ manifest, unsound, dir }: Run, look: Look): string {
  const width = look.width ?? 100
  const more = unsound.length - MOST_PROBLEMS
  return [
    tone(`Run ${manifest.id}`, 'strong', look) + ` in ${foreign(dir, 400)}`,
    tone(
      `This run does not agree with itself, so that no number is given: ${count(unsound.length, 'problem')}.`,
      'bad',
      look,
    ),
    ...unsound
      .slice(0, MOST_PROBLEMS)
      .map(({ code, where, detail }) =>
        wrap(`  ${code}  ${foreign(where, 160)}: ${foreign(detail, 300)}`, width, '    '),
      ),
    ...(more > 0 ? [`  and ${more} more`] : []),
    wrap(`Step by step: touchstone verify ${foreign(dir, 200)}`, width),
  ].join('\n')
}

export function runText(run: Run, look: Look = {}): string {
  const { manifest } = run
  if (run.unsound.length > 0) return unsoundText(run, look)
  const summary = run.summary()
  const took = run.configurations
    .flatMap((name) => [...run.columns.rows(name)])
    .reduce((sum, row) => sum + row.duration_ms, 0)
  const lines = [
    tone(`Run ${manifest.id}`, 'strong', look) + ` in ${foreign(run.dir, 400)}`,
    `${count(manifest.cases.length, 'case')} x ${count(manifest.configurations.length, 'configuration')} x ${count(manifest.repeats, 'repeat')} = ${count(manifest.planned, 'trial')}, seed ${manifest.seed}, ${duration(took)} of trials`,
  ]
  const levels = run.problems.filter(({ code }) => code.startsWith('level_')).length
  if (levels > 0)
    lines.push(
      tone(
        `In ${count(levels, 'place')} the log has other levels than the evidence gives: the evidence’s are shown.`,
        'bad',
        look,
      ),
    )
  if (!run.complete)
    lines.push(
      tone(incompleteText(run), 'bad', look),
      ...reasons(run, look, ({ outcome }) => outcome === 'error'),
      ...absentLines(run, look),
    )
  if (run.refused)
    lines.push(
      `Providers refused ${count(run.refused, 'model call')} by a limit; each was made again.`,
    )
  const note = simulatedNote(run)
  if (note) lines.push('', wrap(note, look.width ?? 100))
  const looked = looksText(run)
  if (looked) lines.push('', wrap(looked, look.width ?? 100))
  const replayed = replayedNote(run)
  if (replayed) lines.push('', wrap(replayed, look.width ?? 100))
  lines.push('', ratesText(run, summary, look))
  for (const line of judgeLines(manifest, summary)) lines.push(wrap(line, look.width ?? 100))
  const coverage = run.coverage()
  lines.push('', coverageText(coverage, summary, look))
  if (coverage.some(({ endings }) => endings.some(([ending]) => ending !== 'finished'))) {
    const said = reasons(run, look, ({ outcome }) => outcome !== 'pass' && outcome !== 'error')
    if (said.length > 0) lines.push(tone('Trials that were not finished:', 'bad', look), ...said)
  }
  for (const one of summary) {
    const { configuration, rates, levels, reliability: all } = one
    const { single, estimate } = rates.goal
    if (!Number.isFinite(estimate)) continue
    const writes = `${levels.asserted} asserted, ${levels.observed_confirmed} observed_confirmed, ${levels.verified} verified`
    const digits = digitsFor(NaN, single.low, single.high)
    // One trial of each case shows nothing of how they vary.
    const known = Number.isFinite(single.low) && Number.isFinite(single.high)
    const lands =
      known && rates.goal.trials > rates.goal.cases
        ? `a single run lands between ${percentage(single.low, digits)}% and ${percentage(single.high, digits)}% goal met, ${often(0.95)}`
        : 'where a single run lands is not known from so few trials'
    const { lost } = rates.goal
    const wider =
      known && lost
        ? `; with ${count(lost.trials, 'trial')} in no rate, between ${percentage(lost.single.low, digits)}% and ${percentage(lost.single.high, digits)}%`
        : ''
    const shown = (ends: { passHatK: number; low: number; high: number }) =>
      rateText(ends.passHatK, ends.low, ends.high)
    const { k, cases, open } = all
    const could = open
      ? `; with ${count(open.trials, 'trial')} in no rate, ${shown(open.none)} to ${shown(open.all)}`
      : ''
    const every =
      k > 1 && cases > 0
        ? ` All ${k} of ${k} trials pass in ${shown(all)} of cases like these (pass^${k}, ${count(cases, 'case')})${could}.`
        : ''
    lines.push(
      tone(
        wrap(
          `${foreign(configuration, 64)}: ${lands}${wider}.${every} Its writes: ${writes}.${one.simulated ? '' : ` ${measuresText(one)}`}`,
          look.width ?? 100,
        ),
        'quiet',
        look,
      ),
    )
  }
  const unknown = unclassifiedText(run)
  if (unknown) lines.push(tone(wrap(unknown, look.width ?? 100), 'quiet', look))
  for (const one of summary) lines.push(...lostLines(one, look))
  if (run.identical.size > 0)
    lines.push(tone(wrap(identicalText(...run.identical), look.width ?? 100), 'bad', look))
  const uncached = uncachedText(manifest)
  if (uncached) lines.push(tone(wrap(uncached, look.width ?? 100), 'unsure', look))
  const remark = (name: string, text: string, as: Tone) =>
    tone(wrap(`${foreign(name, 64)}: ${text}`, look.width ?? 100), as, look)
  for (const name of run.configurations) {
    const endings = coverage.find(({ configuration }) => configuration === name)?.endings ?? []
    if (endings.length > 0 && endings.every(([ending]) => ending !== 'finished')) {
      const none = `${unfinishedText(endings)}. What did not happen in them was not withstood.`
      lines.push(remark(name, none, 'bad'))
    }
    const calls = coverage.find(({ configuration }) => configuration === name)?.malformed.calls ?? 0
    const unread = malformedText(run, name, calls)
    if (unread) lines.push(remark(name, unread, 'unsure'))
    const crashed = earlyCrashText(run, name)
    if (crashed) {
      lines.push(remark(name, `${crashed}.`, 'bad'))
      continue
    }
    const ended = [...run.columns.rows(name)].filter((row) => row.outcome !== 'error')
    // A server that drops tools, or a model that knows none, looks like an agent that fails
    // everything.
    if (ended.length > 0 && ended.every(({ calls }) => calls === 0)) {
      const own = manifest.configurations.some(
        (one) => one.name === name && one.model.startsWith('agent/'),
      )
      const ask = own
        ? 'Does this agent reach the servers that it is handed, and does it call their tools?'
        : 'Does this model take tools, and does its server hand them on?'
      lines.push(
        remark(name, `no tool was called in ${count(ended.length, 'trial')}. ${ask}`, 'unsure'),
      )
    }
  }
  const [a, ...others] = run.configurations
  if (others.length > 1) lines.push('', rankingText(run.ranking(), look))
  const comparisons = others.map((b) => run.compare(a as string, b))
  if (run.configurations.length > MOST_IN_FULL) lines.push('', severalText(comparisons, look))
  else for (const one of comparisons) lines.push('', one.text(look))
  for (const { case: id, reason } of manifest.left_out)
    lines.push('', tone(wrap(`Left out: ${id} (${reason}).`, look.width ?? 100), 'unsure', look))
  return lines.join('\n')
}

/**
 * Time, tokens and cost of a trial with their intervals for other cases; what a script takes says
 * nothing.
 */
function measuresText({ duration_ms: time, per_trial: per }: ConfigurationSummary): string {
  // From nothing to anything is no interval.
  const ends = ({ low, high }: Interval, say: (value: number) => string) =>
    Number.isFinite(low) && (low > 0 || Number.isFinite(high))
      ? ` [${say(low)}, ${Number.isFinite(high) ? say(high) : 'unknown'}]`
      : ' [unknown]'
  const whole = (value: number) => String(Math.round(Math.max(0, value)))
  const dollars = (value: number) => `$${Number(Math.max(0, value).toPrecision(3))}`
  const parts = [
    `median ${duration(time.median)}${ends(time.intervals.median, duration)}`,
    `p95 ${duration(time.p95)}${ends(time.intervals.p95, duration)}`,
  ]
  if (per.tokens) parts.push(`${whole(per.tokens.estimate)} tokens${ends(per.tokens, whole)}`)
  if (per.cost_usd) parts.push(`${dollars(per.cost_usd.estimate)}${ends(per.cost_usd, dollars)}`)
  return `A trial takes: ${parts.join(', ')}.`
}

/**
 * That results were looked at before trials were added, and what this does to the numbers; empty
 * where they were not.
 */
export function looksText(run: Run): string {
  const { manifest, columns } = run
  const { until, looks = [] } = manifest
  if (until === undefined && looks.length === 0) return ''
  const level = percentage(heldOver(manifest), 1)
  const at = [...looks.map(({ repeats }) => repeats), manifest.repeats].join(', ')
  if (until === undefined) {
    const most = (100 * errorOver(looks.length + 1)).toFixed(1)
    return `Trials were added to what had been looked at (${at} repeats). The first look was at 95%, and each later one is stricter, so that what is said now is at ${level}%. One of these ${looks.length + 1} looks is false in at most ${most} of 100 such runs, and in fewer than 10 however often trials are added. This holds where how many are added does not depend on what was seen.`
  }
  const rule = {
    verdict: 'every configuration is told from the first',
    width: `every interval is at most ${percentage(until.width ?? 0, digitsFor(NaN, until.width ?? 0))} points wide`,
    gates: `${(until.gates ?? []).join(' and ')} is met or missed`,
  }[until.rule]
  const asked = foreign(rule, 200)
  const unrun = manifest.planned - columns.size
  if (unrun > 0) {
    const seen = looks.length > 0 ? looks.map(({ repeats }) => repeats).join(', ') : 'none yet'
    return `Repeats are added until ${asked}, up to ${until.most}: looked at ${seen}. The look at ${manifest.repeats} is still to come: ${count(unrun, 'trial')} of it did not run. The error is held over all looks, so that what is said now is at ${level}%.`
  }
  const names = [...run.identical].map((name) => foreign(name, 64)).join(', ')
  const same = names
    ? `, or the repeats of all that was open were the same (those of ${names} are, so that more of them tell nothing new)`
    : ''
  // The last look may have found it, or not: what is said below tells.
  const end =
    manifest.repeats < until.most
      ? `Repeats were added until ${asked}${same}: looked at ${at}, of at most ${until.most}.`
      : `Repeats were to be added until ${asked}, up to ${until.most}: looked at ${at}. With ${until.most} they were all run, whether that was reached or not.`
  return `${end} The error is held over all looks, so that this one is at ${level}%.`
}

/** What attempts in an error came to, and what they and trials not run could make of the rates. */
export function lostLines(
  { configuration, lost, rates, unrun }: ConfigurationSummary,
  look: Look,
): string[] {
  const { attempts, acted, changed, ended } = lost
  if (attempts + unrun === 0) return []
  const codes = Object.entries(ended).map(([code, n]) => `${n} ${foreign(code, 60)}`)
  const could = (['goal', 'attack', 'overclaim', 'unneeded'] as const).flatMap((metric) => {
    const { bounds } = rates[metric]
    if (!bounds || !Number.isFinite(bounds.best)) return []
    const digits = digitsFor(bounds.best - bounds.worst, bounds.worst, bounds.best)
    const [worst, best] = [bounds.worst, bounds.best].map((share) => percentage(share, digits))
    return [`${METRICS[metric].label} ${worst}% to ${best}%`]
  })
  const counted = could.length > 0 ? `; whatever they did counted in, ${could.join(', ')}` : ''
  const erred = `${count(attempts, 'attempt')} ended in an error of the machinery (${codes.join(', ')}); in ${acted} of these the agent had acted before, or may have, and ${changed} had changed something, or may have`
  const parts = [unrun ? `${count(unrun, 'trial')} did not run` : '', attempts ? erred : '']
  const text = `${foreign(configuration, 64)}: ${parts.filter(Boolean).join('; ')}${counted}.`
  return [tone(wrap(text, look.width ?? 100), 'unsure', look)]
}

/** The trials of a configuration; where its repeats are the same, those that count of them. */
export function trialsText(run: Run, { configuration, trials }: ConfigurationSummary): string {
  const there = [...run.columns.rows(configuration)].filter(({ outcome }) => outcome !== 'error')
  return run.identical.has(configuration) ? `${trials} of ${there.length}` : String(trials)
}

/** Planned trials that are not there, so that a choice among them shows. */
export function absentLines({ manifest, columns }: Run, look: Look): string[] {
  const absent = absentIn(manifest, columns)
  const lines = absent
    .slice(0, 3)
    .map(
      (one) =>
        `  ${foreign(one.case, 80)}, ${foreign(one.configuration, 64)}: ${absentText(one, 'repeat')} not there`,
    )
  if (absent.length > 3) lines.push(`  and of ${absent.length - 3} more`)
  return lines.map((line) => wrap(line, look.width ?? 100, '      '))
}

export function incompleteText(run: Run): string {
  const unrun = run.manifest.planned - run.columns.size
  const parts = [
    run.errors ? `${count(run.errors, 'trial')} ended in an error` : '',
    unrun ? `${count(unrun, 'trial')} did not run` : '',
  ]
  return `Not complete: ${parts.filter(Boolean).join(', ')}.`
}

/** Numbers that differ from trial to trial: seeds, ports, times. No exit code, no HTTP status. */
const OWN_NUMBERS = /0x[0-9a-f]+|\d{4,}/gi

/** What trials that were cut short say, the most frequent first. */
function reasons(run: Run, look: Look, of: (row: { outcome: string }) => boolean): string[] {
  const kinds = new Map<string, { text: string; times: number; others: string }>()
  for (const { error } of run.records(of)) {
    if (error === null) continue
    const text = `${error.code}: ${error.message}`
    const key = text.replace(OWN_NUMBERS, '0000')
    const kind = kinds.get(key) ?? { text, times: 0, others: '' }
    kinds.set(key, kind)
    kind.times++
    if (text !== kind.text) kind.others = ' (the first; numbers differ)'
  }
  const said = [...kinds.values()].sort((a, b) => b.times - a.times)
  const lines = said
    .slice(0, 3)
    .map(({ text, times, others }) => `  ${times} x ${foreign(text, 300)}${others}`)
  if (said.length > 3) lines.push(`  and ${count(said.length - 3, 'other reason')}: see report.md`)
  return lines.map((line) => wrap(line, look.width ?? 100, '      ').replace(/^ {4}/, ''))
}

/** The rates of each configuration, and what the two lines of one say. */
export function ratesText(run: Run, summary: ConfigurationSummary[], look: Look): string {
  const errors = run.errors > 0
  const columns: Column[] = [
    { head: 'configuration', min: 13, names: true },
    { head: 'question' },
    { head: 'trials', align: 'right' },
    ...(errors ? [{ head: 'errors', align: 'right' } as const] : []),
    ...SHOWN.map((metric): Column => ({ head: METRICS[metric].label })),
  ]
  const rows = summary.flatMap((one) => {
    const counts = [trialsText(run, one), ...(errors ? [String(one.errors)] : [])]
    const cells = (ends: 'again' | 'other') =>
      SHOWN.map((metric) => {
        const { estimate, low, high, again } = one.rates[metric]
        return ends === 'again'
          ? rateText(estimate, again.low, again.high)
          : rateText(estimate, low, high)
      })
    const open = SHOWN.map((metric) => openText(one.rates[metric]))
    const blank = counts.map(() => '')
    return [
      [foreign(one.configuration, 64), QUESTIONS.these, ...counts, ...cells('again')],
      ['', QUESTIONS['like these'], ...blank, ...cells('other')],
      ...(open.some((one) => one !== null)
        ? [
            ['', 'judged', ...blank, ...open.map((one) => one?.judged ?? '')],
            ['', 'of all', ...blank, ...open.map((one) => one?.all ?? '')],
          ]
        : []),
    ]
  })
  const explained = tone(wrap(asked(summary), look.width ?? 100), 'quiet', look)
  return `${table(columns, rows, look)}\n${explained}`
}
