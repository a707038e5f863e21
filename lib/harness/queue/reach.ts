/** A run over a queue, begun: its server is reached before the folder is written. */
import { LogReader, type Manifest } from '../../log/index.ts'
import type { Progress } from '../../progress.ts'
import type { Held } from '../trial/held.ts'
import type { RunPlan } from '../trial/planned-run.ts'
import { Engine } from './engine.ts'
import { QueueExecutor } from './executor.ts'
import { identity } from './identity.ts'
import { documentOf } from './travel.ts'

/**
 * @throws TouchstoneError `dependency_missing`, `queue_unreachable`; `argument_invalid` for a plan
 *   that cannot travel
 */
export async function reach(plan: RunPlan, planned: Manifest) {
  const { url, leaseMs } = plan.queue as NonNullable<RunPlan['queue']>
  const me = identity(planned.versions)
  // What cannot travel is told of before anything is written.
  documentOf(plan, planned, me, leaseMs)
  let bar: Progress | null = null
  const engine = await Engine.open(url, { trouble: (text) => bar?.waits(text ?? '', 0) })
  return {
    engine,
    /** @throws TouchstoneError `run_locked` when another coordinator has the run */
    async executor(held: Held, manifest: Manifest, shown: Progress | null): Promise<QueueExecutor> {
      bar = shown
      const { writer, columns } = held
      const document = documentOf(plan, manifest, me, leaseMs)
      const counted = (key: string) => {
        const attempt = columns.attempt(key)
        if (attempt < 0) return null
        const unknown = { attempt, worker: null, startedAt: '' }
        try {
          const [record] = new LogReader(writer.dir, columns).records([key])
          const { worker = null, started_at: startedAt } = record ?? { started_at: '' }
          return { attempt, worker, startedAt }
        } catch {
          // Its line is on its way to the disk.
          return unknown
        }
      }
      return QueueExecutor.begin({ engine, document, manifest, held, counted, bar: shown })
    },
  }
}
