import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'

interface ReceivedEvent {
  event: string
  payload: Record<string, unknown>
  deliveryId: string
  /** The exact bytes, for signature checks. */
  rawBody: string
  headers: IncomingMessage['headers']
}

/** An app's webhook endpoint on a real socket; keeps every request. */
export interface Receiver {
  url: string
  requests: ReceivedEvent[]
  /** One of each deliveryId, in the order of arrival. */
  events(): ReceivedEvent[]
  named(event: string): ReceivedEvent[]
  stop(): Promise<void>
}

/** `answer` decides each request's status; 204 by default. */
export async function startReceiver({
  answer,
}: {
  answer?: (received: ReceivedEvent) => number
} = {}): Promise<Receiver> {
  const requests: ReceivedEvent[] = []
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const rawBody = Buffer.concat(chunks).toString('utf8')
    const received = {
      ...(JSON.parse(rawBody) as Omit<ReceivedEvent, 'rawBody' | 'headers'>),
      rawBody,
      headers: request.headers,
    }
    requests.push(received)
    response.writeHead(answer?.(received) ?? 204).end()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const events = () => [...new Map(requests.map((received) => [received.deliveryId, received])).values()]
  return {
    url: `http://127.0.0.1:${port}/webhooks`,
    requests,
    events,
    named: (event) => events().filter((received) => received.event === event),
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}
