/** The notebooks that ship, as they are read: each asks one question. `notebooks.real.ts` runs them. */
import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { homedir, tmpdir } from 'node:os'
import { basename } from 'node:path'
import { describe, test } from 'node:test'
import { notebook } from '../lib/index.ts'

const files = readdirSync('notebooks').filter((name) => name.endsWith('.ts'))
const out = new Map(
  readdirSync('notebooks/out').map((name) => [name, readFileSync(`notebooks/out/${name}`, 'utf8')]),
)
const readme = readFileSync('notebooks/README.md', 'utf8')

describe('each notebook that ships', () => {
  for (const file of files) {
    const name = basename(file, '.ts')
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

  test('no output holds a path of this machine, a port, or the time it was made', () => {
    for (const [path, text] of out) {
      for (const own of [process.cwd(), homedir(), tmpdir()])
        assert.ok(own === '/' || !text.includes(own), `${own} in ${path}`)
      assert.doesNotMatch(text, /127\.0\.0\.1:\d|\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d/, path)
    }
  })
})
