import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

interface EventReceiver {
  url: string
  /** When (`performance.now()`) the event with this deliveryId, or of this user, arrives or has arrived. */
  arrival(of: string): Promise<number>
  stop(): Promise<void>
}

interface Event {
  deliveryId: string
  payload: { userRef: string }
}

/** An app's endpoint in the process that asks, so that one clock measures the way there and back. */
export async function startEventReceiver(): Promise<EventReceiver> {
  const arrived = new Map<string, number>()
  const waiting = new Map<string, (at: number) => void>()
  const server = createServer(async (request, response) => {
    const at = performance.now()
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    response.writeHead(204).end()
    const { deliveryId, payload } = JSON.parse(Buffer.concat(chunks).toString()) as Event
    for (const key of [deliveryId, payload.userRef]) {
      arrived.set(key, at)
      waiting.get(key)?.(at)
    }
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/webhooks`,
    arrival: (of) =>
      new Promise((resolve) => {
        const at = arrived.get(of)
        if (at === undefined) waiting.set(of, resolve)
        else resolve(at)
      }),
    stop: async () => {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}
