/** Publishing when others publish too, when the publisher is killed, and when there is nowhere to publish. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import fs, { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { join, relative, resolve } from 'node:path'
import { beforeEach, test } from 'node:test'
import { canonical } from '../lib/canonical.ts'
import { ownerHere } from '../lib/lock-owner.ts'
import * as scenarios from '../lib/scenario/index.ts'
import { temporaryFolder } from './temporary.ts'

const repo = resolve(import.meta.dirname, '..')
const folder = temporaryFolder('publish')
let root = ''
let n = 0
beforeEach(() => {
  root = join(folder, String(n++))
})
const set = { id: 'my-set', version: '1.0', released: '2026-01-05', title: 'Mine', tasks: [1, 2] }
const names = () => scenarios.list({ root }).map(({ id, version }) => `${id}@${version}`)

/** A process that publishes `id@1.0`, `id@1.1`, ... and says each one. */
function publisher(id: string, count: number) {
  const code = `import * as scenarios from ${JSON.stringify(join(repo, 'lib/scenario/index.ts'))}
    for (let i = 0; i < ${count}; i++) {
      scenarios.publish({ ...${JSON.stringify(set)}, id: '${id}', version: '1.' + i }, { root: ${JSON.stringify(root)} })
      console.log(i)
    }`
  return spawn(process.execPath, ['--input-type=module', '-e', code], {
    cwd: repo,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
}

test('of processes that publish at once each enters all its sets', async () => {
  const all = ['one', 'two', 'three'].map((id) => publisher(id, 12))
  for (const child of all) child.stdout.resume()
  const codes = await Promise.all(all.map(async (child) => (await once(child, 'exit'))[0]))
  assert.deepEqual(codes, [0, 0, 0])
  assert.equal(names().length, 36)
})

test('a publisher that is killed leaves an archive in which everything it announced stands, and others can publish', async () => {
  const child = publisher('killed', 100_000)
  let said = ''
  for await (const chunk of child.stdout) {
    said += String(chunk)
    if (said.split('\n').length > 5) child.kill('SIGKILL')
  }
  const announced = said.split('\n').slice(0, -1)
  const there = names()
  for (const i of announced) assert.ok(there.includes(`killed@1.${i}`), i)
  scenarios.publish(set, { root })
  assert.deepEqual(names(), [...there, 'my-set@1.0'])
})

test('an archive is put in place before the first set, and again with its digest after it', (context) => {
  const rename = fs.renameSync
  const placed: string[] = []
  context.mock.method(fs, 'renameSync', (from: string, to: string) => {
    placed.push(relative(root, to))
    rename(from, to)
  })
  syncBuiltinESMExports()
  try {
    scenarios.publish(set, { root })
    scenarios.publish({ ...set, version: '1.1' }, { root })
  } finally {
    context.mock.restoreAll()
    syncBuiltinESMExports()
  }
  assert.deepEqual(
    placed.filter((path) => path.endsWith('.json')),
    ['archive.json', 'my-set/1.0.json', 'archive.json', 'my-set/1.1.json', 'archive.json'],
  )
})

test('what a killed publisher leaves of a set that it did not enter does not stand in the way of the next', () => {
  mkdirSync(join(root, 'my-set'), { recursive: true })
  writeFileSync(join(root, 'my-set', '1.0.json.4194999.draft'), canonical(set).slice(0, 20))
  writeFileSync(
    join(root, 'archive.json.lock'),
    JSON.stringify({ ...ownerHere('killed'), pid: 4_194_999, started: '1' }),
  )
  assert.deepEqual(names(), [])
  scenarios.publish(set, { root })
  assert.deepEqual(names(), ['my-set@1.0'])
})

test('a set that could not be read again is not published: the archive stays readable', () => {
  assert.throws(() => scenarios.publish({ ...set, size: 1e17 }, { root }), {
    code: 'json_unsafe_number',
  })
  assert.deepEqual(names(), [])
})

test('a day that no calendar has is no date of release', () => {
  for (const released of ['2026-02-30', '2026-13-01', '0000-00-00'])
    assert.throws(() => scenarios.publish({ ...set, released }, { root }), {
      code: 'set_invalid',
      message: new RegExp(`expected a day of the calendar, got "${released}"`),
    })
  scenarios.publish({ ...set, released: '2028-02-29' }, { root })
})

test('a byte order mark is a byte: a set that was given one is altered', () => {
  scenarios.publish(set, { root })
  const path = join(root, 'my-set', '1.0.json')
  writeFileSync(path, `\ufeff${readFileSync(path, 'utf8')}`)
  assert.throws(() => scenarios.get('my-set@1.0', { root }), { code: 'set_altered' })
  assert.throws(() => scenarios.load(path), { code: 'set_invalid' })
})

test('a folder of sets that is a file, or cannot be written, is named', () => {
  writeFileSync(root, 'a file')
  assert.throws(() => scenarios.list({ root }), {
    code: 'file_unreadable',
    message: /expected a folder .*, got a file/,
  })
  assert.throws(() => scenarios.publish(set, { root }), {
    code: 'file_unwritable',
    message: /expected .*, got E/,
  })
  assert.throws(() => scenarios.publish(set, { root: join(root, 'below') }), {
    code: 'file_unwritable',
  })
})

test('what is no list of cases and no set is refused by name', () => {
  for (const what of [[null], [1], [[]]] as unknown as object[])
    assert.throws(() => scenarios.publish(what, { root, id: 'a', version: '1.0' }), {
      code: 'set_invalid',
    })
  for (const what of [undefined, null, {}, { set: null }] as never[])
    assert.throws(() => scenarios.casesOf(what), { code: 'set_invalid' })
})
