/**
 * The tools of a trial as the AI SDK takes them: for our own loop, and for agents that are built on
 * the SDK.
 */
import { dynamicTool, jsonSchema, type ToolSet } from 'ai'
import type { JsonObject } from '../../json.ts'
import type { UserAnswer } from '../case/user.ts'
import type { CallToolResult } from '../wire/mcp.ts'
import { ASK_DESCRIPTION, ASK_SCHEMA, heardText, wordsIn } from './ask.ts'
import { ASK, type OfferedTool, REPORT } from './recorder.ts'
import { REPORT_DESCRIPTION, REPORT_SCHEMA, type Reports } from './report-tool.ts'
import { argumentsOf } from './tool-arguments.ts'
import { modelOutput } from './tool-result.ts'

/**
 * What the tools do: `call` carries a call out and records it, `refuse` records one that is none.
 */
export type Hands = {
  call(offered: OfferedTool, input: JsonObject): Promise<CallToolResult>
  refuse(tool: string, input: unknown, problem: string): void
  /** The model takes images and audio in a tool's result. */
  files?: boolean
}

/** One tool of a server. */
export function toolOf(
  offered: OfferedTool,
  { call, refuse, files = false }: Hands,
): ToolSet[string] {
  return dynamicTool({
    description: offered.tool.description ?? '',
    inputSchema: jsonSchema(offered.tool.inputSchema as JsonObject),
    execute: async (input) => call(offered, read(offered.name, input, refuse)),
    toModelOutput: ({ output }) => modelOutput(output as CallToolResult, files),
  })
}

/**
 * The tools that are offered, by name, with `report` beside them and, where there is a user to
 * speak to by it, `ask_user`.
 */
export function toolSet(
  offered: readonly OfferedTool[],
  hands: Hands,
  reports: Reports,
  ask: ((text: string) => Promise<UserAnswer>) | null = null,
): ToolSet {
  const tools: ToolSet = {}
  for (const one of offered) tools[one.name] = toolOf(one, hands)
  tools[REPORT] = dynamicTool({
    description: REPORT_DESCRIPTION,
    inputSchema: jsonSchema(REPORT_SCHEMA as unknown as JsonObject),
    async execute(input) {
      const problem = reports.file(read(REPORT, input, hands.refuse))
      if (problem === null) return 'received'
      hands.refuse(REPORT, input, problem)
      throw new Error(problem)
    },
  })
  if (ask)
    tools[ASK] = dynamicTool({
      description: ASK_DESCRIPTION,
      inputSchema: jsonSchema(ASK_SCHEMA as unknown as JsonObject),
      async execute(input) {
        const text = wordsIn(read(ASK, input, hands.refuse))
        if (text !== null) return heardText(await ask(text))
        const problem = 'expected text to be a text'
        hands.refuse(ASK, input, problem)
        throw new Error(problem)
      },
    })
  return tools
}

/** The arguments of a call. What is none is recorded, and the model is told. */
function read(tool: string, input: unknown, refuse: Hands['refuse']): JsonObject {
  try {
    return argumentsOf(input)
  } catch (cause) {
    refuse(tool, input, (cause as Error).message)
    throw cause
  }
}
