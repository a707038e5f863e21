/** What the agent of a trial says it did, and what its transcript holds of that. */
import { canonical } from '../../canonical.ts'
import type { JsonObject } from '../../json.ts'
import {
  claimsBeside,
  claimsSaid,
  type SaidParts,
  type StatedClaim,
  sourced,
  type TrialRecord,
  textOfClaims,
} from '../../log/index.ts'
import { claimsInProse } from '../../log/prose/claims-in-prose.ts'
import { redactedValue } from '../../secrets.ts'
import type { AgentResult } from '../agent/ending.ts'
import { offeredName, type Recorder } from '../agent/recorder.ts'
import { withoutSecrets } from '../agent/secret-arguments.ts'
import type { Case } from '../case/case.ts'
import type { Judged, Verdicts } from '../case/goal/claims.ts'
import type { JudgedText, JudgeReading } from '../judge/judge-model.ts'
import { doableTools } from '../judge/judged-servers.ts'
import { shownTool } from '../judge/measured-reader.ts'
import type { RunningServer } from '../server/running.ts'

/** What the agent says it did, and where it says so. `complete`: it claims nothing else. */
export type Stated = {
  claims: readonly StatedClaim[]
  from: TrialRecord['claims_from']
  complete: boolean
}

/** A judge model, bound to the run. */
export type JudgeReader = (text: JudgedText) => Promise<JudgeReading>

/**
 * What the agent of a trial says it did.
 *
 * @param reader reads prose instead of our rule; null: the rule does
 */
export async function statedBy(
  { reports, claims, answer, allTools }: AgentResult,
  test: Case,
  recorder: Recorder,
  judges: Judged[],
  servers: readonly RunningServer[],
  reader: JudgeReader | null,
): Promise<{ stated: Stated; reading: JudgeReading | null }> {
  const known = (stated: Stated) => ({ stated, reading: null })
  const listed = listedBy({ reports, claims })
  if (listed) {
    const words = {
      summary: reports.filed ? reports.summary : '',
      // In our loop the report is the answer.
      answer: allTools ? '' : answer,
    }
    const tools = doableTools(judges, recorder, test.solution)
    return known(claimsBeside(reports.filed ? 'report' : 'claims', listed, words, tools))
  }
  if (reader !== null && answer.trim() !== '') {
    const tools = servers.flatMap((server) =>
      server.tools
        .filter(({ name }) => server.writes(name))
        .map((tool) =>
          shownTool({ ...tool, name: offeredName(server.name, tool.name, servers.length) }),
        ),
    )
    const reading = await reader({ task: test.task, answer, tools })
    const from = reading.claims === null ? null : 'judge'
    return { stated: { claims: reading.claims ?? [], from, complete: from !== null }, reading }
  }
  return known(sourced(claimsInProse(answer, doableTools(judges, recorder, test.solution))))
}

/** What a transcript holds of the claims, so that they can be read from it again. */
export function claimParts(
  result: AgentResult,
  { solution }: Case,
  judges: readonly Judged[],
  stated: Stated,
  said: Pick<SaidParts, 'instructions' | 'calls' | 'said' | 'summary'>,
  cleared: (claim: StatedClaim) => StatedClaim,
): Omit<SaidParts, 'instructions' | 'calls' | 'said' | 'summary'> {
  const own = stated.claims.map(cleared)
  const listed = listedBy(result)
  const handed = listed && {
    [result.reports.filed ? 'report_claims' : 'answer_claims']: own.slice(0, listed.length),
  }
  // Words of our loop's report that add nothing are not worth their place.
  if (handed && result.allTools && stated.complete && own.length === listed?.length) return handed
  const can_change = judges.flatMap((judge) =>
    [...judge.tools.keys()].filter(judge.writes).map((tool) => ({
      server: judge.name,
      tool,
      inputs: solution
        .filter((step) => step.call === tool && (step.server ?? judges[0]?.name) === judge.name)
        .map((step) => withoutSecrets(step.with as JsonObject)),
    })),
  )
  // A secret that was taken out may have been what a sentence was understood by.
  const again = claimsSaid(redactedValue({ ...said, ...handed, can_change }))
  return again &&
    again.complete === stated.complete &&
    textOfClaims(again.claims) === textOfClaims(redactedValue(own))
    ? { ...handed, can_change }
    : {
        ...handed,
        prose_claims: own.slice(listed?.length ?? 0),
        prose_complete: stated.complete,
      }
}

/** The claims that an agent handed over, in a report and beside its answer; null for none. */
function listedBy({
  reports,
  claims,
}: Pick<AgentResult, 'reports' | 'claims'>): readonly StatedClaim[] | null {
  if (!reports.filed) return claims
  // What is said in one place is not unsaid in another, nor said twice.
  const said = new Set(reports.claims.map(canonical))
  return [...reports.claims, ...(claims ?? []).filter((one) => !said.has(canonical(one)))]
}

/** What is known of claims: where some may be unread, neither honesty nor silence is made up. */
export function knownOf(
  { from, complete }: Stated,
  { overclaims, underclaims }: Verdicts,
): Pick<Verdicts, 'overclaims' | 'underclaims'> {
  if (from === null) return { overclaims: null, underclaims: null }
  // How often a judge misses a claim is not measured by what it leaves unsaid.
  if (from === 'judge') return { overclaims, underclaims: null }
  if (complete) return { overclaims, underclaims }
  // A claim that is not there is known, whatever else was said: the mark is `one_sided`.
  return { overclaims: (overclaims ?? 0) > 0 ? overclaims : null, underclaims: null }
}
