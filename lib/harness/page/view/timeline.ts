/** When the parts of a trial began and ended: a row for each, on one axis. */
import type { TranscriptTime } from '../../../log/index.ts'
import type { Details } from '../shape.ts'
import { type Child, h, link, scrolling } from './dom.ts'
import { numberText, timeText } from './marks.ts'

/** Width of the axis, in units of its drawing. */
const AXIS = 1000

/** Empty where nothing is known of it. */
export function timelineView({ times, took, entries, record }: Details): Child {
  if (times.length === 0) return null
  const end = Math.max(...times.map(({ to_ms: to }) => to), 1)
  const waits = times.some(({ waited_ms: waited }) => waited !== undefined)
  const counted = times.some(({ tokens }) => tokens !== undefined)
  let asked = 0
  const name = ({ what, call: seq }: TranscriptTime): Child => {
    if (what === 'user') return 'the user answers'
    if (what === 'model') return `model, call ${++asked}`
    const call = entries.find((one) => one.kind === 'call' && one.seq === seq)
    const tool = call?.kind === 'call' ? call.tool : ''
    return [link(`#call-${seq}`, { class: 'inner' }, `Call ${seq}`), ' ', h('code', {}, tool)]
  }
  const rows = times.map((one) => {
    const { from_ms: from, to_ms: to, waited_ms: waited, tokens } = one
    return h(
      'tr',
      {},
      h('th', { scope: 'row' }, name(one)),
      h('td', { class: 'num began' }, timeText(from)),
      h(
        'td',
        { class: 'num' },
        to - from < 1 ? '<1 ms' : timeText(to - from),
        waited && h('div', { class: 'dim small' }, `${timeText(waited)} of it waiting`),
      ),
      counted &&
        h(
          'td',
          { class: 'num' },
          tokens && `${numberText(tokens.input)}, ${numberText(tokens.output)}`,
        ),
      h('td', { class: 'span' }, span(one, end)),
    )
  })
  return h(
    'section',
    {},
    h('h2', {}, 'Timeline'),
    h(
      'p',
      { class: 'dim small' },
      `The trial took ${timeText(record.duration_ms)}${waits ? ', without waiting for a provider’s limit' : ''}: ${took}.`,
    ),
    scrolling(
      'Timeline',
      h(
        'table',
        { class: 'timeline' },
        h(
          'thead',
          {},
          h(
            'tr',
            {},
            h('th', { scope: 'col' }, 'part'),
            h('th', { scope: 'col', class: 'num began' }, 'began at'),
            h('th', { scope: 'col', class: 'num' }, 'took'),
            counted && h('th', { scope: 'col', class: 'num' }, 'tokens in, out'),
            h('th', { scope: 'col' }, `0 to ${timeText(end)}`),
          ),
        ),
        h('tbody', {}, rows),
      ),
    ),
  )
}

/** A part on the axis. Its numbers stand beside it as text. */
function span({ what, from_ms: from, to_ms: to }: TranscriptTime, end: number): Node {
  const ns = 'http://www.w3.org/2000/svg'
  const draw = (tag: string, attributes: { [name: string]: string | number }) => {
    const made = document.createElementNS(ns, tag)
    for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, String(value))
    return made
  }
  const svg = draw('svg', {
    viewBox: `0 0 ${AXIS} 10`,
    preserveAspectRatio: 'none',
    'aria-hidden': 'true',
  })
  const x = (AXIS * from) / end
  // What took no time that can be seen is still seen.
  const width = Math.max((AXIS * (to - from)) / end, 4)
  svg.append(
    draw('rect', { x: 0, y: 4, width: AXIS, height: 2, class: 'axis' }),
    draw('rect', { x: Math.min(x, AXIS - width), y: 0, width, height: 10, class: what }),
  )
  return svg
}
