/** The notebooks that ship: each runs offline to its end, and shows what its committed output shows, byte for byte. */
import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { basename } from 'node:path'
import { after, describe, test } from 'node:test'
import { notebook } from '../lib/index.ts'
import { temporaryFolder } from './temporary.ts'

const files = readdirSync('notebooks').filter((name) => name.endsWith('.ts'))
const out = new Map(
  readdirSync('notebooks/out').map((name) => [name, readFileSync(`notebooks/out/${name}`, 'utf8')]),
)
const written = new Set<string>()

// What runs leave among the temporary files goes with the test. And no notebook may need a key.
const outside = { TMPDIR: process.env['TMPDIR'], GROQ_API_KEY: process.env['GROQ_API_KEY'] }
const folder = temporaryFolder('notebooks')
process.env['TMPDIR'] = folder
delete process.env['GROQ_API_KEY']
after(() => {
  for (const [name, value] of Object.entries(outside)) {
    if (value === undefined) delete process.env[name]
    else process.env[name] = value
  }
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
  }

  test('no output is left over from an earlier notebook or chart', () => {
    assert.deepEqual([...out.keys()].sort(), [...written].sort())
  })
})
