/** A connection test told to a person: tasks with ticks, the outcome and why, and what a pass does not establish. */
import { count, duration, foreign, type Look, type Tone, tone, wrap } from '../display.ts'
import { type Outcome, SAYS } from './outcome.ts'
import { ruleNames } from './patterns.ts'
import type { ProbeData } from './result.ts'
import { connectionTest } from './set.ts'
import type { TaskFinding } from './tasks.ts'
import type { Tool, ToolList } from './tools.ts'

export const TONES: Record<Outcome, Tone> = {
  answered: 'good',
  needs_credentials: 'unsure',
  no_answer: 'bad',
  error: 'bad',
  refused: 'unsure',
}

const MAX_LISTED = 12

/** Lines for one result, no wider than `look.width` (default 100). */
export function reportOf(data: ProbeData, look: Look = {}): string {
  const width = look.width ?? 100
  const lines = [
    `${tone(foreign(data.subject, width - 20), 'strong', look)}  ${data.transport}`,
    data.set
      ? tone(
          `${connectionTest().set.title} ${data.set.version}, ${data.set.digest.slice(0, 19)}…`,
          'quiet',
          look,
        )
      : tone(
          'not the published test: your own server, the address rules were left out, no receipt',
          'unsure',
          look,
        ),
    ...data.tasks.map((task) => taskLine(task, data, look)),
    `  ${tone(data.outcome, TONES[data.outcome], look)}: ${why(data)}`,
    ...(data.tools ? toolLines(data.tools, look) : []),
    ...(data.outcome === 'answered'
      ? ['', tone('What a pass does not establish:', 'quiet', look)]
      : []),
    ...(data.outcome === 'answered'
      ? connectionTest().set.doesNotEstablish.map((line) =>
          tone(wrap(line, width, '  '), 'quiet', look),
        )
      : []),
  ]
  return lines.join('\n')
}

/** The outcome's reason in one sentence, with the number behind it. */
export function why(data: Pick<ProbeData, 'detail' | 'reason' | 'tasks'>): string {
  const task = data.tasks.find(({ passed, detail }) => !passed && detail !== 'not_reached')
  const code = task?.detail === data.detail ? evidence(task) : ''
  return `${SAYS[data.detail]}${code}${data.reason ? ` (${data.reason})` : ''}`
}

function evidence({ detail, httpStatus, rpcCode }: TaskFinding): string {
  if ((detail === 'http_status' || detail === 'redirect') && httpStatus !== null)
    return ` (HTTP ${httpStatus})`
  return (detail === 'rpc_error' || detail === 'auth_error') && rpcCode !== null
    ? ` (code ${rpcCode})`
    : ''
}

function taskLine(task: TaskFinding, data: ProbeData, look: Look): string {
  if (!task.attempted) return `  ${tone('–', 'quiet', look)} ${task.label}: not attempted`
  const tick = task.passed ? tone('✓', 'good', look) : tone('✗', 'bad', look)
  let note = task.detail ? `: ${SAYS[task.detail]}${evidence(task)}` : ''
  if (task.passed && task.id === 'handshake' && data.latencyMs !== null)
    note = `: ${duration(data.latencyMs)}`
  if (task.passed && task.id === 'tool_list' && data.tools) {
    note = `: ${count(data.tools.named, 'tool')}${data.tools.more ? ', and more behind the last page read' : ''}`
  }
  return `  ${tick} ${task.label}${note}`
}

function toolLines(tools: ToolList, look: Look): string[] {
  const width = look.width ?? 100
  const names = tools.list.map((tool) => nameOf(tool))
  const shown = names.slice(0, MAX_LISTED).join(', ')
  const rest = names.length - MAX_LISTED
  const lines =
    names.length > 0 ? [wrap(rest > 0 ? `${shown} and ${rest} more` : shown, width, '  ')] : []
  const marked = tools.list.filter(({ rules, nameRules }) => rules.length + nameRules.length > 0)
  if (marked.length === 0) return lines
  const said = ruleNames()
  const named = (rules: string[]) =>
    rules.map((rule) => `${rule} ${said.get(rule) ?? ''}`.trim()).join(', ')
  lines.push(
    tone(
      `  ${count(marked.length, 'tool')} with text withheld by ${tools.patternSet.id} ${tools.patternSet.version}:`,
      'unsure',
      look,
    ),
  )
  for (const tool of marked) {
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
  return lines
}

function nameOf(tool: Tool): string {
  return tool.name === null
    ? `[name withheld, ${tool.nameDigest.slice(0, 15)}…]`
    : foreign(tool.name, 64)
}
