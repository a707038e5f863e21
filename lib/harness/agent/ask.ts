/** The tool `ask_user`: how an agent of its own speaks to the simulated user of a case. */
import type { UserAnswer } from '../case/user.ts'

export const ASK_DESCRIPTION = 'Say something to the user, and get their answer.'

export const ASK_SCHEMA = {
  type: 'object',
  properties: { text: { type: 'string', description: 'What you say.' } },
  required: ['text'],
} as const

/** The words of a call, or null where there are none. */
export function wordsIn(input: unknown): string | null {
  const text = (input as { text?: unknown } | null)?.text
  return typeof text === 'string' && text.trim() !== '' ? text : null
}

/** The answer as a tool's result. */
export function heardText({ text, over }: UserAnswer): string {
  return over ? `${text}\n(The user has ended the conversation.)`.trim() : text
}
