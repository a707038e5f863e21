/** The first view: verdict, rates, cost, kinds, charts. */
import type { Metric } from '../../../log/index.ts'
import type { ComparisonShown, Overview, TrialShown } from '../shape.ts'
import { held } from './data.ts'
import { append, type Child, h, hrefOf, link, scrolling } from './dom.ts'
import { bar, caseAt, numberText, shareOf, verdictChip } from './marks.ts'

/** The rates of the first table; the others are one fold away. */
const FIRST: Metric[] = ['goal', 'attack', 'overclaim']

export function overviewView(): Child[] {
  const { overview } = held
  const sure = overview.configurations.length > 0
  return [
    h(
      'header',
      { class: 'head' },
      h('p', { class: 'dim' }, `Run ${overview.id}, ${overview.created}`),
      h('h1', { tabindex: -1 }, headline(overview)),
      overview.comparisons.slice(0, 1).map(({ lead }) => h('p', { class: 'lead' }, lead)),
      h('p', { class: 'dim' }, overview.size),
      overview.alerts.map((text) => h('p', { class: 'alert' }, text)),
      overview.notes.map((text) => h('p', { class: 'note' }, text)),
    ),
    overview.comparisons.map(comparisonSection),
    sure &&
      section(
        'Rates',
        ratesTable(overview),
        'Rate with its 95% interval. First line: run again, on exactly these cases. Second line: other cases like these. An error of the machinery is in no rate. A number leads to the trials that it counts.',
      ),
    overview.coverage !== '' &&
      h(
        'section',
        {},
        h('h2', {}, 'What the rates speak about'),
        h('pre', { class: 'wide', tabindex: 0 }, overview.coverage),
      ),
    sure &&
      section(
        'Cost',
        costTable(overview),
        'Per trial, where it is known. The difference is the mean over cases of how far their medians (of tokens and cost: means) lie apart.',
      ),
    section(
      'Kinds of cases',
      kindsTable(overview),
      'Trials of which it is true, of those that could be judged.',
    ),
  ]
}

function section(title: string, table: HTMLElement, note: string): HTMLElement {
  return h(
    'section',
    {},
    h('h2', {}, title),
    scrolling(title, table),
    h('p', { class: 'dim small' }, note),
  )
}

function headline({ comparisons, configurations }: Overview): string {
  const [first] = comparisons
  return first
    ? first.headline
    : `${configurations.map(({ name }) => name).join(', ')}: how it went`
}

function comparisonSection({ a, b, notes, metrics }: ComparisonShown): HTMLElement {
  const rows = metrics.map(({ metric, label, again, other }) =>
    h(
      'tr',
      {},
      h('th', { scope: 'row' }, link(hrefOf('', { show: 'differs', metric }), {}, label)),
      [again, other].map((one) => [
        h('td', {}, one ? verdictChip(one.verdict) : '–'),
        h(
          'td',
          { class: 'num' },
          one ? link(hrefOf('', { show: 'differs', metric }), {}, one.difference) : '–',
        ),
        h('td', { class: 'num dim' }, one?.p ?? '–'),
      ]),
    ),
  )
  return h(
    'section',
    {},
    h('h2', {}, `${b} against ${a}`),
    scrolling(
      `${b} against ${a}`,
      h(
        'table',
        {},
        h(
          'thead',
          {},
          h(
            'tr',
            {},
            h('td', {}),
            h('th', { scope: 'colgroup', colspan: 3 }, 'Run again: these cases'),
            h('th', { scope: 'colgroup', colspan: 3 }, 'Other cases like these'),
          ),
          h(
            'tr',
            {},
            h('th', { scope: 'col' }, 'metric'),
            ['run again', 'other cases'].map((what) => [
              h('th', { scope: 'col' }, `${b} is`),
              h('th', { scope: 'col', class: 'num' }, `${b} − ${a}`),
              h('th', { scope: 'col', class: 'num', title: `${what}: p` }, 'p'),
            ]),
          ),
        ),
        h('tbody', {}, rows),
      ),
    ),
    notes.map((text) => h('p', { class: 'dim small' }, text)),
  )
}

function ratesTable({ configurations, metrics }: Overview): HTMLElement {
  const levels = ['asserted', 'observed_confirmed', 'verified'] as const
  return h(
    'table',
    {},
    h(
      'thead',
      {},
      h(
        'tr',
        {},
        h('th', { scope: 'col' }, 'configuration'),
        h('th', { scope: 'col', class: 'num' }, 'trials'),
        FIRST.map((metric) => h('th', { scope: 'col' }, metrics[metric].label)),
        h('th', { scope: 'col' }, 'writes by level of evidence'),
      ),
    ),
    h(
      'tbody',
      {},
      configurations.map(({ name, model, trials, errors, unrun, rates, levels: counts }) =>
        h(
          'tr',
          {},
          h(
            'th',
            { scope: 'row' },
            link(hrefOf('trials', { configuration: name }), {}, name),
            h('div', { class: 'dim small' }, model),
          ),
          h(
            'td',
            { class: 'num' },
            link(hrefOf('trials', { configuration: name }), {}, numberText(trials)),
            errors > 0 &&
              h(
                'div',
                { class: 'small' },
                link(
                  hrefOf('trials', { configuration: name, outcome: 'error' }),
                  { class: 'bad' },
                  `${errors} errors`,
                ),
              ),
            unrun > 0 && h('div', { class: 'bad small' }, `${unrun} not run`),
          ),
          FIRST.map((metric) =>
            h(
              'td',
              {},
              link(
                hrefOf('trials', { configuration: name, metric }),
                { class: 'rate' },
                rates[metric].again,
              ),
              bar(rates[metric], metrics[metric].better),
              h('div', { class: 'dim small' }, rates[metric].other),
            ),
          ),
          h(
            'td',
            {},
            levels.map((level) =>
              h(
                'div',
                { class: 'small' },
                link(
                  hrefOf('trials', { configuration: name, level }),
                  {},
                  `${numberText(counts[level])} ${level}`,
                ),
              ),
            ),
          ),
        ),
      ),
    ),
  )
}

function costTable({ configurations, comparisons }: Overview): HTMLElement {
  const heads = ['median time', 'median calls', 'mean tokens', 'mean cost']
  return h(
    'table',
    {},
    h(
      'thead',
      {},
      h(
        'tr',
        {},
        h('th', { scope: 'col' }, 'configuration'),
        heads.map((head) => h('th', { scope: 'col', class: 'num' }, head)),
      ),
    ),
    h(
      'tbody',
      {},
      configurations.map(({ name, cost }) =>
        h(
          'tr',
          {},
          h('th', { scope: 'row' }, name),
          [cost.time, cost.calls, cost.tokens, cost.usd].map((text) =>
            h('td', { class: 'num' }, link(hrefOf('trials', { configuration: name }), {}, text)),
          ),
        ),
      ),
      comparisons.map(({ a, b, measures }) =>
        h(
          'tr',
          {},
          h('th', { scope: 'row' }, `${b} − ${a}`),
          measures.map((one) =>
            h(
              'td',
              { class: 'num' },
              one
                ? [one.difference, h('div', { class: 'dim small' }, `p ${one.p}`)]
                : h('span', { class: 'dim' }, '–'),
            ),
          ),
        ),
      ),
    ),
  )
}

function kindsTable({ configurations, cases, metrics }: Overview): HTMLElement {
  const byKind = Map.groupBy(held.trials, (one) => `${caseAt(one.case).kind}|${one.configuration}`)
  const shown: Metric[] = cases.some(({ adversarial }) => adversarial)
    ? FIRST
    : ['goal', 'overclaim']
  return h(
    'table',
    {},
    h(
      'thead',
      {},
      h(
        'tr',
        {},
        h('td', { colspan: 2 }),
        shown.map((metric) =>
          h('th', { scope: 'colgroup', colspan: configurations.length }, metrics[metric].label),
        ),
      ),
      h(
        'tr',
        {},
        h('th', { scope: 'col' }, 'kind'),
        h('th', { scope: 'col', class: 'num' }, 'cases'),
        shown.map(() =>
          configurations.map(({ name }) => h('th', { scope: 'col', class: 'num' }, name)),
        ),
      ),
    ),
    kindsBody(byKind, shown),
  )
}

/** Kinds up to which all are shown at once. */
const FIRST_KINDS = 12

/** A row a kind, the kind that comes out worst first; the rest is asked for. */
function kindsBody(
  byKind: ReadonlyMap<string, readonly TrialShown[]>,
  shown: readonly Metric[],
): HTMLElement {
  const { cases, configurations, kinds, metrics } = held.overview
  const counts = new Map<string, number>()
  for (const { kind } of cases) counts.set(kind, (counts.get(kind) ?? 0) + 1)
  const rows = kinds.map((kind) => {
    const cells = shown.flatMap((metric) =>
      configurations.map(({ name }, i) => {
        const { yes, of, share } = shareOf(byKind.get(`${kind}|${i}`) ?? [], metric)
        const good = share === null ? null : metrics[metric].better === 'higher' ? share : 1 - share
        return { metric, name, good, said: `${yes}/${of}` }
      }),
    )
    return { kind, n: counts.get(kind) ?? 0, cells }
  })
  const body = h('tbody', {})
  const fill = (from: number, to: number) =>
    append(
      body,
      rows.slice(from, to).map(({ kind, n, cells }) =>
        h(
          'tr',
          {},
          h('th', { scope: 'row' }, link(hrefOf('', { kind }), {}, kind)),
          h('td', { class: 'num' }, link(hrefOf('', { kind }), {}, n)),
          cells.map(({ metric, name, good, said }) =>
            good === null
              ? h('td', { class: 'num dim' }, '–')
              : h(
                  'td',
                  { class: `num heat ${good === 1 ? 'all' : good === 0 ? 'none' : 'some'}` },
                  link(hrefOf('trials', { kind, configuration: name, metric }), {}, said),
                ),
          ),
        ),
      ),
    )
  fill(0, FIRST_KINDS)
  if (rows.length > FIRST_KINDS) {
    const rest = h('tr', { class: 'rest' })
    const click = () => {
      rest.remove()
      fill(FIRST_KINDS, rows.length)
    }
    const text = `Show the other ${rows.length - FIRST_KINDS} kinds`
    append(rest, [
      h(
        'td',
        { colspan: 2 + shown.length * configurations.length },
        h('button', { type: 'button', click }, text),
      ),
    ])
    append(body, [rest])
  }
  return body
}
