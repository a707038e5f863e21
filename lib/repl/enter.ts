/** What an entry of the prompt or a cell of the kernel is: a command, a question, or code. */
import type { Names } from '../code/evaluate.ts'
import { type Desk, runCommand } from './commands.ts'
import { describe } from './docs.ts'

const COMMAND = /^\s*\.[a-z]+(\s|$)/
/** `?name`, `??name`, `name?`, `name??`, `?` alone. */
const QUESTION = /^\s*(\?\??)\s*(.*?)\s*$|^\s*([\p{ID_Continue}$.]+)(\?\??)\s*$/u
/** What a stranger types first. */
const WORD = /^\s*(help|exit|quit)(?:\(\))?\s*$/

/** Is the text a command or a question? Such a text is one line and needs no other. */
export function isSpecial(text: string): boolean {
  return COMMAND.test(text) || QUESTION.test(text)
}

/** Do what an entry asks for. @throws `usage` for a command, `argument_invalid` for a question */
export async function enter(text: string, desk: Desk, scope: Names): Promise<void> {
  const question = QUESTION.exec(text)
  const word = WORD.exec(text)?.[1]
  if (COMMAND.test(text)) await runCommand(text, desk)
  else if (word && !Object.hasOwn(scope, word))
    await runCommand(word === 'help' ? '.help' : '.exit', desk)
  else if (question) {
    const asked = question[2] ?? question[3] ?? ''
    const source = (question[1] ?? question[4]) === '??'
    if (asked) await desk.show(describe(asked, scope, desk.look(), source))
    else await runCommand('.help', desk)
  } else await desk.run(text)
}
