/** `touchstone worker`: runs the trials of runs that are going on over a queue. */
import { count } from '../display.ts'
import { TouchstoneError } from '../errors.ts'
import { handOver } from '../harness/run/worker-file.ts'
import { MOST_AT_ONCE, type RunPlan } from '../harness/trial/planned-run.ts'
import { EXIT, type Verb } from './verb/verb.ts'

const VARIABLE = 'TOUCHSTONE_QUEUE'

export const worker: Verb = {
  usage: 'touchstone worker [FILE.ts] [options]',
  says: 'Runs trials of the runs that are going on over a queue, until it is stopped. With the file of a run it serves that run alone, with its functions, and ends with it.',
  options: {
    queue: {
      type: 'string',
      value: 'URL',
      says: `redis://… or postgres://…, as the run has it. Default: the variable ${VARIABLE}, or that of the run's file`,
    },
    concurrency: { type: 'string', value: 'N', says: 'trials at once, 1 to 4,096. Default 4' },
    trust: {
      type: 'boolean',
      says: 'take runs whose cases or configurations start commands, contact addresses or use variables of the environment',
    },
    quiet: { type: 'boolean', short: 'q', says: 'say nothing' },
  },
  more: `Keys do not travel over the queue: a worker takes them from its own environment. Who reaches the queue's server can
give work to its workers, so keep it among your own machines.
Ctrl-C or SIGTERM: what is at work goes on to its end; once more stops now, and the run tries it again.`,
  exits: {
    0: 'it was stopped, or the run of its file has ended',
  },
  examples: ['worker --queue redis://127.0.0.1:6379 --concurrency 32'],
  takes: { least: 0, most: 1 },
  async run(words, signal) {
    const [file] = words.positionals
    const concurrency = words.whole('concurrency', 1, MOST_AT_ONCE) ?? 4
    const say = (line: string) => {
      if (!words.flag('quiet')) process.stderr.write(`${line}\n`)
    }
    const stop = new AbortController()
    process.once('SIGTERM', () => stop.abort(new DOMException('SIGTERM', 'AbortError')))
    const plan = file === undefined ? undefined : await planOf(file)
    const url = words.text('queue') ?? plan?.queue?.url ?? process.env[VARIABLE]
    if (url === undefined || url === '')
      throw new TouchstoneError('usage', `expected --queue or ${VARIABLE}, got none`, {
        where: '--queue',
      })
    const { serveQueue } = await import('../harness/run/worker.ts')
    say(`waits for runs, ${count(concurrency, 'trial')} at once`)
    const { refused } = await serveQueue({
      ...{ url, concurrency, plan, say },
      trust: words.flag('trust'),
      signal: AbortSignal.any([signal, stop.signal]),
    })
    if (refused.length > 0)
      throw new TouchstoneError(
        'run_differs',
        `expected a worker like the run, got another one: ${refused.join('; ')}`,
        { where: file },
      )
    // A run's own file waits for a run that it is not given.
    if (file !== undefined) process.exit(EXIT.asHoped)
    return EXIT.asHoped
  },
}

/** Run a run's file up to the plan that it awaits. */
async function planOf(file: string): Promise<RunPlan> {
  const [{ runScript }, { scope }] = await Promise.all([
    import('../repl/script.ts'),
    import('./prompt.ts'),
  ])
  const { promise, resolve, reject } = Promise.withResolvers<RunPlan>()
  handOver(resolve)
  runScript({ file, scope: await scope() }).then(
    (code) =>
      reject(
        new TouchstoneError(
          'argument_invalid',
          code === 0
            ? 'expected a file that awaits a run, got one that awaits none'
            : 'expected a file that awaits a run, got one that failed before it',
          { where: file },
        ),
      ),
    reject,
  )
  return promise
}
