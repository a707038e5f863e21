/** The notebooks that ship: each runs offline to its end, and shows what its committed output shows, byte for byte. */
import assert from 'node:assert/strict'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { homedir, tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { after, describe, test } from 'node:test'
import { notebook } from '../lib/index.ts'

const files = readdirSync('notebooks').filter((name) => name.endsWith('.ts'))
const out = new Map(
  readdirSync('notebooks/out').map((name) => [name, readFileSync(`notebooks/out/${name}`, 'utf8')]),
)
const readme = readFileSync('notebooks/README.md', 'utf8')
const written = new Set<string>()

// What runs leave among the temporary files goes with the test. And no notebook may need a key.
const outside = { TMPDIR: process.env['TMPDIR'], GROQ_API_KEY: process.env['GROQ_API_KEY'] }
const folder = mkdtempSync(join(tmpdir(), 'touchstone-notebooks-'))
process.env['TMPDIR'] = folder
delete process.env['GROQ_API_KEY']
after(() => {
  for (const [name, value] of Object.entries(outside)) {
    if (value === undefined) delete process.env[name]
    else process.env[name] = value
  }
  rmSync(folder, { recursive: true })
})

describe('each notebook that ships', () => {
  for (const file of files) {
    const name = basename(file, '.ts')
    test(`${name} runs, and its committed output is not stale`, async () => {
      const result = await notebook.run(`notebooks/${file}`)
      const failed = result.cells
        .flatMap((cell) => cell.outputs)
        .find((output) => output.kind === 'error')
      assert.ok(result.ok, failed && `${failed.name}: ${failed.message} (line ${failed.line})`)
      for (const [path, text] of notebook.markdown(result, name).files) {
        written.add(path)
        assert.equal(out.get(path), text, `notebooks/out/${path} is stale: npm run notebooks`)
      }
    })

    test(`${name} asks one question, imports the public face alone, and ends by asserting its answer`, () => {
      const text = readFileSync(`notebooks/${file}`, 'utf8')
      const cells = notebook.parse(text)
      const code = cells.filter((cell) => cell.kind === 'code')
      assert.match(cells[0]?.source ?? '', /^# .+\?/)
      for (const [, from] of text.matchAll(/^import .* from '(.+)'$/gm))
        assert.match(from as string, /^(node:|touchstone$)/)
      assert.match(code.at(-1)?.source ?? '', /\bassert\./)
      assert.match(text, /does not|does \*\*not\*\*/i)
      assert.ok(
        readme.includes(`(${file})`) && readme.includes(`(out/${name}.md)`),
        `${file} is not in notebooks/README.md`,
      )
    })
  }

  test('no output is left over from an earlier notebook or chart', () => {
    assert.deepEqual([...out.keys()].sort(), [...written].sort())
  })

  test('no output holds a path of this machine, a port, or the time it was made', () => {
    for (const [path, text] of out) {
      for (const own of [process.cwd(), homedir(), tmpdir()])
        assert.ok(own === '/' || !text.includes(own), `${own} in ${path}`)
      assert.doesNotMatch(text, /127\.0\.0\.1:\d|\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d/, path)
    }
  })
})
