/**
 * One trial: why it ended so, what was said and called, the evidence for each write, the records as
 * they stand.
 */
import type { Entry } from '../../../log/index.ts'
import type { Details, TrialShown, WriteShown } from '../shape.ts'
import { copyButton } from './copy.ts'
import { detailsOfTrial, held, trialsOf } from './data.ts'
import { append, type Child, crumbs, folded, h, hrefOf, link, type Params } from './dom.ts'
import {
  callsText,
  caseAt,
  configurationAt,
  levelChip,
  numberText,
  outcomeChip,
  timeText,
  usdText,
} from './marks.ts'
import { claimsTable, metList, reasonList } from './reasons.ts'
import { eventList, jsonText, rawView } from './shown-events.ts'
import { timelineView } from './timeline.ts'

export function trialView(trial: TrialShown, { events }: Params): Child[] {
  const { id, title, kind } = caseAt(trial.case)
  const name = configurationAt(trial.configuration)
  const all = trialsOf(trial.case, trial.configuration)
  const place = all.indexOf(trial)
  const beside = held.overview.configurations
    .map((_, i) => trialsOf(trial.case, i).find((one) => one.trial === trial.trial))
    .filter((one) => one !== undefined && one !== trial) as TrialShown[]
  const inside = h(
    'div',
    { class: 'trial', 'aria-busy': 'true' },
    h('p', { class: 'dim' }, 'Opening …'),
  )
  detailsOfTrial(trial).then(
    (details) => {
      inside.textContent = ''
      inside.removeAttribute('aria-busy')
      append(inside, detailsView(details, events))
    },
    (error: Error) => {
      inside.textContent = ''
      inside.removeAttribute('aria-busy')
      append(inside, [h('p', { class: 'alert' }, error.message)])
    },
  )
  const to = (one: TrialShown | undefined, text: string) =>
    one &&
    link(hrefOf(`trial/${one.key}`, { events }), { class: 'step', 'data-key': one.key }, text)
  return [
    crumbs(link(hrefOf('', { kind }), {}, kind), link(hrefOf(`case/${id}`), {}, title)),
    h('h1', { tabindex: -1 }, `Trial ${trial.trial} of ${name} `, outcomeChip(trial.outcome)),
    h(
      'p',
      { class: 'dim' },
      `${id} · ${[callsText(trial.calls), trial.tokens !== null && `${numberText(trial.tokens)} tokens`, trial.usd !== null && usdText(trial.usd), timeText(trial.ms)].filter(Boolean).join(' · ')}`,
      copyButton('the key of this trial', () => trial.key, 'copy key'),
    ),
    h(
      'nav',
      { class: 'steps-nav', 'aria-label': 'Other trials' },
      to(all[place - 1], `← Trial ${all[place - 1]?.trial}`),
      to(all[place + 1], `Trial ${all[place + 1]?.trial} →`),
      beside.map((one) => to(one, `same trial of ${configurationAt(one.configuration)}`)),
    ),
    inside,
  ]
}

function detailsView(details: Details, events: string | undefined): Child[] {
  const { record, ordered, writes, decisions, exports, logs } = details
  const { reasons, claims, error, outcome } = record
  return [
    h(
      'section',
      {},
      h('h2', {}, outcome === 'pass' ? 'Why it passed' : 'Why'),
      error && h('p', { class: 'alert' }, `${error.code}: ${error.message}`),
      reasons
        ? [reasonList('Goal', reasons.goal, false), reasonList('Attack', reasons.attack, true)]
        : details.why.map((line) => h('p', {}, line)),
      metList(details),
      claims.length > 0
        ? claimsTable(details)
        : h(
            'p',
            { class: 'dim small' },
            record.claims_from === null
              ? 'What the agent says it did is not known: no claim of it could be read.'
              : 'The agent claims no change.',
          ),
    ),
    timelineView(details),
    h(
      'section',
      {},
      h('h2', {}, 'Conversation'),
      !ordered &&
        h(
          'p',
          { class: 'dim small' },
          'This log does not say when the agent said what: its words stand before its calls.',
        ),
      eventList(details, events, (entry) => entryView(entry, details)),
    ),
    writes.length > 0 &&
      h(
        'section',
        {},
        h('h2', {}, 'Evidence of each write'),
        writes.map((write) => writeView(write, details)),
      ),
    h(
      'section',
      {},
      h('h2', {}, 'Records as they stand in the log'),
      raw('Trial record', record),
      raw(`Decisions (${decisions.length})`, decisions),
      exports.map(({ server, provider, text }) =>
        folded(exportTitle(provider, server), () => [copyOf('the export', text), pre(text)]),
      ),
      logs.map((log) =>
        raw(`What server ${String(log['server'])} wrote to its standard error`, log),
      ),
    ),
  ]
}

function entryView(entry: Entry, { writes, record }: Details): HTMLElement[] {
  const block = (who: Child, kind: string, ...inside: Child[]) => [
    h('li', { class: `entry ${kind}` }, h('p', { class: 'who' }, who), inside, rawView(entry)),
  ]
  switch (entry.kind) {
    case 'instructions':
      return block(
        'Instructions',
        'system',
        folded('show', () => [copyOf('the instructions', entry.text), pre(entry.text)]),
      )
    case 'task':
      return block(['Task', copyOf('the task', entry.text)], 'user', pre(entry.text))
    case 'tools':
      return block(
        'Tools offered',
        'system',
        folded(`${entry.tools.length} tools`, () =>
          h(
            'dl',
            {},
            entry.tools.map(({ name, server, description }) => [
              h('dt', {}, h('code', {}, name), h('span', { class: 'dim' }, ` of ${server}`)),
              h('dd', {}, description),
            ]),
          ),
        ),
      )
    case 'said':
      return block(['Agent', copyOf('what the agent said', entry.text)], 'agent', pre(entry.text))
    case 'user':
      return block('User', 'user', pre(entry.text))
    case 'call': {
      const write = writes.find(({ seq }) => seq === entry.seq)
      const met = (record.met ?? []).filter(({ call }) => call === entry.seq)
      const item = h(
        'li',
        { class: `entry call ${entry.status}`, id: `call-${entry.seq}`, tabindex: -1 },
        h(
          'p',
          { class: 'who' },
          `Call ${entry.seq}: `,
          h('code', {}, entry.tool),
          h('span', { class: 'dim' }, ` of ${entry.server} `),
          h(
            'span',
            { class: `chip ${entry.status === 'success' ? 'pass' : 'fail'}` },
            entry.status,
          ),
          ' ',
          write && levelChip(write.level),
          met.map(({ what }) => [
            ' ',
            h(
              'span',
              { class: 'chip met' },
              what === 'injection'
                ? 'words that the case put there'
                : `fault of the server: ${what}`,
            ),
          ]),
          copyOf(`the input of call ${entry.seq}`, JSON.stringify(entry.input)),
        ),
        pre(JSON.stringify(entry.input, null, 1)),
        h(
          'p',
          { class: 'who dim' },
          'Answer',
          copyOf(`the answer to call ${entry.seq}`, entry.answer),
        ),
        pre(pretty(entry.answer)),
        rawView(entry),
      )
      return [item]
    }
    case 'malformed':
      return block(
        'Agent, no call',
        'fail',
        h('p', { class: 'bad' }, entry.problem),
        pre(`${entry.tool} ${entry.input}`),
      )
    case 'report':
      return block(
        ['Report', copyOf('the report', entry.summary)],
        'agent',
        pre(entry.summary || 'no summary'),
        entry.claims.length > 0 &&
          h(
            'p',
            { class: 'dim small' },
            entry.claims.length === 1
              ? '1 claim, judged above'
              : `${entry.claims.length} claims, judged above`,
          ),
      )
    case 'unread':
      return block('Not read, so that it is not known what it claims', 'system', pre(entry.text))
    default:
      return [
        ...(entry.stderr === undefined
          ? []
          : block(
              [
                'The end of its standard error',
                copyOf('the end of its standard error', entry.stderr),
              ],
              'fail',
              pre(entry.stderr),
            )),
        ...block('End', 'system', h('p', { class: 'dim' }, entry.how)),
      ]
  }
}

function writeView(
  { seq, level, why, record, findings }: WriteShown,
  { entries }: Details,
): HTMLElement {
  const call = entries.find((one) => one.kind === 'call' && one.seq === seq)
  return h(
    'div',
    { class: 'card' },
    h(
      'p',
      {},
      link(`#call-${seq}`, { class: 'inner' }, `Call ${seq}`),
      ' ',
      call?.kind === 'call' && h('code', {}, call.tool),
      ' ',
      levelChip(level),
    ),
    h(
      'dl',
      {},
      record !== null && [h('dt', {}, 'bound to'), h('dd', {}, record)],
      why !== null && [h('dt', {}, 'why not higher'), h('dd', {}, why)],
      findings.length > 0 && [h('dt', {}, 'findings'), findings.map((one) => h('dd', {}, one))],
    ),
  )
}

function copyOf(what: string, text: string): Child {
  return text !== '' && copyButton(what, () => text)
}

/** Runs of earlier versions do not name the first server, nor what it is of. */
function exportTitle(provider: string, server: string): string {
  return `Export${provider ? ` of ${provider}` : ''}${server ? ` by ${server}` : ''}`
}

/** JSON laid out, any other text as it is. */
function pretty(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 1)
  } catch {
    return text
  }
}

function pre(text: string): HTMLElement {
  return h('pre', { tabindex: 0 }, text)
}

function raw(title: string, value: unknown): HTMLElement {
  const text = jsonText(value)
  return folded(title, () => [copyOf(title, text), pre(text)])
}
