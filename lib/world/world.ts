/**
 * A simulated provider: tables of rows, tools that are pure functions over them, and the provider's
 * own audit log.
 *
 * A tool takes a state and gives back the next one, so every fault is a statement about which state
 * is kept: a lying success keeps the old one and sends the reply of the new one. The audit log is
 * made from the *difference* between two states. It cannot see a request, a fault or an agent,
 * because they are never handed to it.
 */
import type { z } from 'zod'
import { canonical, type Digest, digest } from '../canonical.ts'
import { TouchstoneError } from '../errors.ts'
import type { Json, JsonObject } from '../json.ts'

/** One row. `id` is unique within its table and never changes. */
export type Row = { id: string | number; [column: string]: Json }
/** The whole state of a provider: table name -> rows. Never changed in place. */
export type State = { [table: string]: readonly Row[] }

export type Change = {
  op: 'create' | 'update' | 'delete'
  table: string
  before: Row | null
  after: Row | null
}

/**
 * What a tool may ask for besides the state: the provider's time and its next identifier. Both are
 * simulated.
 */
export type Clock = { now(): Date; nextId(): number }

/**
 * What a tool answers. Without `state` nothing changed. `reply` is what the caller sees: a list has
 * no structured content.
 */
export type Step<S extends State = State> = {
  state?: S
  reply: { [member: string]: Json | undefined } | readonly Json[]
  isError?: boolean
}

/** A value that a column must have: itself, or a condition on it. */
export type Condition = Json | { not: Json } | { contains: string } | { oneOf: Json[] }
/** Columns and what they must hold. */
export type Match = { [column: string]: Condition }

/**
 * What a successful call of a tool claims to have done to the tables: one row, or with `each` one
 * row per member of it, whose columns are asked for beside those of `where`. A column that is
 * `undefined` is not asked for.
 */
export type Effect = {
  op: Change['op']
  table: string
  where: { [column: string]: Condition | undefined }
  each?: { [column: string]: Condition | undefined }[]
  /** Columns whose names the provider documents as not case-sensitive. */
  anyCase?: readonly string[]
}

export type Tool<S extends State = State, I extends JsonObject = JsonObject> = {
  description: string
  /**
   * What the tool takes. A zod object; it becomes the JSON Schema that clients see, and it checks
   * every call.
   */
  input: z.ZodType<I>
  run(state: S, input: I, clock: Clock): Step<S>
  /** Left out for a tool that only reads. */
  effect?(input: I): Effect
}

export type AuditEntry = JsonObject

export type WorldDefinition<S extends State = State> = {
  name: string
  /**
   * Whose importer reads the exported audit log back. `null`: none does, so no trial exports it.
   */
  provider: string | null
  /** One sentence on what is simulated. */
  summary: string
  /** A zod object with a member per table; rows without an `id` are given one. */
  state: z.ZodType<S>
  // biome-ignore lint/suspicious/noExplicitAny: a definition holds tools of many input types; each call is checked by its schema.
  tools: { [name: string]: Tool<S, any> }
  /** The provider's log entries for a change of state, in its native shape. */
  audit(changes: Change[], clock: Clock): AuditEntry[]
  /** The export file as the provider would hand it over. Default: a JSON array. */
  exportAudit?(entries: AuditEntry[]): string
}

/** True when a row has what each column of the match asks for. */
export function matches(row: Row, where: Match): boolean {
  return Object.entries(where).every(([column, condition]) => holds(row[column], condition))
}

function holds(value: Json | undefined, condition: Condition): boolean {
  if (condition !== null && typeof condition === 'object' && !Array.isArray(condition)) {
    if ('not' in condition) return !same(value, condition['not'])
    if ('contains' in condition) {
      const part = String(condition['contains'])
      return Array.isArray(value)
        ? value.some((item) => same(item, part))
        : typeof value === 'string' && value.includes(part)
    }
    if ('oneOf' in condition && Array.isArray(condition['oneOf']))
      return condition['oneOf'].some((one) => same(value, one))
  }
  return same(value, condition as Json)
}

function same(a: Json | undefined, b: Json | undefined): boolean {
  if (a === b) return true
  if (a === undefined || b === undefined || typeof a !== 'object' || typeof b !== 'object')
    return false
  return canonical(a) === canonical(b)
}

/**
 * The rows that differ between two states. Rows are compared by identity first, so an untouched
 * table costs nothing.
 */
export function changesBetween(before: State, after: State): Change[] {
  const changes: Change[] = []
  for (const table of new Set([...Object.keys(before), ...Object.keys(after)])) {
    const old = before[table] ?? []
    const next = after[table] ?? []
    if (old === next) continue
    const known = new Map(old.map((row) => [row.id, row]))
    for (const row of next) {
      const was = known.get(row.id)
      known.delete(row.id)
      if (was === undefined) changes.push({ op: 'create', table, before: null, after: row })
      else if (was !== row && canonical(was) !== canonical(row))
        changes.push({ op: 'update', table, before: was, after: row })
    }
    for (const row of known.values())
      changes.push({ op: 'delete', table, before: row, after: null })
  }
  return changes
}

/**
 * A clock that starts at one instant and moves a second per look, so that a trial is the same on
 * every machine.
 */
export function simulatedClock(start = Date.UTC(2026, 0, 5, 9, 0, 0), firstId = 1001): Clock {
  let at = start
  let id = firstId
  return {
    now() {
      const date = new Date(at)
      at += 1000
      return date
    },
    nextId: () => id++,
  }
}

/** How a call is to be carried out. The defaults are an honest server's. */
export type Handling = {
  /**
   * Which state is kept, out of the present one and the one that the tool made. Default: the made
   * one.
   */
  keep?: (present: State, made: State) => State
  /** The state that the tool sees. Default: the present one; a stale read sees an older one. */
  from?: State
}

/**
 * What a call gave. `made`: the state that the tool made, whether or not it was kept; null when it
 * made none.
 */
export type Called = { reply: JsonObject | Json[]; isError: boolean; made: State | null }

/** One server's world at the end of a trial. */
export type End = {
  /** The tables at the end. */
  state: State
  /** The tables at the start. */
  start: State
  /**
   * Every change between, in order; for a server that is not ours, the difference of start and end.
   */
  changes: readonly Change[]
}

/** A provider at work: one state, one log. Made fresh for every trial. */
export class World {
  readonly definition: WorldDefinition
  readonly start: State
  readonly clock: Clock
  private current: State
  private readonly log: AuditEntry[] = []
  private readonly ledger: Change[] = []
  private readonly past: State[] = []
  /** What a tool did that no tool may do, or null. */
  broken: TouchstoneError | null = null

  constructor(definition: WorldDefinition, state: unknown = {}, clock: Clock = simulatedClock()) {
    this.definition = definition
    this.clock = clock
    const parsed = definition.state.safeParse(withIds(state, clock))
    if (!parsed.success) {
      const issue = parsed.error.issues[0]
      const path = [
        ...(issue?.path ?? []),
        ...(issue?.code === 'unrecognized_keys' ? issue.keys.slice(0, 1) : []),
      ]
      const message = (issue?.message ?? 'expected tables of rows')
        .replace(/^Invalid input: /, '')
        .replace(', received undefined', ', got nothing')
        .replace(', received ', ', got ')
      throw new TouchstoneError(
        'case_invalid',
        `${message}, in the state of world "${definition.name}"`,
        { where: ['state', ...path.map(String)].join('.') },
      )
    }
    const twice = repeatedId(parsed.data)
    if (twice)
      throw new TouchstoneError(
        'case_invalid',
        `expected each id once in a table, got ${twice.id} again, in the state of world "${definition.name}"`,
        {
          where: `state.${twice.table}`,
        },
      )
    // What a judge compares with must stay as it was, whatever a tool does to what it is handed.
    this.start = frozen(structuredClone(parsed.data))
    this.current = this.start
  }

  get state(): State {
    return this.current
  }

  /** Every change since the start, in order. */
  get changes(): readonly Change[] {
    return this.ledger
  }

  /** States before the present one, oldest first. */
  get history(): readonly State[] {
    return this.past
  }

  /** The provider's audit export in its native form. */
  audit(): string {
    return this.definition.exportAudit?.(this.log) ?? `${JSON.stringify(this.log, null, 1)}\n`
  }

  digest(): Digest {
    return digestOfState(this.current)
  }

  /**
   * Run a tool. Input that its schema refuses, and an unknown tool, are answers with `isError`, as
   * an MCP server gives them.
   */
  call(name: string, input: unknown, { keep = kept, from }: Handling = {}): Called {
    const refusal = (error: string): Called => ({
      reply: { ok: false, error },
      isError: true,
      made: null,
    })
    const tool = Object.hasOwn(this.definition.tools, name)
      ? this.definition.tools[name]
      : undefined
    if (!tool) return refusal(`unknown tool ${name}`)
    const parsed = tool.input.safeParse(input)
    if (!parsed.success) {
      const issue = parsed.error.issues[0]
      const field = issue?.path.map(String).join('.') || 'arguments'
      return refusal(`invalid arguments: ${field}: ${issue?.message ?? 'invalid'}`)
    }
    const step = this.stepOf(name, () => tool.run(from ?? this.current, parsed.data, this.clock))
    if (step.state) this.commit(keep(this.current, step.state))
    return {
      reply: step.reply as JsonObject | Json[],
      isError: step.isError ?? false,
      made: step.state ?? null,
    }
  }

  /**
   * A tool's step, if it is one. A tool with a mistake says nothing about an agent, so the world is
   * not judged after it.
   */
  private stepOf(name: string, run: () => Step): Step {
    const broken = (got: string, cause?: unknown): never => {
      this.broken ??= new TouchstoneError(
        'world_broken',
        `expected ${name} of world "${this.definition.name}" to be a pure function that gives { state?, reply }, got ${got}`,
        { cause },
      )
      throw this.broken
    }
    let step: Step
    try {
      step = run()
    } catch (cause) {
      return broken(cause instanceof Error ? cause.message : String(cause), cause)
    }
    if (
      step === null ||
      typeof step !== 'object' ||
      typeof step.reply !== 'object' ||
      step.reply === null
    )
      return broken(step instanceof Promise ? 'a promise' : 'no reply')
    if (step.state === undefined) return step
    const issue = this.definition.state.safeParse(step.state).error?.issues[0]
    if (issue)
      return broken(
        `a state of another shape: ${['state', ...issue.path].map(String).join('.')}: ${issue.message}`,
      )
    const twice = repeatedId(step.state)
    if (twice) return broken(`a state with the id ${twice.id} twice in ${twice.table}`)
    frozen(step.state)
    return step
  }

  private commit(next: State): void {
    const changes = changesBetween(this.current, next)
    if (changes.length === 0) return
    this.past.push(this.current)
    this.current = next
    this.ledger.push(...changes)
    this.log.push(...this.definition.audit(changes, this.clock))
  }
}

/** A value that nobody changes, at any depth. What is frozen already is so in whole. */
function frozen<T>(value: T): T {
  if (value === null || typeof value !== 'object' || Object.isFrozen(value)) return value
  Object.freeze(value)
  for (const item of Object.values(value)) frozen(item)
  return value
}

/** The first id that stands twice in a table, or null. */
function repeatedId(state: State): { table: string; id: string | number } | null {
  for (const [table, rows] of Object.entries(state)) {
    const ids = new Set<string | number>()
    for (const { id } of rows) {
      if (ids.has(id)) return { table, id }
      ids.add(id)
    }
  }
  return null
}

const kept = (_: State, made: State) => made

/** SHA-256 over a state's RFC 8785 text. */
export function digestOfState(state: State): Digest {
  return digest(canonical(state))
}

function withIds(state: unknown, clock: Clock): unknown {
  if (state === null || typeof state !== 'object' || Array.isArray(state)) return state
  const numbered = (row: unknown) =>
    row !== null && typeof row === 'object' && !Array.isArray(row) && !('id' in row)
      ? { id: clock.nextId(), ...row }
      : row
  return Object.fromEntries(
    Object.entries(state).map(([table, rows]) => [
      table,
      Array.isArray(rows) ? rows.map(numbered) : rows,
    ]),
  )
}
