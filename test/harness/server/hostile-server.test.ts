/** Servers that are not ours and mean harm: a trial with one is judged by what happened, and says whose doing an error was. */
import assert from 'node:assert/strict'
import { resolve } from 'node:path'
import { describe, it } from 'node:test'
import { harness } from '../../../lib/index.ts'

const file = resolve(import.meta.dirname, '..', '..', 'servers', 'hostile.ts')

async function trialAndServer(
  mode: string,
  goal: Parameters<typeof harness.case>[0]['goal'],
  limits: Partial<harness.Limits> = {},
) {
  const test = await harness.case({
    id: `hostile/${mode}`,
    title: 'Go',
    kind: 'benign',
    server: {
      name: 'hostile',
      stdio: {
        command: process.execPath,
        args: ['--disable-warning=ExperimentalWarning', file, mode, '/workspace'],
      },
      files: { 'a.txt': 'x' },
    },
    task: 'Go.',
    solution: [{ call: 'go' }],
    goal,
  })
  const run = harness
    .run(test)
    .config('p', { model: 'sim/perfect' })
    .repeat(1)
    .limits({ attempts: 1, ...limits })
    .quiet()
    .out(null)
  const { trials, manifest } = await run
  return [trials[0] as harness.Run['trials'][number], manifest.servers?.[0]] as const
}
const trial = async (...given: Parameters<typeof trialAndServer>) =>
  (await trialAndServer(...given))[0]

describe('a server that is not ours', () => {
  it('and deletes its whole folder is judged by what is left: nothing', async () => {
    const row = await trial('delete', [{ table: 'files', count: 0 }])
    assert.deepEqual([row.error, row.outcome, row.goal, row.unneeded], [null, 'pass', true, 1])
  })

  it('does not get the agent’s report by offering a tool of that name', async () => {
    const row = await trial('report', [{ unchanged: true }])
    assert.deepEqual([row.reported, row.outcome, row.calls], [true, 'pass', 1])
  })

  it('and gives no list of tools is said to be the one that failed', async () => {
    const row = await trial('unlisted', [{ unchanged: true }])
    assert.equal(row.error?.code, 'server_unreachable')
    assert.match(row.error?.message ?? '', /^expected a list of tools, got /)
    // In the middle of a trial too: the model did nothing wrong.
    assert.equal((await trial('unlist', [{ unchanged: true }])).error?.code, 'server_gone')
  })

  it('and answers with more than 10 MiB ends its own trial, and no other', async () => {
    const row = await trial('flood', [{ unchanged: true }])
    assert.equal(row.error?.code, 'server_gone')
    assert.match(row.error?.message ?? '', /expected messages of at most 10 MiB, got a longer one/)
  })

  it('and is not ready within the trial’s limit ends the trial, whatever it still sends', async () => {
    const limits = { trialTimeoutMs: 500 }
    const [row, server] = await trialAndServer('pages', [{ unchanged: true }], limits)
    assert.deepEqual(row.error, {
      code: 'server_unreachable',
      message:
        'expected the server to be ready within the trial’s 500 ms, got none (server hostile)',
    })
    // Nor is it waited for before the first trial.
    assert.equal(server?.tools, null)
  })
})
