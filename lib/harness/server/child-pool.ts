/** Child processes of servers that are not ours, kept between trials where their state can be put back. */
import type { Client } from './mcp.ts'
import type { ServerPlan } from './plan.ts'

/**
 * Puts a kept server's state back between two trials. It may call the server's tools or change what stands in its folder.
 * Whatever it throws ends the child, and the next trial gets a fresh one.
 */
export type ResetHook = (server: { client: Client; folder: string | null }) => Promise<void> | void

/** A child with a client connected to it. */
export type Child = { client: Client; folder: string | null; gone: boolean; close(): Promise<void> }

const idle = new Map<string, Child[]>()
const hooks = new WeakMap<ResetHook, number>()
let hookCount = 0

/** What children must have in common to stand in for each other; null for those that are not kept. */
export function kindOf({ stdio, files }: ServerPlan): string | null {
  if (!stdio?.reset) return null
  const { reset, ...rest } = stdio
  let hook: string | number = 'files'
  if (typeof reset === 'function') {
    hook = hooks.get(reset) ?? ++hookCount
    hooks.set(reset, hook)
  }
  return JSON.stringify([rest, files, hook])
}

/** A kept child that still lives, or undefined. */
export function takeChild(kind: string | null): Child | undefined {
  const kept = kind === null ? undefined : idle.get(kind)
  for (let child = kept?.pop(); child; child = kept?.pop()) if (!child.gone) return child
  return undefined
}

/** Keep a child for the next trial, or end it when it is of no kind or its state cannot be put back. */
export async function giveBack(
  kind: string | null,
  child: Child,
  reset: ResetHook | 'files' | null,
): Promise<void> {
  if (kind === null || child.gone) return child.close()
  try {
    if (typeof reset === 'function') await reset({ client: child.client, folder: child.folder })
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
