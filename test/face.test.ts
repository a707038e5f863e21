/** The faces of the package: importing one does no work, and a bundle holds what is used and nothing else. */
import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { readdirSync, readFileSync, symlinkSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { describe, it } from 'node:test'
import { build } from 'esbuild'
import { temporaryFolder } from './temporary.ts'

const root = resolve(import.meta.dirname, '..')
const made = temporaryFolder('face')
symlinkSync(join(root, 'node_modules'), join(made, 'node_modules'))

const { exports: faces } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
  exports: { [face: string]: { default: string } | string }
}

/** A program bundled as a user would: our sources inside, packages outside. Returns what it prints, and its inputs. */
async function bundled(name: string, source: string) {
  const outfile = join(made, `${name}.mjs`)
  const { metafile } = await build({
    stdin: { contents: source, resolveDir: root, loader: 'ts' },
    outfile,
    bundle: true,
    platform: 'node',
    format: 'esm',
    packages: 'external',
    metafile: true,
    alias: Object.fromEntries(
      Object.entries(faces)
        .sort(([a], [b]) => b.length - a.length)
        .flatMap(([face, to]) =>
          typeof to === 'string' ? [] : [[`touchstone${face.slice(1)}`, join(root, to.default)]],
        ),
    ),
  })
  const text = execFileSync(process.execPath, [outfile], { cwd: made, encoding: 'utf8' })
  const rooms = Object.entries(Object.values(metafile.outputs)[0]?.inputs ?? {})
    // A barrel that something else loads later leaves an empty function.
    .filter(([, { bytesInOutput }]) => bytesInOutput > 100)
    .map(([path]) => path)
    .filter((path) => path !== '<stdin>')
  return { text: text.trim(), rooms }
}

describe('faces', () => {
  const wilson = JSON.stringify({ low: 0.23072, high: 0.88238 })
  const use = (from: string, name: string) =>
    `import { ${name.split('.')[0]} } from '${from}'
     const { low, high } = ${name}(3, 5)
     console.log(JSON.stringify({ low: Number(low.toFixed(5)), high: Number(high.toFixed(5)) }))`

  it('stats.wilson alone, bundled, is statistics alone and runs where no scenarios are', async () => {
    const { text, rooms } = await bundled('all', use('touchstone', 'stats.wilson'))
    assert.equal(text, wilson)
    assert.deepEqual(
      rooms.filter(
        (path) => !/^lib\/(stats\/|(arguments|choice|rounding|errors|index)\.ts)/.test(path),
      ),
      [],
    )
  })

  it('touchstone/stats gives the same', async () => {
    assert.equal((await bundled('stats', use('touchstone/stats', 'wilson'))).text, wilson)
  })

  it('the whole face can be imported where no file of the package lies beside it', async () => {
    const source = `import * as face from 'touchstone'
      globalThis.kept = face
      console.log(Object.keys(face).length > 0)`
    assert.equal((await bundled('whole', source)).text, 'true')
  })

  it('each face is the index of its room, and lib/index.ts has it under the same name', async () => {
    const whole: { [name: string]: unknown } = await import('../lib/index.ts')
    for (const [face, to] of Object.entries(faces)) {
      if (typeof to === 'string' || face === '.') continue
      const room = face.slice(2)
      assert.equal(to.default, `./lib/${room}/index.ts`)
      assert.equal(await import(`../lib/${room}/index.ts`), whole[room])
    }
  })
})

describe('an older Node', () => {
  it('is told which one is needed when it imports the package', () => {
    const old =
      "Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '22.18.0' } })"
    const told = spawnSync(
      process.execPath,
      [
        ...['--import', `data:text/javascript,${encodeURIComponent(old)}`],
        ...['--input-type=module', '-e', `import ${JSON.stringify(join(root, 'lib/index.ts'))}`],
      ],
      { encoding: 'utf8' },
    )
    assert.match(told.stderr, /expected Node 22\.19 or later, got 22\.18\.0: npm i -D node@24/)
    assert.equal(told.status, 1)
  })

  // A name that Node does not export ends the import before a line of ours has run.
  it('lacks nothing that is imported by name', () => {
    const newer = /\b(?:registerHooks|stripTypeScriptTypes|enableCompileCache|\w*[Zz]std\w*)\b/
    const named = readdirSync(join(root, 'lib'), { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.ts'))
      .filter((file) =>
        [
          ...readFileSync(join(root, 'lib', file), 'utf8').matchAll(
            /^import \{([^}]*)\} from 'node:/gm,
          ),
        ].some(([, names = '']) => newer.test(names)),
      )
    assert.deepEqual(named, [])
  })
})
