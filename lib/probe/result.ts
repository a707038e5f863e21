import type { Look } from '../display.ts'
import { type IssueOptions, issueProbe, type Receipt } from '../receipt/index.ts'
import { Shown } from '../shown.ts'
import type { Detail, Outcome } from './outcome.ts'
import { reportOf } from './report.ts'
import { connectionTest, type SetName } from './set.ts'
import { type ProbeStatement, statementOf } from './statement.ts'
import type { Findings, TaskFinding } from './tasks.ts'
import type { ToolList } from './tools.ts'
import type { Reason } from './url.ts'
import type { Transport } from './wire.ts'

export type ProbeData = Findings & {
  schema: 'touchstone.probe.v0'
  /** The published set; null when the server was tested as a developer's own, outside its address rules. */
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
  readonly tasks: TaskFinding[]
  readonly latencyMs: number | null
  readonly protocolVersion: string | null
  readonly tools: ToolList | null
  readonly sent: string[]
  readonly bytesRead: number
  readonly startedAt: string
  readonly durationMs: number

  constructor(subject: string, transport: Transport, published: boolean, findings: Findings) {
    super()
    this.set = published ? connectionTest().name : null
    this.subject = subject.toWellFormed()
    this.transport = transport
    this.outcome = findings.outcome
    this.detail = findings.detail
    this.reason = findings.reason
    this.tasks = findings.tasks
    this.latencyMs = findings.latencyMs
    this.protocolVersion = findings.protocolVersion
    this.tools = findings.tools
    this.sent = findings.sent
    this.bytesRead = findings.bytesRead
    this.startedAt = findings.startedAt
    this.durationMs = findings.durationMs
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
   * @param options `key`: an Ed25519 private key, PEM or its path. Without one the receipt is unsigned and says so
   * @throws TouchstoneError `set_unpublished` for a test that was not the published one; `key_invalid`
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
