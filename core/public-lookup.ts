import type { LookupAddress, LookupOptions } from 'node:dns'
import { NODATA, NOTFOUND, Resolver } from 'node:dns/promises'
import type { LookupFunction } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { SECOND } from './clock.ts'
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

/** A name server is asked twice: the second time it has twice as long. */
const ASKING = { timeout: 2 * SECOND, tries: 2 }

/** Once addresses of one family are known the others are waited for this long (ms; RFC 8305, section 3): servers may keep silent about those. */
const RESOLUTION_DELAY_MS = 50

/** There is no such name, or it has no such address. */
const UNKNOWN: unknown[] = [NOTFOUND, NODATA]

const addressesIn = (family: 4 | 6) => (addresses: string[]) => addresses.map((address) => ({ address, family }))

/**
 * Asks name servers for addresses, those of this machine by default; what stands in its file of hosts is no public name. Not through the system's own
 * look-up: all of a process's share two threads, which two names whose servers keep silent hold for as long as they like, while every other name waits.
 */
function askNameServers(servers: string[] | undefined): Resolve {
  const resolver = new Resolver(ASKING)
  if (servers) resolver.setServers(servers)
  const addressesOf = async (hostname: string): Promise<LookupAddress[]> => {
    const asked = [resolver.resolve4(hostname).then(addressesIn(4)), resolver.resolve6(hostname).then(addressesIn(6))]
    const found: LookupAddress[] = []
    const both = Promise.allSettled(asked.map((addresses) => addresses.then((more) => found.push(...more))))
    const one = Promise.any(asked).then(() => sleep(RESOLUTION_DELAY_MS))
    await Promise.race([both, one.catch(() => both)])
    if (found.length > 0) return found
    const isUnknown = (await both).every((it) => it.status === 'rejected' && UNKNOWN.includes(it.reason.code))
    throw Object.assign(new Error('the name has no address'), { code: isUnknown ? 'ENOTFOUND' : 'EAI_AGAIN' })
  }
  return (hostname, _options, callback) => {
    addressesOf(hostname).then(
      (addresses) => callback(null, addresses),
      (error: NodeJS.ErrnoException) => callback(error, []),
    )
  }
}

/**
 * The look-up of a connection itself (docs/security.md, The network): the address that was judged is the one that is connected to, so a
 * name that changes its address in between cannot pass. Fails with `NOT_PUBLIC` where a name has no public address.
 */
export function publicLookup({
  servers,
  resolve = askNameServers(servers),
}: {
  /** Name servers other than this machine's. */
  servers?: string[]
  resolve?: Resolve | undefined
} = {}): LookupFunction {
  return (hostname, options, callback) =>
    resolve(hostname, { ...options, all: true }, (error, found) => {
      if (error) return callback(error, '')
      const addresses = found.filter(({ address }) => isPublicAddress(address))
      const [first] = addresses
      if (!first) callback(notPublic(), '')
      else if (options.all) callback(null, addresses)
      else callback(null, first.address, first.family)
    })
}
