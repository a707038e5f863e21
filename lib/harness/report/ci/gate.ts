/** Does a run hold a line that was drawn in advance: a rate's bound? */
import { gotWord } from '../../../choice.ts'
import { count, wrap } from '../../../display.ts'
import { TouchstoneError } from '../../../errors.ts'
import { type Ends, METRICS, type Metric, metricNamed } from '../../../log/index.ts'
import { digitsFor, percentage, rateText } from '../../../rounding.ts'
import { shownAs } from '../../../shown.ts'
import type { Target } from '../../../stats/index.ts'
import { earlyCrashText } from '../../page/agent-faults.ts'
import { unfinishedText } from '../coverage-text.ts'
import { type Run, requireRun } from '../result.ts'
import {
  endOf,
  endText,
  exposureText,
  judgedText,
  limitedText,
  lostText,
  SAME_REPEATS,
} from './gate-ends.ts'

export type Gate = {
  text: string
  /** null: every configuration. */
  configuration: string | null
  metric: Metric
  operator: '>=' | '>' | '<=' | '<'
  value: number
  /** Which number is held against the value. */
  bound: 'lower' | 'upper' | 'estimate'
  /** Which question is asked: run again on these cases, or other cases like these. */
  target: Target
}

export type GateResult = {
  gate: string
  configuration: string
  metric: Metric
  /** Which question was asked: run again on these cases, or other cases like these. */
  target: Target
  /** The rate, in [0, 1]; null where there is none. */
  estimate: number | null
  /** Its 95 % interval for that question; null where there is none. */
  interval: [low: number, high: number] | null
  /** The value of the gate, in [0, 1]. */
  line: number
  /** The bound that was held against the gate, or null where the run says nothing about it. */
  value: number | null
  met: boolean
  /** `undecided`: the interval holds both what would meet the gate and what would not. */
  state: GateState
  reason: string
  /** About how many repeats or cases would decide it, if the rate stays; null where none would. */
  needed: { of: 'repeats' | 'cases'; now: number; about: number } | null
}

export type GateState = 'met' | 'missed' | 'undecided'

const FORM =
  /^\s*(?:([A-Za-z0-9][A-Za-z0-9_.-]*):\s*)?([a-z]+)\s*(>=|<=|>|<)\s*([0-9.]+)(%?)\s*((?:@[a-z]+\s*)*)$/

const TARGETS: { [word: string]: Target } = { again: 'these', others: 'like these' }

/**
 * Read a gate: `[CONFIGURATION:]METRIC OPERATOR VALUE[@BOUND][@QUESTION]`.
 *
 * Without a bound the cautious one holds: the lower end of the 95 % interval for `>=` and `>`, the
 * upper end for `<=` and `<`. The question is `@again` (default: these cases, run again) or
 * `@others` (other cases like these).
 *
 * @throws TouchstoneError `argument_invalid`
 * @example
 * parseGate('goal>=0.9@lower').bound // 'lower'
 * parseGate('careful: attack <= 10%').value // 0.1
 * parseGate('careful: attack <= 10%').bound // 'upper'
 * parseGate('goal>=90%@others').target // 'like these'
 * parseGate('goal=1') // throws argument_invalid
 */
export function parseGate(text: string): Gate {
  const parts = FORM.exec(text)
  const invalid = (expected: string): never => {
    throw new TouchstoneError('argument_invalid', `expected ${expected}, got "${text}"`, {
      where: 'gate',
    })
  }
  if (!parts)
    return invalid(
      '[CONFIGURATION:]METRIC>=VALUE[@lower|@upper|@estimate][@again|@others] (or > <= <)',
    )
  const [, configuration = null, name = '', operator, number, sign, words = ''] = parts
  metricNamed(name)
  const value = Number(number) / (sign === '%' ? 100 : 1)
  if (!(value >= 0 && value <= 1)) invalid('a value in [0, 1], or in percent')
  const said = [...words.matchAll(/[a-z]+/g)].map(([word]) => word)
  const [bounds, targets] = [
    said.filter((word) => BOUNDS.includes(word as Gate['bound'])),
    said.filter((word) => Object.hasOwn(TARGETS, word)),
  ]
  if (bounds.length + targets.length < said.length || bounds.length > 1 || targets.length > 1)
    return invalid('one of @lower, @upper, @estimate and one of @again, @others at most')
  const bound = (bounds[0] as Gate['bound']) ?? (operator?.startsWith('>') ? 'lower' : 'upper')
  return {
    text: text.trim(),
    configuration,
    metric: name as Metric,
    operator: operator as Gate['operator'],
    value,
    bound,
    target: TARGETS[targets[0] ?? 'again'] as Target,
  }
}

/**
 * Refuse gates that no trial of these cases can decide. @throws TouchstoneError `argument_invalid`
 */
export function requireDecidable(
  gates: readonly Gate[],
  cases: readonly { adversarial: boolean }[],
): void {
  const one = gates.find(({ metric }) => metric === 'attack')
  if (!one || cases.some(({ adversarial }) => adversarial)) return
  throw new TouchstoneError(
    'argument_invalid',
    `expected an adversarial case for a gate on attacks, got none among ${count(cases.length, 'case')}: no number of repeats decides it`,
    { where: `gate ${one.text}` },
  )
}

const BOUNDS: readonly Gate['bound'][] = ['lower', 'upper', 'estimate']

/**
 * Hold a run against a gate, once per configuration that it names. A rate that is not known meets
 * no gate and misses none: it is undecided, and so is a gate whose value lies inside the interval,
 * one that trials that could not be judged, or that lost an attempt to an error, leave open, and an
 * upper line for attacks that does not hold among the trials whose agent met the attack's words.
 * Where no trial was finished by its agent, that line, or a lower one for `goal` or `pass`, may be
 * missed and is never met.
 *
 * @throws TouchstoneError `argument_invalid`, `configuration_unknown`
 */
export function gate(run: Run, wanted: string | Gate): GateResult[] {
  requireRun(run)
  const one = typeof wanted === 'string' ? parseGate(wanted) : wanted
  if (one.configuration !== null && !run.configurations.includes(one.configuration)) {
    throw new TouchstoneError(
      'configuration_unknown',
      `expected one of ${run.configurations.join(', ')}, ${gotWord(one.configuration, run.configurations)}`,
      { where: `gate ${one.text}` },
    )
  }
  const covered = new Map(
    ENDED.includes(one.metric) ? run.coverage().map((all) => [all.configuration, all]) : [],
  )
  const results = run
    .summary()
    .filter(
      ({ configuration }) => one.configuration === null || configuration === one.configuration,
    )
    .map(({ configuration, rates }): GateResult => {
      const rate = rates[one.metric]
      const { low, high } = one.target === 'these' ? rate.again : rate
      const value = { estimate: rate.estimate, lower: low, upper: high }[one.bound]
      const label = METRICS[one.metric].label
      const known = (of: number) => (Number.isFinite(of) ? of : null)
      const result = {
        gate: one.text,
        configuration,
        metric: one.metric,
        target: one.target,
        estimate: known(rate.estimate),
        interval: known(high - low) === null ? null : ([low, high] as [number, number]),
        line: one.value,
        needed: null as GateResult['needed'],
      }
      const { open, lost: erred } = rate
      // What is not known of trials may all speak against the gate, or all for it.
      const unknown = erred ?? open
      const upwards = one.operator.startsWith('>')
      const kinder = one.bound === 'estimate' ? 'estimate' : upwards ? 'upper' : 'lower'
      // Every trial that is known came out one way, and even the best of the others does not help.
      const best = unknown && endOf(upwards ? unknown.all : unknown.none, one.target, kinder)
      const lost = best !== null && Number.isFinite(best) && !holds(best, one)
      if (!Number.isFinite(value)) {
        if (lost) {
          const reason = `${label}: missed by trials that are known, whatever the others were`
          return { ...result, value: null, met: false, state: 'missed', reason }
        }
        const none =
          one.metric === 'attack' && run.manifest.cases.every((test) => !test.adversarial)
        const reason = none
          ? `${label}: the run has no adversarial case`
          : `${label}: the run has no ${one.bound === 'estimate' ? 'estimate' : `${one.bound} bound`}`
        return { ...result, value: null, met: false, state: 'undecided', reason }
      }
      const { none, all } = unknown ?? { none: rate, all: rate }
      const [hard, kind] = upwards ? [none, all] : [all, none]
      const holdsFor = (ends: Ends, bound: Gate['bound']) =>
        holds(endOf(ends, one.target, bound), one)
      // The end that speaks for the gate: if even that does not hold, it is missed for sure.
      const missed = !holdsFor(rate, kinder) && !holdsFor(kind, kinder)
      const exposure =
        upwards || one.metric !== 'attack' ? null : covered.get(configuration)?.exposed
      const endings = covered.get(configuration)?.endings ?? []
      // An agent that crashes each time has withstood nothing, and one that hangs has done nothing
      // that anybody was told of.
      const finished =
        (one.metric === 'attack' ? !exposure : !upwards) ||
        endings.length === 0 ||
        endings.some(([ending]) => ending === 'finished')
      const withstood =
        finished && (!exposure || (exposure.trials > 0 && holdsFor(exposure, one.bound)))
      const met = holds(value, one) && holdsFor(hard, one.bound) && withstood
      const state: GateState = met ? 'met' : missed ? 'missed' : 'undecided'
      const question = one.target === 'these' ? 'run again' : 'other cases'
      const figures = [
        `${label}, ${question}: ${rateText(rate.estimate, low, high, one.value)}, ${one.bound} ${endText(value, one.value, high - low)}%`,
      ]
      if (rate.judge)
        figures.push(`${rate.judge.trials} of ${count(rate.trials, 'trial')} read by a judge model`)
      const limited = limitedText(endings)
      if (!finished)
        figures.push(
          `${unfinishedText(endings)}; ${state === 'missed' ? judgedText(endings, one.metric) : 'what they left meets no gate'}`,
        )
      else if (limited) figures.push(limited)
      if (state === 'undecided') {
        if (open) figures.push(`${count(open.trials, 'trial')} could not be judged`)
        if (rate.bounds && !holdsFor(hard, one.bound)) figures.push(lostText(rate.bounds, label))
        const among = finished && !withstood ? exposure : null
        if (among) figures.push(exposureText(among, one))
        // More trials of an agent that finishes none, or meets no attack, decide nothing.
        const tells = finished && among?.trials !== 0
        if (tells && among && !holds(among.estimate, one))
          figures.push('no number of repeats or cases meets it while that rate stays')
        else if (tells && (among || !holds(value, one))) {
          const more = wouldDecide(run, configuration, { ...rate, ...among }, one)
          figures.push(more.text)
          result.needed = more.needed
        }
      }
      const crashed = met ? null : earlyCrashText(run, configuration)
      if (crashed) figures.push(crashed)
      return { ...result, value, met, state, reason: figures.join('; ') }
    })
  return shownAs(results, (look) =>
    results.map((result) => wrap(gateLine(result), look.width ?? 100)).join('\n'),
  )
}

/** Rates whose gates ask how trials ended. */
const ENDED: readonly Metric[] = ['goal', 'pass', 'attack']

/** A result in words. */
export function gateLine({ gate, configuration, state, reason }: GateResult): string {
  return `Gate ${gate}, ${configuration}: ${state === 'missed' ? 'MISSED' : state} (${reason})`
}

/**
 * How much more would decide a gate, if the rate stayed as it is: an interval shrinks with the root
 * of what it rests on.
 */
function wouldDecide(
  run: Run,
  configuration: string,
  { estimate, cases, ...ends }: Ends & { cases: number },
  { value: line, target }: Gate,
): { text: string; needed: GateResult['needed'] } {
  const { low, high } = target === 'these' ? ends.again : ends
  const reach = estimate > line ? estimate - low : high - estimate
  const factor = (reach / Math.abs(estimate - line)) ** 2
  const same = target === 'these' && run.identical.has(configuration)
  const [now, of] =
    target === 'these' && !same
      ? ([run.manifest.repeats, 'repeats'] as const)
      : ([cases, 'cases'] as const)
  const because = same ? `; ${SAME_REPEATS}` : ''
  if (!(factor * now <= 100_000)) {
    const close = percentage(line, digitsFor(NaN, line))
    const text = `the rate is so close to ${close}% that no number of ${of} is likely to decide it${because}`
    return { text, needed: null }
  }
  const about = Math.max(now + 1, Math.ceil(factor * now))
  const text = `about ${about} ${of} instead of ${now} would decide it, if the rate stays${because}`
  return { text, needed: { of, now, about } }
}

function holds(value: number, { operator, value: line }: Gate): boolean {
  if (operator === '>=') return value >= line
  if (operator === '<=') return value <= line
  return operator === '>' ? value > line : value < line
}
