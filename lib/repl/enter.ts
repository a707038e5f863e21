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

/** What a question asks about, `''` for all; null where a text is no question. */
export function askedIn(text: string): { name: string; source: boolean } | null {
  const [, before, behind, name, after] = QUESTION.exec(text) ?? []
  return before || after ? { name: behind ?? name ?? '', source: (before ?? after) === '??' } : null
}

/** Do what an entry asks for. @throws `usage` for a command, `argument_invalid` for a question */
export async function enter(text: string, desk: Desk, scope: Names): Promise<void> {
  const asked = askedIn(text)
  const word = WORD.exec(text)?.[1]
  if (COMMAND.test(text)) await runCommand(text, desk)
  else if (word && !Object.hasOwn(scope, word))
    await runCommand(word === 'help' ? '.help' : '.exit', desk)
  else if (asked?.name) await desk.show(describe(asked.name, scope, desk.look(), asked.source))
  else if (asked) await runCommand('.help', desk)
  else await desk.run(text)
}
