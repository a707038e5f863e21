/**
 * What one connection test came to: plain data for programs, a report for people, and the statement
 * that a receipt commits to.
 */
import type { Look } from '../../display.ts'
import { type IssueOptions, issueProbe, type Receipt } from '../../receipt/index.ts'
import { Shown } from '../../shown.ts'
import type { Detail, Outcome } from '../judge/outcome.ts'
import type { Era, SetName } from '../judge/set.ts'
import type { Reason } from '../judge/url.ts'
import type { ToolList } from '../read/tools.ts'
import type { Transport } from '../wire/wire.ts'
import type { TaskFinding } from './course-outcome.ts'
import type { StatelessMeasures } from './modern-findings.ts'
import type { Greeting, Own } from './own.ts'
import { reportOf } from './report.ts'
import { type ProbeStatement, statementOf } from './statement.ts'
import type { Findings } from './tasks.ts'

export type ProbeData = Findings & {
  schema: 'touchstone.probe.v0'
  /**
   * The published set; null when the server was tested as a developer's own, outside its address
   * rules.
   */
  set: SetName | null
  /** The URL as given, or the command line of a stdio server. */
  subject: string
  transport: Transport
}

/** The result of `probe.connect`. Every field of `ProbeData` is a property. */
export class ProbeResult extends Shown implements ProbeData {
  readonly schema = 'touchstone.probe.v0'
  readonly set: SetName | null
  readonly subject: string
  readonly transport: Transport
  readonly outcome: Outcome
  readonly detail: Detail
  readonly reason: Reason | null
  readonly era: Era
  readonly tasks: TaskFinding[]
  readonly latencyMs: number | null
  readonly latencyNote: Findings['latencyNote']
  readonly protocolVersion: string | null
  readonly supportedVersions: string[]
  readonly greeting: Greeting | null
  readonly tools: ToolList | null
  readonly stateless: StatelessMeasures | null
  readonly sent: string[]
  readonly bytesRead: number
  readonly startedAt: string
  readonly durationMs: number
  readonly own: Own | null

  /** @param set the published set that was run; null for a server of one's own */
  constructor(subject: string, transport: Transport, set: SetName | null, findings: Findings) {
    super()
    this.set = set
    this.subject = subject.toWellFormed()
    this.transport = transport
    this.outcome = findings.outcome
    this.detail = findings.detail
    this.reason = findings.reason
    this.era = findings.era
    this.tasks = findings.tasks
    this.latencyMs = findings.latencyMs
    this.latencyNote = findings.latencyNote
    this.protocolVersion = findings.protocolVersion
    this.supportedVersions = findings.supportedVersions
    this.greeting = findings.greeting
    this.tools = findings.tools
    this.stateless = findings.stateless
    this.sent = findings.sent
    this.bytesRead = findings.bytesRead
    this.startedAt = findings.startedAt
    this.durationMs = findings.durationMs
    this.own = findings.own
  }

  /** Tasks attempted: 2, or 0 for a test that was refused. */
  get attempted(): number {
    return this.tasks.filter((task) => task.attempted).length
  }

  /** Tasks passed, 0 to `attempted`. */
  get passed(): number {
    return this.tasks.filter((task) => task.passed).length
  }

  /**
   * The plain data that a receipt commits to.
   *
   * @throws TouchstoneError `set_unpublished` for a test that was not the published one
   */
  statement(): ProbeStatement {
    return statementOf(this.toJSON())
  }

  /**
   * A receipt of this test: an in-toto Statement over `statement()` in a DSSE envelope.
   *
   * @param options `key`: an Ed25519 private key, PEM or its path. Without one the receipt is
   *   unsigned and says so
   * @throws TouchstoneError `set_unpublished` for a test that was not the published one;
   *   `key_invalid`
   */
  receipt(options: IssueOptions = {}): Receipt {
    return issueProbe(this.statement(), options)
  }

  toJSON(): ProbeData {
    const { schema, set, subject, transport, ...rest } = this as ProbeData
    return { schema, set, subject, transport, ...rest }
  }

  /** The report as text. */
  text(look: Look = {}): string {
    return reportOf(this, look)
  }
}
