/**
 * What two requests of revision 2026-07-28 show beside their results: demands of the specification
 * that an answer breaks. Recorded, never a verdict: no task passes or fails by them.
 */

import { MODERN_CODES } from '../judge/outcome.ts'
import type { Method } from '../read/frame.ts'
import type { Given, Outline } from '../read/outline.ts'
import type { ModernReply } from '../wire/modern-http.ts'

/** Finding -> the section of the specification, and whether it is a MUST or a SHOULD there. */
const FINDINGS = {
  result_type_missing: ['basic: results', 'MUST'],
  ttl_missing: ['server/utilities/caching', 'MUST'],
  ttl_negative: ['server/utilities/caching', 'MUST'],
  cache_scope_missing: ['server/utilities/caching', 'MUST'],
  cache_scope_invalid: ['server/utilities/caching', 'MUST'],
  cache_scope_differs_between_pages: ['server/utilities/caching', 'MUST'],
  server_info_missing: ['server/discover', 'SHOULD'],
  session_minted: ['basic/transports/streamable-http', 'SHOULD'],
  server_request_on_stream: ['basic/transports/streamable-http: receiving messages', 'MUST'],
  log_without_level: ['basic: _meta', 'MUST'],
  error_status_mismatch: ['basic/transports/streamable-http', 'MUST'],
  error_id_mismatch: ['basic: responses', 'MUST'],
  undeclared_tools: ['server/tools: capabilities', 'MUST'],
} as const satisfies { [id: string]: readonly [string, 'MUST' | 'SHOULD'] }

export type FindingId = keyof typeof FINDINGS

export type StatelessFinding = {
  id: FindingId
  /** The request whose answer shows it. */
  method: Method
  section: string
  demand: 'MUST' | 'SHOULD'
}

export type StatelessMeasures = {
  /** What each result said of itself, in the order answered. */
  results: { method: Method; resultType: Given; ttlMs: Given; cacheScope: Given }[]
  findings: StatelessFinding[]
}

/** The status that the specification gives each of these codes. */
const STATUS_OF: { [code: number]: number } = {
  [MODERN_CODES.version]: 400,
  [MODERN_CODES.headerMismatch]: 400,
  [MODERN_CODES.capability]: 400,
  [-32601]: 404,
}

/** Gathers findings as replies come. Each is recorded once per method. */
export class Noticed {
  private readonly found = new Map<string, StatelessFinding>()
  private readonly results: StatelessMeasures['results'] = []

  /** Look at one reply. */
  reply(method: Method, reply: ModernReply): void {
    const note = (id: FindingId, when: boolean) => when && this.note(id, method)
    note('session_minted', reply.header('mcp-session-id') !== undefined)
    note('server_request_on_stream', reply.asides.includes('request'))
    note('log_without_level', reply.asides.includes('log'))
    const error = reply.answer?.error ?? null
    const strange = reply.asides.includes('error_with_another_id')
    note('error_id_mismatch', strange || error?.ownId === false)
    const expected = error?.code == null ? undefined : STATUS_OF[error.code]
    const { httpStatus } = reply
    const differs = expected !== undefined && httpStatus !== null && httpStatus !== expected
    note('error_status_mismatch', differs)
    if (reply.answer?.error === null) this.result(method, reply.answer.outline)
  }

  private result(method: Method, outline: Outline): void {
    const { resultType, ttlMs, cacheScope } = outline
    const note = (id: FindingId, when: boolean) => when && this.note(id, method)
    const before = this.results.find((each) => each.method === method)
    this.results.push({ method, resultType, ttlMs, cacheScope })
    note('result_type_missing', resultType === 'absent')
    note('ttl_missing', !Number.isInteger(ttlMs))
    note('ttl_negative', typeof ttlMs === 'number' && ttlMs < 0)
    note('cache_scope_missing', cacheScope === 'absent')
    const known = cacheScope === 'public' || cacheScope === 'private' || cacheScope === 'absent'
    note('cache_scope_invalid', !known)
    note(
      'cache_scope_differs_between_pages',
      before !== undefined && before.cacheScope !== cacheScope,
    )
    note('server_info_missing', method === 'server/discover' && outline.server === null)
  }

  /**
   * The tool list was answered: does the server declare that it has tools? @param discovered null
   * when it told nothing
   */
  listed(discovered: Outline | null): void {
    const { capabilities } = discovered ?? {}
    if (capabilities && !capabilities.includes('tools')) this.note('undeclared_tools', 'tools/list')
  }

  private note(id: FindingId, method: Method): void {
    const [section, demand] = FINDINGS[id]
    this.found.set(`${id} ${method}`, { id, method, section, demand })
  }

  measures(): StatelessMeasures {
    return { results: this.results, findings: [...this.found.values()] }
  }
}
