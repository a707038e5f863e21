/** Who holds a lock, and whether that process is one here that runs. */
import { createHash } from 'node:crypto'
import { readFileSync, readlinkSync } from 'node:fs'
import { hostname, networkInterfaces, uptime } from 'node:os'
import { startOf } from './process-start.ts'

export type Owner = {
  /** Of this lock, not of the process. */
  id: string
  pid: number
  host: string
  boot: string | null
  space: string | null
  /** When the process was started, in ticks of its system. */
  started: string | null
  /** Since when it holds the lock, by its own clock. */
  since: string
  /** The sign of life: how long its system has been up. Always as many characters. */
  beat: string
}

/** This process. */
export function ownerHere(id: string): Owner {
  const { pid } = process
  const since = new Date().toISOString()
  return { id, pid, host: hostname(), ...place(), started: startOf(pid), since, beat: sign() }
}

export function told(owner: Owner | null): string {
  return owner === null
    ? 'a process that did not say who it is'
    : `process ${owner.pid} on ${owner.host} since ${owner.since}`
}

export function ownerOf(text: string): Owner | null {
  try {
    const owner = JSON.parse(text) as Owner
    const { id, pid, host, since } = owner
    const whole = Number.isSafeInteger(pid) && pid > 0
    return whole && [id, host, since].every((one) => typeof one === 'string') ? owner : null
  } catch {
    return null
  }
}

export function idIn(text: string | null): string | null {
  return (text ? ownerOf(text)?.id : null) ?? null
}

/**
 * On which system a process runs, and whose numbers its number is among. Containers of one machine
 * share the first and not the second.
 */
export function place(): { boot: string | null; space: string | null } {
  return {
    boot: readOr(() => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()) ?? cards(),
    space: readOr(() => readlinkSync('/proc/self/ns/pid')),
  }
}

/** Where a system has no number for its start: its network cards, as a digest. */
function cards(): string | null {
  const own = Object.values(networkInterfaces())
    .flatMap((one) => one ?? [])
    .filter(({ internal }) => !internal)
    .map(({ mac }) => mac)
  if (own.length === 0) return null
  const text = [...new Set(own)].sort().join()
  return createHash('sha256').update(text).digest('base64url').slice(0, 16)
}

function readOr(read: () => string): string | null {
  try {
    return read()
  } catch {
    return null
  }
}

/** Whether an owner's number is a number of a process here. */
function isHere({ host, boot, space }: Owner, here: Owner): boolean {
  return host === here.host && boot !== null && boot === here.boot && space === here.space
}

export function endedHere(owner: Owner | null, here: Owner): boolean {
  return owner !== null && isHere(owner, here) && !runs(owner)
}

/** It runs here and gave a sign of life within a lease; a copy of its lock gets no more of them. */
export function livesHere(owner: Owner | null, here: Owner, leaseMs: number): boolean {
  if (owner === null || !isHere(owner, here) || !runs(owner)) return false
  return Math.abs(uptime() - Number(owner.beat)) * 1000 < leaseMs
}

/** A number given to a new process is not the old one. */
function runs({ pid, started }: Owner): boolean {
  try {
    process.kill(pid, 0)
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== 'EPERM') return false
  }
  const now = startOf(pid)
  return started === null || now === null || started === now
}

export function sign(): string {
  return uptime().toFixed(2).padStart(16, '0')
}
