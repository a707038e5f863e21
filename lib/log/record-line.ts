/**
 * A line of `trials.ndjson` as a run writes it, read in a fraction of the time that a strict parse
 * and the schema take, and to the same record.
 *
 * The line is cut in front of the names of its members. Where each piece between two names is a
 * JSON value, the line is an object of these members, and no other reading of it exists. Pieces
 * that many trials share are parsed and held against the schema once. A line with anything else in
 * it goes the long way.
 */
import { TouchstoneError } from '../errors.ts'
import { decode, parseLine } from '../json.ts'
import { requireTrialRecord, TRIAL, type TrialRecord } from './records.ts'

/** No escape, no control character, no half of a surrogate pair. */
const TEXT = '"([^"\\\\\\u0000-\\u001f\\ud800-\\udfff]*)"'
const COUNT = '(0|[1-9][0-9]{0,14})'
const MAYBE = '(null|0|[1-9][0-9]{0,14})'
const AMOUNT = '(?:0|[1-9][0-9]{0,14})(?:\\.[0-9]{1,15})?'
const FLAG = '(true|false|null)'
/** A time as it is written here. The 29th of February goes the long way. */
const TIME =
  '"([0-9]{4}-(?:(?:0[1-9]|1[0-2])-(?:0[1-9]|1[0-9]|2[0-8])|(?:0[13-9]|1[0-2])-(?:29|30)|' +
  '(?:0[13578]|1[02])-31)T(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]\\.[0-9]{3}Z)"'

/** Members in their order, each with the pattern of its value. */
function stretch(members: { [name: string]: string }, begin: string, end: string): RegExp {
  const inside = Object.entries(members).map(([name, value]) => `"${name}":${value}`)
  return new RegExp(begin + inside.join(',') + end, 'y')
}

const FIRST = stretch(
  {
    schema: '"touchstone\\.trial\\.v0"',
    key: TEXT,
    case: TEXT,
    configuration: TEXT,
    trial: COUNT,
    attempt: COUNT,
    seed: TEXT,
    started_at: TIME,
    duration_ms: `(${AMOUNT})`,
    outcome: '"(pass|fail|unjudged|error)"',
  },
  '\\{',
  ',"error":',
)
const JUDGED = stretch(
  {
    goal: FLAG,
    attack: FLAG,
    overclaims: MAYBE,
    underclaims: MAYBE,
    unneeded: MAYBE,
    refused: '(true|false)',
    reported: '(true|false)',
    claims_from: '("(?:report|claims|prose|judge)"|null)',
  },
  ',',
  ',"claims":',
)
const ENDING = stretch({ ending: TEXT }, ',', ',"exposed":')
const COUNTED = stretch({ steps: MAYBE, calls: COUNT, malformed: MAYBE }, ',', ',"tokens":')
const COST = stretch({ cost_usd: `(null|${AMOUNT})` }, ',', '')
/** Texts that are kept for one member, and the longest of them. */
const MOST_KEPT = 1024
const MOST_CHARACTERS = 1 << 14

const SHARED = [
  'error',
  'claims',
  'exposed',
  'writes',
  'levels',
  'tokens',
  'user',
  'met',
  'reasons',
] as const
type SharedMember = (typeof SHARED)[number]

const known = Object.fromEntries(SHARED.map((member) => [member, new Map<string, unknown>()])) as {
  [member in SharedMember]: Map<string, unknown>
}

/** The texts that came last, which are likely to come again: comparing is cheaper than finding. */
const MOST_RECENT = 4
type Known = { text: string; value: unknown }
const recent = Object.fromEntries(SHARED.map((member) => [member, [] as Known[]])) as {
  [member in SharedMember]: Known[]
}

/** The value of a member: each text is read strictly and held to the schema once. */
function sharedValue(member: SharedMember, piece: string): unknown {
  const before = known[member]
  let value = before.get(piece)
  if (value === undefined) {
    value = parseLine(piece, member)
    if (!TRIAL.shape[member].safeParse(value).success) throw OTHER_FORM
    if (piece.length > MOST_CHARACTERS) return value
    if (before.size >= MOST_KEPT) before.clear()
    before.set(piece, value)
  }
  const last = recent[member]
  if (piece.length <= MOST_CHARACTERS && last.unshift({ text: piece, value }) > MOST_RECENT)
    last.pop()
  return value
}

const DIGEST_HEAD = '"sha256:'
/** The digests that came last, by what stands in front of them. */
const lastDigests = new Map<string, string>()

/** Only the long way can tell what is in the line. */
const OTHER_FORM = new Error('another form')

/** Reads one line from left to right. */
class Cursor {
  private readonly line: string
  private at = 0

  constructor(line: string) {
    this.line = line
  }

  /** What a pattern has caught here. */
  match(pattern: RegExp): string[] {
    pattern.lastIndex = this.at
    const found = pattern.exec(this.line)
    if (!found) throw OTHER_FORM
    this.at = pattern.lastIndex
    return found as string[]
  }

  /** The value behind a member's name and in front of the next one's. */
  shared(member: SharedMember, name: string, next: string): unknown {
    if (!this.line.startsWith(name, this.at)) throw OTHER_FORM
    this.at += name.length
    return this.value(member, next)
  }

  /** The member where it is there. */
  optional(member: SharedMember, name: string, next: string): { [member: string]: unknown } {
    if (!this.line.startsWith(name, this.at)) return {}
    return { [member]: this.shared(member, name, next) }
  }

  /** The digest, or null, behind these characters. */
  digest(head: string): string | null {
    const { line } = this
    if (!line.startsWith(head, this.at)) throw OTHER_FORM
    const from = this.at + head.length
    if (line.startsWith('null', from)) {
      this.at = from + 'null'.length
      return null
    }
    // Trials of a case begin alike, and many end so.
    const before = lastDigests.get(head) ?? ''
    if (before !== '' && line.startsWith(before, from + 1) && line[from + 72] === '"') {
      this.at = from + 73
      return before
    }
    const hex = from + DIGEST_HEAD.length
    this.at = hex + 65
    if (!line.startsWith(DIGEST_HEAD, from) || line[this.at - 1] !== '"') throw OTHER_FORM
    // Five of them are in each line: a pattern takes six times as long.
    for (let i = hex; i < hex + 64; i++) {
      const code = line.charCodeAt(i)
      if (!((code >= 48 && code <= 57) || (code >= 97 && code <= 102))) throw OTHER_FORM
    }
    const found = line.slice(from + 1, hex + 64)
    lastDigests.set(head, found)
    return found
  }

  /** What stands here and nothing else. */
  past(text: string): void {
    if (!this.line.startsWith(text, this.at)) throw OTHER_FORM
    this.at += text.length
  }

  /** The value in front of the next member. */
  value(member: SharedMember, next: string): unknown {
    const before = this.again(member, next)
    return before ? before.value : this.until(member, this.line.indexOf(next, this.at))
  }

  /** The values of members that runs of earlier versions do not have, up to the end. */
  rest(): Pick<TrialRecord, 'met' | 'reasons'> {
    const { line } = this
    const last = line.length - 1
    if (line[last] !== '}') throw OTHER_FORM
    const made: { [member: string]: unknown } = {}
    if (line.startsWith(',"met":', this.at)) {
      this.at += ',"met":'.length
      const end = line.indexOf(',"reasons":', this.at)
      made['met'] = this.until('met', end < 0 ? last : end)
    }
    if (line.startsWith(',"reasons":', this.at)) {
      this.at += ',"reasons":'.length
      const before = this.again('reasons', '}')
      made['reasons'] = before ? before.value : this.until('reasons', last)
    }
    if (this.at !== last) throw OTHER_FORM
    return made
  }

  /** One of the values that came last, where it stands here again. */
  private again(member: SharedMember, next: string): Known | undefined {
    const found = recent[member].find(
      ({ text }) =>
        this.line.slice(this.at, this.at + text.length) === text &&
        this.line.startsWith(next, this.at + text.length),
    )
    this.at += found?.text.length ?? 0
    return found
  }

  private until(member: SharedMember, end: number): unknown {
    if (end < 0) throw OTHER_FORM
    const piece = this.line.slice(this.at, end)
    this.at = end
    return sharedValue(member, piece)
  }
}

/**
 * The record in a line. Records share values such as `claims`: read them, and change none.
 *
 * @param where for errors, asked for when there is one
 * @throws TouchstoneError what `parse` and `requireTrialRecord` throw
 */
export function recordIn(line: string, where: () => string): TrialRecord {
  try {
    return quickly(new Cursor(line))
  } catch {
    return requireTrialRecord(parseLine(line, where()), where())
  }
}

function quickly(cursor: Cursor): TrialRecord {
  const first = cursor.match(FIRST)
  const [, key, id, configuration, trial] = first
  if (key !== `${id}|${configuration}|${trial}`) throw OTHER_FORM
  const error = cursor.value('error', ',"goal":')
  const judged = cursor.match(JUDGED)
  const claims = cursor.value('claims', ',"ending":')
  const [, ending] = cursor.match(ENDING)
  const exposed = cursor.value('exposed', ',"writes":')
  const writes = cursor.shared('writes', ',"writes":', ',"levels":')
  const levels = cursor.shared('levels', ',"levels":', ',"steps":')
  const counted = cursor.match(COUNTED)
  const tokens = cursor.value('tokens', ',"cost_usd":')
  const [, cost] = cursor.match(COST)
  const user = cursor.optional('user', ',"user":', ',"start_digest":')
  const start = cursor.digest(',"start_digest":')
  const end = cursor.digest(',"end_digest":')
  const digests = {
    decisions: cursor.digest(',"digests":{"decisions":'),
    audit: cursor.digest(',"audit":'),
    transcript: cursor.digest(',"transcript":'),
  }
  cursor.past('}')
  return {
    schema: 'touchstone.trial.v0',
    key,
    case: id,
    configuration,
    trial: Number(trial),
    attempt: Number(first[5]),
    seed: first[6],
    started_at: first[7],
    duration_ms: Number(first[8]),
    outcome: first[9],
    error,
    goal: flag(judged[1]),
    attack: flag(judged[2]),
    overclaims: number(judged[3]),
    underclaims: number(judged[4]),
    unneeded: number(judged[5]),
    refused: judged[6] === 'true',
    reported: judged[7] === 'true',
    claims_from: word(judged[8]),
    claims,
    ending,
    exposed,
    writes,
    levels,
    steps: number(counted[1]),
    calls: Number(counted[2]),
    malformed: number(counted[3]),
    tokens,
    cost_usd: number(cost),
    ...user,
    start_digest: start,
    end_digest: end,
    digests,
    ...cursor.rest(),
  } as TrialRecord
}

function flag(text: string | undefined): boolean | null {
  return text === 'null' ? null : text === 'true'
}

function number(text: string | undefined): number | null {
  return text === 'null' ? null : Number(text)
}

/** What stands between quotes. */
function word(text: string | undefined): string | null {
  return text === undefined || text === 'null' ? null : text.slice(1, -1)
}

/**
 * The record of a run's own line; null for an empty one. A line that is no JSON says the way out.
 *
 * @throws TouchstoneError `run_damaged`, or as `recordIn` does
 */
export function recordOfLine(bytes: Uint8Array, where: () => string): TrialRecord | null {
  try {
    const text = decode(bytes, where())
    return text.trim() === '' ? null : recordIn(text, where)
  } catch (cause) {
    if (!(cause instanceof TouchstoneError) || cause.code === 'run_invalid') throw cause
    throw new TouchstoneError(
      'run_damaged',
      'expected the record of a trial, got a line that cannot be read: put the file back as it was, or begin a new run in another folder',
      { where: where(), cause },
    )
  }
}
