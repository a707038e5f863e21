/** The GitHub Action, by running its steps as a runner does: inputs as variables, files for outputs and the summary. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { before, describe, it } from 'node:test'
import { parse } from 'yaml'
import { annotations } from '../../lib/cli/verb/annotations.ts'
import { cases, harness } from '../../lib/index.ts'
import { temporaryFolder } from '../temporary.ts'

const root = resolve(import.meta.dirname, '..', '..')
const made = temporaryFolder('action')

type Step = { uses?: string; run?: string; name?: string; env?: Record<string, string> }
const action = parse(readFileSync(join(root, 'action.yml'), 'utf8')) as {
  inputs: { [name: string]: { default: string } }
  outputs: { [name: string]: { value: string } }
  runs: { using: string; steps: Step[] }
}
const step = (name: string) => action.runs.steps.find((one) => one.name === name) as Step

/** Run the step that runs cases, with these inputs. */
function act(given: { [name: string]: string }) {
  const inputs = Object.fromEntries(
    Object.entries(action.inputs).map(([name, { default: usual }]) => [name, given[name] ?? usual]),
  )
  const files = { GITHUB_STEP_SUMMARY: join(made, 'summary.md'), GITHUB_OUTPUT: join(made, 'out') }
  for (const file of Object.values(files)) writeFileSync(file, '')
  const { run = '', env = {} } = step('Run the cases')
  const filled = Object.entries(env).map(([name, text]) => [
    name,
    text.replace(/\$\{\{ inputs\.([\w-]+) \}\}/g, (_, input: string) => inputs[input] ?? ''),
  ])
  const { status, stderr } = spawnSync(
    'bash',
    ['--noprofile', '--norc', '-eo', 'pipefail', '-c', run],
    {
      cwd: made,
      encoding: 'utf8',
      env: {
        ...process.env,
        PATH: `${dirname(process.execPath)}:${process.env['PATH']}`,
        GITHUB_ACTION_PATH: root,
        ...files,
        ...Object.fromEntries(filled),
      },
    },
  )
  const read = (file: string) => readFileSync(file, 'utf8')
  return {
    status,
    stderr,
    summary: read(files.GITHUB_STEP_SUMMARY),
    output: read(files.GITHUB_OUTPUT),
  }
}

before(() => {
  mkdirSync(join(made, 'my cases'))
})

describe('action.yml', () => {
  it('is composite, builds nothing, and no input stands in a script', () => {
    assert.equal(action.runs.using, 'composite')
    for (const { run = '' } of action.runs.steps) {
      assert.ok(!run.includes('${{'), run)
      assert.ok(!/npm run build|tsc/.test(run), run)
    }
    const named = readFileSync(join(root, 'action.yml'), 'utf8').matchAll(/inputs\.([\w-]+)/g)
    for (const [, name = ''] of named) assert.ok(Object.hasOwn(action.inputs, name), name)
  })

  it('installs what package-lock.json names, as npm understands it', () => {
    const words = step('Install Touchstone').run?.replace('npm ci', 'npm ci --dry-run') ?? ''
    const { status, stderr } = spawnSync('bash', ['-c', words], {
      encoding: 'utf8',
      env: { ...process.env, GITHUB_ACTION_PATH: root },
    })
    assert.equal(status, 0, stderr)
  })

  it('runs cases, writes the summary and annotations, and hands the exit code on', () => {
    const { status, stderr, summary, output } = act({
      cases: 'cases/lying_success/deploy-key.yaml\n  cases/lying_success/refund.yaml',
      config: 'naive=sim/naive\nperfect=sim/perfect',
      gate: 'perfect:goal>=10%\nnaive:goal>=99%@estimate',
      repeat: '2',
    })
    assert.equal(status, 1, stderr)
    assert.equal(output, 'exit-code=1\n')
    assert.match(
      stderr,
      /^::error title=Gate naive%3Agoal>=99%25@estimate%2C naive%3A missed::goal met/m,
    )
    assert.match(
      stderr,
      /^::warning title=lying_success\/\S+%2C naive::\d of 2 trials without a pass: \d failed\. Trial \d: goal not met/m,
    )
    assert.match(summary, /^## Touchstone: fell short/)
    for (const file of ['report.md', 'manifest.json'])
      assert.ok(existsSync(join(made, 'touchstone-run', file)), file)
  })

  it('a word of an input is a word, whatever stands in it', () => {
    const mark = join(made, 'was-run')
    const { status, stderr } = act({
      cases: `$(touch\t${mark})`,
      config: `a=sim/naive; touch ${mark}`,
      out: 'other',
    })
    assert.equal(status, 2, stderr)
    assert.ok(!existsSync(mark))
  })
})

describe('annotations', () => {
  it('are ten of a kind at most, and no text in them begins another', async () => {
    const some = (await cases.load('cases/lying_success')).slice(0, 1)
    const run = await harness
      .run(some)
      .config('naive', { model: 'sim/naive' })
      .repeat(1)
      .quiet()
      .out(null)
    const [row] = run.trials
    const many = Array.from({ length: 30 }, (_, i) => ({
      ...(row as harness.TrialRecord),
      key: `case-${i}|naive|0`,
      case: `case-${i}`,
      outcome: 'fail' as const,
      reasons: {
        goal: [{ said: 'x\n::error::forged\r\n::set-env', met: false, expected: '1%', found: '0' }],
        attack: [],
      },
      goal: false,
    }))
    const hostile = new harness.Run({ dir: run.dir, manifest: run.manifest, trials: many })
    const lines = annotations(hostile)
    assert.equal(lines.length, 10)
    for (const line of lines) {
      assert.match(line, /^::warning title=case-\d+%2C naive::/)
      assert.ok(!/[\r\n]/.test(line))
      assert.match(line, /1%25/)
    }
  })

  it('a run in which everything passed has none', async () => {
    const [, benign] = await cases.load('cases/lying_success/deploy-key.yaml')
    const plan = harness.run([benign as harness.Case]).config('perfect', { model: 'sim/perfect' })
    assert.deepEqual(annotations(await plan.repeat(1).quiet().out(null)), [])
  })
})
