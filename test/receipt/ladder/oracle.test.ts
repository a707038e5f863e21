/**
 * No level of `verify` is above what the oracle allows, and most of what it allows is given. Runs are generated as stories; the
 * calls, lists and records that `verify` sees are told in their providers' shapes.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Arbitrary } from 'fast-check'
import type { JsonObject } from '../../../lib/json.ts'
import * as receipt from '../../../lib/receipt/index.ts'
import fc from '../../property.ts'
import {
  type Entry,
  type Event,
  highest,
  KINDS,
  type KindName,
  type Level,
  type List,
  type Thing,
  type Write,
} from './oracle.ts'

/** 20,000 in a long run. */
const RUNS = 200
const DAY = 24 * 60 * 60 * 1000
const START = Date.parse('2026-01-05T09:00:00Z')
const RANK: Record<Level, number> = { asserted: 0, observed_confirmed: 1, verified: 2 }

/** How each kind is told: the tool and its arguments, what binds it, and the list that may show it. */
const TOLD: {
  [kind in KindName]: {
    tool: string
    action_class: string
    verb: string
    args(thing: Thing): JsonObject
    target(thing: Thing): JsonObject
  }
} = {
  key: {
    tool: 'add_deploy_key',
    action_class: 'github_deploy_key',
    verb: 'create',
    args: ({ place, name, value }) => ({
      owner: 'org',
      repo: place,
      title: name,
      key: 'ssh-ed25519 AAAA',
      ...(value !== null && { read_only: value === 'true' }),
    }),
    target: ({ place, name }) => ({
      owner: 'org',
      repo: place,
      key_title_hash: receipt.targetHash('github_key_title', name),
    }),
  },
  collaborator: member('add_collaborator', 'add'),
  uncollaborator: member('remove_collaborator', 'remove'),
  object: object('create_object', 'create'),
  unobject: object('delete_object', 'delete'),
  patch: object('patch_object', 'patch'),
  role: {
    tool: 'change_role',
    action_class: 'workspace_role',
    verb: 'change_role',
    args: ({ place, name, value }) => ({ workspace: place, user: name, role: value ?? 'viewer' }),
    target: ({ place, name, value }) => ({
      workspace_id_hash: receipt.targetHash('workspace', place),
      principal_hash: receipt.targetHash('workspace_principal', name),
      role: value ?? 'viewer',
    }),
  },
  token: {
    tool: 'create_workspace_token',
    action_class: 'workspace_role',
    verb: 'create',
    args: ({ place, name }) => ({ workspace: place, principal: 'bob', name }),
    target: ({ place, name }) => ({
      workspace_id_hash: receipt.targetHash('workspace', place),
      principal_hash: receipt.targetHash('workspace_principal', 'bob'),
      token_name_hash: receipt.exactHash('workspace_token_name', name),
    }),
  },
}

function member(tool: string, verb: string): (typeof TOLD)['collaborator'] {
  return {
    tool,
    action_class: 'github_collaborator',
    verb,
    args: ({ place, name }) => ({ owner: 'org', repo: place, username: name }),
    target: ({ place, name }) => ({
      owner: 'org',
      repo: place,
      principal_hash: receipt.targetHash('github_principal', name),
    }),
  }
}

function object(tool: string, verb: string): (typeof TOLD)['object'] {
  return {
    tool,
    action_class: 'kubernetes_object',
    verb,
    args: ({ place, name }) => ({ namespace: place, resource: 'pods', name }),
    target: ({ place, name }) => ({ namespace: place, resource: 'pods', name }),
  }
}

/** How each list is told, whole and as a part. `renamed` puts the identity under a name that nobody declares. */
const LISTS: {
  [tool: string]: {
    args(place: string): JsonObject
    item(thing: Thing): JsonObject
    whole(items: JsonObject[]): JsonObject | JsonObject[]
  }
} = {
  list_deploy_keys: {
    args: (place) => ({ owner: 'org', repo: place }),
    item: ({ name, value }) => ({
      id: 7,
      title: name,
      verified: true,
      ...(value !== null && { read_only: value === 'true' }),
    }),
    whole: (items) => items,
  },
  list_collaborators: {
    args: (place) => ({ owner: 'org', repo: place }),
    item: ({ name }) => ({ login: name, type: 'User', site_admin: false }),
    whole: (items) => items,
  },
  list_objects: {
    args: (place) => ({ namespace: place, resource: 'pods' }),
    item: ({ name, place }) => ({
      metadata: { name, namespace: place, uid: 'u' },
      status: { phase: 'Running' },
    }),
    whole: (items) => ({
      kind: 'PodList',
      apiVersion: 'v1',
      metadata: { resourceVersion: '12' },
      items,
    }),
  },
  list_roles: {
    args: (place) => ({ workspace: place }),
    item: ({ name, value }) => ({ principal: name, role: value ?? 'viewer' }),
    whole: (roles) => ({ ok: true, roles }),
  },
  list_tokens: {
    args: (place) => ({ workspace: place }),
    item: ({ name }) => ({ id: 3, principal: 'bob', role: 'viewer', name }),
    whole: (tokens) => ({ ok: true, tokens }),
  },
}

type Told = List & { told: 'whole' | 'paged' | 'strange' | 'nested' | 'renamed' | 'failed' }
type Story = { events: (Write | Told)[]; entries: Entry[]; drop: number[] }

const thing = fc.record({
  place: fc.constantFrom('a', 'b'),
  name: fc.constantFrom('x', 'X', 'y'),
  value: fc.constantFrom(null, 'true', 'false'),
})

const write = fc
  .record({
    kind: fc.constantFrom(...(Object.keys(KINDS) as KindName[])),
    thing,
    server: fc.constantFrom('prod', 'prod', 'test'),
    succeeded: fc.constantFrom(true, true, true, false),
    requestId: fc.constantFrom(null, null, 'REQ-1', 'REQ-2'),
    at: fc.constantFrom(null, START),
    actor: fc.constantFrom(null, null, 'ann'),
  })
  .map((one) => ({ ...one, type: 'write' as const, thing: normal(one.kind, one.thing) }))

/** Values that a kind does not speak of are not said, and GitHub's logins have no case. */
function normal(kind: string, { place, name, value }: Thing): Thing {
  const valued =
    kind === 'key' || kind === 'role' || kind === 'list_deploy_keys' || kind === 'list_roles'
  const isFolded = /collaborator|role/.test(kind)
  return {
    place,
    name: isFolded ? name.toLowerCase() : name,
    value: valued ? (/role/.test(kind) ? (value ?? 'viewer') : value) : null,
  }
}

const list = fc
  .record({
    tool: fc.constantFrom(...Object.keys(LISTS)),
    place: fc.constantFrom('a', 'b'),
    server: fc.constantFrom('prod', 'prod', 'test'),
    things: fc.array(thing, { maxLength: 3 }),
    aim: fc.constantFrom<Drawn['aim'][]>('anywhere', 'shows', 'shows', 'lacks', 'lacks'),
    told: fc.constantFrom<Told['told'][]>(
      'whole',
      'whole',
      'whole',
      'paged',
      'strange',
      'nested',
      'renamed',
      'failed',
    ),
  })
  .map((drawn) => ({ type: 'list' as const, ...drawn }))
type Drawn = Omit<Told, 'run' | 'seq' | 'seen' | 'whole' | 'failed'> & {
  things: Thing[]
  aim: 'anywhere' | 'shows' | 'lacks'
}

/** A list as it was drawn, or aimed at the last write before it: it looks where the write wrote, and shows it or not. */
function listOf(drawn: Drawn, write: Write | undefined): Omit<Told, 'run' | 'seq'> {
  const { aim, things, told } = drawn
  const aimed = aim !== 'anywhere' && write ? write : undefined
  const tool = (aimed && KINDS[aimed.kind].lists[0]) ?? drawn.tool
  const place = aimed?.thing.place ?? drawn.place
  const others = things.map((one) => normal(tool, { ...one, place }))
  const seen = !aimed
    ? others
    : [
        ...others.filter((one) => one.name !== aimed.thing.name),
        ...(aim === 'shows' ? [normal(tool, aimed.thing)] : []),
      ]
  return {
    type: 'list',
    tool,
    place,
    server: aimed?.server ?? drawn.server,
    told,
    failed: told === 'failed',
    // An empty list has no item that could be told otherwise.
    whole: told === 'whole' || (seen.length === 0 && (told === 'renamed' || told === 'nested')),
    seen: seen.map((thing) => ({ thing, identified: told !== 'renamed' && told !== 'nested' })),
  }
}

const story: Arbitrary<Story> = fc
  .record({
    steps: fc.array(fc.oneof(write, list), { minLength: 1, maxLength: 7 }),
    entries: fc.array(
      fc.record({
        of: fc.nat(6),
        twist: fc.constantFrom(
          'none',
          'none',
          'none',
          'tampered',
          'provider',
          'other',
          'request',
          'late',
          'early',
          'soon',
          'actor',
          'value',
        ),
        requestId: fc.boolean(),
        at: fc.boolean(),
        object: fc.constantFrom(null, null, 'o-1'),
      }),
      { maxLength: 4 },
    ),
    drop: fc.array(fc.nat(12), { maxLength: 1 }),
  })
  .map(({ steps, entries, drop }) => {
    const events: Story['events'] = []
    for (const [seq, one] of steps.entries()) {
      const before = events.filter((other) => other.type === 'write').at(-1)
      const made = one.type === 'write' ? one : listOf(one, before)
      events.push({ ...made, run: 'r', seq })
    }
    const writes = events.filter((one) => one.type === 'write')
    return {
      events,
      drop,
      entries: writes.length === 0 ? [] : entries.map((one, i) => entryOf(one, i, writes)),
    }
  })

/** Milliseconds from the calls, beyond a boundary and on it. */
const AT: { [twist: string]: number } = {
  late: DAY + 1,
  early: -15 * 60_000 - 1,
  soon: -15 * 60_000,
}

function entryOf(
  row: { of: number; twist: string; requestId: boolean; at: boolean; object: string | null },
  i: number,
  writes: Write[],
): Entry {
  const of = writes[row.of % writes.length] as Write
  const told = { ...of.thing, ...(row.twist === 'other' && { name: 'other' }) }
  const value =
    row.twist === 'value' && of.kind === 'key' ? 'true' : of.kind === 'key' ? told.value : null
  return {
    id: `e${i}`,
    provider: row.twist === 'provider' ? 'gitlab' : KINDS[of.kind].provider,
    subject: subjectOf({ ...of, thing: told }),
    honest: row.twist !== 'tampered',
    requestId: row.twist === 'request' ? 'REQ-9' : row.requestId ? of.requestId : null,
    at: row.at ? START + (AT[row.twist] ?? 1000) : null,
    actor: row.twist === 'actor' ? 'eve' : null,
    object: row.object === null ? null : `${of.kind} ${row.object}`,
    value,
    name: of.kind === 'key' ? told.name : null,
  }
}

function subjectOf({ kind, thing }: Pick<Write, 'kind' | 'thing'>): unknown {
  const { action_class, verb, target } = TOLD[kind]
  return { action_class, verb, target: target(thing) }
}

/** What stands beside the digest of an entry about a key: its title as it was written, and whether it may only read. */
function attributesOf({ name, value }: Entry): JsonObject {
  return {
    ...(name !== null && { key_title_exact_hash: receipt.exactHash('github_key_title', name) }),
    ...(value !== null && { read_only: value === 'true' }),
  }
}

function decisionOf(event: Write | Told): receipt.Decision {
  const base = { server: event.server, runId: event.run, seq: event.seq }
  if (event.type === 'write') {
    const { tool, args } = TOLD[event.kind]
    return receipt.observe({
      ...base,
      tool,
      arguments: args(event.thing),
      status: event.succeeded ? 'success' : 'error',
      ...(event.at !== null && { at: new Date(event.at).toISOString() }),
      ...(event.actor !== null && { actor: event.actor }),
      result: {
        structuredContent: event.requestId === null ? {} : { request_id: event.requestId },
      },
    })
  }
  return receipt.observe({
    ...base,
    tool: event.tool,
    arguments: LISTS[event.tool]?.args(event.place) ?? {},
    status: 'success',
    result: { content: [{ type: 'text', text: JSON.stringify(answerOf(event)) }] },
  })
}

function answerOf({ tool, seen, told }: Told): unknown {
  const { item, whole } = LISTS[tool] as (typeof LISTS)[string]
  const items = seen.map(({ thing }) => item(thing))
  const nested = (rows: JsonObject[]) => rows.map((node) => ({ node }))
  const renamed = (rows: JsonObject[]) => rows.map((row) => ({ display: row, label: 'x' }))
  const answer = whole(
    told === 'nested' ? nested(items) : told === 'renamed' ? renamed(items) : items,
  )
  if (told === 'whole' || told === 'nested' || told === 'renamed') return answer
  if (told === 'failed')
    return {
      ...(Array.isArray(answer) ? { items: answer } : answer),
      errors: [{ message: 'late' }],
    }
  // A bare list cannot say that there is more. A page of it is as long as a page may be.
  if (Array.isArray(answer))
    return [
      ...answer,
      ...Array.from({ length: 30 - answer.length }, () =>
        item({ place: '', name: 'filler', value: null }),
      ),
    ]
  if (told === 'strange') return { ...answer, view: 'mine' }
  return tool === 'list_objects'
    ? { ...answer, metadata: { continue: 'eyJ2', remainingItemCount: 500 } }
    : { ...answer, response_metadata: { next_cursor: 'dXNlcg==' } }
}

function recordsOf({ entries }: Story): JsonObject[] {
  return entries.map((entry) => {
    const made = receipt.record({
      provider: entry.provider,
      record_id: entry.id,
      subject: entry.subject as receipt.Subject,
      ...(entry.requestId !== null && { request_ids: [receipt.requestHash(entry.requestId)] }),
      ...(entry.at !== null && { occurred_at: new Date(entry.at).toISOString() }),
      ...(entry.actor !== null && { actor_hash: receipt.exactHash('x', entry.actor) }),
      ...(entry.object !== null && { object_hash: receipt.exactHash('object', entry.object) }),
      attributes: attributesOf(entry),
    })
    return JSON.parse(
      JSON.stringify(entry.honest ? made : { ...made, binding_digest: `sha256:${'0'.repeat(64)}` }),
    )
  })
}

/** What is left of a story when some of its decisions were not handed in. */
function kept({ events, drop }: Story): Story['events'] {
  return events.filter((one) => !drop.includes(one.seq))
}

function levelsOf(told: Story): Map<Write | Told, Level> {
  const events = kept(told)
  const report = receipt.verify(events.map(decisionOf), { audit: recordsOf(told) as never })
  return new Map(
    events.map((event) => {
      const row = report.calls.find((one) => one.seq === event.seq)
      return [event, row?.level ?? 'asserted']
    }),
  )
}

/** Each write with the level that the written rule allows and the one that `verify` gave. */
function levelPairs(told: Story): { event: Event; allowed: Level; given: Level }[] {
  const given = levelsOf(told)
  const allowed = highest(kept(told) as Event[], told.entries, subjectOf)
  return [...allowed].map(([event, level]) => ({
    event,
    allowed: level,
    given: given.get(event as Write) as Level,
  }))
}

test('no level is above what the written rule allows', () => {
  fc.assert(
    fc.property(story, (told) => {
      for (const { event, allowed, given } of levelPairs(told))
        assert.ok(
          RANK[given] <= RANK[allowed],
          `${given} above ${allowed}: ${JSON.stringify(event)}`,
        )
    }),
    { numRuns: RUNS },
  )
})

// A share is counted over fixed stories: 200 random ones once held only two confirmed writes.
test('most of what the written rule allows is given', () => {
  const pairs = fc.sample(story, { numRuns: 1000, seed: 1 }).flatMap(levelPairs)
  const share = (level: Level) => {
    const allowed = pairs.filter((pair) => pair.allowed === level)
    const given = allowed.filter((pair) => pair.given === level)
    return { allowed: allowed.length, given: given.length / allowed.length }
  }
  const confirmed = share('observed_confirmed')
  const verified = share('verified')
  assert.ok(
    confirmed.allowed > 25 && verified.allowed > 100,
    JSON.stringify({ confirmed, verified }),
  )
  assert.ok(
    verified.given >= 0.9 && confirmed.given >= 0.8,
    JSON.stringify({ confirmed, verified }),
  )
})

// Found by PROPERTY_TIMES=100 PROPERTY_SEED=813045572: the oracle took the key for the token.
test('a thing of another kind and the same name leaves what an earlier list shows', () => {
  const x = { place: 'b', name: 'x', value: null }
  const write = (kind: KindName, seq: number): Write => ({
    type: 'write',
    kind,
    thing: x,
    server: 'prod',
    succeeded: true,
    requestId: null,
    at: null,
    actor: null,
    run: 'r',
    seq,
  })
  const list = (seq: number, seen: Thing[]): Told => ({
    type: 'list',
    tool: 'list_tokens',
    place: 'b',
    server: 'prod',
    told: 'whole',
    failed: false,
    whole: true,
    seen: seen.map((thing) => ({ thing, identified: true })),
    run: 'r',
    seq,
  })
  const last = write('token', 3)
  for (const [between, level] of [
    [write('key', 2), 'observed_confirmed'],
    [write('token', 2), 'asserted'],
  ] as const) {
    const events = [write('token', 0), list(1, []), between, last, list(4, [x])]
    const told: Story = { events, entries: [], drop: [] }
    assert.equal(highest(events as Event[], [], subjectOf).get(last), level)
    assert.equal(levelsOf(told).get(last), level)
  }
})

/** No call has a higher level in the changed story than in the story itself. */
function neverRaises(
  before: Story,
  after: Story,
  seqOf: (seq: number) => number = (seq) => seq,
): void {
  const [was, is] = [before, after].map((told) => {
    const report = receipt.verify(kept(told).map(decisionOf), { audit: recordsOf(told) as never })
    return new Map(report.calls.map((row) => [row.seq, row.level ?? 'asserted'] as const))
  }) as [Map<number | null, Level>, Map<number | null, Level>]
  for (const event of kept(before)) {
    if (event.type !== 'write') continue
    const level = is.get(seqOf(event.seq))
    if (level === undefined) continue
    const old = was.get(event.seq) as Level
    assert.ok(RANK[level] <= RANK[old], `#${event.seq} rose from ${old} to ${level}`)
  }
}

const LAW = { numRuns: RUNS / 2 }

test('hiding a read never raises a level', () => {
  fc.assert(
    fc.property(story, fc.nat(6), (told, n) => {
      const reads = told.events.filter((one) => one.type === 'list')
      const hidden = reads[n % Math.max(1, reads.length)]
      if (hidden) neverRaises(told, { ...told, drop: [...told.drop, hidden.seq] })
    }),
    LAW,
  )
})

test('a record of something else never raises a level', () => {
  fc.assert(
    fc.property(story, fc.constantFrom('name', 'place', 'provider', 'verb'), (told, part) => {
      const write = told.events.find((one) => one.type === 'write')
      if (!write) return
      const [one, two] = ['name', 'place'].includes(part)
        ? [{ ...write, thing: { ...write.thing, [part]: 'elsewhere' } }, null]
        : [write, part]
      const subject = {
        ...(subjectOf(one) as JsonObject),
        ...(two === 'verb' && { verb: 'other' }),
      }
      const entry: Entry = {
        id: 'unrelated',
        provider: two === 'provider' ? 'elsewhere' : KINDS[write.kind].provider,
        subject,
        honest: true,
        requestId: null,
        at: null,
        actor: null,
        object: null,
        value: null,
        name: null,
      }
      neverRaises(told, { ...told, entries: [...told.entries, entry] })
    }),
    LAW,
  )
})

test('what another server shows never raises a level', () => {
  fc.assert(
    fc.property(story, list, (told, drawn) => {
      const aimed = told.events.filter((one) => one.type === 'write').at(-1)
      const seq = told.events.length
      const elsewhere = { ...listOf(drawn, aimed), server: 'elsewhere', run: 'r', seq }
      neverRaises(told, { ...told, events: [...told.events, elsewhere] })
    }),
    LAW,
  )
})

for (const [mark, change] of [
  ['a page marker', 'paged'],
  ['a member that no shape declares', 'strange'],
  ['an item whose identity has another name', 'renamed'],
  ['an item inside a wrapper', 'nested'],
  ['a word that the read failed', 'failed'],
] as const)
  test(`${mark} never raises a level`, () => {
    fc.assert(
      fc.property(story, (told) => {
        const isEmpty = (one: Told) => one.seen.length === 0
        const events = told.events.map((one) =>
          one.type === 'list' && one.told === 'whole' && !isEmpty(one)
            ? { ...one, told: change, whole: false }
            : one,
        )
        neverRaises(told, { ...told, events })
      }),
      LAW,
    )
  })

test('splitting a list into pages never raises a removal', () => {
  fc.assert(
    fc.property(story, fc.nat(3), (told, cut) => {
      const twice = ({ seq }: { seq: number }) => seq * 2
      const events = told.events.flatMap((one): Story['events'] => {
        const seq = twice(one)
        if (one.type === 'write')
          return [
            { ...one, seq },
            { ...one, seq: seq + 1, succeeded: false },
          ]
        if (one.told !== 'whole')
          return [
            { ...one, seq },
            { ...one, seq: seq + 1 },
          ]
        const pages = [one.seen.slice(0, cut), one.seen.slice(cut)]
        return pages.map((seen, i) => ({ ...one, seq: seq + i, seen, told: 'paged', whole: false }))
      })
      const removals = (story: Story) =>
        story.events.filter((one) => one.type === 'write' && KINDS[one.kind].by === 'absence')
      if (removals(told).length === 0) return
      neverRaises({ ...told, drop: [] }, { ...told, events, drop: [] }, (seq) => seq * 2)
    }),
    LAW,
  )
})
