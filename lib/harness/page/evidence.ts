/**
 * What a page shows of each trial, read from a run's folder in the memory of one part.
 *
 * A trial's lines stand together in each file, and trials stand in the same order in all of them.
 */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Json, JsonObject } from '../../json.ts'
import { readLines } from '../../lines.ts'
import {
  FILES,
  requireTranscript,
  type TranscriptLine,
  type TrialRecord,
  transcriptOf,
} from '../../log/index.ts'
import { verify } from '../../receipt/ladder/levels.ts'
import { exportsInFiles, hasExportFiles } from './exports.ts'
import type { Details, WriteShown } from './shape.ts'
import { tookText } from './took.ts'
import { why } from './why.ts'

/** Longest text of an export or a server's log that a page holds, in characters. */
const MOST_TEXT = 20_000

type Keyed = { key: string; attempt: number }

/** The lines of one file, taken attempt by attempt. */
class Groups<T extends Keyed> {
  private readonly lines: AsyncIterator<{ value: unknown }> | null
  private held: T | null = null
  private ended = false

  constructor(path: string) {
    this.lines = existsSync(path) ? readLines(path)[Symbol.asyncIterator]() : null
  }

  private async peek(): Promise<T | null> {
    if (this.held || this.ended) return this.held
    const next = await this.lines?.next()
    if (!next || next.done) this.ended = true
    else this.held = next.value.value as T
    return this.held
  }

  /** The lines of an attempt, if they come next. */
  async take({ key, attempt }: Keyed): Promise<T[]> {
    const taken: T[] = []
    for (let line = await this.peek(); line; line = await this.peek()) {
      if (line.key !== key || line.attempt !== attempt) break
      taken.push(line)
      this.held = null
    }
    return taken
  }

  async next(): Promise<T | null> {
    const line = await this.peek()
    this.held = null
    return line
  }
}

/**
 * The details of the trials that count, in the order in which they ended.
 *
 * @param counted the records that count, by key
 */
export async function* detailsOf(
  dir: string,
  counted: ReadonlyMap<string, TrialRecord>,
): AsyncGenerator<Details> {
  const transcripts = new Groups<TranscriptLine>(join(dir, FILES.transcripts))
  const decisions = new Groups<Keyed & { decision: Json }>(join(dir, FILES.decisions))
  const exports = new Groups<Keyed & Details['exports'][number]>(join(dir, FILES.audit))
  const files = hasExportFiles(dir)
  const logs = new Groups<Keyed & JsonObject>(join(dir, FILES.servers))
  for (let line = await transcripts.next(); line; line = await transcripts.next()) {
    const record = counted.get(line.key)
    const [made, exported, told] = [
      await decisions.take(line),
      await exports.take(line),
      await logs.take(line),
    ]
    if (!record || record.attempt !== line.attempt) continue
    const where = () => `${join(dir, FILES.transcripts)}, trial ${line?.key}`
    const { entries, ordered } = transcriptOf(requireTranscript(line, where), record.claims)
    const evidence = files
      ? exportsInFiles(dir, record)
      : exported.map(({ server, provider, text }) => ({ server, provider, text }))
    const values = made.map(({ decision }) => decision)
    yield {
      key: line.key,
      record,
      why: why(record),
      entries,
      ordered,
      times: line.times ?? [],
      took: tookText(line.times ?? []),
      writes: writesOf(record, values, evidence),
      decisions: values,
      exports: evidence.map((one) => ({ ...one, text: one.text.slice(0, MOST_TEXT) })),
      logs: told.map(({ key: _, attempt: __, ...log }) => log as JsonObject),
    }
  }
}

/** The level of each call that asks for a change, derived again from decisions and exports. */
function writesOf(
  { writes }: TrialRecord,
  decisions: readonly Json[],
  exports: Details['exports'],
): WriteShown[] {
  if (writes.length === 0) return []
  const { calls } = verify(decisions, {
    // An export of which nobody knows who wrote it shows nothing.
    audit: exports.flatMap(({ provider, text }) => (provider ? [{ provider, bytes: text }] : [])),
  })
  return calls.flatMap((call): WriteShown[] => {
    if (call.seq === null || !writes.includes(call.seq)) return []
    return [
      {
        seq: call.seq,
        level: call.level,
        why: call.why_not_higher,
        record:
          call.binding?.outcome === 'bound'
            ? `${call.binding.provider} record ${call.binding.record_id}`
            : null,
        findings: [
          ...call.findings.map(({ severity, detail }) => `${severity}: ${detail}`),
          ...call.rejections.map(({ reason, detail }) => `${reason}: ${detail}`),
        ].slice(0, 10),
      },
    ]
  })
}
