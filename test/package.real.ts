/** The published package: packed from a copy of the checkout, unpacked into an empty folder, used from there without a network. */
import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { before, describe, it } from 'node:test'
import { temporaryFolder } from './temporary.ts'

const root = resolve(import.meta.dirname, '..')
const PARTS = [
  '.ci',
  'lib',
  'repl.ts',
  'package.json',
  'tsconfig.json',
  'tsconfig.build.json',
  ...(JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).files as string[]).filter(
    (path) => path !== 'dist' && !path.startsWith('!'),
  ),
]

describe('npm pack', () => {
  const made = temporaryFolder('pack')
  const [checkout, user] = [join(made, 'checkout'), join(made, 'user')]
  const manifest = readFileSync(join(root, 'package.json'), 'utf8')
  const node = (args: string[]) =>
    spawnSync(process.execPath, args, {
      cwd: user,
      encoding: 'utf8',
      env: { ...process.env, GROQ_API_KEY: '' },
    })

  before(() => {
    for (const part of PARTS) cpSync(join(root, part), join(checkout, part), { recursive: true })
    symlinkSync(join(root, 'node_modules'), join(checkout, 'node_modules'))
    const packed = execFileSync('npm', ['pack', '--json', '--loglevel=error'], {
      cwd: checkout,
      encoding: 'utf8',
    })
    const file = readdirSync(checkout).find((name) => name.endsWith('.tgz'))
    assert.ok(file, packed)
    mkdirSync(join(user, 'node_modules', 'touchstone'), { recursive: true })
    execFileSync('tar', [
      'xzf',
      join(checkout, file),
      '-C',
      join(user, 'node_modules', 'touchstone'),
      '--strip-components=1',
    ])
    // What npm would install beside it: its dependencies, and nothing that only the checkout has.
    const { dependencies } = JSON.parse(manifest) as { dependencies: Record<string, string> }
    for (const name of Object.keys(dependencies)) {
      mkdirSync(dirname(join(user, 'node_modules', name)), { recursive: true })
      symlinkSync(join(root, 'node_modules', name), join(user, 'node_modules', name))
    }
  })

  it('packing leaves the package.json of the checkout as it was', () => {
    assert.equal(readFileSync(join(checkout, 'package.json'), 'utf8'), manifest)
  })

  it('the package holds compiled JavaScript, declarations, cases, sets and fonts, and no TypeScript source', () => {
    const at = join(user, 'node_modules', 'touchstone')
    for (const path of [
      'dist/repl.js',
      'dist/lib/index.js',
      'dist/lib/index.d.ts',
      'cases/lying_success/deploy-key.yaml',
      'fixtures/schemas/case.json',
      'notebooks/data/github-audit.json',
      'scenarios/mcp-connection/1.0.json',
      'LICENSE',
      'README.md',
    ]) {
      assert.ok(existsSync(join(at, path)), path)
    }
    const sources = readdirSync(join(at, 'dist'), { recursive: true, encoding: 'utf8' }).filter(
      (path) => path.endsWith('.ts') && !path.endsWith('.d.ts'),
    )
    assert.deepEqual(sources, [])
  })

  it('a document of the package links to nothing that the package does not hold', () => {
    const at = join(user, 'node_modules', 'touchstone')
    const documents = readdirSync(at, { recursive: true, encoding: 'utf8' }).filter(
      (path) => path.endsWith('.md') && !path.startsWith('dist'),
    )
    assert.ok(documents.length > 5)
    const missing = documents.flatMap((document) =>
      // What is written as code links to nothing.
      [
        ...readFileSync(join(at, document), 'utf8')
          .replace(/```[\s\S]*?```|`[^`\n]*`/g, '')
          .matchAll(/\]\((?!https?:|#|mailto:)([^)#\s]+)/g),
      ]
        .map(([, path]) => join(dirname(document), path as string))
        .filter((path) => !existsSync(join(at, path)) && !path.startsWith(join('notebooks', 'out')))
        .map((path) => `${document}: ${path}`),
    )
    assert.deepEqual(missing, [])
  })

  it('a case of one’s own is checked by the schema that its first line names, and runs', () => {
    const { status, stderr } = node(['node_modules/touchstone/dist/repl.js', 'init', 'project'])
    assert.equal(status, 0, stderr)
    const file = join(user, 'project', 'touchstone', 'cases', 'refund.yaml')
    const [, schema = ''] = /\$schema=(\S+)/.exec(readFileSync(file, 'utf8')) ?? []
    const shipped = join(user, 'node_modules', 'touchstone', 'fixtures', 'schemas', 'case.json')
    assert.equal(readFileSync(join(dirname(file), schema), 'utf8'), readFileSync(shipped, 'utf8'))
    const ran = node([
      'node_modules/touchstone/dist/repl.js',
      ...['run', 'project/touchstone/cases', '--repeat', '1'],
      ...['--config', 'project/touchstone/configurations.yaml', '--out', 'own-run'],
    ])
    assert.equal(ran.status, 0, ran.stderr)
  })

  it('a notebook of the package runs from where it stands', () => {
    const { status, stderr } = node([
      ...['node_modules/touchstone/dist/repl.js', 'notebook', '--md', '--out', 'pages'],
      'node_modules/touchstone/notebooks/02-did-it-really-happen.ts',
    ])
    assert.equal(status, 0, stderr)
    assert.ok(existsSync(join(user, 'pages', '02-did-it-really-happen.md')))
  })

  it('without zeromq, which nobody gets who does not want the kernel, the kernel says how to get it', () => {
    const { status, stderr } = node(['node_modules/touchstone/dist/repl.js', 'kernel', '--install'])
    assert.equal(status, 2)
    assert.match(stderr, /^dependency_missing: .*npm install zeromq/)
  })

  it('without DuckDB, which nobody gets who does not ask for it, an export says how to get it', () => {
    const repl = 'node_modules/touchstone/dist/repl.js'
    const ran = node([repl, 'run', '--repeat', '1', '--out', 'exported', '-q'])
    assert.equal(ran.status, 0, ran.stderr)
    const { status, stderr } = node([repl, 'export', 'exported', '--parquet', 'trials.parquet'])
    assert.equal(status, 2)
    assert.match(stderr, /^dependency_missing: .*npm install @duckdb\/node-api/)
    assert.ok(!existsSync(join(user, 'trials.parquet')))
  })

  it('import { harness, receipt } works, runs a case and derives its levels', () => {
    writeFileSync(
      join(user, 'use.mjs'),
      `import { cases, harness, receipt, scenarios } from 'touchstone'
       const all = await cases.load()
       const run = await harness.run(all.filter(({ id }) => id.startsWith('lying_success/deploy-key'))).config('perfect', { model: 'sim/perfect' }).repeat(2).out('run')
       const { wilson } = await import('touchstone/stats')
       for (const face of ['receipt', 'probe', 'harness', 'chart']) await import('touchstone/' + face)
       const report = receipt.verify(run.decisions)
       const chart = await run.plot('strip')
       await chart.save('strip.png')
       console.log(JSON.stringify({ trials: run.trials.length, complete: run.complete, calls: report.calls.length > 0, set: scenarios.get('mcp-connection@1.0').version, low: wilson(3, 5).low > 0.23 }))`,
    )
    const { status, stdout, stderr } = node(['use.mjs'])
    assert.equal(status, 0, stderr)
    assert.deepEqual(JSON.parse(stdout), {
      trials: 4,
      complete: true,
      calls: true,
      set: '1.0',
      low: true,
    })
    assert.ok(existsSync(join(user, 'strip.png')))
  })

  it('the declarations satisfy a strict compiler that checks libraries too, with the types that come along', () => {
    writeFileSync(
      join(user, 'use.ts'),
      `import { cases, harness, receipt } from 'touchstone'\nexport const one = async (run: harness.Run) => run.transcript('k').calls[0]?.tool\nexport const all: Promise<harness.Case[]> = cases.load()\nconst report: receipt.Report = receipt.verify([])\nexport const server: harness.ServerDescription = harness.server('github')\nexport default report\n`,
    )
    const { status, stdout } = node([
      join(root, 'node_modules', 'typescript', 'bin', 'tsc'),
      '--noEmit',
      '--strict',
      '--target',
      'es2024',
      '--module',
      'nodenext',
      '--types',
      'node',
      'use.ts',
    ])
    assert.equal(status, 0, stdout)
  })

  it('the program runs, and leaves out with a reason the cases whose packages are not there', () => {
    const { status, stdout, stderr } = node([
      'node_modules/touchstone/dist/repl.js',
      'run',
      '--repeat',
      '1',
      '--json',
      '--out',
      'cli-run',
    ])
    assert.equal(status, 0, stderr)
    const run = JSON.parse(stdout) as { manifest: { left_out: { case: string; reason: string }[] } }
    assert.ok(
      run.manifest.left_out.some(
        ({ case: id, reason }) =>
          id === 'real_servers/filesystem' && reason.includes('server-filesystem'),
      ),
    )
  })
})
