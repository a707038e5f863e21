/** The sentence on tools that no classifier knows. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { unclassifiedText } from '../../../lib/harness/page/unclassified.ts'
import type { TrialRecord } from '../../../lib/log/index.ts'
import * as receipt from '../../../lib/receipt/index.ts'

/** The text of one trial in which these tools of a server were called, the first of them to write. */
function textOf(server: string, ...tools: string[]): string | null {
  const decisions = tools.map((tool, seq) =>
    receipt.observe({ server, tool, arguments: {}, status: 'success', runId: 'r', seq }),
  )
  return unclassifiedText({
    columns: { keys: () => ['k'] },
    record: () => ({ writes: [0] }) as unknown as TrialRecord,
    eachDecision: () => decisions,
  })
}

it('names the server that ships with tools of these names, once, whatever was called of it', () => {
  const text = textOf('disk', 'write_file', 'read_text_file', 'write_file') ?? ''
  assert.match(text, /^No classifier knows write_file of disk: .*touchstone classify/)
  assert.match(
    text,
    / filesystem, which ships, has tools .*: if disk is that server, name it so\.$/,
  )
  assert.equal(text.split('which ships').length, 2)
})

it('names none where most names are of no server that ships, and says nothing where all are known', () => {
  assert.doesNotMatch(textOf('disk', 'paint_wall', 'read_text_file') ?? '', /which ships/)
  assert.doesNotMatch(textOf('shop', 'place_order') ?? '', /which ships/)
  assert.equal(textOf('filesystem', 'write_file', 'read_text_file'), null)
})
