/** A server description for people: a line per part. */
import { foreign } from '../../display.ts'
import type { ServerPlan } from './server-plan.ts'

export function planText(plan: ServerPlan): string {
  const {
    name,
    world,
    stdio,
    http,
    faults,
    tools,
    state,
    files,
    describe,
    parameters,
    inject,
    effects,
    tables,
    policy,
  } = plan
  const simulated = typeof world === 'string' ? world : world?.name
  const what = simulated
    ? `simulated (${simulated})`
    : stdio
      ? `a child process, ${[stdio.command, ...stdio.args].join(' ')}`
      : (http?.url ?? 'no world and no address')
  const keys = Object.entries({
    state,
    files,
    tools,
    describe,
    parameters,
    inject,
    effects,
    tables,
  }).flatMap(([part, held]) =>
    Object.keys(held ?? {}).length ? [`  ${part}: ${Object.keys(held ?? {}).join(', ')}`] : [],
  )
  const broken = faults.map(({ tool, kind, ...how }) =>
    [
      `  fault: ${tool} ${kind}`,
      ...Object.entries(how).map(([key, value]) => `${key} ${JSON.stringify(value)}`),
    ].join(', '),
  )
  const guarded = [
    ...Object.entries(policy?.deny ?? {}).map(
      ([tool, { reason, code }]) => `  policy: denies ${tool}, ${reason}, code ${code}`,
    ),
    ...(policy?.pin ? ['  policy: holds each tool to its listing at the first call'] : []),
  ]
  const use = '  .start() runs it; harness.case({ server }) takes it.'
  return [`MCP server ${name}: ${what}`, ...keys, ...broken, ...guarded, use]
    .map((line) => foreign(line, 300))
    .join('\n')
}
