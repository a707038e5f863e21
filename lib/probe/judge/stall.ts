/**
 * Whether this process stood still while a latency was measured. Such a latency is ours and not the
 * server's.
 *
 * A timer beats while anything is measured. A beat that comes late says for how long no answer
 * could be taken.
 */

const BEAT_MS = 10

type Window = { openedAt: number; stalledMs: number }

const windows = new Set<Window>()
let lastBeat = 0
let timer: NodeJS.Timeout | null = null

/**
 * Begin to watch. The end may be told more than once.
 *
 * @returns ends the watching, and tells the longest time in ms that the event loop stood still
 *   meanwhile
 */
export function watchStalls(): () => number {
  const window = { openedAt: performance.now(), stalledMs: 0 }
  if (timer === null) {
    lastBeat = window.openedAt
    timer = setInterval(beat, BEAT_MS)
    timer.unref()
  }
  windows.add(window)
  return () => {
    // The answer may have been taken before the beat that the stall delayed.
    note(window, performance.now())
    windows.delete(window)
    if (windows.size === 0 && timer !== null) {
      clearInterval(timer)
      timer = null
    }
    return window.stalledMs
  }
}

function beat(): void {
  const now = performance.now()
  for (const window of windows) note(window, now)
  lastBeat = now
}

function note(window: Window, now: number): void {
  const late = Math.min(now - lastBeat - BEAT_MS, now - window.openedAt)
  window.stalledMs = Math.max(window.stalledMs, late)
}

/** Below this a stall is what timers and the system's scheduler do on any machine. */
const TOLERATED_MS = 20

/**
 * Does a stall spoil a latency? It may be up to a tenth of it.
 *
 * @example
 * spoils(15, 3) // false
 * spoils(40, 3) // true
 * spoils(40, 900) // false
 */
export function spoils(stalledMs: number, latencyMs: number): boolean {
  return stalledMs > Math.max(TOLERATED_MS, latencyMs / 10)
}
