/** The list of trials: what a number counts. */
import type { Metric } from '../../../log/index.ts'
import type { TrialShown } from '../shape.ts'
import { held, whyText } from './data.ts'
import { append, type Child, h, hrefOf, link, type Params, scrolling } from './dom.ts'
import {
  caseAt,
  configurationAt,
  numberText,
  outcomeChip,
  timeText,
  usdText,
  yesNo,
} from './marks.ts'

/** Trials that are shown before a button asks for the rest. */
const FIRST_TRIALS = 150

/** A list of trials: what a number counts. */
export function trialsView(params: Params, go: (params: Params) => void): Child[] {
  const { configurations, metrics } = held.overview
  const metric = params['metric'] as Metric | undefined
  const sought = (params['text'] ?? '').toLowerCase()
  const kept = held.trials.filter((one) => {
    const { kind } = caseAt(one.case)
    if (params['configuration'] && configurationAt(one.configuration) !== params['configuration'])
      return false
    if (params['kind'] && kind !== params['kind']) return false
    if (params['outcome'] && one.outcome !== params['outcome']) return false
    if (params['level'] && one.levels[params['level'] as 'verified'] === 0) return false
    if (sought && !`${one.key} ${whyText(one)}`.toLowerCase().includes(sought)) return false
    // What a rate cannot judge it does not count.
    return !metric || one.scores[metric] !== null
  })
  const is = (value: number) =>
    metric ? kept.filter((one) => one.scores[metric] === value).length : 0
  const shown = params['is']
    ? kept.filter((one) => metric && one.scores[metric] === (params['is'] === 'yes' ? 1 : 0))
    : kept
  const label = metric ? metrics[metric].label : ''
  const what = [
    params['configuration'],
    params['kind'],
    params['outcome'],
    params['level'] && `with a write that is ${params['level']}`,
  ]
    .filter(Boolean)
    .join(', ')
  const choice = (name: string, text: string) =>
    h(
      'button',
      {
        type: 'button',
        'aria-pressed': String((params['is'] ?? '') === name),
        click: () => go({ ...params, is: name }),
      },
      text,
    )
  const find = h('input', {
    type: 'search',
    id: 'find',
    value: params['text'] ?? '',
    change: () => go({ ...params, text: (find as HTMLInputElement).value }),
  })
  const body = h('tbody', {})
  const fill = (from: number, to: number) => append(body, shown.slice(from, to).map(trialRow))
  fill(0, FIRST_TRIALS)
  const more = h(
    'button',
    {
      type: 'button',
      class: 'more',
      click: () => {
        fill(FIRST_TRIALS, shown.length)
        more.remove()
      },
    },
    `Show all ${shown.length} trials`,
  )
  return [
    h(
      'nav',
      { class: 'crumbs', 'aria-label': 'Way back' },
      link(hrefOf(''), {}, 'Run'),
      ' / trials',
    ),
    h('h1', { tabindex: -1 }, `${numberText(kept.length)} trials${what ? `: ${what}` : ''}`),
    metric &&
      configurations.length > 0 &&
      h(
        'div',
        { class: 'filters', role: 'group', 'aria-label': label },
        choice('', `all ${kept.length}`),
        choice('yes', `${label}: ${is(1)}`),
        choice('no', `not ${label}: ${is(0)}`),
      ),
    h(
      'div',
      { class: 'filters', role: 'search' },
      h('label', { for: 'find' }, 'Find in names and reasons'),
      find,
    ),
    h('p', { class: 'dim small', role: 'status' }, `${shown.length} shown`),
    scrolling(
      'Trials',
      h(
        'table',
        {},
        h(
          'thead',
          {},
          h(
            'tr',
            {},
            [
              'trial',
              'outcome',
              'goal',
              'attack',
              'overclaims',
              'calls',
              'tokens',
              'cost',
              'time',
            ].map((head) => h('th', { scope: 'col' }, head)),
          ),
        ),
        body,
      ),
    ),
    shown.length > FIRST_TRIALS && more,
  ]
}

function trialRow(one: TrialShown): HTMLElement {
  const { id } = caseAt(one.case)
  return h(
    'tr',
    {},
    h(
      'th',
      { scope: 'row' },
      link(hrefOf(`trial/${one.key}`), {}, `${id}, ${one.trial}`),
      h('div', { class: 'dim small' }, configurationAt(one.configuration)),
      whyText(one) && h('div', { class: 'why clamp' }, whyText(one)),
    ),
    h('td', {}, outcomeChip(one.outcome)),
    h('td', {}, yesNo(one.goal, false)),
    h('td', {}, yesNo(one.attack, true)),
    h('td', { class: 'num' }, one.overclaims === null ? '?' : one.overclaims),
    h('td', { class: 'num' }, one.calls),
    h('td', { class: 'num' }, numberText(one.tokens)),
    h('td', { class: 'num' }, usdText(one.usd)),
    h('td', { class: 'num' }, timeText(one.ms)),
  )
}
