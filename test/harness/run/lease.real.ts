/** One folder and several containers with the same host name and process number, as pods over a shared volume are. Takes about a minute, most of it waiting for leases of 30 s. */
import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { after, describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { harness } from '../../../lib/index.ts'
import type { TrialRecord } from '../../../lib/log/index.ts'
import { checkFolder } from '../../../lib/receipt/attest/check-folder.ts'
import { inContainer, noContainers, signalContainer } from '../../servers/containers.ts'
import { temporaryFolder } from '../../temporary.ts'
import { linesOf } from './queue-chaos.ts'

const root = resolve(import.meta.dirname, '../../..')
const made = temporaryFolder('lease')
const started: ChildProcess[] = []
after(() => {
  for (const one of started) one.kill('SIGKILL')
})

/** `touchstone run` in a container of its own. */
function run(...words: string[]) {
  const fixed = ['run', 'cases/lying_success/deploy-key.yaml', '--repeat', '150', '--json']
  const node = [process.execPath, join(root, 'repl.ts'), ...fixed, ...words]
  const [program = '', ...args] = inContainer('box', node)
  const child = spawn(program, args, { cwd: root, stdio: ['ignore', 'ignore', 'pipe'] })
  started.push(child)
  let said = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    said += text
  })
  const ended = new Promise<number | null>((done) => child.once('exit', done))
  return { child, said: () => said, ended }
}

/** A run that is at work in a container. */
async function begun(dir: string) {
  const first = run('--out', dir, '--concurrency', '1')
  while (linesOf(join(dir, 'trials.ndjson')).length < 5) await sleep(50)
  return first
}

async function requireWhole(dir: string): Promise<void> {
  const { verdict, steps } = await checkFolder(dir)
  assert.equal(verdict, 'verified', JSON.stringify(steps))
  assert.equal((await harness.open(dir)).complete, true)
  const ids = linesOf<TrialRecord>(join(dir, 'trials.ndjson')).map((one) => one.key)
  assert.equal(new Set(ids).size, ids.length)
  assert.ok(!readdirSync(dir).some((name) => name.startsWith('run.lock')))
}

describe('a run’s folder that containers share', { skip: noContainers, concurrency: 2 }, () => {
  it('a run that was killed is gone on with from another container when its lease has ended', async () => {
    const dir = join(made, 'killed')
    const first = await begun(dir)
    signalContainer(first.child, 'SIGKILL')
    await first.ended
    const had = linesOf(join(dir, 'trials.ndjson')).length
    assert.ok(had < 600, `${had}`)
    const next = run('--resume', dir)
    assert.equal(await next.ended, 0)
    assert.match(
      next.said(),
      /run\.lock is held by process 1 on box since .*: waiting up to 30 s for a sign of life\n/,
    )
    await requireWhole(dir)
  })

  it('a run that stands still for longer than its lease is gone on with elsewhere, and writes no byte more', async () => {
    const dir = join(made, 'stopped')
    const first = await begun(dir)
    signalContainer(first.child, 'SIGSTOP')
    const second = run('--resume', dir)
    assert.equal(await second.ended, 0)
    const whole = readFileSync(join(dir, 'trials.ndjson'))
    signalContainer(first.child, 'SIGCONT')
    assert.equal(await first.ended, 2)
    assert.match(first.said(), /run_locked.*process 1 had it and gave no sign of life for 30 s/)
    assert.deepEqual(readFileSync(join(dir, 'trials.ndjson')), whole)
    await requireWhole(dir)
  })
})
