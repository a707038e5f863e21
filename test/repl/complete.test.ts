import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import * as chart from '../../lib/chart/index.ts'
import { COMPLETE_STRING, complete, RETURNS, type StringContext } from '../../lib/repl/complete.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))

class Kit {
  ran = 0
  cases() {
    this.ran++
    return []
  }
  get title() {
    return 'a'
  }
  [COMPLETE_STRING]({ method, argument, text }: StringContext) {
    return method === 'pick' && argument === 1 ? ['slow-reply', 'stale-read', `${text}!`] : []
  }
  pick(_n: number, _name: string) {}
}
const kit = new Kit()
let trapped = 0
const trap = {
  get boom() {
    return ++trapped
  },
}
const make = Object.assign(() => new Kit(), { [RETURNS]: Kit.prototype })
const scope = { kit, trap, make, chart, rows: [1], text: 'a', run: (name: string) => name }
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
    ['a getter that a class declares', 'kit.title.padS', ['padStart'], 'padS'],
    ['nothing behind what only running could tell', 'run("a").', [], ''],
    ['strings that a value offers', "kit.pick(1, 's", ['slow-reply', 'stale-read', 's!'], 's'],
    ['files inside quotes', '"lib/err', ['errors.ts'], 'err'],
    ['folders end in a slash', '"li', ['lib/'], 'li'],
  ]
  for (const [rule, text, expected, stub] of rows) {
    test(rule, async () => assert.deepEqual(await at(text), [expected, stub]))
  }
  test('nothing is run: neither calls nor getters of values', async () => {
    await at('kit.cases().')
    await at('trap.boom.')
    assert.equal(kit.ran, 0)
    assert.equal(trapped, 0)
  })
})
