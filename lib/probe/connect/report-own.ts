/**
 * What the owner of a server is shown beside the result: its name, its own words, and what its
 * process did.
 */
import { count, foreign, type Look, tone, wrap } from '../../display.ts'
import type { ProcessTold } from '../wire/process-told.ts'
import type { ProbeData } from './result.ts'

export function ownLines(data: ProbeData, look: Look): string[] {
  const { own, greeting } = data
  if (own === null) return []
  const width = look.width ?? 100
  const lines: string[] = []
  const say = (text: string) => lines.push(wrap(text, width, '  '))
  if (greeting) {
    const name = [greeting.name, greeting.version].filter((text) => text !== null).join(' ')
    const speaks = data.protocolVersion ?? 'no version that has the form of one'
    say(`server: ${foreign(name) || 'it gave no name'}; protocol version: ${speaks}`)
    const { capabilities } = greeting
    say(`capabilities: ${capabilities?.map((each) => foreign(each, 64)).join(', ') || 'none'}`)
    if (greeting.instructions) say(`instructions: ${foreign(greeting.instructions, 400)}`)
  }
  for (const { code, message } of own.errors) {
    say(`its error: ${foreign(message, 400)}${code === null ? '' : ` (code ${code})`}`)
  }
  if (own.location) say(`redirected to: ${foreign(own.location, 400)}`)
  if (own.worksOver) {
    const { transport, url, era } = own.worksOver
    const flags = [
      ...(transport === data.transport ? [] : [`--transport ${transport}`]),
      ...(era === data.era ? [] : [`--era ${era}`]),
    ]
    const where = url === data.subject ? '' : ` at ${foreign(url, 200)}`
    say(
      tone(`it does answer${where}${flags.length ? ` with ${flags.join(' ')}` : ''}`, 'good', look),
    )
  }
  if (own.process) {
    lines.push(...processLines(own.process, look))
    if (data.outcome === 'no_answer' && own.process.notStarted === null)
      say(
        'It was given a small environment. A variable that it needs is named: --env NAME, or env in code.',
      )
  }
  return lines
}

const FRAMING = {
  content_length: 'its messages have Content-Length headers; MCP has one message per line',
  pretty_printed: 'its messages are spread over several lines; MCP has one message per line',
  text_before_message: 'there is text before a message on its line',
} as const

function processLines(told: ProcessTold, look: Look): string[] {
  const width = look.width ?? 100
  const lines: string[] = []
  if (told.notStarted)
    lines.push(wrap(`not started: ${foreign(told.notStarted, 1000)}`, width, '  '))
  if (told.exitCode !== null) lines.push(`  it ended by itself with exit code ${told.exitCode}`)
  if (told.signal !== null) lines.push(`  it was ended by ${told.signal}`)
  if (told.strayLines > 0) {
    const n = count(told.strayLines, 'line')
    const was = told.strayLines === 1 ? 'was' : 'were'
    lines.push(tone(`  ${n} on standard output that ${was} no JSON-RPC:`, 'unsure', look))
    for (const line of told.stray) lines.push(`    ${foreign(line, width - 4)}`)
  }
  if (told.framing) lines.push(wrap(FRAMING[told.framing], width, '  '))
  if (told.stderr.length > 0) {
    lines.push('  the end of its standard error:')
    for (const line of told.stderr) lines.push(`    ${foreign(line, width - 4)}`)
  }
  return lines
}
