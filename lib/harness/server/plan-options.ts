/** Options of a description's steps, checked where they are said. */
import { TouchstoneError } from '../../errors.ts'

/**
 * How a server that is not ours is spoken to: with `initialize`, or in the way of revision
 * 2026-07-28.
 */
export type Era = 'legacy' | 'modern'

/** @throws TouchstoneError `argument_invalid` */
export function eraOf({ era }: { era?: Era }, where: string): { era?: Era } {
  if (era === undefined) return {}
  if (era === 'legacy' || era === 'modern') return { era }
  throw new TouchstoneError('argument_invalid', `expected legacy or modern, got ${String(era)}`, {
    where: `${where}.era`,
  })
}

/**
 * @throws TouchstoneError `argument_invalid` for what is no way of putting a state back; null is
 * none
 */
export function requireReset(reset: unknown, where: string, or = ''): void {
  if (reset === null || typeof reset === 'function') return
  if (typeof reset === 'object' && reset && ('call' in reset || 'command' in reset)) return
  throw new TouchstoneError(
    'argument_invalid',
    `expected { call }, { command }, a function${or}, got ${String(reset)}`,
    { where },
  )
}
