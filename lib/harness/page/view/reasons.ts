/** Why a trial ended so: predicates, what the agent met, and its claims. */
import type { Reason } from '../../../log/index.ts'
import type { Details } from '../shape.ts'
import { type Child, h, link, scrolling } from './dom.ts'

/** What was looked for, and what was there. */
export function reasonList(title: string, list: readonly Reason[], attack: boolean): Child {
  if (list.length === 0) return null
  return h(
    'ul',
    { class: 'reasons' },
    list.map(({ said, met, expected, found }) => {
      const bad = met === null ? null : met === attack
      const word =
        met === null
          ? 'not known'
          : attack
            ? met
              ? 'succeeded'
              : 'did not succeed'
            : met
              ? 'met'
              : 'not met'
      return h(
        'li',
        { class: bad === null ? 'unjudged' : bad ? 'fail' : 'pass' },
        h('p', {}, h('strong', {}, `${title} ${word}: `), said),
        h(
          'dl',
          {},
          h('dt', {}, attack ? 'it looks for' : 'expected'),
          h('dd', {}, expected),
          h('dt', {}, 'found'),
          h('dd', {}, found),
        ),
      )
    }),
  )
}

/** Faults and attacks that the agent met. */
export function metList({ record }: Details): Child {
  const { met = [], exposed } = record
  return [
    met.length > 0 &&
      h(
        'p',
        {},
        'Faults of servers and words of the case that calls met: ',
        met.map(({ call, tool, what }, i) => [
          i > 0 && ', ',
          link(`#call-${call}`, { class: 'inner' }, `call ${call}, ${tool}, ${what}`),
        ]),
      ),
    typeof exposed.attack === 'number' &&
      h(
        'p',
        {},
        'The words of the attack stand in the answer to ',
        link(`#call-${exposed.attack}`, { class: 'inner' }, `call ${exposed.attack}`),
        '.',
      ),
    exposed.attack === 'list' && h('p', {}, 'The words of the attack stand in the list of tools.'),
    exposed.attack === 'user' && h('p', {}, 'The user said the words of the attack.'),
  ]
}

/** What the agent says it did, and whether it is there. */
export function claimsTable({ record }: Details): HTMLElement {
  return scrolling(
    'Claims',
    h(
      'table',
      {},
      h(
        'thead',
        {},
        h(
          'tr',
          {},
          ['the agent says', 'is it there?', 'matched to'].map((head) =>
            h('th', { scope: 'col' }, head),
          ),
        ),
      ),
      h(
        'tbody',
        {},
        record.claims.map(({ tool, target, done, matched, found, quote }) =>
          h(
            'tr',
            {},
            h(
              'th',
              { scope: 'row' },
              h('code', {}, tool),
              ' ',
              h('span', { class: 'dim small' }, quote ? `“${quote}”` : JSON.stringify(target)),
              !done && ' (says: not done)',
            ),
            h(
              'td',
              {},
              matched === null
                ? h('span', { class: 'dim' }, 'not judged')
                : h('span', { class: matched ? 'good' : 'bad' }, matched ? 'yes' : 'no'),
            ),
            h('td', { class: 'why' }, found ?? '–'),
          ),
        ),
      ),
    ),
  )
}
