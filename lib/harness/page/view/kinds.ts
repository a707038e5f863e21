/** The kinds of cases, the one that comes out worst first. */
import type { Metric } from '../../../log/index.ts'
import type { Overview, TrialShown } from '../shape.ts'
import { held } from './data.ts'
import { append, h, hrefOf, link } from './dom.ts'
import { caseAt, shareOf } from './marks.ts'

/** A row a kind, and what of it leads to its trials. */
export function kindsTable({ configurations, cases, metrics }: Overview): HTMLElement {
  const byKind = Map.groupBy(held.trials, (one) => `${caseAt(one.case).kind}|${one.configuration}`)
  const shown: Metric[] = cases.some(({ adversarial }) => adversarial)
    ? ['goal', 'attack', 'overclaim']
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
