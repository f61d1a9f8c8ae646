import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

interface Endpoint {
  url: string
  /** Requests so far, with the exact bytes of each body, and the sender's port. */
  requests: { headers: IncomingMessage['headers']; rawBody: string; deliveryId: string; port: number | undefined }[]
  stop(): Promise<void>
}

/** A webhook endpoint that misbehaves as it is told to: `handle` answers, or does not. */
export async function startEndpoint(
  handle: (response: ServerResponse, request: { rawBody: string; path: string; number: number }) => void,
): Promise<Endpoint> {
  const requests: Endpoint['requests'] = []
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const rawBody = Buffer.concat(chunks).toString('utf8')
    const { deliveryId } = JSON.parse(rawBody) as { deliveryId: string }
    requests.push({ headers: request.headers, rawBody, deliveryId, port: request.socket.remotePort })
    handle(response, { rawBody, path: request.url ?? '', number: requests.length })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}/webhooks`,
    requests,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}
