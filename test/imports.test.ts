/** Who may import whom: the layers of `lib/`, held as data. */
import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve, sep } from 'node:path'
import { describe, it } from 'node:test'

const root = resolve(import.meta.dirname, '..')

/** A file imports only from lower layers or its own room. */
const LAYERS: { [room: string]: number } = {
  'errors.ts': 0,
  'canonical.ts': 1,
  'display.ts': 1,
  'lock.ts': 1,
  stats: 1,
  'progress.ts': 2,
  'scenario.ts': 2,
  chart: 2,
  log: 3,
  receipt: 4,
  probe: 5,
  world: 5,
  harness: 6,
  notebook: 7,
  repl: 8,
  cli: 9,
  'index.ts': 9,
}

/** Packages that take long to load: nothing that `lib/index.ts` or the prompt reaches at once may import them. */
const HEAVY = [
  'ai',
  'zod',
  'yaml',
  'vega',
  'vega-lite',
  'vega-embed',
  '@resvg/resvg-js',
  'undici',
  're2js',
  '@modelcontextprotocol/sdk',
  '@ai-sdk/groq',
  '@ai-sdk/openai-compatible',
  'zeromq',
]

type Import = { to: string; line: number; typeOnly: boolean; lazy: boolean }

/** The imports of a module, static and dynamic, comments left out. */
function importsOf(path: string): Import[] {
  const text = readFileSync(path, 'utf8').replace(/\/\*[\s\S]*?\*\//g, (comment) =>
    comment.replace(/[^\n]/g, ' '),
  )
  const found: Import[] = []
  const pattern =
    /^[ \t]*(import|export)\b([^'"`;]*?)\bfrom\s*['"]([^'"]+)['"]|^[ \t]*import\s*['"]([^'"]+)['"]|\bimport\(\s*['"]([^'"]+)['"]\s*\)/gm
  for (const match of text.matchAll(pattern)) {
    const clause = match[2] ?? ''
    const names = /\{([\s\S]*)\}/
      .exec(clause)?.[1]
      ?.split(',')
      .map((name) => name.trim())
      .filter(Boolean)
    const typeOnly =
      /^\s*type\b/.test(clause) ||
      (names !== undefined &&
        names.length > 0 &&
        !/^\s*\w+\s*,/.test(clause) &&
        names.every((name) => name.startsWith('type ')))
    const line = text.slice(0, match.index).split('\n').length
    found.push({
      to: (match[3] ?? match[4] ?? match[5]) as string,
      line,
      typeOnly,
      lazy: match[5] !== undefined,
    })
  }
  return found
}

const roomOf = (path: string) => relative(join(root, 'lib'), path).split(sep)[0] as string
const files = globSync('lib/**/*.ts', { cwd: root }).map((path) => join(root, path))

describe('layers of lib/', () => {
  it('every room of lib/ has a layer', () => {
    for (const file of files) assert.ok(roomOf(file) in LAYERS, `${roomOf(file)} has no layer`)
  })

  it('a file imports only from lower layers or its own room, types too', () => {
    const upward: string[] = []
    for (const file of files) {
      for (const { to, line } of importsOf(file)) {
        if (!to.startsWith('.')) continue
        const [from, target] = [roomOf(file), roomOf(resolve(dirname(file), to))]
        if (
          from !== target &&
          (LAYERS[target] ?? Infinity) >= (LAYERS[from] ?? -1) &&
          !(from === 'cli' && target === 'index.ts')
        ) {
          upward.push(`${relative(root, file)}:${line} imports ${to}`)
        }
      }
    }
    assert.deepEqual(upward, [])
  })

  it('an import of a project file names it with its .ts ending, and it is there', () => {
    const wrong: string[] = []
    for (const file of files) {
      for (const { to, line } of importsOf(file)) {
        if (to.startsWith('.') && !globSync(resolve(dirname(file), to)).length)
          wrong.push(`${relative(root, file)}:${line} ${to}`)
      }
    }
    assert.deepEqual(wrong, [])
  })

  for (const entry of ['lib/index.ts', 'lib/cli/main.ts', 'lib/cli/prompt.ts']) {
    it(`${entry} reaches no heavy package before it is used`, () => {
      const seen = new Set<string>()
      const heavy: string[] = []
      const visit = (path: string) => {
        if (seen.has(path)) return
        seen.add(path)
        for (const { to, line, typeOnly, lazy } of importsOf(path)) {
          if (typeOnly || lazy) continue
          if (to.startsWith('.')) visit(resolve(dirname(path), to))
          else if (HEAVY.some((name) => to === name || to.startsWith(`${name}/`)))
            heavy.push(`${relative(root, path)}:${line} imports ${to}`)
        }
      }
      visit(join(root, entry))
      assert.deepEqual(heavy, [])
    })
  }

  it('notebooks import only the public face', () => {
    for (const path of globSync('notebooks/*.ts', { cwd: root })) {
      for (const { to, line } of importsOf(join(root, path))) {
        if (to.startsWith('.')) assert.equal(to, '../lib/index.ts', `${path}:${line}`)
      }
    }
  })

  it('sources hold no `using`, which the oldest Node that the package names does not know', () => {
    const held = [...files, join(root, 'repl.ts')].filter((path) =>
      /^\s*(await )?using \w/m.test(readFileSync(path, 'utf8').replace(/\/\*[\s\S]*?\*\//g, '')),
    )
    assert.deepEqual(
      held.map((path) => relative(root, path)),
      [],
    )
  })

  it('no file is longer than 400 lines, tables of data apart', () => {
    const long = files.filter(
      (path) =>
        !path.endsWith('advances.ts') && readFileSync(path, 'utf8').split('\n').length > 401,
    )
    assert.deepEqual(
      long.map((path) => relative(root, path)),
      [],
    )
  })
})
