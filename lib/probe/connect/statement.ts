/** The plain data that a receipt of a connection test commits to. */
import { type Digest, digestOf } from '../../canonical.ts'
import { TouchstoneError } from '../../errors.ts'
import type { Detail, Outcome } from '../judge/outcome.ts'
import { DEFAULT_SET, type SetName, setNamed } from '../judge/set.ts'
import type { Reason } from '../judge/url.ts'
import type { Transport } from '../wire/wire.ts'
import type { ProbeData } from './result.ts'

export type ProbeStatement = {
  schema: 'touchstone.probe.statement.v0'
  set: SetName
  subject: { url: string; transport: Transport }
  client: { name: string; version: string; protocolVersion: string }
  outcome: Outcome
  detail: Detail
  reason: Reason | null
  tasks: { id: string; attempted: boolean; passed: boolean; detail: Detail | null }[]
  attempted: number
  passed: number
  started_at: string
  duration_ms: number
  latency_ms: number | null
  tools: {
    named: number
    more: boolean
    withheld: number
    unread: number
    digest: Digest
    pattern_set: SetName
  } | null
  /** Over the whole result, so that a receipt can be checked against the data it was made from. */
  result_digest: Digest
  does_not_establish: string[]
}

/** @throws TouchstoneError `set_unpublished` when the test was not the published one */
export function statementOf(data: ProbeData): ProbeStatement {
  if (data.set === null) {
    throw new TouchstoneError(
      'set_unpublished',
      `expected a run of a published set such as ${DEFAULT_SET}, got a local test: it ran without the address rules`,
    )
  }
  const { set } = setNamed(data.set)
  const { tools } = data
  return {
    schema: 'touchstone.probe.statement.v0',
    set: data.set,
    subject: { url: data.subject, transport: data.transport },
    client: set.client,
    outcome: data.outcome,
    detail: data.detail,
    reason: data.reason,
    tasks: data.tasks.map(({ id, attempted, passed, detail }) => ({
      id,
      attempted,
      passed,
      detail,
    })),
    attempted: data.tasks.filter((task) => task.attempted).length,
    passed: data.tasks.filter((task) => task.passed).length,
    started_at: data.startedAt,
    duration_ms: data.durationMs,
    latency_ms: data.latencyMs,
    tools: tools && {
      named: tools.named,
      more: tools.more,
      withheld: tools.withheld,
      unread: tools.unread,
      digest: tools.digest,
      pattern_set: tools.patternSet,
    },
    result_digest: digestOf(data),
    does_not_establish: set.doesNotEstablish,
  }
}
