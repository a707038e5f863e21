/** What a person meets at the prompt shows itself, and stays plain data. */
import assert from 'node:assert/strict'
import { before, describe, it } from 'node:test'
import { inspect } from 'node:util'
import { cases, harness } from '../../../lib/index.ts'

let all: harness.Case[]
let run: harness.Run
before(async () => {
  all = await cases.load()
  run = await harness
    .run(await cases.load('cases/lying_success'))
    .config('naive', { model: 'sim/naive' })
    .config('careful', { model: 'sim/careful' })
    .repeat(2)
    .out(null)
    .quiet()
})

const bundle = (value: object) =>
  (value as { [name: symbol]: () => { [mime: string]: string } })[Symbol.for('Jupyter.display')]?.()

describe('what shows itself', () => {
  it('a case shows itself as a file that is read back to the same case', async () => {
    assert.ok(all.length > 50)
    for (const one of all) {
      const [again] = await cases.parse(inspect(one))
      assert.equal(again?.digest, one.digest, one.id)
    }
    const [first] = all
    assert.equal(JSON.stringify(structuredClone(first)), JSON.stringify(first))
    // A terminal is told nothing but text.
    const { document } = all[0] as harness.Case
    const { twin: _, ...own } = document
    const hostile = await harness.case({ ...own, title: 'a\u001b[31mb' } as never)
    assert.ok(!inspect(hostile).includes('\u001b'))
  })

  it('a list of cases is a table, and what is filtered out of it a list', () => {
    assert.match(inspect(all), /^case +world +attack +title\n/)
    assert.match(inspect(all), /and \d+ more cases; one by its place, \[0\], is the whole case$/)
    assert.deepEqual(Object.keys(bundle(all) ?? {}), ['text/plain', 'text/html'])
    assert.match(inspect(all.filter(({ attack }) => attack)), /^\[\n/)
  })

  it('a summary is the table of the run, a ranking the letters', () => {
    const summary = run.summary()
    const [head = '', ...lines] = inspect(summary).split('\n')
    assert.match(head, /^configuration +question +trials +goal met/)
    for (const line of lines) assert.ok(run.text().includes(line), line)
    assert.match(inspect(run.ranking()), /^goal met, best first\. Two that share a letter/)
    for (const value of [summary, run.ranking()]) {
      assert.equal(JSON.stringify(structuredClone(value)), JSON.stringify(value))
      assert.ok(bundle(value)?.['text/html'])
    }
  })
})
