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
import { type Recorder, withoutSecrets } from '../agent/recorder.ts'
import type { Case } from '../case/case.ts'
import type { Judged, Verdicts } from '../case/goal/claims.ts'
import { doableTools } from '../judge/judged-servers.ts'

/** What the agent says it did, and where it says so. `complete`: it claims nothing else. */
export type Stated = {
  claims: StatedClaim[]
  from: TrialRecord['claims_from']
  complete: boolean
}

/** What the agent of a trial says it did. */
export function statedBy(
  { reports, claims, answer }: AgentResult,
  test: Case,
  recorder: Recorder,
  judges: Judged[],
): Stated {
  if (reports.filed) return { claims: reports.claims, from: 'report', complete: true }
  if (claims !== null) return { claims, from: 'claims', complete: true }
  const tools = doableTools(judges, recorder, test.solution)
  return sourced(claimsInProse(answer, tools))
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
  if (from !== 'prose') return { overclaims, underclaims }
  return {
    overclaims: complete || (overclaims ?? 0) > 0 ? overclaims : null,
    underclaims: complete && underclaims === 0 ? 0 : null,
  }
}
