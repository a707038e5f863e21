/**
 * When a server of one's own does not answer as asked: the way of connecting that it does answer,
 * found by trying.
 */
import type { Detail } from '../judge/outcome.ts'
import type { Era } from '../judge/set.ts'
import { type Findings, runTest, type Target } from './tasks.ts'

type OwnUrl = Extract<Target, { local: true }>
type Way = { url: string; transport: 'streamable-http' | 'sse'; era: Era }

/** What another way can mend. */
const MENDABLE: readonly Detail[] = [
  'redirect',
  'http_status',
  'content_type',
  'not_an_answer',
  'no_endpoint',
  'modern_only',
  'legacy_only',
  'version_unsupported',
  'version_not_listed',
  'method_not_found',
]
/** Each other way is only looked at. */
const TRY_MS = 3_000

/** The findings, with `own.worksOver` filled in where another way was answered. */
export async function otherWay(
  target: OwnUrl,
  findings: Findings,
  signal: AbortSignal | undefined,
): Promise<Findings> {
  if (findings.own === null || !MENDABLE.includes(findings.detail)) return findings
  for (const way of waysFrom(target, findings)) {
    const timeoutMs = Math.min(TRY_MS, target.timeoutMs ?? TRY_MS)
    const tried = await runTest({ ...target, ...way, timeoutMs }, {}, signal)
    if (tried.outcome === 'answered' || tried.outcome === 'needs_credentials') {
      return { ...findings, own: { ...findings.own, worksOver: way } }
    }
  }
  return findings
}

function waysFrom({ url, transport }: OwnUrl, { era, own, detail }: Findings): Way[] {
  const here: Way = { url, transport, era }
  const to = own?.location ? URL.parse(own.location, url) : null
  // Headers may hold a key: they go to the host that they were meant for and to no other.
  const near = to !== null && to.host === new URL(url).host && to.href !== url
  if (detail === 'redirect') return near ? [{ ...here, url: to.href }] : []
  const ways: Way[] = [
    { ...here, transport: transport === 'sse' ? 'streamable-http' : 'sse', era: 'legacy' },
  ]
  if (transport === 'streamable-http') {
    ways.unshift({ ...here, era: era === 'legacy' ? 'modern' : 'legacy' })
  }
  return ways
}
