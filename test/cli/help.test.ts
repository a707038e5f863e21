/** What `--help` says of each verb, and what a mistyped option is told. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { helpOf, readWords, type Verb } from '../../lib/cli/verb/verb.ts'
import { VERBS } from '../../lib/cli/verbs.ts'

describe('the help of a verb', () => {
  it('names examples and what the exit codes mean, and fits a narrow terminal', async () => {
    for (const load of Object.values(VERBS)) {
      const verb = await load()
      const text = helpOf(verb, 80)
      for (const code of ['0', '2']) assert.match(text, new RegExp(`^ +${code} {2}\\S`, 'm'))
      for (const words of verb.examples) assert.ok(text.includes(`touchstone ${words}`))
      const options = text.split('Exit codes:')[0] ?? ''
      for (const line of options.split('\n')) if (/ {2}/.test(line)) assert.ok(line.length <= 122)
    }
  })

  it('an unknown option of any verb is refused in a line, with what was meant or where they stand', async () => {
    for (const [name, load] of Object.entries(VERBS)) {
      const verb = await load()
      const told = `touchstone ${name} --help lists them`
      assert.throws(() => readWords(name, verb, ['--no-such-option']), {
        code: 'usage',
        message: `expected an option of touchstone ${name}, got --no-such-option; ${told}`,
      })
      assert.throws(() => readWords(name, verb, ['--hepl']), {
        message: `expected an option of touchstone ${name}, got --hepl; did you mean --help? ${told}`,
      })
    }
  })

  it('breaks a row of two columns under its second one', async () => {
    const text = helpOf(await (VERBS['run'] as () => Promise<Verb>)(), 80)
    assert.match(text, /^ {2}\{mcp_config\} {10}a file with.*\n {24}\S/m)
    assert.match(text, /^ {2}local\/NAME {39}any server.*\n {51}\S/m)
    for (const line of text.split('\n'))
      if (!/^ {2}(touchstone|\w+: +\{)/.test(line)) assert.ok(line.length <= 80, line)
  })
})
