import { BlockList, isIP } from 'node:net'
import { parseUrl } from './parse-url.ts'

/** The IANA special-purpose registry and multicast: no host on the public internet has one of these. */
const REFUSED_V4 = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.31.196.0/24',
  '192.52.193.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '192.175.48.0/24',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/4',
  '240.0.0.0/4',
]
/**
 * Public IPv6 is 2000::/3 alone: that leaves out loopback, unique local, link-local, multicast, IPv4-mapped and NAT64 without
 * naming them. These parts of it carry an IPv4 address (Teredo, 6to4) or are for protocols and documentation.
 */
const GLOBAL_V6 = ['2000::/3']
const REFUSED_V6 = ['2001::/23', '2001:db8::/32', '2002::/16', '2620:4f:8000::/48', '3fff::/20']

function blockList(family: 'ipv4' | 'ipv6', ranges: string[]): BlockList {
  const list = new BlockList()
  for (const range of ranges) {
    const [network = '', prefix = ''] = range.split('/')
    list.addSubnet(network, Number(prefix), family)
  }
  return list
}
const refusedV4 = blockList('ipv4', REFUSED_V4)
const globalV6 = blockList('ipv6', GLOBAL_V6)
const refusedV6 = blockList('ipv6', REFUSED_V6)

/** Whether this is the address of a host on the public internet; false for anything that is no plain IPv4 or IPv6 address. */
export function isPublicAddress(address: string): boolean {
  const family = isIP(address)
  if (family === 4) return !refusedV4.check(address, 'ipv4')
  if (family !== 6 || address.includes('%')) return false
  return globalV6.check(address, 'ipv6') && !refusedV6.check(address, 'ipv6')
}

const URL_LENGTH = 2_048
/** Names that never lead out of a machine or a network, whatever resolves them. */
const LOCAL_NAME = /(^|\.)(localhost|local|internal|home\.arpa|lan|intranet|onion)$/

/**
 * Why events cannot be posted to this URL, for people; null when they can. A URL parser has already turned every spelling of a
 * literal address (decimal, octal, hex, short) into the plain one. A host name passes here: what it resolves to is judged at each
 * connection, since it may change. `allowPrivate` (sandbox only) lets plain http and every address through.
 */
export function webhookUrlProblem(text: string, { allowPrivate }: { allowPrivate: boolean }): string | null {
  if (text.length > URL_LENGTH) return `The URL is longer than ${URL_LENGTH} characters`
  const url = parseUrl(text)
  if (!url) return 'Not a URL'
  if (url.protocol !== 'https:' && !(allowPrivate && url.protocol === 'http:'))
    return 'The URL must begin with https://'
  if (url.username !== '' || url.password !== '') return 'The URL must not hold a user name or a password'
  if (allowPrivate) return null
  const host = url.hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '')
  const isName = isIP(host) === 0
  if (isName && (LOCAL_NAME.test(host) || !host.includes('.'))) return 'The host name is not a public one'
  if (!isName && !isPublicAddress(host)) return 'The address is not a public one'
  return null
}
