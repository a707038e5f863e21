/** Who may import whom: the layers of `lib/`, held as data. */
import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { basename, dirname, join, relative, resolve, sep } from 'node:path'
import { describe, it } from 'node:test'

const root = resolve(import.meta.dirname, '..')

/** Layers by room, read from the table in ARCHITECTURE.md. A file imports only from lower layers or its own room. */
const LAYERS: ReadonlyMap<string, number> = new Map(
  [
    ...readFileSync(join(root, 'ARCHITECTURE.md'), 'utf8').matchAll(
      /^\| `([a-z./-]+?)\/?` \| (\d+) \|/gm,
    ),
  ].map(([, room, layer]) => [room as string, Number(layer)]),
)

/** Packages that take long to load: nothing that `lib/index.ts` or the prompt reaches at once may import them. */
const HEAVY = [
  'ai',
  'marked',
  'highlight.js',
  'eslint-scope',
  'zod',
  'yaml',
  'vega',
  'vega-lite',
  'vega-embed',
  '@resvg/resvg-js',
  'undici',
  're2js',
  '@modelcontextprotocol/client',
  '@modelcontextprotocol/sdk',
  '@modelcontextprotocol/server',
  '@ai-sdk/groq',
  '@ai-sdk/openai-compatible',
  'zeromq',
  '@duckdb/node-api',
]

/** File names that stand in several folders, and what each means in all of them. */
const SHARED: ReadonlyMap<string, string> = new Map(
  Object.entries({
    'the face of a folder': 'index',
    'a provider: its world, its export, its classifier': 'github kubernetes slack stripe workspace',
    'a verb: what it does, and its words on the command line':
      'agreement compare execute history list open prompt run search serve show sweep verify worker write',
    'reading it from files': 'read',
    'what the name says, counted and drawn': 'coverage levels reliability rows',
    'what the name says, made and shown':
      'cases evidence kinds markdown reasons report result trial',
    'trials of a run, from its records': 'run-trials',
    'of one’s own': 'own',
    'a program with its arguments': 'command',
    money: 'cost',
    'files and folders': 'files folder',
    'lines of a log': 'records',
    'what an agent says it did': 'claims',
    'who runs a trial': 'executor',
    'what a signature is over': 'statement',
  }).flatMap(([meaning, names]) => names.split(' ').map((name) => [`${name}.ts`, meaning])),
)

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

/** The room of a file: itself, its folder, or the folder's subfolder, whichever the table names. */
function roomOf(path: string): string {
  const parts = relative(join(root, 'lib'), path).split(sep)
  const rooms = parts.map((_, index) => parts.slice(0, index + 1).join('/'))
  return rooms.findLast((room) => LAYERS.has(room)) ?? parts.slice(0, -1).join('/')
}

const files = globSync('lib/**/*.ts', { cwd: root }).map((path) => join(root, path))

describe('layers of lib/', () => {
  it('every room of lib/ stands in the table of ARCHITECTURE.md, and every row is a room', () => {
    for (const file of files)
      assert.ok(
        LAYERS.has(roomOf(file)),
        `${relative(root, file)} is in no room of ARCHITECTURE.md`,
      )
    const rooms = new Set(files.map(roomOf))
    assert.deepEqual(
      [...LAYERS.keys()].filter((room) => !rooms.has(room)),
      [],
    )
  })

  it('a file imports only from lower layers or its own room, types too', () => {
    const upward: string[] = []
    for (const file of files) {
      for (const { to, line } of importsOf(file)) {
        if (!to.startsWith('.')) continue
        const [from, target] = [roomOf(file), roomOf(resolve(dirname(file), to))]
        if (from !== target && (LAYERS.get(target) ?? Infinity) >= (LAYERS.get(from) ?? -1)) {
          upward.push(`${relative(root, file)}:${line} imports ${to}`)
        }
      }
    }
    assert.deepEqual(upward, [])
  })

  it('no file needs itself by way of others, but for types', () => {
    const needs = new Map(
      files.map((file) => [
        file,
        importsOf(file).flatMap(({ to, typeOnly, lazy }) =>
          typeOnly || lazy || !to.startsWith('.') ? [] : [resolve(dirname(file), to)],
        ),
      ]),
    )
    const reached = (from: string) => {
      const seen = new Set<string>()
      const open = [...(needs.get(from) ?? [])]
      for (let next = open.pop(); next !== undefined; next = open.pop()) {
        if (seen.has(next)) continue
        seen.add(next)
        open.push(...(needs.get(next) ?? []))
      }
      return seen
    }
    const circular = files.filter((file) => reached(file).has(file))
    assert.deepEqual(
      circular.map((file) => relative(root, file)),
      [],
    )
  })

  const linesOf = (path: string) => readFileSync(path, 'utf8').split('\n').length - 1

  it('no room holds more than 3,500 lines, comments among them', () => {
    const lines = new Map<string, number>()
    for (const file of files)
      lines.set(roomOf(file), (lines.get(roomOf(file)) ?? 0) + linesOf(file))
    assert.deepEqual(
      [...lines].filter(([, count]) => count > 3500),
      [],
    )
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
        assert.ok(to === 'touchstone' || to.startsWith('node:'), `${path}:${line} imports ${to}`)
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

  it('no file holds more than 400 lines, comments among them', () => {
    const long = files.filter((path) => linesOf(path) > 400)
    assert.deepEqual(
      long.map((path) => relative(root, path)),
      [],
    )
  })

  it('a file name stands in several folders only with one meaning, which is written down', () => {
    const places = new Map<string, string[]>()
    for (const file of files)
      places.set(basename(file), [...(places.get(basename(file)) ?? []), relative(root, file)])
    const several = [...places].filter(([, paths]) => paths.length > 1)
    const unsaid = several.filter(([name]) => !SHARED.has(name))
    assert.deepEqual(
      unsaid.map(([name, paths]) => `${name}: ${paths.join(', ')}`),
      [],
      'give one of them a name that says what it holds, or add the one meaning to SHARED',
    )
    const alone = [...SHARED.keys()].filter((name) => (places.get(name)?.length ?? 0) < 2)
    assert.deepEqual(alone, [], 'SHARED holds a name that stands once')
  })

  it('no comment is wider than 100 columns, unless it is an address or an example', () => {
    const wide = files.flatMap((path) => {
      let example = false
      return readFileSync(path, 'utf8')
        .split('\n')
        .flatMap((line, i) => {
          if (/^\s*\* @example/.test(line)) example = true
          else if (/^\s*(\* @|\*\/)/.test(line)) example = false
          const comment = /^\s*(\/\/|\/\*|\*)/.test(line)
          const free = example || /https?:\/\/|biome-ignore/.test(line)
          return comment && !free && line.length > 100 ? [`${relative(root, path)}:${i + 1}`] : []
        })
    })
    assert.deepEqual(wide, [])
  })

  it('a test takes fast-check from test/property.ts, which holds the seed and the number of cases', () => {
    const straight = globSync('test/**/*.ts', { cwd: root }).filter(
      (path) =>
        path !== join('test', 'property.ts') &&
        /^import (?!type).*'fast-check'/m.test(readFileSync(join(root, path), 'utf8')),
    )
    assert.deepEqual(straight, [])
  })
})
