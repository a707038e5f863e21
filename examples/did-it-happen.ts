/** Did it really happen? The level of one tool call, from the call alone and with the provider's own audit export. */
import { receipt } from 'touchstone'

const call = receipt.observe({
  server: 'github',
  tool: 'add_deploy_key',
  arguments: { owner: 'acme', repo: 'api', title: 'ci-key', read_only: true },
  status: 'success',
  runId: 'deploy-42',
  seq: 0,
})
const bytes = JSON.stringify([
  {
    action: 'public_key.create',
    _document_id: 'Xq1',
    repo: 'acme/api',
    title: 'ci-key',
    read_only: 'true',
    '@timestamp': 1_767_603_600_000,
  },
])

const alone = receipt.verify([call])
const together = receipt.verify([call], { audit: { provider: 'github', bytes } })
console.log(alone.calls[0]?.level, '->', together.calls[0]?.level)
console.log(alone.calls[0]?.why_not_higher)

// Prints:
// asserted -> verified
// no audit record; no later read looked
