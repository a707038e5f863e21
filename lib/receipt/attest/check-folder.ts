/**
 * A run's folder held against itself: what its records say, derived again from the evidence beside
 * them. Nobody signed it, so that whoever can write the folder can make it agree.
 */
import {
  absentIn,
  FILES,
  type Inspected,
  type Manifest,
  type TrialRecord,
} from '../../log/index.ts'
import { attemptId } from '../recompute/run-evidence.ts'
import { readRunBytes } from '../recompute/run-folder.ts'
import { planProblems, RecordCheck } from '../recompute/run-log.ts'
import { countsOf, summaryOf } from '../recompute/run-predicate.ts'
import { answeredAs, checkTrials, notRecomputed, TRANSCRIPTS } from '../recompute/run-trials.ts'
import { judged, type Problem, type Step, unchecked } from '../recompute/step.ts'
import { Verification } from './verification.ts'

/**
 * Check a run of which there is no receipt: digests of the evidence, levels, and marks that its
 * records give.
 *
 * @param dir the run's folder
 * @returns a verification whose `receipt` is false; `verified` means that the folder agrees with
 *   itself
 * @throws TouchstoneError `file_unreadable` for a folder that the system does not hand out
 * @example
 * const dir = `${process.env.TMPDIR ?? '/tmp'}/touchstone-${crypto.randomUUID()}`
 * const [first] = await cases.load()
 * await harness.run([first]).config('naive', { model: 'sim/naive' }).repeat(1).out(dir).quiet()
 * const checked = await checkFolder(dir)
 * checked.verdict // 'verified'
 * checked.receipt // false
 */
export async function checkFolder(dir: string): Promise<Verification> {
  const bytes = await readRunBytes(dir, { hash: false })
  const { manifest, log } = bytes
  const name = manifest?.id ?? '?'
  const steps: Step[] = [
    judged(
      'manifest',
      manifest === null
        ? [
            {
              code: 'manifest_unreadable',
              where: FILES.manifest,
              detail: bytes.manifestProblem ?? 'no manifest',
            },
          ]
        : planProblems(manifest, { ...manifest }),
      'it can be read, and the numbers of its plan agree with each other',
    ),
    judged('trial log', log.unread, `${log.lines} lines, each a trial's record`),
    manifest === null
      ? unchecked('trials', 'manifest_unreadable', 'without the plan no trial can be placed')
      : judged(
          'trials',
          log.problems,
          'each is planned, has its own seed and start, and the outcome that its marks give',
        ),
  ]
  const { decisions, audits, transcripts, levels, told } = await checkTrials(bytes, () => null)
  steps.push(
    judged('decisions', decisions, 'every call of every trial, by digest'),
    judged('audit exports', audits, 'every export by digest, and none besides'),
    judged('transcripts', transcripts, TRANSCRIPTS),
    judged('levels', levels, 'derived again for every call from decisions and audit exports'),
  )
  return new Verification({
    of: { kind: 'run', name },
    set: null,
    signed_by: null,
    receipt: false,
    steps,
    recomputed: manifest && {
      counts: countsOf(manifest, log),
      cases: [],
      summary: summaryOf(manifest, log, bytes.dir),
      absent: absentIn(manifest, log.index.columns),
      answered_as: answeredAs(told),
    },
    not_recomputed: notRecomputed(told),
    does_not_establish: [
      'that the run was not made up: nobody signed it, and whoever can write the folder can make it agree',
      'that its cases are anybody’s but its own: no set was published',
    ],
  })
}

/** What in a run's folder does not agree with itself, and the levels that the evidence gives. */
export type FolderProblems = {
  problems: Problem[]
  /** By key: levels of the attempt that counts, where its record has others. */
  levels: Map<string, TrialRecord['levels']>
}

/** Trials up to which levels are derived again. `checkFolder` does so at any size. */
const MOST_DERIVED = 5000

/** A check of a run that is being read. */
export type FolderCheck = {
  /** Told of each record, in the order of the log. */
  see(manifest: Manifest, read: { record: TrialRecord }): void
  problems(folder: Inspected): Promise<FolderProblems>
}

/**
 * Hold the records of a folder against the evidence beside them: digests, marks that follow from
 * others, and, for runs of up to 5,000 attempts, levels. Evidence without a record is no problem: a
 * run that is being written has some, behind that of all others.
 */
export function folderCheck(): FolderCheck {
  let check: RecordCheck | null = null
  return {
    see(manifest, { record }) {
      check ??= new RecordCheck(manifest)
      check.see(record)
    },
    async problems({ dir, columns, attempts, damaged, unrecorded }) {
      const problems = check?.problems() ?? []
      for (const key of unrecorded.keys()) {
        const detail = 'evidence of it stands before that of others, and no record of it'
        problems.push({ code: 'trial_removed', where: `trial ${key}`, detail })
      }
      const levels: FolderProblems['levels'] = new Map()
      if (attempts > MOST_DERIVED) {
        const detail =
          'its decisions, exports or transcript have other digests than its record names'
        for (const key of damaged)
          problems.push({ code: 'evidence_damaged', where: `trial ${key}`, detail })
        return { problems, levels }
      }
      const {
        derived,
        told: _,
        ...found
      } = await checkTrials(await readRunBytes(dir, { hash: false }), () => null)
      for (const key of columns.keys()) {
        const own = derived.get(attemptId(key, columns.attempt(key)))
        if (own) levels.set(key, own)
      }
      problems.push(...Object.values(found).flat())
      return { problems: problems.filter(({ code }) => !code.endsWith('_unattributed')), levels }
    },
  }
}
