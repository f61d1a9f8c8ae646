import { once } from 'node:events'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type Clock, SECOND } from '../core/clock.ts'
import { loadProfiles } from '../provider/load-profiles.ts'
import type { StartWork } from '../schemas/service-process.ts'
import { openConnections } from './kit/open-connections.ts'
import { createServer } from './server.ts'

/** Requests that are under way have this long to end (machine time); the process has a little longer. */
const DRAIN_MS = 8 * SECOND
/** How often connections that have become idle are closed meanwhile. */
const DRAIN_LOOK_MS = 50

/** The public listener of one http process: it may run alone, or beside others on one port as a worker of node:cluster. */
export const startHttp: StartWork = async ({ runtime: base, parts }) => {
  const { config, clock } = base
  const { server, viewers, stopViewers, stopCounting } = await createServer({
    ...base,
    profiles: await loadProfiles(config),
  })
  parts.add({ stop: stopCounting })
  server.listen(config.PORT, config.HOST)
  await once(server, 'listening')
  parts.add({ stop: () => drain(server, clock) })
  parts.add({ stop: stopViewers })
  const connections = openConnections(server)
  return { url: urlOf(server, config.HOST), gauges: () => ({ connections: connections(), viewers: viewers() }) }
}

function urlOf(server: Server, host: string): string {
  const { port } = server.address() as AddressInfo
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`
}

/** Takes no new request, lets those under way end, then cuts what is left. */
async function drain(server: Server, clock: Clock): Promise<void> {
  const end = clock.elapsed() + DRAIN_MS
  let closed = false
  const closing = new Promise<void>((resolve) =>
    server.close(() => {
      closed = true
      resolve()
    }),
  )
  const look = (): void => {
    if (closed) return
    // A connection that has answered its last request would otherwise stay open for another.
    if (clock.elapsed() < end) server.closeIdleConnections()
    else server.closeAllConnections()
    clock.timer(DRAIN_LOOK_MS, look)
  }
  look()
  await closing
}
