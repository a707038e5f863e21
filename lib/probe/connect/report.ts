/**
 * A connection test told to a person: tasks with ticks, the outcome and why, and what a pass does
 * not establish.
 */
import { count, duration, foreign, type Look, type Tone, tone, wrap } from '../../display.ts'
import { type Detail, type Outcome, SAYS } from '../judge/outcome.ts'
import { REASONS } from '../judge/reasons.ts'
import { setOfEra } from '../judge/set.ts'
import { ruleNames } from '../read/patterns.ts'
import type { Tool, ToolList } from '../read/tools.ts'
import type { TaskFinding } from './course-outcome.ts'
import { ownLines } from './report-own.ts'
import type { ProbeData } from './result.ts'

export const TONES: Record<Outcome, Tone> = {
  answered: 'good',
  needs_credentials: 'unsure',
  no_answer: 'bad',
  error: 'bad',
  refused: 'unsure',
}

const MAX_LISTED = 12

/**
 * A latency in words, to two digits below 10 ms: a server on this machine answers in less than one.
 */
export function latencyText(ms: number): string {
  return ms < 10 ? `${Number(ms.toPrecision(2))} ms` : duration(ms)
}

/** Lines for one result, no wider than `look.width` (default 100). */
export function reportOf(data: ProbeData, look: Look = {}): string {
  const width = look.width ?? 100
  const { set } = setOfEra(data.era)
  const lines = [
    `${tone(foreign(data.subject, width - 20), 'strong', look)}  ${data.transport}`,
    data.set
      ? tone(`${set.title} ${data.set.version}, ${data.set.digest.slice(0, 19)}…`, 'quiet', look)
      : tone(
          'not the published test: your own server, the address rules were left out, no receipt',
          'unsure',
          look,
        ),
    ...data.tasks.map((task) => taskLine(task, data, look)),
    `  ${tone(data.outcome, TONES[data.outcome], look)}: ${why(data)}`,
    ...versionLines(data),
    ...(data.own ? ownLines(data, look) : []),
    ...(data.tools ? toolLines(data.tools, look) : []),
    ...findingLines(data, look),
  ]
  if (data.outcome === 'answered') {
    lines.push('', tone('What a pass does not establish:', 'quiet', look))
    const own = data.set === null ? OWN_NON_CLAIMS : set.doesNotEstablish
    lines.push(...own.map((line) => tone(wrap(line, width, '  '), 'quiet', look)))
  }
  return lines.join('\n')
}

/**
 * Of a server of one's own. The published sentences speak of a site that tests strangers' servers.
 */
const OWN_NON_CLAIMS = [
  'What any tool does when it is called. No tool is ever called.',
  'Speed or reliability from anywhere but this machine, now.',
]

/** The outcome's reason in one sentence, with the number behind it. */
export function why(data: Pick<ProbeData, 'detail' | 'reason' | 'tasks'>): string {
  const task = data.tasks.find(({ passed, detail }) => !passed && detail !== 'not_reached')
  const code = task?.detail === data.detail ? evidence(task) : ''
  return `${SAYS[data.detail]}${code}${data.reason ? `: ${REASONS[data.reason]}` : ''}`
}

/** Details whose JSON-RPC code says something. */
const BY_CODE: readonly (Detail | null)[] = [
  'rpc_error',
  'auth_error',
  'modern_only',
  'version_unsupported',
  'header_mismatch',
  'capability_required',
  'method_not_found',
  'meta_rejected',
]

function evidence({ detail, httpStatus, rpcCode }: TaskFinding): string {
  const status =
    httpStatus !== null && ['http_status', 'redirect', 'legacy_only'].includes(detail ?? '')
  const code = rpcCode !== null && (status || BY_CODE.includes(detail))
  const said = [status ? `HTTP ${httpStatus}` : '', code ? `code ${rpcCode}` : ''].filter(Boolean)
  return said.length > 0 ? ` (${said.join(', ')})` : ''
}

function versionLines({ detail, supportedVersions, set }: ProbeData): string[] {
  const lines = []
  if (supportedVersions.length > 0 && detail !== 'request_answered')
    lines.push(`  it names the revisions ${supportedVersions.join(', ')}`)
  if (detail === 'modern_only') {
    const how = set ? '--set mcp-connection-stateless@1.0' : '--era modern'
    lines.push(`  test it in the way of 2026-07-28: ${how}`)
  }
  if (detail === 'legacy_only' || detail === 'version_unsupported') {
    const how = set ? '--set mcp-connection@1.0' : '--era legacy'
    lines.push(`  test it in the way of earlier revisions: ${how}`)
  }
  return lines
}

function taskLine(task: TaskFinding, data: ProbeData, look: Look): string {
  if (!task.attempted) return `  ${tone('–', 'quiet', look)} ${task.label}: not attempted`
  const tick = task.passed ? tone('✓', 'good', look) : tone('✗', 'bad', look)
  let note = task.detail ? `: ${SAYS[task.detail]}${evidence(task)}` : ''
  if (task.passed && task.id !== 'tool_list') {
    if (data.latencyMs !== null) note = `: ${latencyText(data.latencyMs)}`
    else if (data.latencyNote !== null) note = ': latency not told, this process stood still'
  }
  if (task.passed && task.id === 'tool_list' && data.tools) {
    const { named, more } = data.tools
    note = `: ${count(named, 'tool')}${more ? ', and more behind the last page read' : ''}`
  }
  return `  ${tick} ${task.label}${note}`
}

function findingLines({ stateless }: ProbeData, look: Look): string[] {
  if (stateless === null || stateless.findings.length === 0) return []
  return [
    tone('  findings, which decide nothing:', 'unsure', look),
    ...stateless.findings.map(
      ({ id, method, demand, section }) => `    ${method}: ${id} (${demand}, ${section})`,
    ),
  ]
}

function toolLines(tools: ToolList, look: Look): string[] {
  const width = look.width ?? 100
  const names = tools.list.map((tool) => nameOf(tool))
  const shown = names.slice(0, MAX_LISTED).join(', ')
  const rest = names.length - MAX_LISTED
  const lines =
    names.length > 0 ? [wrap(rest > 0 ? `${shown} and ${rest} more` : shown, width, '  ')] : []
  if (tools.unread > 0) {
    const unread = `  ${count(tools.unread, 'tool')} not read: the time of the test was over`
    lines.push(tone(unread, 'unsure', look))
  }
  if (tools.leftOut > 0) {
    const left = `  ${count(tools.leftOut, 'tool')} that a client must leave out: x-mcp-header not valid`
    lines.push(tone(left, 'unsure', look))
  }
  const marked = tools.list.filter(({ rules, nameRules }) => rules.length + nameRules.length > 0)
  if (marked.length === 0) return lines
  const said = ruleNames()
  const named = (rules: string[]) =>
    rules.map((rule) => `${rule} ${said.get(rule) ?? ''}`.trim()).join(', ')
  lines.push(
    tone(
      `  ${count(marked.length, 'tool')} with text ${tools.withheld > 0 || marked.some(({ name }) => name === null) ? 'withheld' : 'marked'} by ${tools.patternSet.id} ${tools.patternSet.version}:`,
      'unsure',
      look,
    ),
  )
  for (const tool of marked.slice(0, MAX_LISTED)) {
    const both = [
      named(tool.rules),
      tool.nameRules.length > 0 ? `name: ${named(tool.nameRules)}` : '',
    ].filter(Boolean)
    lines.push(
      wrap(
        `${nameOf(tool)}: ${both.join('; ')} (${count(tool.descriptionLength, 'character')})`,
        width,
        '    ',
      ),
    )
  }
  if (marked.length > MAX_LISTED) lines.push(`    and ${marked.length - MAX_LISTED} more`)
  return lines
}

function nameOf(tool: Tool): string {
  return tool.name === null
    ? `[name withheld, ${tool.nameDigest.slice(0, 15)}…]`
    : foreign(tool.name, 64)
}
