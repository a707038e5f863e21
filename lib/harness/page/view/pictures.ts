/** The charts of a run as pictures, each leading to the trials that it counts. */
import type { ChartShown, Overview } from '../shape.ts'
import { copyButton } from './copy.ts'
import { type Child, folded, h, link } from './dom.ts'

export function chartsSection({ charts }: Overview): Child {
  if (charts.length === 0) return null
  return h(
    'section',
    {},
    h('h2', {}, 'Charts'),
    h(
      'div',
      { class: 'charts' },
      charts.map((one) => figure(one)),
    ),
  )
}

/** What a whole run did over time; who does not see the picture reads it. */
export function activitySection({ activity }: Overview): Child {
  if (activity === null) return null
  const { text } = activity
  return h(
    'section',
    { class: 'activity' },
    h('h2', {}, 'Over time'),
    figure(activity),
    folded('The same in characters', () => [
      copyButton('the chart in characters', () => text),
      h('pre', { class: 'wide', tabindex: 0 }, text),
    ]),
  )
}

function figure({ title, notes, light, dark, link: to }: ChartShown): HTMLElement {
  return h(
    'figure',
    {},
    link(
      to,
      {},
      h(
        'picture',
        {},
        h('source', { srcset: dark, media: '(prefers-color-scheme: dark)' }),
        h('img', { src: light, alt: `${title}. ${notes}`, loading: 'lazy' }),
      ),
    ),
  )
}
