/** What an MCP server under test is made of, as data. */
import type { z } from 'zod'
import type { JsonObject } from '../../json.ts'
import type { Clock, Effect, State, Step, WorldDefinition } from '../../world/world.ts'
import type { DatabaseSource } from './database.ts'
import type { Fault } from './fault.ts'
import type { Era } from './plan-options.ts'
import type { Policy } from './policy.ts'
import type { Reset } from './reset.ts'
import type { Question, TableSource } from './tables.ts'

/** A tool of one's own: pure, like a world's. */
export type OwnTool = {
  description: string
  input: z.ZodType
  run(input: JsonObject, state: State, clock: Clock): Step
  effect?: ((input: JsonObject) => Effect) | undefined
}

/** Everything a server is made of. Plain data, but for worlds and tools written in TypeScript. */
export type ServerPlan = {
  name: string
  world: string | WorldDefinition | null
  state: unknown
  tools: { [name: string]: OwnTool }
  describe: { [tool: string]: string }
  /**
   * Members of JSON Schema laid over those of a tool's parameters; a parameter that it lacks is
   * offered and dropped.
   */
  parameters: { [tool: string]: { [parameter: string]: JsonObject } }
  inject: {
    [tool: string]:
      | string
      | { text: string; after?: number | undefined; times?: number | undefined }
  }
  faults: Fault[]
  stdio: {
    command: string
    args: string[]
    /**
     * Beside what any program needs (PATH, HOME and the like). `$NAME` is that variable of this
     * process.
     */
    env: { [name: string]: string }
    cwd?: string | undefined
    /** Puts the state of a kept process back. Null: a fresh process for each start. */
    reset?: Reset | 'files' | null | undefined
    era?: Era | undefined
  } | null
  http: {
    url: string
    headers: { [name: string]: string }
    /** Puts the state back at each start. Null: it is as it was left. */
    reset?: Reset | null | undefined
    era?: Era | undefined
  } | null
  /**
   * A folder made fresh at the start: path -> text. The agent and `stdio.args` know it as
   * `/workspace`.
   */
  files: { [path: string]: string } | null
  effects: { [tool: string]: Effect }
  /** What the judge sees of the state of a server that is not ours, by asking. */
  tables: { [table: string]: TableSource }
  /** The database of a server that is not ours, which the judge asks. */
  database: DatabaseSource | null
  /**
   * A folder of this machine in which a server at an address keeps its files. It is read, never
   * written.
   */
  folder: string | null
  /** What else the judge asks at the start, so that a state that was left behind is found. */
  questions: Question[]
  /**
   * Members of answers that differ at each look, such as the time of it. They are left out of the
   * start's digest.
   */
  volatile: string[]
  /** Stands in front of the server and decides on each call. Null: nothing does. */
  policy: Policy | null
}

/** A server of nothing yet. */
export const EMPTY: Omit<ServerPlan, 'name' | 'world'> = {
  state: {},
  tools: {},
  describe: {},
  parameters: {},
  inject: {},
  faults: [],
  stdio: null,
  http: null,
  files: null,
  effects: {},
  tables: {},
  database: null,
  folder: null,
  questions: [],
  volatile: [],
  policy: null,
}
