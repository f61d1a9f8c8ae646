import { lookup } from 'node:dns/promises'
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import { type AddressInfo, connect, isIP } from 'node:net'
import type { Duplex } from 'node:stream'
import { SECOND } from '../core/clock.ts'
import { isPublicAddress } from '../core/public-address.ts'
import { hostAllowed, isLoopbackHost, type ProviderProfile } from '../provider/profile.ts'

/**
 * The hosted browser's only way to the network (docs/security.md, The network): a forward proxy on loopback, one for each provider, that
 * lets only the profile's hosts through. Because every connection passes here (redirects, subresources, popups, workers, sockets),
 * nothing in a page can get around it; and because names are resolved here, at each connection, a name that is rebound to a private
 * address leads nowhere. The browser itself still does TLS end to end.
 */
export interface GuardProxies {
  /** `http://127.0.0.1:port` of the provider's proxy. */
  url(profile: ProviderProfile): string
  stop(): Promise<void>
}

const CONNECT_TIMEOUT_MS = 15 * SECOND

class Refused extends Error {
  override name = 'Refused'
}

export async function startGuardProxies(profiles: ProviderProfile[]): Promise<GuardProxies> {
  const proxies = await Promise.all(profiles.map(async (profile) => [profile.id, await startProxy(profile)] as const))
  const byId = new Map(proxies)
  return {
    url: ({ id }) => byId.get(id)?.url ?? '',
    stop: async () => {
      await Promise.all(proxies.map(([, proxy]) => proxy.stop()))
    },
  }
}

async function startProxy(profile: ProviderProfile): Promise<{ url: string; stop(): Promise<void> }> {
  const sockets = new Set<Duplex>()
  const keep = (socket: Duplex): void => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  }
  const server = createServer((incoming, outgoing) => void forward({ incoming, outgoing, profile }))
  server.on('connection', keep)
  server.on('connect', (incoming: IncomingMessage, client: Duplex, head: Buffer) => {
    void tunnel({ incoming, client, head, profile, keep })
  })
  server.on('clientError', (_, socket) => socket.destroy())
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(0, '127.0.0.1', resolve)
  })
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        for (const socket of sockets) socket.destroy()
      }),
  }
}

/** The address to connect to for a host, or `Refused`. */
async function allowedAddress(hostname: string, profile: ProviderProfile): Promise<string> {
  const host = hostname.replace(/^\[|\]$/g, '')
  if (!hostAllowed(profile, host)) throw new Refused(host)
  // A profile on loopback is a developer's machine: its own hosts are then where they are.
  if (isLoopbackHost(new URL(profile.loginUrl).hostname)) return host
  const addresses = isIP(host) ? [host] : (await lookup(host, { all: true })).map(({ address }) => address)
  const [address] = addresses
  if (address === undefined || !addresses.every(isPublicAddress)) throw new Refused(host)
  return address
}

/** https and sockets: bytes in both directions. */
async function tunnel({
  incoming,
  client,
  head,
  profile,
  keep,
}: {
  incoming: IncomingMessage
  client: Duplex
  head: Buffer
  profile: ProviderProfile
  keep: (socket: Duplex) => void
}): Promise<void> {
  client.on('error', () => client.destroy())
  try {
    const target = new URL(`http://${incoming.url}`)
    const host = await allowedAddress(target.hostname, profile)
    const upstream = connect({ host, port: Number(target.port || 80), timeout: CONNECT_TIMEOUT_MS })
    keep(upstream)
    upstream.on('connect', () => {
      upstream.setTimeout(0)
      client.write('HTTP/1.1 200 Connection Established\r\n\r\n')
      upstream.write(head)
      client.pipe(upstream).pipe(client)
    })
    upstream.on('timeout', () => upstream.destroy())
    upstream.on('close', () => client.destroy())
    upstream.on('error', () => client.destroy())
    client.on('close', () => upstream.destroy())
  } catch {
    client.end('HTTP/1.1 403 Forbidden\r\nConnection: close\r\n\r\n')
  }
}

/** Plain http (a provider on loopback): one request. */
async function forward({
  incoming,
  outgoing,
  profile,
}: {
  incoming: IncomingMessage
  outgoing: ServerResponse
  profile: ProviderProfile
}): Promise<void> {
  try {
    const url = new URL(incoming.url ?? '')
    if (url.protocol !== 'http:') throw new Refused(url.protocol)
    const host = await allowedAddress(url.hostname, profile)
    const { 'proxy-connection': _, ...headers } = incoming.headers
    const upstream = request({
      host,
      port: url.port || 80,
      method: incoming.method,
      path: `${url.pathname}${url.search}`,
      headers,
    })
    upstream.on('response', (response) => {
      outgoing.writeHead(response.statusCode ?? 502, response.statusMessage, response.rawHeaders)
      response.pipe(outgoing)
    })
    upstream.on('error', () => outgoing.destroy())
    outgoing.on('close', () => upstream.destroy())
    incoming.pipe(upstream)
  } catch {
    outgoing.writeHead(403, { 'content-type': 'text/plain' }).end('Outside of the sign-in')
  }
}
