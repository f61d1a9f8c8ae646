import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ProviderProfile } from '../../provider/profile.ts'

/** A provider whose pages the tests write themselves: what the hosted browser does on them is told back by their scripts. */
export interface OwnSite {
  url: string
  port: number
  /** What pages posted to `/tell`, in order. */
  told: string[]
  /** `host + path` of every request. */
  requests: string[]
  /** Path of a file with the profile of this provider. */
  profiles: string
  /** From now on every request's connection is cut. */
  refuse(refused: boolean): void
  stop(): Promise<void>
}

/** `pages` are bodies by path; `/` is the login page. `redirects` answer 302, `session` is the answer of the session call, `passwords` are asked for (`user:password` by path), `allowedHosts` are where its sign-in may lead. */
export async function startOwnSite({
  pages,
  redirects = () => ({}),
  session = {},
  passwords = {},
  allowedHosts = ['127.0.0.1'],
}: {
  pages: (port: number) => Record<string, string>
  redirects?: (port: number) => Record<string, string>
  session?: object
  passwords?: Record<string, string>
  allowedHosts?: string[]
}): Promise<OwnSite> {
  const told: string[] = []
  const requests: string[] = []
  let refused = false
  const server = createServer(async (request, response) => {
    if (refused) return void request.socket.destroy()
    const path = request.url ?? ''
    requests.push(`${request.headers.host?.split(':')[0]}${path}`)
    if (path === '/tell') {
      let text = ''
      for await (const chunk of request) text += chunk
      told.push(text)
      return response.end()
    }
    if (path === '/session') return response.end(JSON.stringify(session))
    const password = passwords[path]
    if (password && request.headers.authorization !== `Basic ${Buffer.from(password).toString('base64')}`) {
      return response.writeHead(401, { 'www-authenticate': 'Basic realm="own"' }).end()
    }
    const { port } = server.address() as AddressInfo
    const location = redirects(port)[path]
    if (location) return response.writeHead(302, { location }).end()
    const body = pages(port)[path]
    response.writeHead(body === undefined ? 404 : 200, { 'content-type': 'text/html' })
    response.end(`<!doctype html><meta name="viewport" content="width=device-width"><style>body{font:16px sans-serif}</style>
<script>const tell = (what) => fetch('/tell', { method: 'POST', body: String(what) })</script>${body ?? ''}`)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const url = `http://127.0.0.1:${port}`
  const folder = await mkdtemp(join(tmpdir(), 'own-site-'))
  const profiles = join(folder, 'profiles.json')
  await writeFile(profiles, JSON.stringify([{ ...profileOf(url), allowedHosts }]))
  return {
    url,
    port,
    told,
    requests,
    profiles,
    refuse: (wanted) => {
      refused = wanted
    },
    stop: async () => {
      server.closeAllConnections()
      server.close()
      await rm(folder, { recursive: true })
    },
  }
}

const profileOf = (url: string): Omit<ProviderProfile, 'allowedHosts'> => ({
  id: 'own',
  displayName: 'Own Assistant',
  loginUrl: `${url}/`,
  cookieDomain: '127.0.0.1',
  cookieName: 'session',
  sessionUrl: `${url}/session`,
  apiBaseUrl: `${url}/api`,
  pageSize: 10,
  requestsPerMinute: 60,
})
