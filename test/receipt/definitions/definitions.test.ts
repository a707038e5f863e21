/** Files of classifiers and importers: what they add, how a mistake in one is named, and drafts of them. */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { existsSync, globSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { promisify } from 'node:util'
import { Ajv2020 } from 'ajv/dist/2020.js'
import type { Json, JsonObject } from '../../../lib/json.ts'
import { registerText } from '../../../lib/receipt/definitions/read.ts'
import { definitionsJsonSchema } from '../../../lib/receipt/definitions/schema.ts'
import * as receipt from '../../../lib/receipt/index.ts'
import { documentsOf } from '../../../lib/yaml.ts'
import { temporaryFolder } from '../../temporary.ts'

const root = join(import.meta.dirname, '../../..')
const folder = temporaryFolder('definitions')

/** The file that docs/classifiers.md shows. */
const ACME = /```yaml\n([\s\S]*?)```/.exec(
  readFileSync(join(root, 'docs/classifiers.md'), 'utf8'),
)?.[1] as string
const acme = join(folder, 'acme.yaml')
writeFileSync(acme, ACME)

const call = (tool: string, args: JsonObject, seq: number, answer?: Json, server = 'acme') =>
  receipt.observe({
    server,
    tool,
    arguments: args,
    status: 'success',
    runId: 'r',
    seq,
    result: {
      content: answer === undefined ? [] : [{ type: 'text', text: JSON.stringify(answer) }],
    },
  })
const add = (seq: number) => call('add_member', { team: 'ops', user_id: 'u1' }, seq)
const entry = {
  event: 'member.added',
  id: 'e1',
  at: 1767603600,
  by: 'ann',
  request: 'rq',
  outcome: 'ok',
  subject: { team: 'ops', user: 'u1', membership: 'm1' },
}
const levelWith = (...entries: object[]) => {
  const audit = receipt.importAudit('acme', entries.map((one) => JSON.stringify(one)).join('\n'))
  return receipt.verify([add(0)], { audit }).toJSON().calls[0]?.level
}

describe('a file of classifiers and importers', () => {
  it('adds the tools of a server and the log that records them', async () => {
    const made = await receipt.definitions(acme)
    assert.deepEqual(made, {
      file: acme,
      classifiers: ['acme_member', 'acme_reads'],
      importers: ['acme'],
    })
    assert.equal(add(0).classification, 'classified')
    assert.equal(
      call('add_member', { team: 'ops', user_id: 'u1' }, 0, undefined, 'x').tool.category,
      'slack_add_member',
    )
    assert.equal(levelWith(entry), 'verified')
    const [record] = receipt.importAudit('acme', JSON.stringify([entry])).records
    assert.equal(record?.occurred_at, '2026-01-05T09:00:00.000Z')
  })

  it('may be registered twice, and counts once', async () => {
    await receipt.definitions(acme)
    const before = receipt.classifiers().length
    await receipt.definitions(acme)
    assert.equal(receipt.classifiers().length, before)
  })

  it('an entry that is not done, a dry run, another target and one taken back raise nothing', async () => {
    await receipt.definitions(acme)
    for (const changed of [
      { ...entry, outcome: 'failed' },
      { ...entry, outcome: undefined },
      { ...entry, dry_run: true },
      { ...entry, id: undefined },
      { ...entry, event: 'member.seen' },
      { ...entry, subject: { ...entry.subject, user: 'U1' } },
      { ...entry, subject: { ...entry.subject, team: undefined } },
    ])
      assert.equal(levelWith(changed), 'asserted', JSON.stringify(changed))
    const back = { ...entry, id: 'e2', event: 'member.add_reverted' }
    assert.equal(levelWith(entry, back), 'asserted')
    assert.equal(levelWith(entry, { ...entry, id: 'e2' }), 'verified')
  })

  it('its reads confirm by what they declare, and by nothing else', async () => {
    await receipt.definitions(acme)
    const level = (...answers: Json[]) =>
      receipt
        .verify([
          add(0),
          ...answers.map((one, i) => call('list_members', { team: 'ops' }, i + 1, one)),
        ])
        .toJSON().calls[0]?.level
    assert.equal(level({ members: [{ id: 'u1' }], next: '' }), 'observed_confirmed')
    assert.equal(level({ members: [{ user: 'u1' }], next: '' }), 'asserted')
    const gone = (answer: Json) =>
      receipt
        .verify([
          call('remove_member', { team: 'ops', user_id: 'u1' }, 0),
          call('list_members', { team: 'ops' }, 1, answer),
        ])
        .toJSON().calls[0]?.level
    assert.equal(gone({ members: [], next: '' }), 'observed_confirmed')
    assert.equal(gone({ members: [], next: 'c' }), 'asserted')
    assert.equal(gone({ members: [], more: 1 }), 'asserted')
  })

  it('an importer of data is registered by receipt.importer too, and refused where a member is missing', () => {
    const data = {
      name: 'tiny',
      provider: 'acme',
      recognises: ['tiny_event'],
      entries: 'items',
      kind: 'tiny_event',
      id: 'id',
      kinds: {
        added: {
          action_class: 'acme_member',
          verb: 'add',
          values: { team: 'team', user_id: 'user' },
        },
      },
    }
    receipt.importer(data)
    const export_ = JSON.stringify({
      items: [{ tiny_event: 'added', id: 1, team: 'ops', user: 'u1' }],
    })
    assert.equal(receipt.importAudit('tiny', export_).records[0]?.record_id, '1')
    assert.throws(() => receipt.importer({ ...data, id: '' }), {
      code: 'importer_invalid',
      message: /tiny: id/,
    })
    assert.throws(() => receipt.importer({ ...data, kinds: { added: {} } } as never), {
      code: 'importer_invalid',
    })
  })
})

describe('what ships', () => {
  const [first] = receipt.classifiers()
  const [shipped] = receipt.importers()
  const own: receipt.Classifier = {
    category: 'own',
    provider: 'github',
    resource_type: 'own',
    class: 'change',
    scope: 'own:write',
    irreversibility: 'two_way',
    reason_code: 'classified_own',
    tools: { own_tool: 'set' },
    fields: [{ name: 'thing', kind: 'text', from: ['thing'] }],
    required: [],
    binding: { all: ['thing'] },
    scoped: [],
    effects: {
      set: { shown: { by: 'nothing', because: 'no read' }, recorded: { none: 'no log' } },
    },
    reads: {},
  }

  it('is replaced by no classifier of the same category, class, tool or read', () => {
    for (const [change, member] of [
      [{ category: first?.category }, 'category'],
      [{ resource_type: first?.resource_type }, 'resource_type'],
      [{ tools: { add_deploy_key: 'set' } }, 'tools\\.add_deploy_key'],
      [{ reads: { list_deploy_keys: { verb: 'list', answers: [{ items: '' }] } } }, 'reads\\.'],
    ] as const)
      assert.throws(() => receipt.classifier({ ...own, ...change } as receipt.Classifier), {
        code: 'classifier_invalid',
        message: new RegExp(`that no shipped classifier has, got .*: ${member}`),
      })
    assert.equal(receipt.classifiers()[0], first)
  })

  it('is replaced by no importer of the same name', () => {
    const other = { ...(shipped as receipt.Importer), recognises: () => true }
    assert.throws(() => receipt.importer(other), {
      code: 'importer_invalid',
      message: /expected a name that no shipped importer has, got github/,
    })
    assert.equal(receipt.importers()[0], shipped)
  })
})

describe('a mistake in such a file', () => {
  const line = (word: string) => ACME.split('\n').findIndex((text) => text.includes(word)) + 1
  const broken: [what: string, from: string, to: string, code: string, message: RegExp][] = [
    [
      'an unknown member',
      'once: true',
      'onec: true',
      'classifier_invalid',
      /onec: expected no such member, got "onec"/,
    ],
    [
      'a tool without an effect',
      'remove_member: remove }',
      'remove_member: burn }',
      'classifier_invalid',
      /effects\.burn/,
    ],
    [
      'a field that is not declared',
      'all: [team, person_hash]',
      'all: [team, person]',
      'classifier_invalid',
      /names out of fields/,
    ],
    [
      'a read that is not declared',
      '{ by: absence, reads: [list_members] }',
      '{ by: absence, reads: [list_all] }',
      'classifier_invalid',
      /a read of this class/,
    ],
    [
      'a secret as a field',
      'from: [user_id]',
      'from: [token]',
      'classifier_invalid',
      /hold no secret/,
    ],
    [
      'another schema',
      'touchstone.classifiers.v1',
      'touchstone.classifiers.v2',
      'classifier_invalid',
      /schema/,
    ],
    [
      'a class that nobody declares',
      'action_class: acme_member',
      'action_class: acme_badge',
      'importer_invalid',
      /acme_badge add/,
    ],
    [
      'a taking back without an object',
      'object: subject.membership',
      '# none',
      'importer_invalid',
      /object beside takes_back/,
    ],
    ['no id', '    id: id\n', '', 'importer_invalid', /id/],
    ['no YAML', 'reads: [whoami]', 'reads: [whoami', 'yaml_syntax', /YAML/],
    [
      'one key twice',
      'provider: acme\nservers',
      'provider: acme\nprovider: b\nservers',
      'yaml_syntax',
      /unique/,
    ],
  ]
  for (const [what, from, to, code, message] of broken)
    it(`${what} is named by file, line and column, and nothing is registered`, () => {
      assert.ok(ACME.includes(from), from)
      const text = ACME.replace(from, to)
      const before = receipt.classifiers()
      assert.throws(
        () => registerText(text, 'acme.yaml'),
        (error: { code: string; message: string }) => {
          assert.equal(error.code, code)
          assert.match(error.message, message)
          assert.match(error.message, /\(acme\.yaml:\d+:\d+\)$/)
          return true
        },
      )
      assert.equal(receipt.classifiers(), before)
    })

  it('the line is that of the member', () => {
    const text = ACME.replace('once: true', 'onec: true')
    assert.throws(() => registerText(text, 'f'), {
      message: new RegExp(`\\(f:${line('once: true')}:\\d+\\)$`),
    })
  })

  it('a verb that another classifier declares is refused: it would bind as that one does', () => {
    const text = ACME.replace(
      'resource_type: acme_member',
      'resource_type: acme_member\n    category: other',
    )
    registerText(ACME, 'a')
    assert.throws(() => registerText(text, 'b'), {
      message: /no other classifier of acme_member declares/,
    })
  })

  const TAKEN: [what: string, change: [string, string][], message: RegExp][] = [
    [
      'the category of a shipped class',
      [
        [
          'resource_type: acme_member',
          'resource_type: acme_member\n    category: github_deploy_key',
        ],
      ],
      /category that no shipped .* github_deploy_key of github/,
    ],
    [
      'the provider and resource_type of a shipped class',
      [
        ['provider: acme\nservers', 'provider: github\nservers'],
        ['resource_type: acme_member', 'resource_type: github_deploy_key\n    category: mine'],
      ],
      /class that no shipped .* github_deploy_key of github \(github_deploy_key\)/,
    ],
    [
      'a tool of a shipped class of the same provider',
      [
        ['provider: acme\nservers', 'provider: github\nservers'],
        ['add_member: add,', 'add_deploy_key: add,'],
      ],
      /tool that no shipped .* add_deploy_key of github_deploy_key \(github\)/,
    ],
    [
      'a tool of a shipped class behind the name of its server',
      [
        ['provider: acme\nservers', 'provider: github\nservers'],
        ['add_member: add,', 'github_add_deploy_key: add,'],
      ],
      /github_add_deploy_key of github_deploy_key/,
    ],
    [
      'a tool of a shipped class on servers of the same name',
      [
        ['servers: [acme]', 'servers: [github]'],
        ['add_member: add,', 'add_deploy_key: add,'],
      ],
      /add_deploy_key of github_deploy_key/,
    ],
    [
      'a read of a shipped class',
      [
        ['servers: [acme]', 'servers: [acme, github]'],
        ['reads: [whoami]', 'reads: [list_deploy_keys]'],
      ],
      /tool that no shipped .* list_deploy_keys of github_deploy_key/,
    ],
    [
      'the name of a shipped importer',
      [['  - name: acme', '  - name: github']],
      /name that no shipped importer has, got github/,
    ],
  ]
  for (const [what, changes, message] of TAKEN)
    it(`${what} is refused with its place, and nothing is registered`, () => {
      let text = ACME
      for (const [from, to] of changes) {
        assert.ok(text.includes(from), from)
        text = text.replace(from, to)
      }
      const before = [receipt.classifiers(), receipt.importers()]
      assert.throws(
        () => registerText(text, 'taken.yaml'),
        (error: { code: string; message: string }) => {
          assert.match(error.code, /^(classifier|importer)_invalid$/)
          assert.match(error.message, message)
          assert.match(error.message, /\(taken\.yaml:\d+:\d+\)$/)
          return true
        },
      )
      const now = [receipt.classifiers(), receipt.importers()]
      assert.ok(now.every((list, i) => list === before[i]))
    })

  it('a new class and a new tool of a shipped provider are added', () => {
    const text = ACME.replace('provider: acme\nservers: [acme]', 'provider: okta')
      .replaceAll('acme', 'okta_own')
      .replace('add_member', 'okta_own_add')
      .replace('remove_member', 'okta_own_remove')
      .replaceAll('list_members', 'okta_own_list')
    assert.ok(registerText(text, 'f').classifiers.includes('okta_own_member'))
  })

  it('an empty file and a list are refused', () => {
    assert.throws(() => registerText('', 'f'), { code: 'classifier_invalid' })
    assert.throws(() => registerText('- 1', 'f'), { code: 'classifier_invalid' })
  })
})

describe('the JSON Schema for editors', () => {
  it('is the JSON Schema that stands in fixtures', () => {
    const path = join(root, 'fixtures/schemas/classifiers.json')
    const made = `${JSON.stringify(definitionsJsonSchema(), null, 2)}\n`
    if (process.env['WRITE_SCHEMAS'] === '1') writeFileSync(path, made)
    assert.equal(readFileSync(path, 'utf8'), made, 'npm run schemas writes it anew')
  })

  it('accepts every file that ships, and the one that the documentation shows', () => {
    const validate = new Ajv2020({ strict: false }).compile(definitionsJsonSchema())
    const shipped = globSync('lib/receipt/surface/servers/*.json', { cwd: root })
    for (const path of shipped)
      assert.ok(
        validate(JSON.parse(readFileSync(join(root, path), 'utf8'))),
        `${path} ${JSON.stringify(validate.errors)}`,
      )
    assert.ok(validate(documentsOf(ACME, 'x')[0]?.value))
    assert.ok(!validate({ schema: 'touchstone.classifiers.v1' }))
  })
})

describe('a draft', () => {
  const lists = globSync('fixtures/servers/*.json', { cwd: root }).map((path) => {
    const { tools } = JSON.parse(readFileSync(join(root, path), 'utf8'))
    return {
      path,
      tools: tools.map(
        (tool: {
          name: string
          readOnlyHint?: boolean
          required: string[]
          parameters: { [name: string]: string | string[] }
        }) => ({
          name: tool.name,
          ...(tool.readOnlyHint !== undefined && {
            annotations: { readOnlyHint: tool.readOnlyHint },
          }),
          inputSchema: {
            type: 'object',
            required: tool.required,
            properties: Object.fromEntries(
              Object.entries(tool.parameters).map(([name, type]) => [
                name,
                Array.isArray(type) ? { enum: type } : { type },
              ]),
            ),
          },
        }),
      ) as receipt.ListedTool[],
    }
  })

  it('of every kept tool list is a file that can be registered as it stands, and raises nothing', async () => {
    for (const [i, { path, tools }] of lists.entries()) {
      const name = `zz${i}`
      const draft = await receipt.draft(name, tools)
      assert.equal(
        draft.known.length + draft.effects.length + draft.reads.length,
        tools.length,
        path,
      )
      registerText(draft.text, path)
      for (const tool of tools) {
        const decision = call(tool.name, {}, 0, undefined, name)
        assert.notEqual(decision.classification, 'observed_unknown_tool', `${path} ${tool.name}`)
      }
      const own = receipt.classifiers().filter(({ provider }) => provider === name)
      for (const { effects } of own)
        for (const { shown, recorded } of Object.values(effects)) {
          assert.equal(shown.by, 'nothing')
          assert.ok(!Array.isArray(recorded))
        }
    }
  })

  it('leaves out what is known already', async () => {
    const draft = await receipt.draft('memory', [{ name: 'read_graph' }, { name: 'burn_graph' }])
    assert.deepEqual(
      [draft.known, draft.effects, draft.reads],
      [['read_graph'], ['burn_graph'], []],
    )
  })

  it('names the server that ships with tools of most of these names', async () => {
    const like = async (...names: string[]) =>
      (
        await receipt.draft(
          'disk',
          names.map((name) => ({ name })),
        )
      ).like
    assert.equal(await like('write_file', 'edit_file', 'list_allowed_directories'), 'filesystem')
    assert.equal(await like('write_file', 'paint_file'), null)
    assert.equal(await like('write_file', 'edit_file', 'paint_file'), 'filesystem')
    // Several servers have one, and which is meant cannot be told.
    assert.equal(await like('create_issue'), null)
    assert.equal((await receipt.draft('filesystem', [{ name: 'write_file' }])).like, null)
  })

  it('never names a secret as a target', async () => {
    const inputSchema = {
      properties: {
        token: { type: 'string' },
        user_id: { type: 'string' },
        note: { type: 'string' },
      },
      required: ['token', 'user_id'],
    }
    const { text } = await receipt.draft('acme2', [{ name: 'make_user', inputSchema }])
    assert.ok(!text.includes('token'))
    assert.ok(text.includes('user_id_hash'))
  })
})

describe('touchstone classify', () => {
  const run = promisify(execFile)
  const touchstone = (...args: string[]) =>
    run(join(root, 'node_modules/.bin/node'), [join(root, 'repl.ts'), ...args], { cwd: root }).then(
      ({ stdout, stderr }) => ({ stdout, stderr, code: 0 }),
      (error: { stdout: string; stderr: string; code: number }) => error,
    )

  it('lists the tools of a running server and writes a draft that keeps a file that is there', async () => {
    const out = join(folder, 'draft.yaml')
    const args = ['classify', '--stdio', '--name', 'graph', '--out', out, '--', 'mcp-server-memory']
    const first = await touchstone(...args)
    assert.equal(first.code, 0, first.stderr)
    assert.match(first.stderr, /9 tools of graph: 0 known already, 6 effects and 3 reads drafted/)
    // Under the name of the server that it is, each of them is known.
    assert.match(
      first.stderr,
      /memory, which ships, has tools .*if graph is that server.*--name memory/,
    )
    assert.ok(existsSync(out))
    const second = await touchstone(...args)
    assert.equal(second.code, 2)
    assert.match(second.stderr, /file_exists/)
    const { stderr, code } = await touchstone('audit', 'import', 'acme', out, '--classifiers', out)
    assert.equal(code, 2)
    assert.match(stderr, /expected one of github/)
  })

  it('--classifiers adds a log to audit import, and names a mistake with its place', async () => {
    const log = join(folder, 'log.json')
    writeFileSync(log, JSON.stringify([entry]))
    const good = await touchstone('audit', 'import', 'acme', log, '--classifiers', acme)
    assert.equal(good.code, 0, good.stderr)
    assert.match(good.stdout, /1 entry in .*: 1 record/)
    const bad = join(folder, 'bad.yaml')
    writeFileSync(bad, ACME.replace('once: true', 'onec: true'))
    const { stderr, code } = await touchstone('audit', 'import', 'acme', log, '--classifiers', bad)
    assert.equal(code, 2)
    assert.match(stderr, /bad\.yaml:\d+:\d+/)
  })
})
