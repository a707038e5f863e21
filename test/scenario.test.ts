/** Published scenario sets: what is frozen stays frozen, and an altered text is called altered. */
import assert from 'node:assert/strict'
import { appendFileSync, cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, test } from 'node:test'
import { canonical, digest } from '../lib/canonical.ts'
import * as scenarios from '../lib/scenario/index.ts'
import { temporaryFolder } from './temporary.ts'

const DIGEST = 'sha256:f2e2177539d98ab70a47eeb50cab1357302cda4b1687e91aa28110c9a799dbfb'
const folder = temporaryFolder('sets')
let root = ''
let n = 0
beforeEach(() => {
  root = join(folder, String(n++))
  cpSync(scenarios.SHIPPED, root, { recursive: true })
})
const set = { id: 'my-set', version: '1.0', released: '2026-01-05', title: 'Mine', tasks: [1, 2] }

test('the published connection set has the published digest', () => {
  const got = scenarios.get('mcp-connection@1.0')
  assert.equal(got.digest, DIGEST)
  assert.equal(digest(`assay-scenarios/v1\n${got.text}`), DIGEST)
  assert.equal(got.title, 'MCP connection test')
  assert.equal(got.released, '2026-09-30')
})

test('every shipped set loads, and is canonical text', () => {
  const listed = scenarios.list()
  assert.ok(listed.some((one) => one.id === 'mcp-connection'))
  for (const one of listed)
    assert.equal(scenarios.get(`${one.id}@${one.version}`).digest, one.digest)
})

for (const name of [
  'nothing@1.0',
  'mcp-connection@9.9',
  'mcp-connection',
  'mcp-connection@1.0@x',
  '',
  '__proto__@1.0',
  '../x@1.0',
]) {
  test(`"${name}" is unknown, and the known ones are named`, () => {
    assert.throws(() => scenarios.get(name), {
      code: 'set_unknown',
      message: /mcp-connection@1\.0/,
    })
  })
}

test('one changed byte: the error names the expected digest and the one it got', () => {
  const path = join(root, 'mcp-connection', '1.0.json')
  const text = readFileSync(path, 'utf8').replace('12000', '12001')
  writeFileSync(path, text)
  const got = scenarios.digestOfSet(text)
  assert.throws(
    () => scenarios.get('mcp-connection@1.0', { root }),
    (error: Error & { code: string }) => {
      return (
        error.code === 'set_altered' &&
        error.message.includes(DIGEST) &&
        error.message.includes(got)
      )
    },
  )
})

test('a line feed at the end is an alteration', () => {
  appendFileSync(join(root, 'mcp-connection', '1.0.json'), '\n')
  assert.throws(() => scenarios.get('mcp-connection@1.0', { root }), { code: 'set_altered' })
})

test('an archive that was changed along with the text does not match the digest that the caller holds', () => {
  const path = join(root, 'mcp-connection', '1.0.json')
  const text = readFileSync(path, 'utf8').replace('12000', '12001')
  writeFileSync(path, text)
  const archive = JSON.parse(readFileSync(join(root, 'archive.json'), 'utf8'))
  archive['mcp-connection']['1.0'] = scenarios.digestOfSet(text)
  writeFileSync(join(root, 'archive.json'), JSON.stringify(archive))
  assert.throws(() => scenarios.get('mcp-connection@1.0', { root, digest: DIGEST }), {
    code: 'set_altered',
  })
})

test('publishing writes RFC 8785 text, enters the archive, and can be read back', () => {
  // Reading defaults to the sets that ship. Writing does not: in an installed package that is somebody else's folder.
  assert.throws(() => scenarios.publish(set, {} as never), { code: 'argument_invalid' })
  const made = scenarios.publish(set, { root })
  assert.equal(readFileSync(join(root, 'my-set', '1.0.json'), 'utf8'), canonical(set))
  assert.deepEqual(scenarios.get('my-set@1.0', { root }), made)
  assert.equal(scenarios.isPublished('my-set@1.0', made.digest, { root }), true)
  assert.equal(scenarios.isPublished('my-set@1.0', DIGEST, { root }), false)
})

test('a version is never overwritten, not even by the same text', () => {
  scenarios.publish(set, { root })
  assert.throws(() => scenarios.publish({ ...set, title: 'Other' }, { root }), {
    code: 'file_exists',
  })
  assert.throws(() => scenarios.publish(set, { root }), { code: 'file_exists' })
  rmSync(join(root, 'my-set'), { recursive: true })
  assert.throws(() => scenarios.publish({ ...set, title: 'Other' }, { root }), {
    code: 'file_exists',
  })
})

test('a new version keeps the old one, and versions sort by number', () => {
  for (const version of ['1.10', '1.2', '1.0']) scenarios.publish({ ...set, version }, { root })
  const versions = scenarios
    .list({ root })
    .filter((one) => one.id === 'my-set')
    .map((one) => one.version)
  assert.deepEqual(versions, ['1.0', '1.2', '1.10'])
})

test('a file that was never published is called that, and can be adopted only as it is', () => {
  const path = join(root, 'my-set', '1.0.json')
  cpSync(join(root, 'mcp-connection'), join(root, 'my-set'), { recursive: true })
  writeFileSync(path, canonical(set))
  assert.throws(() => scenarios.get('my-set@1.0', { root }), { code: 'set_unpublished' })
  assert.throws(() => scenarios.publish({ ...set, title: 'Other' }, { root }), {
    code: 'file_exists',
  })
  assert.equal(
    scenarios.publish(set, { root }).digest,
    scenarios.get('my-set@1.0', { root }).digest,
  )
})

for (const [name, change] of Object.entries({
  'an id in upper case': { id: 'My-Set' },
  'an id that climbs out': { id: '../x' },
  'no id': { id: undefined },
  'a version that is a number': { version: 1 },
  'a version with a leading zero': { version: '01.0' },
  'a date that is none': { released: 'today' },
  'an empty title': { title: ' ' },
})) {
  test(`${name} is no set`, () => {
    const wrong = Object.fromEntries(
      Object.entries({ ...set, ...change }).filter(([, value]) => value !== undefined),
    )
    assert.throws(() => scenarios.publish(wrong, { root }), { code: 'set_invalid' })
  })
}

test('a set that holds what JSON cannot say is not published', () => {
  assert.throws(() => scenarios.publish({ ...set, when: new Date(0) }, { root }), {
    code: 'json_value',
  })
})

test('text that is not canonical is no set file', () => {
  const path = join(folder, 'loose.json')
  writeFileSync(path, JSON.stringify(set, null, 1))
  assert.throws(() => scenarios.load(path), { code: 'set_invalid' })
  writeFileSync(path, canonical(set))
  assert.equal(scenarios.load(path).id, 'my-set')
})

test('a missing archive beside sets is an error, an empty folder is no sets', () => {
  rmSync(join(root, 'archive.json'))
  assert.throws(() => scenarios.list({ root }), { code: 'file_unreadable' })
  assert.deepEqual(scenarios.list({ root: join(folder, 'none') }), [])
})
