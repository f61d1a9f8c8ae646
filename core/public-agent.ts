import { isIP } from 'node:net'
import { Agent, buildConnector } from 'undici'
import { isPublicAddress } from './public-address.ts'
import { notPublic, publicLookup, type Resolve } from './public-lookup.ts'

interface PublicAgentOptions extends Omit<Agent.Options, 'connect'> {
  /** A sandbox on a developer's own machine. */
  allowPrivate: boolean
  connectMs: number
  resolve?: Resolve | undefined
}

/**
 * Connections to addresses that others name: to public ones only. A literal address is judged before it is connected to, since it is never looked
 * up, and a name inside the connection's own look-up (docs/security.md, The network).
 */
export function createPublicAgent({ allowPrivate, connectMs, resolve, ...options }: PublicAgentOptions): Agent {
  const connector = buildConnector({
    timeout: connectMs,
    ...(!allowPrivate && { lookup: publicLookup(resolve) }),
  })
  const guarded: buildConnector.connector = (target, callback) => {
    const host = target.hostname.replace(/^\[|\]$/g, '')
    if (!allowPrivate && isIP(host) !== 0 && !isPublicAddress(host)) callback(notPublic(), null)
    else connector(target, callback)
  }
  return new Agent({ ...options, connect: guarded })
}
