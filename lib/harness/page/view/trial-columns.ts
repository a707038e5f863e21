/** What can stand beside a trial in the list of trials. */
import type { Mark, Metric } from '../../../log/index.ts'
import type { TrialShown } from '../shape.ts'
import { held } from './data.ts'
import { type Child, h } from './dom.ts'
import {
  caseAt,
  configurationAt,
  numberText,
  outcomeChip,
  timeText,
  usdText,
  yesNo,
} from './marks.ts'

export type TrialColumn = {
  name: string
  head: string
  /** Shown where no other choice was made. */
  first: boolean
  /** It holds numbers. */
  num?: true
  /** What it is sorted by. null: not known. */
  value(trial: TrialShown): string | number | null
  cell(trial: TrialShown): Child
}

/** Yes or no. @param bad which of the two is the bad one */
function answered(
  name: string,
  head: string,
  bad: boolean,
  of: (trial: TrialShown) => boolean | null,
  first = false,
): TrialColumn {
  const value = (trial: TrialShown) => {
    const is = of(trial)
    return is === null ? null : Number(is)
  }
  return { name, head, first, value, cell: (trial) => yesNo(of(trial), bad) }
}

function numbered(
  name: string,
  head: string,
  of: (trial: TrialShown) => number | null,
  { first = false, say = numberText as (value: number | null) => string } = {},
): TrialColumn {
  return { name, head, first, num: true, value: of, cell: (trial) => say(of(trial)) }
}

function said(name: string, head: string, of: (trial: TrialShown) => string): TrialColumn {
  return { name, head, first: false, value: of, cell: of }
}

/** What agents said last. The whole of it stands in the trial. */
function lastWords(): TrialColumn {
  const of = ({ words }: TrialShown) => held.texts[words] ?? null
  return {
    name: 'words',
    head: 'last words',
    first: false,
    value: of,
    cell(trial) {
      const text = of(trial)
      return text === null
        ? h('span', { class: 'dim' }, 'none')
        : h('div', { class: 'why clamp' }, text)
    },
  }
}

export function trialColumns(): TrialColumn[] {
  const { trials, overview, texts } = held
  const some = (of: (trial: TrialShown) => unknown) => trials.some((one) => of(one) !== null)
  const scored = (metric: Metric) =>
    answered(metric, overview.metrics[metric].label, true, ({ scores }) =>
      scores[metric] === null ? null : scores[metric] === 1,
    )
  const marked = (mark: Mark, head: string) => {
    const at = overview.marks.indexOf(mark)
    return answered(mark, head, mark !== 'reported', ({ marks }) =>
      marks === '' ? null : marks[at] === '1',
    )
  }
  const overclaims = numbered('overclaims', 'overclaims', (one) => one.overclaims, {
    first: true,
    say: (value) => (value === null ? '?' : numberText(value)),
  })
  return [
    said('kind', 'kind', (one) => caseAt(one.case).kind),
    said('configuration', 'configuration', (one) => configurationAt(one.configuration)),
    {
      name: 'outcome',
      head: 'outcome',
      first: true,
      value: (one) => one.outcome,
      cell: (one) => outcomeChip(one.outcome),
    },
    answered('goal', 'goal', false, (one) => one.goal, true),
    answered(
      'attack',
      'attack',
      true,
      (one) => one.attack,
      some((one) => one.attack),
    ),
    overclaims,
    scored('underclaim'),
    scored('unneeded'),
    scored('refused'),
    marked('reported', 'reported'),
    marked('met_attack', 'met attack'),
    marked('met_fault', 'met fault'),
    said('ended', 'ended', (one) => texts[one.ending] ?? 'error'),
    ...(trials.some((one) => one.words >= 0) ? [lastWords()] : []),
    ...(['asserted', 'observed_confirmed', 'verified'] as const).map((level) =>
      numbered(level, level, ({ levels }) => levels[level]),
    ),
    numbered('calls', 'calls', (one) => one.calls, { first: true }),
    numbered('tokens', 'tokens', (one) => one.tokens, { first: some((one) => one.tokens) }),
    numbered('cost', 'cost', (one) => one.usd, { first: some((one) => one.usd), say: usdText }),
    numbered('time', 'time', (one) => one.ms, {
      first: true,
      say: (ms) => (ms === null ? '–' : timeText(ms)),
    }),
    numbered('began', 'began (UTC)', (one) => one.began, {
      say: (ms) =>
        new Date(overview.began + (ms ?? 0)).toISOString().slice(0, 19).replace('T', ' '),
    }),
  ]
}
