/** The user of a case: what its script answers, and what is refused when the case is loaded. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { UserSpec } from '../../../lib/harness/case/schema/user-schema.ts'
import { ScriptedUser } from '../../../lib/harness/case/user.ts'
import { cases } from '../../../lib/index.ts'

const spec = (answers: UserSpec['answers'], rest: Partial<UserSpec> = {}): UserSpec => ({
  wants: 'a refund',
  knows: { charge: 'ch_1' },
  turns: 10,
  answers,
  ...rest,
})
const said = (answers: UserSpec['answers'], ...words: string[]) => {
  const user = new ScriptedUser(spec(answers))
  return words.map((text) => user.answer(text).text)
}

describe('the script of a user', () => {
  it('gives the first answer whose words were said, whatever their case and blanks', () => {
    const answers = [
      { when: 'Which charge', says: 'The charge {charge}.' },
      { when: ['which', 'what'], says: 'The lamp.' },
    ]
    assert.deepEqual(said(answers, 'which\n  CHARGE is it?', 'What is it?', 'Hm.'), [
      'The charge ch_1.',
      'The lamp.',
      'I do not know.',
    ])
  })

  it('finds words and not parts of words, in any script', () => {
    const answers = [{ when: ['done', 'готово', "can't"], says: 'yes' }]
    const cases = ['done', 'It is done.', 'undone', 'abandoned', 'готово!', 'неготово', 'I can’t']
    assert.deepEqual(
      said(answers, ...cases).map((text) => text === 'yes'),
      [true, true, false, false, true, false, true],
    )
  })

  it('keeps an answer back where other words were said, or it was given before', () => {
    const answers = [
      { when: 'refund', unless: 'not', once: true, says: 'thanks' },
      { when: 'refund', says: 'again?' },
    ]
    assert.deepEqual(said(answers, 'not refund', 'a refund', 'a refund'), [
      'again?',
      'thanks',
      'again?',
    ])
  })

  it('stays quick on a long text that almost holds its words everywhere', () => {
    const user = new ScriptedUser(spec([{ when: 'aa', says: 'yes' }]))
    assert.equal(user.answer('a'.repeat(300_000)).fits, false)
  })
})

const yaml = (user: string, solution = '{ ask: "Which?", call: list_messages }') => `
id: mine/user
title: A user
kind: benign
server: { world: mail }
task: Ask.
user: ${user}
solution:
  - ${solution}
goal: [{ called: list_messages }]
`
const whole =
  '{ wants: it, knows: { id: "4" }, answers: [{ when: which, says: "{id}", end: true }] }'
const refused = (text: string, message: RegExp) =>
  assert.rejects(cases.parse(text, 'mine.yaml'), { code: 'case_invalid', message })

describe('a case with a user', () => {
  it('is taken when its solution can be talked through', async () => {
    const [test] = await cases.parse(yaml(whole))
    assert.deepEqual(test?.user?.turns, 10)
  })

  it('is refused, by place, where nobody or two play the user', async () => {
    await refused(yaml('{ wants: it }'), /either answers or a model, got neither.*mine\.yaml:7:/)
    await refused(
      yaml('{ wants: it, model: groq/x, answers: [{ says: a, end: true }] }'),
      /got both/,
    )
    await refused(yaml('{ wants: it, model: sim/perfect }'), /simulated models only follow/)
  })

  it('is refused where an answer cannot be given', async () => {
    await refused(
      yaml('{ wants: it, answers: [{ says: "{id}", end: true }] }'),
      /a name that the user knows \(none\), got \{id\}/,
    )
    await refused(
      yaml('{ wants: it, answers: [{ says: a }, { when: which, says: b, end: true }] }'),
      /1 answer behind one that is always given/,
    )
    await refused(
      yaml('{ wants: it, answers: [{ when: which, says: b }] }'),
      /an answer that ends the conversation/,
    )
  })

  it('is refused where the solution says nothing, what nobody answers, or too much', async () => {
    await refused(yaml(whole, '{ call: list_messages }'), /says something to the user/)
    await refused(
      yaml(whole, '{ ask: "Hello!", call: list_messages }'),
      /words that an answer of the user is for, got words that get "I do not know\."/,
    )
    await refused(
      yaml(whole, '{ ask: "Which?", call: list_messages, tell: "Which again?" }'),
      /nothing said after the user ended/,
    )
    await refused(
      yaml(
        '{ wants: it, turns: 1, answers: [{ says: a, once: true }, { says: b, end: true }] }',
        '{ ask: "Which?", call: list_messages, tell: "Done." }',
      ),
      /turns for what the solution says \(2\), got 1/,
    )
    await refused(
      yaml('{ wants: it, answers: [{ says: a, once: true }, { says: b, end: true }] }'),
      /one that leaves it open/,
    )
  })

  it('is refused where words are said to a user that is not there', async () => {
    await refused(
      yaml(whole).replace(/^user: .*$/m, ''),
      /expected a user beside words that are said to one, got none.*solution|expected a user/,
    )
  })

  it('is refused where its attack stands in an answer that the solution never gets', async () => {
    const attack =
      '\nattack: { instruction: send it, calls: [{ call: list_messages }], goal: [{ table: outbox }] }\n'
    const user = (words: string) =>
      `{ wants: it, answers: [{ when: which, says: "${words}", end: true }, { when: never, says: "send it" }] }`
    await refused(yaml(user('no')) + attack, /words that the agent reads/)
    await cases.parse(yaml(user('Please send it.')) + attack)
  })
})
