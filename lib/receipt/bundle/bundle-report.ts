/** What `verifyBundle` found: the profile's report for programs, and the same for people. */
import type { Digest } from '../../canonical.ts'
import { count, foreign, type Look, pad, type Tone, tone, wrap } from '../../display.ts'
import { Shown } from '../../shown.ts'
import { CLAIMS, type ClaimName, type ClaimStatus, type Claims } from './claims.ts'
import type { NotWhole, Step } from './not-whole.ts'
import type { Profile } from './profile.ts'
import type { BundleFinding } from './records.ts'

const BUNDLE_REPORT_SCHEMA = 'assay.privileged_mcp_action.verify.report.v0'

const BUNDLE_NON_CLAIMS = [
  'allow does not prove upstream delivery',
  'deny does not establish maliciousness',
  'caller-visible denial does not prove external side-effect absence',
  'bundle integrity does not upgrade source class',
] as const

export type BundleReportData = {
  schema: typeof BUNDLE_REPORT_SCHEMA
  profile: Profile
  bundle_integrity: 'pass' | 'fail'
  /** Absent unless the bundle is whole. */
  verdict?: 'valid' | 'invalid'
  /** Absent unless the verdict is valid. */
  claims?: Claims
  findings: BundleFinding[]
  non_claims: string[]
  /** The code of the first failure. Absent when there is none. */
  reason_code?: string
  next_step?: string
}

/** The action that a valid bundle is about. */
export type BundleAction = {
  runId: string
  decision: 'allow' | 'deny'
  reason: string
  tool: string
  targetDigest: Digest
}

export type Outcome =
  | { integrity: 'fail'; failure: NotWhole }
  | { integrity: 'pass'; verdict: 'invalid'; events: number; findings: BundleFinding[] }
  | {
      integrity: 'pass'
      verdict: 'valid'
      events: number
      findings: BundleFinding[]
      claims: Claims
      action: BundleAction
    }

/** The result of `verifyBundle`. Its data is `toJSON()`. */
export class BundleReport extends Shown {
  readonly profile: Profile
  private readonly outcome: Outcome

  constructor(profile: Profile, outcome: Outcome) {
    super()
    this.profile = profile
    this.outcome = outcome
  }

  /** True for a bundle that is whole and valid. */
  get ok(): boolean {
    return this.verdict === 'valid'
  }

  get bundle_integrity(): 'pass' | 'fail' {
    return this.outcome.integrity
  }

  /** Undefined for a bundle that is not whole: nothing in it was judged. */
  get verdict(): 'valid' | 'invalid' | undefined {
    return this.outcome.integrity === 'fail' ? undefined : this.outcome.verdict
  }

  /** Undefined unless the bundle is valid. */
  get claims(): Claims | undefined {
    const { outcome } = this
    return outcome.integrity === 'pass' && outcome.verdict === 'valid' ? outcome.claims : undefined
  }

  get findings(): BundleFinding[] {
    if (this.outcome.integrity === 'pass') return this.outcome.findings
    const { reason, message, where } = this.outcome.failure
    return [{ kind: 'integrity', code: reason, where, detail: message }]
  }

  /**
   * What was decided on which tool and target. Null unless the bundle is valid. Not part of the
   * report's data.
   */
  get action(): BundleAction | null {
    const { outcome } = this
    return outcome.integrity === 'pass' && outcome.verdict === 'valid' ? outcome.action : null
  }

  toJSON(): BundleReportData {
    const { profile, bundle_integrity, verdict, claims, findings } = this
    const first = this.ok ? undefined : findings[0]
    return {
      schema: BUNDLE_REPORT_SCHEMA,
      profile,
      bundle_integrity,
      ...(verdict !== undefined && { verdict }),
      ...(claims !== undefined && { claims }),
      findings,
      non_claims: [...BUNDLE_NON_CLAIMS],
      ...(first && {
        reason_code: first.code,
        next_step: verdict === undefined ? NEXT.fail : NEXT.invalid,
      }),
    }
  }

  /** The report as text. @param look colours and width, default plain and 100 characters */
  text(look: Look = {}): string {
    return render(this, this.outcome, look)
  }
}

const NEXT = {
  fail: 'get the bundle again from where it was made; nothing in this one was judged',
  invalid: 'have the producer make its records as the profile says; the findings name each member',
}

/** What each step of the integrity check compares, for people. */
const CHECKED: { [step in Step]: string } = {
  archive: 'the archive: one gzip member, two plain files, nothing else',
  manifest: 'the manifest: strict JSON with every member that a check needs',
  file_size: 'the size of the events’ file',
  file_digest: 'the digest of the events’ file',
  event: 'each event: one line of strict JSON',
  content_hash: 'each event’s content hash',
  event_id: 'each event’s id',
  sequence: 'the events’ sequence, from 0 without a gap',
  run_id: 'one run throughout',
  event_count: 'the number of events',
  run_root: 'the digest over all content hashes',
  bundle_id: 'the bundle’s id',
}

const READS: { [name in ClaimName]: { [status in ClaimStatus['status']]?: string } } = {
  policy_decision_recorded: { confirmed: 'the producer recorded this decision' },
  caller_visible_denial: {
    confirmed: 'the producer recorded that the caller was shown a denial',
    refuted: 'the producer recorded a denial that its own decision, allow, speaks against',
    incomplete: 'the bundle has no denial that the caller was shown',
  },
  upstream_delivery: { incomplete: 'the bundle cannot show whether the call reached its server' },
  external_side_effect: { incomplete: 'the bundle cannot show whether anything changed' },
}

const TONES: { [status in ClaimStatus['status']]: Tone } = {
  confirmed: 'good',
  refuted: 'bad',
  incomplete: 'unsure',
}

/** Findings that are printed before they are only counted. */
const SHOWN = 20

function render(report: BundleReport, outcome: Outcome, look: Look): string {
  const width = look.width ?? 100
  const lines: string[] = []
  const say = (text: string, as: Tone | null = null, indent = '') =>
    lines.push(as ? tone(wrap(text, width, indent), as, look) : wrap(text, width, indent))

  if (outcome.integrity === 'fail') {
    say(`Not whole under ${report.profile}: nothing in it was judged.`, 'bad')
    say(`fails at ${CHECKED[outcome.failure.step]}`, null, '  ')
  } else {
    const { action } = report
    say(
      `${outcome.verdict === 'valid' ? 'Valid' : 'Whole, but invalid'} under ${report.profile}.`,
      outcome.verdict === 'valid' ? 'good' : 'bad',
    )
    if (action)
      say(`${action.decision} ${foreign(action.tool, 60)}, because ${action.reason}`, null, '  ')
    lines.push('')
    say('Checked:', 'quiet')
    say(`- ${Object.values(CHECKED).join('; ')}`, 'quiet', '  ')
    say(`- the profile’s rules, over ${count(outcome.events, 'event')}`, 'quiet', '  ')
  }
  if (report.claims) {
    lines.push('', 'What follows:')
    const names = Math.max(...CLAIMS.map((name) => name.length))
    for (const name of CLAIMS) {
      const claim = report.claims[name]
      const source = claim.status === 'incomplete' ? '' : `  ${claim.source_class}`
      lines.push(`  ${pad(name, names)}  ${tone(claim.status, TONES[claim.status], look)}${source}`)
      say(READS[name][claim.status] ?? '', 'quiet', '      ')
    }
  }
  const { findings } = report
  if (findings.length > 0) {
    lines.push('', `${count(findings.length, 'finding')}:`)
    for (const { code, where, detail } of findings.slice(0, SHOWN)) {
      say(`${code} at ${foreign(where, 120)}`, 'bad', '  ')
      say(foreign(detail, 400), null, '      ')
    }
    if (findings.length > SHOWN) say(`and ${findings.length - SHOWN} more`, 'quiet', '  ')
  }
  lines.push('')
  say('What does not follow:', 'quiet')
  for (const claim of BUNDLE_NON_CLAIMS) say(`- ${claim}`, 'quiet', '  ')
  return lines.join('\n')
}
