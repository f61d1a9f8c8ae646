import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Registry } from 'prom-client'
import { SECOND } from './clock.ts'
import { guardListener } from './guard-listener.ts'
import type { Logger } from './log.ts'

/** A probe sends one short request. */
const REQUEST_MS = 5 * SECOND

interface HealthListener {
  port: number
  stop(): Promise<void>
}

/**
 * What those who run the service ask of each process, on a port of its own (docs/behaviour.md, Environment: `HEALTH_PORT`): `/healthz` says that it
 * lives, `/readyz` that it can do its work (503 with `{error}` where it cannot), `/metrics` has its numbers for Prometheus.
 */
export async function startHealthListener({
  host,
  port,
  unready,
  metrics,
  log,
}: {
  host: string
  /** 0: a free one. */
  port: number
  /** Why the process cannot do its work now; null where it can. */
  unready: () => Promise<string | null>
  metrics: Registry
  log: Logger
}): Promise<HealthListener> {
  const json = (response: ServerResponse, status: number, body: unknown): void =>
    void response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
  const routes: Record<string, (response: ServerResponse) => Promise<void>> = {
    '/healthz': async (response) => json(response, 200, { ok: true }),
    '/readyz': async (response) => {
      const error = await unready()
      json(response, error === null ? 200 : 503, error === null ? { ok: true } : { error })
    },
    '/metrics': async (response) => {
      const text = await metrics.metrics()
      response.writeHead(200, { 'content-type': metrics.contentType }).end(text)
    },
  }
  const handle = ({ url = '', method = '' }: IncomingMessage, response: ServerResponse): void | Promise<void> => {
    const route = routes[url.split('?')[0] ?? '']
    if (!route) return json(response, 404, { error: 'Not found' })
    if (!['GET', 'HEAD'].includes(method)) return json(response, 405, { error: 'Method not allowed' })
    return route(response)
  }
  const onError = (error: unknown): void => log.warn({ err: error }, 'a question for the health of the process failed')
  const server = createServer(
    { requestTimeout: REQUEST_MS, headersTimeout: REQUEST_MS },
    guardListener({ socketOf: ([{ socket }]) => socket, onError, handle }),
  )
  // Exclusive: workers of one cluster would be given the same free port.
  server.listen({ host, port, exclusive: true })
  await once(server, 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    stop: async () => {
      const closed = once(server, 'close')
      server.close()
      server.closeAllConnections()
      await closed
    },
  }
}
