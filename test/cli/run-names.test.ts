/** Each verb that prints a run prints a name that each verb takes. */
import assert from 'node:assert/strict'
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { quoted } from '../../lib/cli/verb/own-name.ts'
import { startCommands } from '../servers/commands.ts'
import { temporaryFolder } from '../temporary.ts'

const cwd = temporaryFolder('run-names')
const { run: touchstone, close } = startCommands({ cwd })
after(async () => assert.equal(await close(), ''))

const CASES = 'cases/lying_success/deploy-key.yaml'
const idOf = (folder: string) =>
  JSON.parse(readFileSync(join(cwd, folder, 'manifest.json'), 'utf8')).id as string
const firstWord = (text: string, line: number) =>
  text.split('\n')[line]?.trim().split(/ {2,}/)[0] ?? ''

/** A copy of a run with an id of its own. */
function copy(from: string, to: string, id: string) {
  cpSync(join(cwd, from), join(cwd, to), { recursive: true })
  const path = join(cwd, to, 'manifest.json')
  writeFileSync(path, readFileSync(path, 'utf8').replaceAll(idOf(from), id))
}

const SHALLOW = '2026-01-01T00-00-00Z-aaaaaa'
const DEEP = '2026-01-02T00-00-00Z-bbbbbb'

before(async () => {
  const run = (model: string, out: string) =>
    touchstone('run', CASES, '--repeat', '5', '--config', `a=${model}`, '--out', out)
  await run('sim/perfect', 'ci/days/1')
  await run('sim/naive', 'ci/days/2')
  copy('ci/days/1', 'runs/shallow', SHALLOW)
  copy('ci/days/2', 'runs/artifacts/may 4/deep', DEEP)
})

/** All verbs that take a run; compare and export are asked for what tells that the run was found. */
async function takes(name: string, id: string) {
  const page = join(cwd, 'page.html')
  assert.match((await touchstone('list', name)).stdout, /10 trials of 10$/m, name)
  assert.match((await touchstone('show', name)).stdout, /^lying_success\//, name)
  assert.match((await touchstone('show', '--run', name)).stdout, /^lying_success\//, name)
  assert.equal((await touchstone('open', name, '--to', page)).status, 0, name)
  assert.ok(readFileSync(page, 'utf8').includes(`Run ${id}`), name)
  assert.match((await touchstone('verify', name)).stdout, new RegExp(`^Run ${id}`), name)
  assert.match((await touchstone('compare', name)).stderr, /got one run of a /, name)
  assert.equal((await touchstone('compare', name, 'ci/days/1')).status, 0, name)
  const there = join(cwd, 'page.html')
  assert.match((await touchstone('export', name, '--parquet', there)).stderr, /page\.html/, name)
  rmSync(there)
}

describe('the name of a run', () => {
  it('that list prints is taken by each verb, from runs/, below it, and from another folder', async () => {
    const { stdout } = await touchstone('list')
    const names = [1, 2].map((line) => firstWord(stdout, line)).sort()
    assert.deepEqual(names, ['artifacts/may 4/deep', 'shallow'])
    await takes('shallow', SHALLOW)
    await takes('artifacts/may 4/deep', DEEP)
    const other = (await touchstone('list', '--in', 'ci')).stdout
    assert.deepEqual([1, 2].map((line) => firstWord(other, line)).sort(), [
      'ci/days/1',
      'ci/days/2',
    ])
    await takes('ci/days/2', idOf('ci/days/2'))
  })

  it('may be its id or the beginning of one, wherever in runs/ it stands', async () => {
    await takes(DEEP, DEEP)
    const begun = DEEP.slice(0, 12)
    for (const verb of ['list', 'verify', 'compare'])
      assert.doesNotMatch((await touchstone(verb, begun)).stderr, /run_unknown/, verb)
    assert.match((await touchstone('show', '--run', begun)).stdout, /^lying_success\//)
  })

  it('that history prints is taken, and the command below it works as it is pasted', async () => {
    const { status, stdout } = await touchstone('history', 'ci')
    assert.equal(status, 1)
    assert.match(stdout, / {2}ci\/days\/1 /)
    assert.match(stdout, /First worse beyond the noise: ci\/days\/2\.\n/)
    const [, words = ''] = /^Look at it: .*\.ts (open .*)$/m.exec(stdout) ?? []
    assert.equal(words, 'open ci/days/2')
    assert.equal((await touchstone(...words.split(' '), '--to', join(cwd, 'seen.html'))).status, 0)
    // In runs/ the name is the one that list gives, and a space in it is quoted.
    const below = (await touchstone('history')).stdout
    assert.match(below, /First worse beyond the noise: artifacts\/may 4\/deep\.\n/)
    assert.ok(below.includes(quoted(['open', 'artifacts/may 4/deep'])), below)
  })

  it('behind --after leaves a worse run that was looked at out of the exit code, and no later one', async () => {
    const seen = await touchstone('history', 'ci', '--after', 'ci/days/2')
    assert.deepEqual([seen.status, seen.stderr], [0, ''])
    assert.match(seen.stdout, /First worse beyond the noise: ci\/days\/2\./)
    assert.match(seen.stdout, /\nNo run after ci\/days\/2 is worse beyond the noise\.\n$/)
    const first = await touchstone('history', 'ci', '--after', 'ci/days/1')
    assert.equal(first.status, 1)
    assert.match(first.stdout, /^Look at it: .* open ci\/days\/2$/m)
    const other = await touchstone('history', 'ci', '--after', 'shallow')
    assert.equal(other.status, 2)
    assert.match(
      other.stderr,
      /^run_unknown: expected a run of this history, got "shallow" \(--after\)/,
    )
  })

  it('is a path where a run in runs/ hides behind one of the same name', async () => {
    cpSync(join(cwd, 'ci/days/1'), join(cwd, 'shallow'), { recursive: true })
    try {
      const names = (await touchstone('list')).stdout.split('\n').map((line) => line.split('  ')[0])
      assert.ok(names.includes('runs/shallow') && !names.includes('shallow'), `${names}`)
      await takes('runs/shallow', SHALLOW)
    } finally {
      rmSync(join(cwd, 'shallow'), { recursive: true })
    }
  })

  it('that is an id of a run elsewhere is not said to be that of another run', async () => {
    const id = idOf('ci/days/2')
    const { status, stderr } = await touchstone('list', id)
    assert.equal(status, 2)
    assert.match(stderr, /^run_unknown: .*a run elsewhere is named by its folder\n$/)
    assert.doesNotMatch(stderr, /did you mean/)
    assert.match((await touchstone('list', 'shalow')).stderr, /did you mean "shallow"/)
  })

  it('that two runs share is refused, and the folders are named', async () => {
    cpSync(join(cwd, 'runs/shallow'), join(cwd, 'runs/twice'), { recursive: true })
    try {
      assert.match((await touchstone('list', SHALLOW)).stderr, /of (shallow, twice|twice, shallow)/)
    } finally {
      rmSync(join(cwd, 'runs/twice'), { recursive: true })
    }
  })

  it('in compare tells two configurations of one name apart by what each verb takes', async () => {
    const { stdout } = await touchstone('compare', 'ci/days/1', 'shallow')
    assert.match(stdout, /^a of shallow against a of ci\/days\/1/)
  })
})

describe('a folder that is no run', () => {
  it('hides no other from list, which says that it is left out and ends with 2', async () => {
    mkdirSync(join(cwd, 'runs', 'foreign'))
    writeFileSync(join(cwd, 'runs', 'foreign', 'manifest.json'), '{}')
    // A file that other programs write too, deeper down.
    mkdirSync(join(cwd, 'runs', 'artifacts', 'app'), { recursive: true })
    writeFileSync(join(cwd, 'runs', 'artifacts', 'app', 'manifest.json'), '{}')
    try {
      const { status, stdout, stderr } = await touchstone('list')
      assert.equal(status, 2)
      assert.match(stdout, /^shallow /m)
      assert.match(stderr, /^Left out: foreign \(run_invalid: [^\n]*\n$/)
      assert.equal(JSON.parse((await touchstone('list', '--json')).stdout).length, 2)
    } finally {
      rmSync(join(cwd, 'runs', 'foreign'), { recursive: true })
      rmSync(join(cwd, 'runs', 'artifacts', 'app'), { recursive: true })
    }
  })

  it('and one of which no trial has ended is listed with none', async () => {
    cpSync(join(cwd, 'runs/shallow'), join(cwd, 'runs/begun'), { recursive: true })
    for (const name of ['trials', 'decisions', 'transcripts', 'audit'])
      rmSync(join(cwd, 'runs/begun', `${name}.ndjson`), { force: true })
    try {
      assert.match((await touchstone('list')).stdout, /^begun .* 0 of 10 +0/m)
    } finally {
      rmSync(join(cwd, 'runs/begun'), { recursive: true })
    }
  })

  it('is told to history as what it is', async () => {
    mkdirSync(join(cwd, 'empty'))
    const told = async (dir: string) => (await touchstone('history', dir)).stderr
    assert.match(
      await told('empty'),
      /^run_unknown: expected a folder with runs in it, got none \(empty\)/,
    )
    assert.match(await told('runs/shallow'), /got the folder of a run: name the folder that it/)
    assert.ok(!existsSync(join(cwd, 'nowhere')))
    assert.match(await told('nowhere'), /got none \(nowhere\)/)
    mkdirSync(join(cwd, 'broken', 'one'), { recursive: true })
    writeFileSync(join(cwd, 'broken', 'one', 'manifest.json'), '{')
    assert.match(await told('broken'), /got none that can be read \(one: json_/)
  })

  it('of one run history says that nothing stands before it', async () => {
    const { status, stdout } = await touchstone('history', 'runs/artifacts')
    assert.equal(status, 0)
    assert.match(stdout, /goal met of 1 run over time/)
    assert.doesNotMatch(stdout, /[Ee]xpected/)
    assert.match(stdout, /One run: none before it to hold it against\./)
  })
})
