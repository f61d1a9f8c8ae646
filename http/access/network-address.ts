import { isIPv6 } from 'node:net'
import type { Request } from 'express'

/** The visitor's address, as the trusted proxies in front tell it. */
export const networkAddress = ({ ip = '' }: Request): string => ip.replace(/^::ffff:(?=\d+\.)/, '')

/** What is limited as one: an IPv4 address, or the /64 that one IPv6 subscriber has. */
export function networkOf(address: string): string {
  if (!isIPv6(address)) return address
  const [head = '', tail] = address.split('::')
  const groups = head === '' ? [] : head.split(':')
  const missing = tail === undefined ? 0 : 8 - groups.length - (tail === '' ? 0 : tail.split(':').length)
  return [...groups, ...Array.from({ length: missing }, () => '0')].slice(0, 4).join(':')
}
