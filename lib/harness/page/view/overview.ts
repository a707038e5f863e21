/** The first view: verdict, rates, cost, kinds, charts. */
import type { Metric } from '../../../log/index.ts'
import type { CoverageShown } from '../coverage.ts'
import type { ComparisonShown, Overview, Said } from '../shape.ts'
import { held } from './data.ts'
import { type Child, h, hrefOf, link, scrolling } from './dom.ts'
import { kindsTable } from './kinds.ts'
import { bar, numberText, verdictChip } from './marks.ts'
import { activitySection } from './pictures.ts'

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
      overview.comparisons.slice(0, 1).map(({ lead }) => saying(lead, 'lead')),
      saying(overview.size, 'dim'),
      overview.alerts.map((one) => saying(one, 'alert')),
      overview.notes.map((one) => saying(one, 'note')),
      findTrials(),
    ),
    overview.comparisons.map(comparisonSection),
    sure &&
      section(
        'Rates',
        ratesTable(overview),
        'Rate with its 95% interval. First line: run again, on exactly these cases. Second line: other cases like these. An error of the machinery is in no rate. A number leads to the trials that it counts.',
        overview.unclassified,
      ),
    overview.coverage && coverageSection(overview.coverage),
    sure &&
      section(
        'Cost',
        costTable(overview),
        'Per trial, where it is known. The difference is the mean over cases of how far their medians (of tokens and cost: means) lie apart.',
      ),
    activitySection(overview),
    section(
      'Kinds of cases',
      kindsTable(overview),
      'Trials of which it is true, of those that could be judged.',
    ),
  ]
}

/** What the rates speak about: each count leads to its trials. */
function coverageSection({ heads, rows, notes }: CoverageShown): HTMLElement {
  const trials = (configuration: string, marks: { [name: string]: string }, text: string) =>
    link(hrefOf('trials', { configuration, ...marks }), {}, text)
  const number = (text: Child) => h('td', { class: 'num' }, text)
  const title = 'What the rates speak about'
  const [explained, ...others] = notes
  const reached = tableOf(
    heads.reached,
    rows.map(({ name, reached }) => [
      name,
      reached.map(({ text, mark }) =>
        number(mark && text !== '-' ? trials(name, { mark }, text) : text),
      ),
    ]),
  )
  const took = tableOf(
    [...heads.took, 'ended'],
    rows.map(({ name, took, endings }) => [
      name,
      took.map(number),
      h(
        'td',
        { class: 'num' },
        endings.map(([ending, n]) =>
          h('div', {}, trials(name, { ending }, `${numberText(n)} ${ending}`)),
        ),
      ),
    ]),
  )
  return h(
    'section',
    {},
    h('h2', {}, title),
    scrolling(title, reached),
    h('p', { class: 'dim small' }, explained),
    scrolling('What the trials took', took),
    others.length > 0 && h('p', { class: 'dim small' }, others.join(' ')),
  )
}

/** A table with a row for each configuration. */
function tableOf(heads: readonly string[], rows: [name: string, ...cells: Child[]][]): HTMLElement {
  const head = (text: string) => h('th', { scope: 'col', class: 'num' }, text)
  return h(
    'table',
    {},
    h('thead', {}, h('tr', {}, h('th', { scope: 'col' }, 'configuration'), heads.map(head))),
    h(
      'tbody',
      {},
      rows.map(([name, ...cells]) => h('tr', {}, h('th', { scope: 'row' }, name), cells)),
    ),
  )
}

/** A sentence, and behind it the way to what it speaks of. */
function saying({ text, link: to }: Said, kind: string): HTMLElement | null {
  if (text === '') return null
  return h('p', { class: kind }, text, to && [' ', link(to.to, {}, to.label)])
}

/** Search in all trials, from the first view. */
function findTrials(): HTMLElement {
  const find = h('input', { type: 'search', id: 'find-trials' })
  const go = () => {
    const { value: text } = find as HTMLInputElement
    if (text !== '') location.hash = hrefOf('trials', { text, in: 'texts' })
  }
  find.addEventListener('keydown', ({ key }) => key === 'Enter' && go())
  return h(
    'div',
    { class: 'filters', role: 'search' },
    h('label', { for: 'find-trials' }, 'Find in everything that trials said, called and answered'),
    find,
    h('button', { type: 'button', click: go }, 'Find'),
  )
}

function section(title: string, table: HTMLElement, ...notes: (string | null)[]): HTMLElement {
  return h(
    'section',
    {},
    h('h2', {}, title),
    scrolling(title, table),
    notes.map((note) => note && h('p', { class: 'dim small' }, note)),
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
        h(
          'td',
          { class: 'num' },
          one ? link(hrefOf('', { show: 'differs', metric }), {}, one.p) : '–',
        ),
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
    h(
      'p',
      { class: 'small' },
      link(hrefOf('trials', { configuration: b, against: a }), {}, `trials of ${b} and ${a}`),
    ),
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
              h('div', { class: 'dim small' }, rates[metric].open ?? ''),
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
  const number = (inside: Child) => h('td', { class: 'num' }, inside)
  return tableOf(
    ['median time', 'median calls', 'mean tokens', 'mean cost'],
    [
      ...configurations.map(({ name, cost }): [string, Child] => [
        name,
        [cost.time, cost.calls, cost.tokens, cost.usd].map((text) =>
          number(link(hrefOf('trials', { configuration: name }), {}, text)),
        ),
      ]),
      ...comparisons.map(({ a, b, measures }): [string, Child] => {
        const both = hrefOf('trials', { configuration: b, against: a })
        return [
          `${b} − ${a}`,
          measures.map((one) =>
            number(
              one
                ? [
                    link(both, {}, one.difference),
                    h('div', { class: 'small' }, link(both, {}, `p ${one.p}`)),
                  ]
                : h('span', { class: 'dim' }, '–'),
            ),
          ),
        ]
      }),
    ],
  )
}
