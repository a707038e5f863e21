/** The project's documents name files, commands and examples that are there. */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, it } from 'node:test'
import { promisify } from 'node:util'

const root = join(import.meta.dirname, '..')
const read = (path: string) => readFileSync(join(root, path), 'utf8')
const DOCUMENTS = [
  'README.md',
  'ARCHITECTURE.md',
  'CONTRIBUTING.md',
  'SECURITY.md',
  ...globSync(['docs/*.md', '{cases,examples,notebooks,lib/**,test/bench}/README.md'], {
    cwd: root,
  }),
]

describe('documents', () => {
  it('name paths that are there, placeholders for names apart', () => {
    const missing = DOCUMENTS.flatMap((document) => {
      const text = read(document)
      const named = [
        ...text.matchAll(/`((?:lib|test|fixtures|cases|scenarios|examples|notebooks)\/[^`\s]*)`/g),
      ].map(([, path]) => path as string)
      const linked = [...text.matchAll(/\]\((?!https?:|#|mailto:)([^)#\s]+)[^)]*\)/g)].map(
        ([, path]) => join(dirname(document), path as string),
      )
      return [...named, ...linked]
        .filter((path) => !/[<*{]/.test(path) && !path.startsWith('cases/lying_success.'))
        .filter((path) => !existsSync(join(root, path)))
        .map((path) => `${document}: ${path}`)
    })
    assert.deepEqual(missing, [])
  })

  it('name things in files that hold them', () => {
    const named = DOCUMENTS.flatMap((document) =>
      [...read(document).matchAll(/`(\w+)` in\s+`((?:lib|test)\/[^`\s<]+)`/g)].map(
        ([, name = '', path = '']) => ({ document, name, path }),
      ),
    )
    assert.ok(named.length > 2)
    assert.deepEqual(
      named.filter(({ name, path }) => !new RegExp(`\\b${name}\\b`).test(read(path))),
      [],
    )
  })

  it('list each change once in CHANGELOG.md, as sentences under a heading', () => {
    const [head = '', ...sections] = read('CHANGELOG.md').split(/^### .*\n/m)
    assert.ok(sections.length > 5)
    assert.doesNotMatch(head, /^- /m)
    const entries = sections.flatMap((section) => section.split(/^- /m).slice(1))
    assert.deepEqual(
      entries.filter((entry) => !/[.”)]\s*$/.test(entry)),
      [],
    )
    assert.deepEqual(
      entries.filter((entry, i) => entries.indexOf(entry) !== i),
      [],
    )
  })

  it('name scripts that package.json has', () => {
    const { scripts } = JSON.parse(read('package.json')) as { scripts: { [name: string]: string } }
    const missing = DOCUMENTS.flatMap((document) =>
      [...read(document).matchAll(/`npm run (?:-s )?([\w:]+)/g)]
        .filter(([, name]) => !Object.hasOwn(scripts, name as string))
        .map(([text]) => `${document}: ${text}`),
    )
    assert.deepEqual(missing, [])
  })

  it('say how to add one to each registry', () => {
    const things =
      'case fault world importer classifier pattern statistic chart model reporter verb'.split(' ')
    const text = read('CONTRIBUTING.md')
    assert.deepEqual(
      things.filter((thing) => !new RegExp(`^### an? ${thing}$`, 'm').test(text)),
      [],
    )
  })
})

describe('examples', () => {
  const files = globSync('examples/*.ts', { cwd: root }).sort()

  it('are at least five, and each is in the table of examples/README.md', () => {
    assert.ok(files.length >= 5)
    const table = read('examples/README.md')
    assert.deepEqual(
      files.filter((path) => !table.includes(`](${path.slice('examples/'.length)})`)),
      [],
    )
  })

  for (const path of files) {
    const source = read(path)
    const at = source.indexOf('\n// Prints:\n')
    it(`${path} prints what stands at its end`, { timeout: 60_000 }, async () => {
      assert.ok(at > 0, `expected "// Prints:" and the lines at the end of ${path}`)
      const imports = [...source.matchAll(/from '([^']+)'/g)].map(([, from]) => from as string)
      assert.deepEqual(
        imports.filter((from) => from.startsWith('.')),
        [],
        'an example imports the public face, as a user would',
      )
      const expected = source.slice(at + '\n// Prints:\n'.length).replace(/^\/\/ ?/gm, '')
      const { stdout } = await promisify(execFile)(process.execPath, [join(root, path)], {
        cwd: root,
        env: { ...process.env, NO_COLOR: '1', GROQ_API_KEY: '' },
      })
      assert.equal(stdout, expected)
    })
  }
})
