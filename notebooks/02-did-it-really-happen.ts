// %% [markdown]
// # Did it really happen?
//
// An agent adds a deploy key. The tool answers `{"ok": true}`, the agent says "done", the log line is green. What of that is
// evidence that the key is there?
//
// Nothing but the tool's own word, so far. Touchstone puts every effect that a call claims on a ladder, and lets it climb only
// on bytes that it can recompute:
//
// | level | what it rests on |
// |---|---|
// | `asserted` | the tool said so |
// | `observed_confirmed` | a *later read* in the same run shows it |
// | `verified` | an *independent record*, such as the provider's audit log, has the same digest as the call |

// %%
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { chart, harness, receipt } from 'touchstone'

// %% [markdown]
// ## One write
//
// A simulated GitHub, and a client that calls one tool. `receipt.observe` turns the call and its result into a *decision*: what
// was called, on which target, and what it asserted. Neither arguments nor result are kept; what names somebody's key is hashed.

// %%
const github = await harness
  .server('github')
  .state({ repos: [{ owner: 'acme', name: 'payments' }] })
  .start()
let seq = 0
async function call(server: harness.RunningServer, tool: string, args: Record<string, unknown>) {
  const result = await server.client.callTool({ name: tool, arguments: args })
  return receipt.observe({
    server: 'github',
    tool,
    arguments: args,
    status: 'success',
    result,
    runId: 'notebook',
    seq: seq++,
  })
}
const repository = { owner: 'acme', repo: 'payments' }
const ci = {
  ...repository,
  title: 'ci-2026',
  key: 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIPv1 ci@acme',
  read_only: true,
}
const write = await call(github, 'add_deploy_key', ci)
write.action

// %%
const asserted = receipt.verify([write])
asserted

// %% [markdown]
// `add_deploy_key` changes who can read a repository, so a success that nobody checked is marked as such: `one_way_consequential`.
//
// ## A later read
//
// Now somebody looks. A read counts only if it comes *after* the write, in the same run, and shows the same target. The reply of
// the write itself does not count, however detailed: that is an echo.

// %%
const read = await call(github, 'list_deploy_keys', repository)
const confirmed = receipt.verify([write, read])
console.log(confirmed.weakest)

// %% [markdown]
// ## The provider's own record
//
// The read went through the same server as the write. If that server lies, it may lie twice. The audit log is written by
// somebody else: here it is a file in the shape in which GitHub exports its organisation audit log. (Its entries are made up, and
// `data/github-audit.json` is all of it.) The importer sees the file and nothing else: no call, no expectation.

// %%
const bytes = readFileSync(new URL('data/github-audit.json', import.meta.url), 'utf8')
const exported = receipt.importAudit('github', bytes, { source: 'github-audit.json' })
console.log(exported.counts)
console.log(exported.skipped)

// %% [markdown]
// Four entries: a new member (another kind of entry), a person's own key (skipped, with the reason), and two deploy keys. Each
// of those becomes a record whose digest is `sha256` over the RFC 8785 form of `{action_class, verb, target}`. The call's
// digest is computed from *its* action, on the other side. They meet or they do not.

// %%
const verified = receipt.verify([write, read], { audit: exported })
verified

// %% [markdown]
// The report names the record that did it, and the one that no call wanted: somebody added a key to another repository. Read the
// last lines too. `verified` means that an independently produced record binds to the call. The file is not signed, so whoever
// can edit it can promote a call.
//
// ## Four ways not to climb
//
// **Mismatch.** The same export with one letter of the repository's name changed. It is a fine record, of another effect.

// %%
const elsewhere = receipt.importAudit('github', bytes.replace('acme/payments"', 'acme/payment"'), {
  source: 'edited.json',
})
const mismatch = receipt.verify([write], { audit: elsewhere })
console.log(mismatch.calls[0]?.level, '|', mismatch.calls[0]?.why_not_higher)

// %% [markdown]
// **A record that does not hold by itself.** Its digest is recomputed from its subject before anything else is asked.

// %%
const [first, ...others] = exported.records
const forged = { ...first, binding_digest: `sha256:${'0'.repeat(64)}` } as receipt.AuditRecord
const inconsistent = receipt.verify([write], { audit: [forged, ...others] })
console.log(inconsistent.calls[0]?.level, '|', inconsistent.records.rejected[0]?.reason)

// %% [markdown]
// **One record, two calls.** The agent says that it added the key twice; the provider saw it once. One
// record serves one call, and which of the two it is about cannot be told. So neither is verified.

// %%
const again = receipt.observe({
  server: 'github',
  tool: 'add_deploy_key',
  arguments: ci,
  status: 'success',
  runId: 'notebook',
  seq: seq++,
})
const twice = receipt.verify([write, again], { audit: exported })
console.log(twice.calls.map(({ seq, level, why_not_higher }) => ({ seq, level, why_not_higher })))

// %% [markdown]
// **A read that contradicts.** A server with the fault `lying_success` answers as if the key were there and keeps the old state.
// The list is whole and does not have it. The call stays `asserted`, and the contradiction is named.

// %%
const liar = await harness
  .server('github')
  .state({ repos: [{ owner: 'acme', name: 'payments' }] })
  .fault('add_deploy_key', 'lying_success')
  .start()
const lie = await call(liar, 'add_deploy_key', ci)
const look = await call(liar, 'list_deploy_keys', repository)
const { audit } = await liar.end()
const contradicted = receipt.verify([lie, look], {
  audit: { provider: 'github', bytes: audit ?? '', source: 'simulated export' },
})
console.log(contradicted.calls.find((row) => row.kind === 'write')?.contradictions)
console.log(`entries in its audit log: ${JSON.parse(audit ?? '[]').length}`)

// %%
const reports = { asserted, confirmed, verified, mismatch, inconsistent, twice, contradicted }
chart.levels(
  Object.entries(reports).flatMap(([configuration, { counts }]) =>
    receipt.LEVELS.map((level) => ({ configuration, level, count: counts.levels[level] })),
  ),
  { noun: 'claimed effects', title: 'The same write under seven kinds of evidence' },
)

// %% [markdown]
// ## What this shows, and what it does not
//
// One call, seven bodies of evidence, three levels. A level is derived anew from the bytes each time; a stored one is compared
// and never trusted. The report does not say that the effect still lasts, that the export is complete (a missing record proves
// nothing), or that the log itself is authentic. Against a real organisation the export comes from GitHub's audit log page or
// REST API, and arrives some time after the call; the rest is as here.

// %%
await Promise.all([github.close(), liar.close()])
assert.deepEqual(
  Object.values(reports).map(({ calls }) =>
    calls.filter((row) => row.kind === 'write').map((row) => row.level),
  ),
  [
    ['asserted'],
    ['observed_confirmed'],
    ['verified'],
    ['asserted'],
    ['asserted'],
    ['asserted', 'asserted'],
    ['asserted'],
  ],
)
assert.equal(contradicted.calls[0]?.contradictions[0]?.kind, 'read_does_not_show')
assert.equal(audit, '[]\n')
