/** Which events of a trial are shown, and each as it stands in the log. */
import type { Entry } from '../../../log/index.ts'
import type { Details } from '../shape.ts'
import { copyButton } from './copy.ts'
import { type Child, folded, h, hrefOf } from './dom.ts'

type Choice = {
  /** As the address has it. */
  name: string
  text: string
  holds(entry: Entry, details: Details): boolean
}

const CHOICES: Choice[] = [
  { name: '', text: 'all', holds: () => true },
  { name: 'said', text: 'what the agent said', holds: ({ kind }) => isSaid(kind) },
  { name: 'calls', text: 'calls', holds: ({ kind }) => isCall(kind) },
  {
    name: 'failed',
    text: 'failed calls',
    holds: (one) => one.kind === 'malformed' || (one.kind === 'call' && one.status !== 'success'),
  },
  {
    name: 'writes',
    text: 'writes',
    holds: (one, { record }) => one.kind === 'call' && record.writes.includes(one.seq),
  },
  {
    name: 'met',
    text: 'calls that met a fault or an attack',
    holds: (one, { record }) =>
      one.kind === 'call' &&
      (record.exposed.attack === one.seq ||
        (record.met ?? []).some(({ call }) => call === one.seq)),
  },
]

const isSaid = (kind: Entry['kind']) => kind === 'said' || kind === 'report'
const isCall = (kind: Entry['kind']) => kind === 'call' || kind === 'malformed'

/**
 * The events of a trial, and buttons that leave out all but some of them. The address keeps the
 * choice, and so do the links to other trials.
 *
 * @param made what is shown of an event
 */
export function eventList(
  details: Details,
  asked: string | undefined,
  made: (entry: Entry) => HTMLElement[],
): Child[] {
  const { entries, key } = details
  const events = entries.map((entry) => ({ entry, items: made(entry) }))
  const counted = CHOICES.map((choice) => {
    const held = events.filter(({ entry }) => choice.holds(entry, details))
    return { ...choice, held: new Set(held), count: held.length }
  }).filter(({ name, count }) => name === '' || name === asked || count > 0)
  const status = h('p', { class: 'dim small filters', role: 'status' })
  const buttons = counted.map(({ name, text, count }) =>
    h(
      'button',
      {
        type: 'button',
        id: `events-${name || 'all'}`,
        click: () => {
          choose(name)
          history.replaceState(null, '', hrefOf(`trial/${key}`, { events: name }))
        },
      },
      `${text} ${count}`,
    ),
  )
  const choose = (name: string) => {
    const at = Math.max(
      0,
      counted.findIndex((one) => one.name === name),
    )
    const { held, text = '', count } = counted[at] as (typeof counted)[number]
    for (const event of events) for (const one of event.items) one.hidden = !held.has(event)
    for (const [i, button] of buttons.entries())
      button.setAttribute('aria-pressed', String(i === at))
    status.textContent =
      at === 0 ? '' : `${text}: ${count} of ${events.length} events; the others are not shown`
    keepEvents(counted[at]?.name ?? '')
  }
  const list = h(
    'ol',
    { class: 'talk' },
    events.map(({ items }) => items),
  )
  choose(asked ?? '')
  return [
    h('div', { class: 'filters', role: 'group', 'aria-label': 'Events that are shown' }, buttons),
    status,
    list,
  ]
}

/** Links to other trials keep what is shown of this one. */
function keepEvents(events: string): void {
  for (const one of document.querySelectorAll<HTMLAnchorElement>('.steps-nav a'))
    one.href = hrefOf(`trial/${one.dataset['key']}`, { events })
}

/** An event that a filter leaves out is shown again when a link leads to it. */
export function reveal(to: HTMLElement | null): void {
  if (to?.hidden) document.getElementById('events-all')?.click()
}

/** An event as JSON, and the member of its line in `transcripts.ndjson` that holds it. */
function rawOf(entry: Entry): { member: string; value: unknown } | null {
  switch (entry.kind) {
    case 'call':
    case 'malformed': {
      const { kind, ...value } = entry
      return { member: kind === 'call' ? 'calls' : 'malformed', value }
    }
    case 'instructions':
    case 'task':
    case 'said':
    case 'user':
      return { member: entry.kind, value: entry.text }
    case 'report':
      return { member: 'summary', value: entry.summary }
    default:
      return null
  }
}

export function rawView(entry: Entry): Child {
  const raw = rawOf(entry)
  if (raw === null) return null
  return folded(
    'raw record',
    () => {
      const text = jsonText(raw.value)
      return [
        h('span', { class: 'dim small' }, `${raw.member} in transcripts.ndjson `),
        copyButton('the raw record', () => text),
        h('pre', { tabindex: 0 }, text),
      ]
    },
    { class: 'raw' },
  )
}

const UNSEEN = /[\x7f-\x9f\p{Cf}\p{Zl}\p{Zp}\p{Co}\p{Cs}]/gu

/** JSON that says the same, with an escape for each character that would not be seen. */
export function jsonText(value: unknown): string {
  const escaped = (one: string) =>
    Array.from({ length: one.length }, (_, i) => {
      return `\\u${one.charCodeAt(i).toString(16).padStart(4, '0')}`
    }).join('')
  return JSON.stringify(value, null, 1).replace(UNSEEN, escaped)
}
