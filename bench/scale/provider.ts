import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A provider whose accounts are empty: the cookie says which one asks. What is measured is when each sync begins. */
interface Provider {
  site: string
  /** When each account's session was asked for since the last `forget` (`performance.now()`). */
  sessions: Map<string, number[]>
  forget(): void
  stop(): Promise<void>
}

export async function startProvider(): Promise<Provider> {
  const sessions = new Map<string, number[]>()
  const server = createServer((request, response) => {
    response.setHeader('content-type', 'application/json')
    if (!request.url?.startsWith('/session')) return response.end('{"items":[],"total":0,"limit":100,"offset":0}')
    const account = /session=([^;]+)/.exec(request.headers.cookie ?? '')?.[1] ?? ''
    const times = sessions.get(account) ?? []
    times.push(performance.now())
    sessions.set(account, times)
    response.end(JSON.stringify({ accessToken: `token-${account}`, user: { id: account } }))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    site: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    sessions,
    forget: () => sessions.clear(),
    stop: async () => {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}
