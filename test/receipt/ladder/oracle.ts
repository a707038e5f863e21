/**
 * The highest level that the written rule allows, by brute force over small runs. It is written from the text of the
 * side-effect receipt and shares no code with `lib/`: its own digests, its own table of what each verb does, its own matching.
 *
 * A generated run is a story: calls with what they said, lists with what was in them, records with what they name. The oracle
 * judges the story; `verify` sees only the bytes that the story is told in.
 */
import { createHash } from 'node:crypto'

export type Level = 'asserted' | 'observed_confirmed' | 'verified'

/** A write that was observed. `thing` names what it is about; equal things are one target. */
export type Write = {
  type: 'write'
  server: string
  run: string
  seq: number
  kind: KindName
  thing: Thing
  succeeded: boolean
  requestId: string | null
  at: number | null
  actor: string | null
}

/** A list that was observed. `seen`: the things that its items identify. */
export type List = {
  type: 'list'
  server: string
  run: string
  seq: number
  tool: string
  place: string
  seen: { thing: Thing; identified: boolean }[]
  /** The provider said that this is all, in the shape that it documents, and nothing else was said or asked. */
  whole: boolean
  /** The answer says that the read failed. */
  failed: boolean
}

export type Event = Write | List

export type Thing = { place: string; name: string; value: string | null }

/** A record of the provider's log. `honest`: its own digest holds. */
export type Entry = {
  id: string
  provider: string
  subject: unknown
  honest: boolean
  requestId: string | null
  at: number | null
  actor: string | null
  object: string | null
  value: string | null
  /** The name as it was written, where the subject holds its lower case alone. */
  name: string | null
}

/** What a verb does, by the words of the rule: which lists show its effect, and how. */
export const KINDS = {
  key: { provider: 'github', lists: ['list_deploy_keys'], by: 'presence', once: false, undo: [] },
  collaborator: {
    provider: 'github',
    lists: ['list_collaborators'],
    by: 'presence',
    once: true,
    undo: ['uncollaborator'],
  },
  uncollaborator: {
    provider: 'github',
    lists: ['list_collaborators'],
    by: 'absence',
    once: true,
    undo: ['collaborator'],
  },
  object: {
    provider: 'kubernetes',
    lists: ['list_objects'],
    by: 'presence',
    once: true,
    undo: ['unobject'],
  },
  unobject: {
    provider: 'kubernetes',
    lists: ['list_objects'],
    by: 'absence',
    once: true,
    undo: ['object'],
  },
  patch: { provider: 'kubernetes', lists: [], by: 'nothing', once: true, undo: [] },
  role: {
    provider: 'workspace',
    lists: ['list_roles'],
    by: 'value',
    once: true,
    undo: ['role'],
  },
  token: {
    provider: 'workspace',
    lists: ['list_tokens'],
    by: 'presence',
    once: false,
    undo: [],
  },
} as const satisfies {
  [name: string]: {
    provider: string
    lists: readonly string[]
    by: 'presence' | 'absence' | 'value' | 'nothing'
    once: boolean
    undo: readonly string[]
  }
}
export type KindName = keyof typeof KINDS

const WINDOW_MS = 24 * 60 * 60 * 1000
const BEFORE_MS = 15 * 60 * 1000

/** The highest level of each write, in the order of `events`. */
export function highest(
  events: readonly Event[],
  entries: readonly Entry[],
  subjectOf: (write: Write) => unknown,
): Map<Write, Level> {
  const writes = events.filter((one) => one.type === 'write')
  const verified = provable(writes, entries, subjectOf)
  return new Map(
    writes.map((write) => [
      write,
      !write.succeeded
        ? 'asserted'
        : verified.has(write)
          ? 'verified'
          : isConfirmed(write, events)
            ? 'observed_confirmed'
            : 'asserted',
    ]),
  )
}

/** `sha256(jcs(subject))` for subjects of texts. */
export function digestOf(subject: unknown): string {
  const sorted = (value: unknown): unknown =>
    value !== null && typeof value === 'object'
      ? Object.fromEntries(
          Object.entries(value)
            .sort(([a], [b]) => (a < b ? -1 : 1))
            .map(([name, member]) => [name, sorted(member)]),
        )
      : value
  return `sha256:${createHash('sha256')
    .update(JSON.stringify(sorted(subject)))
    .digest('hex')}`
}

/** Calls of which it can be told that a record is theirs: in every way of giving out as many records as possible. */
function provable(
  writes: readonly Write[],
  entries: readonly Entry[],
  subjectOf: (write: Write) => unknown,
): Set<Write> {
  const calls = writes.filter((one) => one.succeeded)
  const asked = new Set(
    calls.map((call) => `${KINDS[call.kind].provider} ${digestOf(subjectOf(call))}`),
  )
  const binds = (one: Entry) => asked.has(`${one.provider} ${digestOf(one.subject)}`)
  // One object is one effect. Entries about it that bind to different calls tell nothing.
  const usable = entries.filter((one) => {
    if (!one.honest) return false
    if (one.object === null) return true
    const same = entries.filter(
      (other) => other.honest && other.object === one.object && other.provider === one.provider,
    )
    const binding = same.filter(binds)
    if (new Set(binding.map((other) => digestOf(other.subject))).size > 1) return false
    return one === (binding[0] ?? same[0])
  })
  const named = (call: Write, entry: Entry) =>
    call.requestId !== null && call.requestId === entry.requestId
  const fits = (call: Write, entry: Entry) =>
    KINDS[call.kind].provider === entry.provider &&
    digestOf(subjectOf(call)) === digestOf(entry.subject) &&
    both(call.requestId, entry.requestId, (a, b) => a === b) &&
    both(call.actor, entry.actor, (a, b) => a === b) &&
    both(
      call.at,
      entry.at,
      (a, b) => b - a <= WINDOW_MS && a - b <= (named(call, entry) ? WINDOW_MS : BEFORE_MS),
    ) &&
    both(call.thing.name, entry.name, (a, b) => a === b) &&
    both(call.kind === 'role' ? null : call.thing.value, entry.value, (a, b) => a === b)
  const edges = usable.map((entry) => {
    const fitting = calls.filter((call) => fits(call, entry))
    const mine = fitting.filter((call) => named(call, entry))
    return mine.length > 0 ? mine : fitting
  })
  const most = matching(edges, new Set())
  return new Set(calls.filter((call) => matching(edges, new Set([call])) < most))
}

function both<T>(one: T | null, other: T | null, agree: (a: T, b: T) => boolean): boolean {
  return one === null || other === null || agree(one, other)
}

/** How many records can be given to different calls, leaving some calls out. */
function matching(edges: readonly (readonly Write[])[], without: ReadonlySet<Write>): number {
  const owner = new Map<Write, number>()
  const place = (record: number, tried: Set<Write>): boolean =>
    (edges[record] ?? []).some((call) => {
      if (without.has(call) || tried.has(call)) return false
      tried.add(call)
      const other = owner.get(call)
      if (other !== undefined && !place(other, tried)) return false
      owner.set(call, record)
      return true
    })
  return edges.filter((_, record) => place(record, new Set())).length
}

/** A later list of the same run and server that shows the effect, with nothing unseen up to it. */
function isConfirmed(write: Write, events: readonly Event[]): boolean {
  const kind = KINDS[write.kind]
  const run = events.filter((one) => one.run === write.run)
  return run.some((list) => {
    if (list.type !== 'list' || list.seq <= write.seq || list.failed) return false
    if (list.server !== write.server || list.place !== write.thing.place) return false
    if (!(kind.lists as readonly string[]).includes(list.tool)) return false
    // Without a gap from the first call of the run to the list, and no place given twice.
    const seqs = run.filter((one) => one.seq <= list.seq).map((one) => one.seq)
    if (seqs.length !== list.seq + 1 || new Set(seqs).size !== seqs.length) return false
    const between = (one: Event) => one.seq > write.seq && one.seq < list.seq
    const undone = run.some(
      (one) =>
        one.type === 'write' &&
        one.succeeded &&
        between(one) &&
        one.server === write.server &&
        (kind.undo as readonly string[]).includes(one.kind) &&
        isSame(one.thing, write.thing) &&
        !(one.kind === 'role' && one.thing.value === write.thing.value),
    )
    if (undone) return false
    const hits = (one: List) =>
      one.seen.filter(
        ({ thing, identified }) =>
          identified &&
          isSame(thing, write.thing) &&
          both(thing.value, write.thing.value, (a, b) => a === b),
      ).length
    const before = run
      .filter((one) => one.type === 'list' && one.seq < write.seq && isOf(one, list))
      .filter((one) => !isChangedBetween(run, write, one.seq))
      .at(-1) as List | undefined
    if (kind.by === 'absence') return isAbsent(list, write) && !(before && isAbsent(before, write))
    if (hits(list) === 0) return false
    const base = before ? hits(before) : 0
    const equal = run.filter(
      (one) =>
        one.type === 'write' &&
        one.succeeded &&
        one.kind === write.kind &&
        one.server === write.server &&
        one.seq < list.seq &&
        one.seq > (before?.seq ?? -1) &&
        isSame(one.thing, write.thing),
    ).length
    return kind.once ? base === 0 : hits(list) >= base + equal
  })
}

function isOf(one: Event, list: List): boolean {
  return (
    one.type === 'list' &&
    !one.failed &&
    one.server === list.server &&
    one.tool === list.tool &&
    one.place === list.place
  )
}

/**
 * Something before the write touched its target after that moment, so that a list of then says nothing of it. A key of the same
 * name as a token is another thing.
 */
function isChangedBetween(run: readonly Event[], write: Write, from: number): boolean {
  const touching: readonly string[] = [write.kind, ...KINDS[write.kind].undo]
  return run.some(
    (one) =>
      one.type === 'write' &&
      touching.includes(one.kind) &&
      one.seq > from &&
      one.seq < write.seq &&
      one.server === write.server &&
      isSame(one.thing, write.thing),
  )
}

function isAbsent(list: List, write: Write): boolean {
  return (
    list.whole &&
    list.seen.every(({ identified }) => identified) &&
    !list.seen.some(({ thing }) => isSame(thing, write.thing))
  )
}

function isSame(one: Thing, other: Thing): boolean {
  return one.place === other.place && one.name === other.name
}
