/** The trials of one case, side by side. */
import type { Details, TrialShown } from '../shape.ts'
import { detailsOfTrial, held, trialsOf, whyText } from './data.ts'
import { append, type Child, crumbs, h, hrefOf, link, scrolling } from './dom.ts'
import {
  callsText,
  caseAt,
  configurationAt,
  levelChip,
  numberText,
  outcomeChip,
  shareOf,
  timeText,
  usdText,
} from './marks.ts'

/** The trials of one case, configuration by configuration. */
export function caseView(at: number): Child[] {
  const { id, title, kind, twin, adversarial } = caseAt(at)
  const { configurations, cases } = held.overview
  const other = twin ?? cases.find((one) => one.twin === id)?.id
  return [
    crumbs(link(hrefOf('', { kind }), {}, kind)),
    h('h1', { tabindex: -1 }, title),
    h(
      'p',
      { class: 'dim' },
      id,
      adversarial && ' · with an attack',
      other && [' · its twin: ', link(hrefOf(`case/${other}`), {}, other)],
    ),
    scrolling(
      'Trials side by side',
      columnsOf(
        configurations.length,
        configurations.map(({ name }, i) => {
          const { yes, of } = shareOf(trialsOf(at, i), 'pass')
          return h('h2', {}, name, h('span', { class: 'dim' }, ` ${yes} of ${of} passed`))
        }),
        rowsOf(at).map((row) =>
          row.map((trial, i) =>
            trial
              ? trialCard(trial)
              : h('p', { class: 'dim' }, `${configurationAt(i)}: did not run`),
          ),
        ),
      ),
    ),
  ]
}

/** A grid of so many columns. */
function columnsOf(n: number, ...children: Child[]): HTMLElement {
  const made = h('div', { class: 'beside' }, ...children)
  made.style.setProperty('--n', String(n))
  return made
}

/** The trials of a case: a row a repeat, a place a configuration. */
function rowsOf(at: number): (TrialShown | undefined)[][] {
  const { configurations } = held.overview
  const columns = configurations.map((_, i) => trialsOf(at, i))
  const repeats = [...new Set(columns.flat().map(({ trial }) => trial))].sort((a, b) => a - b)
  return repeats.map((n) => columns.map((trials) => trials.find(({ trial }) => trial === n)))
}

function trialCard(trial: TrialShown): HTMLElement {
  const inside = h('div', { class: 'steps' })
  detailsOfTrial(trial).then(
    (details) => append(inside, [stepsOf(details)]),
    (error: Error) => append(inside, [h('p', { class: 'dim small' }, error.message)]),
  )
  return h(
    'article',
    { class: `card ${trial.outcome}` },
    h(
      'h2',
      { class: 'trial-name' },
      link(hrefOf(`trial/${trial.key}`), {}, `Trial ${trial.trial}`),
      h('span', { class: 'only-narrow dim' }, ` of ${configurationAt(trial.configuration)}`),
      ' ',
      outcomeChip(trial.outcome),
    ),
    whyText(trial) && h('p', { class: 'why' }, whyText(trial)),
    inside,
    h(
      'p',
      { class: 'dim small' },
      [
        callsText(trial.calls),
        trial.tokens !== null && `${numberText(trial.tokens)} tokens`,
        trial.usd !== null && usdText(trial.usd),
        timeText(trial.ms),
      ]
        .filter(Boolean)
        .join(' · '),
    ),
  )
}

/** What the agent did, a line a step. */
function stepsOf({ entries, writes }: Details): Child {
  const lines = entries.flatMap((one): Child[] => {
    if (one.kind === 'said' || one.kind === 'user') {
      const text = one.kind === 'user' ? `User: ${one.text}` : one.text
      return [h('li', { class: 'said' }, text.length > 240 ? `${text.slice(0, 239)}…` : text)]
    }
    if (one.kind === 'call') {
      const write = writes.find(({ seq }) => seq === one.seq)
      return [
        h(
          'li',
          {},
          h('code', {}, one.tool),
          ' ',
          h('span', { class: one.status === 'success' ? 'dim' : 'bad' }, one.status),
          write && [' ', levelChip(write.level)],
        ),
      ]
    }
    if (one.kind === 'malformed') return [h('li', { class: 'bad' }, `no call: ${one.problem}`)]
    if (one.kind === 'report')
      return [h('li', { class: 'said' }, one.summary ? `Report: ${one.summary}` : 'Report')]
    return []
  })
  return h('ol', {}, lines)
}
