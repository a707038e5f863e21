/** Opens the folder of a run: a new one, or that of a run which is gone on with. */
import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { count } from '../../display.ts'
import { TouchstoneError } from '../../errors.ts'
import {
  Columns,
  FILES,
  inspectRun,
  lock,
  type Manifest,
  RunWriter,
  requirePlainFiles,
  setAside,
} from '../../log/index.ts'
import { temporaryFolder } from '../../process/temporary.ts'
import { folderCheck } from '../../receipt/attest/check-folder.ts'
import type { Problem } from '../../receipt/recompute/step.ts'
import { signalOf } from '../../signal.ts'
import type { Held } from '../trial/held.ts'
import type { RunPlan } from '../trial/planned-run.ts'
import { costOfRecord } from './coordinator.ts'
import { sameRun } from './plan-manifest.ts'

/** A run's folder, open and locked, with what it holds already. */
type Begun = Held & { manifest: Manifest }

/**
 * Open the folder of a run. @throws TouchstoneError when it is not a new or empty one, when
 * somebody else writes into it, or when the run in it is another one or contradicts itself
 */
export async function folderOf(plan: RunPlan, wanted: Manifest): Promise<Begun> {
  return plan.resume === undefined ? begin(plan, wanted) : goOn(plan, wanted)
}

function lockOptions({ signal, progress: shown }: RunPlan): Parameters<typeof lock>[1] {
  const told = (line: string) => void (shown && process.stderr.write(`${line}\n`))
  return { signal: signalOf(signal), told }
}

async function begin(plan: RunPlan, manifest: Manifest): Promise<Begun> {
  const dir =
    plan.out === undefined
      ? resolve('runs', manifest.id)
      : plan.out === null
        ? temporaryFolder('run')
        : resolve(plan.out)
  return {
    writer: await RunWriter.create(dir, manifest, lockOptions(plan)),
    manifest,
    columns: new Columns(manifest),
    starts: new Map(),
    spent: 0,
  }
}

/**
 * Go on with the run in a folder. What is wrong with it stays wrong, whatever is run beside it: it
 * is refused before the first trial.
 */
async function goOn(plan: RunPlan, wanted: Manifest): Promise<Begun> {
  const dir = resolve(plan.resume as string)
  if (!existsSync(join(dir, FILES.manifest)))
    throw new TouchstoneError(
      'run_unknown',
      `expected a run's folder with ${FILES.manifest}, got none`,
      { where: dir },
    )
  requirePlainFiles(dir)
  const held = await lock(dir, lockOptions(plan))
  try {
    // Everything is judged before a byte is written.
    const check = folderCheck()
    const starts: Begun['starts'] = new Map()
    let spent = 0
    const folder = await inspectRun(dir, (found, read) => {
      const { record } = read
      if (record.start_digest !== null) starts.set(record.case, record.start_digest)
      spent += costOfRecord(record) - (record.cost_usd ?? 0)
      check.see(found, read)
    })
    const { columns, tails } = folder
    const manifest = sameRun(folder.manifest, wanted, { where: dir, add: plan.add })
    requireSound(dir, (await check.problems(folder)).problems)
    for (const { name } of folder.manifest.configurations)
      for (const { cost_usd } of columns.rows(name)) spent += cost_usd ?? 0
    held.confirm()
    setAside(dir, tails)
    const writer = RunWriter.reopen(dir, held, folder.lines)
    if (manifest !== folder.manifest) {
      writer.replan(manifest)
      columns.replan(manifest)
    }
    return { writer, manifest, columns, starts, spent }
  } catch (cause) {
    held.release()
    throw cause
  }
}

/** A record that contradicts itself or its evidence, or lacks one of them, is somebody's edit. */
function requireSound(dir: string, problems: Problem[]): void {
  const [first] = problems
  if (!first) return
  throw new TouchstoneError(
    'run_invalid',
    `expected records that agree with their evidence, got ${count(problems.length, 'problem')}, the first ${first.code}: ${first.detail} (touchstone verify ${dir} has all): put the files back as they were, or begin a new run`,
    { where: first.where },
  )
}
