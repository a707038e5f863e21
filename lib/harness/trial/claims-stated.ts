/** What the agent of a trial says it did, and what its transcript holds of that. */
import type { JsonObject } from '../../json.ts'
import {
  claimsSaid,
  type SaidParts,
  type StatedClaim,
  sourced,
  type TrialRecord,
  textOfClaims,
} from '../../log/index.ts'
import { claimsInProse } from '../../log/prose.ts'
import { redactedValue } from '../../secrets.ts'
import type { AgentResult } from '../agent/ending.ts'
import { offeredName, type Recorder, withoutSecrets } from '../agent/recorder.ts'
import type { Case } from '../case/case.ts'
import type { Judged, Verdicts } from '../case/goal/claims.ts'
import type { JudgedText, JudgeReading } from '../judge/judge-model.ts'
import { doableTools } from '../judge/judged-servers.ts'
import { shownTool } from '../judge/measure.ts'
import type { RunningServer } from '../server/running.ts'

/** What the agent says it did, and where it says so. `complete`: it claims nothing else. */
export type Stated = {
  claims: StatedClaim[]
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
  { reports, claims, answer }: AgentResult,
  test: Case,
  recorder: Recorder,
  judges: Judged[],
  servers: readonly RunningServer[],
  reader: JudgeReader | null,
): Promise<{ stated: Stated; reading: JudgeReading | null }> {
  const known = (stated: Stated) => ({ stated, reading: null })
  if (reports.filed) return known({ claims: reports.claims, from: 'report', complete: true })
  if (claims !== null) return known({ claims, from: 'claims', complete: true })
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
  { reports, claims }: AgentResult,
  { solution }: Case,
  judges: readonly Judged[],
  stated: Stated,
  said: Pick<SaidParts, 'calls' | 'said'>,
  cleared: (claim: StatedClaim) => StatedClaim,
): Omit<SaidParts, 'calls' | 'said'> {
  const own = stated.claims.map(cleared)
  if (reports.filed) return { report_claims: own }
  if (claims !== null) return { answer_claims: own }
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
  const again = claimsSaid(redactedValue({ ...said, can_change }))
  return again &&
    again.complete === stated.complete &&
    textOfClaims(again.claims) === textOfClaims(redactedValue(own))
    ? { can_change }
    : { prose_claims: own, prose_complete: stated.complete }
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
