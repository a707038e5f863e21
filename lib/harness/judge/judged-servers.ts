/** Servers at the end of a trial as the judge of claims sees them, and what prose may speak of. */
import type { JsonObject } from '../../json.ts'
import type { Doable } from '../../log/prose/clause.ts'
import { offeredName, type Recorder } from '../agent/recorder.ts'
import type { Case } from '../case/case.ts'
import type { Judged } from '../case/goal/claims.ts'
import type { RunningServer } from '../server/running.ts'
import type { ServerEnd } from '../server/world-backend.ts'

/** @param ends one for each server */
export function judgedServers(
  servers: readonly RunningServer[],
  ends: readonly ServerEnd[],
  recorder: Recorder,
): Judged[] {
  return servers.map((server, i) => ({
    name: server.name,
    end: ends[i] as ServerEnd,
    effectOf: server.effectOf,
    writes: server.writes,
    ours: server.ours,
    tools: new Map(
      server.tools.map(({ name, annotations, inputSchema }) => [
        name,
        {
          reads: annotations?.readOnlyHint === true,
          offered: offeredName(server.name, name, servers.length),
          parameters: inputSchema.properties ? new Set(Object.keys(inputSchema.properties)) : null,
          called: recorder.calls.some(
            (call) =>
              call.server === server.name && call.tool === name && call.status === 'success',
          ),
        },
      ]),
    ),
  }))
}

/** The tools that change something, with arguments that they were, or should be, called with. */
export function doableTools(
  judges: readonly Judged[],
  recorder: Recorder,
  solution: readonly Pick<Case['solution'][number], 'server' | 'call' | 'with'>[],
): Doable[] {
  return judges.flatMap((judge) =>
    [...judge.tools.keys()].filter(judge.writes).map((tool) => ({
      tool,
      inputs: [
        ...recorder.attempted.filter((one) => one.server === judge.name && one.tool === tool),
        ...solution
          .filter((step) => step.call === tool && (step.server ?? judges[0]?.name) === judge.name)
          .map((step) => ({ input: step.with as JsonObject })),
      ].map(({ input }) => input),
    })),
  )
}
