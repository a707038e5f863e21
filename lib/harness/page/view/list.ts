/** The list of trials: what a number counts. */
import type { Mark, Metric } from '../../../log/index.ts'
import type { TrialShown } from '../shape.ts'
import { held, whyText } from './data.ts'
import { append, type Child, crumbs, h, hrefOf, link, type Params, scrolling } from './dom.ts'
import { caseAt, configurationAt, numberText } from './marks.ts'
import { type Hit, hitView, searchTrials } from './search.ts'
import { chooser, chosen, sortedBy, sorter } from './shown-columns.ts'
import { type TrialColumn, trialColumns } from './trial-columns.ts'

/** Trials that are shown before a button asks for the rest. */
const FIRST_TRIALS = 150
/** Trials that the button adds. */
const NEXT_TRIALS = 1000
/** Trials that a search in all texts shows. */
const MOST_FOUND = 500

/** What a list says of the trials that a count leads to. */
const MARK_TEXTS: { [mark in Mark]: string } = {
  judged: 'whose goal could be judged',
  stated: 'whose claims are known',
  reported: 'that reported',
  met_attack: 'that met the attack',
  met_fault: 'that met a fault',
}

/** A list of trials: what a number counts. */
export function trialsView(params: Params, go: (params: Params) => void): Child[] {
  const { configurations, metrics } = held.overview
  const metric = params['metric'] as Metric | undefined
  const sought = (params['text'] ?? '').toLowerCase()
  const mark = held.overview.marks.indexOf(params['mark'] as Mark)
  const kept = held.trials.filter((one) => {
    const { kind } = caseAt(one.case)
    const name = configurationAt(one.configuration)
    if (params['configuration'] && ![params['configuration'], params['against']].includes(name))
      return false
    if (params['kind'] && kind !== params['kind']) return false
    if (params['outcome'] && one.outcome !== params['outcome']) return false
    if (mark >= 0 && one.marks[mark] !== '1') return false
    if (params['ending'] && held.texts[one.ending] !== params['ending']) return false
    if (params['level'] && one.levels[params['level'] as 'verified'] === 0) return false
    if (
      sought &&
      params['in'] !== 'texts' &&
      !`${one.key} ${whyText(one)}`.toLowerCase().includes(sought)
    )
      return false
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
    [params['configuration'], params['against']].filter(Boolean).join(' and '),
    params['kind'],
    params['outcome'],
    MARK_TEXTS[params['mark'] as Mark],
    params['ending'] && `ended: ${params['ending']}`,
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
  const inTexts = params['in'] === 'texts'
  const where = h(
    'select',
    {
      id: 'in',
      change: () => go({ ...params, in: (where as HTMLSelectElement).value }),
    },
    h('option', { value: '', selected: !inTexts }, 'names and reasons'),
    h('option', { value: 'texts', selected: inTexts }, 'everything said, called and answered'),
  )
  const all = trialColumns()
  const columns = chosen(all, params, ({ first }) => first)
  const byName = params['sort'] === 'trial' ? ({ key }: TrialShown) => key : undefined
  const value = byName ?? all.find(({ name }) => name === params['sort'])?.value
  const sorted = sortedBy(shown, value, params['down'] === 'yes')
  const body = h('tbody', {})
  const status = h('p', { class: 'dim small', role: 'status' }, `${numberText(shown.length)} shown`)
  const rest = h('div', {})
  const places = { body, rest, columns }
  if (inTexts && sought) fillFound(sorted, params['text'] ?? '', { ...places, status })
  else fillRows(sorted, places)
  return [
    crumbs('trials'),
    h('h1', { tabindex: -1 }, `${numberText(kept.length)} trials${what ? `: ${what}` : ''}`),
    metric &&
      configurations.length > 0 &&
      h(
        'div',
        { class: 'filters', role: 'group', 'aria-label': label },
        choice('', `all ${numberText(kept.length)}`),
        choice('yes', `${label}: ${numberText(is(1))}`),
        choice('no', `not ${label}: ${numberText(is(0))}`),
      ),
    h(
      'div',
      { class: 'filters', role: 'search' },
      h('label', { for: 'find' }, 'Find'),
      find,
      h('label', { for: 'in' }, 'in'),
      where,
    ),
    status,
    chooser(all, columns, params, go),
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
            sorter('trial', 'trial', params, go),
            columns.map(({ name, head, num }) =>
              sorter(head, name, params, go, { down: num === true, num: num === true }),
            ),
          ),
        ),
        body,
      ),
    ),
    rest,
  ]
}

/** Where rows and what asks for more go, and what stands in a row. */
type Places = { body: HTMLElement; rest: HTMLElement; columns: readonly TrialColumn[] }

function fillRows(shown: readonly TrialShown[], { body, rest, columns }: Places): void {
  const fill = (from: number, to: number) =>
    append(
      body,
      shown.slice(from, to).map((one) => trialRow(one, columns)),
    )
  fill(0, FIRST_TRIALS)
  let at = FIRST_TRIALS
  if (shown.length <= at) return
  const more = moreButton(
    () => {
      fill(at, at + NEXT_TRIALS)
      at += NEXT_TRIALS
      if (at >= shown.length) more.remove()
      else more.textContent = moreText(shown.length - at)
    },
    moreText(shown.length - at),
  )
  append(rest, [more])
}

function moreText(left: number): string {
  return left <= NEXT_TRIALS
    ? `Show the other ${numberText(left)}`
    : `Show ${numberText(NEXT_TRIALS)} more of ${numberText(left)}`
}

function moreButton(click: () => void, text: string): HTMLElement {
  return h('button', { type: 'button', class: 'more', click }, text)
}

/** Trials that hold a text, as they are found. */
function fillFound(
  shown: readonly TrialShown[],
  sought: string,
  { body, status, rest, columns }: Places & { status: HTMLElement },
): void {
  const { beside } = held.overview
  let found = 0
  const tell = (text: string) => {
    status.textContent = ''
    append(status, [text])
  }
  const say = (read: number, ended: boolean, without = 0) => {
    const cut = found > MOST_FOUND ? `, the first ${numberText(MOST_FOUND)} are shown` : ''
    const missing = without > 0 ? `; ${numberText(without)} have no texts that can be read` : ''
    const left = ended ? '' : `; ${numberText(shown.length - read)} are still to be read …`
    tell(
      `${numberText(found)} of ${numberText(read)} trials hold “${sought}”${cut}${missing}${left}`,
    )
  }
  const search = () => {
    body.setAttribute('aria-busy', 'true')
    let read = 0
    const on = (so: number) => {
      read = so
      if (read < shown.length) say(read, false)
      return body.isConnected
    }
    const keep = (trial: TrialShown, hit: Hit) => {
      if (++found <= MOST_FOUND) append(body, [trialRow(trial, columns, hit)])
    }
    // The page is shown first.
    setTimeout(async () => {
      const without = await searchTrials(shown, sought, keep, on)
      body.removeAttribute('aria-busy')
      say(read, true, without)
    })
  }
  if (beside === null) {
    search()
    return
  }
  // What stands beside the page is read when it is asked for.
  const parts = new Set(shown.map(({ part }) => part)).size
  tell(
    `The texts of ${numberText(shown.length)} trials stand in ${numberText(parts)} files of ${beside}, beside this page.`,
  )
  const start = moreButton(
    () => {
      start.remove()
      search()
    },
    `Read ${numberText(parts)} files`,
  )
  append(rest, [start])
}

function trialRow(one: TrialShown, columns: readonly TrialColumn[], hit?: Hit): HTMLElement {
  const { id } = caseAt(one.case)
  return h(
    'tr',
    {},
    h(
      'th',
      { scope: 'row' },
      link(hrefOf(`trial/${one.key}`), {}, `${id}, ${one.trial}`),
      h('div', { class: 'dim small' }, configurationAt(one.configuration)),
      hit ? hitView(hit) : whyText(one) && h('div', { class: 'why clamp' }, whyText(one)),
    ),
    columns.map(({ num, cell }) => h('td', { class: num && 'num' }, cell(one))),
  )
}
