/**
 * What a case says of its user can happen: the answers can be given, and the solution's words get
 * one.
 */
import { count } from '../../display.ts'
import type { Case } from './case.ts'
import { invalid, type Locate } from './mistake.ts'
import type { UserSpec } from './schema/user-schema.ts'
import { namesIn, ScriptedUser } from './user.ts'

/**
 * @throws TouchstoneError `case_invalid` with the place of the first thing that cannot happen
 */
export function requireUser(test: Case, locate: Locate): void {
  const { user, solution } = test
  const spoken = solution.flatMap((step, i) =>
    (['ask', 'tell'] as const).flatMap((member) =>
      step[member] === undefined ? [] : [{ said: step[member], path: ['solution', i, member] }],
    ),
  )
  if (user === null) {
    const [first] = spoken
    if (first)
      invalid('expected a user beside words that are said to one, got none', locate(first.path))
    return
  }
  const { answers, model } = user
  if ((answers === undefined) === (model === undefined))
    invalid(
      `expected either answers or a model, got ${answers === undefined ? 'neither' : 'both'}`,
      locate(['user', ...(answers === undefined ? [] : ['model'])]),
    )
  if (spoken.length === 0)
    invalid(
      'expected a solution that says something to the user (ask or tell), got none',
      locate(['solution']),
    )
  if (spoken.length > user.turns)
    invalid(
      `expected turns for what the solution says (${spoken.length}), got ${user.turns}`,
      locate(['user', 'turns']),
    )
  if (answers !== undefined) {
    requireAnswers(user, locate)
    requireConversation(user, spoken, locate)
  } else if (user.otherwise !== undefined) {
    invalid(
      'expected otherwise only beside answers, got it beside a model',
      locate(['user', 'otherwise']),
    )
  } else if (model?.startsWith('sim/'))
    invalid(
      'expected a model that can speak, or answers; simulated models only follow a solution',
      locate(['user', 'model']),
    )
}

/** Every answer can be given, and one of them ends the conversation. */
function requireAnswers(
  { answers = [], knows, temperature, maxOutputTokens }: UserSpec,
  locate: Locate,
): void {
  for (const [member, value] of Object.entries({ temperature, maxOutputTokens }))
    if (value !== undefined)
      invalid(
        `expected ${member} only beside a model, got it beside answers`,
        locate(['user', member]),
      )
  for (const [i, { says }] of answers.entries())
    for (const name of namesIn(says))
      if (!Object.hasOwn(knows, name))
        invalid(
          `expected a name that the user knows (${Object.keys(knows).join(', ') || 'none'}), got {${name}}`,
          locate(['user', 'answers', i, 'says']),
        )
  const always = answers.findIndex(
    ({ when, unless, once }) => when === undefined && unless === undefined && once !== true,
  )
  if (always >= 0 && always < answers.length - 1)
    invalid(
      `expected answers that can be given, got ${count(answers.length - 1 - always, 'answer')} behind one that is always given`,
      locate(['user', 'answers', always]),
    )
  if (!answers.some(({ end }) => end === true))
    invalid(
      'expected an answer that ends the conversation (end: true), got none',
      locate(['user', 'answers']),
    )
}

/** What the solution says gets an answer of the script, while the user still listens. */
function requireConversation(
  user: UserSpec,
  spoken: readonly { said: string; path: (string | number)[] }[],
  locate: Locate,
): void {
  const script = new ScriptedUser(user)
  let over = false
  for (const { said, path } of spoken) {
    if (over) invalid('expected nothing said after the user ended the conversation', locate(path))
    const answer = script.answer(said)
    if (!answer.fits)
      invalid(
        `expected words that an answer of the user is for, got words that get "${answer.text}"`,
        locate(path),
      )
    over = answer.over
  }
  if (!over)
    invalid(
      'expected a solution after which the user ends the conversation, got one that leaves it open',
      locate(['solution']),
    )
}
