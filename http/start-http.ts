import { once } from 'node:events'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { hostname } from 'node:os'
import { type Clock, SECOND } from '../core/clock.ts'
import type { Running, Runtime } from '../core/process.ts'
import { loadProfiles } from '../provider/load-profiles.ts'
import { connectDatabase } from '../schemas/database.ts'
import { createIndexes } from '../schemas/indexes.ts'
import { registerProcess } from '../schemas/operations/process-record.ts'
import type { HttpRuntime } from './kit/runtime.ts'
import { createServer } from './server.ts'

/** Requests that are under way have this long to end (machine time); the process has a little longer. */
const DRAIN_MS = 8 * SECOND
/** How often connections that have become idle are closed meanwhile. */
const DRAIN_LOOK_MS = 50

/** Starts one http process: it may run alone, or beside others on one port as a worker of node:cluster. */
export async function startHttp(base: Runtime): Promise<Running> {
  const { config, clock } = base
  const runtime: HttpRuntime = { ...base, profiles: await loadProfiles(config) }
  const database = await connectDatabase({ url: config.MONGODB_URL })
  await createIndexes()
  const { server, viewers, stopViewers } = await createServer(runtime)
  server.listen(config.PORT, config.HOST)
  await once(server, 'listening')
  let open = 0
  server.on('connection', (socket) => {
    open += 1
    socket.once('close', () => {
      open -= 1
    })
  })
  const record = registerProcess({
    kind: 'http',
    host: hostname(),
    clock,
    gauges: () => ({ connections: open, viewers: viewers() }),
  })
  return {
    url: urlOf(server, config.HOST),
    stop: async () => {
      stopViewers()
      await drain(server, clock)
      await record.stop()
      await database.close()
    },
  }
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
