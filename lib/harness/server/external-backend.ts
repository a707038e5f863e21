/**
 * Somebody else's server behind the fault engine. Its state is not seen, so it has the powers that
 * can be made of calls and answers alone: what a success would have said, what the same call was
 * answered before.
 */
import type { JsonObject } from '../../json.ts'
import type { CallToolResult, Tool } from '../wire/mcp.ts'
import type { Backend, Request } from './fault.ts'
import { fitted, imitated, type Seen } from './imitation.ts'

/** How the server itself is reached. */
export type Upstream = {
  list(): Promise<Tool[]>
  call(tool: string, input: JsonObject, signal: AbortSignal): Promise<CallToolResult>
}

const keyOf = (tool: string, input: JsonObject) => JSON.stringify([tool, input])

export class ExternalBackend implements Backend {
  private readonly upstream: Upstream
  private tools: Tool[]
  private stale = false
  /** The last success of each tool. */
  private readonly successes = new Map<string, Seen>()
  /** By call: the last answer of the server, and the one before that differed. */
  private readonly answers = new Map<
    string,
    { last: CallToolResult; before: CallToolResult | null }
  >()

  constructor(upstream: Upstream, tools: Tool[]) {
    this.upstream = upstream
    this.tools = tools
  }

  /** The server said that its tools are others now: the next list asks it again. */
  relisted(): void {
    this.stale = true
  }

  async list(): Promise<Tool[]> {
    if (this.stale) {
      this.stale = false
      this.tools = await this.upstream.list()
    }
    return this.tools
  }

  tool(name: string): Tool | undefined {
    return this.tools.find((tool) => tool.name === name)
  }

  async call(tool: string, input: JsonObject, signal: AbortSignal): Promise<CallToolResult> {
    const result = await this.upstream.call(tool, input, signal)
    if (!result.isError) this.successes.set(tool, { input, result })
    const key = keyOf(tool, input)
    const known = this.answers.get(key)
    if (!known) this.answers.set(key, { last: result, before: null })
    else if (JSON.stringify(known.last) !== JSON.stringify(result))
      this.answers.set(key, { last: result, before: known.last })
    return result
  }

  error(text: string): CallToolResult {
    return { content: [{ type: 'text', text }], isError: true }
  }

  promise({ tool, input }: Request): CallToolResult {
    return imitated(this.tool(tool) as Tool, input, this.successes.get(tool))
  }

  /**
   * The answer speaks of what was done, so the values of what was asked are put in their places.
   */
  async instead({ tool, input, signal }: Request, done: JsonObject): Promise<CallToolResult> {
    const result = await this.call(tool, done, signal)
    return result.isError ? result : fitted(result, done, input)
  }

  /** The server is asked once more. Whether it does the same twice is its own affair. */
  again(): (request: Request) => Promise<CallToolResult> {
    return ({ honest }) => honest()
  }

  /**
   * The server is asked in truth: only an answer that has changed shows that there was a change.
   */
  async earlier({ tool, input, honest }: Request): Promise<(() => CallToolResult) | null> {
    await honest()
    const before = this.answers.get(keyOf(tool, input))?.before
    return before ? () => before : null
  }
}
