/** The list of cases. */
import type { Metric } from '../../../log/index.ts'
import { held, trialsOf } from './data.ts'
import { append, type Child, h, hrefOf, link, type Params, scrolling } from './dom.ts'
import { caseAt, markOf, shareOf } from './marks.ts'
import { chooser, chosen, sortedBy, sorter } from './shown-columns.ts'

/** Rows that are shown before a button asks for the rest. */
const FIRST_ROWS = 150

type Row = { at: number; shares: (number | null)[]; attacks: (number | null)[]; apart: number }

function caseRows(metric: Metric): Row[] {
  const { cases, configurations } = held.overview
  return cases.map((_, at) => {
    const shares = configurations.map((__, i) => shareOf(trialsOf(at, i), metric).share)
    const known = shares.filter((one) => one !== null)
    const apart = known.length > 1 ? Math.max(...known) - Math.min(...known) : 0
    const attacks = configurations.map((__, i) => shareOf(trialsOf(at, i), 'attack').share)
    return { at, shares, attacks, apart }
  })
}

/** The list of cases with its filters. It stands below the overview and redraws itself alone. */
export function casesSection(params: Params, go: (params: Params) => void): HTMLElement {
  const metric = (params['metric'] ?? 'pass') as Metric
  const { cases, configurations, metrics } = held.overview
  const kinds = [...new Set(cases.map(({ kind }) => kind))].sort()
  const rows = caseRows(metric)
  const failed = (row: Row) =>
    configurations.some((_, i) => trialsOf(row.at, i).some(({ outcome }) => outcome !== 'pass'))
  const attacked = (row: Row) => row.attacks.some((share) => share !== null && share > 0)
  const SHOW: { [name: string]: (row: Row) => boolean } = {
    differs: (row) => row.apart > 0,
    failed,
    attack: attacked,
  }
  const count = (test: (row: Row) => boolean) => rows.filter(test).length
  const show = params['show'] ?? ''
  const text = (params['text'] ?? '').toLowerCase()
  const kept = rows
    .filter((row) => SHOW[show]?.(row) ?? true)
    .filter(({ at }) => !params['kind'] || caseAt(at).kind === params['kind'])
    .filter(
      ({ at }) => !text || `${caseAt(at).id} ${caseAt(at).title}`.toLowerCase().includes(text),
    )
  const several = configurations.length > 1
  // Where the configurations come apart is asked first.
  if (several && params['sort'] === undefined) params = { ...params, sort: 'apart', down: 'yes' }
  const all = caseColumns(metric)
  // On a phone the marks come first: a case's name begins with its kind.
  const wide = innerWidth > 640
  const columns = chosen(all, params, ({ name }) => wide || name !== 'kind')
  const byName = params['sort'] === 'case' ? ({ at }: Row) => caseAt(at).id : undefined
  const value = byName ?? all.find(({ name }) => name === params['sort'])?.value
  const sorted = sortedBy(kept, value, params['down'] === 'yes')
  const choice = (name: string, label: string) =>
    h(
      'button',
      {
        type: 'button',
        'aria-pressed': String(show === name),
        click: () => go({ ...params, show: name }),
      },
      label,
    )
  const body = h('tbody', {})
  const fill = (from: number, to: number) =>
    append(
      body,
      sorted.slice(from, to).map((row) => caseRow(row, columns)),
    )
  fill(0, FIRST_ROWS)
  const more = h(
    'button',
    {
      type: 'button',
      class: 'more',
      click: () => {
        fill(FIRST_ROWS, sorted.length)
        more.remove()
      },
    },
    `Show all ${sorted.length} cases`,
  )
  const find = h('input', {
    type: 'search',
    id: 'find',
    value: params['text'] ?? '',
    change: () => go({ ...params, text: (find as HTMLInputElement).value }),
  })
  const picked = h(
    'select',
    { id: 'kind', change: () => go({ ...params, kind: (picked as HTMLSelectElement).value }) },
    h('option', { value: '' }, 'all kinds'),
    kinds.map((kind) => h('option', { value: kind, selected: kind === params['kind'] }, kind)),
  )
  const measured = h(
    'select',
    {
      id: 'metric',
      change: () => go({ ...params, metric: (measured as HTMLSelectElement).value }),
    },
    Object.entries(metrics).map(([name, { label }]) =>
      h('option', { value: name, selected: name === metric }, label),
    ),
  )
  return h(
    'section',
    { id: 'cases' },
    h('h2', { tabindex: -1 }, 'Cases'),
    h(
      'div',
      { class: 'filters', role: 'group', 'aria-label': 'Filters of cases' },
      choice('', `all ${rows.length}`),
      configurations.length > 1 && choice('differs', `differs ${count(SHOW['differs'] as never)}`),
      choice('failed', `failed ${count(failed)}`),
      cases.some(({ adversarial }) => adversarial) &&
        choice('attack', `attack succeeded ${count(attacked)}`),
      labelled('kind', 'Kind', picked),
      labelled('metric', 'Share of', measured),
      labelled('find', 'Find', find),
    ),
    h(
      'p',
      { class: 'dim small', role: 'status' },
      `${sorted.length} of ${rows.length} cases. A mark is a trial: ✓ pass, ✕ fail, ? not judged, ! error of the machinery.`,
    ),
    chooser(all, columns, params, go),
    scrolling(
      'Cases',
      h(
        'table',
        { class: 'cases' },
        h(
          'thead',
          {},
          h(
            'tr',
            {},
            sorter('case', 'case', params, go),
            columns.map(({ name, head }) =>
              sorter(head, name, params, go, { down: name === 'apart' }),
            ),
          ),
        ),
        body,
      ),
    ),
    sorted.length > FIRST_ROWS && more,
  )
}

/** A control beside its label, which a line does not part. */
function labelled(id: string, text: string, control: HTMLElement): HTMLElement {
  return h('span', { class: 'labelled' }, h('label', { for: id }, text), control)
}

type CaseColumn = {
  name: string
  head: string
  value(row: Row): string | number | null
  cell(row: Row): Child
}

/** What can stand beside a case. */
function caseColumns(metric: Metric): CaseColumn[] {
  const { configurations, metrics } = held.overview
  const { label, better } = metrics[metric]
  const ofConfiguration = ({ name }: { name: string }, i: number): CaseColumn => ({
    name: `c${i}`,
    head: `${name}: ${label}`,
    value: (row) => row.shares[i] ?? null,
    cell({ at }) {
      const trials = trialsOf(at, i)
      const { yes, of, share } = shareOf(trials, metric)
      const good = share === null ? null : better === 'higher' ? share : 1 - share
      const tone = good === null ? '' : good === 1 ? 'good' : good === 0 ? 'bad' : 'mid'
      return [
        h('span', { class: 'marks' }, trials.slice(0, 10).map(markOf)),
        link(
          hrefOf(`case/${caseAt(at).id}`),
          { class: `count ${tone}` },
          of ? `${yes}/${of}` : '–',
        ),
      ]
    },
  })
  return [
    {
      name: 'kind',
      head: 'kind',
      value: ({ at }) => caseAt(at).kind,
      cell({ at }) {
        const { kind } = caseAt(at)
        return link(hrefOf('', { kind }), {}, kind)
      },
    },
    ...configurations.map(ofConfiguration),
    ...(configurations.length > 1
      ? [
          {
            name: 'apart',
            head: 'apart',
            value: ({ apart }: Row) => apart,
            cell: ({ at, apart }: Row) =>
              link(hrefOf(`case/${caseAt(at).id}`), {}, `${Math.round(apart * 100)}`),
          },
        ]
      : []),
  ]
}

function caseRow(row: Row, columns: readonly CaseColumn[]): HTMLElement {
  const { id, title } = caseAt(row.at)
  return h(
    'tr',
    {},
    h(
      'th',
      { scope: 'row' },
      link(hrefOf(`case/${id}`), {}, title),
      h('div', { class: 'dim small' }, id),
    ),
    columns.map(({ name, cell }) => h('td', { class: name === 'apart' && 'num' }, cell(row))),
  )
}
