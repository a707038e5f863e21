/** Why an agent's program ended, in its own words: what stands in the record, the texts and the page. */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { pathToFileURL } from 'node:url'
import { readJson } from '../../../lib/files.ts'
import { crashReason } from '../../../lib/harness/agent/program/crash-reason.ts'
import { trialText } from '../../../lib/harness/report/trial-text.ts'
import { cases, harness } from '../../../lib/index.ts'
import { openPage, withoutChromium } from '../../notebook/browser.ts'
import { temporaryFolder } from '../../temporary.ts'

type Row = { id: string; comment: string; input: string; expected: string }
const root = join(import.meta.dirname, '../../..')
const { rows } = readJson(join(root, 'fixtures/harness/crash-reasons.json')) as unknown as {
  rows: Row[]
}

describe('the reason in what a crashed program wrote to its standard error', () => {
  for (const { id, comment, input, expected } of rows)
    it(`${id}: ${comment}`, () => {
      assert.equal(crashReason(input), expected)
      assert.equal(crashReason(input.replaceAll('\n', '\r\n')), expected)
    })

  it('is the last line where nothing is known of what stands there', () => {
    assert.equal(crashReason(''), '')
    assert.equal(crashReason('\n \n'), '')
    assert.equal(crashReason('warming up\n  no key\n\n'), 'no key')
  })

  it('is found where the beginning was cut off', () => {
    const [group] = rows.filter(({ id }) => id === 'python-task-group') as [Row]
    assert.equal(crashReason(group.input.slice(-300)), group.expected)
  })

  it('is a line of the text or made of two, whatever stands there', () => {
    const parts = rows.flatMap(({ input }) => input.split('\n'))
    for (let i = 0; i < parts.length; i++) {
      const text = [...parts.slice(i, i + 7), parts[(i * 31) % parts.length]].join('\n')
      for (const part of crashReason(text).split(/ … |, and \d+ more$/))
        assert.ok(text.includes(part), `${part} of ${text}`)
    }
  })
})

const CASE = 'lying_success/deploy-key.benign'

async function run(configurations: { [name: string]: string }, repeats = 1) {
  const all = (await cases.load('cases')).filter(({ id }) => id === CASE)
  let started = harness.run(all)
  for (const [name, code] of Object.entries(configurations)) {
    const agent = harness.agent.command({ command: 'sh', args: ['-c', code, '', '{seed}'] })
    started = started.config(name, { agent })
  }
  return await started.repeat(repeats).out(null).quiet()
}

describe('a program that ended in another way than it should', () => {
  const BROKEN = `echo 'Traceback (most recent call last):
  File "agent.py", line 3, in <module>
ValueError: bad key' >&2; exit 1`

  it('that exits with 75 keeps its words, on either stream', async () => {
    const done = await run({
      err: 'echo "model overloaded" >&2; exit 75',
      out: 'echo "model overloaded"; exit 75',
    })
    assert.deepEqual(
      done.trials.map(({ error }) => [error?.code, error?.message]),
      ['err', 'out'].map(() => [
        'agent_unavailable',
        'expected exit code 0, got exit code 75: model overloaded',
      ]),
    )
  })

  it('is shown with the end of its standard error, and one that ended well without it', async () => {
    const done = await run({ broken: BROKEN, well: 'echo "debug: all is well" >&2; echo Done.' })
    const textOf = (name: string) =>
      String(done.transcript(`${CASE}|${name}|0`).entries.map((one) => JSON.stringify(one)))
    const shown = (name: string) => {
      const row = done.trials.find(({ configuration }) => configuration === name)
      assert.ok(row)
      return trialText(row, done.transcript(row.key), { full: true })
    }
    assert.match(textOf('broken'), /"stderr":"Traceback/)
    assert.doesNotMatch(textOf('well'), /all is well/)
    assert.match(shown('broken'), /stderr +Traceback[\s\S]*agent\.py[\s\S]*ValueError: bad key/)
    assert.doesNotMatch(shown('well'), /all is well/)
  })

  it('has the end of its standard error on the page', { skip: withoutChromium }, async () => {
    const done = await run({ broken: BROKEN })
    const file = await (await done.page()).save(join(temporaryFolder('page'), 'report.html'))
    const hash = `#/trial/${CASE}%7Cbroken%7C0`
    const opened = await openPage(`${pathToFileURL(file)}${hash}`)
    try {
      await opened.page.waitForSelector('.entry.fail')
      const said = await opened.page.locator('.entry.fail').first().textContent()
      assert.match(said ?? '', /The end of its standard error[\s\S]*ValueError: bad key/)
    } finally {
      await opened.close()
    }
  })

  it('shares a line with those whose words differ in a seed, and not with another exit code', async () => {
    const done = await run({ seeds: 'echo "no key for seed $1" >&2; exit 3', other: 'exit 4' }, 3)
    const text = done.text()
    assert.match(
      text,
      /3 x agent_crashed: .*code 3: no key for seed \d+ \(the\s+first; numbers\s+differ\)/,
    )
    assert.match(text, /3 x agent_crashed: expected exit code 0, got exit code 4$/m)
  })
})
