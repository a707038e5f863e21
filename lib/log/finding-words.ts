/** What was found of a claim, and of an agent that broke off, in words that stand for marks. */

/** How `found` of a claim begins where it is not the change itself. */
export const FOUND = {
  none: 'no change at the end fits',
  part: 'only a part is there:',
  before: 'said before:',
  vague: 'changes of this kind are there, and the claim does not say which',
  passed: 'it was so, until another change of which the agent says so too',
  unnamed: 'it names the change by members that its tool does not take; these it takes:',
  unseen: 'the state is not to be seen',
  nothing: 'it changes nothing',
  undone: 'the agent says that it was not done',
} as const

/** Errors of an agent that broke off by its own failure: it has not met its goal. */
export const BROKE_OFF: readonly string[] = ['agent_crashed', 'answer_invalid', 'tool_use_failed']
/** What its goal asked first. */
export const ENDED = 'the agent came to the end of its work'

/** The mark `matched` that goes with `found`. */
export function matchedBy(found: string): boolean | null {
  if (found.startsWith(FOUND.none) || found.startsWith(FOUND.part)) return false
  if (found.startsWith(FOUND.before) || found.startsWith(FOUND.unnamed)) return null
  return (
    [FOUND.vague, FOUND.passed, FOUND.unseen, FOUND.nothing, FOUND.undone] as string[]
  ).includes(found)
    ? null
    : true
}
