/**
 * A simulated world behind the fault engine. It has every power, because a world's tools are pure
 * functions over a state.
 */
import { z } from 'zod'
import type { Digest } from '../../canonical.ts'
import type { JsonObject } from '../../json.ts'
import { worldNamed } from '../../world/index.ts'
import {
  type Called,
  changesBetween,
  type Effect,
  type End,
  type State,
  World,
  type WorldDefinition,
} from '../../world/world.ts'
import type { CallToolResult, Tool } from '../wire/mcp.ts'
import type { Backend, Powers, Request } from './fault.ts'
import { requireTools } from './fault-engine.ts'
import type { ServerPlan } from './server-plan.ts'

const schemas = new WeakMap<object, Tool['inputSchema']>()

/** A zod schema as JSON Schema, made once. */
function jsonSchemaOf(schema: z.ZodType): Tool['inputSchema'] {
  const known = schemas.get(schema)
  if (known) return known
  const { $schema: _, ...made } = z.toJSONSchema(schema, { io: 'input' }) as Record<string, unknown>
  schemas.set(schema, made as Tool['inputSchema'])
  return made as Tool['inputSchema']
}

const NOTHING: WorldDefinition = {
  name: 'nothing',
  provider: null,
  summary: 'No state.',
  state: z.record(
    z.string(),
    z.array(z.looseObject({ id: z.union([z.string(), z.number()]) })),
  ) as WorldDefinition['state'],
  tools: {},
  audit: () => [],
}

/**
 * The world of a plan with its own tools laid over it. @throws TouchstoneError `world_unknown`,
 * `tool_unknown`
 */
export function definitionOf(plan: ServerPlan): WorldDefinition {
  const base =
    plan.world === null
      ? NOTHING
      : typeof plan.world === 'string'
        ? worldNamed(plan.world)
        : plan.world
  const own = Object.entries(plan.tools).map(([name, tool]) => [
    name,
    {
      description: tool.description,
      input: tool.input as z.ZodType<JsonObject>,
      run: (state: never, input: JsonObject, clock: never) => tool.run(input, state, clock),
      ...(tool.effect && { effect: tool.effect }),
    },
  ])
  const definition =
    own.length === 0 ? base : { ...base, tools: { ...base.tools, ...Object.fromEntries(own) } }
  requireTools(plan, Object.keys(definition.tools))
  return definition
}

/** What a server holds when it is asked: the judge's view, which no client has. */
export type ServerEnd = End & { provider: string | null; audit: string | null; digest: Digest }

/** The state stays as it is. */
const present = (state: State) => state

export class WorldBackend implements Backend, Powers {
  readonly world: World
  private readonly tools: ReadonlyMap<string, Tool>
  /** The state there would be had every call done what it says; null while no fault needs it. */
  private imagined: State | null

  /**
   * @throws TouchstoneError `world_unknown`, `tool_unknown`, `case_invalid` for a state that is not
   * the world's
   */
  constructor(plan: ServerPlan) {
    this.world = new World(definitionOf(plan), plan.state)
    this.imagined = plan.faults.some(({ kind }) => kind === 'cached_read') ? this.world.state : null
    const { tools } = this.world.definition
    this.tools = new Map(
      Object.entries(tools).map(([name, { description, input }]) => [
        name,
        { name, description, inputSchema: jsonSchemaOf(input) },
      ]),
    )
  }

  list(): Tool[] {
    return [...this.tools.values()]
  }

  tool(name: string): Tool | undefined {
    return this.tools.get(name)
  }

  call(tool: string, input: JsonObject): CallToolResult {
    return resultOf(this.world.call(tool, input))
  }

  error(text: string): CallToolResult {
    return resultOf({ reply: { ok: false, error: text }, isError: true })
  }

  promise({ tool, input }: Pick<Request, 'tool' | 'input'>): CallToolResult {
    return resultOf(this.world.call(tool, input, { keep: present }))
  }

  /** A call that an honest server refuses is refused, and nothing else is done. */
  instead(request: Request, done: JsonObject): CallToolResult {
    const promised = this.promise(request)
    if (!promised.isError) this.world.call(request.tool, done)
    return promised
  }

  /**
   * As the first time the call met the world: no key, name or row of the first call stands in its
   * way.
   */
  again(): (request: Request) => CallToolResult {
    const met = this.world.state
    return ({ tool, input }) =>
      resultOf(
        this.world.call(tool, input, {
          from: met,
          keep: (old, made) => withCreated(old, met, made),
        }),
      )
  }

  earlier({ tool, input }: Request): (() => CallToolResult) | null {
    const from = this.world.history.at(-1)
    return from === undefined
      ? null
      : () => resultOf(this.world.call(tool, input, { from, keep: present }))
  }

  partly({ tool, input }: Request, keep: number): CallToolResult {
    return resultOf(
      this.world.call(tool, input, { keep: (old, made) => withPart(old, made, keep) }),
    )
  }

  believed({ tool, input }: Request): CallToolResult {
    return resultOf(
      this.world.call(tool, input, { from: this.imagined ?? this.world.state, keep: present }),
    )
  }

  served({ tool, input }: Request): void {
    if (!this.imagined) return
    const { made } = this.world.call(tool, input, { from: this.imagined, keep: present })
    this.imagined = made ?? this.imagined
  }

  /**
   * What the world holds. @throws TouchstoneError `world_broken` when one of its tools did what no
   * tool may
   */
  end(): ServerEnd {
    const { world } = this
    if (world.broken) throw world.broken
    const provider = world.definition.provider
    return {
      state: world.state,
      start: world.start,
      changes: world.changes,
      provider,
      audit: provider === null ? null : world.audit(),
      digest: world.digest(),
    }
  }
}

/** What a world's call gives, as an MCP server sends it. */
function resultOf({ reply, isError }: Pick<Called, 'reply' | 'isError'>): CallToolResult {
  return {
    content: [{ type: 'text', text: JSON.stringify(reply) }],
    // Structured content is an object. A list goes as text, as GitHub's server sends it.
    ...(!Array.isArray(reply) && { structuredContent: reply }),
    isError,
  }
}

/** The old state with the first `keep` of the rows that the made one changes. */
function withPart(old: State, made: State, keep: number): State {
  const left = changesBetween(old, made).slice(keep)
  const tables = { ...made }
  for (const { op, table, before, after } of left) {
    const rows = tables[table] ?? []
    tables[table] =
      op === 'create'
        ? rows.filter((row) => row.id !== after?.id)
        : op === 'delete'
          ? [...rows, before as NonNullable<typeof before>]
          : rows.map((row) => (row.id === before?.id ? before : row))
  }
  return tables
}

/** The present state with the rows that a call created when it met another one. */
function withCreated(now: State, met: State, made: State): State {
  const tables = { ...now }
  for (const { op, table, after } of changesBetween(met, made))
    if (op === 'create' && after) tables[table] = [...(tables[table] ?? []), after]
  return tables
}

/**
 * What a call of a tool with these arguments claims to do, or null for a read or arguments that its
 * schema refuses.
 */
export function effectOf(
  definition: WorldDefinition,
  name: string,
  input: JsonObject,
): Effect | null {
  const tool = Object.hasOwn(definition.tools, name) ? definition.tools[name] : undefined
  if (!tool?.effect) return null
  try {
    return tool.effect(input)
  } catch {
    return null
  }
}

/** True for a tool that says what it changes. */
export function hasEffect(definition: WorldDefinition, name: string): boolean {
  return Object.hasOwn(definition.tools, name) && definition.tools[name]?.effect !== undefined
}
