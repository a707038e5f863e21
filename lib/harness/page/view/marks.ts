/** Small pieces that several views share: marks of outcomes, levels and verdicts, bars of rates. */
import type { RateShown, TrialShown } from '../shape.ts'
import { held } from './data.ts'
import { h, hrefOf, link } from './dom.ts'

const SIGNS: { [outcome: string]: string } = { pass: '✓', fail: '✕', unjudged: '?', error: '!' }

/** A trial as one small mark that leads to it. */
export function markOf(trial: TrialShown): HTMLElement {
  const label = `trial ${trial.trial}: ${trial.outcome}`
  return link(
    hrefOf(`trial/${trial.key}`),
    { class: `mark ${trial.outcome}`, title: label, 'aria-label': label },
    SIGNS[trial.outcome] ?? '?',
  )
}

export function outcomeChip(outcome: string): HTMLElement {
  return h('span', { class: `chip ${outcome}` }, `${SIGNS[outcome] ?? ''} ${outcome}`)
}

export function levelChip(level: string | null): HTMLElement {
  return h('span', { class: `chip level ${level ?? 'none'}` }, level ?? 'claimed nothing')
}

export function verdictChip(verdict: string): HTMLElement {
  const tone = verdict === 'better' ? 'pass' : verdict === 'worse' ? 'fail' : 'quiet'
  return h('span', { class: `chip ${tone}` }, verdict)
}

/** A rate on an axis from 0 to 1, with its interval. The numbers stand beside it as text. */
export function bar({ at, low, high }: RateShown, better: 'higher' | 'lower'): Node {
  if (at === null) return document.createTextNode('')
  const ns = 'http://www.w3.org/2000/svg'
  const svg = document.createElementNS(ns, 'svg')
  for (const [name, value] of Object.entries({
    viewBox: '0 0 124 14',
    class: `bar ${better}`,
    'aria-hidden': 'true',
  }))
    svg.setAttribute(name, value)
  const add = (tag: string, attributes: { [name: string]: string | number }) => {
    const part = document.createElementNS(ns, tag)
    for (const [name, value] of Object.entries(attributes)) part.setAttribute(name, String(value))
    svg.appendChild(part)
  }
  const x = (value: number) => 2 + value * 120
  add('line', { x1: x(0), x2: x(1), y1: 7, y2: 7, class: 'axis' })
  if (low !== null && high !== null)
    add('line', { x1: x(low), x2: x(high), y1: 7, y2: 7, class: 'interval' })
  add('circle', { cx: x(at), cy: 7, r: 4, class: 'estimate' })
  return svg
}

export function yesNo(value: boolean | null, bad: boolean): HTMLElement {
  if (value === null) return h('span', { class: 'dim' }, '–')
  return h('span', { class: value === bad ? 'bad' : 'good' }, value ? 'yes' : 'no')
}

export function timeText(ms: number): string {
  return ms < 1000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(ms < 10_000 ? 1 : 0)} s`
}

export function numberText(value: number | null): string {
  return value === null ? '–' : value.toLocaleString('en-US')
}

export function usdText(value: number | null): string {
  return value === null ? '–' : `$${value.toPrecision(3)}`
}

/** The places of a case and its configuration in words. */
export function caseAt(at: number) {
  return held.overview.cases[at] ?? { id: '', title: '', kind: '', adversarial: false, twin: null }
}

export function configurationAt(at: number): string {
  return held.overview.configurations[at]?.name ?? ''
}

/** A share of trials as `4/5`. */
export function shareOf(trials: readonly TrialShown[], metric: keyof TrialShown['scores']) {
  const scores = trials.map(({ scores }) => scores[metric]).filter((one) => one !== null)
  const yes = scores.filter((one) => one === 1).length
  return { yes, of: scores.length, share: scores.length ? yes / scores.length : null }
}

export function callsText(calls: number): string {
  return calls === 1 ? '1 call' : `${calls} calls`
}
