import type { IncomingMessage, Server } from 'node:http'
import type { Duplex } from 'node:stream'
import { type WebSocket, WebSocketServer } from 'ws'
import { SECOND } from '../../core/clock.ts'
import { guardListener } from '../../core/guard-listener.ts'
import { parseUrl } from '../../core/parse-url.ts'
import { refuseUpgrade } from '../../core/refuse-upgrade.ts'
import type { FarmMessage } from '../../wire/stream.ts'
import { CLOSE_OTHER_FLOW, CLOSE_REPLACED, PAGE_MESSAGE_BYTES, STREAM_PATH } from '../../wire/stream-constants.ts'
import { linkVisits, START_PAGE } from '../access/link-visits.ts'
import { isOwnOrigin } from '../access/own-origin.ts'
import type { HttpRuntime } from '../kit/runtime.ts'
import { followLease } from './follow-lease.ts'
import { ignoreUpgrade } from './ignore-upgrade.ts'
import { keepPulse } from './pulse.ts'

/** RFC 6455: the server is going away. */
const CLOSE_GOING = 1001
/** A page is given longer than it gives us: a picture may take that long to pass a slow link, and its answers come after it. */
const PAGE_SILENCE_MS = 30 * SECOND

const ALIVE = JSON.stringify({ type: 'alive' } satisfies FarmMessage)

/**
 * Takes the WebSocket upgrades of `/start/stream` on the public listener. A visitor comes with the cookie of the flow, from our own origin
 * exactly. `stop` sends everybody to another process: their pages connect again by themselves.
 */
export function attachStreamRelay({ server, runtime }: { server: Server; runtime: HttpRuntime }): {
  size(): number
  stop(): void
} {
  const { config, clock, log } = runtime
  const visits = linkVisits({ page: START_PAGE, runtime })
  const sockets = new WebSocketServer({ noServer: true, maxPayload: PAGE_MESSAGE_BYTES, perMessageDeflate: false })

  /** The page that looks at each flow. */
  const pages = new Map<string, WebSocket>()

  /** The flow of the cookie and the flow that the page names, or the status of a refusal. */
  const admit = ({ url, headers }: IncomingMessage): { leaseId: string; named: string | null } | string => {
    const address = parseUrl(url ?? '/', config.BASE_URL)
    if (address?.pathname !== STREAM_PATH) return '404 Not Found'
    if (!isOwnOrigin(headers.origin, { config })) return '403 Forbidden'
    const leaseId = visits.flowIdOf(headers.cookie)
    return leaseId === null ? '401 Unauthorized' : { leaseId, named: address.searchParams.get('flow') }
  }
  const onUpgrade = (request: IncomingMessage, socket: Duplex, head: Buffer): void => {
    if (request.headers.upgrade?.toLowerCase() !== 'websocket') {
      ignoreUpgrade({ server, request, socket, head })
      return
    }
    socket.on('error', () => socket.destroy())
    const admitted = admit(request)
    if (typeof admitted === 'string') {
      refuseUpgrade(socket, admitted)
      return
    }
    const { leaseId, named } = admitted
    sockets.handleUpgrade(request, socket, head, (page) => {
      page.on('error', () => page.terminate())
      if (named !== leaseId) return page.close(CLOSE_OTHER_FLOW)
      keepPulse({ socket: page, clock, silenceMs: PAGE_SILENCE_MS, onBeat: () => page.send(ALIVE) })
      // One page looks at a flow, as at the farm: each more would ask the database as often as the first.
      pages.get(leaseId)?.close(CLOSE_REPLACED)
      pages.set(leaseId, page)
      page.once('close', () => pages.get(leaseId) === page && pages.delete(leaseId))
      followLease({ leaseId, page, runtime }).catch((error: unknown) => {
        log.error({ err: error, lease: leaseId }, 'a stream failed')
        page.terminate()
      })
    })
  }
  const onError = (error: unknown): void => log.warn({ err: error }, 'an upgrade failed')
  server.on('upgrade', guardListener({ socketOf: ([, socket]) => socket, onError, handle: onUpgrade }))
  return {
    size: () => sockets.clients.size,
    stop: () => {
      for (const page of sockets.clients) page.close(CLOSE_GOING)
      sockets.close()
    },
  }
}
