/** The charts of a run as pictures, each leading to the trials that it counts. */
import type { Overview } from '../shape.ts'
import { type Child, h, link } from './dom.ts'

export function chartsSection({ charts }: Overview): Child {
  if (charts.length === 0) return null
  return h(
    'section',
    {},
    h('h2', {}, 'Charts'),
    h(
      'div',
      { class: 'charts' },
      charts.map(({ title, notes, light, dark, link: to }) =>
        h(
          'figure',
          {},
          link(
            to,
            {},
            h(
              'picture',
              {},
              h('source', { srcset: dark, media: '(prefers-color-scheme: dark)' }),
              h('img', { src: light, alt: `${title}. ${notes}` }),
            ),
          ),
        ),
      ),
    ),
  )
}
