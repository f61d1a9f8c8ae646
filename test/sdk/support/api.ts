import { createServer, type IncomingHttpHeaders, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'

export type SeenRequest = {
  method: string
  path: string
  query: Record<string, string>
  headers: IncomingHttpHeaders
  body: Buffer
}

export type Reply = { status?: number; headers?: Record<string, string>; body?: unknown }

export type FakeApi = { url: string; requests: SeenRequest[]; stop(): Promise<void> }

export async function listen(server: Server): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

export async function stop(server: Server): Promise<void> {
  const closed = new Promise((resolve) => server.close(resolve))
  server.closeAllConnections()
  await closed
}

/** Plays the API on a real socket: keeps every request and replies as told; a text body is sent as it is. */
export async function startApi(reply: (request: SeenRequest, count: number) => Reply | 'hang up'): Promise<FakeApi> {
  const requests: SeenRequest[] = []
  const server = createServer(async (request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://api')
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const seen = {
      method: request.method ?? '',
      path: pathname,
      query: Object.fromEntries(searchParams),
      headers: request.headers,
      body: Buffer.concat(chunks),
    }
    requests.push(seen)
    const answer = reply(seen, requests.length)
    if (answer === 'hang up') return void request.socket.destroy()
    const { status = 200, headers = {}, body = {} } = answer
    response.writeHead(status, { 'content-type': 'application/json', ...headers })
    response.end(typeof body === 'string' ? body : JSON.stringify(body))
  })
  const url = await listen(server)
  return { url, requests, stop: () => stop(server) }
}
