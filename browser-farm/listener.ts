import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Duplex } from 'node:stream'
import { WebSocketServer } from 'ws'
import { MINUTE } from '../core/clock.ts'
import { guardListener } from '../core/guard-listener.ts'
import { parseUrl } from '../core/parse-url.ts'
import type { Runtime } from '../core/process.ts'
import { refuseUpgrade } from '../core/refuse-upgrade.ts'
import { readTicket, TICKET_MS } from '../schemas/lease/stream-ticket.ts'
import { PAGE_MESSAGE_BYTES } from '../wire/stream-constants.ts'
import type { FarmNode } from './node.ts'

export interface Listener {
  /** `ws://host:port`, as other processes reach it. */
  url: string
  /** From now on viewers are let in. */
  serve(node: FarmNode): void
  stop(): Promise<void>
}

/** The stream for http processes, which come with a ticket. */
export async function startListener({
  runtime: { config, keyring, clock, log },
  nodeId,
}: {
  runtime: Pick<Runtime, 'config' | 'keyring' | 'clock' | 'log'>
  nodeId: string
}): Promise<Listener> {
  const sockets = new WebSocketServer({ noServer: true, maxPayload: PAGE_MESSAGE_BYTES, perMessageDeflate: false })
  const used = new Set<string>()
  let node: FarmNode | undefined

  const onError = (error: unknown): void => log.warn({ err: error }, 'a request to the farm node failed')
  const server = createServer((_request, response) => void response.writeHead(404).end())
  /** The lease that a request's ticket lets it view; the ticket is spent by that. */
  const leaseOf = (address: string | undefined): string | null => {
    const text = parseUrl(address ?? '/', 'ws://node')?.searchParams.get('ticket') ?? ''
    const ticket = readTicket({ text, nodeId, keyring, now: clock.now() })
    if (!ticket || used.has(ticket.id)) return null
    used.add(ticket.id)
    clock.timer(TICKET_MS + MINUTE, () => used.delete(ticket.id))
    return ticket.leaseId
  }
  const onUpgrade = (request: IncomingMessage, socket: Duplex, head: Buffer): void => {
    socket.on('error', () => socket.destroy())
    const leaseId = leaseOf(request.url)
    if (leaseId === null) {
      refuseUpgrade(socket, '403 Forbidden')
      return
    }
    sockets.handleUpgrade(request, socket, head, (viewer) => {
      viewer.on('error', () => viewer.terminate())
      // Not (or no longer) here: http asks the lease's document where it is.
      if (!node?.join(leaseId, viewer)) viewer.close()
    })
  }
  server.on('upgrade', guardListener({ socketOf: ([, socket]) => socket, onError, handle: onUpgrade }))
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(config.FARM_PORT, config.FARM_HOST, resolve)
  })
  const host = config.FARM_HOST.includes(':') ? `[${config.FARM_HOST}]` : config.FARM_HOST
  return {
    url: `ws://${host}:${(server.address() as AddressInfo).port}`,
    serve: (serving) => {
      node = serving
    },
    stop: async () => {
      for (const client of sockets.clients) client.terminate()
      await new Promise<void>((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      })
    },
  }
}
