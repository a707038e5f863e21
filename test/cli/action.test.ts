/** The GitHub Action, by running its steps as a runner does: inputs as variables, files for outputs and the summary. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { before, describe, it } from 'node:test'
import { parse } from 'yaml'
import { run } from '../../lib/cli/run.ts'
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

/** A `node` that runs nothing and keeps its words. */
const shower = join(made, 'shower')
mkdirSync(shower)
writeFileSync(join(shower, 'node'), '#!/bin/sh\nprintf "%s\\0" "$@" >words\n', { mode: 0o755 })

/**
 * Run the step that runs cases, with these inputs. @param options.shown the words of the program
 * instead of the program
 */
function act(given: { [name: string]: string }, { shown = false } = {}) {
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
  const { status, stdout, stderr } = spawnSync(
    'bash',
    ['--noprofile', '--norc', '-eo', 'pipefail', '-c', run],
    {
      cwd: made,
      encoding: 'utf8',
      env: {
        ...process.env,
        PATH: `${shown ? shower : dirname(process.execPath)}:${process.env['PATH']}`,
        GITHUB_ACTION_PATH: root,
        ...files,
        ...Object.fromEntries(filled),
      },
    },
  )
  const read = (file: string) => readFileSync(file, 'utf8')
  return {
    status,
    log: stdout + stderr,
    summary: read(files.GITHUB_STEP_SUMMARY),
    output: read(files.GITHUB_OUTPUT),
    words: shown ? read(join(made, 'words')).split('\0').slice(0, -1) : [],
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
    const { status, log, summary, output } = act({
      cases: 'cases/lying_success/deploy-key.yaml\n  cases/lying_success/refund.yaml',
      config: 'naive=sim/naive\nperfect=sim/perfect',
      gate: 'perfect:goal>=10%\nnaive:goal>=99%@estimate',
      repeat: '2',
    })
    assert.equal(status, 1, log)
    assert.equal(output, 'exit-code=1\n')
    assert.match(
      log,
      /^::error title=Gate naive%3Agoal>=99%25@estimate%2C naive%3A missed::goal met/m,
    )
    assert.match(
      log,
      /^::warning title=lying_success\/\S+%2C naive::\d of 2 trials without a pass: \d failed\. Trial \d: goal not met/m,
    )
    assert.match(summary, /^## Touchstone: fell short/)
    for (const file of ['report.md', 'manifest.json'])
      assert.ok(existsSync(join(made, 'touchstone-run', file)), file)
  })

  it('no word of an agent is a command to GitHub, wherever a line begins', () => {
    const words =
      'x'.repeat(60) + ' ' + 'y'.repeat(30) + ' ::stop-commands::mine ::error::forged ##[error]z'
    writeFileSync(
      join(made, 'forger.mjs'),
      `console.error(${JSON.stringify(words)}); process.exit(1)`,
    )
    const { status, log } = act({
      cases: 'cases/lying_success/deploy-key.yaml',
      agent: 'mine=node forger.mjs {task}',
      gate: 'goal>=70%',
      repeat: '2',
      out: 'forged',
    })
    assert.equal(status, 1, log)
    // As the runner reads a log: nothing between a token and its end.
    let token: string | null = null
    const read: string[] = []
    const unread: string[] = []
    for (const line of log.split('\n').map((one) => one.trimStart())) {
      const stopped = /^::stop-commands::(.+)$/.exec(line)
      if (token !== null && line === `::${token}::`) token = null
      else if (token !== null) unread.push(line)
      else if (stopped) token = stopped[1] ?? null
      else if (/^(::|##\[)/.test(line)) read.push(line)
    }
    assert.equal(token, null)
    assert.ok(
      unread.some((line) => /^(::stop-commands::mine|::error::forged)/.test(line)),
      log,
    )
    assert.ok(read.length > 0)
    for (const line of read) assert.match(line, /^::(error|warning) title=(Gate|lying_success)/)
  })

  it('hides no variable of the job from an agent', () => {
    for (const name of Object.keys(step('Run the cases').env ?? {})) assert.match(name, /^INPUT_/)
  })

  it('names its inputs as the options of the run, in the table of the docs too', () => {
    const docs = readFileSync(join(root, 'docs/ci.md'), 'utf8')
    for (const name of Object.keys(action.inputs)) {
      assert.ok(['cases', 'artifact'].includes(name) || Object.hasOwn(run.options, name), name)
      assert.match(docs, new RegExp(`^\\| [^|]*\`${name}\`[^|]* \\|`, 'm'))
    }
  })

  it('runs a case with a server of its own where it is trusted, and not without', () => {
    const server = { command: resolve(root, 'node_modules/.bin/mcp-server-memory') }
    const text = readFileSync(join(root, 'cases/real_servers/memory.yaml'), 'utf8')
      .replace('real_servers/memory', 'mine/memory')
      .replace(/^requires: .*\n/m, '')
      .replace('command: mcp-server-memory', `command: ${JSON.stringify(server.command)}`)
    writeFileSync(join(made, 'my cases', 'memory.yaml'), text)
    const given = { cases: 'my cases/*.yaml', config: 'perfect=sim/perfect', repeat: '1' }
    const refused = act({ ...given, out: 'refused' })
    assert.equal(refused.status, 2)
    assert.match(refused.log, /^case_untrusted: expected --trust/m)
    const mistaken = act({ ...given, trust: 'yes', out: 'refused' })
    assert.equal(mistaken.status, 2)
    assert.match(mistaken.log, /--trust.* does not take an argument/)
    const [junit, sarif] = ['test results/junit.xml', 'attacks.sarif']
    const more = { gate: 'goal>=50%@estimate', seed: '7', 'max-repeats': '2' }
    const files = { out: 'trusted', junit, sarif }
    const { status, log } = act({ ...given, ...more, ...files, trust: 'true' })
    assert.equal(status, 0, log)
    const read = (file: string) => readFileSync(join(made, file), 'utf8')
    assert.match(read(junit), /<property name="seed" value="7"\/>/)
    assert.ok(JSON.parse(read(sarif)))
    const manifest = JSON.parse(read('trusted/manifest.json'))
    assert.equal(manifest.until.most, 2)
    const worse = act({ ...given, baseline: 'trusted', margin: '200%', trust: 'true', out: 'next' })
    assert.equal(worse.status, 2)
    assert.match(worse.log, /^usage: expected a share .* got "200%" \(--margin\)/m)
    const metric = 'goal\noverclaim'
    const two = act({
      ...given,
      baseline: 'trusted',
      margin: '100%',
      metric,
      trust: 'true',
      out: 'two',
    })
    assert.equal(two.status, 0, two.log)
    assert.match(two.log, /held: goal met, overclaimed; the others are shown alone/)
  })

  it('a value is a value, whatever stands in it: no command, and no option', () => {
    const mark = join(made, 'was-run')
    const { log, words } = act(
      {
        cases: `my cases/*.yaml\n  --trust  \n\n-h\n$(touch\t${mark})`,
        config: `--dry-run\na=sim/naive; touch ${mark}`,
        agent: "one=my-agent --words '{task}' `touch was-run`",
        gate: '--help\n',
        repeat: '2 --dry-run',
        baseline: '-q',
        margin: '',
        out: '--resume',
        junit: '--json',
        trust: '',
        uncached: 'true',
      },
      { shown: true },
    )
    assert.deepEqual(words.slice(1), [
      'run',
      '--out=--resume',
      '--annotate',
      `--summary=${join(made, 'summary.md')}`,
      '--config=--dry-run',
      `--config=a=sim/naive; touch ${mark}`,
      "--agent=one=my-agent --words '{task}' `touch was-run`",
      '--gate=--help',
      '--repeat=2 --dry-run',
      '--baseline=-q',
      '--junit=--json',
      '--uncached',
      '--',
      'my cases/*.yaml',
      '--trust',
      '-h',
      `$(touch\t${mark})`,
    ])
    assert.equal(log, '')
    assert.ok(!existsSync(mark))
    for (const path of ['--help', '--trust']) {
      const { status, log, output } = act({ cases: path, config: 'a=sim/naive', out: 'other' })
      assert.equal(status, 2)
      assert.match(log, new RegExp(`^file_unreadable: .*\\(${path}\\)`, 'm'))
      assert.equal(output, 'exit-code=2\n')
    }
  })

  it('a gate without a configuration is refused, as on the command line', () => {
    const { status, log } = act({ gate: 'goal>=10%', out: 'other' })
    assert.equal(status, 2)
    assert.match(log, /^usage: expected --config or --agent beside --gate, got none/m)
  })
})

describe('the workflow that init writes', () => {
  const text = readFileSync(join(root, 'lib/cli/first/workflow.yaml'), 'utf8')
  const { permissions, jobs } = parse(text) as {
    permissions: { [name: string]: string }
    jobs: { touchstone: { steps: (Step & { if?: string; with?: { path?: string } })[] } }
  }
  const { steps } = jobs.touchstone

  it('may read the project and no more, and keeps every file that it writes, whatever the end', () => {
    assert.deepEqual(permissions, { contents: 'read' })
    const wanted = steps.flatMap(({ run = '' }) => [...run.matchAll(/--(?:junit|out) (\S+)/g)])
    const kept = steps.find(({ uses }) => uses?.startsWith('actions/upload-artifact@'))
    assert.equal(kept?.if, 'always()')
    assert.deepEqual(
      kept?.with?.path?.trim().split('\n').sort(),
      wanted.map(([, file]) => file).sort(),
    )
  })

  it('runs actions of one commit each, the same as action.yml and the docs', () => {
    const commits = new Map<string, string>()
    for (const file of ['action.yml', 'lib/cli/first/workflow.yaml', 'docs/ci.md']) {
      const uses = readFileSync(join(root, file), 'utf8').matchAll(/uses: (actions\/\S+?)@(.+)/g)
      for (const [, name = '', at = ''] of uses) {
        assert.match(at, /^[0-9a-f]{40} # v\d+\.\d+\.\d+$/)
        assert.equal(commits.get(name) ?? at, at, name)
        commits.set(name, at)
      }
    }
    assert.equal(commits.size, 4)
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
