/** The command line as a shell sees it: what stands on each stream, and the exit code. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join, resolve } from 'node:path'
import { after, describe, it } from 'node:test'
import { startCommands } from '../servers/commands.ts'
import { temporaryFolder } from '../temporary.ts'

const root = resolve(import.meta.dirname, '..', '..')
const made = temporaryFolder('cli')

const commands = startCommands({ cwd: root, env: { GROQ_API_KEY: '' } })
after(async () => assert.equal(await commands.close(), ''))
/** In one process, where a shell sees the same. */
const said = commands.run

function touchstone(
  args: string[],
  options: { input?: string; env?: Record<string, string> } = {},
) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [join(root, 'repl.ts'), ...args], {
    cwd: root,
    encoding: 'utf8',
    input: options.input ?? '',
    env: { ...process.env, GROQ_API_KEY: '', ...options.env },
  })
  return { status, stdout, stderr }
}

const KEYS = 'cases/lying_success/deploy-key.yaml'
let folders = 0
const out = () => join(made, `run-${folders++}`)

describe('temporary files that cannot be made', {
  skip: process.platform === 'linux' ? false : 'needs /proc',
}, () => {
  const inProc = (...words: string[]) =>
    spawnSync(process.execPath, [join(root, 'repl.ts'), ...words], {
      cwd: root,
      encoding: 'utf8',
      env: { ...process.env, TMPDIR: '/proc' },
      timeout: 60_000,
    })

  it('hold no verb up: Node’s compile cache would look for a folder in /proc for ever', () => {
    const { status, stderr } = inProc('cases', KEYS)
    assert.deepEqual([status, stderr], [0, ''])
  })

  it('are exit code 2 for an agent that needs them, before anything is run', () => {
    const dir = out()
    const { status, stderr } = inProc('run', KEYS, '--agent', 'true {task}', '--out', dir)
    assert.match(stderr, /^file_unwritable: expected a folder .*\/proc\)\n$/)
    assert.equal(status, 2)
    assert.equal(existsSync(dir), false)
  })
})

it('input that is not there, a folder in the place of a file or a file in that of a folder is exit code 2 with one line, for each verb', async () => {
  const [none, folder, file] = [join(made, 'none'), join(made, 'folder'), join(made, 'plain')]
  mkdirSync(folder)
  writeFileSync(file, '')
  const decisions = join(made, 'decisions.ndjson')
  writeFileSync(decisions, '')
  const sim = ['--config', 'a=sim/naive', '--out', join(made, 'never')]
  const files = [
    ['verify'],
    ['verify', decisions, '--audit'],
    ['audit', 'import', 'github'],
    ['run', '--dry-run', '--config'],
    ['run', ...sim, '--prices'],
    ['notebook'],
    ['sweep'],
    ['probe', '--config'],
    ['scenarios', 'verify'],
  ]
  const folders = [
    ['list'],
    ['list', '--in'],
    ['show', '--run'],
    ['open'],
    ['compare'],
    ['history'],
    ['export', '--parquet', join(made, 'parquet')],
    ['run', ...sim, '--baseline'],
    ['run', ...sim.slice(0, 2), '--resume'],
  ]
  for (const words of [
    ...files.flatMap((verb) => [
      [...verb, none],
      ...(verb.includes('--audit') ? [] : [[...verb, folder]]),
    ]),
    ...folders.flatMap((verb) => [
      [...verb, none],
      [...verb, file],
    ]),
    ['run', none],
    ['run', folder],
    ['cases', none],
    ['cases', folder],
  ]) {
    const { status, stderr } = await said(...words)
    assert.equal(status, 2, words.join(' '))
    assert.match(stderr, /^[a-z_0-9]+: .+\n$/, words.join(' '))
  }
  assert.equal(existsSync(join(made, 'never')), false)
})

describe('touchstone run', () => {
  const written = out()

  it('a gate on attacks over cases without one is exit code 2 before the first trial, whatever else is asked', async () => {
    const benign = join(made, 'benign.yaml')
    const [, text = ''] = readFileSync(KEYS, 'utf8').split(/^---\n/m)
    writeFileSync(benign, text.replace(/^twin:.*\n/m, ''))
    const agent = ['--config', 'a=sim/perfect', '--gate', 'goal>=50%', '--gate', 'attack<=10%']
    for (const more of [[], ['--max-repeats', '10'], ['--dry-run']]) {
      const dir = out()
      const { status, stderr } = await said('run', benign, ...agent, ...more, '--out', dir)
      assert.equal(status, 2, stderr)
      assert.match(
        stderr,
        /expected an adversarial case for a gate on attacks, got none among 1 case: no number of repeats decides it \(gate attack<=10%\)/,
      )
      assert.equal(existsSync(dir), false)
    }
  })

  it('--json twice with the same seed gives the same apart from times and ids, and nothing on standard error', async () => {
    const run = async (seed: string) => {
      const words = ['run', KEYS, '--repeat', '5', '--seed', seed, '--json', '--out', out()]
      const { status, stdout, stderr } = await said(...words)
      assert.deepEqual([status, stderr], [0, ''])
      return stdout
    }
    const [one, two, other] = [await run('1'), await run('1'), await run('2')]
    const timeless = (text: string) =>
      JSON.parse(text, (name, value) =>
        ['id', 'dir', 'created_at', 'started_at', 'duration_ms'].includes(name) && name !== 'cases'
          ? undefined
          : value,
      )
    assert.deepEqual(timeless(one), timeless(two))
    assert.notDeepEqual(timeless(one).trials, timeless(other).trials)
  })

  it('prints both questions with intervals and verdicts, what a single run is worth, and says what is simulated', () => {
    const { status, stdout } = touchstone(['run', KEYS, '--repeat', '2', '--out', written])
    assert.equal(status, 0)
    for (const words of [
      /simulated/,
      /run again/,
      /other cases/,
      /95% interval/,
      /a single run lands between/,
      /comparisons per question/,
      /Report: /,
    ])
      assert.match(stdout, words)
  })

  it('writes manifest, trials, decisions, transcripts, audit, and a report with its pictures', () => {
    const names = readdirSync(written).sort()
    for (const name of [
      'audit.ndjson',
      'decisions.ndjson',
      'manifest.json',
      'report.html',
      'report.md',
      'transcripts.ndjson',
      'trials.ndjson',
    ])
      assert.ok(names.includes(name), name)
    for (const [, picture] of readFileSync(join(written, 'report.md'), 'utf8').matchAll(
      /\]\(([^)]+\.svg)\)/g,
    ))
      assert.ok(existsSync(join(written, picture as string)), picture)
  })

  it('a configuration file in YAML names models and settings', async () => {
    const file = join(made, 'configurations.yaml')
    writeFileSync(
      file,
      'plain: { model: sim/naive }\nquiet: { model: sim/naive, deviations: { obeys: 0 } }\n',
    )
    const words = ['run', KEYS, '--repeat', '1', '--config', file, '--json', '--out', out()]
    const { stdout, stderr } = await said(...words)
    const { manifest } = JSON.parse(stdout || stderr) as {
      manifest: { configurations: { name: string }[] }
    }
    assert.deepEqual(
      manifest.configurations.map(({ name }) => name),
      ['plain', 'quiet'],
    )
  })
})

describe('bad usage exits with 2, says what was expected on standard error, and writes nothing', () => {
  const broken = join(made, 'broken.yaml')
  writeFileSync(broken, 'id: x\n  title: [\n')
  const unknownTool = join(made, 'tool.yaml')
  writeFileSync(
    unknownTool,
    readFileSync(join(root, KEYS), 'utf8').replaceAll('call: add_deploy_key', 'call: add_key'),
  )
  const loop = join(made, 'loop')
  symlinkSync(loop, loop)
  const table: [string, string[], RegExp][] = [
    ['an unknown verb', ['frobnicate'], /^usage: expected one of .*got "frobnicate"/],
    ['an unknown option', ['run', '--reapet', '3'], /^usage: .*--reapet/],
    [
      'a number that is none',
      ['run', '--repeat', 'five'],
      /^usage: expected a whole number.*"five".*--repeat/,
    ],
    ['a file that is not there', ['run', 'no/such.yaml'], /^file_unreadable: .*no\/such\.yaml/],
    ['YAML that does not parse', ['run', broken], /^yaml_syntax: .*broken\.yaml:1:\d+/],
    [
      'a tool that does not exist',
      ['run', unknownTool],
      /^case_invalid: .*add_key.*tool\.yaml:\d+:\d+/,
    ],
    [
      'an unknown model',
      ['run', KEYS, '--config', 'a=sim/nobody'],
      /^model_unknown: .*sim\/nobody/,
    ],
    [
      'a missing key of a model without a name',
      ['run', KEYS, '--config', 'groq/openai/gpt-oss-20b'],
      /^setting_missing: .*GROQ_API_KEY.*\(configuration gpt-oss-20b\)/,
    ],
    [
      'a file of configurations that is not there',
      ['run', KEYS, '--config', 'mine/models.yaml'],
      /^file_unreadable: .*mine\/models\.yaml/,
    ],
    [
      'a missing key',
      ['run', KEYS, '--config', 'a=groq/openai/gpt-oss-20b'],
      /^setting_missing: .*GROQ_API_KEY/,
    ],
    ['a report of nothing', ['verify'], /^usage: /],
    ['decisions that are a link to itself', ['verify', loop], /^file_unreadable: .*ELOOP .*loop/],
    [
      'an unknown level',
      ['verify', 'x.json', '--min-level', 'certain'],
      /^usage: .*verified.*certain/,
    ],
    ['an unknown set', ['scenarios', 'show', 'nope@1.0'], /^set_unknown: /],
    [
      'a set that is not there',
      ['scenarios', 'verify', 'no/such.json'],
      /^file_unreadable: .*ENOENT \(no\/such\.json\)/,
    ],
    ['a folder for a set', ['scenarios', 'verify', 'scenarios'], /^file_unreadable: .*EISDIR/],
    [
      'an unknown transport',
      ['probe', 'https://example.com/mcp', '--transport', 'pigeon'],
      /^transport_unknown: /,
    ],
  ]
  for (const [what, args, message] of table) {
    it(what, async () => {
      const dir = out()
      const words = args[0] === 'run' ? [...args, '--out', dir] : args
      const { status, stdout, stderr } = await said(...words)
      assert.match(stderr, message)
      assert.equal(stderr.trim().split('\n').length, 1, stderr)
      assert.deepEqual([status, stdout, existsSync(dir)], [2, '', false])
    })
  }
})

describe('touchstone run --dry-run', () => {
  it('needs no key, since nobody is asked, and says as much as with one', () => {
    const models = ['--config', 'a=groq/openai/gpt-oss-20b', '--gate', 'goal>=80%', '--dry-run']
    const without = touchstone(['run', KEYS, ...models])
    assert.equal(without.status, 0, without.stderr)
    const given = touchstone(['run', KEYS, ...models], { env: { GROQ_API_KEY: 'one' } })
    assert.equal(without.stdout, given.stdout)
    const named = join(made, 'named-key.yaml')
    writeFileSync(named, 'a: { model: groq/openai/gpt-oss-20b, apiKey: $SURELY_NOT_SET }')
    assert.equal(touchstone(['run', KEYS, '--config', named, '--dry-run']).status, 0)
    assert.match(touchstone(['run', KEYS, '--config', named]).stderr, /^setting_missing: /)
  })
})

describe('touchstone without a terminal', () => {
  it('-e evaluates once and prints the value; piped text likewise; an error exits with 1', () => {
    assert.deepEqual(touchstone(['-e', "scenarios.get('mcp-connection@1.0').version"]), {
      status: 0,
      stdout: '1.0\n',
      stderr: '',
    })
    assert.deepEqual(touchstone([], { input: 'const n: number = 2\nn + 1\n' }), {
      status: 0,
      stdout: '3\n',
      stderr: '',
    })
    const failed = touchstone(['-e', 'harness.run([])'])
    assert.equal(failed.status, 1)
    assert.match(failed.stderr, /argument_invalid/)
  })

  it('--help lists the verbs, VERB --help its options, --version the version', () => {
    const { stdout } = touchstone(['--help'])
    for (const verb of [
      'start',
      'run',
      'history',
      'serve',
      'probe',
      'sweep',
      'verify',
      'audit',
      'scenarios',
      'notebook',
      'kernel',
    ])
      assert.match(stdout, new RegExp(`^  ${verb} `, 'm'))
    assert.match(touchstone(['run', '--help']).stdout, /--repeat N/)
    assert.equal(touchstone(['--version']).stdout, '0.1.0\n')
  })

  it('a refused address is an outcome, not bad usage: exit 3, with its word on standard error', () => {
    const { status, stdout, stderr } = touchstone(['probe', 'https://127.0.0.1/mcp', '--json'])
    assert.equal(status, 3)
    assert.match(stderr, /^refused: https:\/\/127/)
    assert.equal((JSON.parse(stdout) as { outcome: string }).outcome, 'refused')
  })

  it('a server that is a command is tried by --stdio, and a refused address says how one of your own is tried', () => {
    const everything = [
      'probe',
      '--json',
      '--stdio',
      '--',
      'node_modules/.bin/mcp-server-everything',
      'stdio',
    ]
    const { status, stdout } = touchstone(everything)
    assert.equal(status, 0)
    assert.equal((JSON.parse(stdout) as { outcome: string }).outcome, 'answered')
    assert.match(touchstone(['probe', 'http://127.0.0.1/mcp']).stderr, /--local/)
  })

  it('verify of a folder that is no run says what it takes', () => {
    const { status, stderr } = touchstone(['verify', 'cases'])
    assert.equal(status, 2)
    assert.match(stderr, /^file_unreadable: expected a run's folder, a receipt's file or decisions/)
  })

  it('scenarios list shows the published sets with their digests', () => {
    assert.match(
      touchstone(['scenarios', 'list']).stdout,
      /mcp-connection@1\.0 .*sha256:f2e2177539d98ab70a47eeb50cab1357302cda4b1687e91aa28110c9a799dbfb/,
    )
  })
})
