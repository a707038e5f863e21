/**
 * The check of a receipt as a person reads it: the verdict, each step, what did not hold and where,
 * and what is not claimed.
 */
import { count, foreign, type Look, pad, type Tone, table, tone, wrap } from '../../display.ts'
import { type Absent, absentText, type ConfigurationSummary } from '../../log/index.ts'
import { rateText } from '../../rounding.ts'
import type { Step, Verdict } from '../recompute/step.ts'
import type { VerificationData } from './verification.ts'

const MARKS: Record<Verdict, { mark: string; tone: Tone; says: string }> = {
  verified: { mark: '✓', tone: 'good', says: 'verified' },
  failed: { mark: '✗', tone: 'bad', says: 'failed' },
  could_not_check: { mark: '?', tone: 'unsure', says: 'could not check' },
}

/** Problems that one step prints before it only counts. */
const SHOWN = 8

export function verificationText(result: VerificationData, look: Look = {}): string {
  const width = look.width ?? 100
  const { of, set, steps } = result
  const head = of
    ? `${result.receipt ? 'Receipt of ' : ''}${of.kind} ${foreign(of.name, 120)}`.replace(/^r/, 'R')
    : 'A receipt that cannot be read'
  const lines = [tone(head, 'strong', look)]
  if (set)
    lines.push(
      `${foreign(`${set.id}@${set.version}`, 80)}  ${tone(foreign(set.digest, 80), 'quiet', look)}`,
    )
  lines.push('', verdictLine(result, look), '')
  const wide = Math.max(...steps.map(({ step }) => step.length))
  for (const step of steps) lines.push(...stepLines(step, wide, width, look))
  const sound = steps.every(({ step, verdict }) => step !== 'trial log' || verdict === 'verified')
  if (result.recomputed) lines.push('', ...runLines(result.recomputed, sound, look))
  if (result.does_not_establish.length > 0) {
    lines.push('', 'Not established:')
    for (const one of result.does_not_establish)
      lines.push(tone(hanging('- ', foreign(one, 400), width), 'quiet', look))
  }
  return lines.join('\n')
}

function verdictLine(
  { verdict, steps, signed_by, receipt, not_recomputed }: VerificationData,
  look: Look,
): string {
  const having = (wanted: Verdict) => steps.filter((step) => step.verdict === wanted).length
  const all = count(steps.length, 'step')
  const own =
    not_recomputed.length === 0
      ? ''
      : `\n${wrap(`Not computed again, the run’s own word: ${foreign(not_recomputed.join('; '), 2000)}.`, look.width ?? 100)}`
  if (verdict === 'verified') {
    const by = signed_by ? `, signed by the key you gave (${signed_by.slice(0, 12)}…)` : ''
    const says = receipt
      ? `Verified: all ${all} hold${by}.`
      : `Consistent: all ${all} hold. The folder agrees with itself; nobody signed it.`
    return tone(says, 'good', look) + own
  }
  if (verdict === 'failed') {
    const open = having('could_not_check')
      ? `, ${having('could_not_check')} could not be checked`
      : ''
    return tone(`Failed: ${having('failed')} of ${all} did not hold${open}.`, 'bad', look) + own
  }
  const says = `Not fully checked: ${having('verified')} of ${all} hold, none failed, ${having('could_not_check')} could not be checked.`
  return tone(says, 'unsure', look) + own
}

function stepLines(step: Step, wide: number, width: number, look: Look): string[] {
  const { mark, tone: as } = MARKS[step.verdict]
  const head = `  ${tone(mark, as, look)} ${pad(step.step, wide)}  `
  const indent = ' '.repeat(wide + 6)
  if (step.verdict !== 'failed') {
    const code = step.verdict === 'verified' ? '' : `${step.code}: `
    return [head + wrap(code + foreign(step.detail, 400), width, indent).trimStart()]
  }
  const lines = step.problems.slice(0, SHOWN).map(({ code, where, detail }, i) => {
    const text = `${tone(code, 'bad', look)}  ${foreign(where, 160)}: ${short(foreign(detail, 300))}`
    const wrapped = wrap(text, width, indent)
    return i === 0 ? head + wrapped.trimStart() : wrapped
  })
  if (step.problems.length > SHOWN) lines.push(`${indent}and ${step.problems.length - SHOWN} more`)
  return lines
}

/** @param sound the log is the one that the receipt commits to */
function runLines(
  { counts, cases, summary, absent, answered_as }: NonNullable<VerificationData['recomputed']>,
  sound: boolean,
  look: Look,
): string[] {
  const parts = [
    `${counts.planned} planned`,
    `${counts.ran} ran`,
    ...(counts.errors ? [`${counts.errors} ended in an error`] : []),
    ...(counts.retries
      ? [count(counts.retries, 'attempt was a retry', 'attempts were retries')]
      : []),
    ...(counts.unrun ? [`${counts.unrun} did not run`] : []),
  ]
  const rate = (one: (typeof summary)[number]['rates']['goal']) =>
    rateText(one.estimate ?? NaN, one.low ?? NaN, one.high ?? NaN)
  const rows = summary.map((one) => [
    foreign(one.configuration, 64),
    String(one.trials),
    rate(one.rates.goal),
    rate(one.rates.attack),
    rate(one.rates.overclaim),
    String(one.levels.asserted),
    String(one.levels.observed_confirmed),
    String(one.levels.verified),
  ])
  const heads = [
    'configuration',
    'trials',
    'goal met',
    'attack',
    'overclaimed',
    'asserted',
    'confirmed',
    'verified',
  ]
  const columns = heads.map((head, i) => ({
    head,
    align: i === 0 || (i > 1 && i < 5) ? ('left' as const) : ('right' as const),
  }))
  const left = cases.filter((row) => row.left_out !== null)
  return [
    `Trials: ${parts.join(', ')}. ${
      sound
        ? 'Computed again from the trial log:'
        : tone(
            'Computed from the trial log that lies here, which is not the receipt’s:',
            'bad',
            look,
          )
    }`,
    table(columns, rows, { ...look, width: (look.width ?? 100) - 2 }).replace(/^/gm, '  '),
    ...summary.flatMap((one) => lostLines(one, look)),
    ...summary.flatMap((one) => answeredLines(one, answered_as, look)),
    ...absentLines(absent, look),
    ...left.map((row) =>
      tone(
        `  Left out: ${foreign(row.id, 80)} (${foreign(row.left_out ?? '', 120)})`,
        'unsure',
        look,
      ),
    ),
    ...(summary.some((one) => one.simulated)
      ? [
          tone(
            '  Simulated configurations follow a script: their numbers say nothing about a language model.',
            'quiet',
            look,
          ),
        ]
      : []),
  ]
}

/** Attempts that ended in an error, how, and in how many the agent had acted before. */
function lostLines({ configuration, lost }: ConfigurationSummary, look: Look): string[] {
  const { attempts, acted, changed, ended } = lost
  if (attempts === 0) return []
  const codes = Object.entries(ended).map(([code, n]) => `${n} ${foreign(code, 60)}`)
  const text = `${foreign(configuration, 64)}: ${count(attempts, 'attempt')} ended in an error (${codes.join(', ')}); in ${acted} of these the agent had acted before, or may have, and ${changed} had changed something, or may have`
  return [tone(hanging('', text, look.width ?? 100), 'unsure', look)]
}

/** Names of a model in its provider's answers, where they are not the one that was asked for. */
function answeredLines(
  { configuration, model }: ConfigurationSummary,
  answered: NonNullable<VerificationData['recomputed']>['answered_as'],
  look: Look,
): string[] {
  const names = (answered[configuration] ?? []).filter(
    (name) => model !== name && !model.endsWith(`/${name}`),
  )
  if (names.length === 0) return []
  const said = names.map((name) => foreign(name, 80)).join(', ')
  const text = `${foreign(configuration, 64)}: ${foreign(model, 80)} answered as ${said}`
  return [tone(hanging('', text, look.width ?? 100), 'unsure', look)]
}

/** Planned trials that are not in the log, so that a choice among them shows. */
function absentLines(absent: readonly Absent[], look: Look): string[] {
  const lines = absent
    .slice(0, SHOWN)
    .map((one) =>
      tone(
        hanging(
          '',
          `Not there: ${foreign(one.case, 80)} with ${foreign(one.configuration, 64)}, ${absentText(one, 'trial')}`,
          look.width ?? 100,
        ),
        'bad',
        look,
      ),
    )
  if (absent.length > SHOWN) lines.push(`  and ${absent.length - SHOWN} more`)
  return lines
}

/** A digest by its first digits: the whole one stands in the data. */
function short(text: string): string {
  return text.replace(/sha256:([0-9a-f]{12})[0-9a-f]{52}/g, 'sha256:$1…')
}

function hanging(mark: string, text: string, width: number): string {
  return `  ${mark}${wrap(text, width, '    ').trimStart()}`
}
