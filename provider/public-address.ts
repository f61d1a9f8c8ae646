import { BlockList, isIP } from 'node:net'

/** Special-purpose ranges of the IANA registries: none of them is a host on the public internet. */
const V4_RANGES = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/4',
  '240.0.0.0/4',
]
/** Public IPv6 is 2000::/3 alone; these parts of it are not public, or carry an IPv4 address that may not be. */
const V6_RANGES = ['2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20']

const refused = new BlockList()
const global6 = new BlockList()
for (const [list, family, ranges] of [
  [refused, 'ipv4', V4_RANGES],
  [refused, 'ipv6', V6_RANGES],
  [global6, 'ipv6', ['2000::/3']],
] as const) {
  for (const range of ranges) {
    const [network = '', prefix = ''] = range.split('/')
    list.addSubnet(network, Number(prefix), family)
  }
}

/** Whether a literal IPv4 or IPv6 address is one of the public internet; false for anything that is no address. */
export function isPublicAddress(address: string): boolean {
  const family = isIP(address)
  if (family === 4) return !refused.check(address, 'ipv4')
  return family === 6 && global6.check(address, 'ipv6') && !refused.check(address, 'ipv6')
}
