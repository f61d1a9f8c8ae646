import type { IncomingMessage, Server } from 'node:http'
import type { Duplex } from 'node:stream'
import { WebSocketServer } from 'ws'
import { parseUrl } from '../../core/parse-url.ts'
import { CLOSE_OTHER_FLOW, PAGE_MESSAGE_BYTES, STREAM_PATH } from '../../wire/stream-constants.ts'
import { linkVisits, START_PAGE } from '../access/link-visits.ts'
import { isOwnOrigin } from '../access/own-origin.ts'
import type { HttpRuntime } from '../kit/runtime.ts'
import { followLease } from './follow-lease.ts'

/** RFC 6455: the server is going away. */
const CLOSE_GOING = 1001

/**
 * Takes the WebSocket upgrades of `/start/stream` on the public listener. A visitor comes with the cookie of the flow, from our own origin
 * exactly. `stop` sends everybody to another process: their pages connect again by themselves.
 */
export function attachStreamRelay({ server, runtime }: { server: Server; runtime: HttpRuntime }): {
  size(): number
  stop(): void
} {
  const { config, log } = runtime
  const visits = linkVisits({ page: START_PAGE, runtime })
  const sockets = new WebSocketServer({ noServer: true, maxPayload: PAGE_MESSAGE_BYTES, perMessageDeflate: false })

  server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    socket.on('error', () => socket.destroy())
    // Whatever a stranger sends as a path: an exception here would end the process.
    const address = parseUrl(request.url ?? '/', config.BASE_URL)
    if (address?.pathname !== STREAM_PATH) return refuse(socket, '404 Not Found')
    if (!isOwnOrigin(request.headers.origin, { config })) return refuse(socket, '403 Forbidden')
    const leaseId = visits.flowIdOf(request.headers.cookie)
    if (leaseId === null) return refuse(socket, '401 Unauthorized')
    sockets.handleUpgrade(request, socket, head, (page) => {
      page.on('error', () => page.terminate())
      if (address.searchParams.get('flow') !== leaseId) return page.close(CLOSE_OTHER_FLOW)
      followLease({ leaseId, page, runtime }).catch((error: unknown) => {
        log.error({ err: error, lease: leaseId }, 'a stream failed')
        page.terminate()
      })
    })
  })
  return {
    size: () => sockets.clients.size,
    stop: () => {
      for (const page of sockets.clients) page.close(CLOSE_GOING)
      sockets.close()
    },
  }
}

function refuse(socket: Duplex, status: string): void {
  socket.end(`HTTP/1.1 ${status}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`)
}
