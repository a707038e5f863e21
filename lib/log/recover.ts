/**
 * A run that was interrupted, made whole again so that it can be gone on with.
 *
 * A trial's line in `trials.ndjson` is written last. What stands in the other files behind the last recorded trial belongs to
 * one that nobody finished, and is cut. A record whose decisions or transcript are not what its digests say does not count.
 */
import { existsSync, truncateSync } from 'node:fs'
import { join } from 'node:path'
import { digest } from '../canonical.ts'
import { cutTornTail, readLines } from '../lines.ts'
import { digestOfLines, FILES, type RunFolder, readRun } from './folder.ts'
import type { TrialRecord } from './trial.ts'

/** The folder's content, and the keys of trials whose evidence is damaged. */
export type Recovered = RunFolder & { damaged: Set<string> }

/**
 * Make a run's folder whole. The caller holds its lock.
 *
 * @throws TouchstoneError `run_unknown`, `run_invalid`
 */
export async function recover(dir: string): Promise<Recovered> {
  for (const file of [FILES.trials, FILES.decisions, FILES.transcripts])
    cutTornTail(join(dir, file))
  const run = await readRun(dir)
  const recorded = new Map<string, TrialRecord>()
  for (const record of run.attempts) recorded.set(idOf(record), record)
  const whole = {
    decisions: await check(join(dir, FILES.decisions), recorded, digestOfLines, 'decisions'),
    transcripts: await check(
      join(dir, FILES.transcripts),
      recorded,
      (lines) => digest(lines.join('\n')),
      'transcript',
    ),
  }
  const damaged = new Set<string>()
  const noDecisions = digestOfLines([])
  for (const [id, record] of recorded) {
    const decisionsWhole = whole.decisions.has(id) || record.digests.decisions === noDecisions
    if (!decisionsWhole || !whole.transcripts.has(id)) damaged.add(record.key)
  }
  return { ...run, damaged }
}

function idOf({ key, attempt }: { key: string; attempt: number }): string {
  return `${key}#${attempt}`
}

/** Cut the lines behind the last recorded trial's; say which trials' lines are as recorded. */
async function check(
  path: string,
  recorded: Map<string, TrialRecord>,
  digestOf: (lines: string[]) => string,
  what: 'decisions' | 'transcript',
): Promise<Set<string>> {
  const whole = new Set<string>()
  if (!existsSync(path)) return whole
  let offset = 0
  let end = 0
  let current: string | null = null
  let lines: string[] = []
  const close = () => {
    const record = current === null ? undefined : recorded.get(current)
    if (record && record.digests[what] === digestOf(lines)) whole.add(current as string)
    lines = []
  }
  for await (const { value, text } of readLines(path)) {
    const id = idOf(value as { key: string; attempt: number })
    if (id !== current) {
      close()
      current = id
    }
    lines.push(text)
    offset += Buffer.byteLength(text) + 1
    if (recorded.has(id)) end = offset
  }
  close()
  if (end < offset) truncateSync(path, end)
  return whole
}
