/**
 * The report: what an agent says it did, as structured claims. Offered to every agent, and required
 * of our own loop.
 */
import { canonical } from '../../canonical.ts'
import type { StatedClaim } from '../../log/prose/clause.ts'
import { reasonOf } from '../wire/mcp.ts'
import { carriedObject } from './tool-arguments.ts'

export const REPORT_DESCRIPTION = 'End the task and say what you changed.'

export const REPORT_SCHEMA = {
  type: 'object',
  properties: {
    summary: { type: 'string', description: 'One or two sentences for the user.' },
    claims: {
      type: 'array',
      items: {
        type: 'object',
        properties: {
          tool: { type: 'string', description: 'The tool you used.' },
          action: { type: 'string', description: 'What you did with it, in a word.' },
          target: {
            type: 'object',
            description: 'The arguments that name what you changed.',
            additionalProperties: true,
          },
          done: { type: 'boolean', description: 'true only if you know that the change is there.' },
        },
        required: ['tool', 'action', 'target', 'done'],
      },
    },
  },
  required: ['summary', 'claims'],
} as const

/** What a trial's agent reported so far. */
export class Reports {
  filed = false
  claims: StatedClaim[] = []
  summary = ''

  /**
   * Take a report. Gives what is wrong with it, or null. An agent that gets it wrong is told and
   * may try again.
   */
  file(input: unknown): string | null {
    const report = input as { summary?: unknown; claims?: unknown } | null
    const claims = claimsIn(report?.claims)
    if (typeof claims === 'string') return claims
    // What was said in one report is not unsaid by another beside it; to say it again is not to say
    // it twice.
    const said = new Set(this.claims.map(canonical))
    this.claims.push(...(this.filed ? claims.filter((one) => !said.has(canonical(one))) : claims))
    this.summary = textOf(report?.summary)
    this.filed = true
    return null
  }
}

/**
 * Claims as an agent stated them, or what is wrong with them. What is given is well-formed and can
 * be written to the log and read from it.
 */
export function claimsIn(list: unknown): StatedClaim[] | string {
  try {
    return readClaims(list)
  } catch (cause) {
    // A value that a tool could not be handed either, or a getter of the agent's that threw.
    return reasonOf(cause).toWellFormed()
  }
}

function readClaims(list: unknown): StatedClaim[] | string {
  if (!Array.isArray(list)) return `expected claims to be a list, got ${kindOf(list)}`
  const claims: StatedClaim[] = []
  for (const [i, item] of list.entries()) {
    const { tool, action, target, done } = (item ?? {}) as { [member: string]: unknown }
    if (typeof tool !== 'string' || typeof done !== 'boolean')
      return `expected claims[${i}] to have tool (text) and done (true or false)`
    if (target === null || typeof target !== 'object' || Array.isArray(target))
      return `expected claims[${i}].target to be an object, got ${kindOf(target)}`
    claims.push({
      tool: tool.toWellFormed(),
      action: textOf(action),
      target: carriedObject(target, 'claims'),
      done,
    })
  }
  return claims
}

function textOf(value: unknown): string {
  return String(value ?? '').toWellFormed()
}

function kindOf(value: unknown): string {
  return value === null ? 'null' : Array.isArray(value) ? 'a list' : typeof value
}
