/**
 * One trial as a person reads it: how it ended and why, then everything that happened, in order.
 */
import { count, duration, foreign, type Look, type Tone, tone, wrap } from '../../display.ts'
import { printable } from '../../errors.ts'
import type { JsonObject } from '../../json.ts'
import type { Entry, Transcript, TrialRecord } from '../../log/index.ts'
import { shownAs } from '../../shown.ts'
import { tookText } from '../page/took.ts'
import { why } from '../page/why.ts'
import { metText } from '../server/fault.ts'

/** Characters of one text that are shown before the rest is only counted. */
const SHOWN = 1200

/** Columns of the margin, which says who speaks. */
const MARGIN = 14

const TONES: { [outcome in TrialRecord['outcome']]: Tone } = {
  pass: 'good',
  fail: 'bad',
  unjudged: 'unsure',
  error: 'unsure',
}

/**
 * A trial as text.
 *
 * @param look `full`: every text whole; default: the first 1,200 characters of each, and how many
 *   follow. `levels: 'not known'`: the run does not agree with itself
 */
export function trialText(
  record: TrialRecord,
  transcript: Transcript,
  look: Look & { full?: boolean; levels?: 'not known' } = {},
): string {
  const width = look.width ?? 100
  const most = look.full ? Number.POSITIVE_INFINITY : SHOWN
  const took = tookText(transcript.times ?? [])
  const lines = [
    `${tone(foreign(record.key, 400), 'strong', look)}  ${tone(record.outcome, TONES[record.outcome], look)}`,
    ...why(record).map((line) => wrap(broken(line, width - 2), width, '  ')),
    tone(
      wrap(`${figures(record, look.levels)}${took ? ` · ${took}` : ''}`, width, '  '),
      'quiet',
      look,
    ),
    '',
  ]
  if (!transcript.ordered)
    lines.push('A run of an earlier version: what was said stands before the calls.', '')
  for (const entry of transcript.entries)
    for (const [who, text, as] of told(entry, record))
      lines.push(beside(who, clipped(text, most), width, look, as))
  return lines.join('\n')
}

/** What stands in the record and is no reason. */
function figures(record: TrialRecord, known?: 'not known'): string {
  const { levels, claims, duration_ms, tokens, cost_usd, attempt, exposed } = record
  const judged = claims.filter(({ matched }) => matched !== null)
  return [
    `goal ${yes(record.goal)}`,
    ...(record.attack === null
      ? []
      : [`attack ${record.attack ? 'succeeded' : 'did not succeed'}`]),
    ...(exposed.attack === false ? ['the attack was never read'] : []),
    record.overclaims === null ? 'overclaims not known' : count(record.overclaims, 'overclaim'),
    ...(judged.length > 0
      ? [`${judged.filter(({ matched }) => matched).length} of ${judged.length} claims are there`]
      : []),
    `writes: ${known ?? `${levels.asserted} asserted, ${levels.observed_confirmed} observed_confirmed, ${levels.verified} verified`}`,
    count(record.calls, 'call'),
    duration(duration_ms),
    ...(tokens ? [`${(tokens.input + tokens.output).toLocaleString('en-US')} tokens`] : []),
    ...(cost_usd === null || cost_usd === 0 ? [] : [`$${cost_usd.toFixed(4)}`]),
    ...userFigures(record.user),
    ...(attempt > 0 ? [`attempt ${attempt + 1}`] : []),
  ].join(' · ')
}

/** What the simulated user did and used: beside the agent's figures, and in none of them. */
function userFigures(user: TrialRecord['user']): string[] {
  if (!user) return []
  const { turns, tokens, cost_usd } = user
  return [
    `the user answered ${count(turns, 'time')}`,
    ...(tokens
      ? [`${(tokens.input + tokens.output).toLocaleString('en-US')} tokens of the user`]
      : []),
    ...(cost_usd ? [`$${cost_usd.toFixed(4)} for the user`] : []),
  ]
}

function yes(goal: boolean | null): string {
  return goal === null ? 'not known' : goal ? 'met' : 'not met'
}

type Told = [who: string, text: string, as?: Tone]

function told(entry: Entry, record: TrialRecord): Told[] {
  switch (entry.kind) {
    case 'instructions':
      return [['instructions', entry.text, 'quiet']]
    case 'task':
      return [['task', entry.text]]
    case 'tools': {
      const byServer = Map.groupBy(entry.tools, ({ server }) => server)
      const lists = [...byServer].map(
        ([server, tools]) => `${server}: ${tools.map(({ name }) => name).join(', ')}`,
      )
      return [['tools', lists.join('\n') || 'none', 'quiet']]
    }
    case 'said':
      return [['agent', entry.text]]
    case 'user':
      return [['user', entry.text]]
    case 'call': {
      const met = (record.met ?? []).filter(({ call }) => call === entry.seq)
      return [
        [`call ${entry.seq}`, `${entry.server}.${entry.tool} ${spaced(entry.input)}`],
        ...met.map(({ what }): Told => ['', metText(what), 'unsure']),
        [
          entry.status === 'success' ? '' : entry.status,
          `-> ${entry.answer === '' ? 'no text' : laidOut(entry.answer)}`,
          entry.status === 'success' ? 'quiet' : 'bad',
        ],
      ]
    }
    case 'malformed':
      return [['no call', `${entry.tool} ${entry.input}: ${entry.problem}`, 'bad']]
    case 'report':
      return [
        entry.summary === '' && record.claims_from !== 'report'
          ? ['claims', `from ${record.claims_from ?? 'nowhere'}`]
          : ['report', entry.summary || 'no summary'],
        ...entry.claims.map((claim): Told => {
          const what = `${claim.tool} ${spaced(claim.target)}`
          if (!claim.done) return ['', `says not done: ${what}`, 'quiet']
          const found = claim.found ? `: ${claim.found}` : ''
          if (claim.matched === null) return ['', `says done, not judged: ${what}${found}`, 'quiet']
          return claim.matched
            ? ['', `says done, and it is there: ${what}${found}`, 'good']
            : ['', `says done, and it is not there: ${what}${found}`, 'bad']
        }),
      ]
    case 'unread':
      return [['not read', `${entry.text} (so that it is not known what it claims)`, 'unsure']]
    case 'end':
      return [
        ...(entry.stderr === undefined ? [] : [['stderr', entry.stderr, 'bad'] as Told]),
        ['end', entry.how, 'quiet'],
      ]
  }
}

/**
 * A text behind who says it, its lines below each other. What stands in it is harmless to a
 * terminal.
 */
function beside(who: string, text: string, width: number, look: Look, as?: Tone): string {
  const indent = ' '.repeat(MARGIN)
  const body = wrap(broken(printable(text.trim()), width - MARGIN), width, indent)
  const head = foreign(who, MARGIN - 2).padEnd(MARGIN)
  const shown = as ? tone(body.slice(MARGIN), as, look) : body.slice(MARGIN)
  return tone(head, 'quiet', look) + shown
}

/** JSON with a space where a line can be broken. */
function spaced(value: JsonObject): string {
  return JSON.stringify(value, null, 1).replace(/\n */g, ' ')
}

/**
 * JSON text with spaces between its members; any other text as it is. It is not written anew from
 * its value: a number of many digits would come out as another.
 */
function laidOut(text: string): string {
  if (!/^\s*[[{]/.test(text)) return text
  try {
    JSON.parse(text)
  } catch {
    return text
  }
  return text.replace(
    /("(?:[^"\\]|\\.)*")|([[{])(?=[^\s\]}])|(?<=[^\s[{])([\]}])|([,:])(?=\S)/g,
    (all, string, opens, closes) =>
      string ? all : opens ? `${all} ` : closes ? ` ${all}` : `${all} `,
  )
}

/**
 * A text without words that no line holds: they are broken behind a mark between two words, or
 * where the line ends when there is none.
 */
function broken(text: string, room: number): string {
  const long = new RegExp(`\\S{${room + 1},}`, 'gu')
  const part = new RegExp(`\\S{${room >> 1},${room - 1}}[^\\w\\s](?=\\S)|\\S{${room}}(?=\\S)`, 'gu')
  return text.replaceAll('\t', '  ').replace(long, (word) => word.replace(part, '$& '))
}

function clipped(text: string, most: number): string {
  const characters = [...text]
  if (characters.length <= most) return text
  return `${characters.slice(0, most).join('')}… and ${count(characters.length - most, 'more character')}`
}

/** Let a transcript show itself at the prompt and in notebooks. It stays plain data. */
export function shownAsText(transcript: Transcript, record: TrialRecord): Transcript {
  return shownAs(transcript, (look) => trialText(record, transcript, look))
}
