import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { runTest } from '../../lib/probe/connect/tasks.ts'
import { checkAddress } from '../../lib/probe/judge/address.ts'
import { Shortfall } from '../../lib/probe/judge/outcome.ts'
import { openLine, type Seams } from '../../lib/probe/wire/dial.ts'
import fc from '../property.ts'
import { PUBLIC_ADDRESS, type Stage, seams, stage, trust } from '../servers/stage.ts'
import { well } from '../servers/well.ts'

let server: Stage
before(async () => {
  trust()
  server = await stage(well)
})
after(() => server.close())

const test = (resolve: NonNullable<Seams['resolve']>, more: Seams = {}) =>
  runTest(
    { url: server.url, transport: 'streamable-http', local: false },
    { ...seams(), resolve, ...more },
  )

describe('the check runs inside the connection: what a name resolves to decides', () => {
  const refused: [string, string[], string][] = [
    ['a public and a private address', [PUBLIC_ADDRESS, '10.0.0.1'], 'private'],
    ['a public IPv4 and a private IPv6 address', [PUBLIC_ADDRESS, 'fd00::1'], 'unique_local'],
    ['only loopback mapped into IPv6', ['::ffff:127.0.0.1'], 'loopback'],
    ['the metadata service', ['169.254.169.254'], 'link_local'],
    ['NAT64 of a public address', ['64:ff9b::808:808'], 'nat64'],
    ['a name instead of an address', ['localhost'], 'not_an_address'],
    [
      '200 addresses, the last one private',
      [...Array<string>(199).fill(PUBLIC_ADDRESS), '192.168.0.1'],
      'private',
    ],
  ]
  for (const [id, addresses, reason] of refused) {
    it(`${id}: refused, ${reason}, and nothing is attempted or dialled`, async () => {
      const connections = server.connections
      const found = await test(async () => addresses)
      assert.deepEqual(
        [found.outcome, found.detail, found.reason],
        ['refused', 'address_refused', reason],
      )
      assert.deepEqual(
        found.tasks.map((task) => [task.attempted, task.passed]),
        [
          [false, false],
          [false, false],
        ],
      )
      assert.deepEqual(found.sent, [])
      assert.equal(server.connections, connections)
    })
  }

  it('a name that answers publicly once and privately the next time is refused the next time', async () => {
    const answers = [[PUBLIC_ADDRESS], ['127.0.0.1']]
    const resolve = async () => answers.shift() ?? []
    assert.equal((await test(resolve)).outcome, 'answered')
    const second = await test(resolve)
    assert.deepEqual([second.outcome, second.reason], ['refused', 'loopback'])
  })

  it('a name is asked once per test, so that it cannot answer differently within one', async (t) => {
    let asked = 0
    const closing = await stage((x) => {
      x.res.setHeader('connection', 'close')
      return well(x)
    })
    t.after(() => closing.close())
    const found = await runTest(
      { url: closing.url, transport: 'streamable-http', local: false },
      { ...seams(), resolve: async () => (asked++ === 0 ? [PUBLIC_ADDRESS] : ['127.0.0.1']) },
    )
    assert.equal(found.outcome, 'answered')
    assert.equal(asked, 1)
    assert.ok(closing.connections > 1, 'there were several connections')
  })

  it('a socket that ends up elsewhere than at a judged address is dropped', async () => {
    // A connection to 0.0.0.0 ends up at loopback: what was asked for is not what answered.
    const signal = new AbortController().signal
    const line = await openLine({
      local: false,
      signal,
      seams: { ...seams(), pin: () => '0.0.0.0' },
    })
    await assert.rejects(
      line.send(new URL(server.url), { method: 'GET', headers: {}, signal, label: 'GET' }),
      (error) =>
        error instanceof Shortfall &&
        error.detail === 'address_refused' &&
        error.reason === 'loopback',
    )
    assert.deepEqual(line.sent, [])
    await line.close()
  })

  it('a literal that slipped past the text check is refused where it is dialled', async () => {
    const signal = new AbortController().signal
    const line = await openLine({ local: false, signal, seams: seams() })
    for (const host of ['127.0.0.1', '[::1]']) {
      await assert.rejects(
        line.send(new URL(`https://${host}:${server.port}/`), {
          method: 'GET',
          headers: {},
          signal,
          label: 'GET',
        }),
        (error) => error instanceof Shortfall && error.detail === 'address_refused',
      )
    }
    await line.close()
  })

  const silent: [string, NonNullable<Seams['resolve']>, string][] = [
    ['no addresses', async () => [], 'name_not_found'],
    [
      'no such name',
      async () => {
        throw new Shortfall('name_not_found')
      },
      'name_not_found',
    ],
    [
      'a name server that fails',
      async () => {
        throw new Shortfall('name_failed')
      },
      'name_failed',
    ],
    ['a name server that never answers', () => new Promise(() => {}), 'timed_out'],
  ]
  for (const [id, resolve, detail] of silent) {
    it(`${id}: no_answer, ${detail}`, async () => {
      const found = await test(resolve, { limits: { timeoutMs: 300 } })
      assert.deepEqual([found.outcome, found.detail, found.sent], ['no_answer', detail, []])
    })
  }

  it('all judged addresses are tried: a dead one does not hide a living one', async () => {
    const found = await test(async () => ['2606:4700:4700::1111', '198.41.0.4', PUBLIC_ADDRESS], {
      // 127.0.0.2 and ::1 have no listener on this port.
      pin: (address) =>
        address === PUBLIC_ADDRESS ? '127.0.0.1' : address === '198.41.0.4' ? '127.0.0.2' : '::1',
    })
    assert.equal(found.outcome, 'answered')
  })

  it('whatever a resolver answers, nothing is dialled unless every answer is public', async () => {
    const address = fc.oneof(
      fc.ipV4(),
      fc.ipV6(),
      fc.constantFrom(
        '127.0.0.1',
        '10.1.2.3',
        '::1',
        'fe80::1%lo',
        '::ffff:10.0.0.1',
        'x',
        PUBLIC_ADDRESS,
      ),
    )
    await fc.assert(
      fc.asyncProperty(fc.array(address, { maxLength: 4 }), async (addresses) => {
        const before = server.connections
        const found = await test(async () => addresses)
        const allPublic =
          addresses.length > 0 && addresses.every((each) => checkAddress(each).allowed)
        if (allPublic) assert.equal(found.outcome, 'answered')
        else {
          assert.equal(found.outcome, addresses.length === 0 ? 'no_answer' : 'refused')
          assert.equal(server.connections, before)
        }
      }),
      { numRuns: 60 },
    )
  })

  it('a refused text resolves nothing', async () => {
    for (const url of [
      'https://localhost/',
      'https://10.0.0.1/',
      'https://example.com/{x}',
      'http://example.com/',
      'not a url',
      '',
    ]) {
      let asked = 0
      const resolve = async () => [PUBLIC_ADDRESS, String(asked++)]
      const found = await runTest({ url, transport: 'sse', local: false }, { ...seams(), resolve })
      assert.deepEqual([found.outcome, found.detail, asked], ['refused', 'url_refused', 0])
    }
  })
})
