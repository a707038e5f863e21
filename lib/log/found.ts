/** What a claim was matched to, in words, and the mark that the words stand for. */

/** How `found` of a claim begins where it is not the change itself. */
export const FOUND = {
  none: 'no change at the end fits',
  part: 'only a part is there:',
  before: 'said before:',
  vague: 'changes of this kind are there, and the claim does not say which',
  passed: 'it was so, until another change of which the agent says so too',
  unseen: 'the state is not to be seen',
  nothing: 'it changes nothing',
  undone: 'the agent says that it was not done',
} as const

/** The mark `matched` that goes with `found`. */
export function matchedBy(found: string): boolean | null {
  if (found.startsWith(FOUND.none) || found.startsWith(FOUND.part)) return false
  if (found.startsWith(FOUND.before)) return null
  return (
    [FOUND.vague, FOUND.passed, FOUND.unseen, FOUND.nothing, FOUND.undone] as string[]
  ).includes(found)
    ? null
    : true
}
