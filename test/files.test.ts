/** Files are put in place whole: on a full disk, and by a process that is killed while it writes, the old one stays. */
import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  existsSync,
  lstatSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join, resolve } from 'node:path'
import { describe, it } from 'node:test'
import { makeFolder, replaceFile, writeNew } from '../lib/files.ts'
import { cases, harness, receipt } from '../lib/index.ts'
import { temporaryFolder } from './temporary.ts'

const root = resolve(import.meta.dirname, '..')
const made = temporaryFolder('files')

const filesIn = (dir: string) =>
  Object.fromEntries(
    readdirSync(dir, { recursive: true, withFileTypes: true })
      .filter((one) => one.isFile())
      .map((one) => [one.name, readFileSync(join(one.parentPath, one.name), 'utf8')]),
  )

/** A program whose files may have so many kilobytes: more is refused as on a full disk. */
function limited(kB: number, code: string) {
  const shell = `ulimit -f ${2 * kB}; exec "$0" --import tsx --input-type=module -e "$1"`
  const { stdout, stderr } = spawnSync('sh', ['-c', shell, process.execPath, code], {
    cwd: root,
    encoding: 'utf8',
  })
  assert.equal(stderr, '')
  return stdout.trim().split('\n')
}

describe('a file that is put in place', () => {
  const dir = temporaryFolder('one')
  const path = join(dir, 'file')

  it('is the new one, keeps its mode, and stays behind a link', () => {
    writeFileSync(path, 'old', { mode: 0o600 })
    chmodSync(path, 0o640)
    const link = join(dir, 'link')
    symlinkSync('file', link)
    replaceFile(link, 'new')
    assert.equal(readFileSync(path, 'utf8'), 'new')
    assert.equal(statSync(path).mode & 0o777, 0o640)
    assert.ok(lstatSync(link).isSymbolicLink())
    assert.deepEqual(readdirSync(dir).sort(), ['file', 'link'])
  })

  it('takes the place of a link where the folder may be of others, and leaves alone what the link leads to', () => {
    const [victim, link] = [join(dir, 'victim'), join(dir, 'planted')]
    writeFileSync(victim, 'kept')
    for (const to of ['victim', 'nowhere', '/dev/full', '.']) {
      symlinkSync(to, link)
      replaceFile(link, 'new', { follow: false })
      assert.ok(lstatSync(link).isFile())
      assert.equal(readFileSync(link, 'utf8'), 'new')
      rmSync(link)
    }
    assert.equal(readFileSync(victim, 'utf8'), 'kept')
    rmSync(victim)
  })

  it('is written to as it is where it is no plain file', () => {
    replaceFile('/dev/null', 'x')
    assert.ok(lstatSync('/dev/null').isCharacterDevice())
  })

  it('that is new is never put over another one, and its mode is the one asked for', () => {
    assert.throws(() => writeNew(path, 'x'), { code: 'file_exists' })
    const dangling = join(dir, 'dangling')
    symlinkSync('nowhere', dangling)
    assert.throws(() => writeNew(dangling, 'x'), { code: 'file_exists' })
    writeNew(join(dir, 'secret'), 'x', { mode: 0o600 })
    assert.equal(statSync(join(dir, 'secret')).mode & 0o777, 0o600)
    assert.throws(() => writeNew(join(dir, 'none', 'x'), 'x'), { code: 'file_unwritable' })
    assert.deepEqual(readdirSync(dir).sort(), ['dangling', 'file', 'link', 'secret'])
  })

  it('is whole after the process that writes it was killed in the middle', async () => {
    const big = join(temporaryFolder('killed'), 'big')
    const bytes = 5_000_000
    const code = `import { replaceFile } from './lib/files.ts'
      const texts = ['a', 'b'].map((letter) => letter.repeat(${bytes}))
      for (let i = 0; ; i++) { replaceFile(${JSON.stringify(big)}, texts[i % 2]); process.stdout.write('.') }`
    for (let kill = 0; kill < 3; kill++) {
      const child = spawn(
        process.execPath,
        ['--import', 'tsx', '--input-type=module', '-e', code],
        {
          cwd: root,
          stdio: ['ignore', 'pipe', 'inherit'],
        },
      )
      for (let seen = 0; seen <= kill; seen++) await once(child.stdout, 'data')
      child.kill('SIGKILL')
      await once(child, 'close')
      const text = readFileSync(big, 'utf8')
      assert.equal(text.length, bytes)
      assert.equal(text, text.slice(0, 1).repeat(bytes))
    }
  })
})

describe('on a disk that is full', () => {
  it('a report, a page, a chart and a receipt that were there stay as they are, and the same words write them later', async () => {
    const dir = join(made, 'run')
    const run = await harness
      .run((await cases.load('cases/lying_success')).slice(0, 4))
      .config('naive', { model: 'sim/naive' })
      .config('careful', { model: 'sim/careful' })
      .repeat(3)
      .quiet()
      .out(dir)
    const names = ['report.md', 'report.html', 'levels.svg']
    const victim = join(made, 'victim')
    writeFileSync(victim, 'kept')
    for (const name of names) symlinkSync(victim, join(dir, name))
    await harness.writeReport(run)
    assert.equal(readFileSync(victim, 'utf8'), 'kept')
    for (const name of names) assert.ok(lstatSync(join(dir, name)).isFile(), name)
    await (await run.plot('forest')).save(join(dir, 'own.png'))
    const before = filesIn(dir)
    const said = limited(
      2,
      `import { harness } from './lib/index.ts'
       const run = await harness.open(${JSON.stringify(dir)})
       const chart = await run.plot('forest')
       for (const write of [() => harness.writeReport(run), async () => (await run.page()).save(${JSON.stringify(join(dir, 'report.html'))}, { insideBytes: 0 }), () => chart.save(${JSON.stringify(join(dir, 'own.png'))}), async () => (await run.receipt()).save(run.dir)])
         console.log(await write().then(() => 'written', ({ code, message }) => code + (/EFBIG/.test(message) ? ' EFBIG' : message)))`,
    )
    assert.deepEqual(said, Array(4).fill('file_unwritable EFBIG'))
    assert.deepEqual(filesIn(dir), before)
    const { privateKey, publicKey } = receipt.keys.generate()
    const issued = await run.receipt({ key: privateKey })
    issued.save(dir)
    assert.equal((await receipt.verify(dir, { key: publicKey })).verdict, 'verified')
  })
})

describe('makeFolder', () => {
  it('makes a folder with those above it, and leaves one that is there', () => {
    const root = temporaryFolder('folder')
    const path = join(root, 'a b', 'é\nc', 'd')
    makeFolder(path)
    writeFileSync(join(path, 'kept'), 'kept')
    makeFolder(path)
    assert.equal(readFileSync(join(path, 'kept'), 'utf8'), 'kept')
    assert.throws(() => makeFolder(join(path, 'kept', 'under')), { code: 'EEXIST' })
  })

  // Node's own `recursive` asks again for ever (24.21).
  it('ends where a file system has no room for a folder', {
    skip: !existsSync('/proc/self'),
  }, () => {
    assert.throws(() => makeFolder('/proc/none/of/these'), { code: 'ENOENT' })
  })
})
