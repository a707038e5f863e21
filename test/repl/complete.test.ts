import assert from 'node:assert/strict'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { cases, chart, harness } from '../../lib/index.ts'
import { complete } from '../../lib/repl/complete.ts'
import { RETURNS } from '../../lib/repl/follow.ts'
import { Shown } from '../../lib/shown.ts'
import { temporaryFolder } from '../temporary.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))

class Kit extends Shown {
  text() {
    return 'kit'
  }
  ran = 0
  cases() {
    this.ran++
    return []
  }
}
const kit = new Kit()
const made = temporaryFolder('complete')
const ran = await harness
  .run((await cases.load('cases/lying_success')).slice(0, 1))
  .config('naive', { model: 'sim/naive' })
  .out(join(made, 'run'))
  .quiet()
let trapped = 0
const trap = {
  get boom() {
    return ++trapped
  },
}
class Own {
  get boom() {
    return ++trapped
  }
}
const count = () => ++trapped
const proxy = new Proxy(
  {},
  {
    get: count,
    has: () => count() > 0,
    ownKeys: () => [String(count())],
    getOwnPropertyDescriptor: () => void count(),
    getPrototypeOf: () => (count() ? null : null),
  },
)
/** What a session may hold that runs something when it is looked at. */
const traps = {
  boundGetter: Object.create({}, { size: { get: count.bind(null), enumerable: true } }),
  onProxy: Object.assign(Object.create(proxy), { act() {} }),
  borrowed: Object.create(
    Object.create(null, { constructor: { value: cases.load }, boom: { get: count } }),
  ),
  shown: new (class Mine extends Kit {
    get boom() {
      return count()
    }
  })(),
  says: Object.assign(() => 1, { [RETURNS]: count }),
  offers: { [Symbol.for('touchstone.completeString')]: () => [String(count())], act() {} },
  posed: Object.create(Object.getPrototypeOf(ran), { configurations: { get: count } }),
  named: Object.defineProperty(() => 1, 'name', { get: count }),
  flags: Object.defineProperty(/a/, 'global', { get: count }),
}
const lazy = Object.defineProperty({}, 'lazy', { enumerable: true, get: count })
const held = [{ town: 'Rome', in: { land: 'IT' } }, { town: 'Oslo' }]
const make = Object.assign(() => new Kit(), { [RETURNS]: Kit.prototype })
const scope = {
  ...{ kit, trap, make, chart, cases, harness, held, proxy, own: new Own(), proxies: [proxy] },
  ...{ ran, map: new Map(), rows: [1], text: 'a', run: (name: string) => name },
}
const at = (text: string) => complete(text, scope, ROOT)

describe('completion', () => {
  const rows: [rule: string, text: string, expected: string[], stub: string][] = [
    ['names of the scope', 'ki', ['kit'], 'ki'],
    ['members of a value', 'kit.ca', ['cases'], 'ca'],
    ['members inside a call', 'run(kit.ca', ['cases'], 'ca'],
    ['members behind an optional read', 'kit?.ca', ['cases'], 'ca'],
    [
      'members of a list behind calls',
      'rows.filter((n) => n > 1).map(String).fla',
      ['flat', 'flatMap'],
      'fla',
    ],
    ['members of a literal', '[1, 2].fla', ['flat', 'flatMap'], 'fla'],
    ['members of a text', '"a".trim().padS', ['padStart'], 'padS'],
    ['members of what a function says it returns', 'make().ca', ['cases'], 'ca'],
    ['members of a new instance', 'new Set().ha', ['has'], 'ha'],
    ['members of what a library function declares', 'chart.strip([], {}).sv', ['svg'], 'sv'],
    ['members behind an await in parentheses', '(await chart.strip([])).sv', ['svg'], 'sv'],
    ['a getter of the library', 'ran.id.padS', ['padStart'], 'padS'],
    ['an element behind one', 'ran.trials[0].outc', ['outcome'], 'outc'],
    ['a getter of the language', 'new Map().size.toFi', [], 'toFi'],
    ['the same on a value', 'map.size.toFi', ['toFixed'], 'toFi'],
    ['nothing behind what only running could tell', 'run("a").', [], ''],
    ['strings that a run offers', "ran.compare('na", ['naive'], 'na'],
    ['files inside quotes', '"lib/err', ['errors.ts'], 'err'],
    ['folders end in a slash', '"li', ['lib/'], 'li'],
    ['members behind an index', 'held[0].to', ['town'], 'to'],
    ['members behind an index that is no literal', 'held[held.length - 1].to', ['town'], 'to'],
    ['members behind a key', 'held[0]["in"].la', ['land'], 'la'],
    ['members behind an optional index', 'held?.[1].to', ['town'], 'to'],
    ['members of an element that a call finds', 'held.find((o) => o.town[0]).to', ['town'], 'to'],
    ['members behind an index of what is filtered', 'held.filter(Boolean)[0].to', ['town'], 'to'],
    ['members of an element by its type', '(await cases.load())[0].sol', ['solution'], 'sol'],
    ['members of one found by its type', '(await cases.load()).find(x).sol', ['solution'], 'sol'],
    ['nothing behind an index of nothing', 'rows[7].', [], ''],
    ['names of an option object', "harness.run([]).config('a', { mo", ['model'], 'mo'],
    [
      'names that it does not have yet',
      "harness.run([]).config('a', { model: `x`, topP: 1, t",
      ['temperature'],
      't',
    ],
    ['names of options written in place', 'harness.history("runs", { me', ['metric'], 'me'],
    ['names of an object in a list', 'chart.strip([{ conf', ['configuration'], 'conf'],
    ['names of the session as a value', 'harness.run([], { x: hel', ['held'], 'hel'],
    ['names of the session in a body', 'held.map((one) => { hel', ['held'], 'hel'],
    ['no option of a function of the session', 'run({ mo', [], 'mo'],
    ['worlds', "harness.server('pay", ['payments'], 'pay'],
    ['tools of a world', "harness.server('github').fault('add_dep", ['add_deploy_key'], 'add_dep'],
    ['faults', "harness.server('github').fault('x', 'lying", ['lying_success'], 'lying'],
    ['models', "harness.run([]).config('a', { model: 'sim/ca", ['sim/careful'], 'sim/ca'],
    ['providers of models', "harness.run([]).config('a', { model: 'gro", ['groq/'], 'gro'],
    ['metrics', "harness.history('runs', { metric: 'over", ['overclaim'], 'over'],
    ['rules of a union', "harness.run([]).until('ver", ['verdict'], 'ver'],
  ]
  for (const [rule, text, expected, stub] of rows) {
    test(rule, async () => assert.deepEqual(await at(text), [expected, stub]))
  }
  test('nothing is run: neither calls, nor getters of the session, nor proxies', async () => {
    await at('kit.cases().')
    for (const text of [
      'trap.boom.',
      'own.boom.',
      'own.boom[0].',
      'proxy.',
      'proxy.a.',
      'proxies[0].',
    ])
      await at(text)
    await at("proxies[0].a('")
    await at('proxies.find(x).a({ ')
    assert.equal(kit.ran, 0)
    assert.equal(trapped, 0)
  })
  const forms = ['.', '().', '.boom.', '.size.', '.flags.', '.act().', '.act().x.', '[0].']
    .concat(["('", "().a('", ".act('", ".compare('", '({ ', '.act({ ', '.configurations['])
    .concat(['.configurations.', '.configurations[0].'])
  for (const name of Object.keys(traps))
    test(`nothing is run by any form of a chain: ${name}`, async () => {
      trapped = 0
      for (const form of forms) await complete(`${name}${form}`, { ...scope, ...traps }, ROOT)
      assert.equal(trapped, 0)
    })
  test('nothing is run by a getter in scope, or one of globalThis', async () => {
    trapped = 0
    const get = count.bind(null)
    Object.defineProperty(globalThis, 'dangerous', { configurable: true, get })
    const names = Object.defineProperties({ ...scope }, Object.getOwnPropertyDescriptors(lazy))
    try {
      for (const text of [
        'dangerous.',
        'lazy.',
        'own.y.',
        'run().',
        'run({ ',
        "run('",
        'new lazy().',
      ])
        await complete(text, names, ROOT)
    } finally {
      Reflect.deleteProperty(globalThis, 'dangerous')
    }
    assert.equal(trapped, 0)
  })
})
