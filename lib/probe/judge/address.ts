/**
 * Is an IP address public? Only addresses known to be global unicast are; everything else is
 * refused with a reason.
 *
 * Allow-listing on purpose: a list of bad ranges misses whatever was forgotten or is not assigned
 * yet. IPv6 is public only inside 2000::/3 less the ranges below, so that NAT64, IPv4-compatible
 * and every unassigned block fall out by themselves.
 */
import { isIPv4, isIPv6 } from 'node:net'

/**
 * Why an address may not be dialled; `ok` when it may. The list is closed: a new reason is a new
 * release.
 */
export type AddressReason =
  | 'ok'
  | 'not_an_address'
  | 'zone'
  | 'unspecified'
  | 'loopback'
  | 'private'
  | 'link_local'
  | 'site_local'
  | 'unique_local'
  | 'shared'
  | 'ietf_protocol'
  | 'documentation'
  | 'benchmarking'
  | 'multicast'
  | 'reserved'
  | 'relay_6to4'
  | 'ipv4_compatible'
  | 'ipv4_translated'
  | 'nat64'
  | 'teredo'
  | 'tunnel_6to4'
  | 'discard'
  | 'segment_routing'
  | 'unassigned'

export type AddressVerdict = { allowed: boolean; reason: AddressReason }

/**
 * [network, prefix length, reason]. IANA IPv4 special-purpose registry of 2021-02-04, and
 * 224.0.0.0/4 (RFC 5771).
 */
const IPV4: [string, number, AddressReason][] = [
  ['0.0.0.0', 8, 'unspecified'], // RFC 791, "this network"
  ['10.0.0.0', 8, 'private'], // RFC 1918
  ['100.64.0.0', 10, 'shared'], // RFC 6598
  ['127.0.0.0', 8, 'loopback'], // RFC 1122
  ['169.254.0.0', 16, 'link_local'], // RFC 3927
  ['172.16.0.0', 12, 'private'],
  ['192.0.0.0', 24, 'ietf_protocol'], // RFC 6890; its two reachable anycast addresses serve no web server
  ['192.0.2.0', 24, 'documentation'], // RFC 5737
  ['192.88.99.0', 24, 'relay_6to4'], // RFC 7526, deprecated
  ['192.168.0.0', 16, 'private'],
  ['198.18.0.0', 15, 'benchmarking'], // RFC 2544
  ['198.51.100.0', 24, 'documentation'],
  ['203.0.113.0', 24, 'documentation'],
  ['224.0.0.0', 4, 'multicast'],
  ['240.0.0.0', 4, 'reserved'], // RFC 1112, the broadcast address included
]

/**
 * First match wins. IANA IPv6 special-purpose registry of 2024-10-22, and what it leaves out of
 * 2000::/3.
 */
const IPV6: [string, number, AddressReason][] = [
  ['::', 128, 'unspecified'],
  ['::1', 128, 'loopback'],
  ['::', 96, 'ipv4_compatible'], // RFC 4291, deprecated
  ['::ffff:0:0:0', 96, 'ipv4_translated'], // RFC 2765
  ['64:ff9b::', 96, 'nat64'], // RFC 6052; reachable by IANA, refused by the set
  ['64:ff9b:1::', 48, 'nat64'], // RFC 8215
  ['100::', 64, 'discard'], // RFC 6666
  ['2001::', 32, 'teredo'], // RFC 4380
  ['2001:2::', 48, 'benchmarking'], // RFC 5180
  ['2001:db8::', 32, 'documentation'], // RFC 3849
  ['2001::', 23, 'ietf_protocol'], // RFC 2928
  ['2002::', 16, 'tunnel_6to4'], // RFC 3056
  ['3ffe::', 16, 'reserved'], // RFC 3701, the former 6bone
  ['3fff::', 20, 'documentation'], // RFC 9637
  ['5f00::', 16, 'segment_routing'], // RFC 9602
  ['fc00::', 7, 'unique_local'], // RFC 4193
  ['fe80::', 10, 'link_local'],
  ['fec0::', 10, 'site_local'], // RFC 3879, deprecated
  ['ff00::', 8, 'multicast'],
]

const GLOBAL_UNICAST = range('2000::', 3, 'ok')
const MAPPED = range('::ffff:0:0', 96, 'ok')
const RANGES4 = IPV4.map(([network, length, reason]) => range(network, length, reason))
const RANGES6 = IPV6.map(([network, length, reason]) => range(network, length, reason))

/**
 * Judge one IP address as a name server would give it: dotted-decimal IPv4 or RFC 4291 text for
 * IPv6.
 *
 * An IPv4 address written as IPv6 (`::ffff:a.b.c.d`) is judged as that IPv4 address. No other text
 * form is read: `127.1`, `0x7f000001` or a zone (`fe80::1%eth0`) is refused, since no name server
 * answers so.
 *
 * @returns `allowed`, and `reason`: `ok` or one of a closed list
 * @see IANA special-purpose address registries; known answers: fixtures/probe/address.json
 * @example
 * checkAddress('8.8.8.8') // { allowed: true, reason: 'ok' }
 * checkAddress('::ffff:127.0.0.1') // { allowed: false, reason: 'loopback' }
 * checkAddress('64:ff9b::808:808') // { allowed: false, reason: 'nat64' }
 */
export function checkAddress(address: string): AddressVerdict {
  const reason = classify(address)
  return { allowed: reason === 'ok', reason }
}

function classify(address: string): AddressReason {
  if (typeof address !== 'string') return 'not_an_address'
  if (isIPv4(address)) return classify4(bits4(address))
  if (address.includes('%')) return 'zone'
  if (!isIPv6(address)) return 'not_an_address'
  const bits = bits6(address)
  if (within(bits, MAPPED)) return classify4(bits & 0xffffffffn)
  for (const each of RANGES6) if (within(bits, each)) return each.reason
  return within(bits, GLOBAL_UNICAST) ? 'ok' : 'unassigned'
}

function classify4(bits: bigint): AddressReason {
  for (const each of RANGES4) if (within(bits, each)) return each.reason
  return 'ok'
}

type Range = { network: bigint; shift: bigint; reason: AddressReason }

function range(network: string, length: number, reason: AddressReason): Range {
  const four = isIPv4(network)
  const shift = BigInt((four ? 32 : 128) - length)
  return { network: (four ? bits4(network) : bits6(network)) >> shift, shift, reason }
}

function within(bits: bigint, { network, shift }: Range): boolean {
  return bits >> shift === network
}

/** The 32 bits of an address that `net.isIPv4` has accepted. */
function bits4(address: string): bigint {
  return address.split('.').reduce((bits, octet) => (bits << 8n) | BigInt(octet), 0n)
}

/** The 128 bits of an address that `net.isIPv6` has accepted, a dotted tail included. */
function bits6(address: string): bigint {
  const dotted = address.lastIndexOf(':') + 1
  if (address.includes('.')) {
    const tail = bits4(address.slice(dotted))
    return bits6(
      `${address.slice(0, dotted)}${(tail >> 16n).toString(16)}:${(tail & 0xffffn).toString(16)}`,
    )
  }
  const [head = '', rest] = address.split('::')
  const left = head === '' ? [] : head.split(':')
  const right = rest === undefined || rest === '' ? [] : rest.split(':')
  const groups = [...left, ...Array<string>(8 - left.length - right.length).fill('0'), ...right]
  return groups.reduce((bits, group) => (bits << 16n) | BigInt(`0x${group}`), 0n)
}
