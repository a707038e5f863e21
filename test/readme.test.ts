/** The README tells the truth: code that is followed by its output is run, and the output is compared. */
import assert from 'node:assert/strict'
import { existsSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { after, describe, it } from 'node:test'
import { inspect } from 'node:util'
import { createEvaluator } from '../lib/code/evaluate.ts'
import * as touchstone from '../lib/index.ts'
import { temporaryFolder } from './temporary.ts'

const root = resolve(import.meta.dirname, '..')
const path = join(root, 'README.md')
const readme = readFileSync(path, 'utf8')
/** `npm run readme` writes the outputs instead of comparing them. */
const update = process.env['WRITE_README'] === '1'

describe('README.md', () => {
  const made = temporaryFolder('readme')
  const before = process.cwd()
  after(() => {
    process.chdir(before)
  })

  const blocks = [...readme.matchAll(/```ts\n((?:(?!```)[\s\S])*)```\n\n```text\n([\s\S]*?)```/g)]

  it('holds at least one example with its output', () => assert.ok(blocks.length >= 1))

  for (const [, code = '', shown = ''] of blocks) {
    it(`prints what it says: ${code.trim().split('\n').at(-1)}`, async () => {
      for (const name of ['cases', 'node_modules']) symlinkSync(join(root, name), join(made, name))
      process.chdir(made)
      const evaluator = createEvaluator({ scope: {}, cwd: root })
      // What is imported from the package is this checkout.
      const here = code.replaceAll(
        "from 'touchstone'",
        `from '${new URL('../lib/index.ts', import.meta.url)}'`,
      )
      const { value } = await evaluator.evaluate(here, { filename: 'README.md' })
      const printed = `${inspect(value)}\n`
      if (update)
        writeFileSync(
          path,
          readFileSync(path, 'utf8').replace(
            `${code}\`\`\`\n\n\`\`\`text\n${shown}\`\`\``,
            `${code}\`\`\`\n\n\`\`\`text\n${printed}\`\`\``,
          ),
        )
      else assert.equal(printed, shown, 'expected what it prints now: npm run readme writes it')
    })
  }

  it('every folder and file that it names is there', () => {
    for (const [, name = ''] of readme.matchAll(
      /`((?:lib|cases|scenarios|fixtures|notebooks|test)\/[\w./-]*)`/g,
    )) {
      if (!name.includes('<')) assert.ok(existsSync(join(root, name)), name)
    }
    for (const [, link = ''] of readme.matchAll(/\]\(([^)#:]+)\)/g))
      assert.ok(existsSync(join(root, link)), link)
  })

  it('the names in its examples are exported', () => {
    for (const [, names = ''] of readme.matchAll(/import \{ ([^}]+) \} from 'touchstone'/g)) {
      for (const name of names.split(', ')) assert.ok(name in touchstone, name)
    }
  })
})
