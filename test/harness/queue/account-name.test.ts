/** How an account is called on a server that others read: the same everywhere, and no word of its key. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { accountName } from '../../../lib/harness/queue/account-name.ts'

const account = { baseURL: 'https://api.example.com/v1', key: 'sk-1', model: 'm' }

it('an account is called the same by all who have its key, and otherwise for another address, model, key or query', async () => {
  const name = await accountName(account)
  assert.equal(await accountName({ ...account }), name)
  const others = await Promise.all([
    accountName({ ...account, baseURL: 'https://api.example.com/v2' }),
    accountName({ ...account, model: 'n' }),
    accountName({ ...account, key: 'sk-2' }),
    accountName({ ...account, baseURL: `${account.baseURL}?key=1` }),
  ])
  assert.equal(new Set([name, ...others]).size, 5)
})

it('of a key and of a query two bytes travel, which are no proof of a guess', async () => {
  const key = await accountName({ ...account, key: 'sk-2' })
  const query = await accountName({ ...account, baseURL: `${account.baseURL}?key=1` })
  const [open] = (await accountName(account)).split('-')
  for (const name of [key, query]) assert.match(name, new RegExp(`^${open}-[0-9a-f]{4}$`))
})
