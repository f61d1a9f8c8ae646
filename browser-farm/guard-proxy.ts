import { lookup } from 'node:dns/promises'
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import { type AddressInfo, connect, isIP } from 'node:net'
import { type Duplex, pipeline } from 'node:stream'
import { SECOND } from '../core/clock.ts'
import { guardListener } from '../core/guard-listener.ts'
import { parseUrl } from '../core/parse-url.ts'
import { isPublicAddress } from '../core/public-address.ts'
import { refuseUpgrade } from '../core/refuse-upgrade.ts'
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
  // What fails is an odd page's business: there is nobody to tell but the browser.
  const onError = (): void => undefined
  const server = createServer(
    guardListener({
      socketOf: ([{ socket }]) => socket,
      onError,
      handle: (incoming: IncomingMessage, outgoing: ServerResponse) => forward({ incoming, outgoing, profile }),
    }),
  )
  server.on('connection', keep)
  server.on(
    'connect',
    guardListener({
      socketOf: ([, client]) => client,
      onError,
      handle: (incoming: IncomingMessage, client: Duplex, head: Buffer) =>
        tunnel({ incoming, client, head, profile, keep }),
    }),
  )
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

const HTTP_PORT = 80
const HTTPS_PORT = 443

/** The ports of the profile's own addresses: beside the usual one of http or https they are all that is reached of its hosts. */
const ownPorts = ({ loginUrl, sessionUrl, apiBaseUrl }: ProviderProfile): number[] =>
  [loginUrl, sessionUrl, apiBaseUrl].map((address) => {
    const { port, protocol } = new URL(address)
    return Number(port) || (protocol === 'https:' ? HTTPS_PORT : HTTP_PORT)
  })

/** The address to connect to, or `Refused`. */
async function allowedTarget(
  { hostname, port: given }: URL,
  { usualPort, profile }: { usualPort: number; profile: ProviderProfile },
): Promise<{ host: string; port: number }> {
  const host = hostname.replace(/^\[|\]$/g, '')
  const port = Number(given) || HTTP_PORT
  if (!hostAllowed(profile, host)) throw new Refused(host)
  if (port !== usualPort && !ownPorts(profile).includes(port)) throw new Refused(`${host}:${port}`)
  return { host: await allowedAddress(host, profile), port }
}

async function allowedAddress(host: string, profile: ProviderProfile): Promise<string> {
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
    const target = parseUrl(`http://${incoming.url}`)
    if (!target) throw new Refused(incoming.url)
    const to = await allowedTarget(target, { usualPort: HTTPS_PORT, profile })
    const upstream = connect({ ...to, timeout: CONNECT_TIMEOUT_MS })
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
    refuseUpgrade(client, '403 Forbidden')
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
    const url = parseUrl(incoming.url ?? '')
    if (url?.protocol !== 'http:') throw new Refused(url?.protocol)
    const to = await allowedTarget(url, { usualPort: HTTP_PORT, profile })
    const { 'proxy-connection': _, ...headers } = incoming.headers
    const upstream = request({
      ...to,
      method: incoming.method,
      path: `${url.pathname}${url.search}`,
      headers,
    })
    upstream.on('response', (response) => passOn(response, outgoing))
    upstream.on('error', () => outgoing.destroy())
    outgoing.on('close', () => upstream.destroy())
    pipeline(incoming, upstream, () => undefined)
  } catch {
    outgoing.writeHead(403, { 'content-type': 'text/plain' }).end('Outside of the sign-in')
  }
}

/** RFC 9110, 7.6.1, and what frames a message: they say how the provider talks to this proxy, not to the browser. */
const HOP_BY_HOP = new Set([
  'connection',
  'keep-alive',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
])
const LOWEST_STATUS = 200
const HIGHEST_STATUS = 599

/** Answers as the provider did, in this proxy's own words where the provider's would be none: its reason phrase is not repeated. */
function passOn(response: IncomingMessage, outgoing: ServerResponse): void {
  const status = response.statusCode ?? 0
  try {
    outgoing.writeHead(
      status >= LOWEST_STATUS && status <= HIGHEST_STATUS ? status : 502,
      endToEnd(response.rawHeaders),
    )
  } catch {
    // A header that node reads, but does not write.
    response.destroy()
    outgoing.destroy()
    return
  }
  pipeline(response, outgoing, () => undefined)
}

/** Names and values in turn, as in `rawHeaders`. */
function endToEnd(rawHeaders: string[]): string[] {
  return rawHeaders.filter((_, index) => !HOP_BY_HOP.has(String(rawHeaders[index - (index % 2)]).toLowerCase()))
}
