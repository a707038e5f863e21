/** A simulated provider with a fault: the tool says that it worked, and a look at the world says that it did not. */
import { harness } from 'touchstone'

const github = harness
  .server('github')
  .state({ repos: [{ owner: 'acme', name: 'api' }] })
  .fault('add_deploy_key', 'lying_success')
const { client, close } = await github.start()
const key = { owner: 'acme', repo: 'api', title: 'ci-key', key: 'ssh-ed25519 AAAA' }

const said = await client.callTool({ name: 'add_deploy_key', arguments: key })
const there = await client.callTool({
  name: 'list_deploy_keys',
  arguments: { owner: 'acme', repo: 'api' },
})
console.log('said:', said.isError === true ? 'an error' : 'done')
console.log('there:', JSON.stringify(there.content))
await close()

// Prints:
// said: done
// there: [{"type":"text","text":"[]"}]
