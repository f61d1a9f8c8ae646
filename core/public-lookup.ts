import { type LookupAddress, type LookupOptions, lookup as systemLookup } from 'node:dns'
import type { LookupFunction } from 'node:net'
import { isPublicAddress } from './public-address.ts'

export const NOT_PUBLIC = 'ERR_ADDRESS_NOT_PUBLIC'

export const notPublic = (): NodeJS.ErrnoException =>
  Object.assign(new Error('the address is not public'), { code: NOT_PUBLIC })

/** Finds all addresses of a name; `dns.lookup` is one. */
export type Resolve = (
  hostname: string,
  options: LookupOptions & { all: true },
  callback: (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void,
) => void

/**
 * The look-up of a connection itself (docs/security.md, The network): the address that was judged is the one that is connected to, so a
 * name that changes its address in between cannot pass. Fails with `NOT_PUBLIC` where a name has no public address.
 */
export const publicLookup =
  (resolve: Resolve = systemLookup): LookupFunction =>
  (hostname, options, callback) =>
    resolve(hostname, { ...options, all: true }, (error, found) => {
      if (error) return callback(error, '')
      const addresses = found.filter(({ address }) => isPublicAddress(address))
      const [first] = addresses
      if (!first) callback(notPublic(), '')
      else if (options.all) callback(null, addresses)
      else callback(null, first.address, first.family)
    })
