/** Columns of a table: which are shown, and by which its rows stand. The address keeps both. */
import { append, h, type Params } from './dom.ts'

type Go = (params: Params) => void

/** What can be a column. */
type Offered = { name: string; head: string }

/** The chooser stays open while it is used. */
let open = false

/** Those that are shown: those that were asked for, else those of the beginning. */
export function chosen<C extends Offered>(
  all: readonly C[],
  params: Params,
  first: (one: C) => boolean,
): C[] {
  const asked = params['columns']?.split(',')
  return all.filter((one) => (asked ? asked.includes(one.name) : first(one)))
}

/** Boxes to tick, one for each column. */
export function chooser(
  all: readonly Offered[],
  shown: readonly Offered[],
  params: Params,
  go: Go,
): HTMLElement {
  const names = new Set(shown.map(({ name }) => name))
  const box = ({ name, head }: Offered) => {
    const change = () => {
      open = true
      if (!names.delete(name)) names.add(name)
      const asked = all.filter((one) => names.has(one.name)).map((one) => one.name)
      go({ ...params, columns: asked.join(',') || 'none' })
    }
    const id = `column-${name}`
    const ticked = h('input', { type: 'checkbox', id, checked: names.has(name), change })
    return h('label', { for: id }, ticked, head)
  }
  const { columns: _, ...others } = params
  const made = h(
    'details',
    { class: 'chooser', open },
    h('summary', { id: 'columns' }, 'Columns'),
    h(
      'fieldset',
      {},
      h('legend', {}, 'Columns that are shown'),
      all.map(box),
      params['columns'] !== undefined &&
        h('button', { type: 'button', click: () => go(others) }, 'as at first'),
    ),
  ) as HTMLDetailsElement
  made.addEventListener('toggle', () => {
    open = made.open
  })
  return made
}

/** The head of a column by which rows are sorted: once up, then down, then as they were. */
export function sorter(
  label: string,
  name: string,
  params: Params,
  go: Go,
  { down: downFirst = false, num = false } = {},
): HTMLElement {
  const active = params['sort'] === name
  const down = params['down'] === 'yes'
  const click = () => {
    if (!active) return go({ ...params, sort: name, down: downFirst ? 'yes' : '' })
    if (down === downFirst) return go({ ...params, sort: name, down: downFirst ? '' : 'yes' })
    go({ ...params, sort: '', down: '' })
  }
  const made = h('th', {
    scope: 'col',
    class: num && 'num',
    'aria-sort': active ? (down ? 'descending' : 'ascending') : 'none',
  })
  const arrow = h('span', { 'aria-hidden': 'true' }, active ? (down ? ' ▾' : ' ▴') : ' ↕')
  append(made, [
    h('button', { type: 'button', class: 'sort', id: `sort-${name}`, click }, label, arrow),
  ])
  return made
}

/** Rows by a value, those without one last. Equal ones stay in their order. */
export function sortedBy<R>(
  rows: readonly R[],
  value: ((row: R) => string | number | null) | undefined,
  down: boolean,
): readonly R[] {
  if (value === undefined) return rows
  const keyed = rows.map((row) => ({ row, key: value(row) }))
  return keyed
    .sort(({ key: a }, { key: b }) => {
      if (a === null || b === null) return Number(a === null) - Number(b === null)
      return (a < b ? -1 : a > b ? 1 : 0) * (down ? -1 : 1)
    })
    .map(({ row }) => row)
}
