/**
 * Child processes of servers that are not ours, kept between trials where their state can be put
 * back.
 */
import type { Connection } from './connection.ts'
import { type ResetHook, resetBy } from './reset.ts'
import type { ServerPlan } from './server-plan.ts'

const idle = new Map<string, Connection[]>()
const hooks = new WeakMap<ResetHook, number>()
let hookCount = 0

/**
 * What children must have in common to stand in for each other; null for those that are not kept.
 */
export function kindOf({ stdio, files }: ServerPlan): string | null {
  if (!stdio?.reset) return null
  const { reset, ...rest } = stdio
  if (typeof reset !== 'function') return JSON.stringify([rest, files, reset])
  const hook = hooks.get(reset) ?? ++hookCount
  hooks.set(reset, hook)
  return JSON.stringify([rest, files, hook])
}

/** A kept child that still lives, or undefined. */
export function takeChild(kind: string | null): Connection | undefined {
  const kept = kind === null ? undefined : idle.get(kind)
  for (let child = kept?.pop(); child; child = kept?.pop()) if (!child.gone) return child
  return undefined
}

/**
 * Keep a child for the next trial, or end it when it is of no kind or its state cannot be put back.
 */
export async function giveBack(
  kind: string | null,
  child: Connection,
  { name, stdio }: ServerPlan,
): Promise<void> {
  if (kind === null || child.gone) return child.close()
  const reset = stdio?.reset
  try {
    if (reset && reset !== 'files')
      await resetBy(reset, { name, client: child.client, folder: child.folder })
  } catch {
    return child.close()
  }
  const kept = idle.get(kind) ?? []
  kept.push(child)
  idle.set(kind, kept)
}

/** End every child that is kept. */
export async function closeChildren(): Promise<void> {
  const children = [...idle.values()].flat()
  idle.clear()
  await Promise.allSettled(children.map((child) => child.close()))
}
