import assert from 'node:assert/strict'
import { BlockList } from 'node:net'
import { describe, it } from 'node:test'
import { readJson } from '../../lib/files.ts'
import { checkAddress } from '../../lib/probe/judge/address.ts'
import { checkEndpoint, checkUrl, dialled } from '../../lib/probe/judge/url.ts'
import fc from '../property.ts'

type Row = { id: string; comment: string; input: string; expected: string }
const rowsOf = (topic: string) =>
  (
    readJson(
      new URL(`../../fixtures/probe/${topic}.json`, import.meta.url).pathname,
    ) as unknown as { rows: Row[] }
  ).rows

describe('an address out of a lookup is public only if it is known to be', () => {
  for (const { id, input, expected } of rowsOf('address')) {
    it(id, () =>
      assert.deepEqual(checkAddress(input), { allowed: expected === 'ok', reason: expected }),
    )
  }

  it('an IPv4 address and every IPv6 form of it are judged alike', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 2 ** 32 - 1 }), (bits) => {
        const four = [24, 16, 8, 0].map((shift) => (bits >>> shift) & 255).join('.')
        const groups = `${(bits >>> 16).toString(16)}:${(bits & 0xffff).toString(16)}`
        for (const form of [
          `::ffff:${four}`,
          `::ffff:${groups}`,
          `0:0:0:0:0:ffff:${groups}`.toUpperCase(),
        ]) {
          assert.deepEqual(checkAddress(form), checkAddress(four))
        }
        assert.equal(checkAddress(`::${groups}`).allowed, false)
        assert.equal(checkAddress(`64:ff9b::${groups}`).allowed, false)
        assert.equal(checkAddress(`2002:${groups}::1`).allowed, false)
      }),
    )
  })

  it('never allows what an independent list of private ranges blocks', () => {
    const blocked = new BlockList()
    for (const [network, length] of [
      ['10.0.0.0', 8],
      ['127.0.0.0', 8],
      ['169.254.0.0', 16],
      ['172.16.0.0', 12],
      ['192.168.0.0', 16],
      ['100.64.0.0', 10],
      ['224.0.0.0', 3],
    ] as const) {
      blocked.addSubnet(network, length, 'ipv4')
    }
    fc.assert(
      fc.property(fc.ipV4(), (address) => {
        if (blocked.check(address)) assert.equal(checkAddress(address).allowed, false)
      }),
    )
    fc.assert(
      fc.property(fc.ipV6(), (address) => {
        if (!/^[23]/i.test(address.padStart(4, '0')))
          assert.ok(!checkAddress(address).allowed || address.includes('ffff'))
      }),
    )
  })
})

describe('the text of a URL is judged before anything is parsed or dialled', () => {
  for (const { id, input, expected } of rowsOf('url')) {
    it(`${id}: ${JSON.stringify(input)}`, () => {
      assert.deepEqual(checkUrl(input), { allowed: expected === 'ok', reason: expected })
    })
  }

  it('whatever is allowed parses to https, without a user, on a name with a dot that is no address', () => {
    const part = fc.constantFrom(
      'https:',
      '//',
      '/',
      '\\',
      '@',
      'u:p@',
      '127.0.0.1',
      '0x7f.1',
      '[::1]',
      'localhost',
      'a.local',
      'x.internal',
      'example.com',
      '.',
      ':',
      '8443',
      '?',
      '#',
      '{x}',
      ' ',
      '%2e',
      '\u3002',
      '\uff11',
      '\u00ad',
    )
    fc.assert(
      fc.property(
        fc.oneof(
          fc.array(part, { maxLength: 8 }).map((parts) => `https://${parts.join('')}`),
          fc.webUrl(),
          fc.string(),
        ),
        (text) => {
          if (!checkUrl(text).allowed) return
          const { protocol, hostname, username, password } = dialled(text)
          assert.deepEqual([protocol, username, password], ['https:', '', ''])
          assert.match(hostname, /^[^.[\]]+(\.[^.[\]]+)+$/)
          assert.doesNotMatch(hostname, /(^|\.)(localhost|local|internal)$|^[\d.]+$/)
        },
      ),
      { numRuns: 2_000 },
    )
  })

  it('the name is dialled without the dot that ends it', () => {
    assert.equal(dialled('https://example.com./mcp').href, 'https://example.com/mcp')
  })

  it('an endpoint is on the same host or it is refused, whatever its text', () => {
    const stream = new URL('https://mcp.example.test:8443/sse')
    const part = fc.constantFrom(
      'https:',
      '//',
      '/',
      '\\',
      '@',
      '10.0.0.1',
      'evil.test',
      'mcp.example.test',
      '.',
      ':8443',
      '?',
      '#',
      ' ',
      '{',
      '\u00ad',
      '%2f',
    )
    fc.assert(
      fc.property(
        fc.oneof(
          fc.array(part, { maxLength: 7 }).map((parts) => parts.join('')),
          fc.webUrl(),
          fc.string(),
        ),
        (data) => {
          const { url, reason } = checkEndpoint(data, stream, false)
          assert.equal(url === null, reason !== 'ok')
          if (url)
            assert.deepEqual(
              [url.protocol, url.hostname, url.username],
              ['https:', 'mcp.example.test', ''],
            )
        },
      ),
      { numRuns: 2_000 },
    )
  })
})
