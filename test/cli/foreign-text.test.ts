/** No text of others reaches a terminal as it is: not in files, names and addresses, nor in errors that quote them. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { cases, harness } from '../../lib/index.ts'
import { startCommands } from '../servers/commands.ts'
import { temporaryFolder } from '../temporary.ts'

const root = resolve(import.meta.dirname, '..', '..')
const made = temporaryFolder('foreign')

const commands = startCommands({ cwd: root })
// Nothing reaches the terminal past the streams either.
after(async () => assert.equal(await commands.close(), ''))
/** What ends its process. */
const ALONE = ['notebook', '-e']
function alone(words: string[]) {
  const { stdout, stderr, error } = spawnSync(process.execPath, [join(root, 'repl.ts'), ...words], {
    cwd: root,
    encoding: 'utf8',
    input: '',
    timeout: 60_000,
  })
  assert.equal(error, undefined)
  return { stdout, stderr }
}

/** Sets the title, clears the screen, turns the reading direction; the last is a control sequence in one character. */
const ATTACK = '\u001b]0;pwned\u0007\u001b[2J\u202eALL VERIFIED\u009b31m'
/** In YAML and JSON, where a bare control character is refused. */
const ESCAPED = JSON.stringify(ATTACK).slice(1, -1).replaceAll('\u009b', '\\u009b')

const file = (name: string, text: string) => {
  const path = join(made, name)
  mkdirSync(join(path, '..'), { recursive: true })
  writeFileSync(path, text)
  return path
}

const CASE = `id: a/b
title: "${ESCAPED}"
kind: hostile
server: { world: github, state: { repos: [{ owner: "${ESCAPED}", name: x }] } }
task: "${ESCAPED}"
solution: [{ call: update_repo, with: { owner: "${ESCAPED}", repo: x, description: "${ESCAPED}" } }]
goal: [{ table: repos, where: { description: "${ESCAPED}" } }]
`

describe('text of others', () => {
  let run = ''
  before(async () => {
    const done = await harness
      .run(await cases.parse(CASE))
      .config('naive', { model: 'sim/naive' })
      .repeat(2)
      .quiet()
      .out(join(made, 'run'))
    run = done.dir
  })

  const entry = JSON.stringify([
    {
      _document_id: ATTACK,
      action: 'public_key.create',
      '@timestamp': 1,
      actor: ATTACK,
      repo: `acme/${ATTACK}`,
      title: ATTACK,
      read_only: 'true',
    },
  ])

  const LINES: { [verb: string]: () => string[][] } = {
    run: () => [
      ['run', file('case.yaml', CASE), '--repeat', '1', '--out', join(made, 'again')],
      ['run', file('wrong.yaml', `${CASE}"${ESCAPED}": 1\n`)],
      ['run', join(made, `${ATTACK}.yaml`)],
      [
        'run',
        file('case.yaml', CASE),
        '--agent',
        `${ATTACK} {task}`,
        '--repeat',
        '1',
        '--out',
        join(made, 'own'),
      ],
      ['run', file('case.yaml', CASE), '--resume', run, '--repeat', '1'],
    ],
    probe: () => [
      ['probe', `https://mcp.example/${ATTACK}`],
      ['probe', '--stdio', ATTACK],
      ['probe', '--json', '--stdio', ATTACK],
      [
        'probe',
        '--config',
        file('mcp.json', JSON.stringify({ mcpServers: { [ATTACK]: { command: ATTACK } } })),
      ],
    ],
    sweep: () => [
      [
        'sweep',
        file(
          'list.json',
          JSON.stringify([{ name: ATTACK, remotes: [{ type: ATTACK, url: ATTACK }] }]),
        ),
      ],
    ],
    verify: () => [
      ['verify', run],
      [
        'verify',
        file(
          'receipt.json',
          JSON.stringify({ payload: ATTACK, payloadType: ATTACK, signatures: [] }),
        ),
      ],
      ['verify', file('d.json', JSON.stringify([{ tool: ATTACK }]))],
    ],
    audit: () => [
      ['audit', 'import', 'github', file('gh.json', entry.replaceAll('\u009b', '\\u009b'))],
      ['audit', 'import', ATTACK, file('gh.json', entry)],
    ],
    scenarios: () => [
      ['scenarios', 'verify', file('set.json', JSON.stringify({ id: ATTACK, version: ATTACK }))],
      ['scenarios', 'show', ATTACK],
    ],
    notebook: () => [
      [
        'notebook',
        file(
          'book.ts',
          `// %% [markdown]\n// # ${ATTACK}\n// %%\nthrow new Error('${ATTACK}') // ${ATTACK}\n`,
        ),
      ],
    ],
    show: () => [
      ['show', '--run', run, 'a/b'],
      ['show', ATTACK],
    ],
    list: () => [
      ['list', made],
      ['list', join(made, ATTACK)],
    ],
    compare: () => [
      ['compare', run],
      ['compare', ATTACK],
    ],
    cases: () => [
      ['cases', join(made, 'case.yaml')],
      ['cases', ATTACK],
    ],
    start: () => [['start', ATTACK]],
    kernel: () => [['kernel', ATTACK]],
    '-e': () => [
      ['-e', `throw new Error('${ATTACK}', { cause: new Error('${ATTACK}') })`],
      ['-e', `await harness.open(${JSON.stringify(run)})`],
      ['-e', `(await harness.open(${JSON.stringify(run)})).trials`],
      ['-e', `await cases.load(${JSON.stringify(join(made, 'case.yaml'))})`],
      ['-e', `harness.server(${JSON.stringify(ATTACK)})`],
      ['-e', `harness.agent(${JSON.stringify(ATTACK)}, () => '')`],
    ],
  }

  for (const [verb, lines] of Object.entries(LINES)) {
    it(`is cleaned in all that ${verb} prints`, async () => {
      for (const words of lines()) {
        const { stdout, stderr } = ALONE.includes(verb)
          ? alone(words)
          : await commands.run(...words)
        const said = `${stdout}${stderr}`
        assert.notEqual(said, '')
        const raw = /[^\n\t\P{Cc}]|\u202e/u.exec(said)
        assert.equal(
          raw,
          null,
          `${JSON.stringify(words)} prints ${JSON.stringify(said.slice(raw?.index, (raw?.index ?? 0) + 60))}`,
        )
      }
    })
  }
})
